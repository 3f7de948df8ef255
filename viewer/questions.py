"""The tab Questions: a row a question and a column a model; one question opened."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.results import of_models
from harness.results.scores import FLIPPED, distinct, means
from harness.results.slices import differences_of
from harness.types import Question
from harness.words import beginning
from viewer import conversation, pages
from viewer.controls import Fields, named
from viewer.data import Data, Verdicts
from viewer.pages import Site
from viewer.state import View

PAGE = 50
"""Questions on one page of the list."""
COLUMNS = 4
"""Models shown where none are chosen; at most as many are read side by side."""
SORTS = {
    "": "order of the file",
    "low": "lowest score",
    "high": "highest score",
    "difference": "difference of the models",
    "flip": "flipped pairs",
}
SECOND, FIRST_BETTER, OTHER_BETTER = "second", "better", "worse"
"""Filters: two models are equal in turn 1 and not in turn 2; one of two is better."""


@dataclass
class ListedQuestion:
    """A row of the list."""

    question: Question
    cells: dict[str, dict[int, float]]
    """By model, the number of each turn; NaN: no verdict."""
    failed: int = 0
    flipped: list[tuple[str, str]] = field(default_factory=list)
    """Models of flipped pairs."""
    less: float | None = None
    """Of two models: how much better the first one is than the second."""

    @property
    def means(self) -> list[float]:
        """The mean of each model that has a number."""
        numbers = [[v for v in cell.values() if v == v] for cell in self.cells.values()]
        return [statistics.fmean(values) for values in numbers if values]

    @property
    def mean(self) -> float:
        """The mean of the models; NaN: there is none."""
        return statistics.fmean(self.means) if self.means else math.nan

    @property
    def difference(self) -> float:
        """How far the models are apart."""
        if self.less is not None:
            return abs(self.less)
        return max(self.means, default=0.0) - min(self.means, default=0.0)

    @property
    def second(self) -> bool:
        """Whether two models are equal in turn 1 and different in turn 2."""
        firsts, seconds = ({cell.get(turn) for cell in self.cells.values()} for turn in (1, 2))
        return None not in firsts | seconds and len(firsts) == 1 < len(seconds)


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    question = data.question(view.question) if view.question else None
    if view.question and question is None:
        return pages.notice(f"there is no question {view.question} in {data.bench.name}")
    if question is not None:
        listed = _order(data, view)
        flip = _next_flip(data, view, listed) if site.live else None
        return conversation.show(data, view, site, question, listed, flip)
    return _list(data, view, site)


def _order(data: Data, view: View) -> list[Question]:
    """Return the questions of the list that one is opened from."""
    if view.sort or view.only:
        return [item.question for item in items(data, view)]
    # In the file's order no verdict has to be read.
    return [q for q in data.bench.questions if view.category in ("", q.category)]


def _next_flip(data: Data, view: View, listed: Sequence[Question]) -> View | None:
    """Return the next question of the list with a flipped pair of the view's models.

    None too where the verdicts have not been read yet: one question is shown without them.
    """
    if "scores" not in vars(data):
        return None
    flips = {
        row.question.question_id: row.flipped for row in items(data, view.to(only="", sort=""))
    }
    ids = [str(question.question_id) for question in listed]
    at = ids.index(view.question) + 1 if view.question in ids else len(ids)
    for question in listed[at:]:
        for pair in flips.get(question.question_id, ()):
            if not view.model or {*pair} <= {*view.model}:
                both = view.model or pair
                return view.to(question=str(question.question_id), model=both, turn="", find="")
    return None


def columns(data: Data, view: View) -> list[str]:
    """Return the models that the list shows: those chosen, else the best."""
    models = [name for name in view.model if name in data.models]
    return models or data.best_first(view.verdicts)[:COLUMNS]


def items(data: Data, view: View) -> list[ListedQuestion]:
    """Return the rows of the list: filtered and sorted."""
    models = columns(data, view)
    rows = [
        ListedQuestion(question, {model: {} for model in models})
        for question in data.bench.questions
    ]
    if (chosen := data.chosen(view.verdicts)) is not None:
        _fill(rows, data, chosen, view)
    if view.category:
        rows = [row for row in rows if row.question.category == view.category]
    keep: dict[str, Callable[[ListedQuestion], bool]] = {
        SECOND: lambda row: row.second,
        FIRST_BETTER: lambda row: (row.less or 0) > 0,
        OTHER_BETTER: lambda row: (row.less or 0) < 0,
    }
    if view.only in keep:
        rows = list(filter(keep[view.only], rows))
    keys: dict[str, Callable[[ListedQuestion], Any]] = {
        "low": lambda row: (not row.means, row.mean),
        "high": lambda row: (not row.means, -row.mean),
        "difference": lambda row: -row.difference,
        "flip": lambda row: -len(row.flipped),
    }
    return sorted(rows, key=keys[view.sort]) if view.sort in keys else rows


def _fill(rows: list[ListedQuestion], data: Data, chosen: Verdicts, view: View) -> None:
    """Put numbers and flips into the rows, one for each question."""
    shown = of_models([chosen.of(view.judge)], view.model)
    if not shown:
        return
    panel = shown[0]
    metric = view.criterion if view.criterion in panel.metrics else panel.metrics[0]
    both = panel.combined.of(metric=metric).mirrored()
    codes = [both.models.index(name) for name in columns(data, view) if name in both.models]
    both = both.take(np.isin(both.model, codes))
    first, cell = distinct(both.question, both.model, both.turn)
    numbers = means(cell, both.value, len(first)).tolist()
    places = (column[first].tolist() for column in (both.question, both.model, both.turn))
    for question, model, turn, number in zip(*places, numbers, strict=True):
        rows[question].cells[both.models[model]][turn] = number
    if len(view.model) == 2:
        ids = {row.question.question_id: row for row in rows}
        scores = panel.combined.of(metric=metric)
        for key, by_turn in differences_of(scores, *view.model).items():
            ids[key].less = statistics.fmean(by_turn.values())
    models = view.model or None
    judged = panel.scores.of(models=models)
    for question in judged.question[~judged.valid].tolist():
        rows[question].failed += 1
    pairs = [v.panel.scores for v in data.verdicts.values() if v.panel.form == "pair"]
    for scores in [panel.scores] if panel.scores.paired else pairs:
        flips = scores.of(models=models)
        flips = flips.take(flips.flip == FLIPPED)
        places = (column.tolist() for column in (flips.question, flips.model, flips.opponent))
        for question, model, opponent in zip(*places, strict=True):
            rows[question].flipped.append((scores.models[model], scores.models[opponent]))


def _list(data: Data, view: View, site: Site) -> str:
    rows, models = items(data, view), columns(data, view)
    begin, steps = pages.divide(view, site, len(rows), PAGE)
    on_page = rows[begin : begin + PAGE] if site.live else rows
    return pages.render(
        "list.html",
        view=view,
        rows=[_row(row, view, site, models) for row in on_page],
        models=models,
        two=len(view.model) == 2,
        total=len(rows),
        first=begin + 1,
        steps=steps,
        live=site.live,
    )


def _row(item: ListedQuestion, view: View, site: Site, models: Sequence[str]) -> dict[str, object]:
    question = item.question
    side_by_side = tuple(models[:COLUMNS]) if view.model else tuple(models[:2])
    if item.flipped and not view.model:
        side_by_side = item.flipped[0]
    opened = view.to(
        question=str(question.question_id), model=side_by_side, only="", turn="", find=""
    )
    cells = []
    for model, cell in item.cells.items():
        values = [cell[turn] for turn in sorted(cell)]
        valid = [value for value in values if value == value]
        cells.append(
            {
                "text": " · ".join(pages.number(value) for value in values) or "–",
                "mean": statistics.fmean(valid) if valid else None,
                "address": site.href(opened.to(model=(model,))),
            }
        )
    return {
        "item": item,
        "address": site.href(opened),
        "snippet": beginning(question.turns[0], 130),
        "cells": cells,
        "less": None if item.less is None else pages.signed(item.less, 2),
    }


def fields(data: Data, view: View) -> Fields:
    """Return what can be chosen."""
    question = data.question(view.question) if view.question else None
    if question is not None:
        return conversation.fields(data, view, question, _order(data, view))
    chosen = data.chosen(view.verdicts)
    filters = {"": "all", SECOND: "equal in turn 1, not in turn 2"}
    if len(view.model) == 2:
        first, other = view.model
        filters |= {FIRST_BETTER: f"{first} better", OTHER_BETTER: f"{other} better"}
    metrics = chosen.panel.metrics if chosen is not None else ()
    options = {
        "verdicts": {verdicts.name: verdicts.label for verdicts in data.verdicts.values()},
        "judge": named(chosen.choices if chosen is not None else {}, "all together"),
        "criterion": {metric: metric for metric in metrics},
        "category": named([question.category for question in data.bench.questions]),
        "only": filters,
        "sort": SORTS,
    }
    return Fields(view.to(question=""), options, data.best_first(view.verdicts))

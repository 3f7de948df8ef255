"""The tab Questions: a row a question and a column a model; a search; one question opened."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from markupsafe import Markup

from harness.results import Scores
from harness.results.scores import FLIPPED
from harness.types import Question
from viewer import conversation, pages, search
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
    "disagreement": "disagreement of judges",
    "flip": "flipped pairs",
}
FILTERS = {
    "": "all",
    "flipped": "flipped when swapped",
    "failed": "no verdict",
    "second": "equal in turn 1, not in turn 2",
}


@dataclass
class Item:
    """A row of the list."""

    question: Question
    cells: dict[str, dict[int, float]]
    """By model, the number of each turn; NaN: no verdict."""
    flipped: int = 0
    failed: int = 0
    spread: float = 0.0
    """The widest disagreement of the judges on an answer."""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """Models of flipped pairs."""

    @property
    def means(self) -> list[float]:
        """The mean of each model that has a number."""
        numbers = [[v for v in cell.values() if v == v] for cell in self.cells.values()]
        return [sum(values) / len(values) for values in numbers if values]

    @property
    def difference(self) -> float:
        """How far the models are apart."""
        return max(self.means) - min(self.means) if len(self.means) > 1 else 0.0

    @property
    def second(self) -> bool:
        """Whether two models are equal in turn 1 and different in turn 2."""
        firsts, seconds = ([cell.get(turn) for cell in self.cells.values()] for turn in (1, 2))
        if None in firsts or None in seconds or len(firsts) < 2:
            return False
        return len(set(firsts)) == 1 and len(set(seconds)) > 1


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    question = data.question(view.question) if view.question else None
    if view.question and question is None:
        return pages.notice(f"there is no question {view.question} in {data.bench.name}")
    if question is not None:
        listed = [item.question for item in items(data, view)]
        return conversation.show(data, view, site, question, listed)
    if view.find:
        return _found(data, view, site)
    return _list(data, view, site)


def columns(data: Data, view: View) -> list[str]:
    """Return the models that the list shows: those chosen, else the best."""
    chosen = data.chosen(view.verdicts)
    every = chosen.ranked if chosen is not None else ()
    known = [name for name in view.model if name in data.models]
    return known or list(every or data.models)[:COLUMNS]


def items(data: Data, view: View) -> list[Item]:
    """Return the rows of the list: filtered and sorted."""
    chosen = data.chosen(view.verdicts)
    models = columns(data, view)
    rows = [
        Item(question, {model: {} for model in models})
        for question in data.bench.questions
        if view.category in ("", question.category)
    ]
    if chosen is not None:
        _fill(rows, data, chosen, view, models)
    keep = {
        "flipped": lambda item: item.flipped,
        "failed": lambda item: item.failed,
        "second": lambda item: item.second,
    }.get(view.only)
    rows = [item for item in rows if keep is None or keep(item)]
    order = {
        "low": lambda item: (not item.means, sum(item.means) / max(1, len(item.means))),
        "high": lambda item: (not item.means, -sum(item.means) / max(1, len(item.means))),
        "difference": lambda item: -item.difference,
        "disagreement": lambda item: -item.spread,
        "flip": lambda item: -item.flipped,
    }.get(view.sort)
    return rows if order is None else sorted(rows, key=order)


def _fill(listed: list[Item], data: Data, chosen: Verdicts, view: View, models: list[str]) -> None:
    """Put numbers, flips and the judges' disagreement into the rows."""
    by_id = {item.question.question_id: item for item in listed}
    panel = chosen.of(view.judge)
    metric = criterion_of(chosen, view)
    scores = panel.combined.of(metric=metric)
    rows = [by_id.get(question.question_id) for question in scores.questions]
    both = scores.mirrored()
    both = both.of(models=models) if not both.paired else _of_first(both, models)
    sums: dict[tuple[int, int, int], list[float]] = {}
    for key in zip(
        *(c.tolist() for c in (both.question, both.model, both.turn, both.value)), strict=True
    ):
        sums.setdefault(key[:3], []).append(key[3])
    for (question, model, turn), values in sums.items():
        row = rows[question]
        if row is not None:
            row.cells[scores.models[model]][turn] = sum(values) / len(values)
    named = panel.scores.of(models=view.model or None)
    for question in named.question[~named.valid].tolist():
        if (row := rows[question]) is not None:
            row.failed += 1
    if view.sort == "disagreement":
        sources = [source.scores for source in chosen.sources.values()]
        if view.other and (other := data.verdicts.get(view.other)) is not None:
            sources = [panel.scores, other.panel.scores]
        elif view.other in chosen.sources:
            sources = [panel.scores, chosen.sources[view.other].scores]
        for question, spread in _spreads(sources, metric, view.model).items():
            if (row := rows[question]) is not None:
                row.spread = spread
    for pairs in _pairs(data, panel.scores):
        flipped = pairs.of(models=view.model or None)
        flipped = flipped.take(flipped.flip == FLIPPED)
        codes = (flipped.question, flipped.model, flipped.opponent)
        for question, one, two in zip(*(code.tolist() for code in codes), strict=True):
            if (row := rows[question]) is not None:
                row.flipped += 1
                row.pairs.append((pairs.models[one], pairs.models[two]))


def criterion_of(chosen: Verdicts, view: View) -> str:
    """Return which of the panel's numbers is shown."""
    metrics = chosen.panel.metrics
    return view.criterion if view.criterion in metrics else metrics[0]


def _pairs(data: Data, scores: Scores) -> list[Scores]:
    """Return the pairs in which flips are looked for: these, or those beside them."""
    if scores.paired:
        return [scores]
    return [v.panel.scores for v in data.verdicts.values() if v.panel.form == "pair"]


def _of_first(both: Scores, models: Sequence[str]) -> Scores:
    """Return mirrored pairs whose first model is among some; of two models, against each other."""
    codes = [both.models.index(name) for name in models if name in both.models]
    keep = np.isin(both.model, codes)
    if len(codes) == 2:
        keep &= np.isin(both.opponent, codes)
    return both.take(keep)


def _spreads(sources: Sequence[Scores], metric: str, models: Sequence[str]) -> dict[int, float]:
    """Return for each question the widest range of the sources' numbers on one answer."""
    highest: dict[tuple[int, ...], float] = {}
    lowest: dict[tuple[int, ...], float] = {}
    for source in sources:
        scores = source.of(metric=metric, models=models or None).mirrored()
        scores = scores.take(scores.valid)
        columns = (scores.question, scores.turn, scores.model, scores.opponent)
        keys = zip(*(column.tolist() for column in columns), strict=True)
        for key, value in zip(keys, scores.value.tolist(), strict=True):
            highest[key] = max(value, highest.get(key, value))
            lowest[key] = min(value, lowest.get(key, value))
    widest: dict[int, float] = {}
    for key, value in highest.items():
        widest[key[0]] = max(widest.get(key[0], 0.0), value - lowest[key])
    return widest


def _list(data: Data, view: View, site: Site) -> str:
    listed = items(data, view)
    live = site.live
    page = int(view.page) if view.page.isdecimal() and len(view.page) < 7 else 1
    last = max(1, -(-len(listed) // PAGE))
    page = min(max(page, 1), last)
    shown = listed[(page - 1) * PAGE : page * PAGE] if live else listed
    models = columns(data, view)
    steps = [view.to(page=str(n)) if 1 <= n <= last else None for n in (page - 1, page + 1)]
    return pages.render(
        "list.html",
        view=view,
        rows=[_row(item, view, site, models) for item in shown],
        models=models,
        total=len(listed),
        first=(page - 1) * PAGE + 1,
        steps=[site.href(step) if step and live else "" for step in steps],
        choices=choices(data, view) if live else "",
        spread=view.sort == "disagreement",
    )


def _row(item: Item, view: View, site: Site, models: Sequence[str]) -> dict[str, object]:
    question = item.question
    side_by_side = tuple(models[:COLUMNS]) if view.model or not item.pairs else item.pairs[0]
    if not item.pairs and not view.model:
        side_by_side = tuple(models[:2])
    there = view.to(question=str(question.question_id), model=side_by_side, find="")
    snippet = " ".join(question.turns[0][:300].split())
    cells = []
    for model in models:
        values = [item.cells[model][turn] for turn in sorted(item.cells[model])]
        known = [value for value in values if value == value]
        address = site.href(there.to(model=(model,)))
        cells.append(
            {
                "text": " · ".join(pages.number(value) for value in values) or "–",
                "mean": sum(known) / len(known) if known else None,
                "address": address,
            }
        )
    return {
        "id": question.question_id,
        "address": site.href(there),
        "snippet": snippet if len(snippet) < 130 else snippet[:130].rstrip() + "…",
        "category": question.category,
        "cells": cells,
        "flipped": item.flipped,
        "failed": item.failed,
        "spread": item.spread,
    }


def choices(data: Data, view: View) -> Markup:
    """Return the fields above the list."""
    chosen = data.chosen(view.verdicts)
    named = replace(view, verdicts=chosen.name if chosen is not None else "")
    judges = {"": "all together"}
    if chosen is not None and 1 < len(chosen.sources) <= 12:
        judges |= {name: name for name in chosen.sources}
    metrics: dict[str, str] = {}
    if chosen is not None:
        metrics = {name: name for name in chosen.panel.metrics}
        named = replace(named, criterion=criterion_of(chosen, view))
    categories = list(dict.fromkeys(question.category for question in data.bench.questions))
    fields = [
        Markup(pages.render("search.html", find=view.find)),
        pages.choice(
            named, "verdicts", "Verdicts", {v.name: v.label for v in data.verdicts.values()}
        ),
        pages.choice(view, "judge", "Judge", judges),
        pages.choice(named, "criterion", "Criterion", metrics if len(metrics) > 1 else {}),
        pages.choice(
            view, "category", "Category", {"": "all", **{name: name for name in categories}}
        ),
        pages.choice(view, "only", "Only", FILTERS),
        pages.choice(view, "sort", "Sorted by", SORTS),
    ]
    listed = view.to(question="")
    every = list(chosen.ranked if chosen is not None and chosen.ranked else data.models)
    boxes = pages.render("models.html", view=view, models=every, address=listed.query())
    return pages.form(listed, fields) + Markup(boxes)


def _found(data: Data, view: View, site: Site) -> str:
    hits, more = search.find(data, view)
    rows = []
    for hit in hits:
        models = hit.models or view.model or tuple(columns(data, view)[:1])
        there = view.to(question=str(hit.question), model=models[:COLUMNS], find=view.find)
        rows.append({"hit": hit, "excerpt": Markup(hit.excerpt), "address": site.href(there)})
    return pages.render("found.html", view=view, rows=rows, more=more, choices=choices(data, view))

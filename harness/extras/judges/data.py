"""What reports about judges start from: verdicts and votes, one a (judge, item), and means of them.

An item is a question's turn and one answer, or two answers in the order of their models' names.
The value of a grade is the grade, of a label the label, of a pair the share that goes to the first
model: 1, 0.5 or 0. All errors are over questions (`harness.results.estimate`).
"""

import fnmatch
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import UNSET

from harness import bench as benches
from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.options import JudgeReport
from harness.reporting import Column
from harness.results.estimate import Estimate, jackknife, ratio
from harness.results.scores import outcome
from harness.types import Judgment, QuestionId, Vote

Kind: TypeAlias = Literal["single", "pair"]
Value: TypeAlias = float | str | None


class Item(NamedTuple):
    """What is judged."""

    question: QuestionId
    turn: int
    models: tuple[str, ...]
    """One model, or two in the order of their names."""
    choice: int = 0


class Game(NamedTuple):
    """One game of a pair."""

    value: float
    """The share that goes to the item's first model."""
    first: bool
    """Whether the item's first model was shown first."""


class Verdict(NamedTuple):
    """What one judge or voter said of an item."""

    item: Item
    judge: str
    value: Value
    """None: no verdict."""
    games: tuple[Game, ...] = ()
    """Of pairs judged by a model, those with a verdict."""
    judge_set: str = ""
    """With its version: `mt_bench 2`."""
    sample: int = 0
    voter: bool = False
    scale: tuple[float, float] | None = None
    file: str = ""
    named_first: str = ""
    """Of a pair, the model that the row names first."""
    row: Judgment | None = None
    """The judgment without its texts."""


@dataclass(frozen=True)
class Data:
    """A benchmark, and the verdicts on it that were asked for."""

    options: JudgeReport
    bench: Bench | None

    def category(self, question: QuestionId) -> str | None:
        """Return a question's category; None if the question is not the benchmark's."""
        known = None if self.bench is None else self.bench.by_id.get(question)
        return None if known is None else known.category

    def verdicts(
        self, kind: Kind | None = None, files: Sequence[pathlib.Path] = ()
    ) -> list[Verdict]:
        """Return judges' verdicts: of files, else of --input-file, else of the benchmark.

        Raises:
            MissingError: there is none.
            UsageError: they are by several criteria or in several ways.
        """
        select = self.options.select
        paths = list(files or select.input_file)
        if not paths and self.bench is not None:
            paths = [file.path for file in self.bench.judgment_files()]
        found: list[Verdict] = []
        for path in paths:
            if store.looks_like(path, Vote):
                found += self._votes(path)
            else:
                found += [v for v in self._judgments(path) if kind in (None, kind_of(v))]
        kinds = {kind_of(verdict) for verdict in found}
        if not found:
            what = {"pair": "pairs", "single": "grades", None: "judgments"}[kind]
            where = ", ".join(map(str, paths)) or (self.bench and self.bench.folder)
            raise MissingError(f"there are no {what} of these judges in {where}")
        if kind is None and len(kinds) > 1:
            wanted = "single" if select.mode in (None, "single") else "pair"
            found = [verdict for verdict in found if kind_of(verdict) == wanted]
        self._check_one_criterion(found)
        return found

    def votes(self) -> list[Verdict]:
        """Return people's votes, of --votes or of the benchmark; judgments of --votes files too.

        Raises:
            MissingError: there is none.
        """
        paths = list(self.options.select.votes)
        if not paths and self.bench is not None:
            paths = self.bench.vote_files()
        found: list[Verdict] = []
        for path in paths:
            found += self._votes(path) if store.looks_like(path, Vote) else self._judgments(path)
        if not found:
            advice = "vote in the viewer, or name a file with --votes"
            raise MissingError(f"there are no votes; {advice}")
        return found

    def answers(self) -> Callable[[str, Item], str | None]:
        """Return a function from a model and an item to the text of the model's reply."""
        if self.bench is None:
            return lambda *_: None
        bench = self.bench
        read: dict[str, Mapping[QuestionId, Any]] = {}

        def text(model: str, item: Item) -> str | None:
            if model not in read:
                read[model] = bench.answers(model)
            answer = read[model].get(item.question)
            if answer is None or item.choice >= len(answer.choices):
                return None
            turns: list[str] = answer.choices[item.choice].turns
            return turns[item.turn - 1] if item.turn <= len(turns) else None

        return text

    def _votes(self, path: pathlib.Path) -> Iterator[Verdict]:
        last: dict[Any, Verdict] = {}
        for place in store.rows(path, Vote):
            vote = place.row
            first, second = sorted((vote.model_a, vote.model_b))
            item = Item(vote.question_id, vote.turn, (first, second))
            if not self._wanted(item) or self._excluded(vote.judge):
                continue
            won = {"model_a": vote.model_a, "model_b": vote.model_b}.get(vote.winner)
            value = None if vote.winner == "error" else 0.5 if won is None else float(won == first)
            key = (item, vote.judge)
            last[key] = Verdict(
                item, vote.judge, value, voter=True, file=path.stem, named_first=vote.model_a
            )
        yield from last.values()

    def _judgments(self, path: pathlib.Path) -> Iterator[Verdict]:
        select, asked = self.options.select, self.options.slice
        last: dict[Any, Verdict] = {}
        for place in store.rows(path, Judgment):
            row = place.row
            if select.judge_model and row.judge_model not in select.judge_model:
                continue
            if select.judge_set is not None and row.judge_set != select.judge_set:
                continue
            if select.sample is not None and row.sample != select.sample:
                continue
            if select.score_method is not None and row.score_method != select.score_method:
                continue
            if asked.criterion and row.criterion not in asked.criterion:
                continue
            item = Item(row.question_id, row.turn, tuple(sorted(row.models)), row.choice)
            if not self._wanted(item):
                continue
            key = (*row.key, row.judge_model, row.judge_set)
            if not (row.failed and key in last and last[key].value is not None):
                last[key] = _verdict(row, item, path.name)
        yield from last.values()

    def _wanted(self, item: Item) -> bool:
        asked = self.options.slice
        if asked.turns and item.turn not in asked.turns:
            return False
        if asked.model_list and not set(item.models) <= set(asked.model_list):
            return False
        taken = self._taken
        return taken is None or item.question in taken

    @property
    def _taken(self) -> set[QuestionId] | None:
        asked = self.options.slice
        parts = (asked.question_begin, asked.question_end, asked.first_n, asked.sample_n)
        if self.bench is None or parts == (0, None, None, None):
            return None
        return {question.question_id for question in benches.take(self.bench.questions, *parts)}

    def _excluded(self, voter: str) -> bool:
        select = self.options.select
        return any(fnmatch.fnmatch(voter, pattern) for pattern in select.exclude)

    def _check_one_criterion(self, found: Sequence[Verdict]) -> None:
        criteria = {v.row.criterion for v in found if v.row is not None}
        if len(criteria) > 1:
            names = ", ".join(sorted(str(name) for name in criteria))
            raise UsageError(f"judgments by several criteria ({names}); choose with --criterion")


def load(options: JudgeReport) -> Data:
    """Return the benchmark and its verdicts; without one, files that are named are read alone."""
    named = options.select.input_file or options.select.votes
    try:
        return Data(options, benches.load(options.bench.bench_name, options.bench.data_dir))
    except UsageError:
        if not named:
            raise
        return Data(options, None)


def kind_of(verdict: Verdict) -> Kind:
    """Return whether a verdict is about one answer or about two."""
    return "pair" if len(verdict.item.models) > 1 else "single"


def _verdict(row: Judgment, item: Item, file: str) -> Verdict:
    value: Value = None
    games: tuple[Game, ...] = ()
    if row.model is None:
        swap = row.model_1 != item.models[0]
        shown = [True, False] if row.shown_first is None else [row.shown_first == "model_1"]
        games = tuple(
            Game(1 - game if swap else game, is_first != swap)
            for game, is_first in zip(row.games, shown, strict=False)
            if game is not None
        )
        if not row.failed:
            won = outcome(row.games)
            value = 1 - won if swap else won
    elif row.label is not UNSET:
        value = row.label
    elif not row.failed:
        value = row.grade
    lean = Judgment(
        question_id=row.question_id, model=row.model, criterion=row.criterion, details=row.details
    )
    return Verdict(
        item,
        row.judge_model,
        value,
        games,
        f"{row.judge_set} {row.judge_set_version}".rstrip(),
        row.sample,
        scale=row.scale,
        file=file,
        named_first=row.model_1 or "",
        row=lean,
    )


# Numbers


def mean(parts: Iterable[tuple[QuestionId, float, float]], *, share: bool = False) -> Estimate:
    """Return Σ value / Σ weight of parts (question, value, weight)."""
    sums: dict[QuestionId, float] = {}
    counts: dict[QuestionId, float] = {}
    for question, value, weight in parts:
        sums[question] = sums.get(question, 0.0) + value
        counts[question] = counts.get(question, 0.0) + weight
    return ratio(np.array(list(sums.values())), np.array(list(counts.values())), share=share)


def shares(parts: Iterable[tuple[QuestionId, bool]]) -> Estimate:
    """Return the share of parts (question, whether) that are true."""
    return mean(((question, float(true), 1.0) for question, true in parts), share=True)


def difference(one: Sequence[tuple[Item, float]], other: Sequence[tuple[Item, float]]) -> Estimate:
    """Return the mean of some items' values less that of others, paired by question."""
    questions = list(dict.fromkeys(item.question for item, _ in [*one, *other]))
    place = {question: at for at, question in enumerate(questions)}

    def estimate(parts: Sequence[tuple[Item, float]]) -> Estimate:
        sums, counts = np.zeros((2, len(questions)))
        for item, value in parts:
            sums[place[item.question]] += value
            counts[place[item.question]] += 1
        return ratio(sums, counts)

    return estimate(one) - estimate(other)


def over_questions(
    items: Sequence[tuple[QuestionId, Any]], statistic: Callable[[list[Any]], float]
) -> Estimate:
    """Return a statistic of items, each of a question, with the jackknife over questions."""
    by_question: dict[QuestionId, list[Any]] = {}
    for question, item in items:
        by_question.setdefault(question, []).append(item)
    groups = list(by_question.values())

    def on(mask: Any) -> float:
        return statistic(
            [item for kept, group in zip(mask, groups, strict=True) if kept for item in group]
        )

    found = jackknife(on, np.ones(len(groups), dtype=bool))
    return Estimate(found.value, found.influence, len(items))


def named(name: str, estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as columns: `name`, `name_low`, `name_high`; null where there is none."""
    value = estimate.value
    low, high = estimate.interval or (None, None)
    return {name: None if value != value else value, f"{name}_low": low, f"{name}_high": high}


def interval_columns(name: str, title: str, form: str) -> list[Column]:
    """Return the columns of a number and its 95% interval."""
    return [
        Column(name, title, format=form),
        Column(name, "95% interval", format=f"interval{form}"),
    ]


def words(estimate: Estimate, *, percent: bool = True, places: int = 0) -> str:
    """Return an estimate in a sentence: 68% (63 to 72)."""
    from harness.reporting.page import rounded

    scale = 2 if percent else 0
    value = rounded(estimate.value, places, scale) + ("%" if percent else "")
    if estimate.interval is None:
        return value
    low, high = (rounded(end, places, scale) for end in estimate.interval)
    return f"{value} ({low} to {high})"

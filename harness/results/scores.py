"""Every verdict as columns: grades, wins, labels, votes and metrics are values of one kind.

    question  turn  model      opponent  metric   source   value  shown_first  shown_second
    81        1     claude-v1  -         score    gpt-4    8.0    -            -             a grade
    81        1     claude-v1  gpt-4     win      gpt-4    0.5    1.0          0.0           a flip
    81        1     claude-v1  -         CORRECT  gpt-4.1  1.0    -            -             a label

One entry for each (row, metric); `value` is NaN where the judge gave no verdict. A pair is one
entry with both of its games, seen from the model that its row names first; `mirrored` has it from
both sides. Its value is the outcome of the games: claude-v1 won when it was shown first and lost
when it was shown second, which is a tie, and a position flip.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.results.estimate import Bools, Floats, Ints
from harness.types import UNSTATED, Question, QuestionId

Form: TypeAlias = Literal["grade", "pair", "label", "dimensions", "points", "vote", "metric"]
SCORE, WIN, VOTE, POINTS, CONFIDENCE = "score", "win", "vote", "points", "confidence"
MAIN = (SCORE, WIN, VOTE, POINTS)
"""Metrics that stand for the others of their rows."""
ONCE, CONSISTENT, FLIPPED, ONE_SIDED = -1, 0, 1, 2
"""Of `flip`: one game; both agree; the other model won when swapped; one of two games a tie."""


class Source(NamedTuple):
    """Whose verdicts, and how they were made: what may differ between two numbers of one thing."""

    judge: str
    """A judge's model, a voter, or the package that computed a metric."""
    form: Form
    judge_set: str = UNSTATED
    """Of a program: the metric."""
    version: str = ""
    scale: tuple[float, float] | None = None
    sampling: str = ""
    """What the judge was sampled with, its seed aside, as JSON; empty: unknown."""
    method: str = "text"
    """How the verdict was read: `text`, `logprobs`, of a pair judged once `text, one order`; or a
    metric's variant."""
    sample: int = 0
    choice: int = 0
    file: str = ""
    drawn: float | None = None
    """Of pairs that were drawn at random: which share of them all."""
    look: int = 0
    """Of a run that stops when comparisons are decided: the look, from 1."""
    criterion: str = ""
    by_judge: bool = False
    """Of votes: whether it is a judge whose verdicts are in the form of votes."""

    @property
    def versioned_set(self) -> str:
        """The judge set with its version: `mt_bench 2`."""
        return f"{self.judge_set} {self.version}".rstrip()

    @property
    def kind(self) -> Literal["judge", "person", "program"]:
        """Who gives verdicts of this form."""
        if self.form == "metric":
            return "program"
        return "person" if self.form == "vote" and not self.by_judge else "judge"


class LeftOut(NamedTuple):
    """A row that counts nowhere."""

    source: Source
    question: QuestionId
    turn: int
    models: tuple[str, ...]
    cause: str
    """What has changed since it was made: `no such question`, `question`, `answers`, …"""


@dataclass(frozen=True, eq=False)
class Scores:
    """Verdicts as columns of equal length: codes into the names beside them, and values."""

    row: Ints
    """The row's number, in the order in which the files were read."""
    question: Ints
    turn: Ints
    model: Ints
    opponent: Ints
    """-1: none."""
    metric: Ints
    source: Ints
    value: Floats
    """NaN: the judge gave no verdict. Of a pair: 1 the model won, 0.5 tie, 0 the opponent won."""
    shown_first: Floats
    """Of a pair the value of the game in which the model was shown first; NaN: no such verdict."""
    shown_second: Floats
    """The same of the game in which the model was shown second."""
    questions: tuple[Question, ...]
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    sources: tuple[Source, ...]
    not_current: Sequence[LeftOut] = ()
    unchecked: int = 0
    """Rows that say which answers they are of, where these answers are not at hand."""
    files: tuple[tuple[Path, int, type[Any]], ...] = ()
    """The files that were read, each with the number of its first row and the type of its rows."""

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        names = ", ".join(self.metrics)[:80]
        return f"<Scores: {len(self):,} verdicts on {len(self.models)} models ({names})>"

    @functools.cached_property
    def left_out(self) -> Counter[str]:
        """How many rows are not current, by what has changed since they were made."""
        return Counter(row.cause for row in self.not_current)

    @functools.cached_property
    def flip(self) -> Ints:
        """How the two games of each pair agree: ONCE, CONSISTENT, FLIPPED or ONE_SIDED."""
        first, second = np.sign(self.shown_first - 0.5), np.sign(self.shown_second - 0.5)
        flip: Any = np.full(len(self), ONCE, dtype=np.int8)  # where one is NaN nothing is equal
        flip[first == second] = CONSISTENT
        flip[first * second == -1] = FLIPPED
        flip[(first * second == 0) & (first != second)] = ONE_SIDED
        result: Ints = flip
        return result

    @property
    def paired(self) -> bool:
        """Whether these are pairs of models."""
        return bool(len(self)) and bool((self.opponent >= 0).all())

    @property
    def question_ids(self) -> list[QuestionId]:
        """The ids of the questions, by their codes."""
        return [question.question_id for question in self.questions]

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The lesser and the greater code of each entry's two models; of others -1 and the model.

        They are the same from whichever side a pair is seen.
        """
        return np.minimum(self.model, self.opponent), np.maximum(self.model, self.opponent)

    @property
    def valid(self) -> Bools:
        """Which entries have a verdict."""
        return ~np.isnan(self.value)

    @property
    def models_present(self) -> tuple[str, ...]:
        """The models of these entries, in the order of the names."""
        present = np.bincount(self.model, minlength=len(self.models))
        present += np.bincount(self.opponent[self.opponent >= 0], minlength=len(self.models))
        return tuple(itertools.compress(self.models, (present > 0).tolist()))

    @property
    def sources_present(self) -> dict[int, Source]:
        """The sources of these entries by code."""
        return {code: self.sources[code] for code in present(self.source)}

    def take(self, which: Bools | Ints) -> "Scores":
        """Return some of the entries; the codes stay."""
        if which.dtype == bool and which.all():
            return self
        size = int(np.count_nonzero(which)) if which.dtype == bool else len(which)
        columns: dict[str, Any] = {
            name: np.broadcast_to(column[:1], size) if is_constant(column) else column[which]
            for name in COLUMNS
            for column in [getattr(self, name)]
        }
        return replace(self, **columns)

    def of(
        self,
        *,
        metric: str | Collection[str] | None = None,
        models: Collection[str] | None = None,
        turns: Collection[int] | None = None,
        questions: Collection[QuestionId] | None = None,
        judges: Collection[str] | None = None,
    ) -> "Scores":
        """Return the entries of some metrics, models, turns, questions, judges; None: all.

        Of pairs with several models named both must be among them; with one, either. What is not
        current is chosen alike.
        """
        keep = np.ones(len(self), dtype=bool)
        for codes, names, chosen in (
            (self.metric, self.metrics, [metric] if isinstance(metric, str) else metric),
            (self.turn, range(int(self.turn.max(initial=0)) + 1), turns),
            (self.question, [question.question_id for question in self.questions], questions),
            (self.source, [source.judge for source in self.sources], judges),
        ):
            if chosen is not None:
                keep &= _among(codes, names, chosen)
        if models is not None:
            first, second = (
                _among(side, self.models, models) for side in (self.model, self.opponent)
            )
            single = len(set(models)) == 1
            keep &= (first | second) if single else first & (second | (self.opponent < 0))
        left_out = [
            row
            for row in self.not_current
            if (turns is None or row.turn in turns)
            and (questions is None or row.question in questions)
            and (judges is None or row.source.judge in judges)
            and (
                models is None
                or (any if len(set(models)) == 1 else all)(model in models for model in row.models)
            )
        ]
        return replace(self.take(keep), not_current=left_out)

    def by(self, kind: Literal["judge", "person", "program"]) -> "Scores":
        """Return what judges say, or people, or programs."""
        which = np.array([source.kind == kind for source in self.sources], dtype=bool)
        return self.take(which[self.source])

    def main(self) -> "Scores":
        """Return the entries of the numbers that stand for their rows: no dimensions, no labels."""
        names = [[m in (*MAIN, s.criterion) for m in self.metrics] for s in self.sources]
        mains = np.array(names, dtype=bool).reshape(len(self.sources), len(self.metrics))
        return self.take(mains[self.source, self.metric])

    def of_files(self, paths: Collection[Path]) -> "Scores":
        """Return the entries of rows of some of the files."""
        ends = [start for _, start, _ in self.files]
        wanted = {path.resolve() for path in paths}
        chosen = np.array([False, *(path.resolve() in wanted for path, *_ in self.files)])
        return self.take(chosen[np.searchsorted(ends, self.row, side="right")])

    def plus(self, *others: "Scores") -> "Scores":
        """Return these entries and others with the same names."""
        parts = [self, *others]
        columns: dict[str, Any] = {
            name: joined([getattr(part, name) for part in parts]) for name in COLUMNS
        }
        return replace(self, **columns)

    def ordered(self) -> "Scores":
        """Return pairs seen from the model with the greater code; other entries as they are."""
        turned = self.model < self.opponent
        if not turned.any():
            return self
        lesser, greater = self.ends
        return replace(
            self,
            model=greater,
            opponent=lesser,
            value=np.where(turned, 1 - self.value, self.value),
            shown_first=np.where(turned, 1 - self.shown_second, self.shown_first),
            shown_second=np.where(turned, 1 - self.shown_first, self.shown_second),
        )

    def mirrored(self) -> "Scores":
        """Return pairs seen from both of their models; other entries once."""
        pairs = self.take(self.opponent >= 0)
        turned = replace(
            pairs,
            model=pairs.opponent,
            opponent=pairs.model,
            value=1 - pairs.value,
            shown_first=1 - pairs.shown_second,
            shown_second=1 - pairs.shown_first,
        )
        return self.plus(turned) if len(pairs) else self


CODES = ("row", "question", "turn", "model", "opponent", "metric", "source")
VALUES = ("value", "shown_first", "shown_second")
COLUMNS = (*CODES, *VALUES)


def present(codes: Ints) -> list[int]:
    """Return the distinct codes of a column in order, without -1.

    numpy's `unique` sorts, and at its first call imports another tenth of numpy.

    >>> present(np.array([5, 2, -1, 5]))
    [2, 5]
    """
    counts = np.bincount((codes[:1] if is_constant(codes) else codes) + 1)
    counts[:1] = 0
    codes_present: list[int] = (np.flatnonzero(counts) - 1).tolist()
    return codes_present


def constant(value: float, size: int, dtype: npt.DTypeLike = np.float64) -> Any:
    """Return a column that has one value everywhere, and takes no memory: the games of grades.

    It cannot be written to.
    """
    return np.broadcast_to(np.array(value, dtype=dtype), size)


def is_constant(column: Any) -> bool:
    """Return whether a column is one of `constant`."""
    return bool(column.strides == (0,))


def compact(column: Any) -> Any:
    """Return a column, as a `constant` if it has one value everywhere."""
    if len(column) and (column == column[0]).all():
        return constant(column[0], len(column), column.dtype)
    return column


def joined(parts: Sequence[Any]) -> Any:
    """Return the parts of a column as one."""
    filled = [part for part in parts if len(part)] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    firsts = {part[0] for part in filled}
    if all(map(is_constant, filled)) and (len(firsts) == 1 or all(map(np.isnan, firsts))):
        return constant(filled[0][0], sum(map(len, filled)), filled[0].dtype)
    return np.concatenate(filled)


def _among(codes: Ints, names: Sequence[Any], chosen: Collection[Any]) -> Bools:
    is_chosen = np.array([name in chosen for name in names] + [False])  # -1 is no name
    result: Bools = is_chosen[codes]
    return result


def distinct(*columns: Ints) -> tuple[Ints, Ints]:
    """Return where each combination of some columns of codes is first, and each entry's number.

    >>> distinct(np.array([5, 5, 5]), np.array([2, -1, 2]))
    (array([1, 0]), array([1, 0, 1]))
    """
    code = combined(*columns)
    size = int(code.max(initial=-1)) + 1
    if size > 4 * len(code):
        _, first, place = np.unique(code, return_index=True, return_inverse=True)
        return first, place
    # Few combinations are possible: a table of them costs less than sorting.
    table = np.full(size, -1, dtype=np.int32)
    table[code[::-1]] = np.arange(len(code) - 1, -1, -1)  # the first entry is written last
    present = table >= 0
    first = table[present].astype(np.int64)
    np.cumsum(present, out=table)  # int32: it is long, and there are many
    table -= 1
    return first, table[code].astype(np.int64)


def combined(*columns: Ints) -> Ints:
    """Return a number for each combination of some columns of codes, in their order."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code *= int(column.max(initial=-1)) + 2
        code += column
        code += 1
    return code


def means(cells: Ints, values: Floats, size: int) -> Floats:
    """Return the mean of the valid values in each cell; NaN: there is none."""
    valid = ~np.isnan(values)
    sums = np.bincount(cells[valid], values[valid], size)
    counts = np.bincount(cells[valid], minlength=size)
    table: Floats = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    return table


def outcome(games: Sequence[float | None]) -> float:
    """Return model_1's outcome of its games; as in FastChat two that differ are a tie.

    Weighed preferences count as their mean: 0.9 and 0.6 are 0.75.
    """
    played = [game for game in games if game is not None]
    if any(game not in (0.0, 0.5, 1.0) for game in played):
        return sum(played) / len(played)
    return played[0] if len(set(played)) == 1 else 0.5

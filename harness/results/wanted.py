"""What is asked of `show_result`: checked before anything is read, and settled once the observations are found.

Wanted    what the caller said beside which observations
Shown     the observations of the table, and whose questions they are about: nothing below asks the query again
"""

import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from harness.bench import Bench
from harness.errors import TurnbenchError, UsageError
from harness.judgments.case import SCORE
from harness.judgments.observations import Observations
from harness.records import MODES, Mode, Scale
from harness.results.about import About
from harness.results.grades.aggregates import NONE, Aggregate, column_of
from harness.results.query import Query
from harness.results.table import Kind

if TYPE_CHECKING:  # judge sets are imported only where they are needed
    from harness.judging.sets import JudgeSet

LengthControl: TypeAlias = Literal["own", "compatible", "off"]
OF_SCALE, OF_WIN_RATES = 0.05, 0.1
"""The difference for which power is said unless the user names one: of grades as a share of the scale, of win rates."""
MOST_MODELS = 50
MOST_ROWS = 8_000
"""A table of more models or rows than this has intervals and ranks only where they are asked for: they would take
longer than all the rest."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for beside which observations; `show_result` says what each field means."""

    query: Query
    baseline: str | None
    count_failed: bool
    intervals: bool | None
    common: bool
    against: pathlib.Path | None
    allow: Sequence[str]
    margin: float | None
    difference: float | None
    sort: str | None
    metrics: Sequence[str]
    variant: str | None
    aggregate: Aggregate | None
    length_control: LengthControl | None
    board: pathlib.Path | None
    overwrite: bool
    check_answers: bool = True

    @property
    def mode(self) -> Mode:
        """What was judged."""
        return self.query.mode or "single"

    @property
    def several(self) -> bool:
        """Whether several judges are named, who make a panel."""
        return self.query.judges is not None and len(self.query.judges) > 1

    def check(self) -> None:
        """Raise `UsageError` if something is asked for where it means nothing."""
        for fault in self._faults():
            raise UsageError(fault)

    def _faults(self) -> Iterator[str]:
        if self.mode not in MODES:
            yield f"no mode {self.mode!r}; there are: {', '.join(MODES)}"
        if self.board is not None or self.length_control not in {None, "off"}:
            if self.several:
                yield "a board and length control are of one judge; name one with --judge-model"
            if self.mode != "pairwise-baseline":
                told = "a board and length control are of pairs with a baseline: give --mode pairwise-baseline"
                yield f"{told}, or a judge set that names a baseline; not {self.mode}"
        if self.overwrite and self.board is None:
            yield "--overwrite replaces rows of a board; name it with --board FILE"
        column_of(self.aggregate)
        if self.aggregate not in {None, NONE} and (self.mode != "single" or self.several or self.count_failed):
            yield "--aggregate is of one judge's grades: leave out --mode, a panel and --count-failed"
        if self.against is not None and self.several:
            yield "two runs can be compared by one judge; name one with --judge-model"
        if self.metrics and (self.mode != "single" or self.several):
            yield "metrics need no judge, and are shown alone: leave out --mode and a panel"
        if self.against is not None and (len(self.metrics) > 1 or SCORE in self.metrics):
            yield "two runs can be compared by one metric; name one with --metric"

    def stated(self, scale: Scale | None) -> float | None:
        """Return the difference for which the table says its power: by default 0.45 of grades from 1 to 10, 0.1 of win
        rates; None on an unknown scale."""
        if self.difference is not None:
            return self.difference
        if self.mode != "single":
            return OF_WIN_RATES
        return None if scale is None else OF_SCALE * (scale[1] - scale[0])

    def sure(self, notes: list[str], models: int, rows: int) -> bool:
        """Return whether intervals are made; note that they are not because there is too much."""
        if self.intervals is None and (models > MOST_MODELS or rows > MOST_ROWS):
            notes.append("intervals and ranks of so large a table are made with --intervals only")
            return False
        return self.intervals is not False and models > 0


class Shown(NamedTuple):
    """What a table is made of."""

    records: Observations
    """Of the models that are shown and, of pairs with a baseline, of that one."""
    kind: Kind
    judges: Sequence[str]
    paths: Sequence[pathlib.Path]
    subject: About
    seed: int
    """Of the resampling."""
    baseline: str | None
    """Of pairs with a baseline, which it is."""
    home: Bench | None
    """The benchmark whose answers were judged, where that matters and is known."""
    judge_set: "JudgeSet | None"
    """The one that the judgments name, where it is found: what it says is usual, no more."""


def usual_mode(query: Query) -> Mode:
    """Return the mode that the judge set which is named says; single where it says none, or none is named."""
    named = None if query.judge_set is None else set_named(query.judge_set, query.folder)
    return (named.mode if named is not None else None) or "single"


def set_named(name: str, folder: pathlib.Path | None) -> "JudgeSet | None":
    """Return the judge set that judgments name, as far as it is found: what it says is a default, no more."""
    from harness.judging.sets import load_judge_set

    try:
        return load_judge_set(name, folder)
    except TurnbenchError:
        return None


def baseline_of(pairs: Observations, wanted: Wanted, usual: str | None) -> str | None:
    """Return the baseline of pairs: the one named, the usual one, or the model that is in every pair; None where there
    is none.

    Raises:
        UsageError: it is in no pair, or none is named and several could be it.
    """
    if wanted.mode != "pairwise-baseline":
        return None
    models = {model for case in pairs.cases for model in case.models}
    baseline = wanted.baseline or (usual if usual in models else None)
    if baseline is None:
        common = set.intersection(*(set(case.models) for case in pairs.cases))
        if len(common) != 1:
            raise UsageError(f"pairwise-baseline needs --baseline-model; the models are: {', '.join(sorted(models))}")
        return common.pop()
    if baseline not in models:
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {', '.join(sorted(models))}")
    return baseline

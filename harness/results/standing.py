"""Pairs with a baseline on their way to a board: the judge set's defaults, length control, flagged answers, the file.

usual_mode(query)                               what the judge set that is named says: pairwise-baseline
Standing("own", path).added(result, ...)        the result with length-controlled rates; its rows are on the board
"""

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.bench import Bench
from harness.errors import TurnbenchError, UsageError
from harness.judgments.observations import Observations
from harness.records import Mode
from harness.results.about import About
from harness.results.query import Query
from harness.results.result import Result

if TYPE_CHECKING:  # judge sets are imported only where they are needed
    from harness.judging.sets import JudgeSet
    from harness.results.pairs.length_control import ControlTable

LengthControl: TypeAlias = Literal["own", "compatible", "off"]


def usual_mode(query: Query) -> Mode:
    """Return the mode that the judge set which is named says; single where it says none, or none is named."""
    named = None if query.judge_set is None else set_named(query.judge_set, _bench(query))
    return (named.mode if named is not None else None) or "single"


def usual_baseline(query: Query, records: Observations, path: pathlib.Path) -> str | None:
    """Return the baseline that the judge set of some pairs names, if they are with it."""
    found = set_named(records.cases[0].source.judge_set, _bench(query, path))
    there = {model for case in records.cases for model in case.models}
    return found.baseline if found is not None and found.baseline in there else None


def set_named(name: str, bench: Bench | None) -> "JudgeSet | None":
    """Return the judge set that judgments name, as far as it is found: what it says is a default, no more."""
    from harness.judging.sets import load_judge_set

    try:
        return load_judge_set(name, bench.folder if bench is not None else None)
    except TurnbenchError:
        return None


def _bench(query: Query, path: pathlib.Path | None = None) -> Bench | None:
    from harness.results.answers import home_of

    try:
        return query.bench if path is None else home_of(query, path)
    except TurnbenchError:
        return None


@dataclass(frozen=True, slots=True)
class Standing:
    """What was asked for beside the rates of pairs with a baseline."""

    length_control: LengthControl | None = None
    board: pathlib.Path | None = None
    overwrite: bool = False
    sort: str | None = None
    allow: Sequence[str] = ()

    def check(self, mode: Mode, query: Query) -> None:
        """Raise `UsageError` if it is asked for where it means nothing."""
        asked = self.board is not None or self.length_control not in {None, "off"}
        if asked and query.judges is not None and len(query.judges) > 1:
            raise UsageError("a board and length control are of one judge; name one with --judge-model")
        if asked and mode != "pairwise-baseline":
            told = "a board and length control are of pairs with a baseline"
            raise UsageError(f"{told}: give --mode pairwise-baseline, or a judge set that names a baseline; not {mode}")
        if self.overwrite and self.board is None:
            raise UsageError("--overwrite replaces rows of a board; name it with --board FILE")

    def added(self, result: Result, query: Query, pairs: Observations, subject: About, baseline: str) -> Result:
        """Return the result with what was asked for; the board is written."""
        bench = _bench(query, result.path)
        judge_set = set_named(pairs.cases[0].source.judge_set, bench) if pairs else None
        usual = judge_set is not None and judge_set.board == "length_controlled_winrate"
        wanted = self.length_control or ("own" if usual else "off")
        models = [line.model for line in result.table.lines]
        if bench is None or not models or (self.board is None and judge_set is None and wanted == "off"):
            return result
        if wanted != "off":
            control = self._control(result, query, pairs, subject, bench, baseline, compatible=wanted == "compatible")
            result.notes.append(control.note)
            table = replace(result.table, lines=[control.added(line) for line in result.table.lines])
            result = replace(result, control=control, table=table)
            if usual and self.sort is None and self.board is None and control.rows:
                result = result.sorted_by("length_controlled_winrate")
        if self.board is not None or (judge_set is not None and judge_set.board is not None):
            from harness.results.pairs.gaming import gaming

            for found in gaming(bench, models, judge_set):
                result.notes.extend(found.notes())
        if self.board is not None:
            self._write(result, bench, judge_set, baseline)
        return result

    def _control(
        self,
        result: Result,
        query: Query,
        pairs: Observations,
        subject: About,
        bench: Bench,
        baseline: str,
        *,
        compatible: bool,
    ) -> "ControlTable":
        from harness.results.matrix import pairs as arrays
        from harness.results.pairs.length_control import answer_lengths, gamed_of, length_controlled
        from harness.results.statistics.bootstrap import RESAMPLINGS

        return length_controlled(
            arrays(pairs, subject.groups(query)),
            *answer_lengths(pairs, bench),
            baseline,
            gamed=gamed_of(bench),
            places={question.question_id: at for at, question in enumerate(bench.questions)},
            compatible=compatible,
            resamplings=RESAMPLINGS if result.table.sure or self.board is not None else 0,
            seed=query.seed,
        )

    def _write(self, result: Result, bench: Bench, judge_set: "JudgeSet | None", baseline: str) -> None:
        from harness.results.pairs.board import board_rows, write_board

        assert self.board is not None
        made_by = {"judge": result.judge, "judge_set": result.judge_set, "baseline": baseline}
        rows = board_rows(result.rows(), bench, result.control, **made_by)
        written = write_board(
            self.board, rows, judge_set=judge_set, overwrite=self.overwrite, sort=self.sort, allow=self.allow
        )
        result.notes.append(f"board: {written.path}, sorted by {written.column}")
        result.notes.extend(written.notes())

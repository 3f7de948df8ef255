"""Pairs with a baseline on their way to a board: length control, flagged answers, the file."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.old.bench import Bench
from harness.old.results.result import Result
from harness.old.results.wanted import Shown

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.old.results.pairs.length_control import ControlTable


def on_board(result: Result, shown: Shown) -> Result:
    """Return the result with length-controlled rates, where they are wanted or usual; the board is written."""
    wanted, bench, judge_set = shown.wanted, shown.home, shown.judge_set
    ranked_by = None if judge_set is None else judge_set.board
    usual = ranked_by == "length_controlled_winrate"
    control = wanted.length_control or ("own" if usual else "off")
    models = [line.model for line in result.table.lines]
    if bench is None or not models or (wanted.board is None and judge_set is None and control == "off"):
        return result
    if control != "off":
        found = _controlled(result, bench, shown, compatible=control == "compatible", board=wanted.board is not None)
        result.notes.append(found.note)
        table = result.table._replace(lines=[found.added(line) for line in result.table.lines])
        result = replace(result, control=found, table=table)
        if usual and wanted.sort is None and wanted.board is None and found.table.lines:
            result = result.sorted_by("length_controlled_winrate")
    if wanted.board is not None or ranked_by is not None:
        from harness.old.results.pairs.gaming import gaming

        for conspicuous in gaming(bench, models, judge_set):
            result.notes.extend(conspicuous.notes())
    if wanted.board is not None:
        from harness.old.results.pairs.board import board_rows, write_board

        made_by = {"judge": result.judge, "judge_set": result.judge_set, "baseline": str(shown.baseline)}
        ranked = [row for row in result.rows() if row["model"] not in result.unranked]
        rows = board_rows(ranked, bench, result.control, **made_by)
        how: dict[str, Any] = {"overwrite": wanted.overwrite, "sort": wanted.sort, "allow": wanted.allow}
        result.notes.extend(write_board(wanted.board, rows, judge_set=judge_set, **how))
        if result.unranked:
            few = ", ".join(sorted(result.unranked))
            result.notes.append(f"not on the board, since judged on too few questions to be ranked: {few}")
    return result


def _controlled(result: Result, bench: Bench, shown: Shown, *, compatible: bool, board: bool) -> "ControlTable":
    """Return the rates as if all answers were as long as the baseline's; with intervals where they are shown."""
    from harness.old.results.matrix import pairs
    from harness.old.results.pairs.length_control import answer_lengths, gamed_of, length_controlled
    from harness.old.results.statistics.bootstrap import RESAMPLINGS

    return length_controlled(
        pairs(shown.records, shown.subject.groups),
        *answer_lengths(shown.records, bench),
        str(shown.baseline),
        gamed=gamed_of(bench),
        places={question.question_id: at for at, question in enumerate(bench.questions)},
        compatible=compatible,
        resamplings=RESAMPLINGS if result.table.sure or board else 0,
        seed=shown.wanted.query.seed,
    )

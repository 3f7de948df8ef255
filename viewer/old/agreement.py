"""How far judges agree with people's votes, as a table and a chart; every number comes from `judge_agreement`."""

import pathlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.old.bench import Bench
from harness.old.errors import TurnbenchError
from harness.old.jsonl import logical_files
from harness.old.meta_evaluation.agreement import judge_agreement
from harness.old.meta_evaluation.report import Report
from harness.old.results.statistics.bootstrap import LEAST, Estimate
from harness.old.showing.charts import interval_chart
from harness.old.showing.values import percent, to_places, with_interval
from viewer.old import markup
from viewer.old.context import Context
from viewer.old.later import NotYet, apart
from viewer.old.store import JudgmentFile

_KINDS = {"single": "grades", "pair": "pairs"}
_SAID = (
    "S1: a tie is a third answer; S2: votes and verdicts that are ties are left out. "
    "Of two graded answers the one with the higher grade counts as preferred."
)


def voter_agreement(context: Context, bench: Bench, votes: pathlib.Path) -> str:
    """Return each judge's agreement with the votes of one file."""
    files = context.store.judgment_files(bench)
    if not files:
        line = markup.command(f"gen_judgment --bench-name {bench.name} --judge-model NAME")
        return markup.notice("There are no judgments here yet to compare with. Create them with:", then=line)
    rows, faults, lacking = [], [], False
    for file in files:
        try:
            found = report_on(context, bench, [votes], file).rows
        except NotYet as wait:
            faults.append(markup.waiting(wait))
            continue
        except TurnbenchError as error:
            faults.append(markup.notice(f"{file.label}, {_KINDS[file.kind]}: {error}"))
            continue
        lacking |= (total := _total(found, "S1")) is not None and total["low"] is None
        rows.append({"judge": markup.named(file.label), "judged": _KINDS[file.kind], **_both(found)})
    table = markup.table(rows, label="agreement with the judges") if rows else ""
    few = f" Votes on fewer than {LEAST} questions are too few for an interval."
    said = _SAID + (few if lacking else "")
    return markup.section("Agreement with the judges", table, note=said) + "".join(faults)


def report_on(context: Context, bench: Bench, votes: Sequence[pathlib.Path], file: JudgmentFile) -> Report:
    """Return the report on votes and one judge's file.

    Raises:
        NotYet: it is being made.
        TurnbenchError: there is none, and why.
    """
    paths = [*votes, file.path]
    read = [
        *paths,
        *logical_files(bench.folder / "model_answer"),
    ]  # judgments of answers that are others now don't count
    made = partial(judge_agreement, paths, bench_name=bench.name, data_dir=bench.folder.parent)
    key = ("agreement", bench.name, *paths)
    make = partial(apart, made, of=read)
    return context.store.later.get(key, "comparing with votes", make, of=read, lane="whole")


def _both(rows: Sequence[dict[str, Any]]) -> dict[str, object]:
    """Return the agreement of all turns and categories in both setups, and kappa, as cells."""
    cells: dict[str, object] = {}
    for setup, name in (("S1", "agreement, S1"), ("S2", "without ties, S2")):
        row = _total(rows, setup)
        cells[name] = None if row is None else with_interval(row["ratio"], row["low"], row["high"], percent)
        cells[f"of ({setup})"] = None if row is None else row["total"]
        if setup == "S1" and row is not None:
            cells["kappa"] = with_interval(row["kappa"], row["kappa_low"], row["kappa_high"], to_places(2))
    return cells


def _whole(rows: Sequence[dict[str, Any]], setup: str | None) -> list[dict[str, Any]]:
    """Return the rows of one setup on all categories, and all turns; where there is one turn only, on that one."""
    own = [row for row in rows if row.get("setup") == setup and row["category"] is None]
    of_all = {(row["judge1"], row["judge2"]) for row in own if row["turn"] is None}
    return [row for row in own if row["turn"] is None or (row["judge1"], row["judge2"]) not in of_all]


def _total(rows: Sequence[dict[str, Any]], setup: str) -> dict[str, Any] | None:
    return next((row for row in _whole(rows, setup) if row["judge1"] != row["judge2"]), None)


def agreement_chart(report: Report, judge: str, setup: str) -> str:
    """Return the chart of how often every two sides agree, as SVG text; `judge` is one side's name.

    Of pairs it is the agreement in one setup. Of grades, which have many measures, there is none.
    """
    if "measure" in report.rows[0]:
        return ""
    labels = "setup" not in report.rows[0]
    shares = {
        _sides(row["judge1"], row["judge2"], judge): Estimate(row["ratio"], row["low"], row["high"], row["total"], None)
        for row in _whole(report.rows, None if labels else setup)
        if row["ratio"] is not None
    }
    label = "same label" if labels else f"agreement, {setup}"
    return interval_chart(shares, label=label, as_percent=True, of="pairs of judges", counted="votes")


def _sides(one: str, other: str, judge: str) -> str:
    if one == other:
        return f"within {one}"
    return f"with {one if other == judge else other}" if judge in {one, other} else f"{one} with {other}"

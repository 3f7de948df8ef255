"""Does the verdict depend on how the prompt is worded?

    changed    items whose verdict differs between two wordings / items judged under both
    repeats    the same between two samples under one wording (gen_judgment --samples 2)
    excess     changed − repeats: what the wording does beyond the judge's own noise

Judge the same answers with `mt_bench`, `mt_bench_wording_1` and `mt_bench_wording_2`.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import Item, Verdict, interval_columns, load, named, shares, words
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table
from harness.types import QuestionId


def report(options: JudgeReport) -> Page:
    """Return how often verdicts differ between judge sets, beside plain repeats."""
    said: dict[tuple[str, str], dict[Item, list[Verdict]]] = {}
    for v in load(options).verdicts():
        if v.value is not None and not v.voter:
            said.setdefault((v.judge, v.judge_set), {}).setdefault(v.item, []).append(v)
    rows = []
    for judge in dict.fromkeys(judge for judge, _ in said):
        sets = [name for own, name in said if own == judge]
        changed: list[tuple[QuestionId, bool]] = []
        for one, other in combinations(sets, 2):
            own = _between(said[judge, one], said[judge, other])
            changed += own
            if own:
                rows.append({"judge": judge, "what": f"{one} and {other}"} | _row(own))
        repeats = [part for name in sets for part in _within(said[judge, name])]
        if repeats and changed:
            rows.append({"judge": judge, "what": "repeats of one wording"} | _row(repeats))
            excess = shares(changed).value - shares(repeats).value
            rows.append({"judge": judge, "what": "excess", "n": len(changed), "changed": excess})
        elif changed:
            rows.append({"judge": judge, "what": "repeats of one wording", "n": 0, "changed": None})
    if not any(" and " in row["what"] for row in rows):
        advice = "judge again with --judge-set mt_bench_wording_1"
        raise MissingError(f"no judge has judged the same answers under two judge sets; {advice}")
    first = rows[0]
    whole = shares(
        part
        for one, other in combinations([name for own, name in said if own == first["judge"]], 2)
        for part in _between(said[first["judge"], one], said[first["judge"], other])
    )
    outcome = (
        f"{first['judge']} changes its verdict with the wording in {words(whole)} of the cases"
    )
    repeated = next((row for row in rows if row["what"].startswith("repeats") and row["n"]), None)
    if repeated is not None:
        outcome += f"; asked again in the same words, in {100 * repeated['changed']:.0f}%"
    notes = []
    if repeated is None:
        notes.append(Note("How often it changes without any reason", "gen_judgment --samples 2"))
    columns = [
        Column("judge"),
        Column("what"),
        Column("n"),
        *interval_columns("changed", "changed %", "%"),
    ]
    return Page(
        f"{outcome}.",
        [Table("", columns, rows)],
        notes=notes,
        title="wording",
        facts={"report": "wording"},
    )


def _between(
    one: dict[Item, list[Verdict]], other: dict[Item, list[Verdict]]
) -> list[tuple[QuestionId, bool]]:
    return [
        (item.question, a.value != b.value)
        for item in one.keys() & other.keys()
        for a in one[item][:1]
        for b in other[item][:1]
    ]


def _within(own: dict[Item, list[Verdict]]) -> list[tuple[QuestionId, bool]]:
    return [
        (item.question, a.value != b.value)
        for item, several in own.items()
        for a, b in combinations(several, 2)
    ]


def _row(parts: Sequence[tuple[QuestionId, bool]]) -> dict[str, Any]:
    return {"n": len(parts)} | named("changed", shares(parts))

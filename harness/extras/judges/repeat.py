"""Repeatability: the same judge, asked again about the same answers (`gen_judgment --samples`).

    same         pairs of samples with equal verdicts / pairs of samples
    difference   the mean size of the difference of two samples
    later        the mean of (later sample − earlier sample): a judge that drifts has none of 0
    sd           √ of the mean variance within an item: the noise of one verdict

Grades 7, 7, 8 in three samples: one of three pairs is the same, difference 2/3, later 2/3,
variance 1/3.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import Verdict, by_judge, groups, load, samples
from harness.extras.judges.estimates import mean, page, share
from harness.options import JudgeReport
from harness.reporting import Column, Page, interval_columns, row_of
from harness.reporting.people import words
from harness.results import Estimate


def report(options: JudgeReport) -> Page:
    """Return how often each judge repeats its verdict, by turn and category."""
    data = load(options)
    rows: list[dict[str, Any]] = []
    outcomes = []
    for (judge, judge_set), items in by_judge(data.verdicts()).items():
        repeated = [verdicts[0] for verdicts in items.values() if len(verdicts) > 1]
        if not repeated:
            continue
        about = {"judge": judge, "judge_set": judge_set, "turn": None, "category": None}
        for by, name, group in groups(data, repeated):
            if by != "judge":
                where = {} if by == "all" else {by: name}
                rows.append(about | where | _row([items[v.item] for v in group]))
        same = share((a.item.question, a.value == b.value) for a, b in samples(items.values()))
        outcomes.append(f"{judge} repeats its verdict in {words(same)} of the cases")
    if not rows:
        advice = "judge again with gen_judgment --samples 3"
        raise MissingError(f"no answer was judged twice by one judge; {advice}")
    later = rows[0]["later"]
    if later and later.low is not None and not later.low <= 0 <= later.high:
        change = f"{abs(later.value):.2f} {'more' if later.value > 0 else 'less'}"
        outcomes[0] += f"; later samples give {change} than earlier ones"
    if rows[0]["sd"]:
        outcomes[0] += f"; one verdict has a noise of {rows[0]['sd']:.2f} (standard deviation)"
    columns = [Column("judge"), Column("judge_set"), Column("turn"), Column("category")]
    columns += [Column("n", "items"), *interval_columns("same", "same %", "%")]
    columns += [Column("difference", format=".2"), Column("sd", format=".2")]
    columns += interval_columns("later", "later less earlier", ".2")
    return page("repeat", f"{outcomes[0]}.", columns, rows)


def _later(pairs: Sequence[tuple[Verdict, Verdict]]) -> Estimate:
    """Return how much more the later of two samples gives."""
    ordered = [sorted(pair, key=lambda v: v.sample) for pair in pairs]
    return mean((a.item.question, b.number - a.number) for a, b in ordered)


def _row(items: Sequence[Sequence[Verdict]]) -> dict[str, Any]:
    pairs = samples(items)
    same = share((a.item.question, a.value == b.value) for a, b in pairs)
    row = row_of({"n": len(items)}, same=same) | {"difference": None, "sd": None, "later": None}
    if not math.isnan(pairs[0][0].number):
        row |= row_of({}, later=_later(pairs))
        variances = [statistics.variance(v.number for v in verdicts) for verdicts in items]
        row["sd"] = math.sqrt(statistics.fmean(variances))
        row["difference"] = statistics.fmean(abs(a.number - b.number) for a, b in pairs)
    return row

"""Repeatability: the same judge, asked again about the same answers (`gen_judgment --samples`).

    same         pairs of samples with equal verdicts / pairs of samples
    difference   the mean difference of two samples
    sd           √ of the mean variance within an item: the noise of one verdict

Grades 7, 7, 8 in three samples: one of three pairs is the same, difference 2/3, variance 1/3.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import Verdict, by_judge, groups, load, samples
from harness.extras.judges.estimates import page, share, words
from harness.options import JudgeReport
from harness.reporting import Column, Page, interval_columns, row_of


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
    if rows[0]["sd"]:
        outcomes[0] += f"; one verdict has a noise of {rows[0]['sd']:.2f} (standard deviation)"
    columns = [Column("judge"), Column("judge_set"), Column("turn"), Column("category")]
    columns += [Column("n", "items"), *interval_columns("same", "same %", "%")]
    columns += [Column("difference", format=".2"), Column("sd", format=".2")]
    return page("repeat", f"{outcomes[0]}.", columns, rows)


def _row(items: Sequence[Sequence[Verdict]]) -> dict[str, Any]:
    pairs = samples(items)
    same = share((a.item.question, a.value == b.value) for a, b in pairs)
    row = row_of({"n": len(items)}, same=same) | {"difference": None, "sd": None}
    if not math.isnan(pairs[0][0].number):
        variances = [statistics.variance(v.number for v in verdicts) for verdicts in items]
        row["sd"] = math.sqrt(statistics.fmean(variances))
        row["difference"] = statistics.fmean(abs(a.number - b.number) for a, b in pairs)
    return row

"""Repeatability: the same judge, asked again about the same answers (`gen_judgment --samples`).

    same         pairs of samples with equal verdicts / pairs of samples
    difference   the mean size of the difference of two samples
    later        the mean of (later sample − earlier sample): a judge that drifts has none of 0
    sd           √ of the mean variance within an item: the noise of one verdict

Grades 7, 7, 8 in three samples: one of three pairs is the same, difference 2/3, later 2/3,
variance 1/3. Of a server that decodes greedily, whatever temperature it is asked for, the samples
are one reply, and their being the same says nothing: that is noted.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import MissingError
from harness.extras.judges.data import Data, RaterVerdict, by_judge, groups, load, samples
from harness.extras.judges.estimates import mean, page, share
from harness.options import JudgeReport
from harness.reporting import Column, Note, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import words
from harness.results import Estimate
from harness.results.agreement import RatedItem
from harness.results.reading import whole_rows
from harness.results.spent import Cost
from harness.types import Judgment
from harness.words import counted, rounded


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how often each judge repeats its verdict, by turn and category."""
    data = load(options)
    rows: list[dict[str, Any]] = []
    outcomes, notes = [], []
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
        if _are_one_reply(data, items):
            notes.append(
                Note(
                    f"All samples of {judge} at a temperature above 0 are equal word for word, of "
                    f"{counted(len(repeated), 'item')}: does its server decode greedily, whatever "
                    "temperature it is asked for? Then its repeating itself says nothing."
                )
            )
    if not rows:
        advice = "judge again with gen_judgment --samples 3"
        raise MissingError(f"no answer was judged twice by one judge; {advice}")
    later = rows[0]["later"]
    if later and later.low is not None and not later.low <= 0 <= later.high:
        change = f"{rounded(abs(later.value), 2)} {'more' if later.value > 0 else 'less'}"
        outcomes[0] += f"; later samples give {change} than earlier ones"
    if sd := rows[0]["sd"]:
        outcomes[0] += f"; one verdict has a noise of {rounded(sd, 2)} (standard deviation)"
    columns = [Column("judge"), Column("judge_set"), Column("turn"), Column("category")]
    columns += [Column("n", "items"), *interval_columns("same", "same %", "%")]
    columns += [Column("difference", format=".2"), Column("sd", format=".2")]
    columns += interval_columns("later", "later less earlier", ".2")
    return Result(page("repeat", f"{outcomes[0]}.", columns, rows, notes=notes))


REPORT = PageKind(_show)


def _are_one_reply(data: Data, items: Mapping[RatedItem, Sequence[RaterVerdict]]) -> bool:
    """Return whether all samples of each item, made at a temperature, are the same text."""
    several = [verdicts for verdicts in items.values() if len(verdicts) > 1]
    wanted = [verdict.row for verdicts in several for verdict in verdicts]
    rows = whole_rows(data.judgments.take(np.isin(data.judgments.row, wanted)))
    texts = {
        number: (row.judgment, row.g1_judgment, row.g2_judgment)
        for number, row in rows
        if isinstance(row, Judgment) and row.sampling.get("temperature")
    }
    return len(texts) == len(wanted) and all(
        len({texts[verdict.row] for verdict in verdicts}) == 1 for verdicts in several
    )


def _later(pairs: Sequence[tuple[RaterVerdict, RaterVerdict]]) -> Estimate:
    """Return how much more the later of two samples gives."""
    ordered = [sorted(pair, key=lambda v: v.sample) for pair in pairs]
    return mean((a.item.question, b.number - a.number) for a, b in ordered)


def _row(items: Sequence[Sequence[RaterVerdict]]) -> dict[str, Any]:
    pairs = samples(items)
    same = share((a.item.question, a.value == b.value) for a, b in pairs)
    row = row_of({"n": len(items)}, same=same) | {"difference": None, "sd": None, "later": None}
    if not math.isnan(pairs[0][0].number):
        row |= row_of({}, later=_later(pairs))
        variances = [statistics.variance(v.number for v in verdicts) for verdicts in items]
        row["sd"] = math.sqrt(statistics.fmean(variances))
        row["difference"] = statistics.fmean(abs(a.number - b.number) for a, b in pairs)
    return row

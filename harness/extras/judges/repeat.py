"""Repeatability: the same judge, asked again about the same answers (`gen_judgment --samples`).

    same         pairs of samples with equal verdicts / pairs of samples
    difference   the mean difference of two samples
    sd           √ of the mean variance within an item: the noise of one verdict

Grades 7, 7, 8 in three samples: one of three pairs is the same, difference 2/3, variance 1/3.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import (
    Item,
    Verdict,
    interval_columns,
    load,
    mean,
    named,
    shares,
    words,
)
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table


def report(options: JudgeReport) -> Page:
    """Return how often each judge repeats its verdict, by turn and category."""
    data = load(options)
    items: dict[tuple[str, str, Item], list[Verdict]] = {}
    for v in data.verdicts():
        if v.value is not None and not v.voter:
            items.setdefault((v.judge, v.judge_set, v.item), []).append(v)
    repeated = {key: own for key, own in items.items() if len(own) > 1}
    if not repeated:
        advice = "judge again with gen_judgment --samples 3"
        raise MissingError(f"no answer was judged twice by one judge; {advice}")
    judges = list(dict.fromkeys(key[:2] for key in repeated))
    rows = []
    for judge, judge_set in judges:
        own = [said for key, said in repeated.items() if key[:2] == (judge, judge_set)]
        about = {"judge": judge, "judge_set": judge_set, "turn": None, "category": None}
        rows.append(about | _row(own))
        turns = sorted({said[0].item.turn for said in own})
        for turn in turns if len(turns) > 1 else ():
            of_turn = [said for said in own if said[0].item.turn == turn]
            rows.append({**about, "turn": turn} | _row(of_turn))
        for category in dict.fromkeys(data.category(said[0].item.question) for said in own):
            if category is not None:
                of = [said for said in own if data.category(said[0].item.question) == category]
                rows.append({**about, "category": category} | _row(of))
    columns = [Column("judge"), Column("judge_set"), Column("turn"), Column("category")]
    columns += [Column("n", "items"), *interval_columns("same", "same %", "%")]
    columns += [Column("difference", format=".2"), Column("sd", format=".2")]
    first = [said for key, said in repeated.items() if key[:2] == judges[0]]
    same = shares(_pairs(first))
    outcome = f"{judges[0][0]} repeats its verdict in {words(same)} of the cases"
    if rows[0]["sd"]:
        outcome += f"; one verdict has a noise of {rows[0]['sd']:.2f} (standard deviation)"
    return Page(
        f"{outcome}.", [Table("", columns, rows)], title="repeat", facts={"report": "repeat"}
    )


def _pairs(items: Sequence[Sequence[Verdict]]) -> list[tuple[Any, bool]]:
    return [
        (one.item.question, one.value == other.value)
        for said in items
        for one, other in combinations(said, 2)
    ]


def _row(items: Sequence[Sequence[Verdict]]) -> dict[str, Any]:
    row: dict[str, Any] = {"n": len(items)} | named("same", shares(_pairs(items)))
    numbers = [[v.value for v in said if isinstance(v.value, int | float)] for said in items]
    numbers = [own for own in numbers if len(own) > 1]
    if not numbers:
        return row | {"difference": None, "sd": None}
    questions = [said[0].item.question for said in items]
    apart = mean(
        (question, abs(a - b), 1.0)
        for question, own in zip(questions, numbers, strict=True)
        for a, b in combinations(own, 2)
    )
    variances = []
    for own in numbers:
        middle = sum(own) / len(own)
        variances.append(sum((value - middle) ** 2 for value in own) / (len(own) - 1))
    sd = math.sqrt(sum(variances) / len(variances))
    return row | {"difference": apart.value, "sd": sd}

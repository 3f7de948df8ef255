"""Win rates as people would say, from votes on some questions and verdicts on all (PPI++).

    corrected = λ · judge_all + (votes − λ · judge_voted)
    λ         = the slope of people's sums on the judge's, by question, kept from 0 to 1

votes and judge_voted: win rates of a model by people and by the judge on the items with votes;
judge_all: by the judge on all its items. A tie is half; several verdicts on an item are their mean.
Judge 60% on 80 questions; on 20 voted ones judge 65%, people 58%, λ = 0.8: 48 + 58 − 52 = 54%.
Errors are over questions, the two parts correlated as they are. Below 8 voted questions only the
votes count. The voted questions must be a random subset: where people chose what to vote on, this
is wrong.

Source: Angelopoulos et al. 2023 (arXiv:2311.01453).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.errors import MissingError
from harness.extras.judges.data import by_item, load
from harness.extras.judges.estimates import page, share
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, interval_columns, row_of
from harness.results import Estimate
from harness.results.agreement import Item

LEAST = 8
"""Voted questions below which the judge does not count."""


def report(options: JudgeReport) -> Page:
    """Return each model's win rate by the judge, by votes, and corrected."""
    data = load(options)
    verdicts = data.verdicts(paired=True)
    judged = by_item(verdicts)
    votes = by_item(v for v in data.votes() if v.voter)
    voted = {item: value for item, value in votes.items() if item in judged}
    if not voted:
        raise MissingError("no pair has both a vote and the judge's verdict")
    models = sorted({model for item in voted for model in item.models})
    rows = [_row(model, judged, voted) for model in models]
    rows.sort(key=lambda row: -row["corrected"].value)
    best, judges = rows[0], ", ".join(sorted({v.judge for v in verdicts}))
    outcome = (
        f"By votes and {judges} together {best['model']} is first: "
        f"{100 * best['corrected'].value:.0f}%; by the judge alone {100 * best['judge']:.0f}%."
    )
    columns = [
        Column("model"),
        Column("judge", "judge %", format="%"),
        *interval_columns("votes", "votes %", "%"),
        *interval_columns("corrected", "corrected %", "%"),
        Column("weight", format=".2"),
        Column("voted", "voted questions"),
        Column("n", "voted pairs"),
    ]
    notes = [Note("This holds only if the voted questions are a random subset of all.")]
    return page("corrected", outcome, columns, rows, notes=notes)


def _row(model: str, judged: Mapping[Item, float], voted: Mapping[Item, float]) -> dict[str, Any]:
    questions = [item.question for item in judged]

    def win_rate(values: Mapping[Item, float], items: Iterable[Item]) -> Estimate:
        wins = [
            (item.question, values[item] if item.models[0] == model else 1 - values[item])
            for item in items
            if model in item.models
        ]
        return share(wins, questions)

    judge, judge_voted = win_rate(judged, judged), win_rate(judged, voted)
    votes = win_rate(voted, voted)
    # The influence of a question is its sum less what the mean rate gives, over a constant.
    people, program = np.nan_to_num(votes.influence), np.nan_to_num(judge_voted.influence)
    weight, corrected = 0.0, votes
    if votes.n >= LEAST and program.any():
        weight = min(1.0, max(0.0, float(people @ program / (program @ program))))
        corrected = judge.scaled(weight) - (judge_voted.scaled(weight) - votes)
    row = row_of({"model": model, "judge": judge.value}, votes=votes, corrected=corrected)
    return row | {"weight": weight, "questions": judge.n, "voted": votes.n, "n": votes.count}

"""Win rates as people would say, from votes on some questions and verdicts on all (PPI++).

    corrected = λ · judge_all + (votes − λ · judge_voted)
    λ         = the slope of people's sums on the judge's, by question, kept from 0 to 1

votes and judge_voted: win rates of a model by people and by the judge on the items with votes;
judge_all: by the judge on all its items. A tie is half; several votes on an item are their mean.
Judge 60% on 80 questions; on 20 voted ones judge 65%, people 58%, λ = 0.8: 48 + 58 − 52 = 54%.
Errors are over questions, the two parts correlated as they are. The voted questions must be a
random subset: where people chose what to vote on, this is wrong.

Source: Angelopoulos et al. 2023 (arXiv:2311.01453).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import MissingError
from harness.extras.judges.data import Item, interval_columns, load, named
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table
from harness.results.estimate import Estimate, ratio
from harness.types import QuestionId

LEAST = 8
"""Voted questions below which nothing is corrected."""


def report(options: JudgeReport) -> Page:
    """Return each model's win rate by the judge, by votes, and corrected."""
    data = load(options)
    votes: dict[Item, list[float]] = {}
    for v in data.votes():
        if isinstance(v.value, float) and len(v.item.models) == 2 and v.voter:
            votes.setdefault(v.item, []).append(v.value)
    judged: dict[Item, float] = {}
    judges = set()
    for v in data.verdicts("pair"):
        if isinstance(v.value, float):
            judged[v.item] = v.value
            judges.add(v.judge)
    both = {item: sum(own) / len(own) for item, own in votes.items() if item in judged}
    if not both:
        raise MissingError("no pair has both a vote and the judge's verdict")
    questions = list(dict.fromkeys(item.question for item in judged))
    models = sorted({model for item in both for model in item.models})
    rows = [_row(model, judged, both, questions) for model in models]
    rows.sort(key=lambda row: -(row["corrected"] if row["corrected"] is not None else row["votes"]))
    best = rows[0]
    outcome = (
        f"By votes and {', '.join(sorted(judges))} together {best['model']} is first: "
        f"{_share(best, 'corrected')}; by the judge alone {100 * best['judge']:.0f}%."
    )
    columns = [Column("model"), Column("judge", "judge %", format="%")]
    columns += [
        *interval_columns("votes", "votes %", "%"),
        *interval_columns("corrected", "corrected %", "%"),
    ]
    columns += [
        Column("weight", format=".2"),
        Column("voted", "voted questions"),
        Column("n", "voted pairs"),
    ]
    notes = [Note("This holds only if the voted questions are a random subset of all.")]
    return Page(
        outcome,
        [Table("", columns, rows)],
        notes=notes,
        title="corrected",
        facts={"report": "corrected"},
    )


def _share(row: dict[str, Any], name: str) -> str:
    value = row[name] if row[name] is not None else row["votes"]
    return f"{100 * value:.0f}%"


def _row(
    model: str,
    judged: Mapping[Item, float],
    voted: Mapping[Item, float],
    questions: Sequence[QuestionId],
) -> dict[str, Any]:
    place = {question: at for at, question in enumerate(questions)}

    def by_question(values: Mapping[Item, float], items: Mapping[Item, float]) -> tuple[Any, Any]:
        sums, counts = np.zeros((2, len(questions)))
        for item in items:
            if model in item.models:
                value = values[item]
                sums[place[item.question]] += value if item.models[0] == model else 1 - value
                counts[place[item.question]] += 1
        return sums, counts

    everything, every = by_question(judged, judged)
    people, counts = by_question(voted, voted)
    on_voted, _ = by_question(judged, voted)
    judge_all = ratio(everything, every, share=True)
    votes = ratio(people, counts, share=True)
    there = counts > 0
    row: dict[str, Any] = {"model": model, "judge": judge_all.value} | named("votes", votes)
    weight = _slope(people[there], on_voted[there], counts[there])
    corrected = Estimate(float("nan"), votes.influence)
    if there.sum() >= LEAST:
        rest = ratio(people - weight * on_voted, counts)
        corrected = judge_all.scaled(weight) - rest.scaled(-1)
    row |= named("corrected", corrected) | {"weight": weight}
    return row | {
        "questions": int((every > 0).sum()),
        "voted": int(there.sum()),
        "n": int(counts.sum()),
    }


def _slope(people: Any, judge: Any, counts: Any) -> float:
    """Return the slope of the one on the other, each less its mean rate, from 0 to 1."""
    one = people - people.sum() / counts.sum() * counts
    other = judge - judge.sum() / counts.sum() * counts
    spread = float(other @ other)
    return min(1.0, max(0.0, float(one @ other) / spread)) if spread > 0 else 0.0

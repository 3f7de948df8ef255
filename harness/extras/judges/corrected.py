"""Win rates as people would say, from votes on some questions and verdicts on all (PPI++).

    corrected = votes − Σ λ_f · (judge_voted − judge_all) over the parts f of the voted questions
    λ_f       = the slope of people's sums on the judge's, by question, outside of f; from 0 to 1

votes and judge_voted: win rates of a model by people and by the judge on the items with votes;
judge_all: by the judge on all its items. A tie is half; several verdicts on an item are their mean.
Judge 60% on 80 questions; on 20 voted ones judge 65%, people 58%, λ = 0.8: 58 − 0.8 · 5 = 54%.

The slope of each of five parts is fitted on the other four, since a slope that has seen the votes
that it corrects makes the interval too narrow. Errors are over questions, the two parts correlated
as they are. Of a model with fewer than 20 voted questions, and where the interval is not narrower
than the votes' own, the votes alone count. The voted questions must be a random subset: where
people chose what to vote on, this is wrong. The viewer's ballots draw them.

Source: Angelopoulos et al. 2023 (arXiv:2311.01453); Zrnic and Candes 2024 for the cross-fitting.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from harness.errors import MissingError
from harness.extras.judges.data import Data, itself, load, mean_by_item, verdicts_of
from harness.extras.judges.estimates import page
from harness.options import JudgeReport
from harness.reporting import Column, Note, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import judges_in_words, points, words
from harness.results import Estimate
from harness.results.agreement import RatedItem
from harness.results.estimate import LEVEL, Floats, holm, ratio
from harness.results.reading import whole_rows
from harness.results.spent import Cost
from harness.types import Vote
from harness.words import percent

LEAST = 20
"""Voted questions below which the judge does not count."""
PARTS = 5
"""In which the voted questions are divided."""


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return each model's win rate by the judge, by votes, and corrected."""
    data = load(options)
    compared = {name: of.take(of.opponent >= 0) for name, of in data.judges.items()}
    compared = {name: scores for name, scores in compared.items() if len(scores)}
    verdicts = [v for of in compared.values() for v in verdicts_of(of) if v.value is not None]
    if not verdicts:
        data.pairs()  # says what is missing
    judged = mean_by_item(verdicts)
    votes = mean_by_item(v for v in data.votes() if v.voter)
    voted = {item: value for item, value in votes.items() if item in judged}
    if not voted:
        raise MissingError("no pair has both a vote and the judge's verdict")
    models = sorted({model for item in voted for model in item.models})
    found = {model: correct_rate(model, judged, voted) for model in models}
    models.sort(key=lambda model: -found[model].corrected.value)
    rows = [_row(model, found[model]) for model in models]
    judges = ", ".join(sorted({v.judge for v in verdicts}))
    outcome = f"By votes and {judges} together {_best(models, found)}"
    agrees = judges_in_words(compared, data.people)
    columns = [
        Column("model"),
        Column("judge", "judge %", format="%"),
        *interval_columns("votes", "votes %", "%"),
        *interval_columns("corrected", "corrected %", "%"),
        Column("weight", format=".2", hidden_in_text=True),
        Column("voted", "voted questions", hidden_in_text=True),
        Column("n", "voted pairs"),
    ]
    notes = itself(data.judges)
    if not _were_drawn(data):
        text = "The voted questions are not known to be random; if people chose them, this is wrong"
        notes.insert(0, Note(f"{text}. A ballot draws them", "viewer --ballot FILE N"))
    return Result(page("corrected", f"{outcome} {agrees}", columns, rows, notes=notes))


REPORT = PageKind(_show)


def _were_drawn(data: Data) -> bool:
    """Return whether ballots drew what was voted on: their votes have hashes of the answers."""
    votes = [row for _, row in whole_rows(data.people) if isinstance(row, Vote)]
    return all(vote.answers for vote in votes)


def _best(models: Sequence[str], found: Mapping[str, "Corrected"]) -> str:
    """Return who is first, if it is by the intervals of the differences."""
    first, *others = models
    rate = found[first].corrected
    gaps = {model: rate - found[model].corrected for model in others}
    text = f"{first} wins {words(rate)}"
    for (model, gap), test in zip(gaps.items(), holm([g.p for g in gaps.values()]), strict=True):
        if test.p is None or test.p >= LEVEL:
            difference = points(gap.value, gap.interval_at(test.level))
            second = words(found[model].corrected)
            return f"{text}, {model} {second}: not decided, a difference of {difference}."
    than = f"more than {'the other' if len(others) == 1 else 'each of the others'}"
    return f"{text}, {than}; by the judge alone {percent(found[first].judge.value)}."


class Corrected(NamedTuple):
    """One model's win rates."""

    judge: Estimate
    votes: Estimate
    corrected: Estimate
    weight: float
    """The mean λ; 0: only votes count."""


def _row(model: str, found: Corrected) -> dict[str, Any]:
    judge, votes, rate, weight = found
    row = row_of({"model": model, "judge": judge.value}, votes=votes, corrected=rate)
    return row | {"weight": weight, "questions": judge.n, "voted": votes.n, "n": votes.count}


def correct_rate(
    model: str, judged: Mapping[RatedItem, float], voted: Mapping[RatedItem, float]
) -> Corrected:
    """Return a model's win rates by the judge, by votes, and corrected."""
    places = {question: at for at, question in enumerate(dict.fromkeys(i.question for i in judged))}

    def sums_of(
        values: Mapping[RatedItem, float], items: Iterable[RatedItem]
    ) -> tuple[Floats, Floats]:
        sums, counts = np.zeros(len(places)), np.zeros(len(places))
        for item in items:
            if model in item.models:
                at = places[item.question]
                sums[at] += values[item] if item.models[0] == model else 1 - values[item]
                counts[at] += 1
        return sums, counts

    judge = ratio(*sums_of(judged, judged), share=True)
    people, counts = sums_of(voted, voted)
    program, _ = sums_of(judged, voted)
    votes = ratio(people, counts, share=True)
    if votes.n < LEAST:
        return Corrected(judge, votes, votes, 0.0)
    slopes = _slopes(people, program, counts)
    # What the judge's rate on voted items is more than on all, weighed by the slope.
    excess = ratio(slopes * (program - judge.value * counts), counts)
    weight = float((slopes * counts).sum() / counts.sum())
    rate = votes - excess
    influence = np.nan_to_num(rate.influence) + weight * np.nan_to_num(judge.influence)
    influence[np.isnan(judge.influence)] = np.nan
    rate = replace(rate, influence=influence)
    own, narrower = votes.interval, rate.interval
    if own and narrower and narrower.high - narrower.low >= own.high - own.low:
        return Corrected(judge, votes, votes, 0.0)
    return Corrected(judge, votes, rate, weight)


def _slopes(people: Floats, program: Floats, counts: Floats) -> Floats:
    """Return for each question the slope of people's sums on the judge's in the other parts."""
    slopes = np.zeros(len(counts))
    voted = np.flatnonzero(counts)
    for part in range(PARTS):
        rest = voted[np.arange(len(voted)) % PARTS != part]
        size = counts[rest] / counts[rest].sum()
        y = people[rest] - people[rest].sum() * size
        x = program[rest] - program[rest].sum() * size
        slope = float(x @ y / (x @ x)) if x.any() else 0.0
        slopes[voted[part::PARTS]] = min(1.0, max(0.0, slope))
    return slopes

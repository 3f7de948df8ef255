"""In words: how often judges decide as people do, and which of them more often.

    gpt-4 agrees with people on 86% (83 to 88) of the 2,129 votes that both decided, of 3,354 by 65
    people; these agree with each other on 83% (79 to 86) of 1,550. It agrees more than k: a
    difference of 9 points (5 to 13) on the votes that both decided.

The numbers are those of `results.agreement`.
"""

from collections.abc import Mapping, Sequence

from harness.reporting.page import Cell, interval_columns
from harness.results import Scores
from harness.results.agreement import (
    Agreement,
    Behind,
    Ranked,
    among,
    rank_judges,
    verdicts_on,
    voters,
)
from harness.results.estimate import Estimate, Interval
from harness.words import counted, listed, rounded


def words(estimate: Estimate, form: str = "%") -> str:
    """Return an estimate in a sentence: 68% (63 to 72)."""
    row = {"x": Cell.of(estimate)}
    value, ends = (column.cell(row) for column in interval_columns("x", "", form))
    unit = "%" if form == "%" else ""
    return value + unit + (f" ({ends})" if estimate.interval else "")


def agreement_in_words(judge: str, found: Agreement, votes: Scores) -> str:
    """Return how often a judge and people, and these among each other, agree."""
    people, own = counted(voters(votes), "person", "people"), among(votes)
    text = (
        f"{judge} agrees with people on {words(found.rate)} of the "
        f"{counted(found.total, 'vote')} that both decided, of {found.compared:,} by {people}"
    )
    if own.total:
        text += f"; people agree with each other on {words(own.rate)} of {own.total:,}"
    return f"{text}."


def judges_in_words(judges: Mapping[str, Scores], votes: Scores) -> str:
    """Return how often the best judge and people agree, and whether it is more than others'.

    The simple rules among the built-in judges are no judges.
    """
    named = {name: scores for name, scores in judges.items() if not name.startswith("builtin/")}
    ranked = rank_judges(verdicts_on(named or judges, votes), votes)
    if not ranked:
        return ""
    return " ".join([agreement_in_words(*ranked[0][:2], votes), *rank_in_words(ranked)])


def rank_in_words(ranked: Sequence[Ranked]) -> list[str]:
    """Return what is known of the best judge and the others."""
    compared = [(one.judge, one.behind) for one in ranked if one.behind]
    less = [(judge, behind) for judge, behind in compared if behind.is_less]
    sentences = []
    if len(less) == 1:
        ((judge, behind),) = less
        sentences.append(f"It agrees more than {judge}: {_difference(behind)}.")
    elif less:
        sentences.append(f"It agrees more than {listed([judge for judge, _ in less])}.")
    for judge, behind in [(judge, behind) for judge, behind in compared if not behind.is_less][:1]:
        text = f"{ranked[0].judge} and {judge} are not decided: {_difference(behind)}"
        sentences.append(f"{text}.")
    return sentences


def _difference(behind: Behind) -> str:
    estimate = behind.difference
    return (
        f"a difference of {points(estimate.value, behind.interval)} on the "
        f"{counted(estimate.count, 'vote')} that both decided"
    )


def points(value: float, interval: Interval | None) -> str:
    """Return a difference of shares: 5 points (1 to 9); with a place where an end would be 0."""
    ends = interval or ()
    places = int(any(rounded(end, 0, 2) == "0" for end in ends))
    number = rounded(value, places, 2)
    text = f"{number} {'point' if number == '1' else 'points'}"
    if ends:
        low, high = (rounded(end, places, 2) for end in ends)
        text += f" ({low} to {high})"
    return text

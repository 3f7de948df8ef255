"""How well judges' grades of the same answers agree: correlations, equal grades, and Krippendorff's alpha.

A file with several voters counts beside others with the mean of their grades of an answer. The measures ask different
things: a judge that is always one point milder has pearson 1 and exact 0. Their formulas are in `contingency`.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations
from typing import Any, Unpack

import numpy as np

from harness.meta_evaluation.contingency import (
    Level,
    alpha,
    exact_tau_b,
    kendall_tau_b,
    pearson,
    scale_of,
    spearman,
    table_estimate,
    tabulated,
)
from harness.meta_evaluation.report import columns
from harness.meta_evaluation.votes import Categories, Item, Votes
from harness.records import QuestionId
from harness.results.matrix import Floats
from harness.results.statistics.bootstrap import Estimate, Resampling, estimates

LEVELS: tuple[Level, ...] = ("ordinal", "interval")
WITHIN = 1.0


def _moved(estimate: Estimate, value: float | None) -> Estimate:
    """Return the estimate with its exact value, and its interval as far around that as it was around the old one."""
    if value is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    step = value - estimate.value
    return replace(estimate, value=value, low=estimate.low + step, high=min(1.0, estimate.high + step))


def grades_of(votes: Votes) -> dict[Item, float]:
    """Return the grade of each answer, the mean of what several voters gave it."""
    return {item: math.fsum(vote.said for vote in cast) / len(cast) for item, cast in votes.items()}


def graded_rows(
    sides: Mapping[str, Mapping[Item, float]],
    categories: Categories | None = None,
    *,
    everyone: str = "all",
    **how: Unpack[Resampling],
) -> list[dict[str, Any]]:
    """Return every measure for every two sides, then alpha for all of them, `everyone`, if they are more than two.

    `value` is none where it does not exist, such as the correlation with a judge that gives everything the same grade;
    there is no interval on fewer than five questions, or where these do not differ. `n` are the answers that count:
    those with a grade of both judges, for alpha of several those with two grades or more; `left_out` are those that at
    least one of these judges graded, and too few of the others.
    """
    rows = []
    for names in combinations(sides, 2):
        rows += _measured(names, sides, categories or {}, how)
    return rows + (alpha_rows(sides, categories, everyone=everyone, **how) if len(sides) > 2 else [])


def alpha_rows(
    sides: Mapping[str, Mapping[Item, float]],
    categories: Categories | None = None,
    *,
    everyone: str = "all",
    questions: Mapping[QuestionId, int] | None = None,
    **how: Unpack[Resampling],
) -> list[dict[str, Any]]:
    """Return Krippendorff's alpha of all sides together; `questions` are the places of theirs, where more are known."""
    questions = questions or _questions(sides, categories or {})
    scale = scale_of(grade for own in sides.values() for grade in own.values())
    raters = Counter(item for own in sides.values() for item in own)
    tables = tabulated(
        (
            (questions[item.question_id], scale.place[one[item]], scale.place[other[item]], 1.0 / (raters[item] - 1))
            for one, other in permutations(sides.values(), 2)
            for item in one
            if item in other
        ),
        len(questions),
        len(scale.values),
    )
    n = sum(own > 1 for own in raters.values())
    names = list(sides) if len(sides) == 2 else [everyone, None]
    alphas = {
        f"alpha ({level})": table_estimate(tables, partial(alpha, scale.values, level=level), **how) for level in LEVELS
    }
    return _rows(names, alphas, n, len(raters) - n)


def _rows(names: Sequence[str | None], found: Mapping[str, Estimate], n: int, left_out: int) -> list[dict[str, Any]]:
    about = {"judge1": names[0], "judge2": names[1], "turn": None}
    counts = {"n": n, "left_out": left_out}
    return [columns({**about, "measure": measure, "value": one, **counts}) for measure, one in found.items()]


def _measured(
    names: tuple[str, str], sides: Mapping[str, Mapping[Item, float]], categories: Categories, how: Resampling
) -> list[dict[str, Any]]:
    """Return every measure for two sides."""
    one, other = (sides[name] for name in names)
    questions = _questions(sides, categories)
    scale = scale_of([*one.values(), *other.values()])
    met = [(questions[item.question_id], grade, other[item]) for item, grade in one.items() if item in other]
    coded = ((question, scale.place[x], scale.place[y], 1.0) for question, x, y in met)
    tables = tabulated(coded, len(questions), len(scale.values))
    statistics: dict[str, Callable[[Floats], Floats]] = {
        "pearson": partial(pearson, scale.values),
        "spearman": spearman,
        "kendall tau-b": kendall_tau_b,
    }
    found = {measure: table_estimate(tables, statistic, **how) for measure, statistic in statistics.items()}
    if scale.rounded:  # tau-b would feel the new ties
        x, y = np.array([both for _, *both in met], dtype=np.float64).reshape(-1, 2).T
        found["kendall tau-b"] = _moved(found["kendall tau-b"], exact_tau_b(x, y))
    apart, counts = np.zeros((2, len(questions), 2))
    for question, one_grade, other_grade in met:  # of the grades as they are, not as they are rounded
        apart[question] += abs(one_grade - other_grade) <= np.array([0.0, WITHIN]) + 1e-9
        counts[question] += 1.0
    shares = estimates(apart, counts, bounds=(0.0, 1.0), **how)
    found |= {"exact": shares[0], "within one": shares[1]}
    own = {name: sides[name] for name in names}
    rows = _rows(names, found, len(met), len(one) + len(other) - 2 * len(met))
    return rows + alpha_rows(own, categories, questions=questions, **how)


def _questions(sides: Mapping[str, Mapping[Item, float]], categories: Categories) -> dict[QuestionId, int]:
    """Return the places of the questions: those of the first side in the order of the benchmark, then the others'."""
    found: dict[QuestionId, None] = {}
    for own in sides.values():
        present = dict.fromkeys(item.question_id for item in own)
        found |= dict.fromkeys(question for question in categories if question in present) | present
    return {question: at for at, question in enumerate(found)}

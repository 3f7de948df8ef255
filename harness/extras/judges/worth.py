"""How many independent judges is a panel worth?

    error      a judge's verdict on an item − what is right (the mean vote; 1 or 0 by the checks)
    ρ          the mean correlation of two judges' errors
    worth      k / (1 + (k − 1) · ρ)                  of k judges (Kish's design effect)
    adds       worth of all − worth without this judge

Three judges whose errors correlate by 0.5 are worth 3 / (1 + 2 · 0.5) = 1.5 judges: the third one
changes little. Judges that fail on the same items do not average out.

Right is what people voted on the same pairs. Without votes, of answers whose result a program
checks: a grade in the upper third of the scale accepts it. Source: Kish 1965, Survey Sampling.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from harness.errors import MissingError, UsageError
from harness.extras.judges.agreement import correlation
from harness.extras.judges.data import (
    Data,
    Item,
    Verdict,
    kind_of,
    load,
    named,
    over_questions,
    words,
)
from harness.extras.judges.truth import accepted, right_answers
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table


def report(options: JudgeReport) -> Page:
    """Return how many independent judges the panel amounts to, and what each adds."""
    data = load(options)
    errors, truth = _errors(data)
    judges = sorted(errors)
    common = sorted(set.intersection(*(set(own) for own in errors.values())), key=str)
    if len(judges) < 2 or len(common) < 5:
        raise UsageError(
            f"it takes two judges with verdicts on the same items; these are {', '.join(judges)}"
        )
    table = [(item.question, tuple(errors[judge][item] for judge in judges)) for item in common]
    whole = over_questions(table, worth)
    rows: list[dict[str, Any]] = []
    for at, judge in enumerate(judges):
        others = [other for other in range(len(judges)) if other != at]
        without = over_questions(
            [(q, tuple(row[other] for other in others)) for q, row in table], worth
        )
        own = np.array([row[at] for _, row in table])
        row: dict[str, Any] = {"judge": judge, "mean_error": float(np.abs(own).mean())}
        row["correlation"] = float(np.mean([_correlated(table, at, other) for other in others]))
        rows.append(row | named("adds", whole - without))
    rows.sort(key=lambda row: -(row["adds"] or 0))
    columns = [Column("judge"), Column("mean_error", "mean error", format=".2")]
    columns += [Column("correlation", "with the others", format=".2"), Column("adds", format=".2")]
    columns.append(Column("adds", "95% interval", format="interval.2"))
    outcome = (
        f"These {len(judges)} judges are worth {words(whole, percent=False, places=1)} independent "
        f"ones, by their errors against {truth} on {len(common)} items."
    )
    facts = {"report": "worth", "n": len(common)} | named("worth", whole)
    return Page(outcome, [Table("", columns, rows)], title="worth", facts=facts)


def worth(errors: Sequence[Sequence[float]]) -> float:
    """Return k / (1 + (k − 1)ρ) of rows of k judges' errors."""
    table = np.array(errors, dtype=np.float64)
    if table.ndim < 2 or len(table) < 2:
        return float("nan")
    k = table.shape[1]
    if k == 1:
        return 1.0
    found = [correlation(table[:, a], table[:, b]) for a, b in combinations(range(k), 2)]
    known = [value for value in found if value == value]
    rho = max(0.0, float(np.mean(known))) if known else 0.0
    return float(k / (1 + (k - 1) * rho))


def _correlated(table: Sequence[tuple[Any, Sequence[float]]], one: int, other: int) -> float:
    value = correlation(*(np.array([row[at] for _, row in table]) for at in (one, other)))
    return 0.0 if value != value else value


def _errors(data: Data) -> tuple[Mapping[str, Mapping[Item, float]], str]:
    """Return each judge's error on each item of which it is known what is right."""
    verdicts = [v for v in data.verdicts() if not v.voter and v.value is not None]
    try:
        votes = [v for v in data.votes() if v.voter and isinstance(v.value, float)]
    except MissingError:
        votes = []
    if votes:
        cast: dict[Item, list[float]] = {}
        for v in votes:
            if isinstance(v.value, float):
                cast.setdefault(v.item, []).append(v.value)
        truth = {item: sum(own) / len(own) for item, own in cast.items()}
        pairs = [v for v in verdicts if kind_of(v) == "pair"] or data.verdicts("pair")
        return _by_judge(pairs, truth), "people's votes"
    right = right_answers(data)
    truth = {item: float(is_right) for item, is_right in right.items()}
    grades = [v for v in verdicts if kind_of(v) == "single"]
    return _by_judge([v._replace(value=accepted(v)) for v in grades], truth), "what programs check"


def _by_judge(
    verdicts: Sequence[Verdict], truth: Mapping[Item, float]
) -> dict[str, dict[Item, float]]:
    errors: dict[str, dict[Item, float]] = {}
    for v in verdicts:
        if v.item in truth and isinstance(v.value, int | float):
            errors.setdefault(v.judge, {})[v.item] = v.value - truth[v.item]
    if not errors:
        raise MissingError("no judged item has a vote, or a check of its result (run auto_checks)")
    return errors

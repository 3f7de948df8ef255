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

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.extras.judges.data import by_item, load
from harness.extras.judges.estimates import fields, interval_columns, over_questions, words
from harness.extras.judges.truth import accepted, right_answers
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table
from harness.results.estimate import Floats


def report(options: JudgeReport) -> Page:
    """Return how many independent judges the panel amounts to, and what each adds."""
    data = load(options)
    votes = [v for v in data.votes() if v.voter]
    if votes:
        source, right = "people's votes", by_item(votes)
        verdicts = data.verdicts(paired=True)
    else:
        source = "what programs check"
        right = {item: float(is_right) for item, is_right in right_answers(data).items()}
        verdicts = [v._replace(value=float(accepted(v))) for v in data.verdicts(paired=False)]
    judges = sorted({v.judge for v in verdicts})
    values = [by_item(v for v in verdicts if v.judge == judge) for judge in judges]
    items = [item for item in right if all(item in own for own in values)]
    if len(judges) < 2 or len(items) < 5:
        raise UsageError(
            f"it takes two judges with verdicts on five items of which it is known what is right "
            f"(votes, or auto_checks); there are {len(items)} of {', '.join(judges)}"
        )
    errors = np.array([[own[item] - right[item] for own in values] for item in items])
    questions = [item.question for item in items]

    def worth_of(columns: Sequence[int]) -> Any:
        rows = list(zip(questions, errors[:, columns], strict=True))
        return over_questions(rows, lambda part: worth(np.array(part)))

    every = range(len(judges))
    whole = worth_of(every)
    correlations = np.nan_to_num(_correlations(errors))
    rows: list[dict[str, Any]] = []
    for at, judge in enumerate(judges):
        others = [other for other in every if other != at]
        row: dict[str, Any] = {"judge": judge, "mean_error": float(np.abs(errors[:, at]).mean())}
        row["correlation"] = float(correlations[at, others].mean())
        rows.append(row | fields(adds=whole - worth_of(others)))
    rows.sort(key=lambda row: -row["adds"])
    columns = [
        Column("judge"),
        Column("mean_error", "mean error", format=".2"),
        Column("correlation", "with the others", format=".2"),
        *interval_columns("adds", "", ".2"),
    ]
    outcome = (
        f"These {len(judges)} judges are worth {words(whole, '.1')} independent "
        f"ones, by their errors against {source} on {len(items)} items."
    )
    facts = {"report": "worth", "n": len(items)} | fields(worth=whole)
    return Page(outcome, [Table("", columns, rows)], title="worth", facts=facts)


def worth(errors: Floats) -> float:
    """Return k / (1 + (k − 1)ρ) of rows of k judges' errors."""
    if len(errors) < 2 or errors.shape[1] < 2:
        return 1.0 if len(errors) else math.nan
    k = errors.shape[1]
    pairs = _correlations(errors)[np.triu_indices(k, 1)]
    pairs = pairs[~np.isnan(pairs)]
    rho = max(0.0, float(pairs.mean())) if len(pairs) else 0.0
    return float(k / (1 + (k - 1) * rho))


def _correlations(errors: Floats) -> Floats:
    """Return how the errors of every two judges correlate; NaN where a judge's do not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations: Floats = np.corrcoef(errors, rowvar=False)
    return correlations

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
import statistics
from itertools import combinations
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.extras.judges.agreement import correlation
from harness.extras.judges.data import by_item, load
from harness.extras.judges.estimates import over_questions, page, words
from harness.extras.judges.truth import accepted, right_answers
from harness.options import JudgeReport
from harness.reporting import Column, Page, interval_columns, row_of
from harness.reporting.page import flat


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
    items = [item for item in right if all(item in of_judge for of_judge in values)]
    if len(judges) < 2 or len(items) < 5:
        raise UsageError(
            f"it takes two judges with verdicts on five items of which it is known what is right "
            f"(votes, or turnbench auto_checks); there are {len(items)} of {', '.join(judges)}"
        )
    errors = np.array([[of_judge[item] - right[item] for of_judge in values] for item in items])
    questions = [item.question for item in items]
    whole = over_questions(questions, errors, worth)
    rows: list[dict[str, Any]] = []
    for at, judge in enumerate(judges):
        error, rest = errors[:, at], np.delete(errors, at, axis=1)
        correlations = [correlation(error, column) for column in rest.T]
        row = {"judge": judge, "mean_error": float(np.abs(error).mean())}
        row["correlation"] = float(np.nan_to_num(correlations).mean())
        rows.append(row_of(row, adds=whole - over_questions(questions, rest, worth)))
    rows.sort(key=lambda row: -row["adds"].value)
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
    facts = flat(row_of({"n": len(items)}, worth=whole))
    return page("worth", outcome, columns, rows, **facts)


def worth(*errors: Any) -> float:
    """Return k / (1 + (k − 1)ρ) of the errors of k judges on the same items."""
    k = len(errors)
    correlations = [correlation(first, second) for first, second in combinations(errors, 2)]
    varied = [value for value in correlations if not math.isnan(value)]
    rho = max(0.0, statistics.fmean(varied)) if varied else 0.0
    return k / (1 + (k - 1) * rho)

"""How many independent judges is a panel worth?

    C_jk     cov(v_j, v_k) − cov(v_j, u) · cov(v_k, u) / cov(u1, u2): the covariance of two
             judges' verdicts within what is right
    ρ        the mean of C_jk / √(C_jj · C_kk) over two judges
    worth    k / (1 + (k − 1) · ρ)            of k judges (Kish's design effect), from 1 to k
    adds     worth of all − worth without this judge

Three judges whose errors correlate by 0.5 are worth 3 / (1 + 2 · 0.5) = 1.5 judges: the third one
changes little. Judges that fail on the same items do not average out.

v are the judges' verdicts, u is the mean vote of an item, u1 and u2 are two people's: what judges
have in common because they are right is what they have in common with people, and people with each
other. The mean vote in place of what is right would make errors of the people look like errors that
all judges share. A verdict counts in both orientations, so each has the mean one half. Where fewer
than 20 items have two votes, the variance of the votes stands for cov(u1, u2); it is larger, and
the panel is worth at least what is said.

Without votes, right is what a program checks: u is 1 or 0 without error, and a grade in the upper
third of the scale accepts an answer.

The interval is the one of ρ, by the jackknife over questions. Source: Kish 1965, Survey Sampling;
Spearman 1904 for what errors of measurement do to a correlation.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from harness.errors import UsageError
from harness.extras.judges.data import Data, itself, load, mean_by_item
from harness.extras.judges.estimates import over_questions, page
from harness.extras.judges.truth import accepts, right_answers
from harness.options import JudgeReport
from harness.reporting import Cell, Column, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.results.agreement import RatedItem, item_values
from harness.results.estimate import Floats
from harness.results.spent import Cost
from harness.types import QuestionId

TWICE = 20
"""Items with two votes from which on only these are used."""


class Panel(NamedTuple):
    """The verdicts of several judges on the same items, and what is right."""

    judges: list[str]
    questions: Sequence[QuestionId]
    """Of each item."""
    table: Floats
    """A row for each item: the judges' verdicts, the mean vote, the product of two votes; each
    vote and verdict less its mean."""
    source: str
    at_least: bool
    """Whether the errors of the votes are not known."""


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how many independent judges the panel amounts to, and what each adds."""
    data = load(options)
    panel = _by_votes(data) if len(data.people) else _by_checks(data)
    judges, count = panel.judges, len(panel.questions)
    if len(judges) < 2 or count < 5:
        raise UsageError(
            f"it takes two judges with verdicts on five items of which it is known what is right "
            f"(votes, or turnbench auto_checks); there are {count} of {', '.join(judges)}"
        )
    value, low, high = worth_of(panel)
    whole = over_questions(panel.questions, panel.table, worth)
    correlations = error_correlations(*panel.table.T)
    rows: list[dict[str, Any]] = []
    for at, judge in enumerate(judges):
        rest = over_questions(panel.questions, np.delete(panel.table, at, axis=1), worth)
        others = np.delete(correlations[at], at)
        known = others[~np.isnan(others)]
        row = {"judge": judge, "correlation": float(known.mean()) if len(known) else None}
        rows.append(row_of(row, adds=whole - rest))
    rows.sort(key=lambda row: -row["adds"].value)
    columns = [
        Column("judge"),
        Column("correlation", "errors correlate with the others'", format=".2"),
        *interval_columns("adds", "", ".2"),
    ]
    number, ends = (
        column.cell({"x": Cell(value, low, high)}) for column in interval_columns("x", "", ".1")
    )
    words = f"at least {number}" if panel.at_least else number
    words += f" ({ends})" if low is not None else ""
    outcome = (
        f"These {len(judges)} judges are worth {words} independent ones, by their errors against "
        f"{panel.source} on {count} items."
    )
    facts = {"n": count, "worth": value, "worth_low": low, "worth_high": high}
    notes = itself(data.judges)
    return Result(
        page("worth", outcome, columns, rows, notes=notes, **facts, at_least=panel.at_least)
    )


REPORT = PageKind(_show)


def worth_of(panel: Panel) -> Cell:
    """Return how many independent judges a panel is worth, with its interval."""
    k = len(panel.judges)
    rho = over_questions(panel.questions, panel.table, mean_correlation)
    value = design_effect(k, rho.value)
    if not rho.interval:
        is_exact = rho.n >= 5 and rho.se == 0
        return Cell(value, value, value) if is_exact else Cell(value)
    return Cell(value, design_effect(k, rho.interval.high), design_effect(k, rho.interval.low))


def _by_votes(data: Data) -> Panel:
    """Return the judges' verdicts on pairs that people voted on."""
    votes: dict[RatedItem, list[float]] = {}
    for item, vote in item_values(data.people):
        votes.setdefault(item, []).append(vote - 0.5)
    verdicts = {name: mean_by_item(of_judge) for name, of_judge in data.preferences().items()}
    verdicts = {name: of for name, of in verdicts.items() if of.keys() & votes.keys()}
    items = [item for item in votes if all(item in of_judge for of_judge in verdicts.values())]
    twice = [item for item in items if len(votes[item]) > 1]
    at_least = len(twice) < TWICE
    columns = [
        [of_judge[item] - 0.5 for of_judge in verdicts.values()]
        + [float(np.mean(votes[item])), _product(votes[item], at_least)]
        for item in (items if at_least else twice)
    ]
    items = items if at_least else twice
    return _panel(verdicts, items, columns, "people's votes", at_least)


def _product(votes: Sequence[float], at_least: bool) -> float:
    """Return the mean product of two votes; of the mean vote with itself if two are rare."""
    if at_least:
        return float(np.mean(votes)) ** 2
    return float(np.mean([one * other for one, other in combinations(votes, 2)]))


def _by_checks(data: Data) -> Panel:
    """Return the judges' verdicts on answers of which a program knows whether they are right."""
    right = {item: float(is_right) for item, is_right in right_answers(data).items()}
    found = data.verdicts(paired=False)
    judges = sorted({v.judge for v in found})
    verdicts = {
        judge: mean_by_item(v._replace(value=float(accepts(v))) for v in found if v.judge == judge)
        for judge in judges
    }
    items = [item for item in right if all(item in of_judge for of_judge in verdicts.values())]
    columns = [[*(of[item] for of in verdicts.values()), right[item], 0.0] for item in items]
    panel = _panel(verdicts, items, columns, "what programs check", False)
    table = panel.table - panel.table.mean(axis=0) if items else panel.table
    if items:
        table[:, -1] = table[:, -2] ** 2
    return panel._replace(table=table)


def _panel(
    verdicts: Mapping[str, Any],
    items: Sequence[RatedItem],
    columns: Sequence[Sequence[float]],
    source: str,
    at_least: bool,
) -> Panel:
    table = np.array(columns, dtype=float).reshape(len(items), len(verdicts) + 2)
    return Panel(list(verdicts), [item.question for item in items], table, source, at_least)


def error_correlations(*columns: Any) -> Floats:
    """Return how the errors of each two judges correlate; NaN of one that makes none.

    The columns are those of `Panel.table`.
    """
    table = np.stack(columns[:-1])
    moments = table @ table.T / table.shape[1]
    shared, common = moments[:-1, -1], float(np.mean(columns[-1]))
    within = moments[:-1, :-1]
    if common > 0:
        within = within - np.outer(shared, shared) / common
    sizes = np.diag(within).copy()
    sizes[sizes <= 1e-12] = np.nan
    result: Floats = within / np.sqrt(np.outer(sizes, sizes))
    return result


def mean_correlation(*columns: Any) -> float:
    """Return the mean correlation of two judges' errors; 0 if none makes errors."""
    correlations = error_correlations(*columns)
    above = correlations[np.triu_indices(len(correlations), 1)]
    known = above[~np.isnan(above)]
    return float(known.mean()) if len(known) else 0.0


def design_effect(k: int, rho: float) -> float:
    """Return k / (1 + (k − 1)ρ), from 1 to k."""
    return k / (1 + (k - 1) * min(1.0, max(0.0, rho)))


def worth(*columns: Any) -> float:
    """Return how many independent judges the first columns of a `Panel.table` are worth."""
    return design_effect(len(columns) - 2, mean_correlation(*columns))

"""Answers graded by several criteria, on several dimensions or by metrics -> the mean of each, by model and group.

    mean of a criterion = sum of the grades by it / how many there are            over all turns, repeats averaged

There is no mean over criteria: each category has its own criteria, so it would compare unlike things. A
set of dimensions has its own total, which is one of the columns. A judgment without a verdict is left out of the means
and counted as `excluded`. Intervals resample questions (`statistics.bootstrap`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from harness.old.judgments.case import TOTAL
from harness.old.judgments.observations import Observations
from harness.old.records import QuestionId
from harness.old.results.matrix import Matrix, in_order, label, matrix, of_group
from harness.old.results.statistics.bootstrap import Resampling, estimates
from harness.old.results.table import ALL, Kind, Line, Mean, Table

EXTREMES = 3
"""How many of the best and of the worst questions are named."""
_MODELS = 3
"""How many models are named in a note."""


def matrices(observations: Observations, groups: Mapping[QuestionId, Any] | None = None) -> dict[str, Matrix]:
    """Return the array of each criterion or dimension, in the order of the file."""
    names = [name for name in observations.metrics() if name not in {TOTAL, ""}]
    return {name: matrix(observations.keep(lambda case: case.metric == name), groups) for name in names}  # noqa: B023


def means_table(
    tables: Mapping[str, Matrix],
    kind: Kind,
    *,
    groups: Mapping[QuestionId, Any] | None = None,
    by: str = "category",
    sure: bool = True,
    seed: int = 0,
) -> Table:
    """Return the table of the means of each criterion, dimension or metric."""
    several = len(dict.fromkeys(map(label, (groups or {}).values()))) > 1
    cells: dict[tuple[str, Any, str], Mean] = {}
    for name, table in tables.items():
        for group in (ALL, *(dict.fromkeys(map(label, table.groups)) if several else ())):
            own = table if group is ALL else of_group(table, group)
            cells |= {(name, group, model): mean for model, mean in _means(own, group, sure, seed)}
    models = sorted({model for _, _, model in cells})
    of_groups = dict.fromkeys(group for _, group, _ in sorted(cells, key=lambda key: key[2]))
    lines = []
    for group in sorted(of_groups, key=lambda group: group is not ALL):
        for model in models:
            found = {name: cells.get((name, group, model)) for name in tables}
            there = [mean for mean in found.values() if mean is not None]
            if there:
                lines.append(Line(model, found | (_counts(kind, there) if group is ALL else {}), group=group))
    scales = {name: table.scale for name, table in tables.items()}
    within = by if any(table.fixed_mix for table in tables.values()) else ""
    return Table(lines, kind, by, seed, sure, False, 2, within, tuple(tables), scales)


def _counts(kind: Kind, means: Sequence[Mean]) -> dict[str, int]:
    """Return the grades of a model, and the judgments that gave none."""
    if kind == "criterion":
        return {"n": sum(mean.n for mean in means), "excluded": sum(mean.excluded or 0 for mean in means)}
    # One judgment gives all dimensions; of metrics, `fewer_note` says which are means of fewer numbers.
    return {"n": max(mean.n for mean in means), "excluded": max(mean.excluded or 0 for mean in means)}


def fewer_note(table: Table) -> str | None:
    """Return the means over fewer numbers than the model's `n`; None if there are none, or `n` is their sum."""
    if table.kind == "criterion":
        return None
    columns: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for name in table.names:
        means = [(line, own.n if isinstance(own := line.fields[name], Mean) else 0) for line in table.whole]
        of = tuple((line.model, n) for line, n in means if n < line.fields["n"])
        if of:
            columns.setdefault(of, []).append(name)
    told = []
    for of, names in columns.items():
        fewest = sorted(of, key=lambda one: (one[1], one[0]))
        who = ", ".join(f"{model} {n}" for model, n in fewest[:_MODELS])
        who += f" and {len(fewest) - _MODELS} more models" if len(fewest) > _MODELS else ""
        if len(fewest) == len(table.whole) > 1 and fewest[0][1] == fewest[-1][1]:
            who = f"{fewest[0][1]} of every model"
        told.append(f"{', '.join(names)} ({who})")
    return f"means over fewer numbers than n: {'; '.join(told)}" if told else None


def _means(table: Matrix, group: Any, sure: bool, seed: int) -> Iterator[tuple[str, Mean]]:
    """Yield the mean of each model; where it has no grade on these questions, one without a value."""
    table = in_order(table)
    scores = table.scores
    there = ~np.isnan(scores)
    sums, counts = np.where(there, scores, 0.0).sum(axis=2), there.sum(axis=2).astype(np.float64)
    inside = table.strata if group is ALL else None
    how: Resampling = {"seed": seed} if sure else {"resamplings": 0}
    found = estimates(sums, counts, inside, bounds=table.scale, **how)
    for at, model in enumerate(table.models):
        graded = np.flatnonzero(counts[:, at])
        worst_first = graded[np.argsort(sums[graded, at] / counts[graded, at], kind="stable")].tolist()
        ranked = tuple(table.questions[place] for place in worst_first)
        excluded = int(table.excluded[at]) if group is ALL else None
        best, worst = ranked[::-1][:EXTREMES], ranked[:EXTREMES]
        n = int(counts[:, at].sum())
        yield model, Mean(**asdict(found[at]), n=n, excluded=excluded, best=best, worst=worst)

"""Labelled answers -> how often each label was given: shares or, for short facts, rates computed from them.

    share of a label = judgments with it / judgments with any label
    mean_share       = sum of the labels' values / judgments with any label

Short facts, whose labels are CORRECT (C), INCORRECT (I) and NOT_ATTEMPTED (N):

    correct = C / (C + I + N)          given_attempted = C / (C + I)          coverage = (C + I) / (C + I + N)
    f1 = 2 C / (2 (C + I) + N)         the harmonic mean of correct and given_attempted

50 correct, 30 incorrect, 20 not attempted: correct 0.5, given_attempted 50 / 80 = 0.625, coverage 0.8, f1 = 100 / 180 =
0.556. A model that attempts nothing has no given_attempted, and an f1 of 0.

What the model did, judgments without a label and missing judgments are three things, each with a column:
`not_attempted` (a label), `unparsed` (a judgment without a label) and `missing` (a question without a judgment).
Only labels count in the rates. Intervals resample questions (`statistics.bootstrap`).

Source: Wei et al. 2024, Measuring short-form factuality in large language models (arXiv 2411.04368).
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.old.judgments.case import CONFIDENCE, CORRECT, FACTS, INCORRECT, SHARE
from harness.old.judgments.observations import Bools, Observations
from harness.old.records import QuestionId, Source
from harness.old.results.about import is_fixed
from harness.old.results.calibration import Calibration, calibration
from harness.old.results.matrix import Floats, Ints, Matrix, as_numbers, label, matrix
from harness.old.results.statistics.bootstrap import Resampling, estimates
from harness.old.results.table import ALL, Line, Row, Table, best_first

_TAKEN = frozenset({"model", "n", "unparsed", "missing", "mean_share", "ece", "brier", "with_confidence"})


class Judgment(NamedTuple):
    """One judgment that labels an answer, its observations together."""

    question_id: QuestionId
    turn: int
    model: str
    source: Source
    label: str | None
    """None if the judgment gave no label."""
    share: float | None
    """The label's value, from 0 to 1, as the judge set states."""
    confidence: float | None
    """The answer's stated confidence, from 0 to 1."""

    @property
    def item(self) -> tuple[QuestionId, int, str, str]:
        """What was judged: question, turn, model and choice."""
        return self.question_id, self.turn, self.model, self.source.choice


def judgments_of(observations: Observations) -> list[Judgment]:
    """Return the judgments whose numbers these are."""
    found: dict[Hashable, dict[str, float]] = {}
    for case, about, value in observations.rows():
        own = found.setdefault((about.question_id, case.turn, case.models[0], case.source), {})
        if (value and not math.isnan(value)) or case.metric == CONFIDENCE:
            own[case.metric] = value
        elif case.metric == SHARE:
            own[SHARE] = value
    return [
        Judgment(
            *key,  # type: ignore[misc]
            label=next((name for name in own if name not in {SHARE, CONFIDENCE}), None),
            share=own.get(SHARE),
            confidence=own.get(CONFIDENCE),
        )
        for key, own in found.items()
    ]


def label_table(
    judged: Sequence[Judgment],
    *,
    groups: Mapping[QuestionId, Any] | None = None,
    by: str = "category",
    sure: bool = True,
    seed: int = 0,
    labels: Iterable[str] | None = None,
) -> Table:
    """Return the table of labelled answers, the best model first: by `f1` or by `mean_share`.

    `labels` are those there are (default: those that were given).

    `groups` gives the field `by` of each question, and which questions there are; without it those count that any
    model was judged on. Sets whose labels are CORRECT, INCORRECT and NOT_ATTEMPTED are short facts.
    """
    there = {row.label for row in judged if row.label is not None} if labels is None else set(labels)
    facts = there <= set(FACTS)
    counts_for = {name: _share_of(name, judged) for name in there}
    names = FACTS if facts else sorted(there, key=lambda name: (-counts_for[name], name))
    every = list(groups or dict.fromkeys(row.question_id for row in judged))
    models = list(dict.fromkeys(row.model for row in judged))
    place = {key: at for at, key in enumerate(every)}
    given = np.zeros((len(every), len(models), len(names) + 1))  # last, how often none of them
    for row in judged:
        if row.question_id in place:
            code = next((at for at, name in enumerate(names) if name == row.label), -1)
            given[place[row.question_id], models.index(row.model), code] += 1
    judged_on: Bools = given.sum(axis=2) > 0
    inside = [label((groups or {}).get(key)) for key in every]
    measures = _facts(given[:, :, :-1]) if facts else _shares(given[:, :, :-1], names, [counts_for[n] for n in names])
    fixed, fits = is_fixed(groups), _fits(judged, models, seed)
    how: Resampling = {"seed": seed} if sure else {"resamplings": 0}
    lines = []
    for at, model in enumerate(models):
        for group, part in _parts(inside, np.flatnonzero(judged_on.any(axis=1))):
            own = part[judged_on[part].any(axis=1)]
            strata = [inside[question] for question in own.tolist()] if fixed else None
            numbers: Row = {}
            for batch in measures:  # apart, since the digits of a product depend on how many columns it has
                sums, counts = (np.column_stack([one[side][own, at] for one in batch.values()]) for side in (0, 1))
                found = estimates(sums, counts, strata, bounds=(0.0, 1.0), **how)
                numbers |= dict(zip(batch, found, strict=True))
            *labelled, unparsed = given[own, at].sum(axis=0).astype(int).tolist()
            lost = {"unparsed": unparsed, "missing": int((~judged_on[part, at]).sum())}
            fit = fits.get(model) if group is ALL else None
            stated = {} if fit is None else {"ece": fit.ece, "brier": fit.brier, "with_confidence": fit.n}
            lines.append(Line(model, {"n": sum(labelled), **numbers, **lost, **stated}, group=group))
    lines = best_first(lines, "f1" if facts else "mean_share")
    ranked = [line.model for line in lines if line.group is ALL and line.model in fits]
    bins = [{"model": model, **own} for model in ranked for own in fits[model].bins]
    return Table(lines, "label", by, seed, sure, strata=by if fixed else "", bins=bins)


def worth(found: Observations, table: Table, groups: Mapping[QuestionId, Any]) -> dict[str, Matrix]:
    """Return what the labels count for, by the column that is its mean: of short facts, what is correct."""
    column = "mean_share" if "mean_share" in table.lines[0].fields else "correct"
    shares = found.keep(lambda case: case.metric == SHARE)
    return {column: matrix(shares, groups)} if shares else {}


def _facts(given: Floats) -> list[dict[str, tuple[Floats, Floats]]]:
    """Return for each column, by question and model, what is added up and of how much."""
    right, wrong, left = np.moveaxis(given, 2, 0)
    every, tried = right + wrong + left, right + wrong
    return [
        {
            "correct": (right, every),
            "incorrect": (wrong, every),
            "not_attempted": (left, every),
            "given_attempted": (right, tried),
            "f1": (2 * right, 2 * tried + left),
            "coverage": (tried, every),
        }
    ]


def _shares(given: Floats, names: Sequence[str], worth: Sequence[float]) -> list[dict[str, tuple[Floats, Floats]]]:
    """Return the same for the share of each label, and for the mean of the labels' values."""
    every = given.sum(axis=2)
    columns = [f"label {name}" if name in _TAKEN else name for name in names]
    shares = {name: (given[:, :, at], every) for at, name in enumerate(columns)}
    return [shares, {"mean_share": (given @ np.array(worth), every)}]


def _parts(inside: Sequence[Any], judged_on: Ints) -> list[tuple[Any, Ints]]:
    """Return all questions, then, if some of several groups were judged, the questions of each of these."""
    groups = dict.fromkeys(inside[at] for at in judged_on.tolist())
    of_groups = [(name, np.flatnonzero([own == name for own in inside])) for name in groups]
    return [(ALL, np.arange(len(inside))), *(of_groups if len(groups) > 1 else [])]


def _share_of(name: str | None, judged: Sequence[Judgment]) -> float:
    return next((row.share for row in judged if row.label == name and row.share is not None), 0.0)


def _fits(judged: Sequence[Judgment], models: Sequence[str], seed: int) -> dict[str, Calibration]:
    """Return how each model's confidences in answers that were attempted fit; nothing where none is stated."""
    tried = [row for row in judged if row.label in (CORRECT, INCORRECT)]
    place = {key: at for at, key in enumerate(dict.fromkeys(row.question_id for row in tried))}
    found = {}
    for model in models if any(row.confidence is not None for row in tried) else ():
        own = [row for row in tried if row.model == model]
        right, question = [row.label == CORRECT for row in own], [place[row.question_id] for row in own]
        stated = as_numbers(row.confidence for row in own)
        found[model] = calibration(stated, np.array(right, np.float64), np.array(question, np.int64), seed=seed)
    return found

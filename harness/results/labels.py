"""Labelled answers -> how often each label was given: shares or, of short facts, the rates made of them.

    share of a label = judgments with it / judgments with any label
    mean_share       = sum of what the labels count for / judgments with any label

Short facts, whose labels are CORRECT (C), INCORRECT (I) and NOT_ATTEMPTED (N):

    correct = C / (C + I + N)          given_attempted = C / (C + I)          coverage = (C + I) / (C + I + N)
    f1 = 2 C / (2 (C + I) + N)         the harmonic mean of correct and given_attempted

50 correct, 30 incorrect, 20 not attempted: correct 0.5, given_attempted 50 / 80 = 0.625, coverage 0.8, f1 = 100 / 180 =
0.556. A model that attempts nothing has no given_attempted, and an f1 of 0.

What the model did, what the judge failed to say and what was never judged are three things, each with a column:
`not_attempted` (a label), `unparsed` (a judgment without a label) and `missing` (a question without a judgment).
Nothing but labels is in any rate. Intervals resample questions (`statistics.bootstrap`).

Source: Wei et al. 2024, Measuring short-form factuality in large language models (arXiv 2411.04368).
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.judgments.case import CONFIDENCE, CORRECT, FACTS, INCORRECT, SHARE
from harness.judgments.observations import Observations
from harness.records import QuestionId, Source
from harness.results.about import is_fixed
from harness.results.calibration import calibration
from harness.results.matrix import Floats, Ints, Matrix, label, matrix
from harness.results.statistics.bootstrap import Resampling, estimates
from harness.results.table import ALL, Line, Row, Table, best_first

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
    """What the label counts for, from 0 to 1, as the judge set says."""
    confidence: float | None
    """How sure the answer says that it is, from 0 to 1."""

    @property
    def item(self) -> tuple[QuestionId, int, str, str]:
        """What was judged: question, turn, model and choice."""
        return self.question_id, self.turn, self.model, self.source.choice


class _Measure(NamedTuple):
    """One column: for each question and model, what it adds and how much it counts."""

    name: str
    sums: Floats
    counts: Floats


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
    names = FACTS if facts else sorted(there, key=lambda name: (-_share_of(name, judged), name))
    asked = dict.fromkeys(row.question_id for row in judged)
    questions = [key for key in asked if groups is None] + [key for key in groups or () if key in asked]
    models = list(dict.fromkeys(row.model for row in judged))
    given, without = _counted(judged, questions, models, names)
    measures = _facts(given) if facts else _shares(given, names, [_share_of(name, judged) for name in names])
    inside = [label((groups or {}).get(key)) for key in questions]
    fixed = is_fixed(groups)
    absent = _missing(judged, groups)
    fits = {model: calibration(*one, seed=seed) for model, one in _confidences(judged, models)}
    how: Resampling = {"seed": seed} if sure else {"resamplings": 0}
    lines = []
    for at, model in enumerate(models):
        for group, own in _parts(inside):
            strata = [inside[question] for question in own] if fixed else None
            numbers: Row = {}
            for batch in measures:  # apart, since the digits of a product depend on how many columns it has
                sums = np.column_stack([one.sums[own, at] for one in batch])
                counts = np.column_stack([one.counts[own, at] for one in batch])
                found = estimates(sums, counts, strata, bounds=(0.0, 1.0), **how)
                numbers |= {one.name: rate for one, rate in zip(batch, found, strict=True)}
            lost = {"unparsed": int(without[own, at].sum()), "missing": absent(model, group)}
            fit = fits.get(model) if group is ALL else None
            stated = {} if fit is None else {"ece": fit.ece, "brier": fit.brier, "with_confidence": fit.n}
            lines.append(Line(model, {"n": int(given[own, at].sum()), **numbers, **lost, **stated}, group=group))
    lines = best_first(lines, "f1" if facts else "mean_share")
    ranked = [line.model for line in lines if line.group is ALL and line.model in fits]
    bins = [{"model": model, **own} for model in ranked for own in fits[model].bins]
    return Table(lines, "label", by, seed, sure, strata=by if fixed else "", bins=bins)


def worth(found: Observations, table: Table, groups: Mapping[QuestionId, Any]) -> dict[str, Matrix]:
    """Return what the labels count for, by the column that is its mean: of short facts, what is correct."""
    column = "mean_share" if "mean_share" in table.lines[0].fields else "correct"
    shares = found.keep(lambda case: case.metric == SHARE)
    return {column: matrix(shares, groups)} if shares else {}


def _counted(
    judged: Sequence[Judgment], questions: Sequence[QuestionId], models: Sequence[str], names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Return how often each label was given, questions × models × labels, and how often none of them."""
    place = {key: at for at, key in enumerate(questions)}
    given = np.zeros((len(questions), len(models), len(names)))
    without = np.zeros((len(questions), len(models)))
    for row in judged:
        if row.question_id in place:
            at = place[row.question_id], models.index(row.model)
            if row.label in names:
                given[(*at, names.index(row.label))] += 1
            else:
                without[at] += 1
    return given, without


def _facts(given: Floats) -> list[list[_Measure]]:
    right, wrong, left = np.moveaxis(given, 2, 0)
    every, tried = right + wrong + left, right + wrong
    return [
        [
            _Measure("correct", right, every),
            _Measure("incorrect", wrong, every),
            _Measure("not_attempted", left, every),
            _Measure("given_attempted", right, tried),
            _Measure("f1", 2 * right, 2 * tried + left),
            _Measure("coverage", tried, every),
        ]
    ]


def _shares(given: Floats, names: Sequence[str], worth: Sequence[float]) -> list[list[_Measure]]:
    """Return the share of each label, and the mean of what the labels count for."""
    every = given.sum(axis=2)
    columns = [f"label {name}" if name in _TAKEN else name for name in names]
    shares = [_Measure(name, given[:, :, at], every) for at, name in enumerate(columns)]
    return [shares, [_Measure("mean_share", given @ np.array(worth), every)]]


def _parts(inside: Sequence[Any]) -> list[tuple[Any, Ints]]:
    """Return all questions, then, if there are several groups, the questions of each."""
    every = np.arange(len(inside), dtype=np.int64)
    groups = [(name, every[[own == name for own in inside]]) for name in dict.fromkeys(inside)]
    return [(ALL, every), *(groups if len(groups) > 1 else [])]


def _share_of(name: str | None, judged: Sequence[Judgment]) -> float:
    return next((row.share for row in judged if row.label == name and row.share is not None), 0.0)


def _missing(judged: Sequence[Judgment], groups: Mapping[QuestionId, Any] | None) -> Callable[[str, Any], int]:
    """Return the function that counts the questions of a model and group without a judgment."""
    every = dict.fromkeys([*(groups or ()), *([] if groups else (row.question_id for row in judged))])
    there: dict[str, set[QuestionId]] = {}
    for row in judged:
        there.setdefault(row.model, set()).add(row.question_id)

    def absent(model: str, group: Any) -> int:
        own = (q for q in every if group is ALL or label((groups or {}).get(q)) == group)
        return sum(question not in there[model] for question in own)

    return absent


def _confidences(
    judged: Sequence[Judgment], models: Sequence[str]
) -> Iterator[tuple[str, tuple[Floats, Floats, Ints]]]:
    """Yield each model's confidences in answers that were attempted, whether these are right, and their questions."""
    tried = [row for row in judged if row.label in (CORRECT, INCORRECT)]
    if all(row.confidence is None for row in tried):
        return
    place = {key: at for at, key in enumerate(dict.fromkeys(row.question_id for row in tried))}
    for model in models:
        own = [row for row in tried if row.model == model]
        yield (
            model,
            (
                np.array([np.nan if row.confidence is None else row.confidence for row in own], dtype=np.float64),
                np.array([row.label == CORRECT for row in own], dtype=np.float64),
                np.array([place[row.question_id] for row in own], dtype=np.int64),
            ),
        )

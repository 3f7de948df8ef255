"""One run against another: may the model that was judged now take the place of the one before?

    difference = new − old, on what both runs have a verdict on
    with --margin       passes if the lower end of the one-sided 95% interval is not below −margin
    without             passes if the model is not significantly worse (Holm over the models)
    always              fails if over 5% of what the other run has is missing

Old 7.9, new 7.8, standard error 0.1 on 80 questions: the lower end is −0.1 − 1.66 · 0.1 = −0.27, so
it passes a margin of 0.3. A run that equals the other passes any. Runs by different judges, judge
sets, scales or samplings are refused unless the difference is allowed by name.

Source: Piaggio et al. 2012, JAMA 308:2594, for non-inferiority by a confidence interval.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.results.estimate import LEAST, LEVEL, Estimate, Interval, holm, ratio
from harness.results.panels import Panel
from harness.types import QuestionId


@dataclass(frozen=True, eq=False)
class Gated:
    """One model of the run compared with the other run."""

    model: str
    old: str
    """The model of the other run that it is compared with."""
    difference: Estimate
    """New less old."""
    missing: float
    """The share of the other run's verdicts that this one does not have."""
    p: float | None = None
    """By Holm's method over the models."""
    level: float = LEVEL
    """Of its Holm step, see `holm`."""
    fault: str = ""
    """Why it does not pass; empty: it passes."""

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse."""
        return self._decided and self.difference.value < 0

    @property
    def better(self) -> bool:
        """Whether it is significantly better."""
        return self._decided and self.difference.value > 0

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference at its level: where it excludes zero, it is decided."""
        return self.difference.interval_at(self.level)

    @property
    def _decided(self) -> bool:
        p = self.difference.p
        return p is not None and p < self.level


@dataclass(frozen=True, eq=False)
class GateResult:
    """A run compared with another one."""

    models: tuple[Gated, ...]
    faults: tuple[str, ...]
    """A line for each reason not to pass."""
    notes: tuple[str, ...]
    """Differences between the runs that were allowed."""

    @property
    def passes(self) -> bool:
        """Whether the new run passes."""
        return not self.faults


def gate(
    new: Panel,
    old: Panel,
    *,
    margin: float | None = None,
    renamed: Mapping[str, str] | None = None,
    models: Collection[str] | None = None,
    baseline: str | None = None,
    allow: Collection[str] = (),
    max_missing: float = 0.05,
) -> GateResult:
    """Return how each model of a run compares with the same model, or `renamed`'s, of another.

    Args:
        new: the run in question; its main metric is compared.
        old: the other run.
        margin: how much worse is still as good, in the units of the table.
        renamed: by new name the old one. Runs of a single model each need none.
        models: new names; None: all.
        baseline: of pairs, the opponent of all, which is not in question itself.
        allow: what may differ: judge, judge-set, scale, sampling, score-method, criterion,
            questions (their wording).
        max_missing: the largest share of the other run's verdicts that may be missing.

    Raises:
        UsageError: the runs are not comparable, or have no model in common.
    """
    notes = _check_alike(new, old, allow)
    news, olds = (_outcomes(panel, baseline) for panel in (new, old))
    names = dict(renamed or {})
    if not names and len(news) == len(olds) == 1:
        names = dict(zip(news, olds, strict=True))
    names = names or {name: name for name in news if name in olds}
    if unknown := [f"{a}={b}" for a, b in names.items() if a not in news or b not in olds]:
        present = f"this run has {', '.join(news)}; the other {', '.join(olds)}"
        raise UsageError(f"--compare {unknown[0]}: no such models: {present}")
    new_names = {before: now for now, before in names.items()}
    rows = [
        Gated(now, before, *_difference(news[now], olds[before], new_names))
        for now, before in names.items()
        if models is None or now in models
    ]
    if not rows:
        raise UsageError("the two runs have no model in common; name two with --compare NEW=OLD")
    adjusted = holm([row.difference.p for row in rows])
    rows = [
        replace(row, p=test.p, level=test.level) for row, test in zip(rows, adjusted, strict=True)
    ]
    rows = [replace(row, fault=_fault(row, margin, max_missing)) for row in rows]
    faults = [f"{row.model}: {row.fault}" for row in rows if row.fault]
    for name in [] if renamed else olds:
        if name not in new_names and (models is None or name in models):
            faults.append(f"{name} is missing in this run")
    return GateResult(tuple(rows), tuple(faults), tuple(notes))


def _fault(row: Gated, margin: float | None, max_missing: float) -> str:
    """Return why a model does not pass; empty if it does."""
    lower = row.difference.lower
    if row.missing > max_missing + 1e-12:
        return f"{row.missing:.0%} of the other run's judgments are missing, over {max_missing:.0%}"
    if lower is None:
        return f"only {row.difference.n} questions in common: no drop would be seen; {LEAST} needed"
    if margin is None:
        return "significantly worse than in the other run" if row.worse else ""
    if lower < -margin - 1e-12:
        return f"may be worse by {-lower:.2g}, more than the margin of {margin:g}"
    return ""


Outcomes: TypeAlias = dict[tuple[QuestionId, int, str], float]
"""Verdicts by question id, turn and, of pairs, the opponent."""


def _outcomes(panel: Panel, baseline: str | None) -> dict[str, Outcomes]:
    """Return the verdicts on each model but the baseline."""
    scores = panel.combined.of(metric=panel.metrics[0]).mirrored()
    scores = scores.take(scores.valid)
    ids, names = [question.question_id for question in scores.questions], (*scores.models, "")
    outcomes: dict[str, Outcomes] = {}
    columns = (scores.question, scores.turn, scores.model, scores.opponent, scores.value)
    for question, turn, model, opponent, value in zip(*(c.tolist() for c in columns), strict=True):
        outcomes.setdefault(names[model], {})[ids[question], turn, names[opponent]] = value
    outcomes.pop(baseline or "", None)
    return outcomes


def _difference(
    new: Outcomes, old: Outcomes, new_names: Mapping[str, str]
) -> tuple[Estimate, float]:
    """Return new less old by question, and the share of old verdicts that new does not have."""
    differences: dict[QuestionId, list[float]] = defaultdict(list)
    for (question, turn, opponent), value in old.items():
        item = question, turn, new_names.get(opponent, opponent)
        if item in new:
            differences[question].append(new[item] - value)
    sums = np.array([sum(each) for each in differences.values()])
    counts = np.array([len(each) for each in differences.values()])
    return ratio(sums, counts), 1 - float(counts.sum()) / len(old)


def _reworded(panel: Panel) -> int:
    """Return how many judgments are of questions that were changed since."""
    return sum(n for cause, n in panel.scores.left_out.items() if "question" in cause)


def _check_alike(new: Panel, old: Panel, allow: Collection[str]) -> list[str]:
    """Return a note on each difference that is allowed, and raise on one that is not."""
    if (new.form == "pair") != (old.form == "pair"):
        raise UsageError("one run has grades and the other pairs, which cannot be compared")
    traits, others = (
        {
            "judge": ", ".join(sorted(panel.judges)),
            "judge-set": " ".join([panel.judge_set, *panel.versions]),
            "scale": str(panel.scale or ""),
            "sampling": panel.sampling,
            "score-method": panel.method,
            "criterion": ", ".join(panel.metrics),
            "questions": "of today",
        }
        for panel in (new, old)
    )
    if reworded := max(_reworded(new), _reworded(old)):
        others["questions"] = f"{reworded} judgments of another wording"
    notes = []
    for name, here in traits.items():
        there = others[name]
        unstated = name in ("scale", "sampling") and "" in (here, there)
        if here == there or unstated:
            continue
        what = f"{name} {here} here, {there} there"
        if name not in allow:
            raise UsageError(f"the runs are not comparable: {what}; --allow {name} compares them")
        notes.append(f"compared although they differ: {what} (--allow {name})")
    return notes

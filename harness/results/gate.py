"""One run against another: may the model that was judged now take the place of the one before?

    difference = new − old, on what both runs have a verdict on
    with --margin       passes if the lower end of the one-sided 95% interval is not below −margin
    without             passes if the model is not significantly worse (Holm over the models)
    always              fails if over 5% more is missing than in the other run

Old 7.9, new 7.8, standard error 0.1 on 80 questions: the lower end is −0.1 − 1.66 · 0.1 = −0.27, so
it passes a margin of 0.3. An unchanged model, whose difference has that error, would fail it in
P(t − 0.3 / 0.1 > −1.66) = 9% of the runs; that is said, and changes nothing. Runs by different
judges, judge sets, scales or samplings are refused unless the difference is allowed by name.

Whether the judge has changed since is told by answers that both runs judged, and by anchors, see
`drift`: with anchors its shift is always subtracted; without them a run passes only if the shift,
where it is known, is surely within half the margin.

Several benchmarks: each must pass, each at its own 5% (Berger 1982, intersection and union), or
with `any_worse` the run fails if one is significantly worse (Holm over all tests).

Sources: Piaggio et al. 2012, JAMA 308:2594, for non-inferiority by a confidence interval; Berger
1982, Technometrics 24:295.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.errors import UsageError
from harness.results.drift import (
    Drift,
    ItemKey,
    drift_of,
    mean_by_question,
    outcomes,
    subtract_shift,
)
from harness.results.estimate import (
    LEAST,
    LEVEL,
    Estimate,
    Interval,
    holm,
    t_quantile,
    t_tails,
)
from harness.results.panels import Panel
from harness.types import QuestionId
from harness.words import percent

WORSE = "significantly worse than in the other run"
PAIRS_AND_OTHERS = "one run has grades and the other pairs, which cannot be compared"
NONE_IN_COMMON = "the two runs have no model in common; name two with --compare NEW=OLD"


@dataclass(frozen=True, eq=False)
class Gated:
    """One model of the run compared with the other run."""

    model: str
    old: str
    """The model of the other run that it is compared with."""
    difference: Estimate
    """New less old; with anchors, less the shift of the judge."""
    questions: int
    """On how many."""
    missing: float
    """The share of what the other run was asked that has no verdict in this one."""
    missing_before: float
    """The share that has none in the other run."""
    p: float | None = None
    """By Holm's method over the models."""
    level: float = LEVEL
    """Of its Holm step, see `holm`; in a series Dunnett's."""
    false_alarm: float | None = None
    """With a margin: how often an unchanged model would fail it."""
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
    drift: Drift
    """What they say of the judge."""
    wants_anchors: bool = False
    """Whether one of the faults is that the judge may have changed."""

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
    anchors: Panel | None = None,
    level: float | None = None,
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
            questions (their wording), snapshot (of the judge).
        max_missing: the largest share of the verdicts that may be missing beyond those that the
            other run lacks.
        anchors: answers of the other run, judged anew.
        level: of each test in place of Holm's, such as Dunnett's in a series.

    Raises:
        UsageError: the runs are not comparable, or have no model in common.
    """
    notes = _check_alike(new, old, allow)
    news, olds = (outcomes(panel, baseline) for panel in (new, old))
    names = dict(renamed or {})
    if not names and len(news) == len(olds) == 1:
        names = dict(zip(news, olds, strict=True))
    names = names or {name: name for name in news if name in olds}
    if unknown := [f"{a}={b}" for a, b in names.items() if a not in news or b not in olds]:
        present = f"this run has {', '.join(news)}; the other {', '.join(olds)}"
        raise UsageError(f"--compare {unknown[0]}: no such models: {present}")
    new_names = {before: now for now, before in names.items()}
    drift = drift_of(new, old, anchors, baseline=baseline, new_names=new_names)
    rows = [
        compare_model(now, before, news[now], olds[before], new_names, drift)
        for now, before in names.items()
        if models is None or now in models
    ]
    if not rows:
        raise UsageError(NONE_IN_COMMON)
    rows = at_levels(rows, level)
    rows = [
        replace(
            row,
            fault=_fault(row, margin, max_missing),
            false_alarm=None if margin is None else false_alarm(row.difference, margin),
        )
        for row in rows
    ]
    faults = [f"{row.model}: {row.fault}" for row in rows if row.fault]
    for name in [] if renamed else olds:
        if name not in new_names and (models is None or name in models):
            faults.append(f"{name} is missing in this run")
    changed = judge_faults(drift, margin, allowed="snapshot" in allow)
    if drift.snapshots and not changed:
        notes.append(f"the judge {drift.snapshots}")
    return GateResult(tuple(rows), (*faults, *changed), tuple(notes), drift, bool(changed))


def at_levels(rows: Sequence[Gated], level: float | None = None) -> list[Gated]:
    """Return compared models with p and level: by Holm over them, or a level that is given."""
    if level is not None:
        return [replace(row, p=row.difference.p, level=level) for row in rows]
    tested = holm([row.difference.p for row in rows])
    return [
        replace(row, p=test.p, level=test.level) for row, test in zip(rows, tested, strict=True)
    ]


def false_alarm(difference: Estimate, margin: float) -> float | None:
    """Return how often an unchanged model fails a margin, its difference having such an error.

    It fails if T < t − margin / se, T and the quantile t with the degrees of freedom of the error.
    """
    if difference.lower is None:
        return None
    df, se = difference.n - 1, difference.se
    if se == 0:
        return 0.0
    z = t_quantile(1 - LEVEL, df) - margin / se
    tail = t_tails(z, df) / 2
    return tail if z < 0 else 1 - tail


def _fault(row: Gated, margin: float | None, max_missing: float) -> str:
    """Return why a model does not pass; empty if it does."""
    lower, more = row.difference.lower, row.missing - row.missing_before
    if more > max_missing + 1e-12:
        beyond = f" more than there, {percent(row.missing)}," if row.missing_before else ""
        part = f"{percent(more)} of the other run's judgments{beyond} are missing"
        return f"{part}, over {percent(max_missing)}"
    if lower is None:
        common = min(row.questions, row.difference.n)
        return f"only {common} questions in common: no drop would be seen; {LEAST} needed"
    if margin is None:
        return WORSE if row.worse else ""
    if lower < -margin - 1e-12:
        return f"may be worse by {-lower:.2g}, more than the margin of {margin:g}"
    return ""


def judge_faults(drift: Drift, margin: float | None, *, allowed: bool = False) -> list[str]:
    """Return why it is not known that the judge is the same; nothing, if it is, or is corrected."""
    if drift.stale:
        return [f"the judge of the anchors {drift.stale}: judge them anew with --redo"]
    if drift.anchored:
        few = f"anchors on only {drift.shift.n} questions; {LEAST} are needed"
        return [] if drift.known else [few]
    if drift.known:
        limit = "is significant" if margin is None else f"may be over half the margin of {margin:g}"
        return [] if drift.within(margin) else [f"the judge has changed: its shift {limit}"]
    return [f"the judge {drift.snapshots}"] if drift.snapshots and not allowed else []


def compare_model(
    model: str,
    before: str,
    new: Mapping[ItemKey, float],
    old: Mapping[ItemKey, float],
    new_names: Mapping[str, str],
    drift: Drift,
) -> Gated:
    """Return new less old by question, the judge's shift taken out if there are anchors."""
    differences: dict[QuestionId, list[float]] = defaultdict(list)
    others = common = lost = lost_before = 0
    for (question, turn, opponent), value in old.items():
        item = question, turn, new_names.get(opponent, opponent)
        now = new.get(item, math.nan)
        lost += math.isnan(now)
        lost_before += math.isnan(value)
        if math.isnan(now) or math.isnan(value):
            continue
        is_same = (model, item) in drift.same
        common, others = common + 1, others + (not is_same)
        differences[question].append(0.0 if is_same else now - value)
    difference = mean_by_question(differences)
    questions = difference.n
    if drift.anchored and drift.known and common:
        difference = subtract_shift(differences, drift, others / common)
    return Gated(model, before, difference, questions, lost / len(old), lost_before / len(old))


def _reworded(panel: Panel) -> int:
    """Return how many judgments are of questions that were changed since."""
    return sum(n for cause, n in panel.scores.left_out.items() if "question" in cause)


def _check_alike(new: Panel, old: Panel, allow: Collection[str]) -> list[str]:
    """Return a note on each difference that is allowed, and raise on one that is not."""
    if (new.form == "pair") != (old.form == "pair"):
        raise UsageError(PAIRS_AND_OTHERS)
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
    for panel in (new, old):
        if panel.looks is not None:
            text = "a run with --until stopped where it was decided, which favours what was ahead; "
            raise UsageError(f"{text}judge all of it for a gate")
    return allowed_differences(traits, others, allow)


def allowed_differences(
    traits: Mapping[str, str], others: Mapping[str, str], allow: Collection[str]
) -> list[str]:
    """Return a note on each trait that differs in the other run and may.

    Raises:
        UsageError: one differs that may not.
    """
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

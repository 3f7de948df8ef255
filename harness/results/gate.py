"""One run against another: may the model that was judged now take the place of the one before?

    difference = new − old, on what both runs have a verdict on
    with --margin       passes if the lower end of the one-sided 95% interval is not below −margin
    without             passes if the model is not significantly worse (Holm over the models); the
                        smallest drop that would have been seen stands beside it
    always              fails if over 5% of what the other run has is missing

Old 7.9, new 7.8, standard error 0.1 on 80 questions: the lower end is −0.1 − 1.66 · 0.1 = −0.27, so
it passes a margin of 0.3. A run that equals the other passes any. Runs by different judges, judge
sets, scales or samplings are refused unless the difference is allowed by name.

Source: Piaggio et al. 2012, JAMA 308:2594, for non-inferiority by a confidence interval.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.results.compare import ALPHA
from harness.results.estimate import LEAST, Estimate, holm, ratio
from harness.results.panels import Panel
from harness.results.scores import Scores

ALLOWED = ("judge", "judge-set", "scale", "sampling", "score-method", "criterion", "questions")
"""What may differ between two runs if the user allows it."""
MAX_MISSING = 0.05


@dataclass(frozen=True, eq=False)
class Gated:
    """One model of the run compared with the other run."""

    model: str
    old: str
    """The model of the other run that it is compared with."""
    difference: Estimate
    """New less old."""
    p: float | None
    missing: float
    """The share of the other run's verdicts that this one does not have."""
    fault: str = ""
    """Why it does not pass; empty: it passes."""

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse."""
        return self.p is not None and self.p < ALPHA and self.difference.value < 0


@dataclass(frozen=True, eq=False)
class GateResult:
    """A run compared with another one."""

    models: tuple[Gated, ...]
    faults: tuple[str, ...]
    """A line for each reason not to pass."""
    notes: tuple[str, ...]
    """Differences between the runs that were allowed, models that only one of them has."""

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
    max_missing: float = MAX_MISSING,
) -> GateResult:
    """Return how each model of a run compares with the same model, or `renamed`'s, of another.

    Args:
        new: the run in question; its main metric is compared.
        old: the other run.
        margin: how much worse is still as good, in the units of the table.
        renamed: by new name the old one. Runs of a single model each need none.
        models: new names; None: all.
        baseline: of pairs, the opponent of all, which is not in question itself.
        allow: names of `ALLOWED` in which the runs may differ.
        max_missing: the largest share of the other run's verdicts that may be missing.

    Raises:
        UsageError: the runs are not comparable, or have no model in common.
    """
    notes = _check_alike(new, old, allow)
    news, olds = (_outcomes(row.combined.of(metric=row.metrics[0])) for row in (new, old))
    names = dict(renamed or {})
    if not names and len(news) == len(olds) == 1:
        names = {next(iter(news)): next(iter(olds))}
    if unknown := [f"{a}={b}" for a, b in names.items() if a not in news or b not in olds]:
        present = f"this run has {', '.join(news)}; the other {', '.join(olds)}"
        raise UsageError(f"--compare {unknown[0]}: no such models: {present}")
    chosen = [name for name in news if models is None or name in models]
    if renamed:
        chosen = [name for name in chosen if name in renamed]
    matched = {
        model: names.get(model, model)
        for model in chosen
        if model != baseline and names.get(model, model) in olds
    }
    if not matched:
        raise UsageError("the two runs have no model in common; name two with --compare NEW=OLD")
    gone: list[str] = []
    if not renamed:
        known = {*matched.values(), baseline}
        gone = [n for n in olds if n not in known and (models is None or n in models)]
    opponents = {before: now for now, before in names.items()}
    compared = [
        _difference(news[now], olds[before], new.combined, opponents)
        for now, before in matched.items()
    ]
    adjusted = holm([difference.p for difference, _ in compared])
    gated = []
    for (now, before), (difference, lost), p in zip(
        matched.items(), compared, adjusted, strict=True
    ):
        row = Gated(now, before, difference, p, lost)
        gated.append(replace(row, fault=_fault(row, margin, max_missing)))
    faults = [f"{row.model}: {row.fault}" for row in gated if row.fault]
    faults += [f"{model} is missing in this run" for model in gone]
    return GateResult(tuple(gated), tuple(faults), tuple(notes))


def _fault(row: Gated, margin: float | None, max_missing: float) -> str:
    """Return why a model does not pass; empty if it does."""
    lower = row.difference.lower()
    if row.missing > max_missing:
        return f"{row.missing:.0%} of the other run's judgments are missing, over {max_missing:.0%}"
    if lower is None:
        return f"only {row.difference.n} questions in common: no drop would be seen; {LEAST} needed"
    if margin is None:
        return "significantly worse than in the other run" if row.worse else ""
    if lower < -margin - 1e-12:
        return f"may be worse by {-lower:.2g}, more than the margin of {margin:g}"
    return ""


Item = tuple[Any, int, str]
"""Question id, turn and, of pairs, the opponent."""


def _outcomes(scores: Scores) -> dict[str, dict[Item, float]]:
    """Return each model's outcome on each item; NaN where there is no verdict."""
    both = scores.mirrored()
    outcomes: dict[str, dict[Item, float]] = {}
    columns = (both.question, both.turn, both.model, both.opponent, both.value)
    for question, turn, model, opponent, value in zip(*(c.tolist() for c in columns), strict=True):
        name = "" if opponent < 0 else scores.models[opponent]
        item = (scores.questions[question].question_id, turn, name)
        outcomes.setdefault(scores.models[model], {})[item] = value
    return outcomes


def _difference(
    new: Mapping[Item, float], old: Mapping[Item, float], scores: Scores, renamed: Mapping[str, str]
) -> tuple[Estimate, float]:
    """Return new less old by question, and the share of old verdicts that new does not have."""
    before = {
        (question, turn, renamed.get(name, name)): value
        for (question, turn, name), value in old.items()
        if value == value
    }
    now = {item: value for item, value in new.items() if value == value}
    code = {question.question_id: at for at, question in enumerate(scores.questions)}
    sums, counts = np.zeros(len(code)), np.zeros(len(code))
    common = [item for item in before if item in now and item[0] in code]
    for item in common:
        sums[code[item[0]]] += now[item] - before[item]
        counts[code[item[0]]] += 1
    return ratio(sums, counts), 1 - len(common) / len(before) if before else 1.0


def _check_alike(new: Panel, old: Panel, allow: Collection[str]) -> list[str]:
    """Return a note on each difference that is allowed, and raise on one that is not."""
    if unknown := [name for name in allow if name not in ALLOWED]:
        raise UsageError(f"--allow {unknown[0]}: there are {', '.join(ALLOWED)}")
    if (new.form == "pair") != (old.form == "pair"):
        raise UsageError("one run has grades and the other pairs, which cannot be compared")
    reworded = max(new.scores.outdated, old.scores.outdated)
    differ = {
        "judge": (_listed(sorted(new.judges)), _listed(sorted(old.judges))),
        "judge-set": (_set_name(new), _set_name(old)),
        "scale": tuple(str(panel.scale or "") for panel in (new, old)),
        "sampling": (new.sampling, old.sampling),
        "score-method": (new.method, old.method),
        "criterion": (_listed(new.metrics), _listed(old.metrics)),
        "questions": ("", f"{reworded} judgments of another wording" if reworded else ""),
    }
    notes = []
    for name, (here, theirs) in differ.items():
        unstated = name in ("scale", "sampling") and "" in (here, theirs)
        if here == theirs or unstated:
            continue
        what = f"{name} {here or 'of today'} here, {theirs} there"
        if name not in allow:
            raise UsageError(f"the runs are not comparable: {what}; --allow {name} compares them")
        notes.append(f"compared although they differ: {what} (--allow {name})")
    return notes


def _listed(names: Collection[str]) -> str:
    return ", ".join(names)


def _set_name(panel: Panel) -> str:
    return " ".join([panel.judge_set, *panel.versions])

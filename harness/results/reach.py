"""How far a model gets on questions with levels: where half of them are passed.

    P(pass) = 1 / (1 + exp(−slope · (reach − level)))      fitted to all of a model's conversations

Passed at level 4 in 3 of 4, at 6 in 1 of 4: reach 5. The influence of a template is from leaving it
out (`estimate.jackknife`), so templates may be easier or harder than their level says, and a
model's reaches at the same templates are compared template by template. It is a number on the scale
of these templates and of nothing else.

Sources: Cox 1958 for the logistic regression; Finney 1971, Probit Analysis, for the dose of one
half; Tukey 1958 for the jackknife.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.errors import MissingError, UsageError
from harness.results.estimate import (
    Bools,
    Estimate,
    Floats,
    Interval,
    Ints,
    Tested,
    holm,
    jackknife,
    ratio,
)
from harness.results.scores import Scores
from harness.results.strengths import logistic

LOWEST, HIGHEST = 1, 10
_MIDDLE = 5.5


class Attempts(NamedTuple):
    """Conversations of one model: of which template, at which level, passed (1) or not (0)."""

    template: Ints
    level: Floats
    passed: Floats

    def take(self, which: Bools) -> "Attempts":
        """Return some of them."""
        return Attempts(self.template[which], self.level[which], self.passed[which])


@dataclass(frozen=True, eq=False)
class Reach:
    """How far one model gets."""

    model: str
    level: Estimate
    """NaN where no level has an even chance, or the number is outside of the scale."""
    outside: str
    """`under 1`, `over 10`, or `no level`: about half is passed at every level."""
    templates: int
    asked: int
    undecided: int
    """Conversations with an undecided check."""
    shares: dict[int, Estimate]
    """Passed, by level."""
    skills: dict[str, Estimate]
    """By category; without an interval below five templates."""


class Gap(NamedTuple):
    """The reach of one model less that of another, by the templates of both."""

    one: str
    other: str
    difference: Estimate
    tested: Tested

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference at the level of its test."""
        return self.difference.interval_at(self.tested.level)

    @property
    def decided(self) -> bool:
        """Whether that interval excludes no difference."""
        ends = self.interval
        return ends is not None and not ends.low <= 0 <= ends.high


def reaches(passed: Scores) -> list[Reach]:
    """Return the reach of each model, the farthest first.

    Args:
        passed: of `passed.passes`; questions without a template and a level do not count.

    Raises:
        MissingError: no question has a level.
    """
    extras = [question.extra for question in passed.questions]
    has = [bool(extra.get("template")) and _is_level(extra.get("level")) for extra in extras]
    passed = passed.take(np.array(has, dtype=bool)[passed.question])
    if not len(passed):
        raise MissingError(
            "no checked answer is to a question with a `template` and a `level`; "
            "run_bench --levels --model NAME asks such questions"
        )
    names = list(dict.fromkeys(str(e["template"]) for e, ok in zip(extras, has, strict=True) if ok))
    template = np.array(
        [names.index(str(e["template"])) if ok else -1 for e, ok in zip(extras, has, strict=True)]
    )
    level = np.array(
        [float(e["level"]) if ok else math.nan for e, ok in zip(extras, has, strict=True)]
    )
    categories = [question.category for question in passed.questions]
    found = []
    for model in passed.models_present:
        own = passed.of(models=[model])
        good = own.take(own.valid)
        tried = Attempts(template[good.question], level[good.question], good.value)
        estimate, outside = reach_of(tried, len(names))
        skill = np.array([categories[code] for code in good.question.tolist()])
        found.append(
            Reach(
                model,
                estimate,
                outside,
                len(np.unique(tried.template)),
                len(good),
                len(own) - len(good),
                _shares(tried, len(names)),
                {
                    name: reach_of(tried.take(skill == name), len(names))[0]
                    for name in dict.fromkeys(skill.tolist())
                },
            )
        )
    return sorted(found, key=_order)


def _is_level(value: object) -> bool:
    return isinstance(value, int) and LOWEST <= value <= HIGHEST


def _order(reach: Reach) -> tuple[float, str]:
    ends = {"under": LOWEST - 1.0, "over": HIGHEST + 1.0, "no": -1.0}
    value = ends[reach.outside.split()[0]] if reach.outside else reach.level.value
    return -value, reach.model


def reach_of(tried: Attempts, templates: int) -> tuple[Estimate, str]:
    """Return where half is passed, with influences by template, and the words if there is none."""
    present = np.unique(tried.template)
    influence = np.full(templates, np.nan)
    nothing = Estimate(math.nan, influence)
    if not len(present):
        return nothing, "no level"
    if tried.passed.all():
        return nothing, f"over {tried.level.max():.0f}"
    if not tried.passed.any():
        return nothing, f"under {tried.level.min():.0f}"
    place = np.searchsorted(present, tried.template)

    def fit(keep: Bools) -> float:
        return _half(tried.take(keep[place]))

    estimate = jackknife(fit, len(present))
    if math.isnan(estimate.value):
        return nothing, _without_slope(tried, len(present), place)
    if not LOWEST <= estimate.value <= HIGHEST:
        return nothing, f"under {LOWEST}" if estimate.value < LOWEST else f"over {HIGHEST}"
    if not np.isnan(estimate.influence).any():  # else a template carries the fit: no interval
        influence[present] = estimate.influence
    return Estimate(estimate.value, influence, len(tried.passed)), ""


def _without_slope(tried: Attempts, templates: int, place: Ints) -> str:
    """Return where the reach lies if passes do not become fewer: outside of what was asked."""
    counts = np.bincount(place, minlength=templates)
    share = ratio(np.bincount(place, tried.passed, templates), counts, share=True)
    ends = share.interval
    if ends is None or ends.low <= 0.5 <= ends.high:
        return "no level"
    return (
        f"over {tried.level.max():.0f}" if share.value > 0.5 else f"under {tried.level.min():.0f}"
    )


def _half(tried: Attempts) -> float:
    """Return the level with an even chance; NaN: passes do not become fewer with the level."""
    features = np.stack([np.ones(len(tried.level)), _MIDDLE - tried.level], axis=1)
    try:
        (height, slope), _ = logistic(features, tried.passed, np.zeros_like(tried.template), 1)
    except UsageError:  # no overlap: everything is passed up to a level and nothing above
        good, bad = tried.level[tried.passed == 1], tried.level[tried.passed == 0]
        if not len(good) or not len(bad) or good.max() > bad.min():
            return math.nan
        if good.max() < bad.min():
            return float(good.max() + bad.min()) / 2
        return float(good.max() + tried.passed[tried.level == good.max()].mean() - 0.5)
    return _MIDDLE + float(height / slope) if slope > 0 else math.nan


def _shares(tried: Attempts, templates: int) -> dict[int, Estimate]:
    shares = {}
    for level in np.unique(tried.level).tolist():
        at = tried.take(tried.level == level)
        counts = np.bincount(at.template, minlength=templates)
        sums = np.bincount(at.template, at.passed, templates)
        shares[int(level)] = ratio(sums, counts, share=True)
    return shares


def gaps(found: Sequence[Reach]) -> list[Gap]:
    """Return the differences of each two models that have a level; Holm over all of them."""
    inside = [reach for reach in found if not reach.outside]
    pairs = [(one, other) for at, one in enumerate(inside) for other in inside[at + 1 :]]
    differences = [one.level - other.level for one, other in pairs]
    tests = holm([difference.p for difference in differences])
    return [
        Gap(one.model, other.model, difference, tested)
        for (one, other), difference, tested in zip(pairs, differences, tests, strict=True)
    ]

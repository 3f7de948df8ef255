"""What changed between two models or two runs, verdict by verdict, and what noise alone would give.

    question 81, turn 1: from 8 to 5          got worse by 3
    22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way

Noise is how often two verdicts of a judge on one and the same answer are as far apart: those of
samples (`--samples`), and those of both runs on answers that they share. Of n verdicts that are
compared it gives n · share / 2 each way.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from harness.results.drift import ItemKey, Outcomes, drift_of, outcomes
from harness.results.panels import Panel
from harness.types import QuestionId

FEWEST = 20
"""Verdicts given twice below which nothing is said of noise."""


class Change(NamedTuple):
    """A verdict then and now."""

    question: QuestionId
    turn: int
    model: str
    opponent: str
    """Of pairs; else empty."""
    old: float
    new: float

    @property
    def by(self) -> float:
        """How much more it is now."""
        return self.new - self.old


@dataclass(frozen=True)
class Noise:
    """How far two verdicts on one answer are apart."""

    differences: Sequence[float] = ()

    def each_way(self, count: int, least: float) -> float | None:
        """Return how many of so many verdicts noise alone moves up, and as many down.

        None: there are too few verdicts that were given twice.

        >>> Noise([0.0, 1.0, -1.0, 0.0] * 5).each_way(80, 1.0)
        20.0
        """
        if len(self.differences) < FEWEST:
            return None
        far = sum(has_moved(difference, least) for difference in self.differences)
        return count * far / len(self.differences) / 2


@dataclass(frozen=True)
class Changes:
    """What both have a verdict on."""

    items: Sequence[Change]
    least: float
    """The smallest change that counts; 0: any."""
    noise: Noise

    @property
    def worse(self) -> list[Change]:
        """Those that got worse, the worst first."""
        moved = [item for item in self.items if item.by < 0 and has_moved(item.by, self.least)]
        return sorted(moved, key=lambda item: item.by)

    @property
    def better(self) -> list[Change]:
        """Those that got better, the best first."""
        moved = [item for item in self.items if item.by > 0 and has_moved(item.by, self.least)]
        return sorted(moved, key=lambda item: -item.by)


def has_moved(difference: float, least: float) -> bool:
    """Return whether a difference counts as a change."""
    return difference != 0 and abs(difference) >= least


def least_of(panel: Panel) -> float:
    """Return the smallest change that counts: of grades a whole point, else any."""
    return 1.0 if panel.form in ("grade", "dimensions") else 0.0


def changes_of_models(panel: Panel, old: str, new: str) -> Changes:
    """Return what changes from one model's verdicts to another's."""
    found = outcomes(panel, None)
    items = {
        model: {
            (question, turn, opponent): value
            for (question, turn, opponent), value in found.get(model, {}).items()
            if opponent not in (old, new)
        }
        for model in (old, new)
    }
    noise = Noise(_between_samples(panel))
    return Changes(_compared(new, items[old], items[new]), least_of(panel), noise)


def changes_of_runs(new: Panel, old: Panel, baseline: str | None = None) -> Changes:
    """Return what changes from another run's verdicts on the same models to these.

    Pairs are seen from the model that is not the baseline; without one, from the first by name.
    """
    then, now = outcomes(old, baseline), outcomes(new, baseline)
    items = [
        change
        for model in now
        if model in then
        for change in _compared(model, then[model], now[model])
        if baseline is not None or not change.opponent or model < change.opponent
    ]
    return Changes(items, least_of(new), noise_between(new, old, baseline))


def noise_between(new: Panel, old: Panel, baseline: str | None = None) -> Noise:
    """Return how far verdicts on the same answers are apart, in and between two runs."""
    twice = drift_of(new, old, None, baseline=baseline, new_names={}).differences.values()
    between = [difference for differences in twice for difference in differences]
    return Noise([*between, *_between_samples(new), *_between_samples(old)])


def _compared(
    model: str, then: Mapping[ItemKey, float], now: Mapping[ItemKey, float]
) -> list[Change]:
    """Return the items that have a verdict in both."""
    return [
        Change(*item[:2], model, item[2], then[item], value)
        for item, value in now.items()
        if value == value and item in then and then[item] == then[item]
    ]


def _between_samples(panel: Panel) -> list[float]:
    """Return how far each two neighbouring samples of a judge are apart on the same answers."""
    samples = np.array([source.sample for source in panel.scores.sources])
    tables: list[Outcomes] = []
    for sample in sorted({source.sample for source in panel.scores.sources_present.values()}):
        scores = panel.scores.take((samples == sample)[panel.scores.source])
        tables.append(outcomes(replace(panel, scores=scores), None))
    return [
        change.by
        for first, second in itertools.pairwise(tables)
        for model in first
        if model in second
        for change in _compared(model, first[model], second[model])
    ]

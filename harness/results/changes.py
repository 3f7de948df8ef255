"""What changed between two models or two runs, verdict by verdict, and what noise alone would give.

    question 81, turn 1: from 8 to 5          got worse by 3
    22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way

Verdicts of each form (grades, pairs) are counted for themselves: what they are out of differs.
Each judgment counts by itself. It is compared with what the same judge said then in the same sample
(`--samples`), or with the mean of all its samples or of all judges where there is none such; a pair
is seen from the model that its row names first.

Noise is how often two verdicts of a judge on one and the same answer are as far apart: those of
samples (`--samples`), and those of both runs on answers that they share. Of n verdicts that are
compared it gives n · share / 2 each way.
"""

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.results.agreement import RatedItem, items, mean_verdicts
from harness.results.drift import Outcomes, drift_of, outcomes
from harness.results.panels import Panel, most_alike
from harness.results.scores import Form, Scores
from harness.types import QuestionId

Runs: TypeAlias = Sequence[tuple[Panel, Panel]]
"""Panels of this run, each with the one of the other run that is most like it."""
FEWEST = 20
"""Verdicts given twice below which nothing is said of noise."""


class Change(NamedTuple):
    """A verdict then and now."""

    row: int
    """Of the verdict now, as in `Scores.row`."""
    question: QuestionId
    turn: int
    judge: str
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
    """What both have a verdict on, of one form."""

    form: Form
    items: Sequence[Change]
    noise: Noise

    @property
    def least(self) -> float:
        """The smallest change that counts; 0: any."""
        return least_of(self.form)

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


def least_of(form: Form) -> float:
    """Return the smallest change that counts: of grades a whole point, else any."""
    return 1.0 if form in ("grade", "dimensions") else 0.0


def changes_of_models(panels: Iterable[Panel], old: str, new: str) -> list[Changes]:
    """Return what changes from one model's verdicts to another's, by form."""
    by_form: dict[Form, Changes] = {}
    for panel in _by_judges(panels):
        scores = panel.scores.main()
        own = scores.mirrored()
        against_old = np.array([name == old for name in (*own.models, "")])[own.opponent]
        is_new = np.array([name == new for name in own.models], dtype=bool)[own.model]
        found = list(_compared(own.take(is_new & ~against_old), scores, old, new))
        known = by_form.get(panel.form, Changes(panel.form, [], Noise()))
        noise = Noise([*known.noise.differences, *_between_samples(panel)])
        by_form[panel.form] = Changes(panel.form, [*known.items, *found], noise)
    return [changes for changes in by_form.values() if changes.items]


def changes_of_runs(runs: Runs, baseline: str | None = None) -> list[Changes]:
    """Return what changes from another run's verdicts to these, by form."""
    items: dict[Form, list[Change]] = {}
    for new, old in runs:
        items.setdefault(new.form, []).extend(verdict_changes(new, old))
    return [
        Changes(form, found, noise_between(runs, form, baseline))
        for form, found in items.items()
        if found
    ]


def both_runs(new: Iterable[Panel], old: Iterable[Panel]) -> Runs:
    """Return the judges' panels of two runs that are alike, those of this run first."""
    others = list(old)
    alike = [(panel, most_alike(panel, others)) for panel in _by_judges(new) if others]
    return [(panel, other) for panel, other in alike if panel.form == other.form]


def _by_judges(panels: Iterable[Panel]) -> list[Panel]:
    return [panel for panel in panels if panel.is_judged]


def verdict_changes(new: Panel, old: Panel) -> Iterator[Change]:
    """Yield each verdict that has one on the same item in another run."""
    return _compared(new.scores.main(), old.scores.main())


def noise_between(
    runs: Runs, form: Form, baseline: str | None = None, judges: Collection[str] = ()
) -> Noise:
    """Return how far a judge's verdicts on the same answers are apart, in and between two runs.

    Args:
        runs: panels of this run, each with that of the other.
        form: of the verdicts that count.
        baseline: of pairs, the opponent of all; without one, none of both runs are compared.
        judges: those that count; none named: all.
    """
    found: list[float] = []
    for new, old in runs:
        for judge in new.judges if new.form == form else ():
            if judges and judge not in judges:
                continue
            now, then = new.alone(judge), old.alone(judge)
            twice = drift_of(now, then, None, baseline=baseline, new_names={}).differences.values()
            found += [difference for differences in twice for difference in differences]
            found += [*_between_samples(now), *_between_samples(then)]
    return Noise(found)


def _compared(scores: Scores, then: Scores, old: str = "", new: str = "") -> Iterator[Change]:
    """Yield the entries that have an earlier verdict; the model `new` was called `old` then."""
    judges = {source.judge for source in then.sources_present.values()}
    samples = np.array([source.sample for source in then.sources], dtype=int)

    @functools.cache
    def earlier(judge: str, metric: str, sample: int) -> dict[RatedItem, float]:
        every = then.of(judges=[judge] if judge in judges else None, metric=metric)
        same = every.take(samples[every.source] == sample)
        return mean_verdicts(same if len(same) else every)

    names = (*scores.models, "")
    columns = (scores.row, scores.turn, scores.model, scores.opponent, scores.value)
    kinds = (scores.source, scores.metric)
    for (row, turn, code, other, value, source, metric), item in zip(
        zip(*(column.tolist() for column in (*columns, *kinds)), strict=True),
        items(scores),
        strict=True,
    ):
        model, opponent, made_by = names[code], names[other], scores.sources[source]
        name = old if model == new else model
        models = tuple(sorted((name, opponent))) if opponent else (name,)
        verdicts = earlier(made_by.judge, scores.metrics[metric], made_by.sample)
        before = verdicts.get(item._replace(models=models))
        if before is None or value != value:
            continue
        before = before if models[0] == name else 1 - before
        yield Change(row, item.question, turn, made_by.judge, model, opponent, before, value)


def _between_samples(panel: Panel) -> list[float]:
    """Return how far each two neighbouring samples of each judge are apart on the same answers."""
    return [
        now[model][item] - value
        for judge in panel.judges
        for then, now in itertools.pairwise(_by_sample(panel.alone(judge)))
        for model in then.keys() & now.keys()
        for item, value in then[model].items()
        if item in now[model] and value == value and now[model][item] == now[model][item]
    ]


def _by_sample(panel: Panel) -> list[Outcomes]:
    samples = np.array([source.sample for source in panel.scores.sources])
    present = sorted({source.sample for source in panel.scores.sources_present.values()})
    parts = [panel.scores.take((samples == sample)[panel.scores.source]) for sample in present]
    return [outcomes(replace(panel, scores=scores), None) for scores in parts]

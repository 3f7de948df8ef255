"""A curve over checkpoints: which step is the best, and how much worse the others are at least.

    base-step500 7.1, base-step1000 8.3, base-step1500 8.2, base-step2000 7.0

Which step came out best is itself an estimate, so the best is compared with the others as a whole:

    for every two steps  |difference found − true difference| ≤ c · s    c of t at 5% / (k − 1)
    G                    the steps that no other is better than by more than c · s
    step i is worse than the best by at least   min over b in G of (b − i − c·s), but not below 0
                                  and at most   max over b in G of (b − i + c·s)

The true best is in G whenever its k − 1 differences hold, and then all sentences are true together,
in 95% of cases; the observed peak less its ordinary interval is wrong in some 20%. Differences are
paired by question. The number in a name gives the order, never the evidence.

Sources: Edwards and Hsu 1983 (JASA 78:965) and Hsu 1984 (Annals of Statistics 12:1136), multiple
comparisons with the best; Bonferroni's c, since differences of checkpoints depend on each other.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.errors import MissingError
from harness.results.compare import compare
from harness.results.estimate import LEAST, LEVEL
from harness.results.scores import Scores

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kKmMbB](?![A-Za-z]))?")
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
FEWEST = 3
"""Steps of a curve."""


class Step(NamedTuple):
    """A model whose name has a number that the others of its curve have otherwise."""

    number: float
    model: str


class Behind(NamedTuple):
    """By how much a step is worse than the best, all steps of a curve at once."""

    least: float
    """0: it may be the best."""
    most: float


@dataclass(frozen=True)
class Trend:
    """A curve."""

    steps: tuple[Step, ...]
    """By their numbers."""
    behind: dict[str, Behind]
    """By model."""
    possible: tuple[Step, ...]
    """The steps that may be the best."""


def curves(models: Iterable[str]) -> list[list[Step]]:
    """Return the models whose names differ in one number alone, by that number.

    >>> curves(["run-2-step1k", "gpt-4", "run-2-step500", "run-2-step2000"])
    [[Step(number=500.0, model='run-2-step500'), Step(number=1000.0, model='run-2-step1k'), \
Step(number=2000.0, model='run-2-step2000')]]
    """
    by_rest: dict[tuple[str, ...], list[Step]] = {}
    for model in models:
        for match in _NUMBER.finditer(model):
            number = float(match[1]) * _UNITS[(match[2] or "").lower()]
            rest = model[: match.start()], model[match.end() :]
            by_rest.setdefault(rest, []).append(Step(number, model))
    found = [sorted(steps) for steps in by_rest.values()]
    return [steps for steps in found if len({step.number for step in steps}) >= FEWEST]


def compare_steps(scores: Scores, steps: Sequence[Step], *, drawn: bool = False) -> Trend:
    """Return a curve: what may be said of its steps at once.

    Raises:
        MissingError: two of the steps have too few questions in common.
    """
    names = [step.model for step in steps]
    compared = compare(scores, names, drawn=drawn)
    level = LEVEL / (len(names) - 1)
    ends: dict[tuple[str, str], tuple[float, float]] = {}
    for one in names:
        for other in names:
            if one == other:
                continue
            difference = compared.between(one, other).difference
            if difference.n < LEAST:
                raise MissingError(
                    f"{one} and {other} have {difference.n} questions in common that were judged; "
                    f"a comparison takes {LEAST}"
                )
            interval = difference.interval_at(level)  # None: all questions say the same
            ends[one, other] = interval or (difference.value, difference.value)
    possible = [b for b in names if all(ends[b, j][1] >= 0 for j in names if j != b)]
    behind = {}
    for name in names:
        of_best = [ends[b, name] if b != name else (0.0, 0.0) for b in possible]
        least, most = (f(end[at] for end in of_best) for at, f in enumerate((min, max)))
        behind[name] = Behind(max(least, 0.0), max(most, 0.0))
    best = tuple(step for step in steps if step.model in possible)
    return Trend(tuple(steps), behind, best)

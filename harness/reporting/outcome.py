"""The first sentences of a page of results: who is better, on what, by how much, how sure.

    gpt-4 is the best of 8 models on 80 questions: 8.99 of 10, better than each of the others.
    gpt-3.5-turbo and claude-v1 share ranks 2 and 3: too close to call, where a difference under
    0.64 would not have been seen.

"Too close to call" always stands beside the difference that would have been seen. Grades and pairs
are in one sentence if they say the same, else in two, pairs first.
"""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.reporting.page import rounded
from harness.results import Estimate, Ranking
from harness.words import counted, first_lines, listed

REST = "{} more: see the table."
"""After the first of many sentences."""
UNSEEN = "would not have been seen"


class Measure(NamedTuple):
    """What the numbers are, and how sentences and tables write them."""

    kind: Literal["grades", "pairs", "labels", "numbers"]
    scale: tuple[float, float] | None = None
    """The least and the greatest number that there can be."""
    noun: str = ""
    """What a number is of: `correct` (default: the greatest grade, `of 10`)."""
    places: int = 2
    percent: bool = False
    """Whether shares are written in percent."""

    @property
    def form(self) -> str:
        """How a column writes them, see `Column.format`."""
        return f"{'%' if self.percent else ''}.{self.places}"

    def value(self, number: float) -> str:
        """Return a number alone: 46%, 7.28."""
        return self._digits(number) + "%" * self.percent

    def values(self, *numbers: float) -> str:
        """Return some numbers with what they are: 7.28 and 7.01 of 10, 46% and 41% correct."""
        words = listed(list(map(self.value, numbers)))
        if self.kind == "pairs":
            return f"win rate{'s' if len(numbers) > 1 else ''} {words}"
        top = f"of {self.scale[1]:g}" if self.kind == "grades" and self.scale else ""
        return f"{words} {self.noun or top}".rstrip()

    def gap(self, size: float) -> str:
        """Return a difference: 15 points, 0.41."""
        digits = self._digits(size)
        return digits + (" point" if digits == "1" else " points") * self.percent

    def ends(self, estimate: Estimate) -> str:
        """Return an interval in brackets after a blank; nothing where there is none."""
        if (interval := estimate.interval) is None:
            return ""
        return f" ({self._digits(interval.low)} to {self._digits(interval.high)})"

    def change(self, difference: Estimate) -> str:
        """Return a difference with its interval."""
        return self.gap(difference.value) + self.ends(difference)

    def _digits(self, number: float) -> str:
        return rounded(number, self.places, 2 if self.percent else 0)


@dataclass(frozen=True)
class Evidence:
    """All that is said of one column of judgments."""

    measure: Measure
    ranking: Ranking
    questions: int
    baseline: str | None = None
    """The model that all are compared with, if it is not ranked itself."""
    equal_length: float | None = None
    """The one model's win rate at equal length."""
    name: str = ""
    """The criterion or metric, where there are several."""

    def sharing(self, rank: int) -> list[str]:
        """Return the models that may have a rank or a better one, the best first."""
        ranks = self.ranking.ranks
        return [name for name in self.ranking.names if ranks[name].first <= rank]

    @property
    def head_to_head(self) -> bool:
        """Whether these are the pairs of two models, whose win rates add up to 1."""
        pairs = self.measure.kind == "pairs"
        return pairs and len(self.ranking.names) == 2 and not self.baseline

    def value(self, model: str) -> Estimate:
        """Return a model's number."""
        return next(row.mean for row in self.ranking.models if row["model"] == model)

    def values(self, *models: str) -> str:
        """Return the numbers of some models."""
        return self.measure.values(*(self.value(model).value for model in models))

    def with_interval(self, model: str) -> str:
        """Return a model's number with its interval."""
        return self.values(model) + self.measure.ends(self.value(model))

    def unseen(self, models: Sequence[str]) -> str:
        """Return which difference between these models would not have been seen."""
        between = self.ranking.comparisons.between
        differences = [between(*pair).difference for pair in itertools.combinations(models, 2)]
        sizes = [size for difference in differences if (size := difference.detectable) is not None]
        if not sizes:
            return f"{counted(self.questions, 'question')} are too few to tell them apart"
        size = statistics.median(sizes)
        gap = ("about " if len(sizes) > 1 else "") + self.measure.gap(size)
        if self.ranking.strengths:
            gap = f"{rounded(size, 0)} rating points"
        return f"where a difference under {gap} {UNSEEN}"

    def close(self, models: Sequence[str]) -> str:
        """Return that models are too close to call."""
        return f"too close to call, {self.unseen(models)}"


def outcomes(evidence: Sequence[Evidence]) -> str:
    """Return a paragraph for each of the first criteria or metrics."""
    return "\n".join(first_lines([f"{item.name}: {outcome([item])}" for item in evidence], 3, REST))


def outcome(evidence: Sequence[Evidence]) -> str:
    """Return the sentences; pairs first where both kinds are there."""
    order = [item for item in evidence if item.ranking.names]
    order.sort(key=lambda item: item.measure.kind != "pairs")
    sentences: list[str] = []
    main = ""
    for item in order:
        claim, numbers, rest = _claim(item)
        by = "in pairs" if item.measure.kind == "pairs" else f"by {item.measure.kind}"
        if not main:
            main = claim
            claim += f" {by}" * (len(order) > 1) + f" on {counted(item.questions, 'question')}"
        else:
            claim = claim.removeprefix(f"{listed(item.ranking.names)} are ")
            claim = f"{by.capitalize()} {'too' if claim == main else claim}"
        sentences += [f"{claim}: {numbers}.", rest]
    return " ".join(filter(None, sentences)) or "There are no verdicts yet."


def _claim(evidence: Evidence) -> tuple[str, str, str]:
    """Return who is what, the numbers that say so, and a sentence about the next models."""
    ranking, measure = evidence.ranking, evidence.measure
    names, best, worst, first = ranking.names, ranking.best, ranking.worst, evidence.sharing(1)
    if len(names) == 1:
        if evidence.baseline:
            return *_against(evidence, names[0]), ""
        return names[0], evidence.with_interval(names[0]), ""
    if len(names) == 2 and best and worst:
        change = measure.change(ranking.comparisons.between(best, worst).difference)
        numbers = f"{evidence.values(best, worst)}, a difference of {change}"
        numbers = evidence.with_interval(best) if evidence.head_to_head else numbers
        return f"{best} is better than {worst}", numbers, ""
    if len(names) == 2:
        if not ranking.comparisons.between(*names).questions:
            return f"{listed(names)} cannot be compared", "no question has verdicts on both", ""
        numbers = f"{evidence.values(*names)}, {evidence.unseen(names)}"
        return f"{listed(names)} are too close to call", numbers, ""
    many = f"of {len(names)} models"
    if best:
        second = evidence.sharing(2)[1:]
        rest = "" if len(second) < 2 else f"{_sharing(second, 2)}: {evidence.close(second)}."
        numbers = f"{evidence.values(best)}, better than each of the others"
        return f"{best} is the best {many}", numbers, rest
    if worst:
        rest = f"{_sharing(first, 1)}: {evidence.close(first)}."
        if len(first) == 2:
            numbers = f"{evidence.values(*first)}, {evidence.unseen(first)}"
            rest = f"{listed(first)} are too close to call: {numbers}."
        return f"{worst} is last {many}", evidence.values(worst), rest
    if len(first) == len(names):
        span = evidence.values(names[0], names[-1]).replace(" and ", " to ")
        numbers = f"{span}, {evidence.unseen(names)}"
        return f"The {len(names)} models are too close to call", numbers, ""
    return f"{_sharing(first, 1)} {many}", evidence.close(first), ""


def _against(evidence: Evidence, model: str) -> tuple[str, str]:
    """Return how one model does against the baseline."""
    estimate, measure = evidence.value(model), evidence.measure
    low, high = estimate.interval or (0.0, 1.0)
    verb = "beats" if low > 0.5 else "loses to" if high < 0.5 else "is too close to call with"
    rate = evidence.with_interval(model)
    if evidence.equal_length is not None:
        rate = f"it would win {measure.value(evidence.equal_length)} at equal length, and wins "
        rate += f"{measure.value(estimate.value)}{measure.ends(estimate)} as judged"
    if verb.startswith("is") and (size := estimate.detectable) is not None:
        rate += f", where less than {measure.gap(size)} from one half {UNSEEN}"
    return f"{model} {verb} {evidence.baseline}", rate


def _sharing(models: Sequence[str], first: int) -> str:
    last = first + len(models) - 1
    return f"{listed(models)} share ranks {first} {'and' if len(models) == 2 else 'to'} {last}"

"""The first sentences of a page of results: who is better, on what, by how much, how sure.

    gpt-4 is the best of 8 models on 80 questions: 8.99 of 10, better than each of the others.
    gpt-3.5-turbo and claude-v1 share ranks 2 and 3: too close to call, where a difference under
    0.64 would not have been seen.

"Too close to call" always stands beside the difference that would have been seen. Grades and pairs
are in one sentence if they say the same, else in two, pairs first.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.reporting.page import counted, listed, percent, rounded
from harness.results import Estimate, Ranking

_MANY_FLIPS = 1 / 3
"""The share of flips above which they are said in words."""


class Measure(NamedTuple):
    """What the numbers are, and how a sentence writes them."""

    kind: Literal["grades", "pairs", "labels", "numbers"]
    top: float | None = None
    """The greatest grade."""
    noun: str = ""
    """What a number is of: `correct`, `bleu`."""
    places: int = 2

    percent: bool = False
    """Whether shares are written in percent."""

    def value(self, number: float) -> str:
        """Return a number as it stands in a list: 46%, 7.28."""
        return percent(number, self.places) if self.percent else rounded(number, self.places)

    def values(self, numbers: Sequence[float]) -> str:
        """Return some numbers with what they are: 7.28 and 7.01 of 10."""
        words = listed([self.value(number) for number in numbers])
        if self.kind == "grades" and self.top is not None:
            return f"{words} of {self.top:g}"
        if self.kind == "pairs":
            return f"win rate{'s' if len(numbers) > 1 else ''} {words}"
        return f"{words} {self.noun}".rstrip()

    def gap(self, size: float) -> str:
        """Return a difference: 15 points, 0.41."""
        if not self.percent:
            return rounded(size, self.places)
        points = rounded(size, self.places, 2)
        return "1 point" if points == "1" else f"{points} points"

    def ends(self, estimate: Estimate) -> str:
        """Return an interval in brackets after a blank; nothing where there is none."""
        if (interval := estimate.interval) is None:
            return ""
        scale = 2 if self.percent else 0
        return f" ({' to '.join(rounded(end, self.places, scale) for end in interval)})"


@dataclass(frozen=True)
class Evidence:
    """All that is said of one kind of judgments."""

    measure: Measure
    ranking: Ranking
    questions: int
    noun: str = "question"
    """What the questions are called."""
    baseline: str = ""
    """The model that all are compared with, if it is not ranked itself."""
    equal_length: float | None = None
    """The one model's win rate at equal length."""
    name: str = ""
    """The criterion or metric, where there are several."""

    @property
    def finding(self) -> tuple[str, ...]:
        """What it shows: `better a b`, `best a`, `last a`, `close a b …`, `one a`, `apart a b`."""
        ranking, names = self.ranking, self.ranking.names
        if len(names) == 1:
            return "one", names[0]
        if len(names) == 2:
            pair = ranking.comparisons.between(*names)
            if not pair.questions:
                return "apart", *sorted(names)
            return ("better", *names) if pair.better else ("close", *sorted(names))
        if ranking.best is not None:
            return "best", ranking.best
        if ranking.worst is not None:
            return "last", ranking.worst
        return "close", *sorted(self.sharing(1))

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

    def values(self, models: Sequence[str]) -> str:
        """Return the numbers of some models."""
        return self.measure.values([self.value(model).value for model in models])

    def with_interval(self, model: str) -> str:
        """Return a model's number with its interval."""
        return self.values([model]) + self.measure.ends(self.value(model))

    def unseen(self, models: Sequence[str]) -> str:
        """Return which difference between these models would have been seen."""
        between = self.ranking.comparisons.between
        sizes = [
            size
            for at, one in enumerate(models)
            for other in models[at + 1 :]
            if (size := between(one, other).difference.detectable) is not None
        ]
        if not sizes:
            return f"{counted(self.questions, self.noun)} are too few to tell them apart"
        if self.head_to_head:
            sizes = [size / 2 for size in sizes]  # a difference of win rates that add up to 1
            return f"where less than {self.measure.gap(sizes[0])} from one half {_UNSEEN}"
        about = "about " if len(sizes) > 1 else ""
        typical = self.measure.gap(statistics.median(sizes))
        if self.ranking.strengths:
            typical = f"{rounded(statistics.median(sizes), 0)} rating points"
        return f"where a difference under {about}{typical} {_UNSEEN}"


_UNSEEN = "would not have been seen"


def outcomes(evidence: Sequence[Evidence], most: int = 3) -> str:
    """Return a paragraph for each criterion or metric, and how many more there are."""
    lines = [f"{item.name}: {outcome([item])}" for item in evidence[:most]]
    if len(evidence) > most:
        lines.append(f"{len(evidence) - most} more: see the table.")
    return "\n".join(lines)


def outcome(evidence: Sequence[Evidence]) -> str:
    """Return the sentences; pairs first where both kinds are there."""
    order = sorted(evidence, key=lambda item: item.measure.kind != "pairs")
    order = [item for item in order if item.ranking.names]
    if not order:
        return "There are no verdicts yet."
    first, *others = order
    sentences = [_first(first, f" {_by(first)}" if others else "")]
    sentences += [_also(item, agrees=item.finding == first.finding) for item in others]
    return " ".join(sentences)


def _by(evidence: Evidence) -> str:
    return "in pairs" if evidence.measure.kind == "pairs" else f"by {evidence.measure.kind}"


def _first(evidence: Evidence, by: str) -> str:
    """Return the sentences about the first kind of judgments."""
    kind, *who = evidence.finding
    names = evidence.ranking.names
    on = f"{by} on {counted(evidence.questions, evidence.noun)}"
    if kind == "one" and evidence.baseline:
        return _against(evidence, who[0], on)
    if kind == "one":
        return f"{who[0]} has {evidence.with_interval(who[0])}{on}."
    if kind == "apart":
        return f"{who[0]} and {who[1]} cannot be compared{by}: no question has verdicts on both."
    if kind == "better":
        return f"{who[0]} is better than {who[1]}{on}: {_by_how_much(evidence)}."
    if kind == "close" and len(names) == 2:
        return f"{names[0]} and {names[1]} are too close to call{on}: {_close(evidence)}."
    of = f"of {len(names)} models{on}"
    if kind == "best":
        better = f"{evidence.values(who)}, better than each of the others"
        return f"{who[0]} is the best {of}: {better}.{_next(evidence)}"
    if kind == "last":
        return f"{who[0]} is last {of}. {_shared(evidence)}"
    if len(who) == len(names):
        most = evidence.measure.value(evidence.value(names[0]).value)
        span = f"{most} to {evidence.values(names[-1:])}"
        return (
            f"The {len(names)} models are too close to call{on}: {span}, {evidence.unseen(names)}."
        )
    return _shared(evidence, f" {of}")


def _against(evidence: Evidence, model: str, on: str) -> str:
    """Return how one model does against the baseline."""
    estimate = evidence.value(model)
    low, high = estimate.interval or (0.0, 1.0)
    verb = "beats" if low > 0.5 else "loses to" if high < 0.5 else "is too close to call with"
    rate = evidence.with_interval(model)
    if evidence.equal_length is not None:
        ends = evidence.measure.ends(estimate)
        equal = evidence.measure.value(evidence.equal_length)
        rate = (
            f"it would win {equal} at equal length, and wins "
            f"{evidence.measure.value(estimate.value)}{ends} as judged"
        )
    unseen = ""
    if verb.startswith("is") and (size := estimate.detectable) is not None:
        unseen = f", where less than {evidence.measure.gap(size)} from one half {_UNSEEN}"
    return f"{model} {verb} {evidence.baseline}{on}: {rate}{unseen}."


def _also(evidence: Evidence, *, agrees: bool) -> str:
    """Return the sentence about the second kind of judgments."""
    kind, *who = evidence.finding
    by = _by(evidence).capitalize()
    if kind == "one":
        return f"{by}: {evidence.with_interval(who[0])}."
    if kind == "apart":
        return f"{by} they cannot be compared."
    if kind == "better":
        return f"{by} {'too' if agrees else f'{who[0]} is better'}: {_by_how_much(evidence)}."
    if len(evidence.ranking.names) == 2:
        return f"{by} too close to call{' too' if agrees else ''}: {_close(evidence)}."
    if kind == "best":
        best = "too" if agrees else f"{who[0]} is"
        return f"{by} {best}: {evidence.values(who)}.{_next(evidence)}"
    if kind == "last":
        return f"{by} {'too' if agrees else f'{who[0]} is last'}. {_shared(evidence)}"
    return f"{by} {_shared(evidence)}"


def _by_how_much(evidence: Evidence) -> str:
    one, other = evidence.ranking.names
    if evidence.head_to_head:
        return evidence.with_interval(one)
    difference = evidence.ranking.comparisons.between(one, other).difference
    gap = evidence.measure.gap(difference.value) + evidence.measure.ends(difference)
    return f"{evidence.values([one, other])}, a difference of {gap}"


def _close(evidence: Evidence) -> str:
    """Return two numbers that are too close, with the difference that would have been seen."""
    one, other = evidence.ranking.names
    if evidence.head_to_head:
        numbers = f"{one} has {evidence.with_interval(one)}"
    else:
        numbers = evidence.values([one, other])
    return f"{numbers}, {evidence.unseen([one, other])}"


def _shared(evidence: Evidence, of: str = "") -> str:
    """Return that the first models share their ranks."""
    models = evidence.sharing(1)
    if len(models) == 2 and not of:
        close = f"{' and '.join(models)} are too close to call"
        return f"{close}: {evidence.values(models)}, {evidence.unseen(models)}."
    ranks = (
        f"{listed(models)} share ranks 1 {'and' if len(models) == 2 else 'to'} {len(models)}{of}"
    )
    return f"{ranks}: too close to call, {evidence.unseen(models)}."


def _next(evidence: Evidence) -> str:
    """Return who comes after the best, if several do."""
    sharing = evidence.sharing(2)[1:]
    if len(sharing) < 2:
        return ""
    last = len(sharing) + 1
    ranks = f"ranks 2 {'and' if last == 3 else 'to'} {last}"
    return f" {listed(sharing)} share {ranks}: too close to call, {evidence.unseen(sharing)}."


def flips(flipped: int, pairs: int, decided: Estimate | None) -> str:
    """Return what is said of pairs whose winner changed with the order; nothing up to a third.

    Args:
        flipped: pairs in which the other model won when the answers were swapped.
        pairs: pairs that were judged in both orders.
        decided: the share of flips among wins, losses and flips.

    >>> flips(55, 160, None)[:66]
    'In 34% of the pairs (55 of 160) the verdict changed with the order'
    """
    if not pairs or flipped / pairs <= _MANY_FLIPS:
        return ""
    share = f"In {percent(flipped / pairs)} of the pairs ({flipped} of {pairs})"
    words = f"{share} the verdict changed with the order of the two answers; these are ties."
    interval = None if decided is None else decided.interval
    if interval is not None and interval.high >= 0.5:
        return f"{words} The judge may be guessing: one that guesses changes about half."
    return f"{words} A judge that guesses changes about half."

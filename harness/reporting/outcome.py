"""The first sentences of a page of results: who is better, on what, by how much, how sure.

    gpt-4 is the best of 8 models on 80 questions: 8.99 of 10, better than each of the others.
    gpt-3.5-turbo and claude-v1 share ranks 2 and 3: too close to call, where a difference under
    0.64 would not have been seen.

"Too close to call" always stands beside the difference that would have been seen. Grades and pairs
are in one sentence if they say the same, else in two, pairs first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.reporting.page import counted, listed, percent, rounded

_A_THIRD = 1 / 3
"""The share of flips above which they are said in words."""


class Measure(NamedTuple):
    """What the numbers are, and how a sentence writes them."""

    kind: Literal["grades", "pairs", "shares", "numbers"]
    top: float | None = None
    """The greatest grade."""
    noun: str = ""
    """What a share or a number is of: `correct`, `bleu`."""
    places: int = 2

    def value(self, number: float) -> str:
        """Return a number as it stands in a list: 46%, 7.28."""
        return percent(number) if self.kind == "shares" else rounded(number, self.places)

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
        if self.kind == "shares":
            return counted(max(1, int(rounded(size, 0, 2))), "point")
        return rounded(size, self.places)


@dataclass(frozen=True)
class Standing:
    """One model's number and the ranks that it may have."""

    model: str
    value: float
    low: float | None = None
    high: float | None = None
    ranks: tuple[int, int] = (1, 1)


class Gap(NamedTuple):
    """The difference of two models' numbers, compared question by question."""

    value: float
    low: float | None
    high: float | None
    better: bool
    """Whether it is significant."""
    detectable: float | None
    """The smallest difference that would have been seen."""


@dataclass(frozen=True)
class Evidence:
    """All that is said of one kind of judgments."""

    measure: Measure
    standings: Sequence[Standing]
    """The best first."""
    gaps: Mapping[tuple[str, str], Gap]
    """By two models, the better one's number first or not; pairs that could not be compared are
    missing."""
    questions: int
    noun: str = "question"
    """What the questions are called: instructions, where the benchmark says so."""
    panel: int = 1
    """How many judges it is the mean of."""

    def gap(self, one: str, other: str) -> Gap | None:
        """Return the difference of two models, the first less the second."""
        if (gap := self.gaps.get((one, other))) is not None:
            return gap
        if (gap := self.gaps.get((other, one))) is None:
            return None
        low, high = (None if end is None else -end for end in (gap.high, gap.low))
        return Gap(-gap.value, low, high, gap.better, gap.detectable)

    def unseen(self, models: Sequence[str]) -> str:
        """Return from which difference on two of these models would have been told apart."""
        sizes = [
            gap.detectable
            for at, one in enumerate(models)
            for other in models[at + 1 :]
            if (gap := self.gap(one, other)) is not None and gap.detectable is not None
        ]
        if not sizes:
            return f"on {counted(self.questions, self.noun)} no difference can be told from chance"
        return f"where a difference under {self.measure.gap(max(sizes))} would not have been seen"


class _Finding(NamedTuple):
    """What one kind of judgments shows."""

    kind: Literal["better", "best", "last", "close", "one", "apart"]
    models: tuple[str, ...]


def outcome(evidence: Sequence[Evidence]) -> str:
    """Return the sentences; pairs first where both kinds are there."""
    order = sorted(evidence, key=lambda own: own.measure.kind != "pairs")
    order = [own for own in order if own.standings]
    if not order:
        return "There are no verdicts yet."
    first, *others = order
    sentences = [_first(first, _kind(first, len(order)))]
    for own in others:
        sentences.append(_also(own, agrees=_finding(own) == _finding(first)))
    return " ".join(sentences)


def _kind(evidence: Evidence, several: int) -> str:
    """Return what tells one kind of judgments from the other, where both are there."""
    if several < 2:
        return ""
    return {"pairs": " in pairs", "grades": " by grades"}.get(evidence.measure.kind, "")


def _finding(evidence: Evidence) -> _Finding:
    standings = evidence.standings
    names = [own.model for own in standings]
    if len(standings) == 1:
        return _Finding("one", (names[0],))
    if len(standings) == 2:
        gap = evidence.gap(*names)
        if gap is None:
            return _Finding("apart", tuple(sorted(names)))
        return (
            _Finding("better", tuple(names))
            if gap.better
            else _Finding("close", tuple(sorted(names)))
        )
    if standings[0].ranks == (1, 1):
        return _Finding("best", (names[0],))
    if standings[-1].ranks == (len(names), len(names)):
        return _Finding("last", (names[-1],))
    return _Finding("close", tuple(sorted(_sharing(evidence, 1))))


def _sharing(evidence: Evidence, rank: int) -> list[str]:
    """Return the models that may have a rank, the best first."""
    return [own.model for own in evidence.standings if own.ranks[0] <= rank <= own.ranks[1]]


def _first(evidence: Evidence, kind: str) -> str:
    """Return the sentences about the first kind of judgments."""
    standings, measure = evidence.standings, evidence.measure
    on = f"on {counted(evidence.questions, evidence.noun)}"
    finding = _finding(evidence)
    best = standings[0]
    if finding.kind == "one":
        return f"{best.model} has {_with_interval(evidence, best)} {on}."
    if len(standings) == 2:
        other = standings[1]
        if finding.kind == "apart":
            return (
                f"{best.model} and {other.model} cannot be compared{kind}: "
                "no question has verdicts on both."
            )
        if finding.kind == "better":
            return (
                f"{best.model} is better than {other.model}{kind} {on}: {_by_how_much(evidence)}."
            )
        return (
            f"{best.model} and {other.model} are too close to call{kind} {on}: {_close(evidence)}."
        )
    count = f"of {len(standings)} models{kind} {on}"
    if finding.kind == "best":
        lead = (
            f"{best.model} is the best {count}: {measure.values([best.value])}, "
            "better than each of the others."
        )
        return f"{lead}{_next(evidence)}"
    if finding.kind == "last":
        lead = f"{standings[-1].model} is last {count}."
        return f"{lead} {_shared(evidence, _sharing(evidence, 1))}"
    sharing = _sharing(evidence, 1)
    if len(sharing) == len(standings):
        return f"The {len(standings)} models are too close to call{kind} {on}: {_span(evidence)}."
    return f"{_shared(evidence, sharing, f' {count}')}"


def _by_how_much(evidence: Evidence) -> str:
    one, other = evidence.standings
    if evidence.measure.kind == "pairs":
        return _with_interval(evidence, one)
    gap = evidence.gap(one.model, other.model)
    words = evidence.measure.values([one.value, other.value])
    if gap is None or gap.low is None or gap.high is None:
        return words
    ends = f"{evidence.measure.gap(gap.low)} to {evidence.measure.gap(gap.high)}"
    if evidence.measure.kind == "shares":
        ends = f"{rounded(gap.low, 0, 2)} to {rounded(gap.high, 0, 2)}"
    return f"{words}, a difference of {evidence.measure.gap(gap.value)} ({ends})"


def _with_interval(evidence: Evidence, own: Standing) -> str:
    words = evidence.measure.values([own.value])
    if own.low is None or own.high is None:
        return words
    low, high = evidence.measure.value(own.low), evidence.measure.value(own.high)
    return f"{words} ({low} to {high})"


def _close(evidence: Evidence) -> str:
    """Return two numbers that are too close, with the difference that would have been seen."""
    one, other = evidence.standings
    names = [one.model, other.model]
    if evidence.measure.kind == "pairs":
        return f"{one.model}'s {_with_interval(evidence, one)}, {evidence.unseen(names)}"
    return f"{evidence.measure.values([one.value, other.value])}, {evidence.unseen(names)}"


def _span(evidence: Evidence) -> str:
    ends = [evidence.standings[0].value, evidence.standings[-1].value]
    span = f"{evidence.measure.value(ends[0])} to {evidence.measure.values(ends[1:])}"
    return f"{span}, {evidence.unseen([own.model for own in evidence.standings])}"


def _shared(evidence: Evidence, models: Sequence[str], count: str = "") -> str:
    """Return that some models share the first ranks."""
    if len(models) == 2:
        values = [own.value for own in evidence.standings if own.model in models]
        words = f"{' and '.join(models)} are too close to call{count}"
        return f"{words}: {evidence.measure.values(values)}, {evidence.unseen(models)}."
    words = f"{listed(models)} share ranks 1 to {len(models)}{count}"
    return f"{words}: too close to call, {evidence.unseen(models)}."


def _next(evidence: Evidence) -> str:
    """Return who comes after the best, if several do."""
    sharing = [name for name in _sharing(evidence, 2) if name != evidence.standings[0].model]
    if len(sharing) < 2:
        return ""
    last = len(sharing) + 1
    ranks = f"ranks 2 {'and' if last == 3 else 'to'} {last}"
    return f" {listed(sharing)} share {ranks}: too close to call, {evidence.unseen(sharing)}."


def _also(evidence: Evidence, *, agrees: bool) -> str:
    """Return the sentence about the second kind of judgments."""
    standings, by = evidence.standings, f"By {evidence.measure.kind}"
    finding = _finding(evidence)
    if finding.kind == "one":
        return f"{by}: {_with_interval(evidence, standings[0])}."
    if len(standings) == 2:
        if finding.kind == "better":
            who = "too" if agrees else f"{standings[0].model} is better"
            return f"{by} {who}: {_by_how_much(evidence)}."
        if finding.kind == "close":
            return f"{by} too close to call{' too' if agrees else ''}: {_close(evidence)}."
        return f"{by} they cannot be compared."
    best = standings[0]
    if finding.kind == "best":
        who = "too" if agrees else f"{best.model} is the best of {len(standings)}"
        return f"{by} {who}: {evidence.measure.values([best.value])}.{_next(evidence)}"
    return f"{by} {_shared(evidence, _sharing(evidence, 1))}"


def flips(flipped: int, pairs: int, decided: tuple[float, float] | None) -> str:
    """Return what is said of pairs whose winner changed with the order; nothing up to a third.

    Args:
        flipped: pairs in which the other model won when the answers were swapped.
        pairs: pairs that were judged in both orders.
        decided: the 95% interval of the share of flips among wins, losses and flips.

    >>> flips(55, 160, (0.3, 0.47))[:66]
    'In 34% of the pairs (55 of 160) the verdict changed with the order'
    """
    if not pairs or flipped / pairs <= _A_THIRD:
        return ""
    share = f"In {percent(flipped / pairs)} of the pairs ({flipped} of {pairs})"
    words = f"{share} the verdict changed with the order of the two answers; these are ties."
    if decided is not None and decided[1] >= 0.5:
        return f"{words} The judge may be guessing: a judge that guesses changes about half."
    return f"{words} A judge that guesses changes about half."

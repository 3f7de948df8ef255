"""The first sentences of a page of results: who is better, on what, by how much, how sure.

    gpt-4 is the best of 8 models on 80 questions: 8.99 of 10, better than each of the others.
    gpt-3.5-turbo and claude-v1 share ranks 2 and 3: not decided.

    a and b are not decided on 80 questions: 7.94 and 6.86 of 10, a difference of 1.09 (-0.05 to
    2.23).

The words follow from the interval that is printed beside them: "better" stands where it excludes no
difference, "not decided" where it does not. Grades and pairs are in one sentence if they say the
same, else in two, pairs first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.results import Estimate, Ranking
from harness.results.compare import Against, Comparison
from harness.results.estimate import LEAST, Interval
from harness.words import counted, first_lines, listed, p_value, rounded

REST = "{} more: see the table."
"""After the first of many sentences."""


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

    def ends(self, interval: Interval | None, reference: float | None = None) -> str:
        """Return an interval in brackets after a blank; nothing where there is none.

        It has the digits that show whether it excludes the reference.

        >>> Measure("grades").ends(Interval(0.004, 0.41), 0)
        ' (0.004 to 0.41)'
        """
        if interval is None:
            return ""
        low, high = (self._apart(end, reference) for end in interval)
        return f" ({low} to {high})"

    def _apart(self, number: float, reference: float | None) -> str:
        scale = 2 if self.percent else 0
        places = range(self.places, self.places + 5)
        written = [rounded(number, most, scale) for most in places]
        if reference is None or number == reference:
            return written[0]
        return next((w for w in written if float(w) != reference * 10**scale), written[0])

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
    against: tuple[Against, ...] = ()
    """How each model does against the baseline."""
    name: str = ""
    """The criterion or metric, where there are several."""
    by: str = ""
    """Whose verdicts these are, where that is not plain: `by gpt-4`, `in the mean of a and b`."""
    focus: str | None = None
    """The one model that was asked for: it is compared with each of the others."""
    stopped: bool = False
    """Whether models whose comparisons were decided were judged on no further questions."""

    def sharing(self, rank: int) -> list[str]:
        """Return the models that may have a rank or a better one, the best first."""
        ranks = self.ranking.ranks
        return [name for name in self.ranking.complete if ranks[name].first <= rank]

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
        return self.values(model) + self.measure.ends(self.value(model).interval)

    def between(self, pair: Comparison) -> str:
        """Return the numbers of two models, how sure their difference is, and by whom."""
        both = (pair.model_1, pair.model_2)
        if not pair.questions:
            return "no question has verdicts on both"
        if pair.rate is not None:
            words = self.measure.values(pair.rate.value)
            words += self.measure.ends(pair.rate_interval, 0.5)
            words += "" if pair.better else f" for {pair.model_1}"
        else:
            words = f"{self.values(*both)}, {self.change(pair)}"
            gap = self.value(both[0]).value - self.value(both[1]).value
            if not self.ranking.strengths and self.measure.gap(gap) != self.measure.gap(
                pair.difference.value
            ):
                words += " on what both have"
        words += f" {self.by}" if self.by else ""
        if pair.p is None:
            few = counted(pair.questions, "question is", "questions are")
            words += f"; {few} too few, {LEAST} are needed"
        if pair.withheld:
            lost = sum(row.lost for row in self.ranking.missing if row.model in both)
            noun = self.measure.kind if self.measure.kind != "numbers" else "verdicts"
            words += f", which the {lost} missing {noun} could undo"
        return words

    def change(self, pair: Comparison) -> str:
        """Return a difference and the interval that decides; where there is none, the counts."""
        difference, n = pair.difference, counted(pair.questions, "question")
        if self.ranking.strengths:
            size = f"{rounded(difference.value, 0)} rating points"
            ends = Measure("numbers", places=0).ends(pair.interval, 0)
        else:
            size, ends = self.measure.gap(difference.value), self.measure.ends(pair.interval, 0)
        if ends or pair.p is None:
            return f"a difference of {size}{ends}"
        if pair.p == 1:
            return f"the same on each of {n}"
        size = self.measure.gap(abs(difference.value))
        word = "more" if difference.value > 0 else "less"
        return f"{size} {word} on each of {n}, sign test p {p_value(pair.p)}"

    def apart(self, models: Sequence[str]) -> str:
        """Return the numbers of the first and the last of some models, and their difference."""
        pair = self.ranking.comparisons.between(models[0], models[-1])
        return self.between(pair)


def outcomes(evidence: Sequence[Evidence]) -> str:
    """Return a paragraph for each of the first criteria or metrics."""
    return "\n".join(first_lines([f"{item.name}: {outcome([item])}" for item in evidence], 3, REST))


class Claim(NamedTuple):
    """What is said of one column."""

    words: str
    """Who is what."""
    numbers: str = ""
    """That say so."""
    rest: str = ""
    """A sentence about the next models."""
    short: str = ""
    """The words where the models have been named."""


def outcome(evidence: Sequence[Evidence]) -> str:
    """Return the sentences; pairs first where both kinds are there."""
    order = [item for item in evidence if item.ranking.complete and item.questions]
    order.sort(key=lambda item: item.measure.kind != "pairs")
    sentences: list[str] = []
    named: Sequence[str] = ()
    first = ""
    for item in order:
        claim = claim_of(item, named)
        words, numbers = claim.words, f": {claim.numbers}" if claim.numbers else ""
        kind = "in pairs" if item.measure.kind == "pairs" else f"by {item.measure.kind}"
        if not first:
            named, first = item.ranking.complete, words
            on = f" on {'up to ' * item.stopped}{counted(item.questions, 'question')}"
            words += f" {kind}" * (len(order) > 1) + on
        else:
            words = "too" if words == first else claim.short or words
            words = f"{kind.capitalize()} {words}"
        sentences += [f"{words}{numbers}.", claim.rest]
    return " ".join(filter(None, sentences)) or "There are no verdicts to compare."


def claim_of(evidence: Evidence, named: Sequence[str] = ()) -> Claim:
    """Return who is what, the numbers that say so, and a sentence about the next models.

    Args:
        evidence: of one column.
        named: models that a sentence before has named, in that order.
    """
    if evidence.against:
        return _against(evidence)
    if evidence.focus in evidence.ranking.complete:
        return _focus(evidence, evidence.focus)
    names = evidence.ranking.complete
    if len(names) == 1:
        return Claim(names[0], f"{evidence.with_interval(names[0])}{_by(evidence)}")
    if len(names) == 2:
        return _two(evidence, *(named if set(named) == set(names) else names))
    return _many(evidence)


def _two(evidence: Evidence, first: str, second: str) -> Claim:
    pair = evidence.ranking.comparisons.between(first, second)
    if pair.better == second:
        pair = pair.swapped()
    numbers = evidence.between(pair)
    if pair.better:
        return Claim(f"{pair.model_1} is better than {pair.model_2}", numbers)
    both = f"{first} and {second}"
    if not pair.questions:
        return Claim(f"{both} cannot be compared", numbers)
    return Claim(f"{both} are not decided", numbers, short="not decided")


def _many(evidence: Evidence) -> Claim:
    """Return who is best, last, or shares the first ranks, of three models or more."""
    ranking, by = evidence.ranking, _by(evidence)
    names, first = ranking.complete, evidence.sharing(1)
    many = f"of {len(names)} models"
    if ranking.best:
        second = evidence.sharing(2)[1:]
        rest = f"{_sharing(second, 2)}: not decided." if len(second) > 1 else ""
        numbers = f"{evidence.values(ranking.best)}, better than each of the others{by}"
        return Claim(f"{ranking.best} is the best {many}", numbers, rest)
    if ranking.worst:
        rest = f"{_sharing(first, 1)}: not decided, {evidence.apart(first)}."
        if len(first) == 2:
            rest = f"{listed(first)} are not decided: {evidence.apart(first)}."
        return Claim(f"{ranking.worst} is last {many}", rest=rest)
    if len(first) == len(names):
        words = f"The {len(names)} models are not decided"
        ends = f"{names[0]} and {names[-1]}"
        return Claim(words, f"{ends} have {evidence.apart(names)}", short="not decided")
    numbers = f"not decided, {evidence.apart(first)}"
    return Claim(f"{_sharing(first, 1)} {many}", numbers)


def _focus(evidence: Evidence, model: str) -> Claim:
    """Return how one model compares with each of the others, M - 1 tests."""
    pairs = evidence.ranking.comparisons.against(model)
    better = [pair.model_2 for pair in pairs if pair.better == model]
    worse = [pair.model_2 for pair in pairs if pair.better not in (None, model)]
    undecided = [pair.model_2 for pair in pairs if pair.better is None]
    groups = (("better than", better), ("worse than", worse), ("not decided against", undecided))
    parts = [f"{word} {listed(names)}" for word, names in groups if names]
    return Claim(
        f"{model} is {'; '.join(parts)}", f"{evidence.with_interval(model)}{_by(evidence)}"
    )


MOST_NAMED = 3
"""Models that a sentence names with their numbers."""


def _against(evidence: Evidence) -> Claim:
    """Return who beats the baseline, who loses to it, and who of them is the best."""
    groups: list[str] = []
    total = len(evidence.against)
    words = {"beats": "beat", "loses to": "lose to", "": "are not decided against"}
    for verdict, plural in words.items():
        group = [row for row in evidence.against if row.verdict == verdict]
        if not group:
            continue
        verb = plural if len(group) > 1 else verdict or "is not decided against"
        who, numbers = listed([row.model for row in group]), _rates(evidence, group)
        if len(group) > MOST_NAMED:
            best = group[0]
            who = f"{len(group)} of {total} models"
            numbers = f"the first is {best.model}, {_rates(evidence, group[:1])}"
        name = "it" if groups else evidence.baseline
        groups.append(f"{who} {verb} {name}: {numbers}")
    words_of_first, _, numbers = groups[0].partition(": ")
    rest = [f"{group}." for group in groups[1:]]
    if evidence.ranking.best is not None:
        others = [name for name in evidence.ranking.complete if name != evidence.ranking.best]
        than = others[0] if len(others) == 1 else "each of the others"
        rest.append(f"{evidence.ranking.best} is better than {than}.")
    return Claim(words_of_first, numbers + _by(evidence), " ".join(rest))


def _rates(evidence: Evidence, group: Sequence[Against]) -> str:
    """Return the rates that decide, with their intervals."""
    measure = evidence.measure
    rates = [measure.value(row.rate.value) + measure.ends(row.interval, 0.5) for row in group]
    controlled = group[0].controlled
    if len(group) == 1 and controlled:
        judged = evidence.value(group[0].model)
        wins = measure.value(judged.value) + measure.ends(judged.interval)
        return f"it would win {rates[0]} at equal length, and wins {wins} as judged"
    noun = "win rate" + "s" * (len(group) > 1)
    undone = sum(row.withheld for row in group)
    more = ", which missing verdicts could undo" if undone else ""
    return f"{noun} {'at equal length ' * controlled}{listed(rates)}{more}"


def _by(evidence: Evidence) -> str:
    return f" {evidence.by}" if evidence.by else ""


def _sharing(models: Sequence[str], first: int) -> str:
    last = first + len(models) - 1
    return f"{listed(models)} share ranks {first} {'and' if len(models) == 2 else 'to'} {last}"

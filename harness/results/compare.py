"""Two models compared on what both did, and the ranks that follow.

    grades   on each (question, turn) with a verdict on both: the difference of the two
    pairs    S_q = Σ over common opponents o of (x_Aoq − x_Boq) + (x_ABq − x_BAq)
             N_q = the number of these terms             difference = Σ S_q / Σ N_q

x is 1 for a win, 0.5, 0. A meets o and wins, B meets o and ties, and A beats B: S = (1 − 0.5) +
(1 − 0) = 1.5 of N = 2 terms. In a complete design the difference is that of the win rates. Models
with no opponent and no pair in common are not compared, and a strong model is not called better
for having met weak opponents. Only where the pairs were drawn at random are strengths compared.

    better      p < 0.05 of the paired t-test, by Holm's method over the pairs of one column
    rank range  from 1 + the models significantly better to M − the models significantly worse
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from harness.errors import UsageError
from harness.results.estimate import Estimate, Floats, Ints, holm, ratio
from harness.results.looks import LOOKS
from harness.results.scores import Scores
from harness.results.strengths import strengths
from harness.results.summarize import Summary, summarize
from harness.types import split_variant

ALPHA = 0.05
TOO_MANY_MISSING = 0.1
"""The share of judgments without a verdict above which no model is called better: long and odd
answers fail more often, so the rest is not a fair sample."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two models on what both did."""

    model_1: str
    model_2: str
    difference: Estimate
    """Model_1 less model_2: of grades in points, of pairs in win rate, of drawn pairs in rating."""
    p: float | None
    """By Holm's method over the pairs of the column; None for too few questions."""
    opponents: int = 0
    """Of pairs: how many opponents it rests on, the two themselves aside."""

    @property
    def questions(self) -> int:
        """The questions it rests on; 0: not compared."""
        return self.difference.n

    @property
    def better(self) -> str | None:
        """The model that is significantly better."""
        if self.p is None or self.p >= ALPHA:
            return None
        return self.model_1 if self.difference.value > 0 else self.model_2

    @property
    def swapped(self) -> "Comparison":
        """The same, seen from the other model."""
        difference = self.difference.scaled(-1)
        return replace(self, model_1=self.model_2, model_2=self.model_1, difference=difference)

    @property
    def worse(self) -> str | None:
        """The model that is significantly worse."""
        if self.better is None:
            return None
        return self.model_2 if self.better == self.model_1 else self.model_1


class Ranks(NamedTuple):
    """The places that a model may have."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every two models of one column compared."""

    models: tuple[str, ...]
    pairs: tuple[Comparison, ...]

    def between(self, model_1: str, model_2: str) -> Comparison:
        """Return the comparison of two models, seen from the first."""
        if pair := self._by_models.get((model_1, model_2)):
            return pair
        if pair := self._by_models.get((model_2, model_1)):
            return pair.swapped
        raise UsageError(f"{model_1} and {model_2} are not among the models compared")

    @functools.cached_property
    def _by_models(self) -> dict[tuple[str, str], Comparison]:
        return {(pair.model_1, pair.model_2): pair for pair in self.pairs}

    def ranks(self) -> dict[str, Ranks]:
        """Return the rank range of each model."""
        above = dict.fromkeys(self.models, 0)
        below = dict.fromkeys(self.models, 0)
        for pair in self.pairs:
            if pair.better and pair.worse:
                above[pair.worse] += 1
                below[pair.better] += 1
        total = len(self.models)
        return {model: Ranks(1 + above[model], total - below[model]) for model in self.models}


def compare(
    scores: Scores,
    models: Sequence[str] | None = None,
    *,
    drawn: bool = False,
    looks: Ints | None = None,
) -> Comparisons:
    """Return every two models compared; of one metric, and one value for each item.

    Args:
        scores: grades or pairs.
        models: which, in the order of the comparisons; None: all.
        drawn: whether the pairs of each question were drawn at random. The strengths are compared
            then: the design leaves few common opponents, and makes opponents alike by chance.
        looks: of a run that stops when it is decided, the look of each question; see `looks`.

    Raises:
        UsageError: there are several metrics.
    """
    if len(np.unique(scores.metric)) > 1:
        raise UsageError("models are compared on one metric at a time")
    every = scores.take(scores.valid).models_present if models is None else tuple(models)
    differences = _pair_differences if scores.paired else _grade_differences
    if drawn:
        differences = _strength_differences
    unadjusted = [
        Comparison(model_1, model_2, _stopped(difference, looks), None, opponents)
        for model_1, model_2, difference, opponents in differences(scores, every)
    ]
    adjusted = holm([pair.difference.p for pair in unadjusted])
    return Comparisons(
        every,
        tuple(replace(pair, p=p) for pair, p in zip(unadjusted, adjusted, strict=True)),
    )


def _stopped(difference: Estimate, looks: Ints | None) -> Estimate:
    """Return a difference with the part of the questions that it had when it was decided."""
    if looks is None or not difference.n:
        return difference
    last = looks[~np.isnan(difference.influence)].max()
    return replace(difference, fraction=int(last) / LOOKS)


def undecided(
    scores: Scores, models: Sequence[str], within: float, looks: Ints, active: Collection[str]
) -> tuple[str, ...]:
    """Return the models of which a comparison is not decided yet, so that they are judged further.

    Args:
        scores: of one metric, as far as they are judged.
        models: all that are compared.
        within: differences that are surely smaller do not matter.
        looks: the look of each question, from 1.
        active: those that are judged further up to now.
    """
    open_models: set[str] = set()
    for pair in compare(scores, models, looks=looks).pairs:
        if not {pair.model_1, pair.model_2} <= set(active):
            continue
        ends = pair.difference.interval
        if pair.better is None and (ends is None or max(-ends.low, ends.high) >= within):
            open_models |= {pair.model_1, pair.model_2}
    return tuple(model for model in active if model in open_models)


def _items(scores: Scores) -> tuple[Ints, Ints]:
    """Return for each entry its (question, turn), and for each of these its question."""
    turns = int(scores.turn.max(initial=0)) + 1
    keys, place = np.unique(scores.question * turns + scores.turn, return_inverse=True)
    return place.reshape(-1), keys // turns


def _grade_differences(
    scores: Scores, models: Sequence[str]
) -> Iterator[tuple[str, str, Estimate, int]]:
    item, question = _items(scores)
    good = scores.valid
    size = (len(scores.models), len(question))
    cell = scores.model[good] * size[1] + item[good]
    counts = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)
    sums = np.bincount(cell, scores.value[good], size[0] * size[1]).reshape(size)
    grades = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    code = {name: at for at, name in enumerate(scores.models)}
    empty = np.full(size[1], np.nan)
    for at, model_1 in enumerate(models):
        for model_2 in models[at + 1 :]:
            first, second = (
                grades[code[name]] if name in code else empty for name in (model_1, model_2)
            )
            terms = first - second
            yield model_1, model_2, _by_question(terms, question, len(scores.questions)), 0


def _by_question(terms: Floats, question: Ints, questions: int) -> Estimate:
    valid = ~np.isnan(terms)
    return ratio(
        np.bincount(question[valid], terms[valid], questions),
        np.bincount(question[valid], minlength=questions).astype(np.float64),
    )


def _pair_differences(
    scores: Scores, models: Sequence[str]
) -> Iterator[tuple[str, str, Estimate, int]]:
    both = scores.mirrored()
    both = both.take(both.valid)
    item, question = _items(both)
    items, questions = len(question), len(scores.questions)
    outcomes: dict[int, dict[int, Floats]] = {}
    key = both.model * len(scores.models) + both.opponent
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    for rows in np.split(order, cuts) if len(order) else ():
        counts = np.bincount(item[rows], minlength=items)
        sums = np.bincount(item[rows], both.value[rows], items)
        mean = np.divide(sums, counts, out=np.full(items, np.nan), where=counts > 0)
        outcomes.setdefault(int(both.model[rows[0]]), {})[int(both.opponent[rows[0]])] = mean
    code = {name: at for at, name in enumerate(scores.models)}
    for at, model_1 in enumerate(models):
        for model_2 in models[at + 1 :]:
            first, second = (outcomes.get(code.get(name, -1), {}) for name in (model_1, model_2))
            total, terms_of = np.zeros(items), np.zeros(items)
            opponents = 0
            shared = first.keys() & second.keys()
            terms = [first[o] - second[o] for o in sorted(shared)]
            if (direct := first.get(code.get(model_2, -1))) is not None:
                terms.append(2 * direct - 1)
            for place, term in enumerate(terms):
                valid = ~np.isnan(term)
                total += np.where(valid, term, 0.0)
                terms_of += valid
                opponents += place < len(shared) and bool(valid.any())
            by_question = [np.bincount(question, column, questions) for column in (total, terms_of)]
            yield model_1, model_2, ratio(by_question[0], by_question[1]), opponents


def _strength_differences(
    scores: Scores, models: Sequence[str]
) -> Iterator[tuple[str, str, Estimate, int]]:
    ratings = strengths(scores)
    nothing = Estimate(np.nan, np.full(len(scores.questions), np.nan))
    for at, model_1 in enumerate(models):
        for model_2 in models[at + 1 :]:
            first, second = ratings.get(model_1), ratings.get(model_2)
            difference = first - second if first and second else nothing
            yield model_1, model_2, difference, len(models) - 2


# What the first line of a page says


class Missing(NamedTuple):
    """The judgments of one model and turn: with a verdict, without, and not there at all."""

    model: str
    turn: int
    judged: int
    failed: int
    absent: int
    """Of grades: judgments on (question, turn) that another model of the table has."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The models of one column, the best first, with what can be said of them."""

    models: tuple[Summary, ...]
    comparisons: Comparisons
    ranks: dict[str, Ranks]
    missing: tuple[Missing, ...]
    strengths: Mapping[str, Estimate | None] = field(default_factory=dict)
    """Of pairs drawn at random: the ratings by which models are ranked and compared."""

    @property
    def missing_share(self) -> float:
        """The share of judgments without a verdict or absent."""
        lost = sum(row.absent + row.failed for row in self.missing)
        total = lost + sum(row.judged for row in self.missing)
        return lost / total if total else 0.0

    @property
    def incomplete(self) -> bool:
        """Whether so much is missing that no model is called better."""
        return self.missing_share > TOO_MANY_MISSING

    @property
    def names(self) -> tuple[str, ...]:
        """The models, best first."""
        return tuple(summary["model"] for summary in self.models)

    @property
    def best(self) -> str | None:
        """The model that is better than each of the others."""
        return self._at(lambda ranks: ranks.last == 1)

    @property
    def worst(self) -> str | None:
        """The model that each of the others is better than."""
        return self._at(lambda ranks: ranks.first == len(self.names))

    def _at(self, holds: Callable[[Ranks], bool]) -> str | None:
        return next((m for m in self.names if self.many and holds(self.ranks[m])), None)

    @property
    def many(self) -> bool:
        """Whether there is anything to compare, and enough of it."""
        return len(self.names) > 1 and not self.incomplete

    @property
    def neighbours(self) -> tuple[Comparison, ...]:
        """Each model compared with the next one."""
        pairs = zip(self.names, self.names[1:], strict=False)
        return tuple(self.comparisons.between(*pair) for pair in pairs)


def rank(
    scores: Scores,
    *,
    models: Collection[str] | None = None,
    baseline: str | None = None,
    drawn: bool = False,
    looks: Ints | None = None,
) -> Ranking:
    """Return the models of one column ranked, by their means; of drawn pairs by their strengths.

    Args:
        scores: of one metric, one value for each item.
        models: which; None: all.
        baseline: an opponent that is not ranked itself.
        drawn: whether the pairs were drawn at random, see `compare`.
        looks: the look of each question, of a run that stops when it is decided; see `compare`.
    """
    ranked = set(scores.models_present if models is None else models) - {baseline}
    summaries = [row for row in summarize(scores, by=("model",)) if row["model"] in ranked]
    summaries.sort(key=lambda row: (-row.mean.value if row.n else np.inf, row["model"]))
    ratings = strengths(scores) if drawn else {}
    if drawn:
        summaries.sort(key=lambda row: -_place(row, ratings.get(row["model"])))
    names = [summary["model"] for summary in summaries]
    compared = compare(scores, names, drawn=drawn, looks=looks)
    lost = tuple(missing(scores, names))
    if looks is not None:  # what was not judged is missing on purpose
        lost = tuple(row._replace(absent=0) for row in lost)
    return Ranking(tuple(summaries), compared, compared.ranks(), lost, ratings)


def _place(row: Summary, rating: Estimate | None) -> float:
    """Return what a model of drawn pairs is ranked by; one that won all of them is the first."""
    if rating is not None:
        return rating.value
    return np.inf if row.mean.value > 0.5 else -np.inf


def missing(scores: Scores, models: Collection[str] | None = None) -> list[Missing]:
    """Return what is judged and what is missing of each model and turn.

    A played user ends a conversation when it will, and a model that continues from given turns
    is not judged on them, so no turn of these is called absent.
    """
    both = scores.mirrored()
    fixed = np.array([question.user is None for question in scores.questions], dtype=bool)
    asked = {
        turn: np.unique(scores.question[(scores.turn == turn) & fixed[scores.question]])
        for turn in np.unique(scores.turn).tolist()
    }
    counts = []
    for code in np.unique(both.model).tolist():
        if models is not None and scores.models[code] not in models:
            continue
        rows = both.take(both.model == code)
        for turn, questions in asked.items():
            own_turn = rows.take(rows.turn == turn)
            given = not len(own_turn) and split_variant(scores.models[code])[1] is not None
            absent = (
                0 if scores.paired or given else len(np.setdiff1d(questions, own_turn.question))
            )
            judged = int(own_turn.valid.sum())
            if len(own_turn) or absent:
                failed = len(own_turn) - judged
                counts.append(Missing(scores.models[code], turn, judged, failed, absent))
    return counts

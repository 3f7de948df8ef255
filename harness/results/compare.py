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

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.results.estimate import Estimate, Floats, Ints, holm, ratio
from harness.results.looks import LOOKS
from harness.results.scores import Scores, distinct, means
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


class Ranks(NamedTuple):
    """The places that a model may have."""

    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every two models of one column compared."""

    models: tuple[str, ...]
    pairs: tuple[Comparison, ...]

    def between(self, model_1: str, model_2: str) -> Comparison:
        """Return the comparison of two models, seen from the first."""
        both = {model_1, model_2}
        pair = next(pair for pair in self.pairs if {pair.model_1, pair.model_2} == both)
        if pair.model_1 == model_1:
            return pair
        return replace(
            pair, model_1=model_1, model_2=model_2, difference=pair.difference.scaled(-1)
        )

    def ranks(self) -> dict[str, Ranks]:
        """Return the rank range of each model."""
        ranks = {}
        for model in self.models:
            pairs = [p for p in self.pairs if p.better and model in (p.model_1, p.model_2)]
            better = sum(pair.better == model for pair in pairs)
            ranks[model] = Ranks(1 + len(pairs) - better, len(self.models) - better)
        return ranks


Between: TypeAlias = Callable[[str, str], tuple[Estimate, int]]
"""From two models to their difference and the number of opponents it rests on."""


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
    """
    names = scores.take(scores.valid).models_present if models is None else tuple(models)
    between = _by_strengths(scores) if drawn else _on_what_both_did(scores)
    pairs = []
    for model_1, model_2 in itertools.combinations(names, 2):
        difference, opponents = between(model_1, model_2)
        if looks is not None and difference.n:
            last = looks[~np.isnan(difference.influence)].max()
            difference = replace(difference, fraction=int(last) / LOOKS)
        pairs.append(Comparison(model_1, model_2, difference, difference.p, opponents))
    adjusted = holm([pair.p for pair in pairs])
    pairs = [replace(pair, p=p) for pair, p in zip(pairs, adjusted, strict=True)]
    return Comparisons(names, tuple(pairs))


def _on_what_both_did(scores: Scores) -> Between:
    """Return the comparison of grades on each item, of pairs by opponent and against each other."""
    both = scores.mirrored()
    both = both.take(both.valid)
    entries, item = distinct(both.question, both.turn)
    question, items = both.question[entries], len(entries)
    first_entries, pair = distinct(both.model, both.opponent)
    table = means(pair * items + item, both.value, len(first_entries) * items)
    names = (*scores.models, "")  # -1: a grade has no opponent
    outcomes: dict[str, dict[str, Floats]] = defaultdict(dict)
    for entry, row in zip(first_entries.tolist(), table.reshape(-1, max(items, 1)), strict=True):
        outcomes[names[both.model[entry]]][names[both.opponent[entry]]] = row

    def between(model_1: str, model_2: str) -> tuple[Estimate, int]:
        first, second = outcomes[model_1], outcomes[model_2]
        terms = {o: first[o] - second[o] for o in sorted(first.keys() & second.keys())}
        opponents = sum(o != "" and not np.isnan(term).all() for o, term in terms.items())
        if model_2 in first:
            terms[model_2] = 2 * first[model_2] - 1
        table = np.array(list(terms.values())).reshape(len(terms), items)
        by_item = np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0)
        sums, counts = (np.bincount(question, of, len(scores.questions)) for of in by_item)
        return ratio(sums, counts), opponents

    return between


def _by_strengths(scores: Scores) -> Between:
    ratings = strengths(scores)
    nothing = Estimate(np.nan, np.full(len(scores.questions), np.nan))

    def between(model_1: str, model_2: str) -> tuple[Estimate, int]:
        first, second = ratings.get(model_1), ratings.get(model_2)
        return first - second if first and second else nothing, len(ratings) - 2

    return between


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
    def incomplete(self) -> bool:
        """Whether so many judgments are missing that no model is called better."""
        lost = sum(row.absent + row.failed for row in self.missing)
        return lost > TOO_MANY_MISSING * (lost + sum(row.judged for row in self.missing))

    @property
    def names(self) -> tuple[str, ...]:
        """The models, best first."""
        return tuple(summary["model"] for summary in self.models)

    @property
    def best(self) -> str | None:
        """The model that is better than each of the others."""
        return self._surely(1)

    @property
    def worst(self) -> str | None:
        """The model that each of the others is better than."""
        return self._surely(len(self.names))

    def _surely(self, place: int) -> str | None:
        if len(self.names) < 2 or self.incomplete:
            return None
        return next((m for m in self.names if self.ranks[m] == (place, place)), None)

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
        # A model without a rating won or lost all of its pairs.
        ends = {row["model"]: np.inf if row.mean.value > 0.5 else -np.inf for row in summaries}
        places = ends | {model: rating.value for model, rating in ratings.items() if rating}
        summaries.sort(key=lambda row: places[row["model"]], reverse=True)
    names = [summary["model"] for summary in summaries]
    compared = compare(scores, names, drawn=drawn, looks=looks)
    lost = missing(scores, names)
    if looks is not None:  # what was not judged is missing on purpose
        lost = [row._replace(absent=0) for row in lost]
    return Ranking(tuple(summaries), compared, compared.ranks(), tuple(lost), ratings)


def missing(scores: Scores, models: Collection[str] | None = None) -> list[Missing]:
    """Return what is judged and what is missing of each model and turn.

    A played user ends a conversation when it will, and a model that continues from given turns
    is not judged on them, so no turn of these is called absent.
    """
    both = scores.mirrored()
    fixed = np.array([question.user is None for question in scores.questions], dtype=bool)
    questions = {
        turn: np.unique(scores.question[(scores.turn == turn) & fixed[scores.question]])
        for turn in np.unique(scores.turn).tolist()
    }
    counts = []
    for name in both.models_present if models is None else models:
        rows = both.take(both.model == scores.models.index(name))
        for turn, of_turn in questions.items():
            row = rows.take(rows.turn == turn)
            expected = not scores.paired and (len(row) or split_variant(name)[1] is None)
            absent = len(np.setdiff1d(of_turn, row.question)) if expected else 0
            judged = int(row.valid.sum())
            if len(row) or absent:
                counts.append(Missing(name, turn, judged, len(row) - judged, absent))
    return counts

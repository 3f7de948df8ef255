"""Two models compared on what both did, and the ranks that follow.

    grades   on each (question, turn) with a verdict on both: the difference of the two
    pairs    S_q = Σ over common opponents o of (x_Aoq − x_Boq) + (x_ABq − x_BAq)
             N_q = the number of these terms             difference = Σ S_q / Σ N_q

x is 1 for a win, 0.5, 0. A meets o and wins, B meets o and ties, and A beats B: S = (1 − 0.5) +
(1 − 0) = 1.5 of N = 2 terms. In a complete design the difference is that of the win rates. Models
with no opponent and no pair in common are not compared, and a strong model is not called better
for having met weak opponents. Only where the pairs were drawn at random are strengths compared.

    interval    difference ± c · standard error, c of t at the level of the Holm step at which it
                was decided: 0.05 / m for the least p of m, 0.05 / (m − 1) for the next, …; for
                those that were not decided the level of the step at which it stopped
    better      the interval excludes zero
    rank range  from 1 + the models significantly better to M − the models significantly worse

Two models that met only each other have one number, the win rate of the first: better is one whose
Wilson interval (with t and the effective number of questions) excludes one half.

A model of which over 10% of the verdicts are missing is not compared. Below that, "better" is
withheld if it would not survive the winner's missing verdicts at its own 10th percentile and the
loser's at its 90th; of pairs these are a loss and a win.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.results.estimate import (
    LEVEL,
    Bools,
    Estimate,
    Floats,
    Interval,
    Ints,
    holm,
    ratio,
    ratios,
)
from harness.results.looks import LOOKS
from harness.results.scores import Scores, constant, distinct, means, present
from harness.results.strengths import strengths
from harness.results.summarize import Summary, summarize
from harness.types import split_variant

TOO_MANY_MISSING = 0.1
"""The share of a model's verdicts that are missing above which nothing is said of it: long and odd
answers fail more often, so the rest is not a fair sample."""
WORST, BEST = 10, 90
"""Percentiles of a model's own verdicts that stand for its missing ones, where they may matter."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two models on what both did."""

    model_1: str
    model_2: str
    difference: Estimate
    """Model_1 less model_2: of grades in points, of pairs in win rate, of drawn pairs in rating."""
    p: float | None = None
    """By Holm's method over the comparisons that were asked for; None for too few questions."""
    opponents: int = 0
    """Of pairs: how many opponents it rests on, the two themselves aside."""
    level: float = LEVEL
    """Of the Holm step at which it was decided, or at which the steps stopped."""
    rate: Estimate | None = None
    """Of two models that met only each other: the win rate of model_1."""
    if_missing: Estimate | None = None
    """The difference if all missing verdicts spoke against the one that is ahead; None: none is
    missing, or without them it is not significant either."""

    @property
    def questions(self) -> int:
        """The questions it rests on; 0: not compared."""
        return self.difference.n

    @property
    def own_p(self) -> float | None:
        """The p-value as if it were the only one."""
        return self.difference.p if self.rate is None else self.rate.p_half

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference at its level, which decides; None: there is none."""
        if self.rate is None:
            return self.difference.interval_at(self.level)
        ends = self.rate_interval
        return ends and Interval(2 * ends.low - 1, 2 * ends.high - 1)

    @property
    def rate_interval(self) -> Interval | None:
        """The interval of the win rate at its level."""
        return None if self.rate is None else self.rate.interval_at(self.level)

    @property
    def significant(self) -> str | None:
        """The model whose interval excludes zero; of equal differences by the sign test."""
        p = self.own_p
        if p is None or p >= self.level:
            return None
        return self.model_1 if self.difference.value > 0 else self.model_2

    @property
    def better(self) -> str | None:
        """The model that is significantly better, whatever the missing verdicts would be."""
        significant = self.significant
        if significant is None or self.if_missing is None:
            return significant
        rate = None if self.rate is None else _rate(self.if_missing)
        worst = replace(self, difference=self.if_missing, rate=rate, if_missing=None)
        return significant if worst.significant == significant else None

    @property
    def withheld(self) -> bool:
        """Whether only missing verdicts keep it from being decided."""
        return self.significant is not None and self.better is None

    def swapped(self) -> "Comparison":
        """Return the comparison seen from the other model."""
        difference = self.difference.scaled(-1)
        rate = None if self.rate is None else _rate(difference)
        return replace(
            self,
            model_1=self.model_2,
            model_2=self.model_1,
            difference=difference,
            rate=rate,
            if_missing=self.if_missing and self.if_missing.scaled(-1),
        )


def adjust(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with p and level by Holm's method over all of them."""
    tested = holm([comparison.own_p for comparison in comparisons])
    return [
        replace(comparison, p=test.p, level=test.level)
        for comparison, test in zip(comparisons, tested, strict=True)
    ]


class Ranks(NamedTuple):
    """The places that a model may have."""

    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every two models of one column compared."""

    models: tuple[str, ...]
    pairs: tuple[Comparison, ...]

    def __repr__(self) -> str:
        return f"<Comparisons of {', '.join(self.models)[:160]}>"

    @functools.cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        return {(pair.model_1, pair.model_2): at for at, pair in enumerate(self.pairs)}

    def between(self, model_1: str, model_2: str) -> Comparison:
        """Return the comparison of two models, seen from the first."""
        if (at := self._places.get((model_1, model_2))) is not None:
            return self.pairs[at]
        return self.pairs[self._places[model_2, model_1]].swapped()

    def against(self, model: str) -> list[Comparison]:
        """Return a model compared with each of the others: a family of its own, M - 1 tests."""
        return adjust([self.between(model, other) for other in self.models if other != model])

    def ranks(self) -> dict[str, Ranks]:
        """Return the rank range of each model."""
        wins, losses = dict.fromkeys(self.models, 0), dict.fromkeys(self.models, 0)
        for pair in self.pairs:
            if pair.better is not None:
                wins[pair.better] += 1
                losses[pair.model_2 if pair.better == pair.model_1 else pair.model_1] += 1
        return {name: Ranks(1 + losses[name], len(wins) - wins[name]) for name in self.models}


class Difference(NamedTuple):
    """Two models by their places, the difference, and the number of opponents it rests on."""

    at_1: int
    at_2: int
    estimate: Estimate
    opponents: int


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
    valid = scores.take(scores.valid)
    names = valid.models_present if models is None else tuple(models)
    two = scores.paired and not drawn and set(names) == set(scores.models_present)
    head_to_head = two and len(names) == 2
    if drawn:
        differences = _by_strengths(scores, names)
    else:
        differences = _on_what_both_did(valid, names, influences=looks is not None)
    pairs = []
    for at_1, at_2, difference, opponents in differences:
        if looks is not None and difference.n:
            last = looks[~np.isnan(difference.influence)].max()
            difference = replace(difference, fraction=int(last) / LOOKS)
        if difference.fixed is None:
            difference = difference.without_influences()
        rate = _rate(difference) if head_to_head else None
        pairs.append((names[at_1], names[at_2], difference, opponents, rate))
    tested = holm([of.p if rate is None else rate.p_half for *_, of, _, rate in pairs])
    return Comparisons(
        names,
        tuple(
            Comparison(one, other, difference, test.p, opponents, test.level, rate)
            for (one, other, difference, opponents, rate), test in zip(pairs, tested, strict=True)
        ),
    )


def shared_questions(scores: Scores, model_1: str, model_2: str) -> Bools:
    """Return which questions the comparison of two models rests on."""
    valid = scores.take(scores.valid)
    (difference,) = _on_what_both_did(valid, (model_1, model_2), influences=True)
    result: Bools = ~np.isnan(difference.estimate.influence)
    return result


def _rate(difference: Estimate) -> Estimate:
    """Return the win rate of two models' pairs: 0.5 + half the difference."""
    return replace(difference.scaled(0.5, 0.5), share=True)


class _Cells(NamedTuple):
    """Outcomes by (question, turn, opponent, model), sorted; the mean of several in one cell."""

    question: Ints
    turn: Ints
    opponent: Ints
    model: Ints
    value: Floats
    """NaN: all verdicts of the cell are missing."""


def _cells_of(scores: Scores) -> _Cells:
    both = scores.mirrored()
    first, cell = distinct(both.question, both.turn, both.opponent, both.model)
    value = means(cell, both.value, len(first))
    question, turn = both.question[first], both.turn[first]
    return _Cells(question, turn, both.opponent[first], both.model[first], value)


def _on_what_both_did(
    scores: Scores, names: Sequence[str], *, influences: bool
) -> Iterator[Difference]:
    """Yield the differences of grades on each item, of pairs by opponent and to each other."""
    cells = _cells_of(scores)
    return _differences(scores, names, cells, cells.value, cells.value, influences=influences)


class _Sums(NamedTuple):
    """The differences of one model and each of some later ones, by question."""

    at: int
    later: list[int]
    sums: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    opponents: list[int]


def _differences(
    scores: Scores,
    names: Sequence[str],
    cells: _Cells,
    mine: Floats,
    theirs: Floats,
    wanted: Collection[tuple[int, int]] | None = None,
    *,
    influences: bool = False,
) -> Iterator[Difference]:
    """Yield each two models' difference; the first has the values `mine`, the second `theirs`.

    `wanted` are the places of the models, the earlier first; None: all.
    """
    turns = int(np.ptp(cells.turn)) + 1 if len(mine) else 0
    are_grades = bool((cells.opponent < 0).all())
    size = turns * len(scores.models) * len(scores.questions)
    is_dense = are_grades and 4 * len(mine) >= size > 0
    sums_of = _by_rows if is_dense else _by_cells
    for at, later, sums, counts, opponents in sums_of(scores, names, cells, mine, theirs, wanted):
        estimates = map(ratio, sums, counts) if influences else ratios(sums, counts)
        for to, estimate, number in zip(later, estimates, opponents, strict=True):
            yield Difference(at, to, estimate, number)


def _by_cells(
    scores: Scores,
    names: Sequence[str],
    cells: _Cells,
    mine: Floats,
    theirs: Floats,
    wanted: Collection[tuple[int, int]] | None,
) -> Iterator[_Sums]:
    """Yield the differences of each model.

    Its cells are laid beside all cells of the same groups, so the work grows with the outcomes that
    can be compared, not with all that there could be.
    """
    # Of one group are outcomes that can be compared: on one turn, against one opponent.
    _, group = distinct(cells.question, cells.turn, cells.opponent)
    starts = np.searchsorted(group, np.arange(group.max(initial=-1) + 2))
    by_model = np.argsort(cells.model, kind="stable")
    bounds = np.searchsorted(cells.model[by_model], np.arange(len(scores.models) + 1))
    code = {name: at for at, name in enumerate(scores.models)}
    codes = [code[name] for name in names]
    models, questions = len(scores.models), len(scores.questions)
    for at, model in enumerate(codes[:-1]):
        if not (later := _beside(at, len(codes), wanted)):
            continue
        own = by_model[bounds[model] : bounds[model + 1]]
        begin, end = starts[group[own]], starts[group[own] + 1]
        lengths = end - begin
        one = np.repeat(own, lengths)  # each own cell, and beside it each cell of its group
        other = np.arange(len(one)) + np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
        place = cells.model[other] * questions + cells.question[one]
        met = own[cells.opponent[own] >= 0]
        place = np.concatenate([place, cells.opponent[met] * questions + cells.question[met]])
        term = np.concatenate([mine[one] - theirs[other], 2 * mine[met] - 1])
        shape, size = (models, questions), models * questions
        sums = np.bincount(place, term, size).reshape(shape)
        counts = np.bincount(place, minlength=size).reshape(shape)
        shared = np.zeros((models, models + 1), dtype=bool)
        shared[cells.model[other], cells.opponent[one]] = True  # -1, no opponent, is the last
        opponents = shared[:, :-1].sum(axis=1)
        others = [codes[to] for to in later]
        yield _Sums(at, later, sums[others], counts[others], opponents[others].tolist())


def _beside(at: int, models: int, wanted: Collection[tuple[int, int]] | None) -> list[int]:
    """Return the later models that one is compared with."""
    return [to for to in range(at + 1, models) if wanted is None or (at, to) in wanted]


def _by_rows(
    scores: Scores,
    names: Sequence[str],
    cells: _Cells,
    mine: Floats,
    theirs: Floats,
    wanted: Collection[tuple[int, int]] | None,
) -> Iterator[_Sums]:
    """Yield what `_by_cells` yields of grades, by a table of turns by models by questions.

    It costs a tenth where most models were judged on most items.
    """
    place = cells.turn - cells.turn.min(), cells.model, cells.question
    shape = int(place[0].max()) + 1, len(scores.models), len(scores.questions)

    def table(values: Floats) -> Floats:
        filled = np.full(shape, np.nan)
        filled[place] = values
        return filled

    first = table(mine)
    second = first if theirs is mine else table(theirs)
    codes = [scores.models.index(name) for name in names]
    for at, model in enumerate(codes[:-1]):
        if not (later := _beside(at, len(codes), wanted)):
            continue
        term = second[:, [codes[to] for to in later]]
        np.subtract(first[:, model, None], term, out=term)
        is_there = ~np.isnan(term)
        term[~is_there] = 0
        yield _Sums(at, later, term.sum(axis=0), is_there.sum(axis=0), [0] * len(later))


def _by_strengths(scores: Scores, names: Sequence[str]) -> Iterator[Difference]:
    ratings = strengths(scores)
    nothing = Estimate(np.nan, np.full(len(scores.questions), np.nan))
    for at, model_1 in enumerate(names):
        for later, model_2 in enumerate(names[at + 1 :], at + 1):
            first, second = ratings.get(model_1), ratings.get(model_2)
            estimate = first - second if first and second else nothing
            yield Difference(at, later, estimate, len(ratings) - 2)


def find_undecided(
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
    """Judgments on (question, turn) that another model, or of pairs another two, has."""

    @property
    def lost(self) -> int:
        """How many have no verdict."""
        return self.failed + self.absent


@dataclass(frozen=True, eq=False)
class Ranking:
    """The models of one column, the best first, with what can be said of them."""

    models: tuple[Summary, ...]
    """The complete ones first."""
    complete: tuple[str, ...]
    """Those of which so few verdicts are missing that they are compared."""
    comparisons: Comparisons
    ranks: dict[str, Ranks]
    """Of the complete ones."""
    missing: tuple[Missing, ...]
    strengths: Mapping[str, Estimate | None] = field(default_factory=dict)
    """Of pairs drawn at random: the ratings by which models are ranked and compared."""
    needed: int = 2
    """Models without which nothing is said; 1 against a baseline."""

    def __repr__(self) -> str:
        return f"<Ranking: {', '.join(self.names)[:160]}>"

    @property
    def incomplete(self) -> bool:
        """Whether so many judgments are missing that nothing is said."""
        return len(self.complete) < min(self.needed, len(self.models))

    @property
    def names(self) -> tuple[str, ...]:
        """The models, best first."""
        return tuple(summary["model"] for summary in self.models)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The models that are not compared."""
        return tuple(name for name in self.names if name not in self.complete)

    @functools.cached_property
    def best(self) -> str | None:
        """The model that is better than each of the others."""
        model = next(iter(self.complete), None)
        return model if self._decided(model, lambda pair: pair.better == model) else None

    @functools.cached_property
    def worst(self) -> str | None:
        """The model that each of the others is better than."""
        model = next(reversed(self.complete), None)
        decided = self._decided(model, lambda pair: pair.better not in (None, model))
        return model if decided else None

    def _decided(self, model: str | None, so: Callable[[Comparison], bool]) -> bool:
        if model is None or len(self.complete) < 2:
            return False
        return all(map(so, self.comparisons.against(model)))

    @property
    def neighbours(self) -> tuple[Comparison, ...]:
        """Each model compared with the next one."""
        pairs = zip(self.complete, self.complete[1:], strict=False)
        return tuple(self.comparisons.between(*pair) for pair in pairs)


def rank(
    scores: Scores,
    *,
    models: Collection[str] | None = None,
    baseline: str | None = None,
    drawn: bool = False,
    looks: Ints | None = None,
    judge_missing: bool = True,
) -> Ranking:
    """Return the models of one column ranked, by their means; of drawn pairs by their strengths.

    Args:
        scores: of one metric, one value for each item.
        models: which; None: all.
        baseline: an opponent that is not ranked itself.
        drawn: whether the pairs were drawn at random, see `compare`.
        looks: the look of each question, of a run that stops when it is decided; see `compare`.
        judge_missing: whether missing verdicts may forbid a word.
    """
    ranked = set(scores.models_present if models is None else models) - {baseline}
    summaries = [row for row in summarize(scores, by=("model",)) if row["model"] in ranked]
    places = {row["model"]: row.mean.value if row.n else -np.inf for row in summaries}
    ratings = strengths(scores) if drawn else {}
    if drawn:
        # A model without a rating won or lost all of its pairs.
        places = {name: np.inf if mean > 0.5 else -np.inf for name, mean in places.items()}
        places |= {model: rating.value for model, rating in ratings.items() if rating}
    asked = judge_missing and looks is None and not drawn
    absent = _absent(scores) if asked else _no_entries(scores)
    left_out = _incomplete(scores.plus(absent), places) if judge_missing else []
    needed = 1 if baseline is not None else 2
    enough = len(places) - len(left_out) >= needed  # else nothing is said of any
    summaries.sort(
        key=lambda row: (enough and row["model"] in left_out, -places[row["model"]], row["model"])
    )
    names = [summary["model"] for summary in summaries]
    complete = tuple(name for name in names if name not in left_out)
    compared = compare(scores, complete, drawn=drawn, looks=looks)
    if judge_missing and not drawn and (len(absent) or not scores.valid.all()):
        compared = _with_ends(compared, scores, _cells_of(scores.plus(absent)), left_out)
    lost = _counts(scores, absent, names) if judge_missing else []
    ranks = compared.ranks()
    ranking = Ranking(tuple(summaries), complete, compared, ranks, tuple(lost), ratings, needed)
    return replace(ranking, ranks=_ranks(ranking))


def _ranks(ranking: Ranking) -> dict[str, Ranks]:
    """Return the rank ranges; who is best or last of all is asked by itself, in M - 1 tests."""
    ranks, last = dict(ranking.ranks), len(ranking.complete)
    if ranking.best is not None:
        ranks = {name: Ranks(max(low, 2), max(high, 2)) for name, (low, high) in ranks.items()}
        ranks[ranking.best] = Ranks(1, 1)
    if ranking.worst is not None:
        most = last - 1
        ranks = {n: Ranks(min(low, most), min(high, most)) for n, (low, high) in ranks.items()}
        ranks[ranking.worst] = Ranks(last, last)
    return ranks


Relation: TypeAlias = Literal["beats", "loses to", ""]


class Rate(Protocol):
    """A win rate with an error."""

    @property
    def value(self) -> float:
        """The rate, from 0 to 1."""

    @property
    def p_half(self) -> float | None:
        """The p-value of its being one half."""

    def interval_at(self, level: float) -> Interval | None:
        """Return the interval that leaves out a rate with p < `level`."""


class Against(NamedTuple):
    """One model against the baseline, by Holm's method over the models."""

    model: str
    rate: Rate
    """The rate that decides: the win rate, or that at equal length."""
    interval: Interval | None
    """At the level of its Holm step."""
    verdict: Relation
    """Whether the interval excludes one half; empty: not decided."""
    controlled: bool = False
    """Whether the rate is that at equal length."""
    withheld: bool = False
    """Whether only missing verdicts keep it from being decided."""


def against_baseline(
    scores: Scores, ranking: Ranking, baseline: str, controlled: Mapping[str, Rate]
) -> tuple[Against, ...]:
    """Return whether each ranked model beats the baseline, the best first.

    Args:
        scores: the pairs with the baseline that are ranked.
        ranking: of these.
        baseline: the opponent of all.
        controlled: rates at equal length, which decide where there are some.
    """
    means = {row["model"]: row.mean for row in ranking.models}
    rates: dict[str, Rate] = {
        name: controlled.get(name, means[name])
        for name in ranking.complete
        if not controlled or name in controlled
    }
    whole = scores.plus(_absent(scores)) if ranking.missing else scores
    loss = np.where(whole.model == scores.models.index(baseline), 1.0, 0.0)
    ends = []
    for fill in (loss, 1 - loss):
        filled = replace(whole, value=np.where(whole.valid, whole.value, fill))
        ends.append({row["model"]: row.mean for row in summarize(filled)})
    rows = []
    tests = holm([rate.p_half for rate in rates.values()])
    for (name, rate), test in zip(rates.items(), tests, strict=True):
        interval, withheld = rate.interval_at(test.level), False
        verdict: Relation = ""
        if rate.p_half is not None and rate.p_half < test.level:
            verdict = "beats" if rate.value > 0.5 else "loses to"
            worst = ends[verdict != "beats"][name]
            shift = worst.value - means[name].value
            beyond = (rate.value + shift - 0.5) * (rate.value - 0.5) > 0
            withheld = shift != 0 and not (beyond and (worst.p_half or 0) < test.level)
        said = "" if withheld else verdict
        rows.append(Against(name, rate, interval, said, name in controlled, withheld))
    return tuple(sorted(rows, key=lambda row: -row.rate.value))


# Missing verdicts


def _no_entries(scores: Scores) -> Scores:
    return scores.take(np.empty(0, dtype=np.int64))


def _absent(scores: Scores) -> Scores:
    """Return an entry without verdict for each judgment that is not there.

    One is not there if it is on a (question, turn) that another model, or of pairs another two,
    was judged on; or a judge's on a turn of a judged question, if other questions of its category
    were judged on that turn (a program has checks for some turns only).

    A played user ends a conversation when it will, a model that continues from given turns is not
    judged on them, people vote on what they like, and of pairs that fill at most half of what they
    could it was never asked: there nothing is missing.
    """
    sources = scores.sources_present.values()
    if any(source.drawn or source.look or source.form == "vote" for source in sources):
        return _no_entries(scores)
    fixed = np.array([question.user is None for question in scores.questions], dtype=bool)
    known = scores.take(fixed[scores.question])
    is_expected = _expected_items(known)
    question, turn = (at.astype(known.turn.dtype) for at in np.nonzero(is_expected))
    number = np.cumsum(is_expected).reshape(is_expected.shape) - 1
    several, party = distinct(*known.ends)
    there = np.zeros((len(several), len(turn)), dtype=bool)
    there[party, number[known.question, known.turn]] = True
    if scores.paired and there.mean() <= 0.5:
        return _no_entries(scores)
    expected = np.ones_like(there)
    for at, entry in enumerate(several.tolist()):
        if not scores.paired and split_variant(scores.models[known.model[entry]])[1] is not None:
            expected[at] = np.isin(turn, turn[there[at]])
    parties, items = np.nonzero(expected & ~there)
    entries = several[parties]
    return replace(
        known.take(entries),
        question=question[items],
        turn=turn[items],
        value=constant(np.nan, len(entries)),
    )


def _expected_items(scores: Scores) -> Bools:
    """Return whether judgments should be on a question and turn: questions × turns, from 0."""
    categories = {question.category: at for at, question in enumerate(scores.questions)}
    category = np.array([categories[question.category] for question in scores.questions])
    length = np.array([len(question.turns) for question in scores.questions])
    there = np.zeros((len(category), int(scores.turn.max(initial=0)) + 1), dtype=bool)
    there[scores.question, scores.turn] = True
    judged, by_category = there.any(axis=1), np.zeros_like(there)
    question, turn = np.nonzero(there)
    by_category[category[question], turn] = True
    if all(source.kind == "judge" for source in scores.sources_present.values()):
        has = length[judged, None] >= np.arange(by_category.shape[1])
        there[judged] |= by_category[category[judged]] & has
    return there


def _incomplete(scores: Scores, models: Collection[str]) -> list[str]:
    """Return the models of which too many verdicts are missing.

    The worst one first: pairs with a model that is left out are not missing in its opponents.
    """
    both = scores.mirrored()
    left_out: list[str] = []
    while True:
        size = len(scores.models)
        total = np.bincount(both.model, minlength=size)
        lost = np.bincount(both.model[~both.valid], minlength=size)
        shares = {
            name: lost[at] / total[at]
            for at, name in enumerate(scores.models)
            if name in models and name not in left_out and total[at]
        }
        worst = max(shares, key=lambda name: shares[name], default=None)
        if worst is None or shares[worst] <= TOO_MANY_MISSING:
            return left_out
        left_out.append(worst)
        both = both.take(both.opponent != scores.models.index(worst))


def _with_ends(
    compared: Comparisons, scores: Scores, cells: _Cells, left_out: Collection[str]
) -> Comparisons:
    """Return comparisons with what they would be if missing verdicts were bad or good.

    The cells are of the scores and the absent ones.
    These count as the model's own 10th or 90th percentile; of pairs as a loss or a win. It is asked
    only where it could forbid a word: of significant differences of models that lack verdicts.
    """
    if left_out:
        gone = np.array([name in left_out for name in scores.models] + [False])
        kept = ~(np.isnan(cells.value) & gone[cells.opponent])
        cells = _Cells(*(column[kept] for column in cells))
    missing = np.isnan(cells.value)
    low, high = cells.value.copy(), cells.value.copy()
    lacking = present(cells.model[missing])
    for model in lacking:
        where = cells.model == model
        own = cells.value[where & ~missing]
        ends = (0.0, 1.0) if scores.paired else (0.0, 0.0)
        if len(own) and not scores.paired:
            # As numpy's `percentile`, which imports another tenth of numpy.
            places = np.linspace(0, 100, len(own))
            ends = tuple(np.interp([WORST, BEST], places, np.sort(own)).tolist())
        low[where & missing], high[where & missing] = ends
    lack = {scores.models[model] for model in lacking}
    pairs = dict(
        zip(itertools.combinations(range(len(compared.models)), 2), compared.pairs, strict=True)
    )
    asked = {
        places: pair
        for places, pair in pairs.items()
        if pair.own_p is not None and pair.own_p < LEVEL and lack & {pair.model_1, pair.model_2}
    }
    for is_ahead, mine, theirs in ((True, low, high), (False, high, low)):
        wanted = {at for at, pair in asked.items() if (pair.difference.value > 0) == is_ahead}
        for found in _differences(scores, compared.models, cells, mine, theirs, wanted):
            pair = pairs[found.at_1, found.at_2]
            fraction = pair.difference.fraction
            worst = replace(found.estimate, fraction=fraction)
            pairs[found.at_1, found.at_2] = replace(pair, if_missing=worst)
    return replace(compared, pairs=tuple(pairs.values()))


def missing(scores: Scores, models: Collection[str] | None = None) -> list[Missing]:
    """Return what is judged and what is missing of each model and turn."""
    return _counts(scores, _absent(scores), models)


def _counts(scores: Scores, absent: Scores, models: Collection[str] | None) -> list[Missing]:
    """Return the number of entries of each model and turn, and of those that are absent."""
    turns = int(max(part.turn.max(initial=0) for part in (scores, absent))) + 1
    size = len(scores.models) * turns
    is_read = scores.valid
    counts = []
    for part in (scores.take(is_read), scores.take(~is_read), absent):
        both = part.mirrored()
        counts.append(np.bincount(both.model * turns + both.turn, minlength=size))
    names = scores.models_present if models is None else models
    result = []
    for name in names:
        for turn in range(turns):
            at = scores.models.index(name) * turns + turn
            judged, failed, lacking = (int(count[at]) for count in counts)
            if judged or failed or lacking:
                result.append(Missing(name, turn, judged, failed, lacking))
    return result

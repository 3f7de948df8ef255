"""Votes -> how often two judges agree: the paper's two setups, Cohen's kappa, and the win rates beside them.

Every pair of votes of two judges on one item (question, turn and pair of models, in either orientation) counts once;
a judge never meets itself. Two games that disagree are a tie.

    S1: a tie is a third label           agreement = pairs of votes with equal labels / pairs of votes
    S2: pairs of votes in which either is a tie are left out, the rest as in S1
    kappa = (agreement - chance) / (1 - chance),   chance = sum over labels of share_1(label) * share_2(label)

Which of two models an item names first has no meaning, so kappa counts each pair of votes in both orientations; with
one orientation the same votes can give 0.69 or 0.39. In S2 chance is then one half, and kappa = 2 * agreement - 1.

Three items, judge: x, x, tie; expert: x, y, x. S1: 1 of 3 agree; shares of x, y and tie in both orientations: judge
1/3, 1/3, 1/3, expert 1/2, 1/2, 0; chance = 1/3, kappa = 0. S2: 1 of 2 agree, chance = 1/2, kappa = 0.

Intervals resample questions: all votes on a question move together (see `bootstrap`). Source: Zheng et al. 2023 (arXiv
2306.05685), section 4.2 and Table 5, which counts experts only; Cohen 1960 for kappa.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from harness.judgments.observations import winner
from harness.records import Observation, QuestionId
from harness.results.matrix import Floats
from harness.results.pairs.position import ordered_questions
from harness.results.statistics.bootstrap import (
    FEW,
    LEAST,
    RESAMPLINGS,
    Estimate,
    estimates,
    question_weights,
    strata_of,
)

Setup: TypeAlias = Literal["S1", "S2"]
SETUPS: tuple[Setup, ...] = ("S1", "S2")
FIRST, TIE, SECOND = 0, 1, 2
"""Labels of a vote: the model that the item names first is better, neither is, the other one is."""
_BLOCK = 1 << 21
"""Numbers that the resampled tables may hold at once (16 MB)."""


class Item(NamedTuple):
    """What is voted on: one turn of one question, the two models in the order of their names."""

    question_id: QuestionId
    turn: int
    first: str
    second: str


class Vote(NamedTuple):
    """What one judge or person says about an item."""

    judge: str
    """The name of the judge model or the voter."""
    made_by: str
    """Judge set and sampling: under another of these the same model is another judge."""
    label: int
    """FIRST, TIE or SECOND."""


Votes: TypeAlias = Mapping[Item, Sequence[Vote]]
Meeting: TypeAlias = tuple[Item, int, int]
"""An item and the labels that two judges gave it."""


class Count(NamedTuple):
    """How many pairs of votes agree, of how many."""

    agree: int
    total: int


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The agreement of two judges, or groups of judges, in one setup."""

    judge1: str
    judge2: str
    """The same as `judge1` where different judges of one group meet."""
    turn: int | None
    """None: all turns together."""
    category: str | None
    """None: all categories together."""
    setup: Setup
    agree: int
    total: int
    """Pairs of votes that count."""
    ratio: float | None
    """agree / total; None of nothing."""
    kappa: float | None
    """None of nothing, or where chance alone would always agree."""
    low: float | None
    """95% interval of the ratio; None on fewer than five questions, or where all agree equally."""
    high: float | None
    kappa_low: float | None
    """95% interval of kappa."""
    kappa_high: float | None


@dataclass(frozen=True, slots=True)
class WinRateRow:
    """How a model fares with two judges on the items that both voted on."""

    model: str
    judge1: str
    judge2: str
    turn: int | None
    """None: all turns together."""
    n: int
    """Items with this model that both voted on."""
    rate1: float
    """Share of them that judge 1 gives to the model, a tie half."""
    rate2: float
    difference: float
    """rate1 - rate2: how much better the model looks to judge 1."""
    low: float | None
    """95% interval of the difference; None on fewer than five questions, or where all differ equally."""
    high: float | None


def votes_of(pairs: Iterable[Observation]) -> dict[Item, list[Vote]]:
    """Return the votes by item; pairs in which a game gave no verdict are left out (count them: `without_verdict`)."""
    votes: dict[Item, list[Vote]] = {}
    for pair in pairs:
        won = winner(pair.games)
        if won is None:
            continue
        first, second = sorted((pair.model, str(pair.opponent)))
        label = TIE if won == 0.5 else FIRST if (won == 1.0) == (pair.model == first) else SECOND
        made_by = f"{pair.source.set_text}, {pair.source.sampling}"
        item = Item(pair.question_id, pair.turn, first, second)
        votes.setdefault(item, []).append(Vote(pair.source.judge, made_by, label))
    return votes


def without_verdict(pairs: Iterable[Observation]) -> int:
    """Return how many pairs `votes_of` leaves out because a game gave no verdict."""
    return sum(winner(pair.games) is None for pair in pairs)


def by_judge(votes: Votes) -> dict[str, dict[Item, list[Vote]]]:
    """Return the votes of each judge, by name, for agreement of every two of a panel."""
    found: dict[str, dict[Item, list[Vote]]] = {}
    for item, cast in votes.items():
        for vote in cast:
            found.setdefault(vote.judge, {}).setdefault(item, []).append(vote)
    return {judge: found[judge] for judge in sorted(found)}


def by_majority(votes: Votes, name: str) -> dict[Item, list[Vote]]:
    """Return one vote of `name` for each item, the label that most gave; a tie where no label has most."""
    return {item: [Vote(name, "majority", _majority(cast))] for item, cast in votes.items()}


def _majority(cast: Sequence[Vote]) -> int:
    counts = [sum(vote.label == label for vote in cast) for label in (FIRST, TIE, SECOND)]
    return counts.index(max(counts)) if counts.count(max(counts)) == 1 else TIE


def between(left: Votes, right: Votes, setup: Setup) -> Count:
    """Return the agreement of every vote of the one side with every vote of another judge on the other side."""
    return _count(_met_between(left, right), setup)


def within(votes: Votes, setup: Setup) -> Count:
    """Return the agreement of different judges of one side with each other."""
    return _count(_met_within(votes), setup)


def _met_between(left: Votes, right: Votes) -> Iterator[Meeting]:
    for item in left.keys() & right.keys():
        for one in left[item]:
            for other in right[item]:
                if one[:2] != other[:2]:
                    yield item, one.label, other.label


def _met_within(votes: Votes) -> Iterator[Meeting]:
    for item, cast in votes.items():
        for one, other in combinations(cast, 2):
            if one[:2] != other[:2]:
                yield item, one.label, other.label


def _count(met: Iterable[Meeting], setup: Setup) -> Count:
    kept = [(one, other) for _, one, other in met if setup == "S1" or TIE not in (one, other)]
    return Count(sum(one == other for one, other in kept), len(kept))


def agreement_rows(
    left: Votes,
    right: Votes,
    *,
    names: tuple[str, str],
    categories: Mapping[QuestionId, str] | None = None,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> list[AgreementRow]:
    """Return the agreement of two sides, then of the judges within each side of which two voted on one item.

    For each: all categories together, then every category; every turn, then all turns together; S1, then S2.
    `categories` maps questions to theirs; without it no row is by category and questions are resampled as one group.
    """
    sides = [(names, list(_met_between(left, right)), False)]
    sides += [((name, name), list(_met_within(votes)), True) for name, votes in zip(names, (left, right), strict=True)]
    return [
        row
        for judges, met, unordered in sides
        if met
        for row in _rows(judges, met, unordered, categories or {}, resamplings, seed)
    ]


def _rows(
    judges: tuple[str, str],
    met: Sequence[Meeting],
    unordered: bool,
    categories: Mapping[QuestionId, str],
    resamplings: int,
    seed: int,
) -> list[AgreementRow]:
    questions = ordered_questions((item.question_id for item, _, _ in met), categories)
    place = {question: at for at, question in enumerate(questions)}
    groups = [categories.get(question) for question in questions]
    turns = sorted({item.turn for item, _, _ in met})
    tables = np.zeros((len(turns), len(questions), 3, 3))
    for item, one, other in met:
        tables[turns.index(item.turn), place[item.question_id], one, other] += 1
    parts = [
        (turn, category, setup, own)
        for category in (None, *(c for c in dict.fromkeys(categories.values()) if c in groups))
        for turn in ((*turns, None) if len(turns) > 1 else turns)
        for setup in SETUPS
        for own in [_part(tables if turn is None else tables[[turns.index(turn)]], groups, category, setup)]
    ]
    agree = np.stack([np.trace(own, axis1=1, axis2=2) for *_, own in parts], axis=1)
    total = np.stack([own.sum(axis=(1, 2)) for *_, own in parts], axis=1)
    ratios = estimates(agree, total, groups, resamplings=resamplings, seed=seed, bounds=(0.0, 1.0))
    rows = []
    for column, (turn, category, setup, own) in enumerate(parts):
        counted = int(agree[:, column].sum()), int(total[:, column].sum())
        ratio = ratios[column]
        both = _both_orientations(own + own.swapaxes(1, 2) if unordered else own)
        kappa = table_estimate(both, cohen_kappa, groups, resamplings=resamplings, seed=seed)
        interval = ratio.low, ratio.high, kappa.low, kappa.high
        rows.append(AgreementRow(*judges, turn, category, setup, *counted, ratio.value, kappa.value, *interval))
    return rows


def _part(tables: Floats, groups: Sequence[str | None], category: str | None, setup: Setup) -> Floats:
    """Return questions × labels × labels: the votes that count, 0 elsewhere."""
    part: Floats = tables.sum(axis=0)
    if category is not None:
        part[[group != category for group in groups]] = 0
    if setup == "S2":
        part[:, TIE, :] = part[:, :, TIE] = 0
    return part


def _both_orientations(tables: Floats) -> Floats:
    return tables + tables[..., ::-1, ::-1]


def cohen_kappa(table: Floats) -> Floats:
    """Return Cohen's kappa of tables of counts (last two axes); NaN where chance alone would always agree."""
    total = table.sum(axis=(-2, -1))
    agree = np.trace(table, axis1=-2, axis2=-1) * total
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    kappa: Floats = np.divide(
        agree - chance, total**2 - chance, out=np.full(total.shape, np.nan), where=total**2 > chance
    )
    return kappa


def table_estimate(
    tables: Floats,
    statistic: Callable[[Floats], Floats],
    groups: Sequence[Any],
    *,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> Estimate:
    """Return a statistic between -1 and 1 of summed tables (questions × n × n), with its 95% interval.

    From 30 questions on, the tables are resampled (percentile bootstrap); with fewer, the jackknife's pseudo-values of
    the questions are (studentized). Questions with an empty table, and resamples in which the
    statistic does not exist, are left out. Simulated coverage for kappa, correlations and alpha: 94 to 97% with 5 to
    29 questions, 93 to 95% with 30 to 80.
    """
    present = np.flatnonzero(tables.sum(axis=(1, 2)) > 0)
    tables, own = tables[present], [groups[at] for at in present.tolist()]
    whole = tables.sum(axis=0)
    value = float(statistic(whole))
    n = len(present)
    none = Estimate(None if np.isnan(value) else value, None, None, n, None)
    if np.isnan(value) or n < LEAST:
        return none
    without = _statistics(np.ones((n, n)) - np.eye(n), tables, statistic)
    if np.isnan(without).any() or np.ptp(without) < 1e-12:
        return none
    if n < FEW:
        pseudo = value + (n - 1) * (without.mean() - without)
        return estimates(pseudo[:, None], np.ones((n, 1)), own, resamplings=resamplings, seed=seed, bounds=(-1.0, 1.0))[
            0
        ]
    strata = strata_of(own)
    resampled = np.concatenate(
        [
            _statistics(weights, tables, statistic)
            for weights in question_weights(strata, corrected=True, resamplings=resamplings, seed=seed)
        ]
    )
    low, high = np.quantile(resampled[~np.isnan(resampled)], (0.025, 0.975)).tolist()
    return Estimate(value, low, high, n, "percentile")


def _statistics(weights: Floats, tables: Floats, statistic: Callable[[Floats], Floats]) -> Floats:
    """Return the statistic for each row of weights on the questions."""
    flat = tables.reshape(len(tables), -1)
    rows = max(1, _BLOCK // flat.shape[1])
    blocks = [weights[start : start + rows] @ flat for start in range(0, len(weights), rows)]
    return np.concatenate([statistic(block.reshape(-1, *tables.shape[1:])) for block in blocks])


def win_rate_rows(
    left: Votes,
    right: Votes,
    *,
    names: tuple[str, str],
    categories: Mapping[QuestionId, str] | None = None,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> list[WinRateRow]:
    """Return each model's win rate with both sides on the items on which both voted; models by name, turn by turn.

    A side's several votes on an item count as their majority (`by_majority`), so that every item counts once.
    """
    common = left.keys() & right.keys()
    questions = ordered_questions((item.question_id for item in common), categories)
    place = {question: at for at, question in enumerate(questions)}
    models = sorted({model for item in common for model in (item.first, item.second)})
    turns = sorted({item.turn for item in common})
    parts = [(model, turn) for model in models for turn in ((*turns, None) if len(turns) > 1 else turns)]
    column = {part: at for at, part in enumerate(parts)}
    wins, counts = np.zeros((2, len(questions), len(parts))), np.zeros((len(questions), len(parts)))
    for item in common:
        row = place[item.question_id]
        shares = np.array([1 - _majority(side[item]) / 2 for side in (left, right)])
        for model, own in ((item.first, shares), (item.second, 1 - shares)):
            for part in {(model, item.turn), (model, None)} & column.keys():
                wins[:, row, column[part]] += own
                counts[row, column[part]] += 1
    groups = [(categories or {}).get(question) for question in questions]
    found = estimates(wins[0] - wins[1], counts, groups, resamplings=resamplings, seed=seed, bounds=(-1.0, 1.0))
    rows = []
    for (model, turn), at in column.items():
        n = int(counts[:, at].sum())
        rate1, rate2 = (wins.sum(axis=1)[:, at] / n).tolist()
        rows.append(WinRateRow(model, *names, turn, n, rate1, rate2, rate1 - rate2, found[at].low, found[at].high))
    return rows

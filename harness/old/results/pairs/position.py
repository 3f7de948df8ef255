"""Both games of every pair -> the judge's position bias.

Game 1 shows model_1 first, game 2 shows model_2 first. By the winners of the two games a pair is

    consistent      equal winners, or two ties                one_sided_tie  exactly one game is a tie
    biased_first    whoever was shown first won both games   biased_second  whoever was shown second won both games

    share of each = its pairs / n        first_share = games won by the answer shown first / games not tied

n leaves out pairs in which a game gave no verdict (`errors`) and pairs that were judged in one order only. As every
answer is shown first once and second once, a judge that ignores the order has a first_share of one half, whichever
models are better.

73 pairs: 46 consistent (8 of them two ties), 16 biased to first, 2 to second, 9 one-sided ties. The shares are 63.0%,
21.9%, 2.7% and 12.3%; 78 of 121 games not tied went to the answer shown first, first_share = 64.5%.

Score gap: the difference in win_rate_adjusted (see `pairwise`) of the two models, in quartiles of the pairs; pairs
of equal gap are never split, so a file with two models has one group. All intervals resample questions: both games, the
turns and all pairs of a question move together (see `bootstrap`). Source: Zheng et al. 2023 (arXiv 2306.05685), section
3.3 and Table 2, which has no column for one-sided ties.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, Unpack

import numpy as np

from harness.old.judgments.observations import Observations, weighed
from harness.old.records import Games, Observation, QuestionId
from harness.old.results.matrix import Floats, Ints, tally
from harness.old.results.pairs.pairwise import pairwise_rows
from harness.old.results.statistics.bootstrap import Resampling, estimates
from harness.old.results.table import Row

By: TypeAlias = Literal["all", "judge", "category", "turn", "score gap"]
KINDS = ("consistent", "biased_first", "biased_second", "one_sided_tie")


def position_rows(
    comparisons: Sequence[Observation],
    *,
    categories: Mapping[QuestionId, str] | None = None,
    **how: Unpack[Resampling],
) -> list[Row]:
    """Return the row of all pairs, then a row for each judge, category, turn and quarter of the score gap.

    `by` and `group` say which pairs a row is about: all (None), or those of a judge, category, turn or range of gaps
    (None: of a question whose category is not known). `n` are its pairs with a verdict in both games, `errors` those
    left out without; then come the pairs of each of `KINDS` and their shares. `first_share` is `first_games`, won by
    the answer shown first, of `decided_games`, which are no tie.

    `categories` maps questions to theirs, in the order in which they are shown; without it no row is by category. Pairs
    played in one order only are left out (count them: `in_one_order`).
    """
    pairs = played_twice(comparisons)
    case, asked, code = (at.astype(np.int64) for at in (pairs.case_at, pairs.asked_at, pairs.said))
    questions = ordered_questions(pairs.questions(), categories)
    place = {question: at for at, question in enumerate(questions)}
    question = np.array([place[about.question_id] for about in pairs.asked], dtype=np.int64)[asked]
    of_games = [_counted(games) for games in pairs.games]
    adds, counts = (np.array([own[side] for own in of_games], dtype=np.int8)[code] for side in (0, 1))
    groups = _groups(pairs, case, asked, categories)
    sums: list[Floats] = []
    of: list[Floats] = []
    for _, _, own in groups:
        cells = np.repeat(question[own], 5), np.tile(np.arange(5), len(own))
        for each, found in ((adds, sums), (counts, of)):
            found.append(tally((len(questions), 5), *cells, weights=each[own].ravel().astype(np.float64)))
    shares = iter(estimates(np.concatenate(sums, axis=1), np.concatenate(of, axis=1), **how, bounds=(0.0, 1.0)))
    rows = []
    for by, group, chosen in groups:
        *each, first_games = adds[chosen].sum(axis=0).tolist()
        n, *_, decided = counts[chosen].sum(axis=0).tolist()
        about: Row = {"by": by, "group": group, "n": n, "errors": len(chosen) - n}
        about |= dict(zip(KINDS, each, strict=True)) | {f"{kind}_share": next(shares) for kind in KINDS}
        rows.append(about | {"first_games": first_games, "decided_games": decided, "first_share": next(shares)})
    return rows


def played_twice(comparisons: Sequence[Observation]) -> Observations:
    """Return the pairs that were played in both orders, as columns."""
    pairs = Observations.of(comparisons)
    both = np.array([len(games) == 2 for games in pairs.games], dtype=bool)
    return pairs if both.all() else pairs.only(both[part.said.astype(np.int64)] for part in pairs.parts())


def in_one_order(comparisons: Sequence[Observation]) -> int:
    """Return how many pairs were played in one order only, so that nothing is known about the judge's bias."""
    return len(comparisons) - len(played_twice(comparisons))


def ordered_questions(
    questions: Iterable[QuestionId], categories: Mapping[QuestionId, str] | None = None
) -> list[QuestionId]:
    """Return each question once, in an order that does not depend on the order of the rows."""
    known = {question: at for at, question in enumerate(categories or {})}
    return sorted(set(questions), key=lambda q: (known.get(q, len(known)), isinstance(q, str), q))


def _counted(games: Games) -> tuple[Sequence[int], Sequence[int]]:
    """Return what a pair adds to each of the five shares and how much it counts there; nothing where a game gave no
    verdict."""
    if None in games or len(games) != 2:
        return [0] * 5, [0] * 5
    # 1 if the row's first model won a game, -1 if the other one did, 0 for a tie
    one, other = ((game > 0.5) - (game < 0.5) for game in games if game is not None)
    by_place = "biased_first" if one > other else "biased_second"
    kind = "consistent" if one == other else "one_sided_tie" if 0 in (one, other) else by_place
    firsts, decided = (one > 0) + (other < 0), (one != 0) + (other != 0)
    return [*(int(kind == name) for name in KINDS), firsts], [1, 1, 1, 1, decided]


def _groups(
    pairs: Observations, case: Ints, asked: Ints, categories: Mapping[QuestionId, str] | None
) -> list[tuple[By, str | int | None, Ints]]:
    """Return what the rows are about: how it is grouped, the group, and which pairs belong to it.

    `case` and `asked` say of each pair which of the cases it is and what it is about.
    """
    judges = [own.source.judge for own in pairs.cases]
    turns = [own.turn for own in pairs.cases]
    found: list[tuple[By, str | int | None, Ints]] = [("all", None, np.arange(len(case)))]
    found += [("judge", judge, _where(judges, judge, case)) for judge in sorted(set(judges))]
    if categories is not None:
        own = [categories.get(about.question_id) for about in pairs.asked]
        order = [category for category in (*dict.fromkeys(categories.values()), None) if category in set(own)]
        found += [("category", category, _where(own, category, asked)) for category in order]
    found += [("turn", turn, _where(turns, turn, case)) for turn in sorted(set(turns))]
    found += [("score gap", label, chosen) for label, chosen in _gaps(pairs, case)]
    return found


def _where(values: Sequence[object], value: object, of: Ints) -> Ints:
    """Return the pairs that have a value, by the places of theirs in `values`."""
    return np.flatnonzero(np.array([own == value for own in values] or [False])[of])


def _gaps(pairs: Observations, case: Ints) -> list[tuple[str, Ints]]:
    """Return up to four groups of pairs by the gap of their models, and last those of a model without any win rate."""
    halved = "discrete_win_rate" if weighed(pairs) else "win_rate_adjusted"
    rates = {line.model: line.fields[halved] for line in pairwise_rows(pairs)}
    sides = [(rates[own.models[0]], rates[own.models[1]]) for own in pairs.cases]
    gaps = [np.nan if one is None or other is None else round(abs(one - other), 12) for one, other in sides]
    gap = np.array(gaps, dtype=np.float64)[case]
    known = np.flatnonzero(~np.isnan(gap))
    found = []
    if len(known):
        edges = np.unique(np.quantile(gap[known], (0.25, 0.5, 0.75), method="inverted_cdf"))
        quarter = np.searchsorted(edges, gap[known])
        for at in np.unique(quarter):
            own = known[quarter == at]
            found.append((_range(float(gap[own].min()), float(gap[own].max())), own))
    if len(known) < len(gap):
        found.append(("no win rate", np.flatnonzero(np.isnan(gap))))
    return found


def _range(least: float, greatest: float) -> str:
    low, high = f"{least:.3f}", f"{greatest:.3f}"
    return low if low == high else f"{low} to {high}"

"""How often two judges agree on an item, for pairs and labels: the same label, or the same winner.

Every pair of votes of two judges on one item (question, turn and one answer, or a pair in either orientation) counts
once; a judge is never compared with itself.

Pairs: two games that disagree are a tie.

    S1: a tie is a third label           agreement = pairs of votes with equal labels / pairs of votes
    S2: pairs of votes in which either is a tie are left out, the rest as in S1
    kappa = (agreement - chance) / (1 - chance),   chance = sum over labels of share_1(label) * share_2(label)

Which of two models an item names first is arbitrary, so kappa counts each pair of votes in both orientations; with
one orientation the same votes can give 0.69 or 0.39. In S2 chance is then one half, and kappa = 2 * agreement - 1.

Three items, judge: x, x, tie; expert: x, y, x. S1: 1 of 3 agree; shares of x, y and tie in both orientations: judge
1/3, 1/3, 1/3, expert 1/2, 1/2, 0; chance = 1/3, kappa = 0. S2: 1 of 2 agree, chance = 1/2, kappa = 0.

Labels have no order, and two that differ by capitals are two. Of CORRECT, CORRECT, WRONG, WRONG by one and CORRECT,
WRONG, WRONG, WRONG by the other 3/4 agree, chance = 1/2 * 1/4 + 1/2 * 3/4 = 1/2, kappa = 1/2. Label by label: of the
two that the first calls CORRECT the other does so with one, 1/2; of the one that the other calls CORRECT the first does
with all, 1.

Source: Zheng et al. 2023 (arXiv 2306.05685), section 4.2 and Table 5, which counts experts only.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from harness.old.meta_evaluation.contingency import agreed, cohen_kappa, table_estimate, tabulated
from harness.old.meta_evaluation.votes import FIRST, SECOND, TIE, Categories, Meeting, Votes, met_between, met_within, mode
from harness.old.results.matrix import Floats
from harness.old.results.pairs.position import ordered_questions
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates

Setup: TypeAlias = Literal["S1", "S2"]
SETUPS: tuple[Setup, ...] = ("S1", "S2")
SIDES = (FIRST, TIE, SECOND)


@dataclass(frozen=True, slots=True)
class Contingency:
    """The contingency table of two sides on the same items."""

    judges: tuple[str, str]
    """The same name twice where different judges of one side meet."""
    values: tuple[Any, ...]
    groups: tuple[str | None, ...]
    """For each question its category."""
    categories: tuple[str, ...]
    """Those of them, in the order of the benchmark."""
    tables: Mapping[int | None, Floats]
    """By turn, None for all turns together: questions × values of the one × values of the other."""
    paired: bool


def contingencies(sides: Mapping[str, Votes], categories: Categories | None = None) -> list[Contingency]:
    """Return the tables of every two sides, then of the judges within each side, of which two voted on one item."""
    met = [((one, other), met_between(sides[one], sides[other])) for one, other in itertools.combinations(sides, 2)]
    met += [((name, name), met_within(votes)) for name, votes in sides.items()]
    return [_contingency(judges, own, categories or {}) for judges, found in met if (own := list(found))]


def _contingency(judges: tuple[str, str], met: Sequence[Meeting], categories: Categories) -> Contingency:
    paired = bool(met[0][0].second)
    values: tuple[Any, ...] = SIDES if paired else tuple(sorted({said for _, *both in met for said in both}))
    code = {value: at for at, value in enumerate(values)}
    questions = ordered_questions((item.question_id for item, _, _ in met), categories)
    place = {question: at for at, question in enumerate(questions)}
    tables: dict[int | None, Floats] = {
        turn: tabulated(
            ((place[item.question_id], code[one], code[other], 1.0) for item, one, other in met if item.turn == turn),
            len(questions),
            len(values),
        )
        for turn in sorted({item.turn for item, _, _ in met})
    }
    if len(tables) > 1:
        tables[None] = np.sum(list(tables.values()), axis=0)
    groups = tuple(categories.get(question) for question in questions)
    there = tuple(category for category in dict.fromkeys(categories.values()) if category in groups)
    return Contingency(judges, values, groups, there, tables, paired)


def agreement_rows(met: Contingency, **how: Unpack[Resampling]) -> Iterator[dict[str, Any]]:
    """Yield the agreement by category and turn, of pairs in both setups; of labels a turn's categories together.

    All categories together come first, then every category; every turn, then all turns together; S1, then S2. `agree`
    of `total` pairs of votes agree; their `ratio` has the interval `low` to `high`, which is None on fewer than five
    questions, or if all agree equally. `kappa` is None if agreement by chance is certain.
    """
    parts = [
        (turn, category, setup, _part(table, met.groups, category, setup))
        for category in (None, *met.categories)
        for turn, table in met.tables.items()
        for setup in (SETUPS if met.paired else (None,))
    ]
    if not met.paired:
        turns = list(met.tables)
        parts = [part for part in parts if part[3].any() and (part[1] is None or len(met.categories) > 1)]
        parts.sort(key=lambda part: turns.index(part[0]))
    estimate = partial(table_estimate, **how)
    # The shares of all parts of a table are resampled at once: there are many of them for pairs.
    agree = np.stack([np.trace(own, axis1=1, axis2=2) for *_, own in parts], axis=1)
    total = np.stack([own.sum(axis=(1, 2)) for *_, own in parts], axis=1)
    shares = estimates(agree, total, bounds=(0.0, 1.0), **how) if met.paired else None
    for at, (turn, category, setup, own) in enumerate(parts):
        ratio = _not_below_0(estimate(own, agreed)) if shares is None else shares[at]
        kappa = estimate(_unoriented(met, own), cohen_kappa)
        row: dict[str, Any] = {"judge1": met.judges[0], "judge2": met.judges[1], "turn": turn, "category": category}
        row |= {"setup": setup} if setup else {}
        row |= {"agree": int(agree[:, at].sum()), "total": int(total[:, at].sum())}
        yield row | {"ratio": ratio, "kappa": kappa}


def _not_below_0(share: Estimate) -> Estimate:
    return share if share.low is None else replace(share, low=max(0.0, share.low))


def _part(table: Floats, groups: Sequence[str | None], category: str | None, setup: Setup | None) -> Floats:
    """Return the votes that count, 0 elsewhere."""
    part = table.copy()
    if category is not None:
        part[[group != category for group in groups]] = 0
    if setup == "S2":
        tie = SIDES.index(TIE)
        part[:, tie, :] = part[:, :, tie] = 0
    return part


def _unoriented(met: Contingency, own: Floats) -> Floats:
    """Return tables of pairs in both orientations, and for judges of one side in both of their orders."""
    if not met.paired:
        return own
    own = own + own.swapaxes(1, 2) if met.judges[0] == met.judges[1] else own
    return own + own[..., ::-1, ::-1]


def by_label(met: Contingency) -> list[dict[str, Any]]:
    """Return for each label how often either side gives it, how often both do, and the shares that follow."""
    rows = []
    for turn, table in met.tables.items():
        whole = table.sum(axis=0)
        for at, name in enumerate(met.values):
            one, other, both = int(whole[at].sum()), int(whole[:, at].sum()), int(whole[at, at])
            if one + other:
                row = {"judge1": met.judges[0], "judge2": met.judges[1], "turn": turn, "label": name}
                row |= {"by_judge1": one, "by_judge2": other, "by_both": both}
                row |= {"share_of_judge1": both / one if one else None}
                rows.append(row | {"share_of_judge2": both / other if other else None})
    return rows


def win_rate_rows(
    left: Votes, right: Votes, names: tuple[str, str], categories: Categories | None = None, **how: Unpack[Resampling]
) -> Iterator[dict[str, Any]]:
    """Yield each model's win rate with both sides on the items on which both voted; models by name, turn by turn.

    Of the `n` items with the model, `rate1` is the share that the first side gives to it, a tie half; `difference` is
    rate1 - rate2, and `low` to `high` its interval. A side's several votes on an item count as their majority
    (`by_majority`), so that every item counts once.
    """
    common = left.keys() & right.keys()
    questions = ordered_questions((item.question_id for item in common), categories)
    place = {question: at for at, question in enumerate(questions)}
    models = sorted({model for item in common for model in (item.first, item.second)})
    turns = sorted({item.turn for item in common})
    parts = itertools.product(models, (*turns, None) if len(turns) > 1 else turns)
    column = {part: at for at, part in enumerate(parts)}
    wins, counts = np.zeros((2, len(questions), len(column))), np.zeros((len(questions), len(column)))
    for item in common:
        row = place[item.question_id]
        shares = np.array([mode([vote.said for vote in side[item]]) for side in (left, right)])
        for model, own in ((item.first, shares), (item.second, 1 - shares)):
            for part in {(model, item.turn), (model, None)} & column.keys():
                wins[:, row, column[part]] += own
                counts[row, column[part]] += 1
    found = estimates(wins[0] - wins[1], counts, bounds=(-1.0, 1.0), **how)
    for (model, turn), at in column.items():
        n = int(counts[:, at].sum())
        rate1, rate2 = (wins.sum(axis=1)[:, at] / n).tolist()
        about = {"model": model, "judge1": names[0], "judge2": names[1], "turn": turn, "n": n}
        rates = {"rate1": rate1, "rate2": rate2, "difference": rate1 - rate2}
        yield about | rates | {"low": found[at].low, "high": found[at].high}

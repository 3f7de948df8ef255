"""Pairs -> for each model its wins, losses and ties as rates, over all, by group and by turn, each with an interval.

    win_rate          = win / n          loss_rate = loss / n          tie_rate = tie / n
    win_rate_adjusted = (win + tie / 2) / n          n = win + loss + tie

A pair is won if both games name the same winner; it is a tie if both are ties or the two games disagree (see
`pairwise`). Left out and counted (`excluded`) are pairs in which a game gave no verdict.

Two questions; x wins, wins and ties on the first, loses on the second: win_rate = 2/4 = 0.5, loss_rate = tie_rate =
0.25, win_rate_adjusted = 2.5/4 = 0.625.

Where the judge's verdicts were weighed, the adjusted rate is the mean of the preferences: 0.9, 0.6 and 0.3 are 0.6,
where counting sides gives two wins of three.

Every pair counts once, so a model's rates are over the opponents it happened to meet, and a question on which it met
more of them weighs more (`matrix` has the mean over opponents, which does not). Intervals come from resampling
questions within groups (see `bootstrap`): all pairs of a question, of either turn, move together.

Source: FastChat `llm_judge/show_result.py` for the rates; Miller (2024), arXiv 2411.00640, for questions as the unit.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from harness.old.errors import UsageError
from harness.old.results.matrix import Floats, Ints, Pairs, label, question_order, tally
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates
from harness.old.results.table import ALL, Line, Row, best_first

WIN, LOSS, TIE = 0, 1, 2
RATES = ("win_rate", "loss_rate", "tie_rate", "win_rate_adjusted")


def rate_column(pairs: Pairs) -> str:
    """Return the column of the rate that ranks models: of weighed verdicts it is the mean preference."""
    return "win_rate_adjusted" if pairs.weighed is None else "win_rate"


def rates(pairs: Pairs, *, baseline: str | None = None, **how: Unpack[Resampling]) -> list[Line]:
    """Return a line for each model, best adjusted win rate first (models without any last, then by name), then by
    group, then by turn.

    `baseline` keeps the pairs with that model and leaves out its own line. The result depends neither on the order of
    rows nor on that of models, nor on which of two models a row names first.
    """
    if baseline is not None:
        pairs = against(pairs, baseline)
    order, pairs = groups_of(pairs), in_order(pairs)
    found: list[tuple[Any, int | None, list[Row]]] = [(ALL, None, _rates(pairs, **how))]
    found += [(group, None, _rates(of_group(pairs, group), **how)) for group in order]
    found += [(ALL, turn, _rates(of_turn(pairs, turn), **how)) for turn in turns_of(pairs)]
    named = [(at, model) for at, model in enumerate(pairs.models) if model != baseline]
    lines = (Line(model, own[at], group=group, turn=turn) for group, turn, own in found for at, model in named)
    return best_first(lines, RATES[-1])


def adjusted_rates(pairs: Pairs, *, baseline: str | None = None, **how: Unpack[Resampling]) -> dict[str, Estimate]:
    """Return only the adjusted win rate of each model, with the same digits as in `rates`."""
    if baseline is not None:
        pairs = against(pairs, baseline)
    pairs = in_order(pairs)
    wins, n = shares(pairs), outcomes(pairs).sum(axis=2)
    found = estimates(wins, n, pairs.strata, **how, bounds=(0.0, 1.0))
    return {model: found[at] for at, model in enumerate(pairs.models) if model != baseline}


def _rates(pairs: Pairs, **how: Unpack[Resampling]) -> list[Row]:
    """Return the counts and rates of each model, in the order of `pairs.models`."""
    counts = outcomes(pairs)
    n = counts.sum(axis=2, keepdims=True)
    adjusted = shares(pairs)[:, :, None]
    found = estimates(
        np.concatenate([counts, adjusted], axis=2).reshape(len(counts), -1),
        np.repeat(n, len(RATES), axis=2).reshape(len(counts), -1),
        pairs.strata,
        **how,
        bounds=(0.0, 1.0),
    )
    without = np.isnan(pairs.outcome)
    sides = np.concatenate([pairs.model_1[without], pairs.model_2[without]])
    excluded = np.bincount(sides, minlength=len(pairs.models))
    rows = []
    for at, (win, loss, tie) in enumerate(counts.sum(axis=0).astype(int).tolist()):
        own = {name: found[at * len(RATES) + column] for column, name in enumerate(RATES)}
        total = {"n": win + loss + tie, "excluded": int(excluded[at])}
        rows.append({"win": win, "loss": loss, "tie": tie, **own, **total})
    return rows


def outcomes(pairs: Pairs) -> Floats:
    """Return how often each model won, lost and tied on each question: questions × models × 3."""
    shape = (len(pairs.questions), len(pairs.models), 3)
    good = ~np.isnan(pairs.outcome)
    question, outcome = pairs.question[good], pairs.outcome[good]
    one, other = (
        tally(shape, question, model[good], np.select([own == 1.0, own == 0.0], [WIN, LOSS], TIE))
        for model, own in ((pairs.model_1, outcome), (pairs.model_2, 1.0 - outcome))
    )
    return one + other


def shares(pairs: Pairs) -> Floats:
    """Return what each model got of its pairs on each question, a tie half: questions × models."""
    good = ~np.isnan(pairs.outcome)
    share = pairs.share[good]
    return tally(
        (len(pairs.questions), len(pairs.models)),
        np.tile(pairs.question[good], 2),
        np.concatenate([pairs.model_1[good], pairs.model_2[good]]),
        weights=np.concatenate([share, 1.0 - share]),
    )


def in_order(pairs: Pairs) -> Pairs:
    """Return the pairs with questions by id and models by name, so that no digit depends on the order of rows."""
    order = sorted(range(len(pairs.models)), key=pairs.models.__getitem__)
    return _of_models(_of_questions(pairs, question_order(pairs.questions)), order)


def groups_of(pairs: Pairs) -> list[Any]:
    """Return each group once, in the order of the questions."""
    return list(dict.fromkeys(label(group) for group in pairs.groups))


def turns_of(pairs: Pairs) -> list[int]:
    """Return each turn once, the first first."""
    turns: list[int] = np.unique(pairs.turn).tolist()
    return turns


def of_group(pairs: Pairs, group: Any) -> Pairs:
    """Return the pairs on the questions of one group only; the models stay."""
    return _of_questions(pairs, [at for at, value in enumerate(pairs.groups) if label(value) == label(group)])


def of_turn(pairs: Pairs, turn: int) -> Pairs:
    """Return the pairs of one turn only; questions and models stay."""
    return _entries(pairs, pairs.turn == turn)


def against(pairs: Pairs, baseline: str) -> Pairs:
    """Return the pairs with this model only; without the models that were never compared with it.

    Raises:
        UsageError: there is no such model.
    """
    if baseline not in pairs.models:
        models = ", ".join(sorted(pairs.models))
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {models}")
    model = pairs.models.index(baseline)
    kept = _entries(pairs, (pairs.model_1 == model) | (pairs.model_2 == model))
    there: list[int] = np.union1d(kept.model_1, kept.model_2).tolist()
    return _of_models(kept, there)


def _of_models(pairs: Pairs, places: Sequence[int]) -> Pairs:
    """Return the pairs with the models at these places, in this order; they must be all that are in an entry."""
    new: Ints = np.zeros(len(pairs.models), dtype=np.int64)
    new[list(places)] = np.arange(len(places))
    models = tuple(pairs.models[at] for at in places)
    return pairs._replace(models=models, model_1=new[pairs.model_1], model_2=new[pairs.model_2])


def _of_questions(pairs: Pairs, places: Sequence[int]) -> Pairs:
    """Return the pairs on the questions at these places, which become the questions in this order."""
    new: Ints = np.full(len(pairs.questions), -1, dtype=np.int64)
    new[list(places)] = np.arange(len(places))
    kept = _entries(pairs, new[pairs.question] >= 0)
    return kept._replace(
        questions=tuple(pairs.questions[at] for at in places),
        groups=tuple(pairs.groups[at] for at in places),
        question=new[kept.question],
    )


def _entries(pairs: Pairs, chosen: npt.NDArray[np.bool_]) -> Pairs:
    names = ("question", "turn", "model_1", "model_2", "outcome", *(["weighed"] if pairs.weighed is not None else []))
    return pairs._replace(**{name: getattr(pairs, name)[chosen] for name in names})

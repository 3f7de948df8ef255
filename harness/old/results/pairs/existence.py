"""Counts of games -> whether the maximum likelihood strengths exist, and if not, why.

The estimate exists if and only if

    every model reaches every other by "won or tied against", and
    if there are ties: some cycle of models (a, b, ..., back to a) has more wins than ties, each model having won
    or tied against the next

Without the first, the strengths of one group of models grow without limit; without the second, nu does
(a win and a tie, no loss: the fit improves as nu and p_x / p_y grow together). Davidson's own condition, that
every model reaches every other by wins alone, implies both. x beat y once and never lost to it: y does not reach x.

Source: Ford (1957), Am. Math. Monthly 64, 28, for the first condition; Davidson (1970), J. Am. Stat. Assoc. 65, 317.
"""

from collections.abc import Sequence

import numpy as np

from harness.old.results.pairs.games import FIRST, NONE, SECOND, TIE, Bools, Games


def has_estimate(games: Games, models: int) -> Bools:
    """Return for each row of counts whether there are strengths of greatest likelihood."""
    rows = len(games.counts)
    if models < 2 or not len(games.first):
        return np.zeros(rows, dtype=bool)
    won, tied = _edges(games, models)
    good = all_reach(won | tied)
    unclear = good & tied.any(axis=(1, 2)) & ~(won & won.swapaxes(1, 2)).any(axis=(1, 2))
    for at in np.flatnonzero(unclear):
        good[at] = _has_round(won[at], tied[at])
    return good


def all_reach(edges: Bools) -> Bools:
    """Return for each row of models × models whether every model reaches every other along the edges."""
    one = np.zeros((len(edges), 1, edges.shape[2]), dtype=bool)
    one[:, :, :1] = True
    forth, back = _reached(one, edges), _reached(one, edges.swapaxes(1, 2))
    return np.asarray((forth & back).all(axis=(1, 2)))


def _edges(games: Games, models: int) -> tuple[Bools, Bools]:
    """Return rows × models × models: whether one model beat the other, and whether they tied."""
    won = np.zeros((len(games.counts), models, models), dtype=bool)
    tied = np.zeros(won.shape, dtype=bool)
    there = games.counts > NONE
    won[:, games.first, games.second] = there[:, :, FIRST]
    won[:, games.second, games.first] = there[:, :, SECOND]
    tied[:, games.first, games.second] = tied[:, games.second, games.first] = there[:, :, TIE]
    return won, tied


def _reached(start: Bools, edges: Bools) -> Bools:
    """Return the models that are reached from `start` along the edges, for each row; of several starts, from each."""
    numbers = edges.astype(np.float32)
    reached = start
    while True:
        further: Bools = reached | (reached.astype(np.float32) @ numbers > 0)
        if (further == reached).all():
            return reached
        reached = further


def linked(games: Games, models: int) -> Bools:
    """Return for each model which are linked to it by pairs that met, itself too."""
    met = np.zeros((models, models), dtype=bool)
    met[games.first, games.second] = met[games.second, games.first] = True
    return _reached(np.eye(models, dtype=bool), met)


def _has_round(won: Bools, tied: Bools) -> bool:
    """Return whether some round of models has more wins than ties (Bellman and Ford, for the longest path)."""
    weight = np.where(won, 1.0, np.where(tied, -1.0, -np.inf))
    best = np.zeros(len(won))
    for _ in range(len(won) + 1):
        longer = np.maximum(best, (best[:, None] + weight).max(axis=0))
        if (longer == best).all():
            return False
        best = longer
    return True


def why_none(models: Sequence[str], games: Games, anchor: str | None) -> str | None:
    """Return why there is no estimate, or None if there is one; `games` has one row of counts."""
    if len(models) < 2:
        return "fewer than two models were compared"
    if anchor is not None and anchor not in models:
        return f"no pair of the anchor {anchor} counts"
    if has_estimate(games, len(models))[0]:
        return None
    not_lost, each = np.logical_or(*_edges(games, len(models)))[0], np.eye(len(models), dtype=bool)
    sets = [
        (told, [model for model, there in zip(models, row, strict=True) if there])
        for told, reached in (
            ("never compared with", linked(games, len(models))),
            ("never won or tied against", _reached(each, not_lost)),
            ("never lost or tied against", _reached(each, not_lost.T)),
        )
        for row in reached.tolist()
    ]
    for told in ("never compared with", ""):
        apart = [own for own in sets if len(own[1]) < len(models) and own[0].startswith(told)]
        if apart:
            what, group = min(apart, key=lambda own: len(own[1]))
            rest = "the other" if len(models) - len(group) == 1 else "any of the others"
            return f"{', '.join(group)} {what} {rest}"
    return "there are too many ties for a best fit of the strengths"

"""Pairs -> win, loss and tie for each model.

A pair is won if both games name the same winner. It is a tie if game 1 is a tie or the two games disagree: swapping the
order changed the verdict, so there is none. A pair in which either game gave no verdict is left out and counted.

    win_rate          = win / n          loss_rate = loss / n          tie_rate = tie / n
    win_rate_adjusted = (win + tie / 2) / n

20 wins, 18 losses, 35 ties: n = 73, win_rate = 0.274, win_rate_adjusted = (20 + 17.5) / 73 = 0.514.

Where the judge's verdicts were weighed by log-probabilities, x is its mean preference in the games of a pair, from 0 to
1, and a win is x above one half:

    win_rate           = mean of x          standard_error = standard deviation of x (n - 1) / sqrt(n)
    discrete_win_rate  = (win + n_draws / 2) / n

x of 0.9, 0.6, 0.5 and 0.2: win_rate = 0.55, standard_error = 0.144, discrete_win_rate = (2 + 0.5) / 4 = 0.625.

Source: FastChat `llm_judge/show_result.py`; of weighed verdicts AlpacaEval `metrics/winrate.py`.
"""

import math
import pathlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.judgments.case import LOGPROBS, outcome
from harness.judgments.game_scores import scores_of_sides
from harness.judgments.observations import Observations, numbered, weighed
from harness.records import Observation
from harness.results.grades.aggregates import POOLED
from harness.results.grades.single import single_rows


@dataclass(frozen=True, slots=True)
class PairwiseRow:
    """The results of one model over its pairs."""

    model: str
    win: int
    loss: int
    tie: int
    excluded: int
    """Pairs left out because a game gave no verdict."""
    shares: tuple[float, float] | None = None
    """Where verdicts were weighed, the sums of x and of its squares over the pairs that count; None: they were not."""
    score: float | None = None
    """The mean of the scores that the judge gave the model's side, where its judge set asks for such scores."""

    @property
    def n(self) -> int:
        """Pairs that count."""
        return self.win + self.loss + self.tie

    def rate(self, count: float) -> float | None:
        """Return a count as a share of the pairs, or None if there are none."""
        return count / self.n if self.n else None

    @property
    def win_rate_adjusted(self) -> float | None:
        """The win rate in which a tie is half a win."""
        return self.rate(self.win + 0.5 * self.tie)

    @property
    def mean(self) -> float | None:
        """The number that ranks the models: the mean preference, or the win rate in which a tie is half a win."""
        return self.win_rate_adjusted if self.shares is None else self.rate(self.shares[0])

    @property
    def standard_error(self) -> float | None:
        """Of the mean over the pairs, each taken as drawn for itself; None of fewer than two."""
        if self.n < 2:
            return None
        total, squares = (self.win + self.tie / 2, self.win + self.tie / 4) if self.shares is None else self.shares
        return math.sqrt(max(0.0, squares - total**2 / self.n) / (self.n - 1) / self.n)

    def fields(self, *, scored: bool = False) -> dict[str, float | int | str | None]:
        """Return the row by column; `scored`: also where it has no score, since other rows have one."""
        if self.shares is None:
            rates = {
                "win": self.win,
                "loss": self.loss,
                "tie": self.tie,
                "win_rate": self.rate(self.win),
                "loss_rate": self.rate(self.loss),
                "tie_rate": self.rate(self.tie),
                "win_rate_adjusted": self.win_rate_adjusted,
            }
        else:
            rates = {
                "win_rate": self.mean,
                "standard_error": self.standard_error,
                "discrete_win_rate": self.win_rate_adjusted,
                "win": self.win,
                "loss": self.loss,
                "n_draws": self.tie,
            }
        score = {"score": self.score} if scored else {}
        return {"model": self.model, **rates, **score, "n": self.n, "excluded": self.excluded}


def pairwise_rows(
    pairs: Sequence[Observation], *, models: Sequence[str] | None = None, baseline: str | None = None
) -> list[PairwiseRow]:
    """Return a row for each model, best first by `PairwiseRow.mean`.

    `models` keeps the pairs of which both are named (a baseline always is). `baseline` keeps the pairs with that model
    and leaves out its own row.
    """
    named = None if models is None else {*models, *([baseline] if baseline else [])}
    columns = Observations.of(pairs)
    soft = weighed(columns)
    values, value_at = numbered(outcome(games, LOGPROBS if soft else "text") for games in columns.games)
    value = np.array(value_at, dtype=np.int64)[columns.said.astype(np.int64)]
    found, counts = np.unique(columns.case_at * len(values) + value, return_counts=True)
    shares: dict[str, Counter[float | None]] = {}
    for at, count in zip(found.tolist(), counts.tolist(), strict=True):
        both, share = columns.cases[at // len(values)].models, values[at % len(values)]
        if (named is not None and not named.issuperset(both)) or (baseline is not None and baseline not in both):
            continue
        for own, model in zip((share, _other(share)), both, strict=True):
            shares.setdefault(model, Counter())[own] += count
    rows = [_row(model, own, soft=soft) for model, own in shares.items() if model != baseline]
    return sorted(rows, key=lambda row: (row.mean is None, -(row.mean or 0), row.model))


def _row(model: str, shares: Counter[float | None], *, soft: bool) -> PairwiseRow:
    """Return the row of a model that got each share of so many pairs."""
    excluded = shares.pop(None, 0)
    known = [(share, count) for share, count in shares.items() if share is not None]
    win, loss = (sum(count for share, count in known if (share - 0.5) * sign > 0) for sign in (1, -1))
    tie = sum(count for _, count in known) - win - loss
    sums = math.fsum(share * count for share, count in known), math.fsum(share**2 * count for share, count in known)
    return PairwiseRow(model, win, loss, tie, excluded, shares=sums if soft else None)


def _other(share: float | None) -> float | None:
    """Return what a pair was for the second model."""
    return None if share is None else 1.0 - share


def side_scores(files: Sequence[pathlib.Path], pairs: Observations) -> Observations:
    """Return a grade of each side of the pairs in these files whose judge gave such scores."""
    return Observations.joined([scores_of_sides(path, pairs) for path in files] if pairs else [pairs])


def with_scores(rows: Sequence[PairwiseRow], sides: Observations) -> list[PairwiseRow]:
    """Return the rows with the mean score of each model's sides."""
    means = {line.model: line.fields[POOLED] for line in single_rows(sides)}
    return [replace(row, score=means.get(row.model)) for row in rows]

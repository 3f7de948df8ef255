"""Pairs -> win, loss and tie for each model.

A pair is won if both games name the same winner. It is a tie if game 1 is a tie or the two games disagree: swapping the
order changed the verdict, so there is none. A pair in which either game gave no verdict is left out and counted.

    win_rate          = win / n          loss_rate = loss / n          tie_rate = tie / n
    win_rate_adjusted = (win + tie / 2) / n

20 wins, 18 losses, 35 ties: n = 73, win_rate = 0.274, win_rate_adjusted = (20 + 17.5) / 73 = 0.514.

Source: FastChat `llm_judge/show_result.py`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.records import Comparison
from harness.results.reading.columns import WINNERS, Comparisons


@dataclass(frozen=True, slots=True)
class PairwiseRow:
    """The results of one model over its pairs."""

    model: str
    win: int
    loss: int
    tie: int
    excluded: int
    """Pairs left out because a game gave no verdict."""

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


def winner_of(pair: Comparison) -> str | None:
    """Return "model_1", "model_2" or "tie" for a pair; None if a game gave no verdict."""
    return _winner(pair.winners)


def _winner(winners: tuple[str | None, ...]) -> str | None:
    if not winners or None in winners:
        return None
    return winners[0] if all(winner == winners[0] for winner in winners) else "tie"


def pairwise_rows(
    pairs: Sequence[Comparison], *, models: Sequence[str] | None = None, baseline: str | None = None
) -> list[PairwiseRow]:
    """Return a row for each model, best adjusted win rate first.

    `models` keeps the pairs of which both are named (a baseline always is). `baseline` keeps the pairs with that model
    and leaves out its own row.
    """
    named = None if models is None else {*models, *([baseline] if baseline else [])}
    counts: dict[str, Counter[str]] = {}
    for case, _, verdicts in Comparisons.of(pairs).by_case():
        both = case.models
        if (named is not None and not named.issuperset(both)) or (baseline is not None and baseline not in both):
            continue
        every = verdicts.tobytes()
        for code, winners in enumerate(WINNERS):
            count, winner = every.count(code), _winner(winners)
            for place, model in zip(("model_1", "model_2"), both, strict=True) if count else ():
                counts.setdefault(model, Counter())[_outcome(winner, place)] += count
    rows = [
        PairwiseRow(model, count["win"], count["loss"], count["tie"], count["excluded"])
        for model, count in counts.items()
        if model != baseline
    ]
    return sorted(rows, key=lambda row: (row.win_rate_adjusted is None, -(row.win_rate_adjusted or 0), row.model))


def _outcome(winner: str | None, place: str) -> str:
    """Return what a pair was for the model in that place."""
    if winner is None:
        return "excluded"
    if winner == "tie":
        return "tie"
    return "win" if winner == place else "loss"

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
from collections.abc import Iterable, Sequence

import numpy as np

from harness.old.judgments.case import LOGPROBS, outcome
from harness.old.judgments.game_scores import scores_of_sides
from harness.old.judgments.observations import Observations, numbered, weighed
from harness.old.records import Observation
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.grades.single import single_rows
from harness.old.results.table import Line, Row, best_first


def pairwise_rows(pairs: Sequence[Observation], *, baseline: str | None = None) -> list[Line]:
    """Return a line for each model, best first by the mean preference or the win rate in which a tie is half a win.

    `baseline` keeps the pairs with that model and leaves out its own row.
    """
    columns = Observations.of(pairs)
    soft = weighed(columns)
    values, value_at = numbered(outcome(games, LOGPROBS if soft else "text") for games in columns.games)
    value, counts = np.array(value_at, dtype=np.int64), Counter[int]()
    for part in columns.parts():
        own = np.sort(part.case_at * len(values) + value[part.said.astype(np.int64)])  # np.unique imports numpy.ma
        begins = np.flatnonzero(np.diff(own, prepend=-1))
        counts.update(dict(zip(own[begins].tolist(), np.diff(begins, append=len(own)).tolist(), strict=True)))
    shares: dict[str, Counter[float | None]] = {}
    for at, count in sorted(counts.items()):
        both, share = columns.cases[at // len(values)].models, values[at % len(values)]
        if baseline is not None and baseline not in both:
            continue
        other = None if share is None else 1.0 - share
        for own, model in zip((share, other), both, strict=True):
            shares.setdefault(model, Counter())[own] += count
    lines = [Line(model, _fields(own, soft=soft)) for model, own in shares.items() if model != baseline]
    return best_first(lines, "win_rate" if soft else "win_rate_adjusted")


def _fields(shares: Counter[float | None], *, soft: bool) -> Row:
    """Return the columns of a model that got each share of so many pairs."""
    excluded = shares.pop(None, 0)
    known = [(share, count) for share, count in shares.items() if share is not None]
    win, loss = (sum(count for share, count in known if (share - 0.5) * sign > 0) for sign in (1, -1))
    n = sum(count for _, count in known)
    tie = n - win - loss
    total, squares = (math.fsum(share**power * count for share, count in known) for power in (1, 2))

    def rate(count: float) -> float | None:
        return count / n if n else None

    last = {"n": n, "excluded": excluded}
    if soft:
        error = standard_error(total, squares, n)
        rates = {"win_rate": rate(total), "standard_error": error, "discrete_win_rate": rate(win + 0.5 * tie)}
        return {**rates, "win": win, "loss": loss, "n_draws": tie, **last}
    rates = {"win_rate": rate(win), "loss_rate": rate(loss), "tie_rate": rate(tie)}
    return {"win": win, "loss": loss, "tie": tie, **rates, "win_rate_adjusted": rate(win + 0.5 * tie), **last}


def standard_error(total: float, squares: float, n: int) -> float | None:
    """Return that of the mean of n shares with this sum and sum of squares, each drawn for itself; None below two."""
    return None if n < 2 else math.sqrt(max(0.0, squares - total**2 / n) / (n - 1) / n)


def side_scores(files: Iterable[pathlib.Path], pairs: Observations) -> Observations:
    """Return a grade of each side of the pairs in these files whose judge gave such scores."""
    return Observations.joined([scores_of_sides(path, pairs) for path in files] if pairs else [pairs])


def with_scores(lines: Sequence[Line], sides: Observations) -> list[Line]:
    """Return the lines with the mean score of each model's sides, if any has one."""
    means = {line.model: line.fields[POOLED] for line in single_rows(sides)}
    scored = {line.model: means.get(line.model) for line in lines}
    if all(score is None for score in scored.values()):
        return list(lines)
    found = []
    for line in lines:
        own = dict(line.fields)
        last = {name: own.pop(name) for name in ("n", "excluded")}
        found.append(line._replace(fields={**own, "score": scored[line.model], **last}))
    return found

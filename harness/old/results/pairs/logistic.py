"""Pairs and how their answers differ -> strengths and coefficients by logistic regression, all at once or without each
question.

    P(1 beats 2) = 1 / (1 + exp(-(s_1 - s_2 + sum of b_k * z_k)))

An outcome is 1, 0, or a share between them: a tie is half a win. Fitted by Newton's method; without each question in
turn, by one more Newton step from the fit. x beat y 3 to 1 on one question and 1 to 1 on another, z = 0: s_x - s_y =
log(4 / 2) = 0.693; without the second question one step gives 0.693 + 0.375 = 1.068, where log(3 / 1) = 1.099 is exact.

Source: Bradley and Terry 1952; Papke and Wooldridge 1996 for shares as outcomes; Pregibon 1981 for the step.
"""

from typing import NamedTuple

import numpy as np

from harness.old.results.matrix import Floats, Ints
from harness.old.results.pairs.games import Bools

_STEPS = 60
_STEEPEST = 20.0
"""A strength or coefficient beyond this (odds of 5e8) has no estimate."""
_SINGULAR = 1e12
"""Condition number from which parameters are not identifiable."""


class Rows(NamedTuple):
    """The pairs that count."""

    question: Ints
    """The place of each pair's question; `questions` for one that is there without every question."""
    one: Ints
    other: Ints
    z: Floats
    """Pairs × features: how the two answers differ."""
    y: Floats
    """Share of the win of `one`."""
    weight: Floats
    questions: int
    defines: Bools
    """Models whose strengths and coefficients are of the pairs among them alone; any other's strength is of its pairs
    with them, everything else being held."""

    @property
    def models(self) -> int:
        """Models, met or not."""
        return len(self.defines)


class Fit(NamedTuple):
    """A strength for each model, then a coefficient for each feature, and the same without each question in turn."""

    whole: Floats
    without: Floats
    """Questions × places; NaN where a question leaves no estimate."""


class NoFitError(Exception):
    """There is no estimate: the parameter `place` grows without limit; None: parameters are not identifiable."""

    def __init__(self, place: int | None) -> None:
        """`place` is that of a model or, after all models, of a feature."""
        super().__init__("there is no estimate")
        self.place = place


def fit(rows: Rows, free: Ints, *, least: bool = False) -> Fit:
    """Return the maximum likelihood estimates, with 0 for parameters that are not `free`.

    With `least`, parameters may be free that are not identifiable, such as all strengths, of which only differences
    are known: the result is then the one of least norm.

    Raises:
        NoFitError: there is no estimate.
    """
    models = rows.models
    theta = np.zeros(models + rows.z.shape[1])
    for _ in range(_STEPS):
        gradient, curvature = (of_questions.sum(axis=0) for of_questions in _derivatives(rows, theta, free))
        if not least and not _told_apart(curvature):
            raise NoFitError(None)
        step = _solved(curvature, gradient, least=least)
        theta[free] += np.clip(step, -2.0, 2.0)
        if np.abs(theta).max() > _STEEPEST:
            apart = np.concatenate([theta[:models] - theta[:models].mean(), theta[models:]])
            raise NoFitError(int(np.abs(apart).argmax()))
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    gradient, curvature = _derivatives(rows, theta, free)
    n = rows.questions
    rest, pull = curvature.sum(axis=0) - curvature[:n], gradient.sum(axis=0) - gradient[:n]
    without = np.tile(theta, (n, 1))
    try:
        without[:, free] += _solved(rest, pull, least=least)
    except np.linalg.LinAlgError:  # a question without which there is no estimate
        without[:] = np.nan
    return Fit(theta, without)


def chance(lead: Floats) -> Floats:
    """Return the chance to win of an answer that leads by these log odds."""
    result: Floats = 0.5 * (1.0 + np.tanh(0.5 * lead))
    return result


def _told_apart(curvature: Floats) -> bool:
    try:
        return bool(np.linalg.cond(curvature) < _SINGULAR)
    except np.linalg.LinAlgError:
        return False


def _solved(curvature: Floats, gradient: Floats, *, least: bool) -> Floats:
    """Return the Newton step, or one for each of several systems."""
    column = gradient[..., None]
    solved = np.linalg.pinv(curvature, hermitian=True) @ column if least else np.linalg.solve(curvature, column)
    return np.asarray(solved, dtype=np.float64)[..., 0]


def _derivatives(rows: Rows, theta: Floats, free: Ints) -> tuple[Floats, Floats]:
    """Return by question, and last of what is in none, the gradient of each place's equation, and minus its derivative
    by every place."""
    size = rows.models
    gradient = np.zeros((rows.questions + 1, len(free)))
    curvature = np.zeros((rows.questions + 1, len(free), len(free)))
    order = np.argsort(rows.question, kind="stable")
    ends = np.searchsorted(rows.question[order], np.arange(rows.questions + 2))
    for question in range(rows.questions + 1):
        here = order[ends[question] : ends[question + 1]]
        one, other, row = rows.one[here], rows.other[here], np.arange(len(here))
        x = np.zeros((len(here), len(theta)))  # of one question at a time: of all, it may not fit into memory
        x[row, one], x[row, other], x[:, size:] = 1.0, -1.0, rows.z[here]
        p = chance(x @ theta)
        own = (_counts(rows.defines, one, other, x) * x)[:, free]
        gradient[question] = (own * (rows.weight[here] * (rows.y[here] - p))[:, None]).sum(axis=0)
        curvature[question] = own.T @ (x[:, free] * (rows.weight[here] * p * (1.0 - p))[:, None])
    return gradient, curvature


def _counts(defines: Bools, one: Ints, other: Ints, x: Floats) -> Floats:
    """Return 1 where a pair counts for the equation of a model or feature, in the shape of `x`, else 0."""
    counting = np.zeros(x.shape)
    counting[defines[one] & defines[other]] = 1.0
    for side in (one, other):
        alone = np.flatnonzero(~defines[side])
        counting[alone, side[alone]] = 1.0
    return counting

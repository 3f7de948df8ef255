"""Pairs → each model's strength: Bradley–Terry, ties as half a win, clustered by question.

    P(A beats B) = 1 / (1 + exp(−(s_A − s_B)))       rating = 1000 + 400/ln 10 · (s − mean s)

A beats B in 3 of 4 pairs: s_A − s_B = ln 3, ratings 1095 and 905. 400 points are odds of 10 to 1.
A model that won or lost everything has no strength, and neither has one that never met the others.
Strengths are for reading: with two noisy games a pair they differ between equal models that met
different opponents. Only where pairs were drawn at random does `compare` rest on them.

With `style` the differences of the two answers in length, headers, lists and bold passages are
further terms: what remains is the strength at equal style. z = (f_A − f_B)/(f_A + f_B).

Sources: Bradley and Terry 1952; Ford 1957 for when strengths exist; Huber 1967 for the error by
influences; Li et al. 2024, "Does style matter?" (LMSYS) for the differences of style.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.results.estimate import LEAST, POWER, Estimate, Floats, Ints, t_quantile
from harness.results.scores import Scores

CENTER, POINTS = 1000.0, 400 / math.log(10)
_MARKS = {
    "headers": re.compile(r"^#{1,6}[^\S\n]", re.MULTILINE),
    "lists": re.compile(r"^[^\S\n]*(?:[*+•-]|\d{1,3}[.)])[^\S\n]", re.MULTILINE),
    "bold": re.compile(r"\*\*(?=\S)[^\n*]{1,500}\*\*|__(?=\S)[^\n_]{1,500}__"),
}
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
FEATURES = ("length", *_MARKS)


def logistic(
    features: Floats, share: Floats, question: Ints, questions: int
) -> tuple[Floats, Floats]:
    """Fit P = 1/(1 + exp(−features · theta)) to shares from 0 to 1 by Newton's method.

    Returns:
        theta, and its influences: questions × features, NaN where a question has no pair.

    Raises:
        UsageError: there is no estimate: features cannot be told apart, or one decides everything.
    """

    def moments(theta: Floats) -> tuple[Floats, Floats]:
        p = 1 / (1 + np.exp(-(features @ theta)))
        return features.T @ (share - p), features.T @ (features * (p * (1 - p))[:, None])

    theta, hessian = _maximum(moments, features.shape[1])
    p = 1 / (1 + np.exp(-(features @ theta)))
    terms = (features * (share - p)[:, None]).T
    score = np.array([np.bincount(question, term, questions) for term in terms]).T
    score[np.bincount(question, minlength=questions) == 0] = np.nan
    return theta, score @ np.linalg.inv(hessian)


def _maximum(
    moments: Callable[[Floats], tuple[Floats, Floats]], size: int
) -> tuple[Floats, Floats]:
    """Return where a likelihood is largest, and its curvature there, by Newton's method.

    `moments` gives the gradient and the negative Hessian at a point.

    Raises:
        UsageError: there is no such point.
    """
    theta = np.zeros(size)
    for _ in range(50):
        gradient, hessian = moments(theta)
        if np.linalg.cond(hessian) > 1e12 or np.abs(theta).max(initial=0) > 30:
            raise UsageError("there is no estimate: these pairs do not separate the terms")
        step = np.linalg.solve(hessian, gradient)
        theta = theta + step * min(1.0, 4 / max(np.abs(step).max(initial=0), 1e-300))
        if np.abs(step).max(initial=0) < 1e-10:
            break
    return theta, hessian


def _bradley_terry(pairs: Scores, members: Ints) -> tuple[Floats, Floats]:
    """Return the strengths of models, that of the first being 0, and their influences.

    It is `logistic` with a feature for each model but the first, by the counts of each two models:
    the work grows with the square of the models, not with the pairs times the models.
    """
    place = np.full(len(pairs.models), -1)
    place[members] = np.arange(len(members))
    both, size, questions = pairs.mirrored(), len(members), len(pairs.questions)
    one, other = place[both.model], place[both.opponent]
    games = np.bincount(one * size + other, minlength=size * size).reshape(size, size)
    won = np.bincount(one * size + other, both.value, size * size).reshape(size, size)

    def chances(theta: Floats) -> Floats:
        strengths = np.append(0.0, theta)
        result: Floats = 1 / (1 + np.exp(strengths - strengths[:, None]))
        return result

    def moments(theta: Floats) -> tuple[Floats, Floats]:
        p = chances(theta)
        weight = games * p * (1 - p)
        hessian = np.diag(weight.sum(axis=1)) - weight
        return (won - games * p).sum(axis=1)[1:], hessian[1:, 1:]

    theta, hessian = _maximum(moments, size - 1)
    residual = both.value - chances(theta)[one, other]
    score = np.bincount(both.question * size + one, residual, questions * size)
    score = score.reshape(questions, size)
    score[np.bincount(pairs.question, minlength=questions) == 0] = np.nan
    influence = score[:, 1:] @ np.linalg.inv(hessian)
    return np.insert(theta, 0, 0.0), np.insert(influence, 0, 0.0, axis=1)


def strengths(scores: Scores) -> dict[str, Estimate | None]:
    """Return the rating of each model of these pairs; None where there is none."""
    return {**dict.fromkeys(scores.models_present), **_ratings(scores.take(scores.valid))[0]}


def win_rate(points: float) -> float:
    """Return how often a model wins against one whose rating is lower by some points.

    >>> win_rate(0), round(win_rate(400), 3)
    (0.5, 0.909)
    """
    return 1 / (1 + math.exp(-points / POINTS))


_BY_QUESTION, _BY_PAIR = 0.58, 3.0
"""Variances in log odds of GPT-4's published pairs of MT-Bench, of neighbours among six models: of
a model's strength from question to question, and of what one pair adds (`benchmarks/README.md`).
"""


def expected_detectable(share: float, models: int, questions: int, turns: float) -> float | None:
    """Return the difference of neighbours that a share of pairs would show, in rating points.

    By its variance, 2/questions · (0.58 + 3.0 / (share · turns · models)); None: too few questions.

    >>> round(expected_detectable(0.1, 34, 80, 2) or 0)
    79
    """
    if questions < LEAST:
        return None
    variance = 2 / questions * (_BY_QUESTION + _BY_PAIR / (share * turns * models))
    return (t_quantile(0.975, questions - 1) + POWER) * POINTS * math.sqrt(variance)


def _comparable(pairs: Scores) -> Ints:
    """Return the largest set of models in which everybody won something of everybody else.

    That is directly or through others, a tie included: Ford's condition for strengths to exist.
    """
    size = len(pairs.models)
    both = pairs.mirrored()
    reach = np.eye(size)
    reach[both.model[both.value > 0], both.opponent[both.value > 0]] = 1
    for _ in range(size.bit_length()):
        reach = np.minimum(reach @ reach, 1)
    mutual = (reach * reach.T) > 0
    return np.flatnonzero(mutual[int(np.argmax(mutual.sum(axis=1)))])


def _ratings(
    pairs: Scores, style: Floats | None = None
) -> tuple[dict[str, Estimate], list[Estimate]]:
    """Return the ratings of models that have one, and the coefficients of style (pairs × features).

    Raises:
        UsageError: there is no estimate.
    """
    members = _comparable(pairs)
    if len(members) < 2:
        return {}, []
    inside = np.isin(pairs.model, members) & np.isin(pairs.opponent, members)
    pairs, count = pairs.take(inside), len(members)
    # The strength of the first model is 0 in the fit; then that of the mean is.
    if style is None:
        theta, influence = _bradley_terry(pairs, members)
    else:
        others = members[1:]
        contrast = 1.0 * (pairs.model[:, None] == others) - (pairs.opponent[:, None] == others)
        features = np.concatenate([contrast, style[inside]], axis=1)
        theta, influence = logistic(features, pairs.value, pairs.question, len(pairs.questions))
        theta, influence = np.insert(theta, 0, 0.0), np.insert(influence, 0, 0.0, axis=1)
    theta[:count] -= theta[:count].mean()
    influence[:, :count] -= influence[:, :count].mean(axis=1, keepdims=True)
    estimates = [Estimate(float(at), moves) for at, moves in zip(theta, influence.T, strict=True)]
    ratings = zip(members.tolist(), estimates[:count], strict=True)
    by_model = {pairs.models[code]: rating.scaled(POINTS, CENTER) for code, rating in ratings}
    return by_model, estimates[count:]


@dataclass(frozen=True, eq=False)
class Styled:
    """The models' strengths at equal style of their answers."""

    ratings: dict[str, Estimate]
    """The strongest first."""
    as_is: dict[str, Estimate]
    """By the same pairs without the terms of style."""
    coefficients: dict[str, Estimate]
    """Log odds to win where one answer has the feature and the other has none of it."""
    pairs: int
    left_out: int
    """Pairs without both answers, or of models without a strength."""

    def shift(self, model: str) -> Estimate:
        """Return the rating at equal style less the one as is."""
        return self.ratings[model] - self.as_is[model]


def style_of(text: str) -> tuple[float, ...]:
    """Return the `FEATURES` of an answer; marks in blocks of code do not count."""
    prose = _CODE.sub("", text)
    return (float(len(text)), *(float(len(mark.findall(prose))) for mark in _MARKS.values()))


def fit_style(scores: Scores, bench: Bench, features: Sequence[str] = FEATURES) -> Styled:
    """Return strengths at equal style.

    Raises:
        UsageError: there is no estimate.
        MissingError: the answers are missing.
    """
    pairs = scores.take(scores.valid)
    first, second = answer_numbers(pairs, bench, style_of)
    total = first + second
    relative = (first - second) / np.where(total == 0, 1, total)
    relative = relative[:, [FEATURES.index(name) for name in features]]
    complete = np.flatnonzero(~np.isnan(relative).any(axis=1))
    if not len(complete):
        raise MissingError(f"{bench.folder}: no pair has both of its answers in model_answer")
    pairs, relative = pairs.take(complete), relative[complete]
    as_is, _ = _ratings(pairs)
    if not as_is:
        raise UsageError("there is no estimate: a model decides all of its pairs")
    moves = (relative != 0).any(axis=0)
    ratings, coefficients = _ratings(pairs, relative[:, moves])
    names = [name for name, moving in zip(features, moves.tolist(), strict=True) if moving]
    rated = len(pairs.of(models=ratings))
    return Styled(
        {model: ratings[model] for model in sorted(ratings, key=lambda m: -ratings[m].value)},
        as_is,
        dict(zip(names, coefficients, strict=True)),
        rated,
        len(scores) - rated,
    )


def answer_numbers(
    scores: Scores, bench: Bench, measure: Callable[[str], tuple[float, ...]]
) -> tuple[Floats, Floats]:
    """Return numbers of both answers of each pair, NaN where one is missing: pairs × width, twice.

    The answer is the reply of the pair's turn in the first conversation.
    """
    numbers = {
        (scores.models.index(model), key, turn): measure(text)
        for model in scores.models_present
        for key, answer in bench.answers(model).items()
        for choice in answer.choices[:1]
        for turn, text in enumerate(choice.turns, 1)
    }
    ids = [scores.questions[code].question_id for code in scores.question.tolist()]
    missing = (np.nan,) * len(measure(""))

    def of(models: Ints) -> Floats:
        keys = zip(models.tolist(), ids, scores.turn.tolist(), strict=True)
        return np.array([numbers.get(key, missing) for key in keys]).reshape(-1, len(missing))

    return of(scores.model), of(scores.opponent)

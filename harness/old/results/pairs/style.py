"""Pairs and the style of their answers -> the models' strengths at equal style (Bradley-Terry with covariates).

    P(1 beats 2) = 1 / (1 + exp(-(s_1 - s_2 + sum of b_k * z_k)))
    z_k          = (f_k of 1 - f_k of 2) / (f_k of 1 + f_k of 2)
    rating       = 1000 + 400 / ln 10 * (s - mean s of the models that define the scale)

f_k counts something in an answer: its characters, markdown headers, list items, bold passages (outside code blocks).
z_k goes from -1 to 1, is 0 where both have none, and depends on nothing but the two answers. A graded preference is
used as the outcome, a tie as half a win. b_k are log odds: of two equally strong models, one that writes three times as
many characters has z = 0.5, and with b = 0.8 wins 60% of its pairs.

Which models define the scale (`anchors`, all by default) decides what a further model can change. Strengths of the
anchors and b_k are fitted to the pairs among anchors; any other model's strength to its pairs with anchors, everything
else being held. So with named anchors an added model changes no rating; with all models as anchors, all are fitted
again.

Two models, x three times as long in all 100 pairs, of which it wins 60: length and strength are not identifiable, and
there is no estimate. With 50 pairs more in which they are equally long and win 25 each: s_x = s_y, b = log(60 / 40) /
0.5 = 0.811.

Fitted by `logistic`. Intervals: the jackknife's pseudo-values of the questions, each one Newton step without the
question, are resampled (`bootstrap`); what holds the anchors holds for them too.

Source: Bradley and Terry 1952; Li et al. 2024, "Does style matter?" (LMSYS), whose differences are these, there made
standard over all pairs, so that a further model changes them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.results.matrix import Floats, Ints, Pairs
from harness.old.results.pairs.bradley_terry import CENTER, POINTS
from harness.old.results.pairs.games import Bools
from harness.old.results.pairs.logistic import Fit, NoFitError, Rows, fit
from harness.old.results.statistics.bootstrap import Estimate, Resampling, jackknifed
from harness.old.results.table import Line, best_first

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = {
    "headers": re.compile(r"^#{1,6}[^\S\n]", re.MULTILINE),
    "lists": re.compile(r"^[^\S\n]*(?:[*+•-]|\d{1,3}[.)])[^\S\n]", re.MULTILINE),
    "bold": re.compile(r"\*\*(?=\S)[^\n*]{1,500}\*\*|__(?=\S)[^\n_]{1,500}__"),
}
FEATURES: Mapping[str, str] = {
    "length": "characters",
    "headers": "markdown headers",
    "lists": "items of lists",
    "bold": "bold passages",
}
"""What can be held equal, and what each counts."""


@dataclass(frozen=True, slots=True)
class Styled:
    """The models' strengths at equal style."""

    rows: Sequence[Line]
    """For each model, the strongest first, `rating` at equal style, `as_is` by the same fit without style, and `shift`,
    rating - as_is: what its style costs or brings is the opposite of that; `n`, its pairs that count."""
    coefficients: Mapping[str, Estimate]
    """By feature, the change in the log odds to win as the relative difference goes from 0 to 1; without features in
    which no two answers differ."""
    anchors: tuple[str, ...]
    """The models that define the scale; empty: all."""
    n: int
    """Pairs that count."""
    left_out: int
    """Pairs without a verdict or without both answers."""
    among_others: int
    """Pairs of two models neither of which defines the scale; they count for nothing."""


def counted(text: str) -> dict[str, int]:
    """Return the features of an answer."""
    prose = _CODE.sub("", text)
    marks = {name: len(pattern.findall(prose)) for name, pattern in _MARKS.items()}
    return {"length": len(text), **marks}


def relative_difference(one: Floats, other: Floats) -> Floats:
    """Return (one - other) / (one + other), 0 where both are 0."""
    total = one + other
    return np.divide(one - other, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)


def styled(
    pairs: Pairs,
    features: Mapping[str, Floats],
    *,
    anchors: Sequence[str] = (),
    **how: Unpack[Resampling],
) -> Styled:
    """Return the strengths at equal style.

    Args:
        pairs: of one judge.
        features: for each pair the relative difference by feature; NaN where an answer is not known.
        anchors: the models that define the scale (default: all).
        how: how questions are resampled.

    Raises:
        UsageError: an anchor has no pair, or there is no estimate.
    """
    if absent := [name for name in anchors if name not in pairs.models]:
        raise UsageError(f"no pair with {', '.join(absent)}; the models are: {', '.join(sorted(pairs.models))}")
    features = {name: own for name, own in features.items() if np.any(np.nan_to_num(own) != 0)}
    z = np.stack([features[name] for name in features], axis=1) if features else np.zeros((len(pairs.share), 0))
    known = np.flatnonzero(~np.isnan(pairs.share) & ~np.isnan(z).any(axis=1))
    defines = np.isin(np.array(pairs.models), list(anchors) or list(pairs.models))
    models = len(pairs.models)
    counts = known[defines[pairs.model_1[known]] | defines[pairs.model_2[known]]]
    met = np.bincount(pairs.model_1[counts], minlength=models) + np.bincount(pairs.model_2[counts], minlength=models)
    sides, weight = (pairs.model_1[counts], pairs.model_2[counts]), np.ones(len(counts))
    share = pairs.share[counts]
    games = Rows(pairs.question[counts], *sides, z[counts], share, weight, len(pairs.questions), defines)
    full = _fitted(games, met, pairs, list(features))
    plain = _fitted(games._replace(z=games.z[:, :0]), met, pairs, [])
    ratings = zip(*(_ratings(own, models, defines) for own in (full, plain)), strict=True)
    coefficients = full.whole[models:], full.without[:, models:]
    values, without = (
        np.concatenate([one, other, one - other, own], axis=-1)
        for (one, other), own in zip(ratings, coefficients, strict=True)
    )
    present = np.bincount(pairs.question[counts], minlength=len(pairs.questions)) > 0
    drawn = jackknifed(values, without, pairs.strata, present=present, **how)
    found = [replace(own, value=value) for own, value in zip(drawn, values.tolist(), strict=True)]
    rows = [
        Line(
            model,
            {"rating": found[at], "as_is": found[models + at], "shift": found[2 * models + at], "n": int(met[at])},
        )
        for at, model in enumerate(pairs.models)
        if met[at]
    ]
    styles = dict(zip(features, found[3 * models :], strict=True))
    others = len(known) - len(counts)
    return Styled(
        best_first(rows, "rating"), styles, tuple(anchors), len(counts), len(pairs.share) - len(known), others
    )


def _fitted(rows: Rows, met: Ints, pairs: Pairs, features: Sequence[str]) -> Fit:
    """Return strengths and coefficients, and those without each question.

    Raises:
        UsageError: there is no estimate; the message says why.
    """
    held = int(np.argmax(rows.defines & (met > 0)))  # one of the models that define the scale: its strength is 0
    models = len(pairs.models)
    free = [at for at in range(models) if at != held and met[at]]
    try:
        return fit(rows, np.array([*free, *range(models, models + len(features))]))
    except NoFitError as error:
        what = f"strength and {', '.join(features)} cannot be separated" if features else "not all models met"
        told = f"{what} in these pairs"
        if error.place is not None:
            name = (*pairs.models, *features)[error.place]
            told = f"{name} decides all of its pairs; leave it out (--model-list, --style)"
        raise UsageError(f"there is no estimate: {told}") from None


def _ratings(fit: Fit, models: int, defines: Bools) -> Fit:
    """Return the strengths on the scale, on which the models that define it have a mean of `CENTER`."""
    strengths = fit.whole[:models], fit.without[:, :models]
    return Fit(*(CENTER + POINTS * (own - own[..., defines].mean(axis=-1, keepdims=True)) for own in strengths))

"""Our ranking and any other one -> how well they agree, by Spearman and Kendall.

    spearman = Pearson's correlation of the ranks, ties at their mean rank
    tau_b    = (pairs ordered alike - pairs ordered otherwise) / sqrt(pairs not tied here * pairs not tied there)

over the models that are in both. Ours w 9, x 8, y 6, z 5; theirs w 1200, x 1210, y 1100, z 1050: of six pairs of models
five are ordered alike and one is not: tau_b = 4 / 6 = 0.667; ranks 1, 2, 3, 4 and 2, 1, 3, 4: spearman = 0.8.

Both samples are resampled at once: the questions (within their groups; one less than there are of each, the rest as in
`bootstrap`) and, apart from them, the models, with replacement; a model that is drawn twice is tied with itself. So the
interval is about other questions and other models of the same kind; the other ranking's own noise is not in it. As
noise in our scores makes a correlation smaller, and resampling adds such noise once more, the quantiles are taken
bias-corrected: z0 is the normal quantile of the share of resamples below the estimate (half of those equal to it), and
the ends are the resamples' quantiles at Phi(2 * z0 ± 1.96). No interval with fewer than five models or questions.
Resamples in which one side is all ties have no correlation; they are left out and counted.

Simulated coverage with 80 questions, correlations of 0.5 to 0.97 in the population, models as far apart as on MT-Bench
and noise as there: 94-99% for 6 to 34 models. With noise 2.5 times as large: 94-100% for 6 and 10 models, 88-97% for
20, and for 34 models 92-98% at a correlation of 0.9 but 60% (spearman) and 86% (tau_b) at 0.97: it lies too low there.

Source: Kendall 1945 (Biometrika 33, 239) for tau-b; Efron and Tibshirani, An Introduction to the Bootstrap (1993), ch.
14, for the correction; Owen 2007 (Ann. Appl. Stat. 1, 386) for resampling two sides, which errs to wide intervals.
"""

import csv
import io
import math
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from harness.errors import DataError
from harness.results.reading.arrays import Floats, Grades, Pairs
from harness.results.statistics.bootstrap import LEAST, RESAMPLINGS, question_weights, strata_of

LEAST_MODELS = 5
"""With fewer common models than this there is no interval."""
METHOD = "bias-corrected percentile bootstrap over questions and models"
FEW_MODELS = 20
COVERED = "such 95% intervals covered 94% or more in simulation, with scores as noisy as on MT-Bench"
COVERED_LESS = (
    "such 95% intervals covered 94% or more in simulation with scores as noisy as on MT-Bench; with noisier ones, so "
    "many models and a high correlation as little as 60%: they lie too low then"
)
MODEL_COLUMNS = ("model", "model_name", "model_id", "name")
SCORE_COLUMNS = ("score", "rating", "elo", "arena_score", "arena_elo", "average", "win_rate", "value", "rank")
"""Names of the column of numbers, the first that is there counts; of a `rank` the smallest is best."""

_BLOCK = 2_000_000
"""Numbers in one block of compared models; bounds the memory."""


@dataclass(frozen=True, slots=True)
class OtherRanking:
    """A ranking from elsewhere."""

    numbers: Mapping[str, float]
    """For each model, a number of which more is better (ranks are taken negative)."""
    column: str
    """The column of the file that holds them, as the file writes it."""
    blank: tuple[str, ...]
    """Models left out because the file has no number for them."""


@dataclass(frozen=True, slots=True)
class OurScores:
    """What each model got on each question."""

    models: tuple[str, ...]
    groups: tuple[Any, ...]
    """For each question, the group within which it is resampled."""
    sums: Floats
    """Questions × models: the sum of scores or outcomes, 0 where there is none."""
    counts: Floats
    """Questions × models: their number; a model's score is the sum of sums over the sum of counts."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation."""

    value: float | None
    """None with fewer than two models in common, or where one ranking is all ties."""
    low: float | None
    """95% interval; None with fewer than five models or questions."""
    high: float | None
    undefined: int
    """Resamplings left out because they had no correlation."""


@dataclass(frozen=True, slots=True)
class RankingReport:
    """How well two rankings agree."""

    spearman: Correlation
    kendall: Correlation
    models: tuple[str, ...]
    """The models in both, best of ours first."""
    only_ours: tuple[str, ...]
    only_theirs: tuple[str, ...]
    questions: int
    method: str


def read_ranking(
    path: pathlib.Path, *, model_column: str | None = None, score_column: str | None = None
) -> OtherRanking:
    """Return the ranking in a CSV file with a header; commas, semicolons or tabs part the columns.

    Without names given, the columns are the first of `MODEL_COLUMNS` and `SCORE_COLUMNS` that are there (capitals,
    blanks and hyphens do not matter); of a file with two columns, the other one is the score. Numbers may end in `%`.

    Raises:
        DataError: the file cannot be read, a column is missing, or a row is not what it must be.
    """
    rows = _rows(path)
    line, header = next(rows, (1, []))
    if len(header) < 2:
        raise DataError("no header with a column of models and one of scores, such as: model,score", path=path, line=1)
    names = [name.strip() for name in header]
    model_at = _column(names, model_column, MODEL_COLUMNS, "models", path, line)
    if score_column is None and len(names) == 2 and not _known(names[1 - model_at], SCORE_COLUMNS):
        score_at = 1 - model_at
    else:
        score_at = _column(names, score_column, SCORE_COLUMNS, "scores", path, line)
    numbers: dict[str, float] = {}
    first_line: dict[str, int] = {}
    blank = []
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(f"{len(row)} columns where the header has {len(names)}", path=path, line=line)
        model, text = row[model_at].strip(), row[score_at].strip()
        if not model:
            raise DataError(f"no model in the column {names[model_at]!r}", path=path, line=line)
        if model in first_line:
            raise DataError(f"the model {model!r} is in line {first_line[model]} too; leave one", path=path, line=line)
        first_line[model] = line
        if text:
            numbers[model] = _number(text, names[score_at], path, line)
        else:
            blank.append(model)
    if not numbers:
        raise DataError(f"no model with a number in the column {names[score_at]!r}", path=path)
    if _plain(names[score_at]) == "rank":
        numbers = {model: -number for model, number in numbers.items()}
    return OtherRanking(numbers, names[score_at], tuple(blank))


def grade_scores(grades: Grades) -> OurScores:
    """Return grades as scores to rank: the mean over all turns, pooled."""
    known = ~np.isnan(grades.scores)
    sums = np.where(known, grades.scores, 0.0).sum(axis=2)
    return OurScores(grades.models, grades.groups, sums, known.sum(axis=2).astype(np.float64))


def pair_scores(pairs: Pairs) -> OurScores:
    """Return pairs as scores to rank: the win rate over all pairs, a tie half."""
    known = ~np.isnan(pairs.outcome)
    sums, counts = np.zeros((2, len(pairs.questions), len(pairs.models)))
    for side, value in ((pairs.model_1, pairs.outcome), (pairs.model_2, 1.0 - pairs.outcome)):
        np.add.at(sums, (pairs.question[known], side[known]), value[known])
        np.add.at(counts, (pairs.question[known], side[known]), 1.0)
    return OurScores(pairs.models, pairs.groups, sums, counts)


def ranking_report(
    ours: OurScores, theirs: Mapping[str, float], *, resamplings: int = RESAMPLINGS, seed: int = 0
) -> RankingReport:
    """Return how well our ranking agrees with another one, which gives each model a number (more is better)."""
    total = ours.counts.sum(axis=0)
    scored = [at for at, model in enumerate(ours.models) if total[at] > 0]
    score = {ours.models[at]: float(ours.sums[:, at].sum() / total[at]) for at in scored}
    common = sorted((at for at in scored if ours.models[at] in theirs), key=lambda at: ours.models[at])
    models = [ours.models[at] for at in common]
    there = np.array([theirs[model] for model in models], dtype=np.float64)
    here = np.array([score[model] for model in models], dtype=np.float64)
    questions = np.flatnonzero(ours.counts[:, common].any(axis=1))
    values = rank_correlations(here[None], there, np.ones((1, len(models))))[:, 0]
    found = [Correlation(None if np.isnan(value) else float(value), None, None, 0) for value in values]
    if len(models) >= LEAST_MODELS and len(questions) >= LEAST and not np.isnan(values).any():
        sums, counts = (own[questions][:, common] for own in (ours.sums, ours.counts))
        strata = strata_of([ours.groups[at] for at in questions.tolist()])
        generator = np.random.default_rng([seed, 1])
        blocks = [
            rank_correlations(*part)
            for weights in question_weights(strata, corrected=True, resamplings=resamplings, seed=seed)
            for part in _parts(weights, sums, counts, there, generator)
        ]
        resampled = np.concatenate(blocks, axis=1)
        found = [_interval(float(value), own) for value, own in zip(values, resampled, strict=True)]
    return RankingReport(
        spearman=found[0],
        kendall=found[1],
        models=tuple(sorted(models, key=lambda model: (-score[model], model))),
        only_ours=tuple(sorted(model for model in score if model not in theirs)),
        only_theirs=tuple(sorted(model for model in theirs if model not in score)),
        questions=len(questions),
        method=METHOD,
    )


def rank_correlations(here: Floats, there: Floats, times: Floats) -> Floats:
    """Return Spearman's correlation and tau-b of each row of scores with one other ranking, as two rows.

    Args:
        here: resamplings × models, NaN where a model has no score.
        there: one number for each model.
        times: resamplings × models, how often each model counts.
    """
    times = np.where(np.isnan(here), 0.0, times)
    ours = np.nan_to_num(np.sign(here[:, :, None] - here[:, None, :]))
    theirs = np.sign(there[:, None] - there[None, :])
    ranks = _weighted(ours, times)  # how many are below minus how many are above: ranks but for a scale
    other = times @ theirs.T
    alike = (times * _weighted(ours * theirs, times)).sum(axis=1)
    untied = (times * _weighted(np.abs(ours), times)).sum(axis=1) * (times * (times @ np.abs(theirs))).sum(axis=1)
    covariance = (times * ranks * other).sum(axis=1)
    variances = (times * ranks**2).sum(axis=1) * (times * other**2).sum(axis=1)
    above, below = np.stack([covariance, alike]), np.sqrt(np.stack([variances, untied]))
    result: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return np.clip(result, -1.0, 1.0)


def _weighted(signs: Floats, times: Floats) -> Floats:
    """Return for each resampling and model the sum of its signs over the models that were drawn."""
    result: Floats = (signs @ times[:, :, None])[:, :, 0]
    return result


def _parts(
    weights: Floats, sums: Floats, counts: Floats, there: Floats, generator: np.random.Generator
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield resampled scores, the other ranking, and how often each model was drawn, in parts that fit the memory."""
    models = len(there)
    total = weights @ counts
    here = np.divide(weights @ sums, total, out=np.full(total.shape, np.nan), where=total > 1e-9)
    times = generator.multinomial(models, np.full(models, 1 / models), size=len(here)).astype(np.float64)
    size = max(1, _BLOCK // models**2)
    for start in range(0, len(here), size):
        yield here[start : start + size], there, times[start : start + size]


def _interval(value: float, resampled: Floats) -> Correlation:
    """Return a correlation with its bias-corrected interval."""
    known = np.sort(resampled[~np.isnan(resampled)])
    undefined = len(resampled) - len(known)
    if not len(known):
        return Correlation(value, None, None, undefined)
    below = np.searchsorted(known, value - 1e-12), np.searchsorted(known, value + 1e-12)
    share = min(max(sum(below) / 2, 0.5), len(known) - 0.5) / len(known)
    normal = NormalDist()
    z0 = normal.inv_cdf(share)
    low, high = np.quantile(known, [normal.cdf(2 * z0 - 1.959964), normal.cdf(2 * z0 + 1.959964)]).tolist()
    return Correlation(value, min(low, value), max(high, value), undefined)


def _rows(path: pathlib.Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and rows, blank ones left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    except UnicodeDecodeError as error:
        raise DataError("is no text in UTF-8; save it as UTF-8", path=path) from error
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"is no CSV: {error}", path=path, line=reader.line_num) from error


def _column(
    names: Sequence[str], wanted: str | None, usual: Sequence[str], what: str, path: pathlib.Path, line: int
) -> int:
    """Return the place of the column asked for, or of the first usual name that is there."""
    for name in usual if wanted is None else (wanted,):
        for at, own in enumerate(names):
            if _known(own, (name,)):
                return at
    sought = repr(wanted) if wanted is not None else f"of {what} ({', '.join(usual)})"
    raise DataError(f"no column {sought}; there are: {', '.join(names)}", path=path, line=line)


def _known(name: str, usual: Sequence[str]) -> bool:
    return _plain(name) in {_plain(own) for own in usual}


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _number(text: str, column: str, path: pathlib.Path, line: int) -> float:
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{text!r} in the column {column!r} is no number", path=path, line=line)
    return number

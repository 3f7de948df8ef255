"""Our ranking and another one -> their rank correlation, by Spearman and Kendall.

    spearman = Pearson's correlation of the ranks, ties at their mean rank
    tau_b    = (concordant pairs - discordant pairs) / sqrt(pairs not tied here * pairs not tied there)

over the models that are in both. Ours w 9, x 8, y 6, z 5; theirs w 1200, x 1210, y 1100, z 1050: of six pairs of models
five are concordant and one is not: tau_b = 4 / 6 = 0.667; ranks 1, 2, 3, 4 and 2, 1, 3, 4: spearman = 0.8.

The interval is for other models and other questions of the same kind, and for the models' true scores on
them: noise in our scores attenuates a correlation, which is corrected. The other ranking's noise is not.

    ends   = value ± half a step, as Fisher's z ± 1.96 * sd
    sd     = sqrt((1 + spearman² / 2) / (M - 3)),  for tau_b  sqrt(0.437 / (M - 4))         M models: their sampling
    r      = 2 * sin(pi * spearman / 6),  sin(pi * tau_b / 2)                     an end as Pearson's of normal scores
    end    = r / sqrt(reliability), made a rank correlation again                           the questions' sampling
    reliability = 1 - noise / variance of the models' scores

noise is the variance of a model's score relative to the others' over the choice of questions (stratified; what all
models share changes no order). The outer end is also moved away from zero by r / mean of the r of resampled
questions, as clustered scores lose more by noise than the reliability shows. A step is the least by which the
coefficient can change: 12 / (M * (M² - 1)) or 4 / (M * (M - 1)); no value counts as nearer to 1 than half of it.
The interval always contains the value. None with fewer than five models or questions.

34 models, spearman 0.95, reliability 0.98: z 1.832 ± 1.96 * 0.216, which is 0.887 to 0.978; as r 0.896 and 0.980, over
0.990 that is 0.905 and 0.990, or 0.897 to 0.989 (before what resampled questions add above).

How often it misses in simulation: `benchmarks/README.md`.

Source: Kendall 1945 (Biometrika 33, 239) for tau-b; Bonett and Wright 2000 (Psychometrika 65, 23) for sd; Spearman 1904
(Am. J. Psychol. 15, 72) for reliability; Kruskal 1958 (JASA 53, 814) for r.
"""

import math
import pathlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np

from harness.old.errors import DataError, UsageError
from harness.old.meta_evaluation.contingency import mean_ranks, quotient
from harness.old.meta_evaluation.report import Report, asked
from harness.old.records import Mode, Scale
from harness.old.results.common import UNRANKED, common_questions
from harness.old.results.matrix import Floats, Ints, Matrix, Pairs, matrix
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.pairs.rates import outcomes, shares
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import LEAST, Estimate, Resampling, question_weights, strata_of
from harness.old.written import read_table, takes_only

LEAST_MODELS = 5
"""With fewer common models than this there is no interval."""
METHOD = "Fisher's z over models, corrected for the questions' noise"
COVERED = "in simulation such 95% intervals missed in 2-3% with 80 questions, 8 and 34 models (benchmarks/README.md)"
MODEL_COLUMNS = ("model", "model_name", "model_id", "name")
SCORE_COLUMNS = ("score", "rating", "elo", "arena_score", "arena_elo", "average", "win_rate", "value", "rank")
"""Names of the column of numbers, the first one found counts; the smallest `rank` is best."""

_LEAST_RELIABLE = 0.05
"""A smaller reliability counts as this."""
_MOST_LOST, _LEAST_MEAN = 2.0, 0.05
"""Resampled questions move an end at most this far, and only if a correlation remains."""
_BLOCK = 2_000_000
"""Numbers in one block of compared models; bounds the memory."""


@dataclass(frozen=True, slots=True)
class OtherRanking:
    """A ranking from elsewhere."""

    numbers: Mapping[str, float]
    """For each model, a number of which more is better (ranks are taken negative)."""
    column: str
    """The name of their column in the file."""
    blank: tuple[str, ...]
    """Models left out because the file has no number for them."""


@dataclass(frozen=True, slots=True)
class OurScores:
    """What each model got on each question."""

    models: tuple[str, ...]
    sums: Floats
    """Questions × models: the sum of scores or outcomes, 0 where there is none."""
    counts: Floats
    """Questions × models: their number; a model's score is the sum of sums over the sum of counts."""


@dataclass(frozen=True, slots=True)
class RankingReport:
    """How well two rankings agree."""

    spearman: Estimate
    """None with fewer than two models in common, or where one ranking is all ties; no interval with fewer than five
    models or questions."""
    kendall: Estimate
    models: Mapping[str, float]
    """The models in both with their scores, best of ours first."""
    only_ours: tuple[str, ...]
    only_theirs: tuple[str, ...]
    questions: int
    undefined: int
    """Resampled questions that gave no correlation."""
    apart: Mapping[str, float]
    """The models in both that were judged on too few questions to be ranked, with their scores."""


def read_ranking(
    path: pathlib.Path, *, model_column: str | None = None, score_column: str | None = None
) -> OtherRanking:
    """Return the ranking in a CSV file with a header; commas, semicolons or tabs part the columns.

    Without names given, the columns are the first of `MODEL_COLUMNS` and `SCORE_COLUMNS` that are there (capitals,
    blanks and hyphens do not matter); of a file with two columns, the other one is the score. Numbers may end in `%`.

    Raises:
        DataError: the file cannot be read, a column is missing, or a row is not what it must be.
    """
    names, rows = read_table(path)
    if len(names) < 2:
        raise DataError("no header with a column of models and one of scores, such as: model,score", path=path, line=1)
    plain = [_plain(name) for name in names]

    def column(wanted: str | None, usual: Sequence[str], what: str) -> int:
        """Return the place of the requested column, or of the first usual name found."""
        for name in map(_plain, usual if wanted is None else (wanted,)):
            if name in plain:
                return plain.index(name)
        sought = repr(wanted) if wanted is not None else f"of {what} ({', '.join(usual)})"
        raise DataError(f"no column {sought}; there are: {', '.join(names)}", path=path, line=1)

    model_at = column(model_column, MODEL_COLUMNS, "models")
    only = 1 - model_at if score_column is None and len(names) == 2 else None
    score_at = only if only is not None else column(score_column, SCORE_COLUMNS, "scores")
    numbers: dict[str, float] = {}
    first_line: dict[str, int] = {}
    blank = []
    for line, row in rows:
        model, text = row[model_at].strip(), row[score_at].strip()
        if not model:
            raise DataError(f"no model in the column {names[model_at]!r}", path=path, line=line)
        if model in first_line:
            raise DataError(f"the model {model!r} is in line {first_line[model]} too; remove one", path=path, line=line)
        first_line[model] = line
        if not text:
            blank.append(model)
            continue
        try:
            numbers[model] = float(text.removesuffix("%"))
        except ValueError:
            numbers[model] = math.nan
        if not math.isfinite(numbers[model]):
            raise DataError(f"{text!r} in the column {names[score_at]!r} is not a number", path=path, line=line)
    if not numbers:
        raise DataError(f"no model with a number in the column {names[score_at]!r}", path=path)
    if plain[score_at] == "rank":
        numbers = {model: -number for model, number in numbers.items()}
    return OtherRanking(numbers, names[score_at], tuple(blank))


def grade_scores(grades: Matrix) -> OurScores:
    """Return grades as scores to rank: the mean over all turns, pooled."""
    known = ~np.isnan(grades.scores)
    sums = np.where(known, grades.scores, 0.0).sum(axis=2)
    return OurScores(grades.models, sums, known.sum(axis=2).astype(np.float64))


def pair_scores(pairs: Pairs) -> OurScores:
    """Return pairs as scores to rank: the win rate over all pairs, a tie half."""
    won, n = shares(pairs._replace(weighed=None)), outcomes(pairs).sum(axis=2)
    return OurScores(pairs.models, won, n)


def ranking_report(
    ours: OurScores, theirs: Mapping[str, float], apart: Collection[str] = (), **how: Unpack[Resampling]
) -> RankingReport:
    """Return how well our ranking agrees with another one, which gives each model a number (more is better).

    Models that are `apart` were judged on too few questions to be ranked: the correlations leave them out.
    """
    total = ours.counts.sum(axis=0)
    scored = [at for at, model in enumerate(ours.models) if total[at] > 0]
    score = {ours.models[at]: float(ours.sums[:, at].sum() / total[at]) for at in scored}
    in_both = sorted((at for at in scored if ours.models[at] in theirs), key=lambda at: ours.models[at])
    common = [at for at in in_both if ours.models[at] not in apart]
    models = [ours.models[at] for at in common]
    there = np.array([theirs[model] for model in models], dtype=np.float64)
    here = np.array([score[model] for model in models], dtype=np.float64)
    questions = np.flatnonzero(ours.counts[:, common].any(axis=1))
    values = rank_correlations(here[None], there)[:, 0]
    n, undefined = len(questions), 0
    found = [Estimate(None if np.isnan(value) else float(value), None, None, n, None) for value in values]
    if len(models) >= LEAST_MODELS and len(questions) >= LEAST and not np.isnan(values).any():
        sums, counts = (own[questions][:, common] for own in (ours.sums, ours.counts))
        strata = strata_of([None] * len(questions))
        blocks = [
            rank_correlations(here, there)
            for weights in question_weights(strata, corrected=True, **how)
            for here in _parts(weights, sums, counts)
        ]
        resampled = np.concatenate(blocks, axis=1)
        reliable = reliability(sums, counts, strata)
        found = [
            replace(one, low=low, high=high)
            for measure, one, own in zip((_SPEARMAN, _KENDALL), found, resampled, strict=True)
            for low, high in [_interval(measure, one.value or 0.0, len(models), reliable, own)]
        ]
        undefined = int(np.isnan(resampled[0]).sum())
    return RankingReport(
        spearman=found[0],
        kendall=found[1],
        models={model: score[model] for model in sorted(models, key=lambda model: (-score[model], model))},
        only_ours=tuple(sorted(model for model in score if model not in theirs)),
        only_theirs=tuple(sorted(model for model in theirs if model not in score)),
        questions=n,
        undefined=undefined,
        apart={model: score[model] for at in in_both if (model := ours.models[at]) in apart},
    )


def rank_correlations(here: Floats, there: Floats) -> Floats:
    """Return Spearman's correlation and tau-b of each row of scores with one other ranking, as two rows.

    Args:
        here: resamplings × models, NaN where a model has no score.
        there: one number for each model.
    """
    times = np.where(np.isnan(here), 0.0, 1.0)
    ours = np.nan_to_num(np.sign(here[:, :, None] - here[:, None, :]))
    theirs = np.sign(there[:, None] - there[None, :])
    ranks = _weighted(ours, times)  # how many are below minus how many are above: ranks but for a scale
    other = times @ theirs.T
    alike = (times * _weighted(ours * theirs, times)).sum(axis=1)
    untied = (times * _weighted(np.abs(ours), times)).sum(axis=1) * (times * (times @ np.abs(theirs))).sum(axis=1)
    covariance = (times * ranks * other).sum(axis=1)
    variances = (times * ranks**2).sum(axis=1) * (times * other**2).sum(axis=1)
    above, below = np.stack([covariance, alike]), np.sqrt(np.stack([variances, untied]))
    return np.clip(quotient(above, below), -1.0, 1.0)


def _weighted(signs: Floats, times: Floats) -> Floats:
    """Return for each resampling and model the sum of its signs over the models that count."""
    result: Floats = (signs @ times[:, :, None])[:, :, 0]
    return result


def reliability(sums: Floats, counts: Floats, strata: Sequence[Ints]) -> float:
    """Return the share of the variance of the models' scores that the choice of questions did not make.

    Args:
        sums: questions × models, as in `OurScores`.
        counts: questions × models.
        strata: the places of the questions of each group.
    """
    total = counts.sum(axis=0)
    score = sums.sum(axis=0) / total
    # What each question does to a model's score, beside what it does to all of them.
    moved = (sums - score * counts) / total
    moved -= moved.mean(axis=1, keepdims=True)
    noise = 0.0
    for places in strata:
        own = moved[places]
        alone = len(places) < 2
        noise += float((own**2).sum() if alone else len(places) * own.var(axis=0, ddof=1).sum())
    variance = float(score.var(ddof=1))
    noise /= len(score) - 1
    return min(max(1.0 - noise / variance, _LEAST_RELIABLE), 1.0) if variance > 0 else 1.0


def _parts(weights: Floats, sums: Floats, counts: Floats) -> Iterator[Floats]:
    """Yield scores by resampled questions, in parts that fit into the memory."""
    total = weights @ counts
    here = np.divide(weights @ sums, total, out=np.full(total.shape, np.nan), where=total > 1e-9)
    size = max(1, _BLOCK // counts.shape[1] ** 2)
    for start in range(0, len(here), size):
        yield here[start : start + size]


class _Measure(NamedTuple):
    """How a rank correlation is made an interval."""

    deviation: Callable[[float, int], float]
    """Of Fisher's z, for the coefficient and the number of models."""
    step: Callable[[int], float]
    """The least by which it can change."""
    normal: Callable[[float], float]
    """Pearson's correlation of normal scores that have this rank correlation."""
    rank: Callable[[float], float]
    """And back."""


_SPEARMAN = _Measure(
    lambda value, models: math.sqrt((1 + value**2 / 2) / (models - 3)),
    lambda models: 12 / (models * (models**2 - 1)),
    lambda rank: 2 * math.sin(math.pi * rank / 6),
    lambda r: 6 / math.pi * math.asin(r / 2),
)
_KENDALL = _Measure(
    lambda _, models: math.sqrt(0.437 / (models - 4)),
    lambda models: 4 / (models * (models - 1)),
    lambda rank: math.sin(math.pi * rank / 2),
    lambda r: 2 / math.pi * math.asin(r),
)


def _interval(measure: _Measure, value: float, models: int, reliable: float, resampled: Floats) -> Scale:
    """Return the ends of the interval of a correlation."""
    known = resampled[~np.isnan(resampled)]
    half = measure.step(models) / 2
    sd = measure.deviation(value, models)
    ends = []
    for sign in (-1, 1):
        near = min(max(value + sign * half, half - 1), 1 - half)
        ends.append(math.tanh(math.atanh(near) + sign * 1.959964 * sd))
    mean = measure.normal(float(known.mean())) if len(known) else 0.0
    own = measure.normal(value)
    lost = min(max(own / mean, 1.0), _MOST_LOST) if own * mean > 0 and abs(mean) >= _LEAST_MEAN else 1.0
    outer = 1 if value >= 0 else 0
    low, high = (
        measure.rank(min(max(measure.normal(end) / math.sqrt(reliable) * (lost if at == outer else 1.0), -1.0), 1.0))
        for at, end in enumerate(ends)
    )
    return min(low, value), max(high, value)


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


@takes_only(Words.__annotations__)
def judge_ranking(
    against: pathlib.Path | str | None = None,
    mode: Mode | None = None,
    *,
    metric: Sequence[str] | None = None,
    variant: str | None = None,
    model_column: str | None = None,
    score_column: str | None = None,
    **words: Unpack[Words],
) -> Report:
    """Return how well the judge's ranking agrees with that of a CSV file, or how well metrics agree with the judge.

    Of a file, `models` has both rankings side by side, `n` the judgments behind a score; a model that was judged on too
    few questions has no rank.

    Args:
        metric: instead of a file, metrics that need no judge (empty: all that were computed); see `judge_metrics`.
        variant: of the metrics.
        against: the file, with a header, a column of models and one of scores (more is better) or ranks.
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        model_column: the column of models, where it has no usual name.
        score_column: the column of scores, where it has no usual name or there are several.
        words: see `Words`.

    Raises:
        DataError: the file is not such a table.
        UsageError: it has fewer than two models in common with the judgments.
    """
    if (against is None) == (metric is None):
        raise UsageError("name what to compare with: --against FILE.csv, or --metric for metrics that need no judge")
    if against is None:
        from harness.old.meta_evaluation.metric_agreement import judge_metrics

        return judge_metrics(metric or (), mode, variant=variant, **words)
    path = pathlib.Path(against)
    other = read_ranking(path, model_column=model_column, score_column=score_column)
    given = asked(Query.of(mode, **words))
    records, groups = given.verdicts, given.subject.categories or None
    ours = pair_scores(pair_arrays(records, groups)) if records.paired else grade_scores(matrix(records, groups))
    found = ranking_report(ours, other.numbers, common_questions(records).apart, seed=given.query.seed)
    if len(found.models) < 2:
        few = f"; too few questions are judged of {', '.join(found.apart)}" if found.apart else ""
        raise UsageError(
            f"{path} and {given.sources[0].path} have {len(found.models) or 'no'} model in common; "
            f"judged are {', '.join([*found.models, *found.only_ours])}{few}"
        )
    measures = {"spearman": found.spearman, "kendall tau-b": found.kendall}
    rows = [{"measure": name, "value": one, "n": len(found.models)} for name, one in measures.items()]
    theirs = [other.numbers[model] for model in found.models]
    here, there = (mean_ranks(-np.array(scores)).tolist() for scores in (list(found.models.values()), theirs))
    sign = -1.0 if other.column.strip().lower() == "rank" else 1.0
    ranked = zip(found.models.items(), here, theirs, there, strict=True)
    unranked = ((own, None, other.numbers[own[0]], None) for own in found.apart.items())
    judgments = dict(zip(ours.models, ours.counts.sum(axis=0).astype(int).tolist(), strict=True))
    models = [
        {"model": model, "score": score, "rank": own, "other_score": sign * number, "other_rank": rank}
        | {"n": judgments[model]}
        for (model, score), own, number, rank in (*ranked, *unranked)
    ]
    notes = [f"against the column {other.column!r} of {path.name}, {len(found.models)} models in common"]
    notes += ["models without a rank are in no correlation"] if found.apart else []
    for who, left in (("judged", found.only_ours), (path.name, found.only_theirs)):
        if left:
            notes.append(f"only {who}: {', '.join(left)}" if len(left) <= 10 else f"only {who}: {len(left)} models")
    if other.blank:
        notes.append(f"no number in {path.name}: {', '.join(other.blank)}")
    if found.spearman.value is None:
        alike = "the judgments" if len(set(found.models.values())) == 1 else path.name
        notes.append(f"no correlation: by {alike} all these models are equal")
    elif found.spearman.low is None:
        there_are = f"these are {len(found.models)} and {found.questions}"
        notes.append(f"no interval: it takes {LEAST_MODELS} models and {LEAST} questions, {there_are}")
    else:
        notes.append(f"intervals: {METHOD}, of {found.questions} questions and {len(found.models)} models")
        notes.append(COVERED)
    if found.undefined:
        notes.append(f"{found.undefined} resamples without a correlation left out")
    return given.report("ranking", rows, notes, {"models": models}, explained=False, few=UNRANKED)

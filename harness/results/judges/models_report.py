"""Judgment files -> how a judge sees the models: its own family beside the others, and its ranking beside another one.

    self       does it favour its own family?            ranking    does it rank the models as others do?

Every number comes from `harness.results.judges.self_preference` and `harness.results.judges.ranking`.
"""

import pathlib
from collections.abc import Mapping, Sequence

from harness.errors import UsageError
from harness.records import Mode
from harness.results.judges.panel import panel_grades, panel_pairs
from harness.results.judges.ranking import (
    COVERED,
    LEAST_MODELS,
    Correlation,
    grade_scores,
    pair_scores,
    ranking_report,
    read_ranking,
)
from harness.results.judges.report import Report, common_notes, flat, notice_of, paths_of, records_of, report_of
from harness.results.judges.self_preference import graded_self_preference, paired_self_preference
from harness.results.reading.arrays import grades, pairs
from harness.results.reading.columns import Ratings
from harness.results.reading.read import Judged, Which
from harness.results.reading.select import about
from harness.results.reading.sources import Paths, judged_by, judged_by_several, told_once
from harness.results.statistics.bootstrap import Estimate


def judge_self(
    mode: Mode | None = None,
    *,
    input_file: Paths = None,
    judge_model: Sequence[str] | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    families: Mapping[str, str] | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> Report:
    """Return for each of several judges whether it favours the models of its own family, against the other judges.

    `judge_model` are the judges (default: all that there are), `families` says of which family a model or judge is
    where its name does not. For the other arguments see `harness.judge_position`.

    Raises:
        UsageError: there are fewer than two judges, or they had different judge sets.
    """
    which = Which(sample, criterion, score_method)
    sources = judged_by_several(mode, paths_of(input_file), judge_model, judge_set, bench_name, data_dir, which=which)
    records = records_of(sources)
    subject = about(records, sources[0].path, bench_name, data_dir, given=input_file is not None)
    groups = subject.categories or None
    judges = list(dict.fromkeys(source.judge for source in sources))
    if isinstance(records, Ratings):
        graded = panel_grades({judge: grades(_of_judge(records, judge), groups) for judge in judges})
        found = graded_self_preference(graded, families=families, seed=seed)
    else:
        paired = panel_pairs({judge: pairs(_of_judge(records, judge), groups) for judge in judges})
        found = paired_self_preference(paired, families=families, seed=seed)
    none = Estimate(None, None, None, 0, None)
    rows = [
        {
            "judge": row.judge,
            "family": row.family,
            "own": ", ".join(row.own),
            "others": ", ".join(row.others),
            "own_by_judge": row.own_by_judge,
            "own_by_others": row.own_by_others,
            "rest_by_judge": row.rest_by_judge,
            "rest_by_others": row.rest_by_others,
            **flat("difference", row.difference or none),
            "n": row.n,
            "left_out": row.left_out,
            "why_not": row.why_not,
        }
        for row in found
    ]
    notes = told_once(sources)
    notes.append(
        "difference: how much better the models of the judge's family fare under it than under the others; it cannot "
        "tell a judge that favours them from one that sees better what they are good at"
    )
    notes += common_notes(sources, subject.why_not, [row.difference for row in found if row.difference])
    return report_of("self", sources, subject.bench, rows, notes)


def _of_judge(records: Judged, judge: str) -> Judged:
    return records.keep(asked=lambda asked: asked.judge == judge)


def judge_ranking(
    against: pathlib.Path | str,
    mode: Mode | None = None,
    *,
    input_file: pathlib.Path | str | None = None,
    judge_model: str | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    model_column: str | None = None,
    score_column: str | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> Report:
    """Return how well the judge's ranking agrees with that of a CSV file; `models` has both side by side.

    Args:
        against: the file, with a header, a column of models and one of scores (more is better) or ranks.
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        input_file: a judgment or vote file to read in place of the benchmark's.
        judge_model: whose judgments; needed where there are several judges.
        judge_set: made with which judge set; needed where there are several.
        sample: which of the judge's samples (default: the first); needed where a file holds several.
        criterion: by which criterion; needed where there are several.
        score_method: verdicts read from the `text` or weighed by `logprobs`; needed where there are both.
        model_column: the column of models, where it has no usual name.
        score_column: the column of scores, where it has no usual name or there are several.
        bench_name: the benchmark (default mt_bench).
        data_dir: the data folder.
        seed: of the resampling.

    Raises:
        DataError: the file is no such table.
        UsageError: it has fewer than two models in common with the judgments.
    """
    path = pathlib.Path(against)
    other = read_ranking(path, model_column=model_column, score_column=score_column)
    which = Which(sample, criterion, score_method)
    sources = judged_by(mode, paths_of(input_file), judge_model, judge_set, bench_name, data_dir, which=which)
    records = records_of(sources)
    subject = about(records, sources[0].path, bench_name, data_dir, given=input_file is not None)
    groups = subject.categories or None
    ours = (
        grade_scores(grades(records, groups)) if isinstance(records, Ratings) else pair_scores(pairs(records, groups))
    )
    found = ranking_report(ours, other.numbers, seed=seed)
    if len(found.models) < 2:
        raise UsageError(
            f"{path} and {sources[0].path} have {len(found.models) or 'no'} model in common; "
            f"judged are {', '.join(found.only_ours)}"
        )
    rows = [
        {"measure": name, **_correlated(correlation), "n": len(found.models)}
        for name, correlation in (("spearman", found.spearman), ("kendall tau-b", found.kendall))
    ]
    total = {
        model: float(ours.sums[:, at].sum() / ours.counts[:, at].sum())
        for at, model in enumerate(ours.models)
        if model in found.models
    }
    here, there = _ranks(total), _ranks({model: other.numbers[model] for model in found.models})
    sign = -1.0 if other.column.strip().lower() == "rank" else 1.0
    models = [
        {
            "model": model,
            "score": total[model],
            "rank": here[model],
            "other_score": sign * other.numbers[model],
            "other_rank": there[model],
        }
        for model in found.models
    ]
    notes = told_once(sources)
    notes.append(f"against the column {other.column!r} of {path.name}, {len(found.models)} models in common")
    for who, left in (("judged", found.only_ours), (path.name, found.only_theirs)):
        if left:
            notes.append(f"only {who}: {', '.join(left)}" if len(left) <= 10 else f"only {who}: {len(left)} models")
    if other.blank:
        notes.append(f"no number in {path.name}: {', '.join(other.blank)}")
    if found.spearman.low is None:
        notes.append(f"no interval: it takes {LEAST_MODELS} models and 5 questions, and scores that differ")
    else:
        notes.append(f"intervals: {found.method}, of {found.questions} questions and {len(found.models)} models")
        notes.append(COVERED)
    if found.spearman.undefined:
        notes.append(f"{found.spearman.undefined} resamplings without a correlation left out")
    return report_of(
        "ranking", sources, subject.bench, rows, notes + notice_of(sources, subject.why_not), models=models
    )


def _correlated(found: Correlation) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _ranks(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return ranks from 1, ties at their mean rank."""
    values = list(numbers.values())
    return {
        model: 1 + sum(other > own for other in values) + (sum(other == own for other in values) - 1) / 2
        for model, own in numbers.items()
    }

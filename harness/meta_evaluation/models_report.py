"""Judgment files -> how a judge sees the models: its own family beside the others, and its ranking beside another one.

    self       does it favour its own family?            ranking    does it rank the models as others do?

Every number comes from `harness.meta_evaluation.self_preference` and `harness.meta_evaluation.ranking`.
"""

import pathlib
from collections.abc import Mapping
from typing import Unpack

from harness.errors import UsageError
from harness.judgments.observations import Observations
from harness.meta_evaluation.ranking import (
    COVERED,
    LEAST_MODELS,
    Correlation,
    grade_scores,
    pair_scores,
    ranking_report,
    read_ranking,
)
from harness.meta_evaluation.report import Report, common_notes, flat, notice_of, report_of
from harness.meta_evaluation.self_preference import graded_self_preference, paired_self_preference
from harness.records import Mode
from harness.results.matrix import matrix, pairs
from harness.results.panel import panel_grades, panel_pairs
from harness.results.query import Query, Words, ask, replaced_note
from harness.results.statistics.bootstrap import Estimate


def judge_self(
    mode: Mode | None = None, *, families: Mapping[str, str] | None = None, **words: Unpack[Words]
) -> Report:
    """Return for each of several judges whether it favours the models of its own family, against the other judges.

    `judge_model` are the judges (default: all that there are), `families` says of which family a model or judge is
    where its name does not; see `Words` for what else can be asked for.

    Raises:
        UsageError: there are fewer than two judges, or they had different judge sets.
    """
    query = Query.of(mode, **words)
    sources = ask(query, several=True)
    records = Observations.joined([source.observations for source in sources])
    subject = query.about(records, sources[0].path)
    groups = subject.categories or None
    judges = list(dict.fromkeys(source.judge for source in sources))
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in judges}  # type: ignore[misc]
    if records.paired:
        paired = panel_pairs({judge: pairs(judged, groups) for judge, judged in own.items()})
        found = paired_self_preference(paired, families=families, seed=query.seed)
    else:
        graded = panel_grades({judge: matrix(judged, groups) for judge, judged in own.items()})
        found = graded_self_preference(graded, families=families, seed=query.seed)
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
    notes = replaced_note(sources)
    notes.append(
        "difference: how much better the models of the judge's family fare under it than under the others; it cannot "
        "tell a judge that favours them from one that sees better what they are good at"
    )
    notes += common_notes(sources, subject.why_not, [row.difference for row in found if row.difference])
    return report_of("self", sources, subject.bench, rows, notes)


def judge_ranking(
    against: pathlib.Path | str,
    mode: Mode | None = None,
    *,
    model_column: str | None = None,
    score_column: str | None = None,
    **words: Unpack[Words],
) -> Report:
    """Return how well the judge's ranking agrees with that of a CSV file; `models` has both side by side.

    Args:
        against: the file, with a header, a column of models and one of scores (more is better) or ranks.
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        model_column: the column of models, where it has no usual name.
        score_column: the column of scores, where it has no usual name or there are several.
        words: see `Words`.

    Raises:
        DataError: the file is no such table.
        UsageError: it has fewer than two models in common with the judgments.
    """
    path = pathlib.Path(against)
    other = read_ranking(path, model_column=model_column, score_column=score_column)
    query = Query.of(mode, **words)
    (source,) = sources = ask(query)
    records = source.observations
    subject = query.about(records, source.path)
    groups = subject.categories or None
    ours = pair_scores(pairs(records, groups)) if records.paired else grade_scores(matrix(records, groups))
    found = ranking_report(ours, other.numbers, seed=query.seed)
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
    notes = replaced_note(sources)
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

"""The observations that are shown -> the table of their kind, with its uncertainty if requested.

grades   a mean by turn and over all               pairs    wins, losses, ties
label, criterion, dimension, metric                the columns that a judge set or a metric names
of several judges                                  each of them and all together (`panel`)

The first screen shows this uncertainty, with the numbers of the full detail (`detail`), from the same resamples:

interval   of the average or the win rate (ties half; of weighted verdicts the mean), from a bootstrap of questions
rank       1 + significantly better models, to M - significantly worse models (`paired`, of pairs `comparing`; `ranks`);
           each column of several has its own, and is a separate family of tests
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.names import listed
from harness.old.results.common import Common, common_questions
from harness.old.results.grades.aggregates import aggregated, column_of, with_turns
from harness.old.results.grades.scores import average_of
from harness.old.results.grades.single import category_rows, single_rows
from harness.old.results.matrix import Matrix, Pairs, matrix, ranked
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.measured import of_checks, with_kinds
from harness.old.results.pairs.pairwise import pairwise_rows, side_scores, with_scores
from harness.old.results.query import KIND, UNGROUPED
from harness.old.results.result import Result
from harness.old.results.statistics.bootstrap import NONE, Estimate
from harness.old.results.statistics.paired import PairedTable, paired
from harness.old.results.statistics.ranks import rank_ranges
from harness.old.results.table import Made, Table
from harness.old.results.wanted import Shown

OF_SCALE, OF_WIN_RATES = 0.05, 0.1
"""The difference for power unless the user names one: of grades as a share of the scale, of win rates."""
MOST_MODELS = 50
MOST_ROWS = 8_000
"""A table of more models or rows than this has intervals and ranks only on request: they would take
longer than all the rest."""


def table_of(result: Result, shown: Shown) -> Result:
    """Return the result with the table of one judge, of a panel, or of metrics."""
    found, met = _on_common(result, shown)
    made = {"grades": _grades, "pairs": _pairs}.get(shown.kind, _named)
    made = _panel if shown.wanted.query.several else made
    result = made(result, shown, found)
    if result.table.names:
        result = _best_first(result, told=shown.wanted.sort is None)
    result = result.with_last(met.apart)
    # First of all notes: the viewer shows the first ones at once and the others when asked to.
    result.notes[:0] = _on_questions(result, shown, met)
    return result


def _grades(result: Result, shown: Shown, grades: Observations) -> Result:
    """Return the result with the lines of grades."""
    wanted, subject = shown.wanted, shown.subject
    column, seed = column_of(wanted.aggregate), wanted.query.seed
    whole = conversations(grades, shown)
    lines = single_rows(whole, column=column, count_failed=wanted.count_failed)
    if whole is not grades:
        of_turns = {line.model: line for line in single_rows(grades, column=column)}
        lines = [with_turns(line, of_turns[line.model]) for line in lines]
    table = Table(lines, "grades", subject.by, seed, sure=False, beside=False, places=2)
    result = replace(result, scale=grades.scale(), column=column, table=table)
    if subject.categories:
        result.categories.extend(category_rows(whole, subject.categories, count_failed=wanted.count_failed))
    if not _sure(result, wanted.intervals, len(lines), len(grades)):
        return result
    groups = subject.groups
    arrays = matrix(whole, groups, count_failed=wanted.count_failed)
    result = with_intervals(result, average_of(arrays, seed=seed))
    result = with_ranks(result, {column: paired(ranked(arrays), resamplings=0)})
    if not wanted.intervals:
        return result
    turned, of_whole = (arrays, None) if whole is grades else (matrix(grades, groups), arrays)
    usual = None if result.scale is None else OF_SCALE * (result.scale[1] - result.scale[0])
    return _with_detail(result, shown, turned, grades, wanted.difference or usual, whole=of_whole)


def _pairs(result: Result, shown: Shown, pairs: Observations) -> Result:
    """Return the result with the lines of pairs."""
    wanted, subject, baseline, seed = shown.wanted, shown.subject, shown.baseline, shown.wanted.query.seed
    lines = pairwise_rows(pairs, baseline=baseline)
    if sides := side_scores(dict.fromkeys(one.path for one in shown.found), pairs):
        lines = with_scores(lines, sides)
        there = {line.model for line in lines}
        of_categories = category_rows(sides, subject.categories)
        result.categories.extend(row for row in of_categories if row["model"] in there)
        result.notes.append("score: the mean of the two scores of each side of a pair, one in each order")
    column = "win_rate" if lines and "n_draws" in lines[0].fields else "win_rate_adjusted"
    table = Table(lines, "pairs", subject.by, seed, sure=False, beside=False)
    result = replace(result, table=table, column=column)
    if not _sure(result, wanted.intervals, len(lines), len(pairs)):
        return result
    from harness.old.results.pairs.comparing import compared_strengths, meetings_note
    from harness.old.results.pairs.rates import adjusted_rates

    found = pair_arrays(pairs, subject.groups)
    result = with_intervals(result, adjusted_rates(found, baseline=baseline, seed=seed))
    result = with_ranks(result, {column: compared_strengths(found, baseline=baseline, resamplings=0)})
    result.notes.extend([note] if (note := meetings_note(found, baseline)) else [])
    return _with_detail(result, shown, found, pairs, wanted.difference or OF_WIN_RATES) if wanted.intervals else result


def _named(result: Result, shown: Shown, found: Observations) -> Result:
    """Return the result with the table of labels, criteria, dimensions or metrics."""
    wanted, subject = shown.wanted, shown.subject
    if shown.kind == "label" and wanted.aggregate is not None:
        raise UsageError("--aggregate is for grades, and these are labels; leave it out")
    found = conversations(found, shown)
    of_kinds = shown.kind == "metric" and subject.by == KIND and of_checks(found)
    if of_kinds:
        shown = shown._replace(subject=subject._replace(by=UNGROUPED))
    arrays = _arrays(found, shown)
    if not arrays:
        raise UsageError(f"{result.path} contains no such verdict: --turns and the models named leave none")
    sure = _sure(result, wanted.intervals, 1, len(found) // len(found.metrics()))
    how = _how(shown, sure)
    if shown.kind == "label":
        from harness.old.results.labels import label_table, worth

        table = label_table(arrays, **how)
        arrays = worth(found, table, subject.groups)
    else:
        from harness.old.results.means import fewer_note, means_table

        table = means_table(arrays, shown.kind, **how)
        result.notes.extend([note] if (note := fewer_note(table)) else [])
    result = replace(result, table=with_kinds(table, wanted.query.bench, found) if of_kinds else table)
    few = len(arrays) * len(table.whole) ** 2 <= MOST_MODELS**2
    if not sure or not (few or wanted.intervals):
        result.notes.extend(["for so large a table, ranks are computed only with --intervals"] if sure else [])
        return result
    return with_ranks(result, {name: paired(ranked(own), resamplings=0) for name, own in arrays.items()})


def with_intervals(result: Result, intervals: Mapping[str, Estimate]) -> Result:
    """Return the result with the interval of each model's number in the column that ranks the models."""
    lines, column = [], result.column
    for line in result.table.lines:
        own = intervals.get(line.model, NONE)
        lines.append(line._replace(fields={**line.fields, column: replace(own, value=line.fields[column])}))
    return replace(result, table=result.table._replace(lines=lines, sure=True))


def with_ranks(result: Result, compared: Mapping[str, PairedTable]) -> Result:
    """Return the result with the ranks of each column whose models were compared; notes say where these differ."""
    ranks = {column: rank_ranges(own) for column, own in compared.items()}
    result.notes.extend(
        note for column, own in compared.items() if (note := _contradictions(result.table, column, own))
    )
    return replace(result, table=result.table._replace(ranks=ranks))


def _contradictions(table: Table, column: str, compared: PairedTable) -> str | None:
    """Return a note on models whose numbers in the table differ one way and whose comparison goes the other way."""
    value = {line.model: own.value for line in table.whole if (own := line.estimates().get(column)) is not None}
    told = []
    why = "uses the strength over all pairs" if table.kind == "pairs" else "counts each common question once"
    for pair in compared.pairs:
        one, other, difference = value.get(pair.model_1), value.get(pair.model_2), pair.difference.value
        if one is None or other is None or difference is None or (one - other) * difference > -1e-9:
            continue
        higher, lower = (pair.model_1, pair.model_2) if one > other else (pair.model_2, pair.model_1)
        told.append(f"{higher} over {lower} (compared: {-abs(difference):.2g})")
    if not told:
        return None
    return (
        f"{f'{column}: ' if table.named else ''}some are higher in the table but lower in the comparison, which {why}: "
        f"{listed(told)}; ranks follow the comparison"
    )


def _best_first(result: Result, *, told: bool) -> Result:
    """Return the result with the best models first: by the mean of their ranks in all columns, then by the first one;
    a model without a rank in a column in which others have one comes after those that have all, since a mean of fewer
    ranks is not comparable. Notes say so unless the user chose a column."""
    ranks, (first, *others) = result.table.ranks, result.table.names
    result = result.sorted_by(first)
    models = dict.fromkeys(line.model for line in result.table.whole)
    means = {
        model: fmean(rank.first + rank.last for own in ranks.values() if (rank := own.get(model)))
        for model in models
        if any(model in own for own in ranks.values())
    }
    lacking = {model: [name for name, own in ranks.items() if own and model not in own] for model in means}
    if others and means:
        models = dict.fromkeys(sorted(models, key=lambda m: (len(lacking.get(m, ranks)), means.get(m, math.inf))))
        result = result.in_order({model: at for at, model in enumerate(models)})
    if others and told and len(models) > 1:
        by = "the mean of their ranks in all columns" if means else first
        result.notes.append(f"models are sorted by {by} (by one column: --sort)")
        of = [f"{model} ({listed(lacking[model])})" for model in models if lacking.get(model)]
        if of:
            result.notes.append(f"with too few numbers to be ranked in every column, so listed last: {listed(of)}")
    return result


def _panel(result: Result, shown: Shown, records: Observations) -> Result:
    """Return the result with the numbers of several judges, each alone and all together."""
    from harness.old.results.panel import grades_panel, labels_panel, means_panel, pairs_panel

    kind, seed = shown.kind, shown.wanted.query.seed
    ranked = kind in ("grades", "pairs")
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in shown.judges}  # type: ignore[misc]
    arrays = {judge: _arrays(said, shown) for judge, said in own.items() if said or not ranked}
    if kind == "grades":
        panel = grades_panel(arrays, seed=seed)
    elif kind == "pairs":
        panel = pairs_panel(arrays, baseline=shown.baseline, seed=seed)
    else:
        how = _how(shown, _sure(result, shown.wanted.intervals, 1, len(records) // len(records.metrics())))
        panel = labels_panel(arrays, **how) if kind == "label" else means_panel(arrays, kind, **how)
        if not panel.table.lines:
            raise UsageError("there is no item with a verdict of all judges; name one judge with --judge-model")
    result.notes.extend(panel.notes(verdicts=not ranked))
    column = "win_rate_adjusted" if kind == "pairs" else result.column
    result = replace(result, table=panel.table, panel=panel, column=column)
    if kind == "pairs":
        from harness.old.results.pairs.comparing import meetings_note

        note = meetings_note(panel.together, shown.baseline)
        result.notes.extend([note] if note else [])
    return _with_detail(result, shown, panel.together, records) if ranked and shown.wanted.intervals else result


def conversations(found: Observations, shown: Shown) -> Observations:
    """Return one observation of each conversation if an aggregate of turns is wanted, else what was found."""
    wanted = shown.wanted
    if wanted.aggregate is None:
        return found
    judged = shown.kind != "metric"
    return aggregated(found, wanted.aggregate, shown.subject.questions, wanted.query.turns, judged=judged)


def _arrays(found: Observations, shown: Shown) -> Any:
    """Return the observations of one judge as arrays for the tables of their kind."""
    groups = shown.subject.groups
    if shown.kind == "label":
        from harness.old.results.labels import judgments_of

        return judgments_of(found)
    if shown.kind == "grades":
        return matrix(found, groups)
    if shown.kind == "pairs":
        return pair_arrays(found, groups)
    from harness.old.results.means import matrices

    return matrices(found, groups or None)


def _how(shown: Shown, sure: bool) -> Made:
    """Return how a table of named columns is made."""
    subject = shown.subject
    return {"groups": subject.groups or None, "by": subject.by, "sure": sure, "seed": shown.wanted.query.seed}


def _sure(result: Result, intervals: bool | None, models: int, rows: int) -> bool:
    """Return whether intervals are made; note that they are not because there is too much."""
    if intervals is None and (models > MOST_MODELS or rows > MOST_ROWS):
        result.notes.append("for so large a table, intervals and ranks are computed only with --intervals")
        return False
    return intervals is not False and models > 0


def _with_detail(
    result: Result,
    shown: Shown,
    found: Matrix | Pairs,
    said: Observations,
    stated: float | None = None,
    whole: Matrix | None = None,
) -> Result:
    """Return the result with its full uncertainty; power is computed for the stated difference.

    `found` are the arrays of the observations `said`, for a panel those of all judges together; `whole` as of
    `grades_detail`.
    """
    from harness.old.results.detail import grades_detail, pairs_detail, position_of

    subject, seed = shown.subject, shown.wanted.query.seed
    if isinstance(found, Matrix):
        detail = grades_detail(found, by=subject.by, whole=whole, column=result.column, seed=seed)
    else:
        position = position_of(said, subject.groups, seed=seed)  # of a panel: of all judges, and of each
        detail = pairs_detail(found, by=subject.by, baseline=shown.baseline, position=position, seed=seed)
    result.notes.extend(detail.only.without_strengths() if detail.only is not None else [])
    return replace(result, detail=replace(detail, pairs=detail.pairs.with_stated(stated)))


def met_on(shown: Shown) -> Common:
    """Return on which questions the models of a table were judged."""
    several = shown.wanted.query.several
    counted = shown.wanted.count_failed and shown.kind == "grades" and not several
    return common_questions(shown.records, shown.baseline, shown.judges if several else (), count_failed=counted)


def _on_common(result: Result, shown: Shown) -> tuple[Observations, Common]:
    """Return what counts, all or of the common questions only, and on which questions models were judged."""
    found, met = shown.records, met_on(shown)
    # Of conversations, one that lacks a turn is left out as a whole, and counted as that.
    result.notes.extend([met.turns_note] if met.turns_note and shown.wanted.aggregate is None else [])
    if shown.subject.questions and shown.wanted.query.turns is None and shown.kind != "metric":
        result.notes.extend([note] if (note := shown.subject.turns_reach(met.by_turn())) else [])
    if not shown.wanted.common:
        return found, met
    if not met.questions:
        raise UsageError(f"{result.path}: no question is common to all models (--common); name fewer (--model-list)")
    return found.keep(asked=lambda asked: asked.question_id in met.questions), met


def _on_questions(result: Result, shown: Shown, met: Common) -> list[str]:
    """Return what to say of models that were judged on other questions than others were."""
    ranks = bool(result.table.ranks)  # where only one model has enough, its column says that there is none
    if not shown.wanted.common:
        return [note] if (note := met.note(paired=shown.records.paired, ranks=ranks)) and len(met.judged) > 1 else []
    notes = [f"only the {len(met.questions)} questions on which all ranked models were judged (--common)"]
    too_few = "to be ranked" if ranks else "beside the others, so listed last"
    return notes + ([f"judged on too few questions {too_few}: {', '.join(met.apart)}"] if met.apart else [])

"""The observations that are shown -> the table of their kind, and how sure it is as far as that is wanted.

grades   a mean by turn and over all               pairs    wins, losses, ties
label, criterion, dimension, metric                the columns that a judge set or a metric names
of several judges                                  each of them alone and all together (`panel`)
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.judgments.observations import Observations
from harness.results.common import Common, common_questions
from harness.results.grades.aggregates import aggregated, column_of, with_turns
from harness.results.grades.single import category_rows, single_rows
from harness.results.pairs.pairwise import pairwise_rows, side_scores, with_scores
from harness.results.query import KIND
from harness.results.result import Result
from harness.results.table import Made, Table
from harness.results.wanted import Shown, Wanted

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.results.brief import Brief
    from harness.results.detail import Detail


def table_of(result: Result, shown: Shown, wanted: Wanted) -> Result:
    """Return the result with the table of one judge, or of metrics."""
    if shown.kind == "grades":
        return _grades(result, shown, wanted)
    return _pairs(result, shown, wanted) if shown.kind == "pairs" else _named(result, shown, wanted)


def _grades(result: Result, shown: Shown, wanted: Wanted) -> Result:
    """Return the result with the lines of grades."""
    column, seed = column_of(wanted.aggregate), shown.seed
    grades, met = _on_common(result, shown, wanted)
    whole = conversations(grades, shown, wanted)
    lines = single_rows(whole, column=column, count_failed=wanted.count_failed)
    if whole is not grades:
        of_turns = {line.model: line for line in single_rows(grades)}
        lines = [with_turns(line, of_turns[line.model]) for line in lines]
    table = Table(lines, "grades", shown.subject.by, seed, sure=False, beside=False, places=2)
    result = replace(result, scale=grades.scale(), column=column, table=table)
    if categories := shown.subject.categories:
        result.categories.extend(category_rows(whole, categories, count_failed=wanted.count_failed))
    if not wanted.sure(result.notes, len(lines), len(grades)):
        return result.with_last(met.apart)
    from harness.results.brief import grades_brief
    from harness.results.matrix import matrix

    groups = shown.subject.groups
    arrays = matrix(whole, groups, count_failed=wanted.count_failed)
    result = _with_brief(result, grades_brief(arrays, seed=seed))
    if wanted.intervals:
        from harness.results.detail import grades_detail

        turned, of_whole = (arrays, None) if whole is grades else (matrix(grades, groups), arrays)
        detail = grades_detail(turned, by=shown.subject.by, whole=of_whole, column=column, seed=seed)
        result = _with_detail(result, detail, wanted)
    return result.with_last(met.apart)


def _pairs(result: Result, shown: Shown, wanted: Wanted) -> Result:
    """Return the result with the lines of pairs."""
    baseline, seed = shown.baseline, shown.seed
    pairs, met = _on_common(result, shown, wanted)
    lines = pairwise_rows(pairs, baseline=baseline)
    if sides := side_scores(shown.paths, pairs):
        lines = with_scores(lines, sides)
        there = {line.model for line in lines}
        of_categories = category_rows(sides, shown.subject.categories)
        result.categories.extend(row for row in of_categories if row["model"] in there)
        result.notes.append("score: the mean of the two scores that a side of a pair got, one in each order")
    column = "win_rate" if lines and "n_draws" in lines[0].fields else "win_rate_adjusted"
    table = Table(lines, "pairs", shown.subject.by, seed, sure=False, beside=False)
    result = replace(result, table=table, column=column)
    if not wanted.sure(result.notes, len(lines), len(pairs)):
        return result.with_last(met.apart)
    from harness.results.brief import pairs_brief
    from harness.results.matrix import pairs as arrays
    from harness.results.pairs.comparing import meetings, meetings_note

    groups = shown.subject.groups
    found = arrays(pairs, groups)
    result = _with_brief(result, pairs_brief(found, baseline=baseline, seed=seed))
    result.notes.extend([note] if (note := meetings_note(meetings(found), baseline)) else [])
    if wanted.intervals:
        from harness.results.detail import pairs_detail, position_of

        position = position_of(pairs, groups, seed=seed)
        detail = pairs_detail(found, by=shown.subject.by, baseline=baseline, position=position, seed=seed)
        result = _with_detail(result, detail, wanted)
    return result.with_last(met.apart)


def _named(result: Result, shown: Shown, wanted: Wanted) -> Result:
    """Return the result with the table of labels, criteria, dimensions or metrics."""
    subject, found = shown.subject, conversations(shown.records, shown, wanted)
    if not found:
        raise UsageError(f"{result.path} holds no such judgment: none is left by --turns and the models named")
    sure = wanted.sure(result.notes, 1, len(found) // len(found.metrics()))
    if shown.kind == "metric":
        from harness.results.measured import kinds_table, of_checks

        if subject.by == KIND and of_checks(found):
            return replace(result, table=kinds_table(wanted.query.bench, found, sure=sure, seed=shown.seed))
    how: Made = {"groups": subject.groups or None, "by": subject.by, "sure": sure, "seed": shown.seed}
    if shown.kind == "label":
        if wanted.aggregate is not None:
            raise UsageError("--aggregate is of grades, and these are labels; leave it out")
        from harness.results.labels import judgments_of, label_table

        return replace(result, table=label_table(judgments_of(found), **how))
    from harness.results.means import matrices, means_table

    arrays = matrices(found, how["groups"])
    if not arrays:
        raise UsageError(f"{result.path} holds no such verdict: none is left by --turns and the models named")
    return replace(result, table=means_table(arrays, shown.kind, **how))


def panel_result(result: Result, shown: Shown, wanted: Wanted) -> Result:
    """Return the result with what several judges say, each alone and all together."""
    from harness.results.labels import judgments_of
    from harness.results.matrix import matrix
    from harness.results.matrix import pairs as arrays
    from harness.results.means import matrices
    from harness.results.panel import grades_panel, labels_panel, means_panel, pairs_panel

    records, kind, judges, groups = shown.records, shown.kind, shown.judges, shown.subject.groups
    seed, by, column = shown.seed, shown.subject.by, result.column
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in judges}  # type: ignore[misc]
    if kind == "grades":
        panel = grades_panel({judge: matrix(said, groups) for judge, said in own.items() if said}, seed=seed)
    elif kind == "pairs":
        column = "win_rate_adjusted"
        tables = {judge: arrays(said, groups) for judge, said in own.items() if said}
        panel = pairs_panel(tables, baseline=shown.baseline, seed=seed)
    else:
        sure = wanted.sure(result.notes, 1, len(records) // len(records.metrics()))
        grouped: Made = {"groups": groups or None, "by": by, "sure": sure, "seed": seed}
        if kind == "label":
            panel = labels_panel({judge: judgments_of(said) for judge, said in own.items()}, **grouped)
        else:
            panel = means_panel({judge: matrices(said, groups or None) for judge, said in own.items()}, kind, **grouped)
        if not panel.table.lines:
            raise UsageError("there is no verdict that all judges gave; name one judge with --judge-model")
    result.notes.extend(panel.notes(verdicts=kind not in ("grades", "pairs")))
    result = replace(result, table=panel.table, panel=panel, column=column)
    if panel.table.named or not wanted.intervals:
        return result
    from harness.results.detail import grades_detail, pairs_detail, position_of

    if kind == "grades":
        return _with_detail(result, grades_detail(panel.together, by=by, seed=seed))
    position = position_of(records, groups, seed=seed)  # of all judges, and of each
    detail = pairs_detail(panel.together, by=by, baseline=shown.baseline, position=position, seed=seed)
    return _with_detail(result, detail)


def conversations(found: Observations, shown: Shown, wanted: Wanted) -> Observations:
    """Return one observation of each conversation if an aggregate of turns is wanted, else what was found."""
    if wanted.aggregate is None:
        return found
    questions, judged = shown.subject.questions, shown.kind != "metric"
    return aggregated(found, wanted.aggregate, questions, wanted.query.turns, judged=judged)


def _with_brief(result: Result, brief: "Brief") -> Result:
    """Return the result with an interval and ranks in each line."""
    result.notes.extend([note] if (note := brief.contradictions()) else [])
    return replace(result, table=brief.added(result.table, result.column))


def _with_detail(result: Result, detail: "Detail", wanted: Wanted | None = None) -> Result:
    """Return the result with all that says how sure it is; `wanted` says for which difference power is said."""
    result.notes.extend(detail.only.without_strengths() if detail.only is not None else [])
    pairs = detail.pairs if wanted is None else detail.pairs.with_stated(wanted.stated(result.scale))
    return replace(result, detail=replace(detail, pairs=pairs))


def _on_common(result: Result, shown: Shown, wanted: Wanted) -> tuple[Observations, Common]:
    """Return what counts, all or of the common questions only, and on which questions models were judged."""
    found, met = shown.records, common_questions(shown.records, shown.baseline)
    if not wanted.common:
        result.notes.extend([note] if (note := met.note(paired=found.paired)) and len(met.judged) > 1 else [])
        return found, met
    if not met.questions:
        raise UsageError(f"{result.path}: no question is common to all models (--common); name fewer (--model-list)")
    result.notes.append(f"only the {len(met.questions)} questions on which all ranked models were judged (--common)")
    if met.apart:
        result.notes.append(f"judged on too few questions to be ranked: {', '.join(met.apart)}")
    return found.keep(asked=lambda asked: asked.question_id in met.questions), met

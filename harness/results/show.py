"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from harness.bench import load_bench
from harness.errors import UsageError
from harness.judging.builtin import notices
from harness.judgments.case import SCORE
from harness.judgments.observations import Observations
from harness.records import MODES, Mode, Scale
from harness.results.about import About, about
from harness.results.common import Common, common_questions, history_note
from harness.results.failures import failure_notes
from harness.results.finding import Found, ask, replaced_note
from harness.results.grades.aggregates import NONE, Aggregate, aggregated, column_of, usual_aggregate, with_turns
from harness.results.grades.single import category_rows, single_rows
from harness.results.pairs.pairwise import pairwise_rows, side_scores, with_scores
from harness.results.panel_result import panel_result
from harness.results.query import KIND, Query, Words
from harness.results.replaced import without_replaced
from harness.results.result import Result as Result
from harness.results.settings import settings_notes
from harness.results.standing import LengthControl, Standing, usual_baseline, usual_mode
from harness.results.table import Table
from harness.results.wanted import ROW, Kind, Wanted, baseline_of, intervals_made

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.results.brief import Brief
    from harness.results.runs import Runs
    from harness.results.users import UserTable

OF_SCALE, OF_WIN_RATES = 0.05, 0.1
"""The difference for which power is said unless the user names one: of grades as a share of the scale, of win rates."""


def default_difference(scale: Scale | None) -> float | None:
    """Return the difference of grades for which power is said: 0.45 from 1 to 10; None on an unknown scale."""
    return None if scale is None else OF_SCALE * (scale[1] - scale[0])


def show_result(
    mode: Mode | None = None,
    *,
    baseline_model: str | None = None,
    count_failed: bool = False,
    intervals: bool | None = None,
    common: bool = False,
    against: pathlib.Path | str | None = None,
    allow: Sequence[str] = (),
    margin: float | None = None,
    difference: float | None = None,
    sort: str | None = None,
    metric: str | Sequence[str] = (),
    variant: str | None = None,
    aggregate: Aggregate | None = None,
    length_control: LengthControl | None = None,
    board: pathlib.Path | str | None = None,
    overwrite: bool = False,
    **words: Unpack[Words],
) -> Result:
    """Return the results of one judge in one mode, or of a panel of several judges.

    Args:
        mode: what was judged; pairwise-baseline keeps the pairs with `baseline_model` (default: what the judge set says
            that is named, else single).
        baseline_model: the baseline of pairwise-baseline (default: the judge set's, else the model in every pair).
        count_failed: count a rating without score as -1 in place of leaving it out.
        intervals: True: say all about how sure the results are (`Result.detail`); None: the interval and the ranks of
            each row, of a table that is not too large; False: nothing.
        common: count the questions only on which all models were judged that are ranked.
        against: the judgment file of another run of the same questions to compare with, model by model.
        allow: what may differ between the two runs (`runs.ALLOWED`), or between these rows and those of the board.
        margin: how much worse than in the other run is still as good.
        difference: for which the table says its power and the questions needed (default: `default_difference`).
        sort: the column by whose numbers the models are sorted (default: the average, or the adjusted win rate).
        metric: metrics that need no judge to show in place of judgments, as `auto_metrics` and `auto_checks` wrote
            them; `score` among them stands for the judge's grades beside.
        variant: which variant of these metrics, where there are several.
        aggregate: what the grades of each conversation's turns are put together by: `mean`, `min` or `last`; a turn
            without grade leaves its conversation out; `pooled` puts the grades of all turns in one mean, as FastChat
            does (default: what the judge set states, else pooled).
        length_control: win rates at equal length, of pairs with a baseline: by the `own` fit, as `compatible` with
            alpaca_eval's, or `off` (default: own, where the judge set's board is ranked by it).
        board: a CSV file to write the rates to, with AlpacaEval's columns; rows are added to one that is there.
        overwrite: replace the rows of models that are on the board already.
        words: which judgments; see `Words`. Several judges make a panel: each judge alone and all together.

    Raises:
        UsageError: the file mixes what is not comparable, or does not fit the mode.
        MissingError: there are no judgments.
        DataError: a line of the file is not what it must be.
    """
    mode = mode or usual_mode(Query.of(None, **words))
    if mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    standing = Standing(length_control, None if board is None else pathlib.Path(board), overwrite, sort, allow)
    standing.check(mode, Query.of(mode, **words))
    query = Query.of(mode, **words)
    wanted = Wanted(query, mode, baseline_model, count_failed, intervals, common, allow, margin, difference, aggregate)
    several = query.judges is not None and len(query.judges) > 1
    _check_aggregate(wanted, several)
    if against is not None and several:
        raise UsageError("two runs can be compared by one judge; name one with --judge-model")
    names = [metric] if isinstance(metric, str) else list(dict.fromkeys(metric))
    if names and (mode != "single" or several):
        raise UsageError("metrics need no judge, and are shown alone: leave out --mode and a panel")
    if against is not None and names and (len(names) > 1 or SCORE in names):
        raise UsageError("two runs can be compared by one metric; name one with --metric")
    notes: list[str] = []
    main = against is not None
    if names:
        asked = _measured(query, names, variant, main=main)
    else:
        asked = without_replaced(ask(query, every_sample=True, every_metric=mode == "single"), notes)
    found = [_counted(query, one) for one in asked]
    kind: Kind = _kind(found) if main or not names else "metrics"
    if against is not None and kind != "grades":
        raise UsageError(f"two runs can be compared by grades and by pairs, not by {kind}")
    records = Observations.joined([one.observations for one in found])
    subject = about(query, records, found[0].path)
    judges = list(dict.fromkeys(one.judge for one in found))
    judge_set = ", ".join(one.judge_set for one in found) if names else found[0].judge_set
    result = Result(mode, subject.bench, ", ".join(judges), judge_set, found[0].path)
    wanted = _with_usual(wanted, found, kind, several)
    result.notes.extend([*_notes(found, wanted, records, subject, judged=not names), *notes])
    if several:
        result = panel_result(result, found, records, kind, subject, wanted)
    elif kind != "grades":
        result = _with_numbers(result, records, kind, subject, wanted)
    elif mode == "single":
        result = _with_grades(result, records, subject, wanted)
    else:
        if mode == "pairwise-baseline" and baseline_model is None:
            wanted = replace(wanted, baseline=usual_baseline(query, records, found[0].path))
        files = list(dict.fromkeys(one.path for one in found))
        result = _with_pairs(result, records, files, subject, wanted)
        if mode == "pairwise-baseline":
            baseline = str(baseline_of(records, wanted))
            result = standing.added(result, query, query.shown(records, baseline), subject, baseline)
    if against is not None:
        runs = _against(records, pathlib.Path(against), subject, wanted, variant)
        result.notes.extend(runs.notes)
        result = replace(result, runs=runs)
    if not names and any(question.user is not None for question in subject.questions):
        result = replace(result, users=_users(records, found[0].path, subject, wanted))
    _some_shown(result, wanted)
    if query.folder is not None:
        result.notes.extend(settings_notes(query.folder, dict.fromkeys(row["model"] for row in result.rows())))
    if result.panel is not None or result.table.sure:
        result.notes.append(estimand(query, subject, judged=not names))
    return result if sort is None or board is not None else result.sorted_by(sort)


def _check_aggregate(wanted: Wanted, several: bool) -> None:
    """Raise `UsageError` if there is no such aggregate over turns, or it means nothing here."""
    column_of(wanted.aggregate)
    if wanted.aggregate not in {None, NONE} and (wanted.mode != "single" or several or wanted.count_failed):
        raise UsageError("--aggregate is of one judge's grades: leave out --mode, a panel and --count-failed")


def _with_usual(wanted: Wanted, found: Sequence[Found], kind: "Kind", several: bool) -> Wanted:
    """Return what was asked for with the judge set's own aggregate over turns, where none was named."""
    aggregate = None if wanted.aggregate == NONE else wanted.aggregate
    if wanted.aggregate is None and kind == "grades" and wanted.mode == "single" and not several:
        aggregate = usual_aggregate(found[0].observations.cases[0].source.judge_set, wanted.query.folder)
    return replace(wanted, aggregate=None if wanted.count_failed else aggregate)


def _whole(found: Observations, subject: About, wanted: Wanted, *, judged: bool = True) -> Observations:
    """Return one observation of each conversation if an aggregate of turns is wanted, else what was found."""
    if wanted.aggregate is None:
        return found
    return aggregated(found, wanted.aggregate, subject.questions, wanted.query.turns, judged=judged)


def estimand(query: Query, subject: About, *, judged: bool = True) -> str:
    """Return what the intervals of a table are of."""
    hint = " (this mix: --by category)" if subject.categories else ""
    mix = f"this mix of {query.field}" if query.fixed_mix and subject.questions else f"any mix of categories{hint}"
    own = "the judge's own bias is in no interval" if judged else "what a metric does not see is in no interval"
    return f"intervals are for questions of this kind in {mix}; {own}"


def _measured(query: Query, names: Sequence[str], variant: str | None, *, main: bool) -> list[Found]:
    """Return what metrics say, each as one source, or their `main` numbers alone; `score` is the judge's grades."""
    from harness.results.measured import read_main_numbers, read_metric

    found = []
    bench = query.bench
    for name in names:
        if name == SCORE:
            found += ask(query, every_metric=True)
            continue
        observations = read_metric(bench, name, variant)
        if main:
            observations = read_main_numbers(bench.metric_file(name), variant)
        found.append(Found(bench.metric_file(name), "no judge", name, 0, observations, 0))
    return found


def _counted(query: Query, one: Found) -> Found:
    """Return what was found, as far as its turns count."""
    return one._replace(observations=query.counted(one.observations, one.path))


def _kind(found: Sequence[Found]) -> Kind:
    """Return what the judgments hold, by which the table looks; `criteria` are grades by several of them.

    Raises:
        UsageError: the judges of a panel gave different things.
    """
    kinds: dict[str, Kind] = {one.judge: _kind_of(one.observations) for one in found}
    several = set(kinds.values())
    if len(several) > 1:
        told = ", ".join(f"{judge}: {kind}" for judge, kind in kinds.items())
        raise UsageError(f"the judges gave no verdicts of one kind ({told}); name one judge with --judge-model")
    return several.pop()


def _kind_of(found: Observations) -> Kind:
    form = found.cases[0].source.form
    if form == "label":
        return "labels"
    if form == "dimensions":
        return "dimensions"
    return "criteria" if form == "grade" and len(found.metrics()) > 1 else "grades"


def _users(records: Observations, path: pathlib.Path, subject: About, wanted: Wanted) -> "UserTable | None":
    """Return what the played users did in the conversations that are shown."""
    from harness.results.users import user_table

    bench = load_bench(str(subject.bench), path.resolve().parent.parent.parent)
    return user_table(bench, wanted.query.shown(records))


def _some_shown(result: Result, wanted: Wanted) -> None:
    """Raise `UsageError` if no model named is there, and note those that are not."""
    shown = {row["model"] for row in result.rows()}
    models = wanted.query.models or ()
    if not shown:
        raise UsageError(f"{result.path} holds no {wanted.mode} judgment of {', '.join(models)}")
    absent = [m for m in dict.fromkeys(models) if m not in {*shown, wanted.baseline}]
    if absent:
        result.notes.append(f"no {wanted.mode} judgment of {', '.join(absent)}")


def _with_grades(result: Result, grades: Observations, subject: About, wanted: Wanted) -> Result:
    """Return the result with the lines of grades, and how sure they are as far as wanted."""
    query, column = wanted.query, column_of(wanted.aggregate)
    grades, met = _on_common(result, query.shown(grades), wanted)
    whole = _whole(grades, subject, wanted)
    lines = single_rows(whole, column=column, count_failed=wanted.count_failed)
    if whole is not grades:
        of_turns = {line.model: line for line in single_rows(grades)}
        lines = [with_turns(line, of_turns[line.model]) for line in lines]
    table = Table(lines, "grades", query.by, query.seed, sure=False, beside=False, places=2)
    result = replace(result, scale=grades.scale(), column=column, table=table)
    if subject.categories:
        result.categories.extend(category_rows(whole, subject.categories, count_failed=wanted.count_failed))
    if not intervals_made(result, wanted, len(lines), len(grades)):
        return result.with_last(met.apart)
    from harness.results.brief import grades_brief
    from harness.results.matrix import matrix

    arrays = matrix(whole, subject.groups(query), count_failed=wanted.count_failed)
    result = _with_brief(result, grades_brief(arrays, seed=query.seed))
    if wanted.intervals:
        from harness.results.detail import grades_detail

        turned = arrays if whole is grades else matrix(grades, subject.groups(query))
        of_whole = None if whole is grades else arrays
        found = grades_detail(turned, by=query.by, whole=of_whole, column=column, seed=query.seed)
        stated = default_difference(result.scale) if wanted.difference is None else wanted.difference
        result = replace(result, detail=replace(found, pairs=found.pairs.with_stated(stated)))
    return result.with_last(met.apart)


def _with_brief(result: Result, brief: "Brief") -> Result:
    """Return the result with an interval and ranks in each line."""
    result.notes.extend([note] if (note := brief.contradictions()) else [])
    return replace(result, table=brief.added(result.table, result.column))


def _on_common(
    result: Result, found: Observations, wanted: Wanted, baseline: str | None = None
) -> tuple[Observations, Common]:
    """Return what counts, all or of the common questions only, and on which questions models were judged."""
    met = common_questions(found, baseline)
    if not wanted.common:
        result.notes.extend([note] if (note := met.note(paired=found.paired)) and len(met.judged) > 1 else [])
        return found, met
    if not met.questions:
        raise UsageError(f"{result.path}: no question is common to all models (--common); name fewer (--model-list)")
    result.notes.append(f"only the {len(met.questions)} questions on which all ranked models were judged (--common)")
    if met.apart:
        result.notes.append(f"judged on too few questions to be ranked: {', '.join(met.apart)}")
    return found.keep(asked=lambda asked: asked.question_id in met.questions), met


def _with_numbers(result: Result, records: Observations, kind: Kind, subject: About, wanted: Wanted) -> Result:
    """Return the result with the table of labels, dimensions or several criteria."""
    query = wanted.query
    shown = _whole(query.shown(records), subject, wanted, judged=kind != "metrics")
    if not shown:
        raise UsageError(f"{result.path} holds no such judgment: none is left by --turns and the models named")
    sure = intervals_made(result, wanted, 1, len(shown) // len(shown.metrics()))
    if kind == "metrics":
        from harness.results.measured import kinds_table, of_checks

        if query.by == KIND and of_checks(shown):
            return replace(result, table=kinds_table(query.bench, shown, sure=sure, seed=query.seed))
    groups = subject.groups(query) or None
    if kind == "labels":
        if wanted.aggregate is not None:
            raise UsageError("--aggregate is of grades, and these are labels; leave it out")
        from harness.results.labels import judgments_of, label_table

        labels = label_table(judgments_of(shown), groups=groups, by=query.by, sure=sure, seed=query.seed)
        return replace(result, table=labels)
    from harness.results.means import matrices, means_table

    found = matrices(shown, groups)
    if not found:
        raise UsageError(f"{result.path} holds no such verdict: none is left by --turns and the models named")
    means = means_table(found, ROW[kind], groups=groups, by=query.by, sure=sure, seed=query.seed)
    return replace(result, table=means)


def _with_pairs(
    result: Result, pairs: Observations, files: Sequence[pathlib.Path], subject: About, wanted: Wanted
) -> Result:
    """Return the result with the rows of pairs, and how sure they are as far as wanted."""
    query, baseline = wanted.query, baseline_of(pairs, wanted)
    pairs, met = _on_common(result, query.shown(pairs, baseline), wanted, baseline)
    lines = pairwise_rows(pairs, models=query.models, baseline=baseline)
    if sides := side_scores(files, query.shown(pairs, baseline)):
        lines = with_scores(lines, sides)
        there = {line.model for line in lines}
        result.categories.extend(row for row in category_rows(sides, subject.categories) if row["model"] in there)
        result.notes.append("score: the mean of the two scores that a side of a pair got, one in each order")
    column = "win_rate" if lines and "n_draws" in lines[0].fields else "win_rate_adjusted"
    table = Table(lines, "pairs", query.by, query.seed, sure=False, beside=False)
    result = replace(result, table=table, column=column)
    if not intervals_made(result, wanted, len(lines), len(pairs)):
        return result.with_last(met.apart)
    from harness.results.brief import pairs_brief
    from harness.results.matrix import pairs as arrays
    from harness.results.pairs.comparing import meetings, meetings_note

    shown = query.shown(pairs, baseline)
    groups = subject.groups(query)
    if shown:
        found = arrays(shown, groups)
        result = _with_brief(result, pairs_brief(found, baseline=baseline, seed=query.seed))
        note = meetings_note(meetings(found), baseline)
        result.notes.extend([note] if note else [])
    if wanted.intervals and shown:
        from harness.results.detail import pairwise_detail

        detail = pairwise_detail(shown, groups, by=query.by, baseline=baseline, seed=query.seed)
        stated = OF_WIN_RATES if wanted.difference is None else wanted.difference
        result.notes.extend(detail.only.without_strengths() if detail.only is not None else [])
        result = replace(result, detail=replace(detail, pairs=detail.pairs.with_stated(stated)))
    return result.with_last(met.apart)


def _against(records: Observations, path: pathlib.Path, subject: About, wanted: Wanted, variant: str | None) -> "Runs":
    """Return this run compared with the one in another file; by the same judge where that file has several."""
    from harness.judgments.reading import Read
    from harness.results.finding import chosen, read_for
    from harness.results.measured import is_metric, read_main_numbers
    from harness.results.runs import compared_runs

    measured = is_metric(records)
    read = Read(read_main_numbers(path, variant), 0, "grade") if measured else read_for(wanted.query, path)
    source, there = records.cases[0].source, read.observations.sources()
    query = replace(wanted.query, files=(path,), exclude=())
    query = replace(query, judges=(source.judge,) if any(s.judge == source.judge for s in there) else None)
    own_set = any(s.set_text == source.set_text for s in there if query.judge in {None, s.judge})
    query = replace(query, judge_set=source.set_text if own_set else None)
    if len({case.source.sample for case in read.observations.cases}) < 2:  # its only sample is the one that is meant
        query = replace(query, sample=None)
    read = read._replace(observations=query.of_kind(read.observations, path))
    other = query.counted(chosen(query, read, path).observations, path)
    baseline = None if wanted.mode != "pairwise-baseline" else baseline_of(records, wanted)
    if baseline is not None:
        records, other = wanted.query.shown(records, baseline), replace(query, models=None).shown(other, baseline)
    return compared_runs(
        _whole(records, subject, wanted),
        _whole(other, subject, wanted),
        subject.groups(query),
        allow=wanted.allow,
        count_failed=wanted.count_failed,
        margin=wanted.margin,
        seed=query.seed,
    )


def _notes(found: Sequence[Found], wanted: Wanted, records: Observations, subject: About, *, judged: bool) -> list[str]:
    """Return what a reader of the table must know, a line each; metrics are not `judged`."""
    query = wanted.query
    notes = [] if wanted.count_failed or not judged else failure_notes(found, query.shown(records))
    notes += replaced_note(found)
    if judged and (reach := subject.reach(query.shown(records), query.turns)):
        notes.append(reach)
    if (samples := len({one.sample for one in found})) > 1:
        notes.append(f"{samples} samples of each judgment count, averaged (--sample N shows one)")
    if query.turns is not None:
        notes.append(f"turn {', '.join(map(str, query.turns))} only")
    notes += notices(one.judge for one in found)
    if wanted.count_failed:
        single = "ratings without score count as -1 (--count-failed)"
        useless = "--count-failed is about single grades and changes nothing here"
        notes.append(single if wanted.mode == "single" else useless)
    if wanted.baseline is not None and wanted.mode != "pairwise-baseline":
        notes.append("--baseline-model is about pairwise-baseline and changes nothing here")
    if wanted.aggregate is not None:
        column = column_of(wanted.aggregate).replace("_", " ")
        notes.append(f"{column}: of each conversation; one with a turn that has no grade is left out (--aggregate)")
    if any(case.source.method == "logprobs" for case in records.cases):
        told = "win_rate is the mean preference, discrete_win_rate counts the sides that preferences lean to"
        told = "each counts for the side that it leans to" if len(found) > 1 else told
        pairs = f": {told}" if wanted.mode != "single" else ""
        notes.append(f"verdicts weighed by the judge's log-probabilities{pairs}")
    if found[0].judge_set != "votes" and records.paired and len(records[0].games) == 1:
        notes.append("pairs were judged in one order only, so a judge that goes by an answer's place is not caught")
    notes += [note] if wanted.mode == "single" and judged and (note := history_note(query.shown(records))) else []
    if subject.why_not and (wanted.mode == "single" or len(found) > 1):
        notes.append(subject.why_not)
    return notes

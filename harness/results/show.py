"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import contextlib
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

from harness.errors import TurnbenchError, UsageError
from harness.judging.builtin import notices
from harness.judgments.case import LOGPROBS, SCORE
from harness.judgments.file_name import OWN_JUDGE_SET
from harness.judgments.observations import Observations
from harness.records import UNSTATED, Mode
from harness.results.about import About, about
from harness.results.answers import home_of
from harness.results.common import history_note
from harness.results.failures import failure_notes
from harness.results.finding import Found, ask, replaced_note
from harness.results.grades.aggregates import NONE, Aggregate, column_of
from harness.results.query import Query, Words
from harness.results.replaced import NOT_CHECKED, says_what_was_judged, without_replaced
from harness.results.result import Result as Result
from harness.results.settings import settings_notes
from harness.results.standing import on_board
from harness.results.table import Kind
from harness.results.tables import conversations, panel_result, table_of
from harness.results.wanted import LengthControl, Shown, Wanted, baseline_of, set_named, usual_mode

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.results.runs import Runs


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
    check_answers: bool = True,
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
        check_answers: leave out judgments of answers that have been replaced since, which reads all answers; without, a
            note says that this was not checked.
        words: which judgments; see `Words`. Several judges make a panel: each judge alone and all together.

    Raises:
        UsageError: the file mixes what is not comparable, or does not fit the mode.
        MissingError: there are no judgments.
        DataError: a line of the file is not what it must be.
    """
    query = Query.of(mode, **words)
    query = replace(query, mode=mode or usual_mode(query))
    names = (metric,) if isinstance(metric, str) else tuple(dict.fromkeys(metric))
    other, file = (None if path is None else pathlib.Path(path) for path in (against, board))
    wanted = Wanted(
        query, baseline_model, count_failed, intervals, common, other, allow, margin, difference, sort, names, variant,
        aggregate, length_control, file, overwrite, check_answers,
    )  # fmt: skip
    wanted.check()
    notes: list[str] = []
    found = _found(wanted, notes)
    records = Observations.joined([one.observations for one in found])
    wanted, shown = _settled(wanted, found, records)
    judge_set = ", ".join(one.judge_set for one in found) if names else found[0].judge_set
    result = Result(wanted.mode, shown.subject.bench, ", ".join(shown.judges), judge_set, found[0].path)
    result.notes.extend([*_notes(found, wanted, query.shown(records), shown.subject), *notes])
    result = panel_result(result, shown, wanted) if wanted.several else table_of(result, shown, wanted)
    if wanted.mode == "pairwise-baseline" and not wanted.several:
        result = on_board(result, shown, wanted)
    if other is not None:
        result = replace(result, runs=_runs(records if shown.baseline is None else shown.records, other, shown, wanted))
        result.notes.extend(result.runs.notes if result.runs is not None else ())
    home = shown.subject.home
    if not names and home is not None and any(question.user is not None for question in home.questions):
        from harness.results.users import user_table

        result = replace(result, users=user_table(home, query.shown(records)))
    _some_shown(result, wanted, shown.baseline)
    if query.folder is not None:
        result.notes.extend(settings_notes(query.folder, dict.fromkeys(row["model"] for row in result.rows())))
    if result.panel is not None or result.table.sure:
        result.notes.append(estimand(shown.subject, judged=not names))
    return result if sort is None or board is not None else result.sorted_by(sort)


def _found(wanted: Wanted, notes: list[str]) -> list[Found]:
    """Return what the table is of, as far as its turns count; what was left out is noted."""
    if wanted.metrics:
        found = _measured(wanted)
    else:
        found = ask(wanted.query, every_sample=True, every_metric=wanted.mode == "single")
        if wanted.check_answers:
            found = without_replaced(found, notes)
        elif says_what_was_judged(found):
            notes.append(NOT_CHECKED)
    return [one._replace(observations=wanted.query.counted(one.observations, one.path)) for one in found]


def _settled(wanted: Wanted, found: Sequence[Found], records: Observations) -> tuple[Wanted, Shown]:
    """Return what is wanted, with what is usual where nothing was said, and what the table is made of."""
    query, path = wanted.query, found[0].path
    kind = "metric" if wanted.metrics and wanted.against is None else _kind(found)
    if wanted.against is not None and kind not in ("grades", "pairs"):
        raise UsageError(f"two runs can be compared by grades and by pairs, not by {_SEVERAL.get(kind, kind)}")
    subject = about(query, records, path)
    name = records.cases[0].source.judge_set
    home, judge_set = None, None
    graded = kind == "grades" and name not in (OWN_JUDGE_SET, UNSTATED)  # which are known to say nothing of grades
    if not wanted.several and (graded or wanted.mode == "pairwise-baseline"):
        with contextlib.suppress(TurnbenchError):
            home = home_of(query, path)
        judge_set = set_named(name, None if home is None else home.folder)
    usual = judge_set.aggregate if judge_set is not None and graded else None
    aggregate = wanted.aggregate or cast("Aggregate | None", usual)
    baseline = baseline_of(records, wanted, None if judge_set is None else judge_set.baseline)
    shown = Shown(
        query.shown(records, baseline),
        kind,
        list(dict.fromkeys(one.judge for one in found)),
        list(dict.fromkeys(one.path for one in found)),
        subject,
        query.seed,
        baseline,
        home,
        judge_set,
    )
    return replace(wanted, aggregate=None if aggregate == NONE or wanted.count_failed else aggregate), shown


def estimand(subject: About, *, judged: bool = True) -> str:
    """Return what the intervals of a table are of."""
    hint = " (this mix: --by category)" if subject.categories else ""
    mix = f"this mix of {subject.by}" if subject.fixed_mix and subject.questions else f"any mix of categories{hint}"
    own = "the judge's own bias is in no interval" if judged else "what a metric does not see is in no interval"
    return f"intervals are for questions of this kind in {mix}; {own}"


def _measured(wanted: Wanted) -> list[Found]:
    """Return what metrics say, each as one source; of two runs their main numbers; `score` is the judge's grades."""
    from harness.results.measured import read_main_numbers, read_metric

    found = []
    query, variant = wanted.query, wanted.variant
    bench = query.bench
    for name in wanted.metrics:
        if name == SCORE:
            found += ask(query, every_metric=True)
            continue
        observations = read_metric(bench, name, variant)
        if wanted.against is not None:
            observations = read_main_numbers(bench.metric_file(name), variant)
        found.append(Found(bench.metric_file(name), "no judge", name, 0, observations, 0))
    return found


def _kind(found: Sequence[Found]) -> Kind:
    """Return what the judgments hold, by which the table looks; `criterion` is of grades by several of them.

    Raises:
        UsageError: the judges of a panel gave different things.
    """
    kinds: dict[str, Kind] = {one.judge: _kind_of(one.observations) for one in found}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{judge}: {_SEVERAL.get(kind, kind)}" for judge, kind in kinds.items())
        raise UsageError(f"the judges gave no verdicts of one kind ({told}); name one judge with --judge-model")
    return next(iter(kinds.values()))


def _kind_of(found: Observations) -> Kind:
    form = found.cases[0].source.form
    if found.paired:
        return "pairs"
    if form == "label":
        return "label"
    if form == "dimensions":
        return "dimension"
    return "criterion" if form == "grade" and len(found.metrics()) > 1 else "grades"


_SEVERAL: Mapping[Kind, str] = {"label": "labels", "dimension": "dimensions", "criterion": "criteria"}


def _some_shown(result: Result, wanted: Wanted, baseline: str | None) -> None:
    """Raise `UsageError` if no model named is there, and note those that are not."""
    shown = {row["model"] for row in result.rows()}
    models = wanted.query.models or ()
    if not shown:
        raise UsageError(f"{result.path} holds no {wanted.mode} judgment of {', '.join(models)}")
    absent = [m for m in dict.fromkeys(models) if m not in {*shown, baseline, wanted.baseline}]
    if absent:
        result.notes.append(f"no {wanted.mode} judgment of {', '.join(absent)}")


def _runs(records: Observations, path: pathlib.Path, shown: Shown, wanted: Wanted) -> "Runs":
    """Return this run compared with the one in another file; by the same judge where that file has several."""
    from harness.judgments.reading import Read
    from harness.results.finding import chosen, read_for
    from harness.results.measured import is_metric, read_main_numbers
    from harness.results.runs import compared_runs

    measured = is_metric(records)
    read = Read(read_main_numbers(path, wanted.variant), 0, "grade") if measured else read_for(wanted.query, path)
    source, there = records.cases[0].source, read.observations.sources()
    query = replace(wanted.query, files=(path,), exclude=())
    query = replace(query, judges=(source.judge,) if any(s.judge == source.judge for s in there) else None)
    own_set = any(s.set_text == source.set_text for s in there if query.judge in {None, s.judge})
    query = replace(query, judge_set=source.set_text if own_set else None)
    if len({case.source.sample for case in read.observations.cases}) < 2:  # its only sample is the one that is meant
        query = replace(query, sample=None)
    read = read._replace(observations=query.of_kind(read.observations, path))
    other = query.counted(chosen(query, read, path).observations, path)
    if shown.baseline is not None:
        other = replace(query, models=None).shown(other, shown.baseline)
    return compared_runs(
        conversations(records, shown, wanted),
        conversations(other, shown, wanted),
        shown.subject.groups,
        allow=wanted.allow,
        count_failed=wanted.count_failed,
        margin=wanted.margin,
        seed=shown.seed,
    )


def _notes(found: Sequence[Found], wanted: Wanted, shown: Observations, subject: About) -> list[str]:
    """Return what a reader of the table must know, a line each."""
    query, judged = wanted.query, not wanted.metrics
    notes = [] if wanted.count_failed or not judged else failure_notes(found, shown)
    notes += replaced_note(found)
    if judged and (reach := subject.reach(shown, query.turns)):
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
    if any(case.source.method == LOGPROBS for one in found for case in one.observations.cases):
        told = "win_rate is the mean preference, discrete_win_rate counts the sides that preferences lean to"
        told = "each counts for the side that it leans to" if len(found) > 1 else told
        pairs = f": {told}" if wanted.mode != "single" else ""
        notes.append(f"verdicts weighed by the judge's log-probabilities{pairs}")
    first = found[0].observations
    if found[0].judge_set != "votes" and first.paired and len(first[0].games) == 1:
        notes.append("pairs were judged in one order only, so a judge that goes by an answer's place is not caught")
    notes += [note] if wanted.mode == "single" and judged and (note := history_note(shown)) else []
    if subject.why_not and (wanted.mode == "single" or len(found) > 1):
        notes.append(subject.why_not)
    return notes

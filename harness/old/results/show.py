"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from harness.old.bounds import ABOVE_0
from harness.old.errors import UsageError
from harness.old.judging.builtin import notices
from harness.old.judgments.case import LOGPROBS, scale_text
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import Read
from harness.old.names import counted, listed
from harness.old.records import Mode
from harness.old.results.about import About
from harness.old.results.common import EQUAL, history_note
from harness.old.results.failures import failure_notes, unmeasured_notes
from harness.old.results.finding import Found, chosen, narrowed, of_models, of_turns, read_for, replaced_note
from harness.old.results.grades.aggregates import Aggregate, column_of
from harness.old.results.measured import is_metric, read_main_numbers
from harness.old.results.query import Query, Words
from harness.old.results.result import Result as Result
from harness.old.results.settings import settings_notes
from harness.old.results.standing import on_board
from harness.old.results.statistics.bootstrap import LEAST
from harness.old.results.tables import conversations, met_on, table_of
from harness.old.results.wanted import NO_JUDGE, LengthControl, Shown, Wanted, settled
from harness.old.written import takes_only

if TYPE_CHECKING:  # imported only where there are two runs
    from harness.old.results.runs import Runs


@takes_only(Words.__annotations__)
def show_result(
    mode: Mode | None = None,
    *,
    baseline_model: str | None = None,
    count_failed: bool = False,
    intervals: bool | None = None,
    common: bool = False,
    against: pathlib.Path | str | None = None,
    allow: Sequence[str] = (),
    margin: Annotated[float, ABOVE_0] | None = None,
    difference: Annotated[float, ABOVE_0] | None = None,
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
        mode: what was judged; pairwise-baseline keeps the pairs with `baseline_model` (default: as the named judge set
            states, else single).
        baseline_model: the baseline of pairwise-baseline (default: the judge set's, else the model in every pair).
        count_failed: count a judgment without a grade as -1 instead of leaving it out.
        intervals: True: compute the full uncertainty (`Result.detail`); None: the interval and the ranks of
            each row, unless the table is too large; False: nothing.
        common: count only the questions on which all ranked models were judged.
        against: the judgment file of another run of the same questions to compare with, model by model.
        allow: what may differ between the two runs (`runs.ALLOWED`), or between these rows and those of the board.
        margin: the non-inferiority margin for the comparison with the other run.
        difference: the difference for which power and questions needed are given (default: `default_difference`).
        sort: the column by whose numbers the models are sorted (default: the average, or the adjusted win rate).
        metric: metrics that need no judge to show instead of judgments, as `auto_metrics` and `auto_checks` wrote
            them; `score` among them adds the judge's grades.
        variant: which variant of these metrics, where there are several.
        aggregate: how the grades of each conversation's turns are combined: `mean`, `min` or `last`; a conversation
            with an ungraded turn is left out; `pooled` takes one mean over the grades of all turns, as FastChat
            does (default: as the judge set states, else pooled).
        length_control: win rates at equal length, of pairs with a baseline: by the `own` fit, as `compatible` with
            alpaca_eval's, or `off` (default: own, where the judge set's board is ranked by it).
        board: a CSV file to write the rates to, with AlpacaEval's columns; rows are added to an existing one.
        overwrite: replace the rows of models that are already on the board.
        check_answers: leave out judgments of answers that have been replaced since, which reads all answers; otherwise
            a note says that this was not checked.
        words: which judgments; see `Words`. Several judges make a panel: each judge alone and all together.

    Raises:
        UsageError: the file mixes judgments that are not comparable, or does not match the mode.
        MissingError: there are no judgments.
        DataError: a line of the file is invalid.
    """
    names = (metric,) if isinstance(metric, str) else tuple(dict.fromkeys(metric))
    other, file = (None if path is None else pathlib.Path(path) for path in (against, board))
    shown = settled(
        Wanted(
            Query.of(mode, **words), baseline_model, count_failed, intervals, common, other, allow, margin, difference,
            sort, names, variant, aggregate, length_control, file, overwrite, check_answers,
        )
    )  # fmt: skip
    found, subject = shown.found, shown.subject
    judge_set = ", ".join(one.judge_set for one in found) if names else found[0].judge_set
    made_by = ", ".join(shown.judges), judge_set
    result = Result(shown.mode, subject.bench, *made_by, found[0].path, baseline=shown.baseline)
    result.notes.extend([*_notes(shown), *shown.notes])
    result = table_of(result, shown)
    if shown.mode == "pairwise-baseline" and result.panel is None:
        result = on_board(result, shown)
    if other is not None:
        result = replace(result, runs=_runs(shown, other))
        result.notes.extend(result.runs.notes if result.runs is not None else ())
    if not names and subject.home is not None and any(question.user is not None for question in subject.questions):
        from harness.old.results.users import user_table

        result = replace(result, users=user_table(subject.home, shown.records))
    models, query = {row["model"] for row in result.rows()}, shown.wanted.query
    if not models:
        raise UsageError(f"{result.path} contains no {shown.mode} judgment of {', '.join(query.models or ())}")
    absent = [m for m in dict.fromkeys(query.models or ()) if m not in {*models, shown.baseline, baseline_model}]
    if absent:
        result.notes.append(f"no {shown.mode} judgment of {', '.join(absent)}")
    if query.models is None and subject.home is not None and judge_set != "votes":
        unseen = [m for m in subject.home.answered_models() if m not in {*models, shown.baseline}]
        done = "measured" if names else f"judged by {' and '.join(shown.judges)}"
        result.notes.extend([f"answered, but not {done}, so not in the table: {listed(unseen)}"] if unseen else [])
    if query.folder is not None:
        result.notes.extend(settings_notes(query.folder, dict.fromkeys(row["model"] for row in result.rows())))
    if result.panel is not None or result.table.sure:
        none = f"no intervals here: intervals are for {LEAST} questions or more that do not all agree"
        result.notes.append(estimand(subject, judged=not names) if result.table.has_intervals else none)
    return result if sort is None or board is not None else result.sorted_by(sort)


def _samples_notes(found: Sequence[Found]) -> list[str]:
    """Return which samples count; of one that has fewer judgments than another, that they do not count alike."""
    of_judge: dict[str, Counter[int]] = {}
    for one in found:
        of_judge.setdefault(one.judge, Counter())[one.sample] += len(one.observations)
    notes = []
    for judge, sizes in of_judge.items():
        of = f" of {judge}" if len(of_judge) > 1 else ""
        if len(sizes) > 1 and min(sizes.values()) >= EQUAL * max(sizes.values()):
            notes.append(f"{len(sizes)} samples of each judgment{of} count, averaged (--sample N shows one)")
        elif len(sizes) > 1:
            each = ", ".join(f"sample {sample} has {counted(own, 'judgment')}" for sample, own in sorted(sizes.items()))
            more = "" if of else "what is in more of them weighs more: "
            notes.append(f"{len(sizes)} samples{of} count, of unequal size; {more}{each} (--sample N shows one)")
    return notes


def _edited_notes(subject: About) -> list[str]:
    """Return that questions had another wording when they were judged than they have now."""
    if not subject.edited:
        return []
    questions = f"{counted(len(subject.edited), 'question')} edited since (such as question {subject.edited[0]})"
    return [f"{questions}: answers to the earlier wording are judged here; gen_answer and gen_judgment make them again"]


def estimand(subject: About, *, judged: bool = True) -> str:
    """Return what the intervals of a table are of."""
    hint = " (this mix: --by category)" if subject.categories else ""
    mix = f"this mix of {subject.by}" if subject.fixed_mix and subject.questions else f"any mix of categories{hint}"
    own = "intervals do not include the judge's bias" if judged else "intervals do not include what a metric misses"
    return f"intervals are for questions of this kind in {mix}; {own}"


def _runs(shown: Shown, path: pathlib.Path) -> "Runs":
    """Return this run compared with the one in another file; by the same judge where that file has several."""
    from harness.old.results.runs import compared_runs

    wanted = shown.wanted
    records = Observations.joined([one.observations for one in shown.found])
    records = records if shown.baseline is None else shown.records
    measured = is_metric(records)
    read = Read(read_main_numbers(path, wanted.variant), 0, "grade") if measured else read_for(wanted.query, path)
    source, there = records.cases[0].source, read.observations.sources()
    query = wanted.query._replace(files=(path,), exclude=())
    query = query._replace(judges=(source.judge,) if any(s.judge == source.judge for s in there) else None)
    own_set = any(s.set_text == source.set_text for s in there if query.judge in {None, s.judge})
    query = query._replace(judge_set=source.set_text if own_set else None)
    if len({case.source.sample for case in read.observations.cases}) < 2:  # its only sample is the one that is meant
        query = query._replace(sample=None)
    read = read._replace(observations=narrowed(query, read.observations, path))
    other = of_turns(chosen(query, read, path).observations, query.turns, path)
    if shown.baseline is not None:
        other = of_models(other, None, shown.baseline)
    return compared_runs(
        conversations(records, shown),
        conversations(other, shown),
        shown.subject.groups,
        models=query.models,
        allow=wanted.allow,
        count_failed=wanted.count_failed,
        margin=wanted.margin,
        seed=query.seed,
    )


def _notes(shown: Shown) -> list[str]:
    """Return what a reader of the table must know, a line each."""
    wanted, found, subject = shown.wanted, shown.found, shown.subject
    query, mode, judged = wanted.query, shown.mode, not wanted.metrics
    counted = wanted.count_failed and shown.kind == "grades" and len(shown.judges) == 1
    records, several = shown.records, query.several
    if wanted.common:
        common = met_on(shown).questions
        records = records.keep(asked=lambda asked: asked.question_id in common)
    whole = None if wanted.aggregate is None or shown.kind == "pairs" else lambda own: conversations(own, shown)
    notes = [reach] if judged and (reach := subject.reach(shown.records, query.turns)) else []
    measured = [one for one in found if one.judge == NO_JUDGE]
    if len(measured) < len(found) and not counted:
        graded = records.keep(lambda case: case.source.judge_set not in wanted.metrics)
        own = [one for one in found if one not in measured]
        notes += failure_notes(own, graded, whole, baseline=shown.baseline, several=several)
    if measured:
        numbers = records.keep(lambda case: case.source.judge_set in wanted.metrics)
        notes += unmeasured_notes(measured, numbers, wanted.variant)
    notes += replaced_note(found)
    notes += _samples_notes(found)
    if shown.kind == "grades" and len(scales := sorted(records.scales())) > 1:
        told = ", ".join(scale_text(scale) for scale in scales)
        notes.append(f"grades of several scales are in one table, which are not comparable: {told}")
    if query.turns is not None:
        notes.append(f"turn {', '.join(map(str, query.turns))} only")
    notes += notices(one.judge for one in found)
    if wanted.count_failed:
        single = "judgments without a grade count as -1 (--count-failed)"
        useless = "--count-failed is about one judge's single grades and has no effect here"
        notes.append(single if counted else useless)
    if wanted.baseline is not None and mode != "pairwise-baseline":
        notes.append("--baseline-model is about pairwise-baseline and has no effect here")
    if wanted.aggregate is not None:
        column = column_of(wanted.aggregate).replace("_", " ")
        notes.append(f"{column}: of each conversation, without those with an ungraded turn (--aggregate)")
    if any(case.source.method == LOGPROBS for one in found for case in one.observations.cases):
        told = "win_rate is the mean preference, discrete_win_rate counts the preferred sides"
        told = "each counts for the preferred side" if len(found) > 1 else told
        pairs = f": {told}" if mode != "single" else ""
        notes.append(f"verdicts weighted by the judge's log-probabilities{pairs}")
    first = found[0].observations
    if found[0].judge_set != "votes" and first.paired and len(first[0].games) == 1:
        notes.append("pairs were judged in one order only, so position bias is not detected")
    notes += [note] if mode == "single" and judged and (note := history_note(shown.records)) else []
    notes += _edited_notes(subject)
    if subject.why_not and (mode == "single" or len(found) > 1):
        notes.append(subject.why_not)
    return notes

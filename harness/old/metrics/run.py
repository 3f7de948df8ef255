"""From answers to rows of `model_metric/`: the plan, and the measuring.

    plan = plan_metrics(load_metrics(["text"]), load_bench("mt_bench"))     # reads; computes and writes nothing
    report = run_metrics(plan)                                             # writes each row as soon as it is done

A row is done if what it was made from equals today's question, answer, reference and metric; else it is made again, and
the old one is kept in `.turnbench/model_metric/`.
"""

import contextlib
import pathlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import Journal, is_there, read_rows
from harness.old.judging.shown import shown_turns
from harness.old.metrics.advice import warnings_of
from harness.old.metrics.metric import Item, Measured, Metric
from harness.old.names import questions_listed
from harness.old.records import Choice, MeasuredFrom, Measurement, Question, QuestionId, content_hash
from harness.old.rows import measurement_from_row, measurement_to_row, question_id
from harness.old.running.watch import Tally, Watcher, nobody
from harness.old.written import nearest

Key: TypeAlias = tuple[QuestionId, int, str, int, str]
"""What identifies a row in the file of a metric: question, turn, model, choice, variant."""
_MORE = "; put some into reference_answer/, or name an answered model with --reference"
_AT_ONCE = 512
"""Items that every metric measures before the next ones: what they share, such as tokens, is remembered that long."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An item, its model and choice, and the hashes of its parts."""

    item: Item
    model: str
    choice: int
    question: str
    conversation: str
    reference: str | None

    def key(self, variant: str) -> Key:
        """Return what identifies its row for a metric's variant."""
        return (self.item.question.question_id, self.item.turn, self.model, self.choice, variant)

    def made_from(self, metric: Metric) -> MeasuredFrom:
        """Return what its row is made from; a reference only where the metric looks at one."""
        reference = self.reference if metric.needs_reference or metric.reads_reference else None
        defined = metric.content_for(self.item.question, self.item.turn)
        return MeasuredFrom(self.question, self.conversation, reference, defined)


@dataclass
class MetricWork:
    """What is to be done for one metric."""

    metric: Metric
    path: pathlib.Path
    todo: list[Subject]
    already: int = 0
    """Rows that are there and current."""
    superseded: int = 0
    """Rows that are there but were made from something else."""
    without_reference: int = 0
    """Items that are left out since they have no reference."""
    untidy: bool = False
    """Whether the file has rows that later ones replace."""


@dataclass
class MetricPlan:
    """Everything that `run_metrics` will do; nothing has been computed or written yet."""

    bench: Bench
    models: tuple[str, ...]
    works: list[MetricWork]
    reference: str | None = None
    """Whose answers are the references."""
    notices: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows to write."""
        return sum(len(work.todo) for work in self.works)


@dataclass(frozen=True, slots=True)
class MetricReport:
    """What `run_metrics` did."""

    paths: tuple[pathlib.Path, ...]
    written: int
    undefined: int
    """Rows whose main number is not defined."""
    superseded: int
    """Older rows that were moved aside."""
    lost: int = 0
    """Rows that another program took out of the files meanwhile."""


def plan_metrics(
    metrics: Sequence[Metric],
    bench: Bench,
    *,
    models: Sequence[str] | None = None,
    questions: Sequence[Question] | None = None,
    reference: str | None = None,
    every_choice: bool = False,
    redo: bool = False,
) -> MetricPlan:
    """Return what has to be done so that every metric has measured every turn of every answer.

    `models` are those to measure (default: all that have answers), `questions` those to measure them on (default:
    all). `reference` is a file of `reference_answer/` or any answered model; None takes the only file there. Of
    an answer's choices the first is measured, or with `every_choice` each. With `redo`, what is measured is measured
    again.

    Raises:
        UsageError: no metric is given, or it is not clear whose references to use.
        MissingError: there is nothing to measure, or no reference for metrics that need one.
        DataError: a file is not what it must be.
    """
    if not metrics:
        raise UsageError("no metric given; name one with --metrics")
    asked = tuple(bench.questions if questions is None else questions)
    author, references = (
        _references(bench, reference) if any(m.needs_reference or m.reads_reference for m in metrics) else (None, {})
    )
    notices: list[str] = []
    named = _models(bench, models)
    subjects = list(_subjects(bench, named, asked, references, notices, every_choice=every_choice))
    works = [_work(metric, bench, subjects, redo=redo) for metric in metrics]
    if not any(work.todo or work.already for work in works):
        if any(work.without_reference for work in works):
            raise MissingError(f"no answer has a reference in {bench.folder}{_MORE}")
        names = ", ".join(metric.name for metric in metrics)
        raise MissingError(f"there is nothing to measure in {bench.folder} for {names}")
    notices += warnings_of(metrics, [subject.item for subject in subjects], bench, author)
    without = {work.metric.name: work.without_reference for work in works if work.without_reference}
    if without:
        notices.append(f"{max(without.values())} turns without a reference are left out ({', '.join(without)})")
    return MetricPlan(bench, named, works, author, notices)


def check_metrics(metrics: Sequence[Metric], bench: Bench, reference: str | None = None) -> None:
    """Check that metrics have what they need, before there are answers to measure.

    Raises:
        UsageError: it is not clear whose references to use.
        MissingError: there are no references, or none by that author, and a metric needs one.
    """
    needing = [metric.name for metric in metrics if metric.needs_reference]
    if needing and not _references(bench, reference)[1] and reference is None:
        raise MissingError(f"there is no reference answer in {bench.folder}, required by {', '.join(needing)}{_MORE}")


def forewarned(
    metrics: Sequence[Metric], bench: Bench, questions: Sequence[Question], reference: str | None = None
) -> list[str]:
    """Return what the user should know about these metrics on these questions, before there are answers to measure."""
    if not metrics:
        return []
    author, references = _references(bench, reference) if any(m.needs_reference for m in metrics) else (None, {})
    items = [
        Item(question, turn, ("",), text)
        for question in questions
        for turn, text in enumerate(references.get(question.question_id, ()), 1)
    ]
    return warnings_of(metrics, items, bench, author)


def run_metrics(plan: MetricPlan, *, watch: Watcher = nobody) -> MetricReport:
    """Carry out a plan, and write each row as soon as it is computed.

    Raises:
        UsageError: a model that a metric needs cannot be loaded.
        StorageError: a file can't be written, or another process writes it. Finished rows are kept.
    """
    tally = Tally(planned=plan.rows)
    undefined = 0
    with contextlib.ExitStack() as stack:
        state = plan.bench.metric_state
        works = [work for work in plan.works if work.todo or work.untidy]
        journals = {id(work): stack.enter_context(Journal(work.path, state)) for work in works}
        for work, subjects in _in_turn(works):
            journal = journals[id(work)]
            measured = work.metric.measure([subject.item for subject in subjects])
            for subject, numbers in zip(subjects, measured, strict=True):
                journal.append(measurement_to_row(_measurement(subject, numbers, work.metric, plan.reference)))
                undefined += numbers.value is None
                tally.done += 1
                watch(tally)
        moved = sum(journal.retire_older(row_key) for journal in journals.values())
    paths = tuple(dict.fromkeys(work.path for work in plan.works if is_there(work.path)))
    lost = sum(journal.lost for journal in journals.values())
    return MetricReport(paths, tally.done, undefined, moved, lost)


def row_key(row: Mapping[str, Any]) -> Key:
    """Return what identifies a row in the file of a metric."""
    choice, variant = row.get("choice") or 0, row.get("variant") or "default"
    return (question_id(row["question_id"]), row["turn"], row["model"], choice, variant)


def _in_turn(works: Sequence[MetricWork]) -> Iterator[tuple[MetricWork, list[Subject]]]:
    """Yield what each metric has to measure, some subjects at a time, all metrics having the same ones."""
    every = dict.fromkeys(id(subject) for work in works for subject in work.todo)
    part = {key: at // _AT_ONCE for at, key in enumerate(every)}
    todo = [(part[id(subject)], number, subject) for number, work in enumerate(works) for subject in work.todo]
    # The sort is stable: within a part, a metric's subjects keep their order.
    for (_, number), own in groupby(sorted(todo, key=itemgetter(0, 1)), key=itemgetter(0, 1)):
        yield works[number], [subject for _, _, subject in own]


def _measurement(subject: Subject, numbers: Measured, metric: Metric, reference: str | None) -> Measurement:
    made = subject.made_from(metric)
    return Measurement(
        question_id=subject.item.question.question_id,
        turn=subject.item.turn,
        model=subject.model,
        metric=metric.name,
        value=numbers.value,
        values=numbers.values,
        variant=metric.variant,
        tokenizer=metric.tokenizer,
        library=metric.library,
        reference=None if made.reference is None else reference,
        choice=subject.choice,
        note=numbers.note,
        made_from=made,
        extra=numbers.extra,
        tstamp=time.time(),
    )


def _models(bench: Bench, models: Sequence[str] | None) -> tuple[str, ...]:
    answered = list(bench.answered_models())
    if not answered:
        raise MissingError(f"there are no answers yet in {bench.folder}; run gen_answer first")
    for model in models or ():
        if model not in answered:
            raise UsageError(f"no answers by {model!r} in {bench.folder}; {nearest(model, answered)}")
    return tuple(dict.fromkeys(models or answered))


def _references(bench: Bench, author: str | None) -> tuple[str | None, Mapping[QuestionId, tuple[str, ...]]]:
    """Return whose the references are, and their turns."""
    found = bench.reference_answers(author)
    return author or next(iter(bench.references()), None), found


def _subjects(
    bench: Bench,
    models: Sequence[str],
    questions: Sequence[Question],
    references: Mapping[QuestionId, tuple[str, ...]],
    notices: list[str],
    *,
    every_choice: bool,
) -> Iterator[Subject]:
    """Yield every turn of every answer that can be measured, and note what cannot."""
    for model in models:
        answers = bench.answers(model)
        missing = [q.question_id for q in questions if q.question_id not in answers]
        there = [q for q in questions if q.question_id in answers]
        stale = [q.question_id for q in there if answers[q.question_id].question_content not in {None, q.content}]
        for what, ids in (("has no answer to", missing), ("answered another wording of", stale)):
            if ids:
                notices.append(f"left out: {model} {what} {questions_listed(ids)}")
        left_out = {*missing, *stale}
        for question in questions:
            if question.question_id not in left_out and question.user is None:  # no two conversations are alike
                choices = answers[question.question_id].choices
                for choice in choices if every_choice else choices[:1]:
                    yield from _turns(bench, model, question, choice, references.get(question.question_id, ()))


def _turns(bench: Bench, model: str, question: Question, choice: Choice, reference: Sequence[str]) -> Iterator[Subject]:
    for turn in question.written_by(model):
        if turn > len(choice.turns):
            return
        turns = shown_turns(bench, choice, turn)
        wanted = reference[turn - 1] if turn <= len(reference) else None
        item = Item(question, turn, turns, wanted)
        hashed = None if wanted is None else content_hash(wanted)
        yield Subject(item, model, choice.index, question.content, content_hash(*turns), hashed)


def _work(metric: Metric, bench: Bench, subjects: Iterable[Subject], *, redo: bool) -> MetricWork:
    """Return what is left to do for a metric: everything without a current row."""
    work = MetricWork(metric, bench.metric_file(metric.name), [])
    there, work.untidy = _there(work.path)
    for subject in subjects:
        if not metric.applies(subject.item.question, subject.item.turn):
            continue
        if metric.needs_reference and subject.reference is None:
            work.without_reference += 1
            continue
        made = there.get(subject.key(metric.variant), False)
        if made == subject.made_from(metric) and not redo:
            work.already += 1
            continue
        work.superseded += made is not False
        work.todo.append(subject)
    return work


def _there(path: pathlib.Path) -> tuple[dict[Key, MeasuredFrom | None], bool]:
    """Return what the rows of a file were made from, and whether some of them are replaced by later ones."""
    there: dict[Key, MeasuredFrom | None] = {}
    untidy = False
    for line, row in read_rows(path) if is_there(path) else ():
        made = measurement_from_row(row, path, line).made_from
        key = row_key(row)
        untidy |= key in there
        there[key] = made
    return there, untidy

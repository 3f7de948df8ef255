"""From answers to rows of `model_metric/`: the plan, and the measuring.

    work = plan(record, bench, bench.questions, load(["text"]))     # reads; computes nothing
    report = run(work)                                              # writes each row at once

A row is done if it was made from today's question, answer, reference and metric; else it is made
again, and the old one moves to `.turnbench/`.
"""

import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness import store
from harness.bench import Bench
from harness.bench.current import Split, in_words, parameter_changes, split
from harness.errors import MissingError, UsageError
from harness.judging.extraction import extract
from harness.judging.prompts import replies_so_far
from harness.metrics.metric import Measured, MeasuredTurn, Metric
from harness.options import AutoChecks, AutoMetrics
from harness.registry import Shown
from harness.types import Answer, MadeFrom, Measurement, Question, first_own_turn

WHY = {
    "question": "the question was changed",
    "conversation": "the answer was replaced",
    "reference": "the reference was changed",
}
"""What differs in `MadeFrom`, in words."""


@dataclass
class Work:
    """What is to be done for one metric."""

    metric: Metric
    path: pathlib.Path
    split: Split[MeasuredTurn]

    @property
    def todo(self) -> list[MeasuredTurn]:
        """What is left to measure."""
        return self.split.todo


@dataclass
class MetricPlan:
    """What `run` will do."""

    bench: Bench
    models: list[str]
    works: list[Work]
    reference: str | None = None
    """Whose answers are the references."""
    notices: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<MetricPlan {self.bench.name[:100]}: {len(self.works)} metrics>"


@dataclass
class MetricReport(Shown):
    """What `run` did."""

    written: int = 0
    undefined: int = 0
    """Rows whose main number is not defined."""
    superseded: int = 0
    """Older rows that were moved aside."""


def plan(
    record: AutoMetrics | AutoChecks,
    bench: Bench,
    questions: Sequence[Question],
    metrics: Sequence[Metric],
    reference: str | None = None,
    *,
    every_choice: bool = False,
) -> MetricPlan:
    """Return what has to be done so that every metric has measured every turn of every answer.

    `reference` names a reference file or an answered model; None takes the only file. Of an
    answer's choices the first is measured, or each.

    Raises:
        UsageError: there are no answers by a model, or several references to choose from.
        MissingError: there is nothing to measure, or no reference for metrics that need one.
    """
    answered = bench.answered_models()
    if not answered:
        text = f"there are no answers yet in {bench.folder}; run gen_answer first{bench.nowhere}"
        raise MissingError(text)
    for model in record.slice.model_list:
        if model not in answered:
            raise UsageError(f"no answers by {model!r}; there are {', '.join(answered)}")
    result = MetricPlan(bench, list(record.slice.model_list or answered), [])
    references = None
    if any(metric.needs_reference or metric.reads_reference for metric in metrics):
        references = bench.references(reference)
    if references is not None:
        result.reference = references.name
        if references.name not in bench.reference_files():
            result.notices.append(
                f"the references are a model's own answers ({references.name}): likeness to them "
                "is likeness to that model"
            )
    items: list[MeasuredTurn] = []
    for model in result.models:
        answers = bench.answers(model)
        missing = []
        for question in questions:
            answer = answers.get(question.question_id)
            source = answer.made_from if answer is not None else None
            if answer is None or (source and source.question not in (None, question.hash)):
                missing.append(str(question.question_id))
            elif question.user is None:  # no two conversations with a played user are alike
                expected = references.turns.get(question.question_id, ()) if references else ()
                items += _items(bench, model, question, answer, expected, every_choice)
        if missing:
            listed = ", ".join(missing[:5]) + ", …" * (len(missing) > 5)
            result.notices.append(
                f"left out: {model} has no answer to {len(missing)} questions as they are now "
                f"({listed})"
            )
    result.notices += bench.answer_notes
    turns = record.slice.turns
    items = [item for item in items if not turns or item.turn in turns]
    bare: dict[str, int] = {}
    for metric in metrics:
        fitting = [item for item in items if metric.applies(item.question, item.turn)]
        usable = [item for item in fitting if item.reference or not metric.needs_reference]
        if without := len(fitting) - len(usable):
            bare[metric.name] = without
        result.works.append(_work(metric, bench, usable, record.redo))
    if not any(work.todo or work.split.done for work in result.works):
        names = ", ".join(metric.name for metric in metrics)
        advice = "most metrics need reference_answer/, or an answered model with --reference"
        raise MissingError(f"there is nothing to measure in {bench.folder} for {names}; {advice}")
    if bare:
        count, names = max(bare.values()), ", ".join(bare)
        result.notices.append(f"{count} turns without a reference are left out ({names})")
    return result


def run(plan: MetricPlan, done: Callable[[], object] = lambda: None) -> MetricReport:
    """Carry out a plan and write each row as soon as it is computed; `done` is called for each.

    Raises:
        UsageError: a model that a metric needs cannot be loaded.
        StorageError: a file can't be written, or another process writes it.
    """
    report = MetricReport()
    for work in plan.works:
        if not work.todo:
            continue
        with store.Writer(work.path, Measurement) as writer:
            for item, measured in zip(work.todo, work.metric.measure(work.todo), strict=True):
                writer.append(_row(item, measured, work.metric, plan.reference))
                report.written += 1
                report.undefined += measured.value is None
                done()
            report.superseded += writer.compact()
    return report


def _items(
    bench: Bench,
    model: str,
    question: Question,
    answer: Answer,
    expected: Sequence[str],
    every_choice: bool,
) -> Iterator[MeasuredTurn]:
    """Yield the turns of an answer that the model wrote itself: none that is given to it."""
    name = bench.settings.answer_field
    for choice in answer.choices if every_choice else answer.choices[:1]:
        for turn in range(first_own_turn(model), len(choice.turns) + 1):
            if question.given(turn) is not None:
                continue
            replies = replies_so_far(choice, turn)
            if name is not None:
                replies = [extract(reply, name).answer for reply in replies]
            reference = expected[turn - 1] if turn <= len(expected) else ""
            yield MeasuredTurn(question, turn, replies, reference or None, model, choice.index)


def _work(metric: Metric, bench: Bench, items: Sequence[MeasuredTurn], redo: bool) -> Work:
    """Return what is left to do for a metric: everything without a current row."""
    path = bench.metric_file(metric.name)

    def change(item: MeasuredTurn, row: Measurement) -> list[str]:
        """Return in words what has changed since a row was made."""
        if redo:
            return ["--redo"]
        today, made = metric.made_from(item), row.made_from or MadeFrom()
        if today == made:
            return []
        causes = [WHY[part] for part in WHY if getattr(made, part) != getattr(today, part)]
        if made.metric != today.metric:
            now = {"tokenizer": metric.tokenizer, "library": metric.library}
            changes = parameter_changes({name: getattr(row, name) for name in now}, now)
            causes += in_words(changes) or ["the metric was changed"]
        return causes

    units = (
        ((item.question.question_id, item.turn, item.model, item.choice, *about), item)
        for about in [(metric.name, metric.variant)]
        for item in items
    )
    return Work(metric, path, split(units, store.latest(path, Measurement), change))


def _row(
    item: MeasuredTurn, measured: Measured, metric: Metric, reference: str | None
) -> Measurement:
    made_from = metric.made_from(item)
    return Measurement(
        question_id=item.question.question_id,
        turn=item.turn,
        model=item.model,
        choice=item.choice,
        metric=metric.name,
        value=measured.value,
        values=dict(measured.values),
        variant=metric.variant,
        tokenizer=metric.tokenizer,
        library=metric.library,
        reference=reference if made_from.reference else None,
        note=measured.note,
        made_from=made_from,
        checks=measured.checks,
        tstamp=time.time(),
    )

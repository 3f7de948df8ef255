"""From answers to rows of `model_metric/`: the plan, and the measuring.

    work = plan(bench, load(["text"]))       # reads; computes and writes nothing
    report = run(work)                       # writes each row as soon as it is computed

A row is done if it was made from today's question, answer, reference and metric; else it is made
again, and the old one moves to `.turnbench/`.
"""

import contextlib
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.extraction import extracted
from harness.metrics.metric import Item, Measured, Metric
from harness.types import Choice, Measurement, Question, QuestionId, split_variant

_AT_ONCE = 512
"""Items that every metric measures before the next ones, so that their tokens are cut once."""


@dataclass
class Work:
    """What is to be done for one metric."""

    metric: Metric
    path: pathlib.Path
    todo: list[Item] = field(default_factory=list)
    already: int = 0
    """Rows that are current."""
    superseded: int = 0
    """Rows that were made from something else."""
    without_reference: int = 0
    """Items that are left out since they have no reference."""


@dataclass
class MetricPlan:
    """What `run` will do."""

    bench: Bench
    models: list[str]
    works: list[Work]
    reference: str | None = None
    """Whose answers are the references."""
    notices: list[str] = field(default_factory=list)


@dataclass
class MetricReport:
    """What `run` did."""

    written: int = 0
    undefined: int = 0
    """Rows whose main number is not defined."""
    superseded: int = 0
    """Older rows that were moved aside."""


def plan(
    bench: Bench,
    metrics: Sequence[Metric],
    questions: Sequence[Question],
    *,
    models: Sequence[str] = (),
    turns: Sequence[int] = (),
    reference: str | None = None,
    every_choice: bool = False,
    redo: bool = False,
) -> MetricPlan:
    """Return what has to be done so that every metric has measured every turn of every answer.

    `models` and `turns` narrow it. `reference` is a reference file or an answered model; None takes
    the only file. Of an answer's choices the first is measured, or each.

    Raises:
        UsageError: there are no answers by a model, or several references to choose from.
        MissingError: there is nothing to measure, or no reference for metrics that need one.
    """
    answered = bench.answered_models()
    if not answered:
        raise MissingError(f"there are no answers yet in {bench.folder}; run gen_answer first")
    for model in models:
        if model not in answered:
            raise UsageError(f"no answers by {model!r}; there are {', '.join(answered)}")
    found = MetricPlan(bench, list(models or answered), [])
    texts: Mapping[QuestionId, Sequence[str]] = {}
    if any(metric.needs_reference or metric.reads_reference for metric in metrics):
        references = bench.references(reference)
        if references is not None:
            found.reference, texts = references.name, references.turns
    items = [
        item
        for model in found.models
        for item in _items(bench, model, questions, texts, every_choice, found.notices)
        if not turns or item.turn in turns
    ]
    found.works = [_work(metric, bench, items, redo) for metric in metrics]
    without = {w.metric.name: w.without_reference for w in found.works if w.without_reference}
    if not any(work.todo or work.already for work in found.works):
        if without:
            raise MissingError(
                f"no answer has a reference in {bench.folder}; put some into reference_answer/, "
                "or name an answered model with --reference"
            )
        names = ", ".join(metric.name for metric in metrics)
        raise MissingError(f"there is nothing to measure in {bench.folder} for {names}")
    if without:
        most, names = max(without.values()), ", ".join(without)
        found.notices.append(f"{most} turns without a reference are left out ({names})")
    if found.reference is not None and found.reference not in bench.reference_files():
        found.notices.append(
            f"the references are a model's own answers ({found.reference}): likeness to them is "
            "likeness to that model"
        )
    return found


def run(plan: MetricPlan, done: Callable[[], object] = lambda: None) -> MetricReport:
    """Carry out a plan and write each row as soon as it is computed; `done` is called for each.

    Raises:
        UsageError: a model that a metric needs cannot be loaded.
        StorageError: a file can't be written, or another process writes it.
    """
    report = MetricReport()
    works = [work for work in plan.works if work.todo]
    most = max((len(work.todo) for work in works), default=0)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(store.Writer(work.path, Measurement)) for work in works]
        for start in range(0, most, _AT_ONCE):
            for work, writer in zip(works, writers, strict=True):
                items = work.todo[start : start + _AT_ONCE]
                for item, measured in zip(items, work.metric.measure(items), strict=True):
                    writer.append(_row(item, measured, work.metric, plan.reference))
                    report.written += 1
                    report.undefined += measured.value is None
                    done()
        report.superseded = sum(writer.compact() for writer in writers)
    return report


def _items(
    bench: Bench,
    model: str,
    questions: Sequence[Question],
    references: Mapping[QuestionId, Sequence[str]],
    every_choice: bool,
    notices: list[str],
) -> Iterator[Item]:
    """Yield every turn of every answer that can be measured, and note what cannot."""
    answers = bench.answers(model)
    missing: list[QuestionId] = []
    stale: list[QuestionId] = []
    for question in questions:
        answer = answers.get(question.question_id)
        if answer is None:
            missing.append(question.question_id)
            continue
        made = answer.made_from.question if answer.made_from else None
        if made not in (None, question.hash):
            stale.append(question.question_id)
            continue
        if question.user is not None:  # no two conversations are alike
            continue
        reference = references.get(question.question_id, ())
        for choice in answer.choices if every_choice else answer.choices[:1]:
            for turn in _written_turns(question, model, choice):
                replies = _replies(bench, choice, turn)
                expected = reference[turn - 1] if turn <= len(reference) else None
                yield Item(question, turn, replies, expected, model, choice.index)
    for what, ids in (("has no answer to", missing), ("answered another wording of", stale)):
        if ids:
            listed = ", ".join(map(str, ids[:5])) + ", …" * (len(ids) > 5)
            notices.append(f"left out: {model} {what} {len(ids)} questions ({listed})")


def _written_turns(question: Question, model: str, choice: Choice) -> list[int]:
    """Return the turns that a model wrote itself: none that the question or --history gives."""
    turns = [n for n in range(1, len(choice.turns) + 1) if question.given(n) is None]
    return turns if split_variant(model)[1] is None else turns[1:]


def _replies(bench: Bench, choice: Choice, turn: int) -> list[str]:
    """Return the replies up to a turn: with `answer_field`, that field of JSON replies."""
    before = choice.history[: turn - 1]
    replies = [*before, *choice.turns[len(before) : turn]]
    name = bench.settings.answer_field
    return replies if name is None else [extracted(reply, name).answer for reply in replies]


def _work(metric: Metric, bench: Bench, items: Sequence[Item], redo: bool) -> Work:
    """Return what is left to do for a metric: everything without a current row."""
    work = Work(metric, bench.metric_file(metric.name))
    rows = store.latest(work.path, Measurement)
    for item in items:
        if not metric.applies(item.question, item.turn):
            continue
        if metric.needs_reference and not (item.reference or "").strip():
            work.without_reference += 1
            continue
        key = (item.question.question_id, item.turn, item.model, item.choice)
        row = rows.get((*key, metric.name, metric.variant))
        if row is not None and row.made_from == metric.made_from(item) and not redo:
            work.already += 1
        else:
            work.superseded += row is not None
            work.todo.append(item)
    return work


def _row(item: Item, measured: Measured, metric: Metric, reference: str | None) -> Measurement:
    made = metric.made_from(item)
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
        reference=None if made.reference is None else reference,
        note=measured.note,
        made_from=made,
        checks=measured.checks,
        tstamp=time.time(),
    )

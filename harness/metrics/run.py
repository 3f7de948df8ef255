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
from typing import Any

import regex

from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.extraction import extracted
from harness.metrics.metric import Item, Measured, Metric
from harness.types import (
    Choice,
    MadeFrom,
    Measurement,
    Question,
    QuestionId,
    content_hash,
    split_variant,
)

OPEN_CATEGORIES = frozenset({"brainstorming", "chat", "generation", "roleplay", "writing"})
"""Categories in which good answers need have no words in common."""
_AT_ONCE = 512
"""Items that every metric measures before the next ones, so that their tokens are cut once."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An item, and whose it is."""

    item: Item
    model: str
    choice: int

    def made_from(self, metric: Metric) -> MadeFrom:
        """Return what the row of a metric is made from."""
        item = self.item
        reads = metric.needs_reference or metric.reads_reference
        return MadeFrom(
            question=item.question.hash,
            conversation=content_hash(*item.answers),
            reference=content_hash(item.reference)
            if reads and item.reference is not None
            else None,
            metric=metric.content(item.question, item.turn),
        )


@dataclass
class Work:
    """What is to be done for one metric."""

    metric: Metric
    path: pathlib.Path
    todo: list[Subject] = field(default_factory=list)
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

    paths: list[pathlib.Path]
    written: int = 0
    undefined: int = 0
    """Rows whose main number is not defined."""
    superseded: int = 0
    """Older rows that were moved aside."""


def plan(
    bench: Bench,
    metrics: Sequence[Metric],
    *,
    models: Sequence[str] = (),
    questions: Sequence[Question] | None = None,
    turns: Sequence[int] = (),
    reference: str | None = None,
    every_choice: bool = False,
    redo: bool = False,
) -> MetricPlan:
    """Return what has to be done so that every metric has measured every turn of every answer.

    `models`, `questions` and `turns` narrow it. `reference` is a reference file or an answered
    model; None takes the only file. Of an answer's choices the first is measured, or each.

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
    reads = any(metric.needs_reference or metric.reads_reference for metric in metrics)
    references = bench.references(reference) if reads else None
    found = MetricPlan(bench, list(models or answered), [], references.name if references else None)
    texts = references.turns if references else {}
    asked = bench.questions if questions is None else questions
    subjects = [
        subject
        for model in found.models
        for subject in _subjects(bench, model, asked, texts, every_choice, found.notices)
        if not turns or subject.item.turn in turns
    ]
    found.works = [_work(metric, bench, subjects, redo) for metric in metrics]
    if not any(work.todo or work.already for work in found.works):
        if any(work.without_reference for work in found.works):
            raise MissingError(
                f"no answer has a reference in {bench.folder}; put some into reference_answer/, "
                "or name an answered model with --reference"
            )
        names = ", ".join(metric.name for metric in metrics)
        raise MissingError(f"there is nothing to measure in {bench.folder} for {names}")
    found.notices += _notices(found, subjects)
    return found


def run(plan: MetricPlan, done: Callable[[], object] = lambda: None) -> MetricReport:
    """Carry out a plan and write each row as soon as it is computed; `done` is called for each.

    Raises:
        UsageError: a model that a metric needs cannot be loaded.
        StorageError: a file can't be written, or another process writes it.
    """
    report = MetricReport(list(dict.fromkeys(work.path for work in plan.works)))
    works = [work for work in plan.works if work.todo]
    with contextlib.ExitStack() as stack:
        writers = {
            path: stack.enter_context(store.Writer(path, Measurement))
            for path in dict.fromkeys(work.path for work in works)
        }
        most = max((len(work.todo) for work in works), default=0)
        for start in range(0, most, _AT_ONCE):
            for work in works:
                subjects = work.todo[start : start + _AT_ONCE]
                measured = work.metric.measure([subject.item for subject in subjects])
                for subject, numbers in zip(subjects, measured, strict=True):
                    row = _row(subject, numbers, work.metric, plan.reference)
                    writers[work.path].append(row)
                    report.written += 1
                    report.undefined += numbers.value is None
                    done()
        report.superseded = sum(writer.compact() for writer in writers.values())
    return report


def _subjects(
    bench: Bench,
    model: str,
    questions: Sequence[Question],
    references: Mapping[QuestionId, Sequence[str]],
    every_choice: bool,
    notices: list[str],
) -> Iterator[Subject]:
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
                shown = _shown(bench, choice, turn)
                expected = reference[turn - 1] if turn <= len(reference) else None
                yield Subject(Item(question, turn, shown, expected), model, choice.index)
    for what, ids in (("has no answer to", missing), ("answered another wording of", stale)):
        if ids:
            more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
            listed = ", ".join(map(str, ids[:5])) + more
            notices.append(f"left out: {model} {what} question {listed}")


def _written_turns(question: Question, model: str, choice: Choice) -> list[int]:
    """Return the turns that a model wrote itself: none that the question or --history gives."""
    turns = [n for n in range(1, len(choice.turns) + 1) if question.given(n) is None]
    return turns if split_variant(model)[1] is None else turns[1:]


def _shown(bench: Bench, choice: Choice, turn: int) -> list[str]:
    """Return the replies up to a turn: with `answer_field`, that field of JSON replies."""
    before = choice.history[: turn - 1]
    replies = [*before, *choice.turns[len(before) : turn]]
    name = bench.settings.answer_field
    return replies if name is None else [extracted(reply, name).answer for reply in replies]


def _work(metric: Metric, bench: Bench, subjects: Sequence[Subject], redo: bool) -> Work:
    """Return what is left to do for a metric: everything without a current row."""
    work = Work(metric, bench.metric_file(metric.name))
    rows = store.latest(work.path, Measurement)
    there = {key: row.made_from for key, row in rows.items()}
    for subject in subjects:
        item = subject.item
        if not metric.applies(item.question, item.turn):
            continue
        if metric.needs_reference and not (item.reference or "").strip():
            work.without_reference += 1
            continue
        key = (item.question.question_id, item.turn, subject.model, subject.choice)
        made = there.get((*key, metric.name, metric.variant), "missing")
        if made == subject.made_from(metric) and not redo:
            work.already += 1
        else:
            work.superseded += made != "missing"
            work.todo.append(subject)
    return work


def _row(
    subject: Subject, measured: Measured, metric: Metric, reference: str | None
) -> Measurement:
    made = subject.made_from(metric)
    more: dict[str, Any] = {"checks": measured.checks} if measured.checks else {}
    return Measurement(
        question_id=subject.item.question.question_id,
        turn=subject.item.turn,
        model=subject.model,
        choice=subject.choice,
        metric=metric.name,
        value=measured.value,
        values=dict(measured.values),
        variant=metric.variant,
        tokenizer=metric.tokenizer,
        library=metric.library,
        reference=None if made.reference is None else reference,
        note=measured.note,
        made_from=made,
        tstamp=time.time(),
        **more,
    )


def _notices(plan: MetricPlan, subjects: Sequence[Subject]) -> list[str]:
    """Return what the user should know before these numbers are believed."""
    left_out = {w.metric.name: w.without_reference for w in plan.works if w.without_reference}
    found = []
    if left_out:
        names = ", ".join(left_out)
        found.append(f"{max(left_out.values())} turns without a reference are left out ({names})")
    overlapping = ", ".join(work.metric.name for work in plan.works if work.metric.overlap)
    if not overlapping:
        return found
    items = [subject.item for subject in subjects if subject.item.reference is not None]
    open_ones = sorted({item.question.category for item in items} & OPEN_CATEGORIES)
    if open_ones:
        found.append(
            f"{', '.join(open_ones)}: many different answers are good there, so likeness to one "
            f"reference ({overlapping}) says little"
        )
    if plan.reference is not None and plan.reference not in plan.bench.reference_files():
        found.append(
            f"the references are a model's own answers ({plan.reference}): {overlapping} measure "
            "likeness to that model"
        )
    text = "".join((item.reference or "")[:200] for item in items[:50])
    chinese = len(regex.findall(r"\p{Han}", text)) * 2 > len("".join(text.split())) > 0
    if chinese and plan.bench.settings.language not in ("zh", "ja"):
        found.append(
            f"the references are Chinese, but the language is {plan.bench.settings.language!r}: "
            'set language = "zh" in bench.toml, or say --language zh'
        )
    return found

"""A plan's jobs with their files open: choices are collected, and an answer is written as soon as it is complete."""

import contextlib
import functools
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from harness.old.answering.conversation import AnsweredChoice, conversation_job
from harness.old.answering.options import asked_sampling, system_prompt
from harness.old.answering.plan import AnswerPlan, ModelPlan, history_content
from harness.old.chat import ChatModel, open_pool
from harness.old.jsonl import Journal
from harness.old.records import Answer, Question, QuestionId, Sampling
from harness.old.rows import answer_to_row, is_good_answer, question_id
from harness.old.running.cache import Cache
from harness.old.running.jobs import Course
from harness.old.running.options import RunOptions
from harness.old.running.outputs import open_output
from harness.old.running.pending import Pending
from harness.old.running.watch import Tally, Watcher, nobody


class _AnswerSink:
    """Collects the choices of each question and writes its row when all are there."""

    def __init__(self, whole: AnswerPlan, plan: ModelPlan, journal: Journal, pending: Pending) -> None:
        self.whole, self.plan, self.journal, self.pending = whole, plan, journal, pending
        self.bench, self.options = whole.bench, whole.options
        self.choices = {t.question.question_id: dict(t.kept) for t in plan.todo}
        self.foreign = {t.question.question_id for t in plan.todo if t.foreign}
        self.written = 0
        self.cut = 0
        """Replies that ended at their limit on tokens."""

    def put(self, record: AnsweredChoice) -> bool:
        """Take one choice; write the row if it was the last one missing."""
        choices = self.choices[record.question.question_id]
        choices[record.choice.index] = record.choice
        if any(k not in choices for k in range(self.options.choices_of(record.question))):
            return False
        self.journal.append(answer_to_row(self.answer(record.question)))
        self.written += 1
        self.cut += sum(reply.finish_reason == "length" for each in choices.values() for reply in each.replies)
        return True

    def answer(self, question: Question) -> Answer:
        """Return the answer that the choices make; where some are another tool's, it states no origin either."""
        import shortuuid

        choices = self.choices[question.question_id]
        ours = question.question_id not in self.foreign
        user = self.whole.user_of(question)
        return Answer(
            question_id=question.question_id,
            model=self.plan.endpoint.name,
            choices=tuple(choices[k] for k in sorted(choices)),
            asked=asked_sampling(self.plan.endpoint, self.bench, self.options, question) if ours else Sampling(),
            system=system_prompt(self.bench, self.options) if ours else None,
            question_content=question.content if ours else None,
            parameters_content=self.whole.parameters(self.plan, question) if ours else None,
            history_content=history_content(self.plan, question) if ours else None,
            user={} if user is None else {**user, "num_choices": self.options.num_choices},
            answer_id=shortuuid.uuid(),
            tstamp=time.time(),
        )

    def sync(self) -> None:
        """Bring what was written to the disk."""
        self.journal.sync()
        self.pending.sync()


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """What `run_answers` did."""

    tally: Tally
    written: int
    """Rows written."""
    superseded: int
    """Older rows moved to `.turnbench/superseded/`."""
    paths: tuple[pathlib.Path, ...]
    cut: int = 0
    """Replies in these rows that were cut at their limit on tokens."""
    lost: int = 0
    """Rows that another program took out of the files during the run."""

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return not self.tally.failures and not self.lost


def run_answers(plan: AnswerPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody) -> AnswerReport:
    """Hold the planned conversations and write each answer as soon as it is complete.

    Raises:
        EndpointError: a model cannot be called at all.
        StorageError: an answer file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case finished work is kept.
    """
    plan.check(running)
    with Cache(running.cache) as cache, AnswerWork(plan, cache) as work:
        from harness.old.running.engine import run  # with asyncio: plans and estimates call nothing

        tally = run(work.courses(), work.models(), running, planned=plan.jobs, watch=watch, sync=work.sync)
    return work.report(tally)


class AnswerWork:
    """A plan with its files open, so that its jobs can be run; a context manager."""

    def __init__(self, plan: AnswerPlan, cache: Cache) -> None:
        self.plan = plan
        self._cache = cache
        self._stack = contextlib.ExitStack()
        self._sinks: list[_AnswerSink] = []
        self._superseded = 0

    def __enter__(self) -> Self:
        """Open the files.

        Raises:
            StorageError: one can't be written, or another process writes it.
        """
        state = self.plan.bench.answer_state
        with contextlib.ExitStack() as stack:
            for model in self.plan.models:
                done, needed = model.done.intersection, bool(model.todo or model.untidy)
                output = open_output(stack, model.path, state, done, needed=needed, redo=self.plan.redo)
                if output is not None:
                    self._sinks.append(_AnswerSink(self.plan, model, *output))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        """Move the rows that newer ones replace, and close the files."""
        try:
            for sink in self._sinks:
                self._superseded += sink.journal.retire_older(_row_key, is_good_answer)
        finally:
            self._stack.__exit__(*error)

    def models(self) -> dict[str, tuple[ChatModel, ...]]:
        """Return the chat models that are needed, by name."""
        found = {s.plan.endpoint.name: open_pool(s.plan.endpoint) for s in self._sinks if s.plan.todo}
        if self.plan.user is not None and self.plan.simulated:
            found[self.plan.user.name] = open_pool(replace(self.plan.user.endpoint, name=self.plan.user.name))
        return found

    def courses(self, then: Callable[[Answer], Iterable[Course[Any]]] = lambda answer: ()) -> Iterator[Course[Any]]:
        """Yield the jobs question by question, so that several models advance side by side.

        `then` is called with each answer that is complete; what it returns is run as well.
        """
        steps = [(sink, todo) for sink in self._sinks for todo in sink.plan.todo]
        place = {q.question_id: n for n, q in enumerate(self.plan.bench.questions)}
        for sink, todo in sorted(steps, key=lambda step: place.get(step[1].question.question_id, -1)):
            shelf = self._cache.shelf(sink.plan.endpoint, fresh=self.plan.redo)
            user, others = self.plan.user, {}
            if user is not None and todo.question.user is not None:
                others[user.name] = self._cache.shelf(user.endpoint, fresh=self.plan.redo)
            for index in todo.missing:
                job = conversation_job(self.plan, sink.plan, todo.question, index)
                follow = functools.partial(_followed, sink, todo.question, then)
                yield Course(job, sink.put, sink.pending, shelf, others, follow)

    def sync(self) -> None:
        """Bring what was written to the disk."""
        for sink in self._sinks:
            sink.sync()

    def report(self, tally: Tally) -> AnswerReport:
        """Return what was done, once the files are closed."""
        return AnswerReport(
            tally,
            sum(sink.written for sink in self._sinks),
            self._superseded,
            tuple(model.path for model in self.plan.models),
            sum(sink.cut for sink in self._sinks),
            sum(sink.journal.lost for sink in self._sinks),
        )


def _followed(
    sink: _AnswerSink, question: Question, then: Callable[[Answer], Iterable[Course[Any]]]
) -> Iterable[Course[Any]]:
    return then(sink.answer(question))


def _row_key(row: Mapping[str, Any]) -> QuestionId:
    return question_id(row["question_id"])

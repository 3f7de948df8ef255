"""Questions × chat model → answers: the conversations, and the file that they go to.

    plan = plan_answers(["gpt-4o", "builtin/eliza"], load_bench("mt_bench"))    # resolves names and keys; calls nothing
    report = run_answers(plan)                                                  # calls, writes model_answer/*.jsonl

Every turn sees the model's own earlier replies; reasoning is kept apart and never carried over.
"""

import contextlib
import functools
import logging
import math
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from harness.bench import Bench, read_answers
from harness.chat import ChatModel, Endpoint, open_pool, resolve
from harness.errors import UsageError
from harness.jsonl import Journal, read_rows
from harness.records import (
    Answer,
    Choice,
    Facts,
    Message,
    Question,
    QuestionId,
    Reply,
    Request,
    Sampling,
    content_hash,
)
from harness.rows import answer_to_row, is_good_answer, question_id
from harness.running.batches.ledger import batches_begun
from harness.running.cache import Cache
from harness.running.engines import run
from harness.running.jobs import Course, Job, Steps
from harness.running.leftovers import any_left, take_out
from harness.running.options import RunOptions
from harness.running.pending import Pending
from harness.running.watch import Tally, Watcher, nobody

log = logging.getLogger("turnbench")
MAX_TOKENS = 4096
"""The most tokens of a reply where neither the options nor models.toml say."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How answers are made."""

    num_choices: int = 1
    """Conversations for each question."""
    temperature: float | None = None
    """Forced for every category; None samples by category as MT-Bench does."""
    max_tokens: int | None = None
    """The most tokens of one reply, reasoning included; None takes what models.toml says, else `MAX_TOKENS`."""
    top_p: float | None = None
    seed: int | None = None
    """Sent to endpoints that take one; choice k is sampled with seed + k."""
    system: str | None = None
    """System prompt; None takes the benchmark's, if it has one; an empty text is none at all."""
    base_url: str | None = None
    api_key_env: str | None = None
    conv_template: str | None = None
    timeout: float | None = None
    """Seconds that one call may take."""
    models_file: pathlib.Path | str | None = None
    """The file that names endpoints; None takes ./models.toml, if it is there."""
    key_needed: bool = True
    """Whether a key that is missing is an error while planning already; an estimate needs none."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one job yields: one choice of one answer."""

    question: Question
    choice: Choice


@dataclass(slots=True)
class Todo:
    """What is to be done for one model and question."""

    question: Question
    kept: dict[int, Choice]
    """Choices that are there and current, by index."""
    missing: tuple[int, ...]
    foreign: bool = False
    """Whether the kept choices are of another tool, which left no record of what made them."""


@dataclass
class ModelPlan:
    """What is to be done for one model."""

    endpoint: Endpoint
    path: pathlib.Path
    already: int = 0
    """Questions whose answers are there and current."""
    superseded: int = 0
    """Answers that are there but were made from another question, prompt or sampling."""
    untidy: bool = False
    """Whether rows stand in the file that later ones replace: a run was stopped before it could move them."""
    replaces: bool = False
    """Whether a row to be written replaces one that is there, be it only an error text."""
    todo: list[Todo] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """The names of the rows that are there and current."""

    @property
    def calls(self) -> int:
        """Calls to the model, if none has to be repeated."""
        return sum(len(t.missing) * len(t.question.turns) for t in self.todo)


@dataclass
class AnswerPlan:
    """Everything that `run_answers` will do; nothing has been called or written yet."""

    bench: Bench
    options: AnswerOptions
    models: list[ModelPlan]
    redo: bool = False

    @property
    def jobs(self) -> int:
        """Conversations to hold."""
        return sum(len(t.missing) for m in self.models for t in m.todo)

    @property
    def calls(self) -> int:
        """Calls to chat models, if none has to be repeated."""
        return sum(m.calls for m in self.models)


def plan_answers(
    models: Sequence[str],
    bench: Bench,
    options: AnswerOptions = AnswerOptions(),
    *,
    questions: Sequence[Question] | None = None,
    answer_file: pathlib.Path | None = None,
    redo: bool = False,
) -> AnswerPlan:
    """Return what has to be done so that every model has answered every question.

    `questions` are the ones to answer (default: all of the benchmark). `answer_file` replaces the usual file of the one
    model. With `redo`, answers that are there and current are made again; the old rows are kept in `.turnbench/`.

    Raises:
        UsageError: no such model, or options that cannot work together.
        MissingError: a key is not in the environment.
        DataError: an answer file that is there can't be read.
    """
    names = list(dict.fromkeys(models))
    if not names:
        raise UsageError("no model given; name at least one with --model")
    if answer_file is not None and len(names) > 1:
        raise UsageError("--answer-file takes the answers of one model; leave it out for several")
    _check(options)
    chosen = bench.questions if questions is None else tuple(questions)
    if not chosen:
        raise UsageError(
            f"no question is left of the {len(bench.questions)} in {bench.name}: check the slice that was asked for"
        )
    plans = []
    for name in names:
        endpoint = resolve(
            name,
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            conv_template=options.conv_template,
            timeout=options.timeout,
            models=options.models_file,
            key_needed=options.key_needed,
        )
        path = answer_file or bench.answer_file(name)
        plans.append(_plan_model(ModelPlan(endpoint, path), bench, options, chosen, redo))
    return AnswerPlan(bench, options, plans, redo)


def _check(options: AnswerOptions) -> None:
    if options.num_choices < 1:
        raise UsageError(f"--num-choices must be at least 1, this is {options.num_choices}")
    if options.max_tokens is not None and options.max_tokens < 1:
        raise UsageError(f"--max-tokens must be at least 1, this is {options.max_tokens}")
    for flag, value in (("--temperature", options.temperature), ("--top-p", options.top_p)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UsageError(f"{flag} must be a number from 0, this is {value}")


def _plan_model(
    plan: ModelPlan, bench: Bench, options: AnswerOptions, questions: Sequence[Question], redo: bool
) -> ModelPlan:
    there, ids = _answers_there(plan)
    foreign = 0
    for question in questions:
        answer = None if redo else there.get(question.question_id)
        todo = _todo(answer, question, options.num_choices, parameters_content(plan.endpoint, bench, options, question))
        foreign += todo.foreign
        if todo.missing:
            plan.superseded += answer is not None and not todo.kept
            plan.replaces |= question.question_id in ids
            plan.todo.append(todo)
        else:
            plan.already += 1
            plan.done.add(_row_name(plan.endpoint, question))
    if foreign:
        log.warning(
            "%s: %d answers carry no record of what made them (another tool's); they are taken as done by their ids",
            plan.path,
            foreign,
        )
    return plan


def _answers_there(plan: ModelPlan) -> tuple[Mapping[QuestionId, Answer], set[Any]]:
    """Return the good answers of a file by question, and the ids of all its rows."""
    if not plan.path.exists():
        return {}, set()
    ids = [row.value.get("question_id") for row in read_rows(plan.path)]
    plan.untidy = len({str(key) for key in ids}) < len(ids)
    return read_answers(plan.path, plan.endpoint.name), {question_id(key) for key in ids if key is not None}


def _todo(answer: Answer | None, question: Question, num_choices: int, parameters: str) -> Todo:
    """Return which choices of the answer that is there are current, and which are missing."""
    kept: dict[int, Choice] = {}
    foreign = False
    if answer is not None:
        foreign = answer.parameters_content is None and _shape_fits(answer, question)
        if foreign or (answer.question_content, answer.parameters_content) == (question.content, parameters):
            kept = {choice.index: choice for choice in answer.choices}
    return Todo(question, kept, tuple(k for k in range(num_choices) if k not in kept), foreign)


def _shape_fits(answer: Answer, question: Question) -> bool:
    return all(len(choice.turns) == len(question.turns) for choice in answer.choices)


def asked_sampling(endpoint: Endpoint, bench: Bench, options: AnswerOptions, question: Question) -> Sampling:
    """Return the sampling that is asked for.

    What the options say counts first, then the benchmark's own temperature for the category, then models.toml, and at
    last MT-Bench's temperature by category.
    """
    usual = endpoint.sampling
    own = bench.settings.temperatures.get(question.category)
    temperature = next((t for t in (options.temperature, own, usual.temperature) if t is not None), None)
    if temperature is None:
        temperature = bench.temperature(question.category)
    top_p = usual.top_p if options.top_p is None else options.top_p
    return Sampling(
        float(temperature),
        options.max_tokens or usual.max_tokens or MAX_TOKENS,
        None if top_p is None else float(top_p),
        usual.seed if options.seed is None else options.seed,
    )


def system_prompt(bench: Bench, options: AnswerOptions) -> str | None:
    """Return the system prompt that answers are made with, if any."""
    return (bench.settings.system_prompt if options.system is None else options.system) or None


def parameters_content(endpoint: Endpoint, bench: Bench, options: AnswerOptions, question: Question) -> str:
    """Return the hash of everything but the question that makes an answer: sampling, system prompt, templates."""
    asked = asked_sampling(endpoint, bench, options, question).stated()
    reference = _reply_source(endpoint, bench, question)
    template = bench.settings.answer_template
    return content_hash(asked, system_prompt(bench, options), template, endpoint.conv_template, reference)


def _reply_source(endpoint: Endpoint, bench: Bench, question: Question) -> tuple[str, ...] | None:
    """Return the reference answer that a built-in model may reply with."""
    return bench.sole_reference.get(question.question_id) if endpoint.provider == "builtin" else None


def conversation(
    question: Question,
    index: int,
    sampling: Sampling,
    *,
    system: str | None,
    template: str,
    reference: tuple[str, ...] | None,
) -> Steps[_Part]:
    """Hold one conversation: yield a request for each turn, which sees the replies before it; return the choice."""
    messages = [Message("system", system)] if system else []
    replies: list[Reply] = []
    if sampling.seed is not None:
        sampling = replace(sampling, seed=sampling.seed + index)
    for number, turn in enumerate(question.turns, 1):
        messages.append(Message("user", template.replace("{question}", turn)))
        facts = Facts(question, number, reference)
        reply = yield Request(tuple(messages), sampling, facts)
        replies.append(reply)
        messages.append(Message("assistant", reply.text))
    return _Part(question, Choice(index, tuple(replies)))


class _AnswerSink:
    """Collects the choices of each question and writes its row when all are there."""

    def __init__(
        self, plan: ModelPlan, bench: Bench, options: AnswerOptions, journal: Journal, pending: Pending
    ) -> None:
        self.plan, self.bench, self.options, self.journal, self.pending = plan, bench, options, journal, pending
        self.choices = {t.question.question_id: dict(t.kept) for t in plan.todo}
        self.foreign = {t.question.question_id for t in plan.todo if t.foreign}
        self.written = 0

    def put(self, record: _Part) -> bool:
        """Take one choice; write the row if it was the last one missing."""
        choices = self.choices[record.question.question_id]
        choices[record.choice.index] = record.choice
        if any(k not in choices for k in range(self.options.num_choices)):
            return False
        self.journal.append(answer_to_row(self.answer(record.question)))
        self.written += 1
        return True

    def answer(self, question: Question) -> Answer:
        """Return the answer that the choices make; where some are another tool's, it states no origin either."""
        import shortuuid

        choices = self.choices[question.question_id]
        ours = question.question_id not in self.foreign
        parameters = parameters_content(self.plan.endpoint, self.bench, self.options, question)
        return Answer(
            question_id=question.question_id,
            model=self.plan.endpoint.name,
            choices=tuple(choices[k] for k in sorted(choices)),
            asked=asked_sampling(self.plan.endpoint, self.bench, self.options, question) if ours else Sampling(),
            system=system_prompt(self.bench, self.options) if ours else None,
            question_content=question.content if ours else None,
            parameters_content=parameters if ours else None,
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

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return not self.tally.failures


def run_answers(plan: AnswerPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody) -> AnswerReport:
    """Hold the planned conversations and write each answer as soon as it is complete.

    Raises:
        EndpointError: a model cannot be called at all.
        StorageError: an answer file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case what was done is kept.
    """
    with Cache(running.cache) as cache, AnswerWork(plan, cache) as work:
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
                if model.todo or model.untidy or any_left(model.path, state, model.done.intersection):
                    journal = stack.enter_context(Journal(model.path, state))
                    take_out(model.path, state, model.done.intersection)
                    fresh = self.plan.redo and not batches_begun(model.path, state)
                    pending = stack.enter_context(Pending(model.path, state, fresh=fresh))
                    if self.plan.redo:
                        pending.redo()
                    self._sinks.append(_AnswerSink(model, self.plan.bench, self.plan.options, journal, pending))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        """Move the rows that newer ones replace, and close the files."""
        try:
            for sink in self._sinks:
                if sink.plan.replaces or sink.plan.untidy:
                    self._superseded += sink.journal.retire_older(_row_key, is_good_answer)
        finally:
            self._stack.__exit__(*error)

    def models(self) -> dict[str, tuple[ChatModel, ...]]:
        """Return the chat models that are needed, by name."""
        return {s.plan.endpoint.name: open_pool(s.plan.endpoint) for s in self._sinks if s.plan.todo}

    def courses(self, then: Callable[[Answer], Iterable[Course[Any]]] = lambda answer: ()) -> Iterator[Course[Any]]:
        """Yield the jobs question by question, so that several models advance side by side.

        `then` is called with each answer that is complete; what it returns is run as well.
        """
        steps = [(sink, todo) for sink in self._sinks for todo in sink.plan.todo]
        place = {q.question_id: n for n, q in enumerate(self.plan.bench.questions)}
        for sink, todo in sorted(steps, key=lambda step: place.get(step[1].question.question_id, -1)):
            shelf = self._cache.shelf(sink.plan.endpoint, fresh=self.plan.redo)
            for index in todo.missing:
                job = _job(self.plan, sink.plan.endpoint, todo.question, index)
                follow = functools.partial(_followed, sink, todo.question, then)
                yield Course(job, sink, sink.pending, shelf, follow)

    def sync(self) -> None:
        """Bring what was written to the disk."""
        for sink in self._sinks:
            sink.sync()

    def report(self, tally: Tally) -> AnswerReport:
        """Return what was done, once the files are closed."""
        written = sum(sink.written for sink in self._sinks)
        return AnswerReport(tally, written, self._superseded, tuple(m.path for m in self.plan.models))


def _followed(
    sink: _AnswerSink, question: Question, then: Callable[[Answer], Iterable[Course[Any]]]
) -> Iterable[Course[Any]]:
    return then(sink.answer(question))


def _row_key(row: Mapping[str, Any]) -> QuestionId:
    return question_id(row["question_id"])


def planned_jobs(plan: AnswerPlan, model: ModelPlan) -> Iterator[Job[Any]]:
    """Yield the conversations that one model has still to hold."""
    for todo in model.todo:
        for index in todo.missing:
            yield _job(plan, model.endpoint, todo.question, index)


def _row_name(endpoint: Endpoint, question: Question) -> str:
    return f"{endpoint.name}, question {question.question_id}"


def _job(plan: AnswerPlan, endpoint: Endpoint, question: Question, index: int) -> Job[_Part]:
    def steps() -> Steps[_Part]:
        return conversation(
            question,
            index,
            asked_sampling(endpoint, plan.bench, plan.options, question),
            system=system_prompt(plan.bench, plan.options),
            template=plan.bench.settings.answer_template,
            reference=_reply_source(endpoint, plan.bench, question),
        )

    row = _row_name(endpoint, question)
    choice = f", choice {index}" if index else ""
    return Job(f"{row}{choice}", endpoint.name, steps, part_of=row, index=index)

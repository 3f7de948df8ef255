"""Which answers exist, and the jobs that make the missing ones.

    plan = plan_answers(bench, options.build(GenAnswer, {"model": ["gpt-4o"]}))
    running.run(plan.jobs(), limits, state=bench.state, total=plan.total)

An answer is done if it was made from today's question, parameters and history, by the hashes in its
row. One without hashes, which another tool wrote, is done if it has as many turns as the question.
"""

import dataclasses
import functools
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import shortuuid
from msgspec import convert

from harness import models, store
from harness.answering.conversation import Todo
from harness.answering.sampling import requested, retry_cut, typed
from harness.answering.users import Player, load_prompt
from harness.bench import Bench
from harness.bench.current import (
    Parameters,
    Split,
    in_words,
    kept_note,
    kept_parameters,
    parameter_changes,
    split,
)
from harness.errors import MissingError, UsageError
from harness.models import Endpoint, ModelConfig
from harness.options import AnswerSampling, GenAnswer
from harness.running import Job, Steps, check_limits
from harness.types import (
    Answer,
    MadeFrom,
    Question,
    QuestionId,
    Sampling,
    content_hash,
    history_variant,
    split_variant,
)


@dataclass(slots=True)
class ModelPlan:
    """What one model has answered and has to answer."""

    name: str
    """As in its rows: `MODEL+history=NAME` where it continues from another's replies."""
    endpoint: Endpoint
    path: pathlib.Path
    split: Split[Todo] = field(default_factory=Split)
    """Which questions are answered, which are left, and why those that are answered again."""

    @property
    def todo(self) -> list[Todo]:
        """The questions that are left."""
        return self.split.todo

    @property
    def calls(self) -> int:
        """Calls to the model, if none is repeated; with played users the most that there can be."""
        return sum(todo.calls for todo in self.todo)


@dataclass(slots=True)
class AnswerPlan:
    """What is to be answered; nothing was called or written yet."""

    bench: Bench
    models: list[ModelPlan]
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    player: Player | None = None
    """Who plays users, where questions have one to play."""

    def __repr__(self) -> str:
        size = f"{len(self.models)} models, {self.total:,} to do"
        return f"<AnswerPlan {self.bench.name[:100]}: {size}>"

    @property
    def total(self) -> int:
        """The number of jobs."""
        return sum(len(model.todo) for model in self.models)

    def jobs(self, then: Callable[[Answer], Iterable[Job]] = lambda _: ()) -> Iterator[Job]:
        """Yield the jobs question by question, so that the models advance side by side.

        `then` is given each answer and returns what can be done because of it.
        """
        others = {} if self.player is None else {self.player.endpoint.name: self.player.endpoint}
        order = {question.question_id: at for at, question in enumerate(self.bench.questions)}
        pairs = [(model, todo) for model in self.models for todo in model.todo]
        for model, todo in sorted(pairs, key=lambda pair: order[pair[1].question.question_id]):
            yield Job(
                id=str(todo.question.question_id),
                where=f"{model.name}, question {todo.question.question_id}",
                endpoint=model.endpoint,
                path=model.path,
                kind=Answer,
                steps=functools.partial(_steps, model.name, todo),
                others=others,
                then=then,
            )


def _steps(name: str, todo: Todo) -> Steps:
    """Hold the missing conversations; return the row."""
    choices = dict(todo.existing)
    for index in todo.missing:
        choices[index] = yield from todo.converse(index)
    user = None
    if todo.player is not None:
        user = {**todo.player.stated(), "num_choices": todo.num_choices}
    return Answer(
        question_id=todo.question.question_id,
        answer_id=shortuuid.uuid(),
        model_id=name,
        choices=[choices[index] for index in sorted(choices)],
        tstamp=time.time(),
        system_prompt=todo.system,
        sampling=todo.sampling.stated(),
        made_from=todo.made_from,
        user=user,
    )


def plan_answers(
    bench: Bench,
    options: GenAnswer,
    *,
    configs: Mapping[str, ModelConfig] | None = None,
    questions: Sequence[Question] | None = None,
    key_needed: bool = True,
) -> AnswerPlan:
    """Return what is left to do so that every model has answered every question.

    `configs` are the models of turnbench.toml, `questions` those to answer in place of the slice's.

    Raises:
        UsageError: no such model, or options that cannot work together.
        MissingError: a key, or a history's turns, are missing.
        DataError: an answer file cannot be read.
    """
    check_limits(options.limits)
    names = _names(options)
    if options.answer_file is not None and options.answer_file.is_dir():
        example = options.answer_file / "my-model.jsonl"
        raise UsageError(f"--answer-file {options.answer_file} is a folder; name a file: {example}")
    if questions is None:
        questions = bench.take(options.slice)
    if not questions:
        number = len(bench.questions)
        raise UsageError(f"the slice leaves none of the {number} questions of {bench.name}")
    resolve = functools.partial(models.resolve, models=configs, key_needed=key_needed)
    plan = AnswerPlan(bench, [], player=_player(questions, options, resolve))
    parameters = frozenset(typed(options.sampling).stated())
    for name in names:
        endpoint = resolve(split_variant(name)[0], _address(options), typed=parameters)
        endpoint.check(requested(endpoint, bench, options.sampling, questions[0].category))
        plan.models.append(
            ModelPlan(name, endpoint, options.answer_file or bench.answer_file(name))
        )
        _fill(plan.models[-1], plan, options, questions)
    return plan


def _fill(
    model: ModelPlan, plan: AnswerPlan, options: GenAnswer, questions: Sequence[Question]
) -> None:
    """Put into a model's plan what it has to do."""
    flags, bench = options.sampling, plan.bench
    rows = store.latest(model.path, Answer)
    authors = {row.model_id for row in rows.values()} if options.answer_file else set()
    for author in sorted(authors - {"", model.name}):
        text = f"{model.path}: holds answers of {author!r}"
        raise UsageError(f"{text}; name another --answer-file")
    good = {key: row for (key,), row in rows.items() if store.is_good(row)}
    todos = _todos(model, plan, options, questions)
    stated = _stated(model.endpoint, bench, flags)
    if not options.redo:
        _keep_parameters(model, plan, todos, good, stated)

    def change(todo: Todo, row: Answer) -> list[str] | None:
        """Return in words what has changed since a row was made."""
        if options.redo:
            return ["--redo"]
        if _is_foreign(row, todo.question):
            todo.missing = []
            return []
        causes = _changes(model, todo, row, stated[todo.question.category])
        if causes:
            return causes
        todo.existing = {choice.index: choice for choice in row.choices}
        todo.missing = [index for index in todo.missing if index not in todo.existing]
        return None if todo.missing else []

    model.split = split(((todo.question.question_id, todo) for todo in todos), good, change)


def _todos(
    model: ModelPlan, plan: AnswerPlan, options: GenAnswer, questions: Sequence[Question]
) -> list[Todo]:
    """Return every question as it is asked today, with all its conversations missing.

    Raises:
        MissingError: a history has no turns for a question, and none is to be left out.
    """
    bench, flags, source = plan.bench, options.sampling, split_variant(model.name)[1]
    system = bench.settings.system_prompt if flags.system is None else flags.system
    histories = {} if source is None else bench.history(source)
    has_references = model.endpoint.provider == "builtin" and len(bench.reference_files()) == 1
    references = bench.references() if has_references else None
    samplings = {
        category: requested(model.endpoint, bench, flags, category)
        for category in {question.category for question in questions}
    }
    todos: list[Todo] = []
    missing: list[str] = []
    for question in questions:
        key = question.question_id
        history = histories.get(key, [])[: len(question.turns) - 1]
        if source is not None and len(history) < len(question.turns) - 1:
            missing.append(str(key))
            continue
        todo = Todo(
            question=question,
            sampling=samplings[question.category],
            system=system or None,
            template=bench.settings.answer_template,
            retry_cut=retry_cut(bench, flags),
            history=history,
            reference=None if references is None else references.turns.get(key),
            player=plan.player if question.user else None,
            num_choices=flags.num_choices,
        )
        choices = todo.num_choices * (options.user.user_samples if question.user else 1)
        todo.missing = list(range(choices))
        todo.made_from = _made_from(model, todo)
        todos.append(todo)
    if missing:
        text = f"{source} has no replies to {len(missing)} questions ({', '.join(missing)})"
        if not options.skip_missing:
            advice = "answer them first, name another --history, or leave them out: --skip-missing"
            raise MissingError(f"{text}; {advice}")
        plan.notices.append(f"{model.name}: left out: {text}")
    return todos


def _stated(
    endpoint: Endpoint, bench: Bench, flags: AnswerSampling
) -> Mapping[str, frozenset[str]]:
    """Return by category the parameters that the command line or a TOML file states."""
    settings = bench.settings
    names = {*typed(flags).stated(), *endpoint.sampling.stated()}
    names |= {"max_tokens"} if settings.max_tokens is not None else set()
    names |= {"system"} if flags.system is not None or settings.system_prompt is not None else set()
    return {
        question.category: frozenset(
            names | ({"temperature"} if question.category in settings.temperatures else set())
        )
        for question in bench.questions
    }


def _keep_parameters(
    model: ModelPlan,
    plan: AnswerPlan,
    todos: Sequence[Todo],
    rows: Mapping[QuestionId, Answer],
    stated: Mapping[str, frozenset[str]],
) -> None:
    """Ask as the answers that are there were asked, in what nothing states today.

    Raises:
        UsageError: the answers differ in it from each other.
    """
    different: dict[str, Parameters] = {}
    number = 0
    for todo in todos:
        row = rows.get(todo.question.question_id)
        if row is None or row.made_from is None or not row.sampling:
            continue
        number += 1
        category = stated[todo.question.category]
        made = Parameters(_parameters(row), _parameters(todo), category)
        different.setdefault(repr((made.then, made.now, category)), made)
    kept = kept_parameters(model.path, list(different.values()))
    if not kept:
        return
    plan.notices.append(kept_note(model.name, number, kept))
    for todo in todos:
        names = {name: value for name, value in kept.items() if name != "system"}
        names = {n: v for n, v in names.items() if n not in stated[todo.question.category]}
        todo.sampling = convert(todo.sampling.stated() | names, Sampling)
        todo.system = kept.get("system", todo.system)
        if kept.get("max_tokens") is not None:  # a limit that was typed never grows
            todo.retry_cut = 1.0
        todo.made_from = _made_from(model, todo)


def _parameters(made: Answer | Todo) -> dict[str, Any]:
    """Return what an answer was, or is to be, sampled with; its system prompt included."""
    if isinstance(made, Answer):
        sampling, system = made.sampling, made.system_prompt
    else:
        sampling, system = made.sampling.stated(), made.system
    return sampling | ({} if system is None else {"system": system})


def _changes(model: ModelPlan, todo: Todo, row: Answer, stated: frozenset[str]) -> list[str]:
    """Return in words what has changed since an answer was made; nothing, if it is current."""
    made, today = row.made_from, todo.made_from
    assert today is not None
    if made == today:
        return []
    if made is None:
        return ["it has fewer turns than the question"]
    causes = ["the question was changed"] if made.question != today.question else []
    causes += ["the given replies were changed"] if made.history != today.history else []
    if made.parameters == today.parameters:
        return causes
    changes = dict(Parameters(_parameters(row), _parameters(todo), stated).changes)
    user = {} if todo.player is None else {**todo.player.stated(), "num_choices": todo.num_choices}
    changes |= {
        f"the user's {name}": values
        for name, values in parameter_changes(row.user or {}, user).items()
        if name != "prompt_content"
    }
    causes += in_words(changes)
    as_it_was = dataclasses.replace(
        todo, sampling=convert(row.sampling, Sampling), system=row.system_prompt
    )
    if not changes and _made_from(model, as_it_was).parameters != made.parameters:
        causes.append("the answer template, conversation template or reference was changed")
    return causes


def _is_foreign(row: Answer, question: Question) -> bool:
    """Return whether a row is another tool's, which does not say what it was made from."""
    turns = len(question.turns)
    unknown = row.made_from is None or row.made_from.parameters is None
    return unknown and all(len(choice.turns) == turns for choice in row.choices)


def _made_from(model: ModelPlan, todo: Todo) -> MadeFrom:
    """Return the hashes of what an answer is made from; `parameters` is all but the question."""
    player = todo.player
    parameters = [
        todo.sampling.stated(),
        todo.system,
        todo.template,
        model.endpoint.conv_template,
        todo.reference,
        *([] if player is None else [player.stated(), todo.num_choices]),
    ]
    return MadeFrom(
        question=todo.question.hash,
        parameters=content_hash(*parameters),
        history=content_hash(*todo.history) if split_variant(model.name)[1] else None,
    )


def _names(options: GenAnswer) -> list[str]:
    """Return the names under which answers are kept, once each.

    Local weights are called by --model-id, else by their folder.
    """
    flags, history = options.models, options.history.history
    names = flags.model
    if flags.model_path is not None:
        names = flags.model_id or flags.model or (pathlib.Path(flags.model_path).name,)
    names = tuple(dict.fromkeys(names))
    if not names and options.endpoint.base_url is not None:
        from harness.models.listing import only_model

        names = (only_model(_address(options)),)
    if not names:
        raise UsageError("name the models to answer with --model, or weights with --model-path")
    if len(names) > 1 and (options.answer_file or flags.model_path):
        flag = "--answer-file" if options.answer_file else "--model-path"
        raise UsageError(f"{flag} is for one model, {len(names)} are named")
    return [name if history == "own" else history_variant(name, history) for name in names]


def _player(
    questions: Sequence[Question], options: GenAnswer, resolve: Callable[..., Endpoint]
) -> Player | None:
    """Return who plays the users of the questions; None: they have none."""
    played = [question.question_id for question in questions if question.user is not None]
    user = options.user
    if not played:
        if user.user is not None:
            raise UsageError(f"--user {user.user}: no question has a user to play; leave it out")
        return None
    if user.user is None:
        raise UsageError(
            f"question {played[0]} has a user that a chat model plays; name it with --user"
            " (builtin/user needs no key)"
        )
    if options.limits.batch:
        raise UsageError("--batch: a played user needs each reply at once; leave out --batch")
    address = ModelConfig(
        base_url=user.user_base_url,
        api_key_env=user.user_api_key_env,
        timeout=options.limits.timeout,
    )
    endpoint = resolve(user.user, address)
    return Player(endpoint, load_prompt(user.user_prompt), user.user_seed, user.user_turns)


def _address(options: GenAnswer) -> ModelConfig:
    flags = options.models
    return ModelConfig(
        base_url=options.endpoint.base_url,
        api_key_env=options.endpoint.api_key_env,
        conv_template=flags.conv_template,
        timeout=options.limits.timeout,
        path=flags.model_path,
        dtype=None if flags.dtype == "auto" else flags.dtype,
        device=flags.device,
        batch_size=flags.batch_size,
    )

"""Which answers exist, and the jobs that make the missing ones.

    plan = plan_answers(bench, options.build(GenAnswer, {"model": ["gpt-4o"]}))
    running.run(plan.jobs(), limits, state=bench.state, total=plan.total)

An answer is done if it was made from today's question, parameters and history, by the hashes in its
row. One without hashes, which another tool wrote, is done if it has as many turns as the question.
"""

import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import shortuuid

from harness import models, store
from harness.answering.conversation import Asking, converse
from harness.answering.sampling import requested, retry_cut, system_prompt, typed
from harness.answering.users import Player, load_prompt
from harness.bench import Bench, take
from harness.errors import MissingError, UsageError
from harness.models import Endpoint, EndpointOptions, ModelConfig
from harness.options import GenAnswer
from harness.running import Job, Steps
from harness.types import (
    Answer,
    Choice,
    MadeFrom,
    Question,
    QuestionId,
    content_hash,
    history_variant,
    split_variant,
)

BUILTIN_USER = "builtin/user"


@dataclass(slots=True)
class Todo:
    """What is to be done about one question."""

    asking: Asking
    made_from: MadeFrom | None
    """None: some of the conversations are another tool's, which says nothing of them."""
    kept: dict[int, Choice]
    """Conversations that exist and are current."""
    missing: list[int]


@dataclass(slots=True)
class ModelPlan:
    """What one model has answered and has to answer."""

    name: str
    """As in its rows: `MODEL+history=NAME` where it continues from another's replies."""
    endpoint: Endpoint
    path: pathlib.Path
    todo: list[Todo] = field(default_factory=list)
    already: int = 0
    """Questions whose answers are current."""
    newest: float | None = None
    """When the newest of these was written, in seconds since 1970."""
    superseded: int = 0
    """Answers that were made from another question, prompt or sampling."""
    foreign: int = 0
    """Answers of other tools, without hashes; they count as done."""

    @property
    def calls(self) -> int:
        """Calls to the model, if none is repeated; with played users the most that there can be."""
        return sum(len(todo.missing) * _turns(todo.asking) for todo in self.todo)


@dataclass(slots=True)
class AnswerPlan:
    """What is to be answered; nothing was called or written yet."""

    bench: Bench
    models: list[ModelPlan]
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    player: Player | None = None
    """Who plays users, where questions have one to play."""

    @property
    def total(self) -> int:
        """The number of jobs."""
        return sum(len(model.todo) for model in self.models)

    @property
    def calls(self) -> int:
        """Calls to chat models, if none is repeated."""
        return sum(model.calls for model in self.models)

    def jobs(self, then: Callable[[Answer], Iterable[Job]] | None = None) -> Iterator[Job]:
        """Yield the jobs question by question, so that the models advance side by side.

        `then` is given each answer and returns what can be done because of it.
        """
        order = {question.question_id: at for at, question in enumerate(self.bench.questions)}
        pairs = [(model, todo) for model in self.models for todo in model.todo]
        for model, todo in sorted(pairs, key=lambda pair: order[_id(pair[1])]):
            yield self._job(model, todo, then)

    def _job(
        self, model: ModelPlan, todo: Todo, then: Callable[[Answer], Iterable[Job]] | None
    ) -> Job:
        def steps() -> Steps:
            choices = dict(todo.kept)
            for index in todo.missing:
                choices[index] = yield from converse(todo.asking, index)
            return _answer(model.name, todo, choices)

        more: dict[str, Any] = {} if then is None else {"then": then}
        if self.player is not None and todo.asking.player is not None:
            more["others"] = {self.player.endpoint.name: self.player.endpoint}
        key = _id(todo)
        where = f"{model.name}, question {key}"
        return Job(str(key), where, model.endpoint, model.path, Answer, steps, **more)


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
    names = _names(options)
    if not names:
        raise UsageError("name the models to answer with --model, or weights with --model-path")
    if BUILTIN_USER in names:
        raise UsageError(f"{BUILTIN_USER} plays users and answers nothing; name it with --user")
    for flag, value in (
        ("--answer-file", options.answer_file),
        ("--model-path", options.models.model_path),
    ):
        if value is not None and len(names) > 1:
            raise UsageError(f"{flag} is for one model, {len(names)} are named")
    if questions is None:
        part = options.slice
        bounds = part.question_begin, part.question_end, part.first_n, part.sample_n
        questions = take(bench.questions, *bounds)
    if not questions:
        number = len(bench.questions)
        raise UsageError(f"the slice leaves none of the {number} questions of {bench.name}")
    player = _player(questions, options, configs, key_needed)
    plan = AnswerPlan(bench, [], player=player)
    for name in dict.fromkeys(_variant(name, options) for name in names):
        endpoint = models.resolve(
            split_variant(name)[0],
            _address(options),
            configs,
            typed=frozenset(typed(options.sampling).stated()),
            key_needed=key_needed,
        )
        path = options.answer_file or bench.answer_file(name)
        if options.answer_file is not None:
            _need_answers_of(name, path)
        endpoint.check(requested(endpoint, bench, options.sampling, questions[0].category))
        model = ModelPlan(name, endpoint, path)
        _fill(model, plan, options, questions)
        plan.models.append(model)
    return plan


def _fill(
    model: ModelPlan, plan: AnswerPlan, options: GenAnswer, questions: Sequence[Question]
) -> None:
    """Put into a model's plan what it has to do."""
    bench = plan.bench
    histories = _histories(model, plan, options, questions)
    sources = bench.reference_files() if model.endpoint.provider == "builtin" else {}
    references = bench.references() if len(sources) == 1 else None
    there = {key: row for (key,), row in store.latest(model.path, Answer).items()}
    for question in questions:
        key = question.question_id
        if histories is not None and key not in histories:
            continue
        asking = Asking(
            question=question,
            sampling=requested(model.endpoint, bench, options.sampling, question.category),
            system=system_prompt(bench, options.sampling),
            template=bench.settings.answer_template,
            retry_cut=retry_cut(bench, options.sampling),
            history=(histories or {}).get(key, ()),
            reference=None if references is None else references.turns.get(key),
            player=plan.player if question.user else None,
            num_choices=options.sampling.num_choices,
        )
        choices = asking.num_choices * (options.user.user_samples if question.user else 1)
        row = there.get(key)
        todo = _todo(asking, _made_from(model, asking), None if options.redo else row, choices)
        if todo.missing:
            model.superseded += row is not None and not todo.kept
            model.todo.append(todo)
        else:
            model.already += 1
            if row is not None and row.tstamp is not None:
                model.newest = max(model.newest or 0.0, row.tstamp)
        model.foreign += todo.made_from is None
    if model.foreign:
        plan.notices.append(
            f"{model.name}: {model.foreign} answers do not say how they were made (another tool's);"
            " they count as done, --redo answers again"
        )


def _todo(asking: Asking, made_from: MadeFrom, row: Answer | None, choices: int) -> Todo:
    """Return which conversations of a row are current and which are missing."""
    kept: dict[int, Choice] = {}
    stated: MadeFrom | None = made_from
    if row is not None and store.is_good(row):
        turns = len(asking.question.turns)
        unsaid = row.made_from is None or row.made_from.parameters is None
        if unsaid and all(len(choice.turns) == turns for choice in row.choices):
            stated = None
        if stated is None or row.made_from == made_from:
            kept = {choice.index: choice for choice in row.choices}
    return Todo(asking, stated, kept, [index for index in range(choices) if index not in kept])


def _made_from(model: ModelPlan, asking: Asking) -> MadeFrom:
    """Return the hashes of what an answer is made from; `parameters` is all but the question."""
    player = asking.player
    parameters = [
        asking.sampling.stated(),
        asking.system,
        asking.template,
        model.endpoint.conv_template,
        asking.reference,
        *([] if player is None else [player.stated(), asking.num_choices]),
    ]
    return MadeFrom(
        question=asking.question.hash,
        parameters=content_hash(*parameters),
        history=content_hash(*asking.history) if split_variant(model.name)[1] else None,
    )


def _answer(name: str, todo: Todo, choices: Mapping[int, Choice]) -> Answer:
    """Return the row; where conversations are another tool's it says nothing of their origin."""
    asking, ours = todo.asking, todo.made_from is not None
    user = None
    if asking.player is not None:
        user = {**asking.player.stated(), "num_choices": asking.num_choices}
    return Answer(
        question_id=asking.question.question_id,
        answer_id=shortuuid.uuid(),
        model_id=name,
        choices=[choices[index] for index in sorted(choices)],
        tstamp=time.time(),
        system_prompt=asking.system if ours else None,
        sampling=asking.sampling.stated() if ours else {},
        made_from=todo.made_from,
        user=user,
    )


def _histories(
    model: ModelPlan, plan: AnswerPlan, options: GenAnswer, questions: Sequence[Question]
) -> dict[QuestionId, list[str]] | None:
    """Return for each question the replies to all turns but the last; None without a history.

    Raises:
        UsageError: no question has a second turn.
        MissingError: turns are missing, and `--skip-missing` was not given.
    """
    name = split_variant(model.name)[1]
    if name is None:
        return None
    if all(len(question.turns) < 2 for question in questions):
        raise UsageError(f"--history {name}: no question has a second turn, so none has a history")
    replies = plan.bench.history(name)
    found, missing = {}, []
    for question in questions:
        turns = replies.get(question.question_id, [])[: len(question.turns) - 1]
        if len(turns) == len(question.turns) - 1:
            found[question.question_id] = turns
        else:
            missing.append(question.question_id)
    if missing:
        ids = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        text = f"{name} has no replies to {len(missing)} questions ({ids})"
        if not options.skip_missing:
            advice = "answer them first, name another --history, or leave them out: --skip-missing"
            raise MissingError(f"{text}; {advice}")
        if (notice := f"left out: {text}") not in plan.notices:
            plan.notices.append(notice)
    return found


def _names(options: GenAnswer) -> list[str]:
    """Return the models to ask; local weights are called by --model-id, else by their folder."""
    chosen = options.models
    if chosen.model_path is None:
        return list(dict.fromkeys(chosen.model))
    return list(chosen.model_id or chosen.model or (pathlib.Path(chosen.model_path).name,))


def _variant(name: str, options: GenAnswer) -> str:
    """Return the name under which a model's answers are kept."""
    if options.history.history == "own":
        return name
    if split_variant(name)[1] is not None:
        raise UsageError(f"{name!r} already names its history; leave out --history")
    return history_variant(name, options.history.history)


def _player(
    questions: Sequence[Question],
    options: GenAnswer,
    configs: Mapping[str, ModelConfig] | None,
    key_needed: bool,
) -> Player | None:
    played = [question.question_id for question in questions if question.user is not None]
    user = options.user
    if not played:
        if user.user is not None:
            raise UsageError(f"--user {user.user}: no question has a user to play; leave it out")
        return None
    if user.user is None:
        raise UsageError(
            f"question {played[0]} has a user that a chat model plays; name it with --user "
            f"({BUILTIN_USER} needs no key)"
        )
    if options.limits.batch:
        raise UsageError("--batch: a played user needs each reply at once; leave out --batch")
    address = EndpointOptions(
        base_url=user.user_base_url,
        api_key_env=user.user_api_key_env,
        timeout=options.limits.timeout,
    )
    endpoint = models.resolve(user.user, address, configs, key_needed=key_needed)
    return Player(endpoint, load_prompt(user.user_prompt), user.user_seed, user.user_turns)


def _address(options: GenAnswer) -> EndpointOptions:
    return EndpointOptions(
        base_url=options.endpoint.base_url,
        api_key_env=options.endpoint.api_key_env,
        conv_template=options.models.conv_template,
        timeout=options.limits.timeout,
        model_path=options.models.model_path,
        dtype=None if options.models.dtype == "auto" else options.models.dtype,
        device=options.models.device,
        batch_size=options.models.batch_size,
    )


def _need_answers_of(model: str, path: pathlib.Path) -> None:
    """Raise unless a file is new or holds only this model's answers."""
    if not path.exists():
        return
    for place in store.rows(path, Answer):
        if place.row.model_id not in ("", model):
            other = place.row.model_id
            raise UsageError(f"{path}: holds answers of {other!r}; name another --answer-file")


def _id(todo: Todo) -> QuestionId:
    return todo.asking.question.question_id


def _turns(asking: Asking) -> int:
    """Return how many replies a conversation takes, at most."""
    question = asking.question
    if question.user is not None:
        assert asking.player is not None
        return asking.player.turns(question.user)
    return sum(question.given(number) is None for number in range(1, len(question.turns) + 1))

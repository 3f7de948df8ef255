"""Which answers exist, and what is left to do so that every model has answered every question."""

import logging
import pathlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harness.old.answering.options import AnswerOptions, asked_sampling, reply_source, system_prompt
from harness.old.answering.simulation import BUILTIN, UserPlan, read_prompt
from harness.old.bench import Bench, read_answers
from harness.old.chat import Endpoint, resolve
from harness.old.chat.providers import check_parameters
from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import is_there, need_own, read_rows
from harness.old.names import history_of, history_variant, plain_model, questions_listed
from harness.old.records import Answer, Choice, Question, QuestionId, content_hash
from harness.old.running.options import RunOptions
from harness.old.written import takes_only

log = logging.getLogger("turnbench")
_ANSWERS = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\{")
"""How a file of answers begins."""


class History(NamedTuple):
    """Another author's turns, from which a model continues on one question."""

    name: str
    turns: tuple[str, ...]
    """All but the last, which nothing is answered after."""

    @property
    def content(self) -> str:
        """The hash of these turns."""
        return content_hash(*self.turns)


@dataclass(slots=True)
class Todo:
    """What is to be done for one model and question."""

    question: Question
    kept: dict[int, Choice]
    """Choices that are there and current, by index."""
    missing: tuple[int, ...]
    foreign: bool = False
    """Whether the kept choices are by another tool, without a record of how they were made."""


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
    """Whether the file has rows that later ones replace: a run was stopped before it could move them."""
    todo: list[Todo] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """The names of the rows that are there and current."""
    histories: Mapping[QuestionId, History] = field(default_factory=dict)
    """The given turns by question; empty where the model answers after its own."""

    @property
    def calls(self) -> int:
        """Calls to the model, if none has to be repeated; of a conversation with a played user the most there are."""
        return sum(len(t.missing) * self._turns(t.question) for t in self.todo)

    def _turns(self, question: Question) -> int:
        return question.user.most_turns if question.user else len(question.written_by(self.endpoint.name))


@dataclass
class AnswerPlan:
    """Everything that `run_answers` will do; nothing has been called or written yet."""

    bench: Bench
    options: AnswerOptions
    models: list[ModelPlan]
    redo: bool = False
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    user: UserPlan | None = None
    """Who plays the users of questions that have one; None where no question has."""

    def user_of(self, question: Question) -> Mapping[str, Any] | None:
        """Return the part of a row about the user's simulation."""
        return None if question.user is None or self.user is None else self.user.stated()

    def parameters(self, model: ModelPlan, question: Question) -> str:
        """Return the hash of everything but the question that makes an answer: sampling, system prompt, templates,
        user."""
        asked = asked_sampling(model.endpoint, self.bench, self.options, question).stated()
        system, template = system_prompt(self.bench, self.options), self.bench.settings.answer_template
        reference = reply_source(model.endpoint, self.bench, question)
        # Of several choices for each sample of the user, the index says which sample one belongs to.
        more = [self.user_of(question), self.options.num_choices] if question.user is not None else []
        return content_hash(asked, system, template, model.endpoint.conv_template, reference, *more)

    def check(self, running: RunOptions) -> None:
        """Raise `UsageError` if the plan cannot be run so."""
        if running.batch and self.simulated:
            raise UsageError("--batch: a simulated user needs each reply at once; leave out --batch")

    @property
    def simulated(self) -> int:
        """Remaining conversations with a simulated user."""
        return sum(len(t.missing) for m in self.models for t in m.todo if t.question.user is not None)

    @property
    def jobs(self) -> int:
        """Conversations to hold."""
        return sum(len(t.missing) for m in self.models for t in m.todo)

    @property
    def calls(self) -> int:
        """Calls to chat models, if none has to be repeated."""
        return sum(m.calls for m in self.models)


@takes_only()
def plan_answers(
    models: Sequence[str],
    bench: Bench,
    options: AnswerOptions = AnswerOptions(),
    *,
    questions: Sequence[Question] | None = None,
    answer_file: pathlib.Path | None = None,
    redo: bool = False,
    skip_missing: bool = False,
) -> AnswerPlan:
    """Return the plan: what is left to do so that every model has answered every question.

    `questions` are the ones to answer (default: all of the benchmark). `answer_file` replaces the usual file of the one
    model. With `redo`, current answers are made again; the old rows are kept in `.turnbench/`. With
    `skip_missing`, questions without the turns that `options.history` names are left out. A model named
    `MODEL+history=NAME` is MODEL with that history.

    Raises:
        UsageError: no such model, or options that cannot work together.
        MissingError: a key is not in the environment, or turns to be supplied are missing.
        DataError: an existing answer file can't be read.
    """
    names = list(dict.fromkeys(models))
    if not names:
        raise UsageError("no model given; name at least one with --model")
    if BUILTIN in names:
        raise UsageError(f"{BUILTIN} plays the user and does not answer questions; name it with --user")
    if answer_file is not None and len(names) > 1:
        raise UsageError("--answer-file is for the answers of one model; leave it out for several")
    if options.model_path is not None and len(names) > 1:
        raise UsageError("--model-path is for one model; name several in models.toml, each with its path")
    chosen = bench.questions if questions is None else tuple(questions)
    if not chosen:
        raise UsageError(
            f"the slice leaves none of the {len(bench.questions)} questions of {bench.name}: check its flags"
        )
    plan, notices = AnswerPlan(bench, options, [], redo, user=_user_plan(chosen, options)), dict[str, None]()
    for name in dict.fromkeys(_variant(name, options) for name in names):
        endpoint = resolve(
            plain_model(name),
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            conv_template=options.conv_template,
            timeout=options.timeout,
            weights=None if options.model_path is None else (options.model_path, options.weights),
            models=options.models_file,
            key_needed=options.key_needed,
        )
        if answer_file is not None:
            _need_answers_of(name, answer_file)
        check_parameters(endpoint, asked_sampling(endpoint, bench, options, chosen[0]))
        path = answer_file or bench.answer_file(name)
        model = ModelPlan(replace(endpoint, name=name), path)
        asked: Sequence[Question] = chosen
        if (history := history_of(name)) is not None:
            asked, lacking = _with_history(model, bench, history, chosen)
            if lacking and not skip_missing:
                what_now = "answer them first, name another --history, or leave these out with --skip-missing"
                raise MissingError(f"{_unanswered(history, lacking)}; {what_now}")
            notices |= {f"left out: {_unanswered(history, lacking)}": None} if lacking else {}
        _plan_model(plan, model, asked)
    plan.notices.extend(notices)
    return plan


def _user_plan(questions: Sequence[Question], options: AnswerOptions) -> UserPlan | None:
    """Return the model that plays the users, or raise `UsageError` if a question has one and no model is named."""
    played = [question for question in questions if question.user is not None]
    if not played:
        if options.user is not None:
            raise UsageError(f"--user {options.user}: no question has a simulated user; leave it out")
        return None
    if options.user is None:
        raise UsageError(
            f"question {played[0].question_id} has a simulated user, and no model to play it; name a chat model "
            f"with --user ({BUILTIN} needs no key)"
        )
    endpoint = resolve(
        options.user,
        base_url=options.user_base_url,
        api_key_env=options.user_api_key_env,
        timeout=options.timeout,
        models=options.models_file,
        key_needed=options.key_needed,
    )
    prompt = read_prompt(options.user_prompt)
    return UserPlan(endpoint, prompt, options.user_seed, options.user_turns)


def _variant(name: str, options: AnswerOptions) -> str:
    """Return the name under which a model's answers are kept."""
    if options.history in (None, "own"):
        return name
    if history_of(name) is not None:
        raise UsageError(f"{name!r} already names its history; leave out --history")
    return history_variant(name, str(options.history))


def _with_history(
    plan: ModelPlan, bench: Bench, name: str, questions: Sequence[Question]
) -> tuple[list[Question], list[Question]]:
    """Add the supplied turns to the plan; return the questions that have them, and those that do not.

    A question of which the model writes only one turn is neither: that turn has no history but the question's.
    """
    said = bench.given_turns(name)
    several = [question for question in questions if question.written_by(plan.endpoint.name)]
    if not several:
        raise UsageError(f"--history {name}: no question has a second turn, and a first one has no history")
    turns = {q.question_id: said.get(q.question_id, ())[: len(q.turns) - 1] for q in several}
    having = [q for q in several if len(turns[q.question_id]) == len(q.turns) - 1]
    plan.histories = {q.question_id: History(name, turns[q.question_id]) for q in having}
    return having, [q for q in several if q.question_id not in plan.histories]


def _unanswered(history: str, questions: Sequence[Question]) -> str:
    which = questions_listed([question.question_id for question in questions])
    return f"{history} has not answered {which}, so there are no turns to continue from"


def _need_answers_of(model: str, path: pathlib.Path) -> None:
    """Raise unless a file is new, or contains only answers of this model."""
    if path.parent.is_dir():  # a folder that is not there is made
        need_own(path, _ANSWERS, "a file of answers")
    others = {str(row.value.get("model_id", model)) for row in read_rows(path)} - {model} if is_there(path) else ()
    if others:
        raise UsageError(f"{path}: holds answers of {', '.join(map(repr, others))}; name another --answer-file")


def _plan_model(whole: AnswerPlan, plan: ModelPlan, questions: Sequence[Question]) -> None:
    """Put into the plan what one model has to do."""
    whole.models.append(plan)
    there: Mapping[QuestionId, Answer] = {}
    if is_there(plan.path):
        ids = [str(row.value.get("question_id")) for row in read_rows(plan.path)]
        plan.untidy = len(set(ids)) < len(ids)
        there = read_answers(plan.path, plan.endpoint.name)
    foreign = 0
    for question in questions:
        answer = None if whole.redo else there.get(question.question_id)
        choices = whole.options.choices_of(question)
        todo = _todo(answer, question, choices, whole.parameters(plan, question), history_content(plan, question))
        foreign += todo.foreign
        if todo.missing:
            plan.superseded += answer is not None and not todo.kept
            plan.todo.append(todo)
        else:
            plan.already += 1
            plan.done.add(row_name(plan.endpoint, question))
    if foreign:
        log.warning(
            "%s: %d answers have no record of how they were made (another tool wrote them); they count as done",
            plan.path,
            foreign,
        )


def history_content(plan: ModelPlan, question: Question) -> str | None:
    """Return the hash of the turns that are given for a question; None where the model answers after its own."""
    history = plan.histories.get(question.question_id)
    return None if history is None else history.content


def _todo(answer: Answer | None, question: Question, num_choices: int, parameters: str, history: str | None) -> Todo:
    """Return which choices of an existing answer are current, and which are missing."""
    kept: dict[int, Choice] = {}
    foreign = False
    if answer is not None:
        foreign = answer.parameters_content is None and _shape_fits(answer, question)
        made = (answer.question_content, answer.parameters_content, answer.history_content)
        if foreign or made == (question.content, parameters, history):
            kept = {choice.index: choice for choice in answer.choices}
    return Todo(question, kept, tuple(k for k in range(num_choices) if k not in kept), foreign)


def _shape_fits(answer: Answer, question: Question) -> bool:
    return all(len(choice.turns) == len(question.turns) for choice in answer.choices)


def row_name(endpoint: Endpoint, question: Question) -> str:
    """Return the name of one answer's row, as messages have it."""
    return f"{endpoint.name}, question {question.question_id}"

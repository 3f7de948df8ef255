"""What flows through the harness, one type a noun; read this page first.

    Question ─▶ Request ─▶ Reply ─▶ Answer ─▶ Match ─▶ Request ─▶ Reply ─▶ Judgment
               (chat model)                          (judge)

All records are frozen; matches and judgments are in `harness.old.judgments.judgment`. How each stands in a file, with the
field names that FastChat uses, is in `harness.old.rows` and `harness.old.judgments`; here nothing knows a file format. Absent
values are None; -1 and "error" exist on disk only.
Whatever was said of a model in numbers is an `Observation`, whoever said it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from harness.old.bounds import ABOVE_0, COUNT, FROM_0, PENALTY, SHARE, SHARE_ABOVE_0, TEMPERATURE
from harness.old.names import history_of
from harness.old.written import FILLED, Wanted

if TYPE_CHECKING:
    from harness.old.checks import Check

QuestionId: TypeAlias = int | str
FinishReason: TypeAlias = Literal["stop", "length", "refused", "empty", "unstated"]
Mode: TypeAlias = Literal["single", "pairwise-baseline", "pairwise-all"]
Side: TypeAlias = Literal["A", "B", "tie"]
Scale: TypeAlias = tuple[float, float]
Form: TypeAlias = Literal["grade", "pair", "label", "dimensions"]
"""What one judgment holds: a number, the outcome of a pair, one of a set of labels, or a number for each dimension."""
Games: TypeAlias = tuple[float | None, ...]
UNSTATED = "unstated"
EQUAL = "equal answers"
"""What gave a verdict in place of a judge: the two answers are the same text, which is a tie without a call."""

MODES: tuple[Mode, ...] = ("single", "pairwise-baseline", "pairwise-all")


HASH_DIGITS = 16


def content_hash(*parts: Any) -> str:
    """Return 16 hexadecimal digits that stand for these JSON values (SHA-256 over their canonical form)."""
    return hashlib.sha256(canonical(parts)).hexdigest()[:HASH_DIGITS]


def canonical(value: Any) -> bytes:
    """Return the one way in which a JSON value is written where it is hashed."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class User:
    """Whom a chat model plays who talks with the model that answers, in place of fixed turns."""

    persona: str
    goal: str
    """What the user wants of the conversation."""
    done: str
    """When the user has it, in words."""
    knows: tuple[str, ...] = ()
    """What the user can tell when it is asked for, a sentence each."""
    opening: str | None = None
    """The first message, the same for every model; None: the user finds its own."""
    needs: tuple["Check", ...] = ()
    """What the replies must hold before the user can have what it wants."""
    most_turns: int = 8

    @property
    def content(self) -> list[Any]:
        """What makes this user what it is, as JSON values."""
        from harness.old.checks.check import as_json

        needs = [as_json(check) for check in self.needs]
        return [self.persona, self.goal, self.done, self.knows, self.opening, needs, self.most_turns]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a benchmark, with every turn that the user takes."""

    question_id: QuestionId
    category: str
    turns: tuple[str, ...]
    """What the user says, turn by turn; at least one, none empty."""
    reference: tuple[str, ...] = ()
    """The question file's own `reference` field. Read, kept, and never shown to a judge."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Every further field of the row; can be grouped by."""
    checks: tuple[tuple["Check", ...], ...] = ()
    """For each turn what a program can check of the reply; empty where the question has no checks."""
    note: tuple[str | None, ...] = ()
    """For each turn what a judge should look for; never shown to a model that answers."""

    history: tuple[str | None, ...] = ()
    """For each turn the reply that is given, or None where the model writes it; empty where it writes them all."""

    user: User | None = None
    """Who talks with the model, where no turns are fixed; `turns` then holds one text that says what it is about."""

    @property
    def content(self) -> str:
        """The hash of what makes this question what it is: its turns, its category, its user, the given replies."""
        more = [self.history] if self.history else []
        return content_hash(self.category, self.turns, *more, *([] if self.user is None else [self.user.content]))

    def given(self, turn: int) -> str | None:
        """Return the reply that the question gives at a turn; None: the model writes it."""
        return self.history[turn - 1] if self.history else None

    def written_by(self, model: str) -> tuple[int, ...]:
        """Return the turns that a model writes: those that are not given.

        A variant with another's history is given the first of them too: it would be the model's own first turn again.
        """
        turns = tuple(range(1, len(self.turns) + 1))
        if self.history:
            turns = tuple(turn for turn in turns if self.given(turn) is None)
        return turns if history_of(model) is None else turns[1:]

    def checks_of(self, turn: int) -> tuple["Check", ...]:
        """Return the checks of a turn; the first is 1."""
        return self.checks[turn - 1] if self.checks else ()

    def note_of(self, turn: int) -> str | None:
        """Return what a judge should look for in a turn's reply, if anything is noted."""
        return self.note[turn - 1] if self.note else None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str
    carried: str | None = None
    """What the provider wants back in place of an earlier reply's text, see `Reply.carried`."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a reply is sampled with. None leaves a parameter to the endpoint."""

    temperature: Annotated[float, TEMPERATURE] | None = None
    max_tokens: Annotated[int, COUNT] | None = None
    """The most tokens that a reply may have, reasoning included."""
    top_p: Annotated[float, SHARE_ABOVE_0] | None = None
    seed: int | None = None
    reasoning_effort: Annotated[str, FILLED] | None = None
    """How much the model is to reason, in the provider's words: `low`, `medium`, `high`, …"""
    thinking_budget: Annotated[int, FROM_0] | None = None
    """The most tokens of reasoning; 0: none."""
    top_k: Annotated[int, COUNT] | None = None
    min_p: Annotated[float, SHARE] | None = None
    frequency_penalty: Annotated[float, PENALTY] | None = None
    presence_penalty: Annotated[float, PENALTY] | None = None
    repetition_penalty: Annotated[float, ABOVE_0] | None = None
    stop: Annotated[tuple[Annotated[str, FILLED], ...], Wanted("a list of texts")] | None = None
    """Texts at which a reply ends."""
    extra_body: Mapping[str, Any] | None = None
    """Further fields of the request's body, as the server knows them."""
    extra_headers: Mapping[str, str] | None = None
    """Further headers of the request; never a key."""

    def stated(self) -> dict[str, Any]:
        """Return the parameters that are set, by name, as JSON has them."""
        named = {name: getattr(self, name) for name in type(self).__slots__}
        stated = {name: value for name, value in named.items() if value is not None}
        return {**stated, "stop": list(self.stop)} if self.stop is not None else stated

    def before(self, usual: "Sampling") -> "Sampling":
        """Return these parameters and, where they leave one open, what `usual` says of it."""
        own = {name: getattr(self, name) for name in self.stated()}
        for name in ("extra_body", "extra_headers"):
            if name in own and getattr(usual, name):
                own[name] = {**getattr(usual, name), **own[name]}
        return replace(usual, **own)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a request is about, for built-in models and judges; no remote chat model ever sees it."""

    question: Question
    turn: int
    """The turn that is asked or judged; the first is 1."""
    reference: tuple[str, ...] | None = None
    """The reference answer's turns, if the question has one."""
    answers: tuple[tuple[str, ...], ...] = ()
    """For a judge: the turns of the one or two conversations shown, in the order shown. For a user: the replies."""
    verdict_format: str = ""
    """For a judge: the form in which the verdict is wanted, such as `[[rating]]`. For a user: what ends the talk."""
    scale: tuple[float, float] = (1, 10)
    """For a judge that grades: least and greatest score."""
    sides: tuple[str, str] = ("A", "B")
    """For a judge that compares: what the verdict calls the answer shown first and the one shown second."""
    sample: int = 0
    """For a judge: which sample of its judgment this is; models are told by their seed, if at all."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a chat model: the messages, and how to sample the reply."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    facts: Facts | None = None
    top_logprobs: int | None = None
    """How many likely tokens to report at each place of the reply; None: none."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the reply must follow, where the provider can see to it; None: free text."""
    shared: int = 0
    """Characters of the last message with which other requests begin too, for providers that are told what to cache."""
    to: str | None = None
    """The chat model that is asked, where it is not the job's own: the one that plays the user."""

    @property
    def content(self) -> str:
        """The hash of what is sent; equal requests have equal hashes."""
        more = {"top_logprobs": self.top_logprobs, "schema": self.schema, "to": self.to}
        shaping = self.sampling.stated() | {name: value for name, value in more.items() if value is not None}
        return content_hash([[m.role, m.content] for m in self.messages], shaping)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider counted them; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    """Tokens of the reply, reasoning included."""
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of the prompt that came from the provider's cache."""
    written_tokens: int | None = None
    """The part of the prompt that the provider put into its cache, where it counts that apart."""


def total(usages: Sequence[Usage]) -> Usage:
    """Return the tokens of several calls together; where no call says a number, None."""
    counts = {name: [n for each in usages if (n := getattr(each, name)) is not None] for name in Usage.__slots__}
    return Usage(**{name: sum(known) if known else None for name, known in counts.items()})


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token of a reply, and what else might have stood in its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    """The likeliest tokens with their natural-log probabilities, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model said, and under which conditions."""

    text: str
    reasoning: str | None = None
    """Thinking that came apart from the reply; never carried into the next turn, never shown to a judge."""
    finish_reason: FinishReason = "unstated"
    """`length`: cut at the token limit. `refused`: the provider or the model declined. `empty`: no text at all."""
    usage: Usage = Usage()
    seconds: float | None = None
    """From sending to the last byte, the try that succeeded alone."""
    model: str | None = None
    """The model string that the provider reported."""
    applied: Mapping[str, Any] = field(default_factory=dict)
    """The sampling parameters that were really sent."""
    note: str | None = None
    """What a reader of the row should know, such as a built-in that answered in place of another."""
    logprobs: tuple[TokenLogprobs, ...] | None = None
    """None if they were not asked for or not given."""
    from_cache: bool = False
    """Whether it was found in a cache of completions: its usage was paid for elsewhere."""
    batch: bool = False
    """Whether it came by a batch, at the batch's share of the price."""
    carried: str | None = None
    """What the provider demands back with this reply in the next turn, as it came, in JSON; no row holds it."""
    given: str | None = None
    """Who gave it in place of the model: `question`, `reference`, whose answer it is, or for a judgment `EQUAL`.

    None: the model wrote it.
    """


class Said(NamedTuple):
    """One of the assistant's turns as it stood in a conversation."""

    text: str
    given: bool
    """Whether it was given, not written by the model whose conversation it is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One complete conversation of a model about a question."""

    index: int
    replies: tuple[Reply, ...]
    history: tuple[str, ...] = ()
    """The given turns that each reply saw in place of the replies before it; empty: it saw the replies before it."""
    user: tuple[Reply, ...] = ()
    """What a chat model said as the user, one for each reply, and one more where it ended the conversation."""

    @property
    def transcript(self) -> str:
        """The conversation as one text, where a chat model played the user."""
        told = [part for one, reply in zip(self.user, self.replies, strict=False) for part in (one.text, reply.text)]
        names = ("User", "Assistant")
        return "\n\n".join(f"{names[at % 2]}: {text.strip()}" for at, text in enumerate(told))

    @property
    def turns(self) -> tuple[str, ...]:
        """The text of every reply."""
        return tuple(reply.text for reply in self.replies)

    def so_far(self, turn: int) -> tuple[Said, ...]:
        """Return the assistant's turns of the conversation that a turn's reply ends, that reply included.

        A conversation with a played user is one turn, its transcript: its turns are different in each.
        """
        if self.user:
            return (Said(self.transcript, False),)
        before = tuple(Said(text, True) for text in self.history[: turn - 1])
        own = self.replies[len(before) : turn]
        return (*before, *(Said(reply.text, reply.given is not None) for reply in own))


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's replies to every turn of one question."""

    question_id: QuestionId
    model: str
    choices: tuple[Choice, ...]
    asked: Sampling = Sampling()
    system: str | None = None
    question_content: str | None = None
    """Hash of the question that was answered; None in rows of other tools."""
    parameters_content: str | None = None
    """Hash of everything else that made the answer: sampling, system prompt, template."""
    history_content: str | None = None
    """Hash of the turns that were given in place of the model's own; None where it had its own."""
    user: Mapping[str, Any] = field(default_factory=dict)
    """Which chat model played the user, by which prompt, with which sampling; empty where none did."""
    answer_id: str | None = None
    tstamp: float | None = None


class Source(NamedTuple):
    """Who said a number, and how it was made; a table never mixes two sources that differ in more than their choice."""

    judge: str
    """A judge model, a program, or a person."""
    voter: bool = False
    """Whether it is a person who compared two answers."""
    judge_set: str = UNSTATED
    version: str = ""
    """Of the judge set; empty where it is not known."""
    sampling: str = UNSTATED
    """The sampling that was asked for, as one text."""
    sample: int = 0
    choice: str = "0"
    """Which of the model's answers to the question."""
    method: str = "text"
    """How the verdict was taken from the reply: read from its text, or weighed by log-probabilities."""
    form: Form = "grade"
    scale: Scale | None = None
    """Of grades, the least and the greatest that there are; None where the row does not say."""

    @property
    def set_text(self) -> str:
        """The judge set and its version as people read them."""
        return f"{self.judge_set} {self.version}".rstrip()

    def made_with(self, judge_set: str | None) -> bool:
        """Return whether this is the judge set named, with or without its version; None names any."""
        return judge_set in {None, self.judge_set, self.set_text}


class Observation(NamedTuple):
    """A number that somebody said about a model, perhaps beside another one, on a turn of a question.

    81, 1, x, None, score, 8.0                 a grade
    81, 1, x, y, win, 0.5, games (1.0, 0.0)    x won game 1 and y game 2: together a tie
    81, 1, x, None, CORRECT, 1.0               a label; the set's other labels are 0
    81, 1, x, None, fluency, 4.0               a grade by one criterion, or on one dimension
    """

    question_id: QuestionId
    turn: int
    model: str
    opponent: str | None
    metric: str
    value: float | None
    """None if the judgment gave no verdict. Of two answers, `model`'s share of the win, from 0 to 1."""
    games: Games
    """Of two answers, the value of each game that was played: game 1 shows `model` first; empty otherwise."""
    source: Source
    template: str | None = None
    content: str | None = None
    """Hash of the question that was judged; None in rows of other tools."""


@dataclass(frozen=True, slots=True)
class MeasuredFrom:
    """Hashes of what one measurement was made from; it is done if they equal today's."""

    question: str
    conversation: str
    """Over the turns of the answer so far."""
    reference: str | None
    metric: str
    """Over whatever defines the metric: its name, variant, tokenizer, library and parameters."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a program computed of one turn of one answer."""

    question_id: QuestionId
    turn: int
    model: str
    metric: str
    value: float | None
    """The main number; None where it is not defined, or could not be computed."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    """All numbers of the metric by name, where it has several; the main one is among them."""
    variant: str = "default"
    """Which formula; numbers of two variants never stand in one table."""
    tokenizer: str | None = None
    library: str | None = None
    """Whose numbers they are, with the version; None: computed by this project."""
    reference: str | None = None
    """Whose reference answer it was compared with."""
    choice: int = 0
    note: str | None = None
    made_from: MeasuredFrom | None = None
    """None in rows of other tools."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the row, the metric's own."""
    tstamp: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that ended without a record, and why."""

    key: str
    """The job's key, readable: model, question, turn."""
    kind: str
    message: str

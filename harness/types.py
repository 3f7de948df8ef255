"""Every row and message of turnbench; read this page first.

    Question ─▶ Request ─▶ Reply ─▶ Answer ─▶ Request ─▶ Reply ─▶ Judgment
               (chat model)                    (judge)

Question, Answer, Judgment, Vote, Note and Measurement are rows: one JSON object per line of a file,
with FastChat's field names; a field that has its default is left out when written. In a file a
score of -1, and a winner "error", mean that the judge gave no verdict; code reads the properties
`grade` and `games`, which say None. Message, Sampling, Request and Reply are what chat models take
and give; they are in no file.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field, to_builtins

QuestionId: TypeAlias = int | str


def as_question_id(key: QuestionId) -> QuestionId:
    """Return a question's id as rows have it: "81" is 81, "081" is a text.

    >>> as_question_id("81"), as_question_id("081")
    (81, '081')
    """
    if type(key) is str and key.isdecimal() and str(int(key)) == key:
        return int(key)
    return key


Mode: TypeAlias = Literal["single", "pairwise-baseline", "pairwise-all"]
Winner: TypeAlias = Literal["model_1", "model_2", "tie", "error"]
Finish: TypeAlias = Literal["stop", "length", "refused", "empty", "unstated"]

FAILED_SCORE = -1
UNSTATED = "unstated"
RESERVED = frozenset(
    (
        *("model", "judge", "judges", "judge_set", "mode", "rank", "metric"),
        *("n", "questions", "failed", "judged", "missing"),
    )
)
"""Fields of every row of results, which are no names of criteria, labels, metrics and groups."""
EQUAL = "equal answers"
"""What gave a tie in place of a judge: the two answers are the same text."""


class Row(Struct, omit_defaults=True):
    """A row of a file."""


# What is asked


class User(Row, kw_only=True):
    """A user played by a chat model, in place of fixed turns."""

    persona: str
    goal: str
    done: str
    """When the user has what it wants, in words."""
    knows: list[str] = []
    """What the user can tell when asked, a sentence each."""
    needs: list[dict[str, Any]] = []
    """Checks that the replies must pass before the user can be satisfied."""
    most_turns: Annotated[int, Meta(ge=1, le=50)] = 8


class Point(Row, kw_only=True):
    """One point of a checklist: what a judge answers with met or not met."""

    point: str
    weight: float = 1.0
    """Negative: a fault, whose presence costs."""
    tag: str = ""


class Question(Row, kw_only=True):
    """One question of a benchmark, with every turn of the user."""

    question_id: QuestionId
    category: str
    turns: list[str]
    """What the user says; with a played user its first message, if that is fixed."""
    reference: list[str] = []
    """The question file's own field; kept, never shown to a judge."""
    history: list[str | None] = []
    """For each turn the reply that is given, or null where the model writes it."""
    note: list[str | None] = []
    """For each turn what a judge should look for; never shown to a model that answers."""
    checks: list[list[dict[str, Any]]] = []
    """For each turn what a program can check of the reply."""
    checklist: list[list[Point]] = []
    """For each turn the points that a judge of the kind `checklist` decides."""
    user: User | None = None
    extra: dict[str, Any] = {}
    """Every other field of the row."""

    @property
    def hash(self) -> str:
        """What identifies the question's content: category, turns, given replies, played user."""
        parts: list[Any] = [self.category, self.turns]
        if self.history:
            parts.append(self.history)
        if (user := self.user) is not None:
            opening = None if self.turns in ([], [user.goal]) else self.turns[0]
            content = [user.persona, user.goal, user.done, user.knows, opening]
            parts.append([*content, user.needs, user.most_turns])
        return content_hash(*parts)

    def given(self, turn: int) -> str | None:
        """Return the reply that the question gives at a turn (the first is 1), if it does."""
        return self.history[turn - 1] if self.history else None


# What a model answered


class Usage(Row, kw_only=True):
    """Tokens of one call as the provider counted them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    """Reasoning included."""
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of the prompt that came from the provider's cache."""
    written_tokens: int | None = None
    """The part of the prompt that was put into the provider's cache."""


class Detail(Row, kw_only=True):
    """All of a reply but its text."""

    finish_reason: Finish = "unstated"
    """`length`: cut at the token limit. `refused`: declined by the provider or the model."""
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    price: float | None = None
    """Dollars, where they are stated and not computed from the tokens."""
    provider_model: str | None = None
    """The model string that the provider reported."""
    sampling_applied: dict[str, Any] = {}
    """The parameters that were really sent."""
    reasoning: str | None = None
    """Thinking apart from the reply; never sent back, never shown to a judge."""
    note: str | None = None
    """What a reader of the row should know, such as a parameter that was left out."""
    from_cache: bool = False
    batch: bool = False
    given: str | None = None
    """Who gave the reply in place of the model: `question`, `reference`, a model's name."""
    verdict_reason: str | None = None
    """Of a judge's reply: how the verdict was read, or why there is none."""
    earlier_attempts: list[dict[str, Any]] = []
    """Of a judge's reply: the replies before it that gave no verdict."""


class Choice(Row, kw_only=True):
    """One conversation of a model about a question."""

    index: int = -1
    """From 0. -1 only while a row without the field is read; `store` makes it the position."""
    turns: list[str]
    details: list[Detail] = []
    history: list[str] = []
    """The given replies that each turn continued from, in place of the model's own."""
    user: list[str] = []
    """What the played user said, one for each reply and perhaps one that ended it."""
    user_details: list[Detail] = []

    def detail(self, turn: int) -> Detail:
        """Return all of the reply in a turn but its text; other tools' rows say nothing of it."""
        return self.details[turn - 1] if turn <= len(self.details) else Detail()


class MadeFrom(Row, kw_only=True):
    """Hashes of what a row was made from; the row is current if they equal today's."""

    question: str | None = None
    conversation: str | None = None
    reference: str | None = None
    template: str | None = None
    parameters: str | None = None
    history: str | None = None
    metric: str | None = None


class Answer(Row, kw_only=True):
    """One model's replies to every turn of one question."""

    question_id: QuestionId
    answer_id: str | None = None
    model_id: str = ""
    choices: list[Choice]
    tstamp: float | None = None
    system_prompt: str | None = None
    sampling: dict[str, Any] = {}
    made_from: MadeFrom | None = None
    user: dict[str, Any] | None = None
    """Which chat model played the user, by which prompt, with which sampling."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What two rows of one file may not share."""
        return (self.question_id,)


# What a judge, a person or a program said


class Judgment(Row, kw_only=True):
    """One answer judged, or two compared in one or both orders."""

    question_id: QuestionId
    model: str | None = None
    model_1: str | None = None
    model_2: str | None = None
    shown_first: Literal["model_1", "model_2"] | None = None
    """Of a pair judged in one order only: which answer the judge read first."""
    g1_winner: Winner | None = None
    """Game 1 shows model_1 first, game 2 shows model_2 first."""
    g2_winner: Winner | None = None
    judge: str | tuple[str, ...] = ""
    """In files `[model, template]`; `judge_model` has the first."""
    user_prompt: str | None = None
    judgment: str | None = None
    g1_user_prompt: str | None = None
    g1_judgment: str | None = None
    g2_user_prompt: str | None = None
    g2_judgment: str | None = None
    score: int | float | None | UnsetType = UNSET
    turn: int = 0
    """From 1. 0 only while a row without the field is read; `store` makes it 1."""
    tstamp: float | None = None
    label: str | None | UnsetType = UNSET
    share: float | None = None
    """Of a label: what it counts for, such as 1 for correct."""
    scores: dict[str, float | None] | None | UnsetType = UNSET
    """Grades by dimension."""
    points: list[dict[str, Any]] | None | UnsetType = UNSET
    """Of a checklist: for each point `met` (true, false or null), `quote`, `weight`, `tag`."""
    scale: tuple[float, float] | None = None
    """The least and the greatest grade."""
    confidence: float | None = None
    """The judged answer's stated confidence, from 0 to 1."""
    g1_preference: float | None = None
    """Of 1, how much goes to model_1, whichever was shown first."""
    g2_preference: float | None = None
    g1_weight: float | None = None
    """What the game counts for in `weighted_win_rate`: 3 where one answer is much better."""
    g2_weight: float | None = None
    g1_scores: tuple[float, float] | None = None
    g2_scores: tuple[float, float] | None = None
    judge_set: str = UNSTATED
    judge_set_version: str = ""
    criterion: str | None = None
    sample: int = 0
    choice: int = 0
    drawn: float | None = None
    """The share of the pairs, if this one was among those drawn at random."""
    look: int | None = None
    """At which look, from 1, a run judged it that stops when comparisons are decided."""
    system_prompt: str | None = None
    sampling: dict[str, Any] = {}
    made_from: MadeFrom | None = None
    score_method: str = "text"
    """`logprobs`: weighed from the likely tokens, not read from the text. `steps`: a verdict of
    five steps, with a weight."""
    details: list[Detail] = []

    @property
    def models(self) -> tuple[str, ...]:
        """The one model graded, or the two compared as the row names them."""
        return (self.model,) if self.model is not None else (self.model_1 or "", self.model_2 or "")

    @property
    def judge_model(self) -> str:
        """The judge's name."""
        return self.judge if isinstance(self.judge, str) else self.judge[0] if self.judge else ""

    @property
    def template(self) -> str | None:
        """The name of the prompt template, if the row says it."""
        return None if isinstance(self.judge, str) or len(self.judge) < 2 else self.judge[1]

    @property
    def grade(self) -> float | None:
        """The grade of a single answer; None: no verdict, or a verdict of another kind."""
        return None if self.score in (UNSET, None, FAILED_SCORE) else self.score

    @property
    def games(self) -> tuple[float | None, ...]:
        """Model_1's share of each game that was played: 1 win, 0.5 tie, 0 loss, None no verdict."""
        value = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0, "error": None}
        played = [
            (winner, preference)
            for winner, preference in (
                (self.g1_winner, self.g1_preference),
                (self.g2_winner, self.g2_preference),
            )
            if winner is not None
        ]
        return tuple(
            preference if preference is not None and winner != "error" else value[winner]
            for winner, preference in played
        )

    @property
    def failed(self) -> bool:
        """Whether the judge gave no verdict: no grade, label or dimension, or in one game none."""
        if self.model is None:
            return not self.games or None in self.games
        if self.label is not UNSET:
            return self.label is None
        if self.points is not UNSET:
            return not self.points or all(point.get("met") is None for point in self.points)
        if self.scores is not UNSET:
            return not self.scores or all(value is None for value in self.scores.values())
        return self.grade is None

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the judgment in its file; a pair has one key in both orders."""
        models = tuple(sorted(self.models))
        return (self.question_id, self.turn, models, self.criterion, self.sample, self.choice)


def met_share(points: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the share of a checklist's weight that is met, from 0 to 1; None: nothing decided.

    Weights met / all positive weights, of the points that the judge decided: 2 and 1 met of 2, 1,
    1, and a fault of -1 that is there: (3 - 1) / 4 = 0.5.
    """
    decided = [point for point in points if point.get("met") is not None]
    possible = sum(max(float(point.get("weight", 1)), 0.0) for point in decided)
    met = sum(float(point.get("weight", 1)) for point in decided if point["met"])
    return max(met / possible, 0.0) if possible else None


VOTES: Mapping[str, float | None] = {
    "model_a": 1.0,
    "model_b": 0.0,
    "error": None,
    **dict.fromkeys(
        ("tie", "both_bad", "bothbad", "tie (bothbad)", "tie (both bad)", "tie (inconsistent)"), 0.5
    ),
}
"""What goes to model_a by each published word for the winner; None: no verdict."""


class Vote(Row, kw_only=True):
    """A person's comparison of two answers."""

    question_id: QuestionId
    model_a: str
    model_b: str
    winner: str
    """A word of `VOTES`."""
    judge: str | tuple[str, ...] = ""
    """Who voted. A judge's verdicts in this form have `[model, template]`."""
    turn: int = 0
    """From 1. 0 only while a row without the field is read; `store` makes it 1."""
    judgment: str | None = None
    """Why, in the voter's words."""
    answers: str | None = None
    """Hash of the two answers that were compared."""
    tstamp: float | None = None

    @property
    def voter(self) -> str:
        """The voter's name."""
        return self.judge if isinstance(self.judge, str) else self.judge[0] if self.judge else ""

    @property
    def template(self) -> str | None:
        """The name of a judge's prompt template; people have none."""
        return None if isinstance(self.judge, str) or len(self.judge) < 2 else self.judge[1]

    @property
    def value(self) -> float | None:
        """What goes to model_a: 1 it won, 0.5 tie, 0 it lost; None: no verdict."""
        return VOTES[self.winner]

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the vote: the last one on a key counts."""
        return (
            self.question_id,
            self.turn,
            tuple(sorted((self.model_a, self.model_b))),
            self.voter,
        )


class Note(Row, kw_only=True):
    """What a person says of a judge's verdict after seeing it; no result reads it."""

    question_id: QuestionId
    turn: int
    models: tuple[str, ...]
    """The one model graded, or the two compared, by name."""
    judge: str
    """Whose verdict it is."""
    judge_set: str = UNSTATED
    criterion: str | None = None
    sample: int = 0
    choice: int = 0
    verdict: str
    """Hash of what the judge said: a verdict that is given anew is another one."""
    name: str
    """Who wrote the note."""
    note: str
    """In the person's words; empty: taken back."""
    tstamp: float | None = None

    @property
    def verdict_key(self) -> tuple[Any, ...]:
        """What identifies the verdict."""
        return (
            *(self.question_id, self.turn, tuple(sorted(self.models)), self.judge, self.judge_set),
            *(self.criterion, self.sample, self.choice, self.verdict),
        )

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the note: the last one of a person on a verdict counts."""
        return (*self.verdict_key, self.name)


class Measurement(Row, kw_only=True):
    """What a program computed of one turn of one answer."""

    question_id: QuestionId
    turn: int
    model: str
    choice: int = 0
    metric: str
    value: float | None
    """None where it is not defined, or could not be computed."""
    values: dict[str, float | None] = {}
    """All numbers of a metric that has several; the main one is among them."""
    variant: str = "default"
    """Which formula; a table never mixes two."""
    tokenizer: str | None = None
    library: str | None = None
    """The package whose number it is, with its version."""
    reference: str | None = None
    """Whose reference answer it was compared with."""
    note: str | None = None
    made_from: MadeFrom | None = None
    checks: list[dict[str, Any]] = []
    """Of the metric `checks`: what became of each."""
    tstamp: float | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the measurement in its file."""
        return (self.question_id, self.turn, self.model, self.choice, self.metric, self.variant)


# What chat models take and give


class Message(Struct, frozen=True):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """What a reply is sampled with; None leaves a parameter to the endpoint."""

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    """The most tokens of a reply, reasoning included."""
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    seed: int | None = None
    reasoning_effort: Annotated[str, Meta(min_length=1)] | None = None
    thinking_budget: Annotated[int, Meta(ge=0)] | None = None
    """The most tokens of reasoning; 0: none."""
    top_k: Annotated[int, Meta(ge=1)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    repetition_penalty: Annotated[float, Meta(gt=0)] | None = None
    stop: list[str] | None = None
    extra_body: dict[str, Any] | None = None
    """Further fields of the request's body."""
    extra_headers: dict[str, str] | None = None
    """Further headers of the request; never a key."""

    def stated(self) -> dict[str, Any]:
        """Return the parameters that are set, as JSON values."""
        values: dict[str, Any] = to_builtins(self)
        return values

    def over(self, other: "Sampling") -> "Sampling":
        """Return these parameters, and the other's where these say nothing."""
        merged = other.stated() | self.stated()
        for name in ("extra_body", "extra_headers"):
            if name in merged:
                merged[name] = (getattr(other, name) or {}) | (getattr(self, name) or {})
        return Sampling(**merged)


class Facts(Struct, frozen=True):
    """What a request is about, for built-in models and judges; remote models never see it."""

    question: Question
    turn: int
    """The turn that is asked or judged; the first is 1."""
    reference: list[str] | None = None
    """The reference answer's turns, if the question has one."""
    answers: list[list[str]] = []
    """For a judge: the turns of the one or two conversations, in the order shown."""
    form: str = ""
    """For a judge: the form of the verdict, such as `[[rating]]`."""
    scale: tuple[float, float] = (1, 10)
    labels: tuple[str, ...] = ("A", "B")
    """For a judge that compares: what the verdict calls the first and the second answer."""
    sample: int = 0


class Request(Struct, frozen=True, kw_only=True):
    """One call to a chat model."""

    messages: list[Message]
    sampling: Sampling = Sampling()
    top_logprobs: int | None = None
    """How many likely tokens to report at each place of the reply."""
    schema: dict[str, Any] | None = None
    """The JSON schema of the reply, for providers that enforce one."""
    shared: int = 0
    """Characters of the last message with which other requests begin too, for prompt caches."""
    to: str | None = None
    """The chat model asked, where it is not the job's own: the one that plays the user."""
    facts: Facts | None = None
    ask: str = ""
    """Who asks, the same in every run: the job, and how many equal requests it made before. By it
    the result of a batch is found again; it is not sent."""

    @property
    def hash(self) -> str:
        """What is sent; equal requests have equal hashes."""
        more = {"top_logprobs": self.top_logprobs, "schema": self.schema, "to": self.to}
        shaping = self.sampling.stated() | {k: v for k, v in more.items() if v is not None}
        return content_hash([[m.role, m.content] for m in self.messages], shaping)


class TokenLogprobs(Struct, frozen=True):
    """One token of a reply, and what else might have stood in its place."""

    token: str
    logprob: float
    top: list[tuple[str, float]] = []
    """The likeliest tokens with their natural-log probabilities, the likeliest first."""


class Reply(Struct, kw_only=True, omit_defaults=True):
    """What a chat model said."""

    text: str
    detail: Detail = field(default_factory=Detail)
    logprobs: list[TokenLogprobs] | None = None


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def content_hash(*parts: Any) -> str:
    """Return 16 hexadecimal digits for some JSON values: SHA-256 over their canonical form."""
    import hashlib  # loads OpenSSL, which a --help needs not

    text = _CANONICAL.encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def history_variant(model: str, history: str) -> str:
    """Return the name of a model that continues from another author's earlier turns."""
    return f"{model}+history={history}"


def split_variant(name: str) -> tuple[str, str | None]:
    """Return a model's own name, and whose earlier turns it continued from, if not its own.

    >>> split_variant("gpt-4o+history=reference")
    ('gpt-4o', 'reference')
    """
    model, mark, history = name.partition("+history=")
    return (model, history) if mark and model and history else (name, None)


def first_own_turn(model: str) -> int:
    """Return the first turn that a model answers itself: a variant continues another's first one.

    >>> first_own_turn("gpt-4o"), first_own_turn("gpt-4o+history=reference")
    (1, 2)
    """
    return 1 if split_variant(model)[1] is None else 2


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return the tokens of several calls together; a number that no call states stays None."""
    counts: dict[str, int | None] = {}
    for name in Usage.__struct_fields__:
        stated = [value for usage in usages if (value := getattr(usage, name)) is not None]
        counts[name] = sum(stated) if stated else None
    return Usage(**counts)


def clash_of(names: Iterable[str], reserved: Collection[str] = RESERVED) -> str:
    """Return why names cannot be columns of one table; empty: they can.

    >>> clash_of(["math", "math_low"])
    "'math_low' would be the end of the interval of 'math'; rename one of them"
    """
    present = set(names)
    for name in sorted(present):
        if name in reserved:
            return f"{name!r} is a column that every table has; rename it"
        for end in ("_low", "_high"):
            stem = name.removesuffix(end)
            if stem != name and stem in present:
                return f"{name!r} would be the end of the interval of {stem!r}; rename one of them"
    return ""

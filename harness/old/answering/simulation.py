"""A chat model simulates the user: its prompt, its messages, and the rules that it broke.

    user      Hi, I need a table for Friday.                    model     For how many?
    user      Four of us.                                       model     Booked: Friday, 7 pm, four.
    user      Great, thanks! [[done]]

The prompt is a file (`user.toml`). The user's message that ends the conversation is kept and not answered. Broken rules
are detected by programs, in the rows, whenever results are shown:

    role confusion    the user speaks as an assistant would
    leaked goal       it recites its instructions, or mentions them
    ended too early   it ended before the replies contained what it needs (`needs`), or without a reply
    said nothing      an empty message

Known problems of simulated users: they end too early or never, forget their role, or reveal the
whole goal at once (tau-bench's user; verifiers' `UserSimEnv`).
"""

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from harness.old.chat import Endpoint, resolve
from harness.old.records import Choice, Facts, Message, Question, Request, Sampling, User, content_hash
from harness.old.written import FILLED, Wanted, decoded, read_toml

SHIPPED = pathlib.Path(__file__).with_name("user.toml")
BUILTIN = "builtin/user"
ROLE, LEAK, EARLY, NOTHING = "role confusion", "leaked goal", "ended too early", "said nothing"
RULES = (ROLE, LEAK, EARLY, NOTHING)
_PLACEHOLDERS = re.compile(r"\{(persona|goal|knows|done|stop)\}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Rules:
    """By what it is found that the user fell out of the role."""

    role: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    leak_words: Annotated[int, Wanted("a whole number from 3", lambda number: number >= 3)] = 8


@dataclass(frozen=True)
class UserPrompt:
    """The contents of `user.toml`."""

    system: Annotated[str, FILLED]
    start: Annotated[str, FILLED]
    brief: Annotated[str, FILLED]
    stop: Annotated[str, FILLED]
    name: str = "user"
    version: str = "1"
    sampling: Sampling = field(default_factory=Sampling)
    rules: Rules = field(default_factory=Rules)

    @property
    def content(self) -> str:
        """The hash of the instructions of the model that plays the user."""
        return content_hash(self.system, self.start, self.stop)

    def filled(self, text: str, user: User) -> str:
        """Return a text of the prompt for one user; braces in the user's fields are never placeholders."""
        knows = "\n".join(f"- {one}" for one in user.knows) or "- nothing further"
        values = {"persona": user.persona, "goal": user.goal, "knows": knows, "done": user.done, "stop": self.stop}
        return _PLACEHOLDERS.sub(lambda found: values[found[1]], text).strip()

    def ends(self, text: str) -> bool:
        """Return whether a message ends the conversation."""
        return self.stop in text or not text.strip()

    def without_stop(self, text: str) -> str:
        """Return a message as the model sees it."""
        return text.replace(self.stop, "").strip()

    @cached_property
    def _patterns(self) -> Mapping[str, Sequence[Any]]:
        import re2

        options = re2.Options()
        options.case_sensitive = False
        rules = {ROLE: self.rules.role, LEAK: self.rules.told}
        return {name: [re2.compile(one, options) for one in patterns] for name, patterns in rules.items()}

    def breaks(self, text: str, user: User) -> Iterator[str]:
        """Yield the rules that one message of the user breaks, at any turn."""
        said = self.without_stop(text)
        for name, patterns in self._patterns.items():
            if any(pattern.search(said) for pattern in patterns):
                yield name
        told = [user.persona, user.goal, user.done]
        if any(_shared(said, one, self.rules.leak_words) for one in told):
            yield LEAK


def read_prompt(path: pathlib.Path | str | None = None) -> UserPrompt:
    """Return the prompt in a file (default: the shipped one).

    Raises:
        DataError: the file is not what it must be; the message names the key.
    """
    place = SHIPPED if path is None else pathlib.Path(path)
    return decoded(read_toml(place), UserPrompt, place)


@dataclass(frozen=True, slots=True)
class UserPlan:
    """Who plays the users of a run, and how."""

    endpoint: Endpoint
    prompt: UserPrompt
    seed: int = 0
    most_turns: int | None = None

    @property
    def name(self) -> str:
        """The name that the engine calls the model by: it may answer questions as well."""
        return f"{self.endpoint.name} as the user"

    def turns(self, user: User) -> int:
        """Return how many turns a conversation may have."""
        return user.most_turns if self.most_turns is None else min(user.most_turns, self.most_turns)

    def sampling(self, sample: int) -> Sampling:
        """Return the sampling of one sample of the user; the same for every model that is compared."""
        return replace(self.prompt.sampling, seed=self.seed + sample)

    def stated(self) -> dict[str, Any]:
        """Return the part of a row about the user; two rows are comparable if it is equal."""
        return {
            "model": self.endpoint.name,
            "prompt": f"{self.prompt.name} {self.prompt.version}",
            "prompt_content": self.prompt.content,
            "stop": self.prompt.stop,
            "sampling": self.sampling(0).stated(),
            **({} if self.most_turns is None else {"most_turns": self.most_turns}),
        }


def builtin_plan() -> UserPlan:
    """Return the plan with the user that needs no key."""
    return UserPlan(resolve(BUILTIN), read_prompt())


def user_request(
    plan: UserPlan, question: Question, said: Sequence[str], replies: Sequence[str], sample: int
) -> Request:
    """Return the request for the user's next message; its earlier messages have the role of the assistant."""
    assert question.user is not None
    messages = [Message("system", plan.prompt.filled(plan.prompt.system, question.user))]
    messages.append(Message("user", plan.prompt.start))
    for one, reply in zip(said, replies, strict=True):
        messages += [Message("assistant", one), Message("user", reply)]
    facts = Facts(question, len(said) + 1, None, (tuple(replies),), verdict_format=plan.prompt.stop)
    return Request(tuple(messages), plan.sampling(sample), facts, to=plan.name)


class Broken(NamedTuple):
    """A rule that the user broke."""

    rule: str
    turn: int


def broken_rules(question: Question, choice: Choice, prompt: UserPrompt) -> list[Broken]:
    """Return which rules the user broke in a conversation, each once a turn."""
    user = question.user
    if user is None or not choice.user:
        return []
    from harness.old.checks import all_met

    found = []
    for turn, said in enumerate(choice.user, 1):
        if said.given is None:
            found += [Broken(rule, turn) for rule in dict.fromkeys(prompt.breaks(said.text, user))]
        if not said.text.strip():
            found.append(Broken(NOTHING, turn))
        elif prompt.ends(said.text) and (turn == 1 or not all_met(user.needs, choice.turns)):
            found.append(Broken(EARLY, turn))
    return found


def ended(choice: Choice, prompt: UserPrompt) -> bool:
    """Return whether the user ended the conversation, and not the limit on its turns."""
    return bool(choice.user) and prompt.ends(choice.user[-1].text)


def _shared(text: str, told: str, words: int) -> bool:
    """Return whether a text contains a run of this many words of the instructions."""
    said = " ".join(_words(text))
    own = _words(told)
    return any(f" {' '.join(own[at : at + words])} " in f" {said} " for at in range(len(own) - words + 1))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]

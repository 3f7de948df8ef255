"""A chat model plays the user: its prompt, its messages, when it ends.

    user     Hi, I need a table for Friday.        model    For how many?
    user     Four of us.                           model    Booked: Friday, 7 pm, four.
    user     Great, thanks! [[done]]

The prompt is a file, `user.toml`. The message that ends the conversation is kept and not answered.
Users that models play end too early or never, forget their role, or tell the whole goal at once
(seen of tau-bench's user and others'); so every row keeps all that the user said.
"""

import functools
import pathlib
import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from harness.models import Endpoint
from harness.store import read_toml
from harness.types import Facts, Message, Question, Request, Sampling, User, content_hash

SHIPPED = pathlib.Path(__file__).with_name("user.toml")
_PLACEHOLDERS = re.compile(r"\{(persona|goal|knows|done|stop)\}")

Text = Annotated[str, Meta(min_length=1)]


class UserPrompt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file such as `user.toml`."""

    system: Text
    start: Text
    """What stands in the assistant's place before the first message."""
    brief: Text
    """What a judge is told in place of a question."""
    stop: Text
    """What ends the conversation, on a line or at the end of one."""
    name: str = "user"
    version: str = "1"
    sampling: Sampling = Sampling()

    @property
    def content(self) -> str:
        """The hash of what the model that plays is told."""
        return content_hash(self.system, self.start, self.stop)

    def fill(self, text: str, user: User) -> str:
        """Return a text of the prompt for one user."""
        values = {
            "persona": user.persona,
            "goal": user.goal,
            "knows": "\n".join(f"- {fact}" for fact in user.knows) or "- nothing further",
            "done": user.done,
            "stop": self.stop,
        }
        return _PLACEHOLDERS.sub(lambda match: values[match[1]], text).strip()

    def ends(self, text: str) -> bool:
        """Return whether a message ends the conversation."""
        return self.stop in text or not text.strip()

    def without_stop(self, text: str) -> str:
        """Return a message as the model that answers sees it."""
        return text.replace(self.stop, "").strip()


@functools.cache
def load_prompt(path: pathlib.Path | None = None) -> UserPrompt:
    """Return the prompt in a file, or the shipped one.

    Raises:
        DataError: the file is not what it must be; the message names the key.
    """
    return read_toml(path or SHIPPED, UserPrompt)


class Player(Struct, frozen=True):
    """Who plays the users of a run, and how."""

    endpoint: Endpoint
    prompt: UserPrompt
    seed: int = 0
    most_turns: int | None = None

    def turns(self, user: User) -> int:
        """Return the most turns of a conversation."""
        return user.most_turns if self.most_turns is None else min(user.most_turns, self.most_turns)

    def sampling(self, sample: int) -> Sampling:
        """Return the sampling of one conversation; the same for every model that is compared."""
        return msgspec.structs.replace(self.prompt.sampling, seed=self.seed + sample)

    def stated(self) -> dict[str, Any]:
        """Return a row's field `user`: answers are comparable if it is equal."""
        return {
            "model": self.endpoint.name,
            "prompt": f"{self.prompt.name} {self.prompt.version}",
            "prompt_content": self.prompt.content,
            "stop": self.prompt.stop,
            "sampling": self.sampling(0).stated(),
            **({} if self.most_turns is None else {"most_turns": self.most_turns}),
        }

    def request(
        self, question: Question, messages: Sequence[str], replies: Sequence[str], sample: int
    ) -> Request:
        """Return the request for the user's next message; its own have the assistant's role."""
        assert question.user is not None
        prompt = self.prompt
        chat = [Message("system", prompt.fill(prompt.system, question.user))]
        chat.append(Message("user", prompt.start))
        for message, reply in zip(messages, replies, strict=True):
            chat += [Message("assistant", message), Message("user", reply)]
        facts = Facts(question, len(messages) + 1, answers=[list(replies)], form=prompt.stop)
        sampling = self.sampling(sample)
        return Request(messages=chat, sampling=sampling, to=self.endpoint.name, facts=facts)

"""A request as it arrived, a reply before it takes a provider's form, and two responders that make one of the other."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Protocol: TypeAlias = Literal["chat", "completions", "messages", "models", "other"]
PATHS: Mapping[str, Protocol] = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
    "/v1/messages": "messages",
    "/v1/models": "models",
}


@dataclass
class Asked:
    """One request as it arrived; `status` and `answered` are filled in when its answer has been sent."""

    number: int
    """Order of arrival; the first is 0."""
    arrived: float
    """`time.monotonic()` when all of it was read."""
    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Mapping[str, Any]
    """The JSON body; empty if there was none."""
    tries: int = 0
    """How often this very body had come before."""
    status: int | None = None
    """The status of the answer; 0 if the connection was dropped instead."""
    answered: float | None = None

    @property
    def protocol(self) -> Protocol:
        """Which of the protocols' calls this is."""
        return PATHS.get(self.path.partition("?")[0], "other")

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.body.get("model", ""))

    @property
    def key(self) -> str | None:
        """The key that was sent, in whichever header."""
        bearer = self.headers.get("authorization", "")
        return bearer.removeprefix("Bearer ") or self.headers.get("x-api-key")

    @property
    def texts(self) -> list[str]:
        """The text of every message, the system's first; for a completion, the prompt."""
        if self.protocol == "completions":
            return [str(self.body.get("prompt", ""))]
        system = self.body.get("system")
        messages = self.body.get("messages") or []
        return [text_of(system)] * bool(system) + [text_of(message.get("content")) for message in messages]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that stand for the body."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Said:
    """A reply before it takes a provider's form. None leaves a field as the provider would have it."""

    text: str | None = "Hello."
    reasoning: str | None = None
    """Goes to `message.reasoning_content`, or into a thinking block."""
    finish: str | None = None
    """The provider's own word; None: `stop`, `end_turn`."""
    refusal: str | None = None
    model: str | None = None
    usage: Mapping[str, Any] | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of OpenAI's message."""
    content: list[Mapping[str, Any]] | None = None
    """Anthropic's blocks, or OpenAI's list content, as they are."""
    latency: float | None = None
    """Seconds before it is sent; None: the server's."""


Responder: TypeAlias = Callable[[Asked], "str | Said | Awaitable[str | Said]"]


def text_of(content: Any) -> str:
    """Return a message's text, whether it came as one string or as blocks."""
    if isinstance(content, list):
        return "".join(str(block.get("text", "")) for block in content)
    return str(content or "")


def parrot(asked: Asked) -> str:
    """Return a reply that depends on what was asked and on nothing else."""
    last = " ".join((asked.texts or [""])[-1].split())
    return f"Message {len(asked.texts)} was {last[:80]!r}; this is reply {asked.digest}."


def verdict(asked: Asked) -> str:
    """Return a judgment in the form that the prompt asks for: `[[A]]`, `[[B]]` or `[[C]]`, else a rating of 1 to 10."""
    prompt = "\n".join(asked.texts)
    drawn = int(hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:8], 16)
    if re.search(r"\[\[A\]\]", prompt):
        return f"Both answers were read; this is judgment {asked.digest}. [[{'ABC'[drawn % 3]}]]"
    return f"The answer was read; this is judgment {asked.digest}. Rating: [[{drawn % 10 + 1}]]"

"""A request as it arrived, a reply before it takes a provider's form, and two responders that make one of the other."""

import functools
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Protocol: TypeAlias = Literal["chat", "completions", "messages", "responses", "gemini", "models", "batches", "other"]
PATHS: Mapping[str, Protocol] = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
    "/v1/messages": "messages",
    "/v1/responses": "responses",
    "/v1/models": "models",
}
BATCH_PATH = re.compile(r"/v1/(?:messages/)?(?:files|batches)(?:/|$)")
GEMINI_PATH = re.compile(r"/v1/models/([^/:]+):generateContent")
GEMINI_BATCH_PATH = re.compile(r"/v1/models/[^/:]+:batchGenerateContent|/v1/batches/[^/:]+:cancel")
AZURE_PATH = re.compile(r"/openai/deployments/[^/]+/chat/completions")


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
    raw: bytes = b""
    """A body that is no JSON."""
    tries: int = 0
    """How often this very body had come before."""
    status: int | None = None
    """The status of the answer; 0 if the connection was dropped instead."""
    answered: float | None = None

    @property
    def protocol(self) -> Protocol:
        """Which of the protocols' calls this is."""
        path = self.path.partition("?")[0]
        if BATCH_PATH.match(path) or GEMINI_BATCH_PATH.fullmatch(path):
            return "batches"
        if GEMINI_PATH.fullmatch(path):
            return "gemini"
        return "chat" if AZURE_PATH.fullmatch(path) else PATHS.get(path, "other")

    @property
    def model(self) -> str:
        """The model that is asked."""
        named = GEMINI_PATH.fullmatch(self.path.partition("?")[0])
        return named[1] if named else str(self.body.get("model", ""))

    @property
    def of_google(self) -> bool:
        """Whether Google's SDK sent it: two providers have batches at one path."""
        return "x-goog-api-client" in self.headers

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the body; of Gemini's also those that stand together in one, which are spelt in two ways."""
        config = self.body.get("generationConfig") or {}
        more = {**config, **(config.get("thinkingConfig") or {})}
        return {**self.body, **{re.sub("_([a-z])", lambda m: m[1].upper(), name): more[name] for name in more}}

    @property
    def key(self) -> str | None:
        """The key that was sent, in whichever header."""
        bearer = self.headers.get("authorization", "")
        named = ("x-api-key", "api-key", "x-goog-api-key")
        return bearer.removeprefix("Bearer ") or next((self.headers[one] for one in named if one in self.headers), None)

    @property
    def texts(self) -> list[str]:
        """The text of every message, the system's first; for a completion, the prompt."""
        if self.protocol == "completions":
            return [str(self.body.get("prompt", ""))]
        if self.protocol == "gemini":
            told = [self.body["systemInstruction"]] if "systemInstruction" in self.body else []
            return [text_of(content.get("parts")) for content in (*told, *self.body.get("contents", ()))]
        system = self.body.get("system") or self.body.get("instructions")
        messages = self.body.get("messages") or self.body.get("input") or []
        return [text_of(system)] * bool(system) + [text_of(message.get("content")) for message in messages]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the reply must follow; None if there is none."""
        form = self.body.get("response_format") or (self.body.get("output_config") or {}).get("format")
        form = form or (self.body.get("text") or {}).get("format") or {}
        form = form or {"schema": (self.body.get("generationConfig") or {}).get("responseJsonSchema")}
        schema = (form.get("json_schema") or form).get("schema")
        return schema if isinstance(schema, dict) else None

    @functools.cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that stand for the body."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Said:
    """A reply before it takes a provider's form. None leaves a field as the provider would have it."""

    text: str | None = "Hello."
    reasoning: str | None = None
    """Goes to `message.reasoning_content`, or into a thinking block; Gemini's with a signature in the text's part."""
    finish: str | None = None
    """The provider's own word; None: `stop`, `end_turn`."""
    refusal: str | None = None
    """OpenAI's; or why Gemini blocks the prompt."""
    model: str | None = None
    usage: Mapping[str, Any] | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of OpenAI's message."""
    logprobs: Sequence[tuple[str, Mapping[str, float]]] | None = None
    """Each token with the probabilities of what might stand in its place, itself among them; sent where asked for."""
    content: list[Mapping[str, Any]] | None = None
    """Anthropic's blocks, OpenAI's list content, or Gemini's parts, as they are."""
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


def by_schema(schema: Mapping[str, Any], drawn: int) -> Any:
    """Return a value that a schema allows, chosen by the number drawn."""
    if "enum" in schema:
        return schema["enum"][drawn % len(schema["enum"])]
    if schema.get("type") == "object":
        return {name: by_schema(told, drawn) for name, told in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [by_schema(schema.get("items", {}), drawn)]
    least, most = schema.get("minimum", 1), schema.get("maximum", 5)
    numbers = {"integer": least + drawn % (most - least + 1), "number": least, "boolean": True}
    return numbers.get(str(schema.get("type")), "The answer was read.")


def verdict(asked: Asked) -> str:
    """Return a judgment in the form asked for: by a schema, `[[A]]`, `[[B]]` or `[[C]]`, else a rating of 1 to 10."""
    prompt = "\n".join(asked.texts)
    drawn = int(hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:8], 16)
    if asked.schema is not None:
        return json.dumps(by_schema(asked.schema, drawn))
    if re.search(r"\[\[A\]\]", prompt):
        return f"Both answers were read; this is judgment {asked.digest}. [[{'ABC'[drawn % 3]}]]"
    return f"The answer was read; this is judgment {asked.digest}. Rating: [[{drawn % 10 + 1}]]"

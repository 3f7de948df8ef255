"""Sampling parameters that a model does not accept: detected, repaired by one call, remembered.

A 400 that names an unsupported parameter is repaired by leaving the parameter out, or, for the limit on tokens, by
using its other name. Each parameter is repaired at most once in the life of a model object. No other bad request is
tried again.

Of several refused calls one is repaired and sent; the others wait for its outcome and then use it. A
refusal costs nothing, so calls do not wait for it, except if name and parameters make one likely (a
temperature for OpenAI's reasoning models, or for Anthropic's; a JSON schema for any): then the first call is alone
until it is answered, however long that takes, because the time does not show whether a refusal is coming.
"""

import pathlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from harness.old.errors import ChatError, DataError, UsageError
from harness.old.patterns import late_re
from harness.old.records import Sampling
from harness.old.written import decoded

Parameters: TypeAlias = dict[str, Any]
T = TypeVar("T")

_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_UNSUPPORTED = {
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "unrecognized_parameter",
    "extra_forbidden",
}
_UNDECIDED = {None, "", "400", "invalid_request_error", "bad_request", "BadRequestError"}
_WORDS = late_re(
    r"support|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer|not (?:allowed|permitted|available|accepted)"
    r"|extra inputs|additional properties",
    re.IGNORECASE,
)
_RANGE = late_re(r"\btoo (?:large|small|high|low|long)\b|\bat (?:most|least)\b|\bmust be\b|\bmaximum\b", re.IGNORECASE)


_MESSAGES = {"model", "messages", "prompt", "input", "instructions", "system", "stream", "stream_options", "n", "store"}
_LENGTHS = {"max_tokens", "max_completion_tokens", "max_output_tokens", "logprobs", "top_logprobs"}
_GOOGLES = {"contents", "systemInstruction", "maxOutputTokens", "candidateCount", "responseMimeType", "responseSchema"}
_OURS = _MESSAGES | _LENGTHS | _GOOGLES | {"response_format", "output_config", "text", "tools", "tool_choice"}
"""Fields of a body that the harness fills, or that would change what kind of reply comes."""
_SECRET = late_re(r"auth|api-?key|token|secret|cookie|passw", re.IGNORECASE)
_HEADER = late_re(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_FRAMING = {"content-length", "transfer-encoding"}
"""Headers that state where a call's body ends."""
SCHEMAS = ("response_format", "output_config", "text", "response_json_schema")
"""Fields of a JSON schema; many servers accept none, whatever the model's name."""
_DOUBTFUL = late_re(r"(?:^|/)(?:o[1345](?:-|$)|gpt-[5-9]|claude-)")


class RefusedParameterError(ChatError):
    """A 400 because the model does not take a parameter that was sent."""

    def __init__(self, message: str, *, parameter: str) -> None:
        super().__init__(message, kind="bad request")
        self.parameter = parameter


class Outcome(NamedTuple, Generic[T]):
    """What a call brought, and the parameters that were really sent."""

    value: T
    sent: Parameters


def sampling_of(params: Mapping[str, Any]) -> Sampling:
    """Return parameters given by name, `extra_body.NAME` and `extra_headers.NAME` among them, as a sampling.

    Raises:
        UsageError: there is no such parameter, or its value is not one of its values.
    """
    table: dict[str, Any] = {}
    for name, value in params.items():
        head, dot, field = name.partition(".")
        if dot and head in ("extra_body", "extra_headers"):
            table[head] = {**table.get(head, {}), field: value}
        else:
            table[name] = [value] if name == "stop" and isinstance(value, str) else value
    try:
        return decoded(table, Sampling, pathlib.Path("--param"))
    except DataError as error:
        raise UsageError(f"{error}; other fields of the server are extra_body.NAME=VALUE") from None


def on_the_wire(sampling: Sampling, names: Mapping[str, str]) -> Parameters:
    """Return the stated parameters that a protocol has, by its names, and further fields of the body.

    `names` are a protocol's names by ours. Headers are no part of the body: `RemoteModel` sends them.
    """
    stated = {name: value for name, value in sampling.stated().items() if name in names and name != "extra_headers"}
    more = stated.pop("extra_body", {})
    return {**{names[name]: value for name, value in stated.items()}, **more}


def check_sampling(sampling: Sampling, names: Mapping[str, str], where: str) -> None:
    """Raise `UsageError` if a requested parameter cannot be sent; `where` names the model.

    A seed or a temperature that a protocol does not have is left out; the rows say what was applied.
    """
    stated = sampling.stated()
    lacking = [name for name in stated if name not in names and name not in ("seed", "temperature", "top_p")]
    if lacking and names:
        known = ", ".join(sorted(names))
        raise UsageError(f"{where}: its provider takes no {lacking[0]}; it takes {known} (a field: extra_body.NAME)")
    taken = {*_OURS, *(wire for name, wire in names.items() if name in stated)}
    body = sampling.extra_body or {}
    config = body.get("generationConfig")
    inner = config if isinstance(config, Mapping) else {}
    for name in (*body, *(f"generationConfig.{field}" for field in inner)):
        if name.rpartition(".")[2] in taken:
            raise UsageError(f"{where}: extra_body.{name} would replace what turnbench sends; leave it out")
        if name in Sampling.__slots__ and name in names:
            raise UsageError(f"{where}: extra_body.{name}: give {name} without extra_body")
    for name, value in (sampling.extra_headers or {}).items():
        if _SECRET.search(name):
            raise UsageError(f"{where}: extra_headers.{name} may hold a key; keys come only from the environment")
        if not is_header(name, value):
            raise UsageError(f"{where}: extra_headers.{name} cannot be sent: a header has a name and one line in ASCII")
    if sampling.thinking_budget and sampling.max_tokens and sampling.thinking_budget >= sampling.max_tokens:
        raise UsageError(
            f"{where}: thinking_budget {sampling.thinking_budget} leaves none of the {sampling.max_tokens} tokens "
            "that a reply may have; raise --max-tokens above it"
        )


def is_header(name: str, value: str) -> bool:
    """Return whether this can be sent as a header; else every call would fail, and the server would be blamed."""
    named = _HEADER.fullmatch(name) is not None and name.lower() not in _FRAMING
    return named and value.isascii() and value.isprintable()


def refused_parameter(
    sent: Mapping[str, Any], *, param: str | None, code: str | None, message: str, also: Sequence[tuple[str, str]] = ()
) -> str | None:
    """Return which of the parameters sent a 400 says is not supported; None if it says something else.

    A value out of range is the user's to mend, so a parameter that is only named is not enough: the error's code must
    say that it is unsupported, or, where the code says nothing, its words must. `also` pairs other names that an error
    may give (a header sent for a parameter's sake) with the parameter.
    """
    for other, name in also:
        if name in sent and other in f"{param} {message}":
            return name
    if code not in _UNSUPPORTED and (code not in _UNDECIDED or _RANGE.search(message) or not _WORDS.search(message)):
        return None
    if param:
        last = param.rpartition(".")[2]
        return last if last in sent else None
    places = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message) for name in sent}
    named = [(place.start(), name) for name, place in places.items() if place]
    return min(named)[1] if named else None


def doubtful(model: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a model of this name is likely to refuse one of the parameters."""
    if any(name in asked for name in SCHEMAS):
        return True
    return ("temperature" in asked or "top_p" in asked) and _DOUBTFUL.search(model) is not None


class ParameterMemory:
    """What one model object knows about the parameters that its model accepts."""

    def __init__(self, repairable: frozenset[str], model: str = "") -> None:
        """Know no refusal yet by this model; only a `repairable` parameter may be left out or renamed."""
        self._repairable = repairable
        self._model = model
        self.changes: dict[str, str | None] = {}
        """What was refused, with its other name; None: it is left out."""
        from asyncio import Lock  # who only resolves names and reads samplings waits for nothing

        self._alone = Lock()
        """Held by the one call whose outcome the others wait for."""
        self._doubted = False
        """Whether a call that was likely to be refused has been made."""

    def wire(self, asked: Mapping[str, Any]) -> Parameters:
        """Return the parameters as the model takes them, by all that is known so far."""
        wired: Parameters = {}
        for asked_name, value in asked.items():
            name: str | None = asked_name
            while name in self.changes:
                name = self.changes[name]
            if name is not None:
                wired[name] = value
        return wired

    async def call(self, asked: Mapping[str, Any], send: Callable[[Parameters], Awaitable[T]]) -> Outcome[T]:
        """Return what `send` brought, called with parameters that the model takes.

        Raises:
            RefusedParameterError: the refusal cannot be repaired.
        """
        if not self._doubted and doubtful(self._model, asked):
            self._doubted = True
            async with self._alone:
                return await self._repaired(asked, send)
        while True:
            if self._alone.locked():
                async with self._alone:
                    pass
            sent = self.wire(asked)
            try:
                return Outcome(await send(sent), sent)
            except RefusedParameterError as error:
                refusal = error
            async with self._alone:
                if self.wire(asked) == sent:  # nothing was learnt while this call was waiting
                    if not self.learn(refusal.parameter):
                        raise refusal
                    return await self._repaired(asked, send)

    async def _repaired(self, asked: Mapping[str, Any], send: Callable[[Parameters], Awaitable[T]]) -> Outcome[T]:
        """Return what `send` brought in the end, each refusal repaired on the way."""
        while True:
            sent = self.wire(asked)
            try:
                return Outcome(await send(sent), sent)
            except RefusedParameterError as error:
                if not self.learn(error.parameter):
                    raise

    def learn(self, name: str) -> bool:
        """Return whether there is a repair for this refusal, and remember it."""
        other = _LIMITS.get(name)
        if name not in self._repairable or name in self.changes or other in self.changes:
            return False
        self.changes[name] = other
        return True

"""What an endpoint says when it gives no reply, sorted by its own error field, not by status alone.

    Problem.kind          what becomes of it
    refused prompt        a reply with finish_reason "refused"
    parameter             left out, and asked again; an error if the user typed it
    limit                 max_tokens lowered to what the error states, and asked again
    system role           the system text goes to the head of the first user message
    stream only           asked again as a stream
    no credit, key refused, unknown model, wrong address, …    EndpointError
    rate limit, overload, outage, server error, timeout, …     TransientError
    context too long, bad request                              ChatError

The rules by which they are sorted are in `errors.toml`.
"""

import contextlib
import json
import pathlib
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
import msgspec
from msgspec import Struct

from harness.errors import ChatError, EndpointError, TransientError
from harness.models.endpoint import Endpoint

MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
MOST_SHOWN = 300
"""Characters of them that a message repeats."""


class Kind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of problem."""

    ends: Literal["call", "run"] | None = None
    """None: a later try may succeed."""
    advice: str = ""


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """When a problem is of a kind."""

    kind: str
    status: str = "..."
    """An expression."""
    says: tuple[str, ...] = ()
    """Expressions, one of which the codes and the message contain."""
    answered: bool = False
    """Whether it holds only once the endpoint has given a reply."""

    def holds(self, status: int, words: str, answered: bool) -> bool:
        """Return whether the rule holds."""
        if not re.fullmatch(self.status, str(status)) or (self.answered and not answered):
            return False
        return not self.says or _search(self.says, words) is not None


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `errors.toml`."""

    kinds: dict[str, Kind]
    rules: list[Rule]
    expressions: dict[str, tuple[str, ...]]


_TABLE = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes(), type=_Table)
_WORDS = _TABLE.expressions


def _search(expressions: Sequence[str], text: str) -> re.Match[str] | None:
    return re.search("|".join(expressions), text, re.IGNORECASE)


@dataclass(frozen=True)
class Wire:
    """A request as it is sent."""

    body: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    """What of it the endpoint may refuse, by the protocol's names."""
    headers: dict[str, str] = field(default_factory=dict)
    ask: str = ""
    """Who asks: the request's."""
    system: bool = False
    """Whether there is a system message."""
    notes: tuple[str, ...] = ()
    """What is not as it was asked for."""
    limit: str = "max_tokens"
    """The name of the limit on tokens."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For some parameters other names that an error may give them."""


REPAIRED = frozenset({"refused prompt", "parameter", "limit", "system role", "stream only"})
"""The kinds of problems after which a call is made otherwise, or there is a reply after all."""


@dataclass(eq=False)
class Problem(Exception):  # noqa: N818  (most are repaired)
    """Why a call brought no reply; `error()` is what the rest of the harness is told."""

    kind: str
    message: str = ""
    status: int | None = None
    parameters: tuple[str, ...] = ()
    """Of a kind `parameter`: which ones sent; several if they exclude each other."""
    most: int | None = None
    """Of a kind `limit`: the most tokens of any reply of this model."""
    fit: int | None = None
    """Of a kind `limit`: the most tokens of a reply to this prompt."""
    retry_after: float | None = None

    def error(self, endpoint: Endpoint) -> ChatError:
        """Return the error for one call to an endpoint."""
        text = self.message.rstrip(".")
        if self.kind != "no connection":
            at = f" at {endpoint.base_url}" if endpoint.base_url else ""
            status = "sent " if self.status is None else f"answered {self.status}: "
            text = f"the server{at} {status}{text}".rstrip(": ")
        kind = _TABLE.kinds.get(self.kind, Kind())
        advice = kind.advice.format_map(_advised(endpoint))
        text = "; ".join(filter(None, (f"{endpoint.name}: {text}", advice)))
        if kind.ends is not None:
            error = EndpointError if kind.ends == "run" else ChatError
            return error(text, kind=self.kind, status=self.status)
        return TransientError(
            text, kind=self.kind, status=self.status, retry_after=self.retry_after
        )


def _advised(endpoint: Endpoint) -> dict[str, str]:
    """Return what stands for the placeholders of an advice."""
    address, variable = "the address", endpoint.api_key_env
    compatible = endpoint.provider in ("openai", "openai_responses", "completions")
    if compatible and not urlsplit(endpoint.base_url).path.strip("/"):
        address += f", which usually ends in /v1: {endpoint.base_url}/v1"
    no_key = "no key was sent: name its variable with --api-key-env"
    key = f"check the key in {variable}" if variable else no_key
    return {"model": endpoint.model, "address": address, "key": key}


# Error bodies


@dataclass
class ErrorBody:
    """An error body, whichever of the usual shapes it has."""

    message: str = ""
    words: str = ""
    """The values of code, type, status and reason, and the message; nothing of a page."""
    parameters: list[str] = field(default_factory=list)
    """The parameters that it names in a field of its own."""
    delay: str = ""
    status: int | None = None
    """A status that stands in the body."""


_TEXT_KEYS = ("message", "msg", "detail", "error", "error_message", "title", "raw", "errorMessage")
_CODE_KEYS = ("code", "type", "status", "reason", "object")


def read_error_body(body: Any) -> ErrorBody:
    """Return what an error body says: JSON of any shape, a list, a text, an HTML page.

    >>> read_error_body([{"error": {"message": "no", "code": "rate_limited"}}]).words
    'rate_limited no'
    """
    if isinstance(body, str) and body.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", body[:MOST_SEARCHED], re.I | re.S)
        name = f" ({title[1].strip()})" if title else ""
        return ErrorBody(f"a web page{name}", "a web page")
    error = ErrorBody()
    texts: list[str] = []
    codes: list[str] = []
    for key, value in _leaves(body, "message"):
        if key in ("loc", "param"):
            error.parameters.append(str(value))
        if isinstance(value, int):
            if key in ("code", "status") and 400 <= value < 600:
                error.status = value
        elif key == "retryDelay":
            error.delay = value
        elif key in _CODE_KEYS:
            codes.append(value)
        elif key in (*_TEXT_KEYS, "loc"):
            texts.append(value.strip())
    error.message = "; ".join(dict.fromkeys(filter(None, texts)))[:MOST_SEARCHED]
    error.words = " ".join([*codes, error.message])
    return error


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield every value of an error body with the key under which it stands."""
    if key == "raw" and isinstance(value, str):  # OpenRouter: the provider's own body, as text
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, list) and key == "loc":
        value = ".".join(str(part) for part in value)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield key, value


def redacted(text: str, key: str | None = None) -> str:
    """Return a text on one line, without the key and whatever looks like one, shortened."""
    if key:
        text = text.replace(key, "[key]")
    text = "".join(character if character.isprintable() else " " for character in text)
    text = " ".join(re.sub(_WORDS["key"][0], "[key]", text).split())
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


# Sorting


def problem_of(
    status: int,
    body: Any,
    headers: Mapping[str, str],
    wire: Wire,
    *,
    answered: bool = False,
    key: str | None = None,
) -> Problem:
    """Return what an answer that is no reply means; `body` is its JSON, or its text.

    `answered`: whether the endpoint has given a reply before. `key` is kept out of the message.
    """
    error = read_error_body(body)
    actual = status
    if status < 300:
        actual = error.status or (405 if _search(_WORDS["no_path"], error.words) else 500)
    if status in range(300, 400):
        target = headers.get("location", "").partition("?")[0]
        error.message = f"a redirect to {target}, which is not followed"
    problem = next(
        problem
        for rule in _TABLE.rules
        if rule.holds(actual, error.words, answered)
        and (problem := _problem(rule.kind, error, headers, wire))
    )
    problem.message, problem.status = redacted(error.message, key), status
    return problem


def _problem(kind: str, error: ErrorBody, headers: Mapping[str, str], wire: Wire) -> Problem | None:
    """Return the problem of a kind; None if what was sent, or the error's numbers, exclude it."""
    match kind:
        case "system role" if not wire.system:
            return None
        case "stream only" if "stream" in wire.parameters:
            return None
        case "limit":
            return _limit_problem(error.message, wire.parameters.get(wire.limit))
        case "parameter":
            names = _refused_parameters(error, wire)
            return Problem(kind, parameters=names) if names else None
    return Problem(kind, retry_after=_retry_after(headers, error.delay))


def _limit_problem(text: str, limit: int | None) -> Problem | None:
    """Return the problem of a limit on tokens that is larger than the one that an error states.

    "max_tokens: 100000 > 64000, which is the maximum allowed" is 64,000 for any prompt; "maximum
    context length is 4096 tokens and your request has 60 input tokens" is 4,036 for this one.
    """
    if limit is None:
        return None
    context, prompt = _search(_WORDS["context"], text), _search(_WORDS["prompt"], text)
    if context and prompt:
        room = int(context[1]) - int(prompt[1])
        if room <= 0:
            return Problem("context too long")
        # Some servers count "at least" so many tokens of the prompt, and refuse what they state.
        return Problem("limit", fit=room if room < limit else limit * 3 // 4)
    stated = _search(_WORDS["limit"], text) and _search(_WORDS["most"], text)
    most = int(stated[1]) - ("(exclusive)" in text) if stated else 0
    return Problem("limit", most=most) if 0 < most < limit else None


def _refused_parameters(error: ErrorBody, wire: Wire) -> tuple[str, ...]:
    """Return the parameters that an error refuses: one, or several that exclude each other."""
    expressions = {}
    for name in wire.parameters:
        names = [re.escape(alias) for alias in (name, *wire.aliases.get(name, ()))]
        expressions[name] = "|".join(names).replace("_", "[_ ]?")  # topP is top_p
    for place in error.parameters:
        for part in reversed(re.split(r"[.\[\]]+", place)):
            for name, expression in expressions.items():
                if re.fullmatch(expression, part, re.IGNORECASE):
                    return (name,)
    if not _search(_WORDS["unsupported"], error.words):
        return ()
    places = []
    for name, expression in expressions.items():
        if match := _search([rf"(?<![\w-])(?:{expression})(?![\w-])"], error.message):
            places.append((match.start(), name))
    refused = tuple(name for _, name in sorted(places))
    return refused if _search(_WORDS["exclusive"], error.message) else refused[:1]


def _retry_after(headers: Mapping[str, str], delay: str) -> float | None:
    """Return the seconds that the server wants us to wait, by its header or its error body."""
    for text in (headers.get("retry-after", ""), delay.removesuffix("s")):
        if re.fullmatch(r"\d+(?:\.\d+)?", text):
            return float(text)
    return None


# What the SDKs and their HTTP client raise


def connection_problem(error: BaseException, endpoint: Endpoint) -> Problem | None:
    """Return the problem behind an exception without a status; None if the endpoint has none."""
    chain = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    reasons = [e.strerror for e in chain if isinstance(e, OSError) and e.strerror]
    reason = f" ({reasons[-1].partition(' (_ssl')[0]})" if reasons else ""

    def caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in chain)

    if caused_by(ssl.SSLCertVerificationError):
        return Problem("untrusted certificate", f"a certificate that is not trusted{reason}")
    if caused_by(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
        return Problem("no connection", f"cannot connect to {endpoint.base_url}{reason}")
    if caused_by(httpx2.TimeoutException, TimeoutError):
        return Problem("timeout", f"nothing within {endpoint.timeout:g} s")
    if caused_by(httpx2.TransportError):
        return Problem("outage", "only a part of its answer, or none, and closed the connection")
    if caused_by(httpx2.HTTPError) or isinstance(error, ValueError | RecursionError):
        return Problem("malformed reply", "a body that is cut, too large or no JSON")
    return None

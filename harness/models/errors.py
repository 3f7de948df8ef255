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
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2
import msgspec
from msgspec import Struct

from harness.errors import (
    ChatError,
    EndpointError,
    FailureKind,
    TransientError,
    ends_run,
    is_transient,
)
from harness.models.endpoint import Endpoint

MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
MOST_SHOWN = 300
"""Characters of them that a message repeats."""


ProblemKind: TypeAlias = FailureKind | Literal["refused prompt", "spent limit"]
"""What the problem with a call may be: a kind of failure, or what becomes a reply."""


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """When a problem is of a kind."""

    kind: ProblemKind
    status: str = "..."
    """An expression."""
    says: tuple[str, ...] = ()
    """Expressions, one of which the codes and the message contain."""
    answered: bool | None = None
    """Whether it holds only once the endpoint has given a reply, or only before that."""

    def holds(self, status: int, words: str, answered: bool) -> bool:
        """Return whether the rule holds."""
        if self.answered not in (None, answered) or not re.fullmatch(self.status, str(status)):
            return False
        return not self.says or _search(self.says, words) is not None


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `errors.toml`."""

    advice: dict[FailureKind, str]
    """What the user can do."""
    waits: dict[str, float]
    """The headers that say how long to wait, in this order, each with its unit in seconds."""
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

    kind: ProblemKind
    message: str = ""
    status: int | None = None
    parameters: tuple[str, ...] = ()
    """Of a kind `parameter`: which ones sent; several if they exclude each other."""
    most: int | None = None
    """Of a kind `limit`: the most tokens of any reply of this model."""
    fit: int | None = None
    """Of a kind `limit`: the most tokens of a reply to this prompt."""
    retry_after: float | None = None

    def error(self, endpoint: Endpoint, *, answered: bool = False) -> ChatError:
        """Return the error for one call to an endpoint.

        `answered`: it has given a reply before, so that its refusals may pass.
        """
        text = self.message.rstrip(".")
        if self.kind != "no connection":
            at = f" at {endpoint.base_url}" if endpoint.base_url else ""
            status = "sent " if self.status is None else f"answered {self.status}: "
            text = f"the server{at} {status}{text}".rstrip(": ")
        kind: FailureKind = "bad request"
        if self.kind != "refused prompt" and self.kind != "spent limit":
            kind = self.kind
        advice = _TABLE.advice.get(kind, "").format_map(_advised(endpoint))
        text = "; ".join(filter(None, (f"{endpoint.name}: {text}", advice)))
        if ends_run(kind) and not answered:
            return EndpointError(text, kind=kind, status=self.status)
        if ends_run(kind) or is_transient(kind):
            after = self.retry_after
            return TransientError(text, kind=kind, status=self.status, retry_after=after)
        return ChatError(text, kind=kind, status=self.status)


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


_TEXT_KEYS = (
    "status_msg",
    "message",
    "msg",
    "detail",
    "error",
    "error_message",
    "title",
    "raw",
    "errorMessage",
)
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
        if any(rule.holds(number, error.words, answered) for number in {actual, status})
        and (problem := _problem(rule.kind, error, headers, wire))
    )
    problem.message, problem.status = redacted(error.message, key), status
    return problem


def _problem(
    kind: ProblemKind, error: ErrorBody, headers: Mapping[str, str], wire: Wire
) -> Problem | None:
    """Return the problem of a kind; None if what was sent, or the error's numbers, exclude it."""
    match kind:
        case "system role" if not wire.system:
            return None
        case "stream only" if wire.parameters.get("stream"):
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
    if limit is None or not _search(_WORDS["tokens"], text):
        return None
    context, prompt = _search(_WORDS["context"], text), _search(_WORDS["prompt"], text)
    if context and prompt:
        return _fitting(int(context[1]) - int(prompt[1]), limit)
    numbers = [int(number.replace(",", "")) for number in re.findall(_NUMBER, text)]
    smaller = [number for number in numbers if 1 < number < limit]
    if limit in numbers:  # the number that we sent stands beside a smaller one
        for tokens in smaller:
            if (total := tokens + limit) in numbers:
                rest = Counter(numbers) - Counter([tokens, limit, total])
                if room := max((number for number in rest if number < total), default=0):
                    return _fitting(room - tokens, limit)
        if not smaller and _search(_WORDS["whole"], text):  # the prompt leaves less than that
            return _fitting(limit, limit)
    else:
        stated = _search(_WORDS["limit"], text) and _search(_WORDS["most"], text)
        smaller = [int(stated[1])] if stated else []
    most = max(smaller, default=0) - ("(exclusive)" in text)
    return Problem("limit", most=most) if 0 < most < limit else None


_NUMBER = r"(?<![\w.-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d-]|\.\d)"
"""A number that is not a part of a name, such as a model's."""


def _fitting(room: int, limit: int) -> Problem:
    """Return the problem of a limit for which a prompt leaves so much room."""
    if room <= 0:
        return Problem("context too long")
    # Some servers count "at least" so many tokens of the prompt, and refuse what they state.
    return Problem("limit", fit=room if room < limit else limit * 3 // 4)


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
    """Return the seconds that the server wants us to wait, by its headers or its error body."""
    for name, unit in _TABLE.waits.items():
        if (seconds := _seconds(headers.get(name, ""))) is not None:
            return seconds * unit
    if (seconds := _seconds(delay)) is not None:
        return seconds
    waits = [
        seconds
        for name, text in headers.items()
        if re.fullmatch(_WORDS["reset"][0], name.lower())
        and headers.get(name.lower().replace("reset", "remaining"), "0").strip() == "0"
        and (seconds := _seconds(text)) is not None
    ]
    return max(waits, default=None)


def _seconds(text: str) -> float | None:
    """Return the seconds that a header states: a number, a span, a date or a time.

    >>> _seconds("2.5"), _seconds("6m0s"), _seconds("120ms"), _seconds("soon")
    (2.5, 360.0, 0.12, None)
    """
    text = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        number = float(text)
        if number > 1e9:  # the time itself, in seconds or thousandths, as OpenRouter has it
            number = number / (1000 if number > 1e11 else 1) - time.time()
        return max(0.0, number)
    if re.fullmatch(r"(?:\d+(?:\.\d+)?(?:ms|d|h|m|s))+", text):
        units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
        spans = re.findall(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)", text)
        return sum(float(number) * units[unit] for number, unit in spans)
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with contextlib.suppress(ValueError, TypeError):
            when = read(text)
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            return max(0.0, when.timestamp() - time.time())
    return None


# What the SDKs and their HTTP client raise


def connection_problem(error: BaseException, endpoint: Endpoint) -> Problem | None:
    """Return the problem behind an exception without a status; None if the endpoint has none."""
    import aiohttp

    chain = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    reasons = [e.strerror for e in chain if isinstance(e, OSError) and e.strerror]
    reason = f" ({reasons[-1].partition(' (_ssl')[0]})" if reasons else ""

    def caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in chain)

    # The SDKs turn an error of aiohttp into one of httpx2 that often is another: a server that
    # closes the connection becomes a timeout of connecting. aiohttp's own decides.
    by_aiohttp = caused_by(aiohttp.ClientError)
    refused: tuple[type[BaseException], ...] = (
        (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
        if by_aiohttp
        else (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
    )
    late = (
        (aiohttp.ServerTimeoutError, TimeoutError)
        if by_aiohttp
        else (httpx2.TimeoutException, TimeoutError)
    )
    if caused_by(ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError):
        return Problem("untrusted certificate", f"a certificate that is not trusted{reason}")
    if caused_by(*refused):
        return Problem("no connection", f"cannot connect to {endpoint.base_url}{reason}")
    if caused_by(*late):
        return Problem("timeout", f"nothing within {endpoint.timeout:g} s")
    if by_aiohttp or caused_by(httpx2.TransportError):
        text = "only a part of its answer, or none, and closed the connection"
        return Problem("closed connection", text)
    if caused_by(httpx2.HTTPError) or isinstance(error, ValueError | RecursionError):
        return Problem("malformed reply", "a body that is cut, too large or no JSON")
    return None

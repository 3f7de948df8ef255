"""What an endpoint says when it gives no reply, sorted by its own error field, not by status alone.

    Problem.kind          what becomes of it
    refused prompt        a reply with finish_reason "refused"
    parameter             left out, and asked again; an error if the user typed it
    limit                 max_tokens lowered to what the error states, and asked again
    system role           the system text goes to the head of the first user message
    stream only           asked again as a stream
    no credit, key refused, unknown model, wrong address       EndpointError
    rate limit, overload, outage, server error, timeout, …     TransientError
    context too long, bad request                              ChatError

The expressions were collected from the error texts of OpenAI, Azure, Anthropic, Google, OpenRouter,
Together, Groq, DeepSeek, Alibaba, Zhipu, vLLM, SGLang, TGI, llama.cpp and their templates.
"""

import contextlib
import json
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2

from harness.errors import ChatError, EndpointError, TransientError
from harness.models.endpoint import Endpoint

MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
MOST_SHOWN = 300
"""Characters of them that a message repeats."""

_TRANSIENT = {429: "rate limit", 502: "outage", 503: "overload", 504: "outage", 529: "overload"}
"""Statuses after which a call is tried again; 408, 409, 425 and other 5xx are server errors."""
_FATAL = ("no credit", "key refused", "unknown model", "wrong address", "no log-probabilities")
_FINAL = ("context too long", "bad request", "parameter", "limit", "system role", "stream only")


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# These are searched for in an error's codes and its message.
_CREDIT = _any(
    r"credit balance|(?:in|not )(?:sufficient|enough)[ _](?:balance|funds|credit|quota|account)",
    r"(?:any|no|all available|more|out of) credits?\b|credit limit|arrear|overdue|余额不足|欠费",
    r"spend(?:ing)? limit|billing[ _](?:hard|not|error)|payment[ _]required|exceeded_current_quota",
)
_FILTERED = _any(
    r"\bflagged\b|content[ _](?:management )?(?:policy|filter|blocked)|safety (?:system|filter)",
    r"\bmoderation|usage polic|(?:inappropriate|sensitive|prohibited)[ _](?:content|words?)",
    r"敏感内容|data_?inspection_?failed|violat\w+ .{0,40}(?:polic|terms|guideline)",
)
_BAD_KEY = _any("invalid_api_key|authentication_error|API_KEY_(?:INVALID|EXPIRED)|UNAUTHENTICATED")
_NO_MODEL = _any("model_?not_?found|DeploymentNotFound")
_SYSTEM = _any(
    r"\b(?:system|developer)\W+(?:role|prompt|message|instruction)|\broles?\b",
    r"\buser\W+(?:or|and)\W+assistant\b",
)
_TOO_LONG = _any(
    r"context[ _](?:length|window|size|limit)|maximum context|too many (?:\w+ )?tokens",
    r"(?:prompt|input|request) (?:is )?too (?:long|large)",
    r"input (?:token count|length) .{0,40}exceeds",
)
_UNSUPPORTED = _any(
    r"support|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer|invalid|forbidden",
    r"not (?:allowed|permitted|available|accepted|valid)|cannot|can't|can not|may not|must be",
    r"extra inputs|additional properties|out of range|at (?:most|least)|only one of|exclusive",
    r"too (?:large|small|high|low)",
)
# These in its message alone.
_ABOUT_KEY = _any(
    r"api[ _-]?key|token\b|permission|access|\bauth|account",
    r"region|countr|subscri|project|organi[sz]",
)
_NO_PATH = _any(r"unexpected endpoint|(?:unknown|invalid) (?:endpoint|path|url)")
"""What LM Studio says, with status 200, where /v1 is missing."""
_BOTH = _any(r"\bboth\b|at the same time|together|simultaneously|only one of|exclusive|either")
_LIMIT_NAME = _any(
    r"max_(?:completion_|output_|new_)?tokens|maxOutputTokens|(?:completion|output) tokens"
)
_CONTEXT = _any(
    r"(?:context (?:length|window|size|limit)(?: of| is| for this model is)* ?`?"
    r"|must be <= ?|\d+ \+ \d+ > )(\d+)"
)
_PROMPT = _any(
    r"(\d+)(?:\W*(?:`?inputs?`? tokens|prompt tokens|in (?:the|your) (?:messages|prompt)"
    r"|tokens (?:from|in) the (?:input|prompt|messages))| \+ \d+ > \d+)"
)
_MOST = _any(
    r"(?:at most|up to|less than or equal to|<=|maximum (?:value|allowed)?\D{0,40}?"
    r"|\d > |range[^\d\[]*\[ ?\d+,|\d \(inclusive\) to) ?[`'\"]?(\d+)"
)
_KEYLIKE = re.compile(r"\bsk-[\w*.-]{6,}|\bAIza[\w-]{10,}|(?<![\w-])[\w-]*\*{3,}[\w*-]*")


@dataclass(frozen=True)
class Wire:
    """A request as it is sent."""

    body: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    """What of it the endpoint may refuse, by the protocol's names."""
    headers: dict[str, str] = field(default_factory=dict)
    system: bool = False
    """Whether there is a system message."""
    stream: bool = False
    notes: tuple[str, ...] = ()
    """What is not as it was asked for."""
    limit: str = "max_tokens"
    """The name of the limit on tokens."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For some parameters other names that an error may give them."""

    def pattern(self, parameter: str) -> str:
        """Return an expression for a parameter's names; `topP` is top_p."""
        names = (parameter, *self.aliases.get(parameter, ()))
        return "|".join(re.escape(name).replace("_", "[_ ]?") for name in names)


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
    advice: str = ""

    def error(self, endpoint: Endpoint) -> ChatError:
        """Return the error for one call to an endpoint."""
        text = self.message.rstrip(".")
        if self.kind != "no connection":
            at = f" at {endpoint.base_url}" if endpoint.base_url else ""
            status = "sent " if self.status is None else f"answered {self.status}: "
            text = f"the server{at} {status}{text}".rstrip(": ")
        advice = self.advice or _advice(self.kind, endpoint, text)
        text = "; ".join(filter(None, (f"{endpoint.name}: {text}", advice)))
        if self.kind in _FATAL:
            return EndpointError(text, kind=self.kind, status=self.status)
        if self.kind in _FINAL:
            return ChatError(text, kind=self.kind, status=self.status)
        return TransientError(
            text, kind=self.kind, status=self.status, retry_after=self.retry_after
        )


def _advice(kind: str, endpoint: Endpoint, text: str) -> str:
    if "v1/responses" in text:
        return 'provider = "openai_responses" in turnbench.toml calls it there'
    address = "the address"
    compatible = endpoint.provider in ("openai", "openai_responses", "completions")
    if compatible and not urlsplit(endpoint.base_url).path.strip("/"):
        address += f", which usually ends in /v1: {endpoint.base_url}/v1"
    variable = endpoint.api_key_env
    no_key = "no key was sent: name its variable with --api-key-env"
    by_kind = {
        "no credit": "the account has no credit left: top it up or use another key",
        "key refused": f"check the key in {variable}" if variable else no_key,
        "unknown model": f"check the model's name ({endpoint.model}) and {address}",
        "wrong address": f"check {address}",
        "context too long": "the conversation is too long for this model",
        "timeout": "--timeout sets how long a call may take",
        "no log-probabilities": "scoring by log-probabilities needs an endpoint that returns them;"
        " other judge sets read the text",
    }
    return by_kind.get(kind, "")


# Error bodies


@dataclass
class ErrorBody:
    """An error body, whichever of the usual shapes it has."""

    message: str = ""
    words: str = ""
    """The message, and the values of code, type, status and reason."""
    parameters: list[str] = field(default_factory=list)
    """The parameters that it names in a field of its own."""
    is_page: bool = False
    """Whether it is HTML."""
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
        message = "a web page" + (f" ({title[1].strip()})" if title else "")
        return ErrorBody(message, message, is_page=True)
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
    text = " ".join(_KEYLIKE.sub("[key]", text).split())
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
    if status < 300 and (error.is_page or _NO_PATH.search(error.message)):
        problem = Problem("malformed reply" if answered else "wrong address")
    else:
        status = (error.status or 500) if status < 300 else status
        problem = _sorted(status, error, headers, wire, answered)
    problem.message, problem.status = redacted(error.message, key), status
    return problem


def _sorted(
    status: int, error: ErrorBody, headers: Mapping[str, str], wire: Wire, answered: bool
) -> Problem:
    """Return the problem behind a status and an error body."""
    words = error.words
    if status < 400:
        target = headers.get("location", "").partition("?")[0]
        return Problem("wrong address", advice=f"it redirects to {target}, which is not followed")
    if status == 402 or (status < 500 and _CREDIT.search(words)):
        return Problem("no credit")
    if status < 500 and status not in (401, 404, 408, 429) and _FILTERED.search(words):
        return Problem("refused prompt")
    if status == 401 or _BAD_KEY.search(words):
        return Problem("key refused")
    if status == 403:  # a firewall's says nothing of keys; a key that was good before still is
        about_key = not error.is_page and _ABOUT_KEY.search(error.message)
        return Problem("refused prompt" if answered and not about_key else "key refused")
    if status == 404 and (name := _parameter_field(error, wire)):
        return Problem("parameter", parameters=(name,))
    if status in (404, 405, 410) or _NO_MODEL.search(words):
        model = _NO_MODEL.search(words) or re.search("model|deployment", error.message, re.I)
        if answered and not model:
            return Problem("outage")
        return Problem("unknown model" if status == 404 or model else "wrong address")
    if wire.system and _SYSTEM.search(words):
        return Problem("system role")
    if status in (*_TRANSIENT, 408, 409, 425) or status >= 500:
        kind = _TRANSIENT.get(status, "server error")
        return Problem(kind, retry_after=_retry_after(headers, error.delay))
    if not wire.stream and re.search(r"\bstream", error.message, re.I):
        return Problem("stream only")
    if problem := _limit_problem(error.message, wire.parameters.get(wire.limit)):
        return problem
    if parameters := _refused_parameters(error, wire):
        return Problem("parameter", parameters=parameters)
    return Problem("context too long" if _TOO_LONG.search(words) else "bad request")


def _limit_problem(text: str, limit: int | None) -> Problem | None:
    """Return the problem of a limit on tokens that is larger than the one that an error states.

    "max_tokens: 100000 > 64000, which is the maximum allowed" is 64,000 for any prompt; "maximum
    context length is 4096 tokens and your request has 60 input tokens" is 4,036 for this one.
    """
    if limit is None:
        return None
    context, prompt = _CONTEXT.search(text), _PROMPT.search(text)
    if context and prompt:
        room = int(context[1]) - int(prompt[1])
        if room <= 0:
            return Problem("context too long")
        # Some servers count "at least" so many tokens of the prompt, and refuse what they state.
        return Problem("limit", fit=room if room < limit else limit * 3 // 4)
    stated = _MOST.search(text) if _LIMIT_NAME.search(text) else None
    most = int(stated[1]) - ("(exclusive)" in text) if stated else 0
    return Problem("limit", most=most) if 0 < most < limit else None


def _refused_parameters(error: ErrorBody, wire: Wire) -> tuple[str, ...]:
    """Return the parameters that an error refuses: one, or several that exclude each other."""
    if name := _parameter_field(error, wire):
        return (name,)
    if not _UNSUPPORTED.search(error.words):
        return ()
    places: dict[str, int] = {}
    for name in wire.parameters:
        pattern = rf"(?<![\w-])(?:{wire.pattern(name)})(?![\w-])"
        if match := re.search(pattern, error.message, re.IGNORECASE):
            places[name] = match.start()
    names = sorted(places, key=places.__getitem__)
    return tuple(names) if _BOTH.search(error.message) else tuple(names[:1])


def _parameter_field(error: ErrorBody, wire: Wire) -> str | None:
    """Return the parameter that an error names in a field of its own."""
    for place in error.parameters:
        for part in reversed(re.split(r"[.\[\]]+", place)):
            for name in wire.parameters:
                if re.fullmatch(wire.pattern(name), part, re.IGNORECASE):
                    return name
    return None


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
        message = f"a certificate that is not trusted{reason}"
        advice = "SSL_CERT_FILE names the authorities to trust"
        return Problem("wrong address", message, advice=advice)
    if caused_by(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
        message = f"cannot connect to {endpoint.base_url}{reason}"
        advice = "is the server running, and is the address right?"
        return Problem("no connection", message, advice=advice)
    if caused_by(httpx2.TimeoutException, TimeoutError):
        return Problem("timeout", f"nothing within {endpoint.timeout:g} s")
    if caused_by(httpx2.TransportError):
        return Problem("outage", "only a part of its answer, or none, and closed the connection")
    if caused_by(httpx2.HTTPError) or isinstance(error, ValueError | RecursionError):
        return Problem("malformed reply", "a body that is cut, too large or no JSON")
    return None

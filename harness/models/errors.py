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
import math
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from harness.errors import ChatError, EndpointError, TransientError
from harness.models.endpoint import Endpoint

MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
MOST_SHOWN = 300
"""Characters of them that a message repeats."""

_TRANSIENT = {
    **dict.fromkeys((408, 409, 425), "server error"),
    429: "rate limit",
    **dict.fromkeys((502, 504), "outage"),
    **dict.fromkeys((503, 529), "overload"),
}
"""Statuses after which a call is tried again; every other one from 500 is a server error too."""
_ENDPOINT = {"no credit", "key refused", "unknown model", "wrong address"}
_REPAIRED = {"parameter", "limit", "system role", "stream only"}


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
_STREAM = _any(r"\bstream")
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
    r"context (?:length|window|size|limit)(?: (?:of|is|for this model is))* ?`?(\d+)",
    r"must be <= ?(\d+)|\d+ \+ \d+ > (\d+)",
)
_PROMPT = _any(
    r"(\d+)\W*(?:input tokens|in (?:the|your) (?:messages|prompt)|prompt tokens)",
    r"(\d+)\W*(?:tokens (?:from|in) the (?:input|prompt|messages)|`?inputs`? tokens)",
    r"(\d+) \+ \d+ > \d+",
)
_MOST = _any(
    r"(?:at most|less than or equal to|<=|maximum (?:value|allowed)?[^\d]{0,40}?) ?[`'\"]?(\d+)",
    r"up to (\d+)",
    r"> (\d+), which is the maximum",
    r"range[^\d\[]*\[ ?\d+, ?(\d+) ?\]",
)
_BELOW = _any(r"to (\d+) \(exclusive\)", r"less than [`'\"]?(\d+)")
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
    aliases: tuple[tuple[str, str], ...] = ()
    """Other names that an error may give, each with a parameter that it may mean."""

    def parameter(self, word: str) -> str | None:
        """Return the parameter sent that a word means, if any; `topP` is top_p."""

        def plain(name: str) -> str:
            return name.replace("_", "").lower()

        for alias, name in (*((name, name) for name in self.parameters), *self.aliases):
            if plain(alias) == plain(word) and name in self.parameters:
                return name
        return None


class Problem(Exception):  # noqa: N818  (most are repaired)
    """Why a call brought no reply; `error()` is what the rest of the harness is told."""

    def __init__(
        self,
        kind: str,
        message: str = "",
        *,
        status: int | None = None,
        parameters: tuple[str, ...] = (),
        most: int | None = None,
        fit: int | None = None,
        retry_after: float | None = None,
        unexplained: bool = False,
        advice: str = "",
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.status = kind, message, status
        self.parameters = parameters
        """Of a kind `parameter`: which ones sent; several if they exclude each other."""
        self.most = most
        """Of a kind `limit`: the most tokens of any reply of this model."""
        self.fit = fit
        """Of a kind `limit`: the most tokens of a reply to this prompt."""
        self.unexplained = unexplained
        """Of a 403: it says nothing of keys, and may be about the prompt."""
        self.retry_after, self.advice = retry_after, advice

    def error(self, endpoint: Endpoint) -> ChatError:
        """Return the error for one call to an endpoint."""
        text = self.message.rstrip(".")
        if self.kind != "no connection":
            at = f" at {endpoint.base_url}" if endpoint.base_url else ""
            status = "sent " if self.status is None else f"answered {self.status}: "
            text = f"the server{at} {status}{text}".rstrip(": ")
        advice = self.advice or _advice(self.kind, endpoint, text)
        text = "; ".join(filter(None, (f"{endpoint.name}: {text}", advice)))
        if self.kind in _ENDPOINT:
            return EndpointError(text, kind=self.kind, status=self.status)
        if self.kind in ("context too long", "bad request", *_REPAIRED):
            kind = "bad request" if self.kind in _REPAIRED else self.kind
            return ChatError(text, kind=kind, status=self.status)
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
    }
    return by_kind.get(kind, "")


# Error bodies


class ErrorBody(NamedTuple):
    """An error body, whichever of the usual shapes it has."""

    message: str = ""
    words: str = ""
    """The message, and the values of code, type, status and reason."""
    parameters: tuple[str, ...] = ()
    """The parameters that it names in a field of its own."""
    page: bool = False
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
        return ErrorBody(message, message, page=True)
    texts: list[str] = []
    codes: list[str] = []
    parameters: list[str] = []
    more: dict[str, Any] = {}
    for key, value in _leaves(body, "message"):
        if key in ("loc", "param"):
            parameters.append(str(value))
        elif isinstance(value, int):
            if key in ("code", "status") and 400 <= value < 600:
                more["status"] = value
        elif key == "retryDelay":
            more["delay"] = value
        elif key in _CODE_KEYS:
            codes.append(value)
        elif key in _TEXT_KEYS:
            texts.append(value.strip())
    message = "; ".join(dict.fromkeys(filter(None, texts)))
    names = ", ".join(parameters)
    if names and not all(name.rpartition(".")[2] in message for name in parameters):
        message = f"{names}: {message}"
    message = message[:MOST_SEARCHED]
    return ErrorBody(message, " ".join([*codes, message]), tuple(parameters), **more)


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield every value of an error body with the key under which it stands."""
    if key == "raw" and isinstance(value, str):  # OpenRouter: the provider's own body, as text
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    elif isinstance(value, list) and key == "loc":
        yield key, ".".join(str(part) for part in value)
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
    said = read_error_body(body)
    if status < 300:
        if said.page or _NO_PATH.search(said.message):
            kind = "malformed reply" if answered else "wrong address"
            return Problem(kind, said.message, status=status)
        status = said.status or 500
    kind, details = _sorted(status, said, headers, wire, answered)
    return Problem(kind, redacted(said.message, key), status=status, **details)


def _sorted(
    status: int, said: ErrorBody, headers: Mapping[str, str], wire: Wire, answered: bool
) -> tuple[str, dict[str, Any]]:
    """Return the kind of a problem and what else is known of it."""
    words = said.words
    if status < 400:
        target = headers.get("location", "").partition("?")[0]
        return "wrong address", {"advice": f"it redirects to {target}, which is not followed"}
    if status == 402 or (status < 500 and _CREDIT.search(words)):
        return "no credit", {}
    if status < 500 and status not in (401, 404, 408, 429) and _FILTERED.search(words):
        return "refused prompt", {}
    if status == 401 or _BAD_KEY.search(words):
        return "key refused", {}
    if status == 403:
        unexplained = said.page or not _ABOUT_KEY.search(said.message)
        if unexplained and answered:
            return "refused prompt", {}
        return "key refused", {"unexplained": unexplained}
    if status == 404 and (name := _parameter_field(said, wire)):
        return "parameter", {"parameters": (name,)}
    if status in (404, 405, 410) or _NO_MODEL.search(words):
        named = _NO_MODEL.search(words) or re.search(r"model|deployment", said.message, re.I)
        if answered and not named:
            return "outage", {}
        return "unknown model" if status == 404 or named else "wrong address", {}
    if wire.system and _SYSTEM.search(words):
        return "system role", {}
    if status in _TRANSIENT or status >= 500:
        kind = _TRANSIENT.get(status, "server error")
        return kind, {"retry_after": _retry_after(headers, said.delay)}
    return _bad_request(said, wire)


def _bad_request(said: ErrorBody, wire: Wire) -> tuple[str, dict[str, Any]]:
    """Return which kind of bad request a 4xx is."""
    if not wire.stream and _STREAM.search(said.message):
        return "stream only", {}
    limit = wire.parameters.get(wire.limit)
    if isinstance(limit, int) and (lower := lower_limit(said.message, limit)):
        return "limit", lower
    if "context_length_exceeded" in said.words:
        return "context too long", {}
    if parameters := _refused_parameters(said, wire):
        return "parameter", {"parameters": parameters}
    return "context too long" if _TOO_LONG.search(said.message) else "bad request", {}


def lower_limit(text: str, limit: int) -> dict[str, int] | None:
    """Return the limit on tokens that an error states: `fit` for this prompt, `most` for any.

    >>> lower_limit("max_tokens: 100000 > 64000, which is the maximum allowed", 100000)
    {'most': 64000}
    """
    context, prompt = _number(_CONTEXT, text), _number(_PROMPT, text)
    if context is not None and prompt is not None:
        room = context - prompt
        if room <= 0:
            return None
        # Some servers count "at least" so many tokens of the prompt, and refuse what they state.
        return {"fit": room if room < limit else limit * 3 // 4}
    if not _LIMIT_NAME.search(text):
        return None
    most = _number(_MOST, text)
    if most is None and (below := _number(_BELOW, text)) is not None:
        most = below - 1
    return {"most": most} if most is not None and 0 < most < limit else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return next((int(group) for group in match.groups() if group), None) if match else None


def _refused_parameters(said: ErrorBody, wire: Wire) -> tuple[str, ...]:
    """Return the parameters that an error refuses: one, or several that exclude each other."""
    if name := _parameter_field(said, wire):
        return (name,)
    if not _UNSUPPORTED.search(said.words):
        return ()
    places: dict[str, int] = {}
    for word in (*wire.parameters, *(alias for alias, _ in wire.aliases)):
        name = wire.parameter(word)
        spelt = re.escape(word).replace("_", "[_ ]?")
        match = re.search(rf"(?<![\w-]){spelt}(?![\w-])", said.message, re.IGNORECASE)
        if match and name:
            places[name] = min(match.start(), places.get(name, match.start()))
    named = sorted(places, key=places.__getitem__)
    return tuple(named) if _BOTH.search(said.message) else tuple(named[:1])


def _parameter_field(said: ErrorBody, wire: Wire) -> str | None:
    """Return the parameter that an error names in a field of its own."""
    for place in said.parameters:
        for part in reversed(re.split(r"[.\[\]]+", place)):
            if name := wire.parameter(part):
                return name
    return None


def _retry_after(headers: Mapping[str, str], delay: str) -> float | None:
    """Return the seconds that the server wants us to wait, by its header or its error body."""
    for text in (headers.get("retry-after", ""), delay.removesuffix("s")):
        with contextlib.suppress(ValueError):
            seconds = float(text)
            if math.isfinite(seconds) and seconds >= 0:
                return seconds
    return None


# What the SDKs and their HTTP client raise


def connection_problem(error: BaseException, endpoint: Endpoint) -> Problem | None:
    """Return the problem behind an exception without a status; None if the endpoint has none."""
    import httpx2

    chain = list(_causes(error))
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


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

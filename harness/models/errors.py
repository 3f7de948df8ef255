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
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from harness.errors import ChatError, EndpointError, TransientError
from harness.models.endpoint import Endpoint

MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
MOST_SHOWN = 300
"""Characters of them that a message repeats."""

_TRANSIENT = {
    408: "server error",
    409: "server error",
    425: "server error",
    429: "rate limit",
    502: "outage",
    503: "overload",
    504: "outage",
    529: "overload",
}
"""Statuses after which a call is tried again; every other one from 500 is a server error too."""
_ENDPOINT = {"no credit", "key refused", "unknown model", "wrong address", "proxy refused"}
_REPAIRED = {"parameter", "limit", "system role", "stream only"}

_CREDIT_CODES = {
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_funds",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "payment_required",
    "exceeded_current_quota_error",
    "Arrearage",
    "1113",
}
_CREDIT = re.compile(
    r"credit balance|(?:in|not )(?:sufficient|enough) (?:account )?(?:balance|funds|credits?|quota)"
    r"|\bout of credits?|(?:any|no|all available|more) credits\b|credit limit|in arrears|overdue"
    r"|spend(?:ing)? limit|billing hard limit|余额不足|payment required",
    re.IGNORECASE,
)
_FILTER_CODES = {
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "data_inspection_failed",
    "DataInspectionFailed",
    "content_blocked",
    "moderation_blocked",
    "sensitive_content",
    "1301",
}
_FILTERED = re.compile(
    r"\bflagged\b|content[ _](?:management )?(?:policy|filter)|safety (?:system|filter|guard)"
    r"|\bmoderation\b|usage polic|inappropriate content|sensitive (?:content|words?)"
    r"|prohibited content|violat\w+ .{0,40}(?:polic|terms|guideline)",
    re.IGNORECASE,
)
_KEY_CODES = {
    "invalid_api_key",
    "authentication_error",
    "API_KEY_INVALID",
    "API_KEY_EXPIRED",
    "UNAUTHENTICATED",
}
_KEY = re.compile(
    r"api[ _-]?key|token\b|permission|access|\bauth|account|region|countr|subscri|project"
    r"|organi[sz]",
    re.IGNORECASE,
)
_MODEL_CODES = {"model_not_found", "DeploymentNotFound", "ModelNotFound"}
_NO_PATH = re.compile(
    r"unexpected endpoint|(?:unknown|invalid) (?:endpoint|path|url)", re.IGNORECASE
)
"""What LM Studio says, with status 200, where /v1 is missing."""
_SYSTEM = re.compile(
    r"roles? must alternate"
    r"|\bsystem\b.{0,40}\b(?:not|isn't|un)\W?(?:be )?(?:supported|allowed|enabled|permitted|used)"
    r"|(?:not|n't) support .{0,40}\bsystem\b"
    r"|only .{0,30}\buser\b.{0,30}\bassistant\b.{0,30}roles?"
    r"|should be ['\"`]?user['\"`]? or ['\"`]?assistant"
    r"|(?:invalid|unknown|unexpected) role\W{0,3}['\"`]?system"
    r"|developer instruction",
    re.IGNORECASE,
)
_STREAM = re.compile(
    r"only (?:be )?(?:supports? )?(?:in )?(?:the )?stream"
    r"|supports? (?:only )?stream(?:ing)? (?:mode |requests? |output )?only"
    r"|enable (?:the )?stream|non-?stream\w* .{0,40}(?:not|n't|un)"
    r"|stream\w*['\"`]? (?:mode |parameter )?(?:is|must|should|has to)"
    r" .{0,12}(?:required|true|enabled)"
    r"|stream\s*=\s*true",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context"
    r"|(?:prompt|input|request) (?:is )?too (?:long|large)"
    r"|too many (?:\w+ )?tokens|input token count .{0,40}exceeds|input length .{0,40}exceeds",
    re.IGNORECASE,
)
_LIMIT_NAME = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|maxOutputTokens|(?:completion|output) tokens",
)
_CONTEXT = re.compile(
    r"(?:context (?:length|window|size|limit)(?: (?:of|is|for this model is))*|must be <=) ?`?(\d+)"
    r"|\d+ \+ \d+ > (\d+)"
)
_PROMPT = re.compile(
    r"(\d+)\W*(?:input tokens|in (?:the|your) (?:messages|prompt)|prompt tokens"
    r"|tokens (?:from|in) the (?:input|prompt|messages)|`?inputs`? tokens)"
    r"|(\d+) \+ \d+ > \d+"
)
_MOST = re.compile(
    r"(?:at most|less than or equal to|<=|maximum (?:value|allowed)?[^\d]{0,40}?|up to)"
    r" ?[`'\"]?(\d+)"
    r"|> (\d+), which is the maximum"
    r"|range[^\d\[]*\[ ?\d+, ?(\d+) ?\]"
)
_BELOW = re.compile(r"to (\d+) \(exclusive\)|less than [`'\"]?(\d+)")
_UNSUPPORTED_CODES = {
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "unrecognized_parameter",
    "extra_forbidden",
}
_UNSUPPORTED = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer"
    r"|not (?:allowed|permitted|available|accepted|valid)"
    r"|cannot|can't|can not|may not|invalid|extra inputs|additional properties|out of range"
    r"|must be|at (?:most|least)|too (?:large|small|high|low)|only one of|mutually exclusive",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"\bboth\b|at the same time|together|simultaneously|only one of|mutually exclusive|either",
    re.IGNORECASE,
)
_KEYLIKE = re.compile(r"\bsk-[\w*.-]{6,}|\bAIza[\w-]{10,}|(?<![\w-])[\w-]*\*{3,}[\w*-]*")


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
        connected: bool = True,
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
        self.retry_after, self.connected, self.advice = retry_after, connected, advice

    def error(self, endpoint: Endpoint) -> ChatError:
        """Return the error for one call to an endpoint."""
        at = f" at {endpoint.base_url}" if endpoint.base_url else ""
        said = self.message.rstrip(".")
        if not self.connected:
            text = f"{endpoint.name}: {said}"
        elif self.status is None:
            text = f"{endpoint.name}: the server{at} sent {said}"
        else:
            text = f"{endpoint.name}: the server{at} answered {self.status}"
            text += f": {said}" if said else ""
        if advice := self.advice or _advice(self.kind, endpoint):
            text += f"; {advice}"
        if self.kind in _ENDPOINT:
            return EndpointError(text, kind=self.kind, status=self.status)
        if self.kind in ("context too long", "bad request", *_REPAIRED):
            kind = "bad request" if self.kind in _REPAIRED else self.kind
            return ChatError(text, kind=kind, status=self.status)
        return TransientError(
            text,
            kind=self.kind,
            status=self.status,
            retry_after=self.retry_after,
            connected=self.connected,
        )


def _advice(kind: str, endpoint: Endpoint) -> str:
    variable = endpoint.api_key_env
    by_kind = {
        "no credit": "the account has no credit left: top it up or use another key",
        "key refused": f"check the key in {variable}"
        if variable
        else "no key was sent: name its variable with --api-key-env",
        "unknown model": f"check the model's name ({endpoint.model}) and the address"
        + address_advice(endpoint),
        "wrong address": "check the address" + address_advice(endpoint),
        "proxy refused": "the proxy wants a user and a password",
        "context too long": "the conversation is too long for this model",
        "timeout": "--timeout sets how long a call may take",
    }
    return by_kind.get(kind, "")


def address_advice(endpoint: Endpoint) -> str:
    """Return what is probably missing at the end of an address; empty if nothing is."""
    openai = endpoint.provider in ("openai", "openai_responses", "completions")
    if openai and not urlsplit(endpoint.base_url).path.strip("/"):
        return f", which usually ends in /v1: {endpoint.base_url}/v1"
    return ""


# Error bodies


class ErrorBody(NamedTuple):
    """An error body, whichever of the usual shapes it has."""

    message: str = ""
    codes: frozenset[str] = frozenset()
    """Values of code, type, status and reason."""
    parameters: tuple[str, ...] = ()
    """The parameters that it names in a field of its own."""
    page: bool = False
    """Whether it is HTML."""
    delay: str = ""
    status: int | None = None
    """A status that stands in the body."""


_TEXT_KEYS = ("message", "msg", "detail", "error", "error_message", "title", "raw", "errorMessage")
_CODE_KEYS = ("code", "type", "status", "reason", "object")
_ECHOES = ("input", "ctx", "url", "flagged_input", "request", "content_filter_result")


def read_error_body(body: Any) -> ErrorBody:
    """Return what an error body says: JSON of any shape, a list, a text, an HTML page.

    >>> read_error_body([{"error": {"message": "no", "code": "rate_limited"}}]).message
    'no'
    """
    if isinstance(body, str) and body.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", body[:MOST_SEARCHED], re.I | re.S)
        return ErrorBody("a web page" + (f" ({title[1].strip()})" if title else ""), page=True)
    texts: list[str] = []
    codes: set[str] = set()
    parameters: list[str] = []
    more: dict[str, Any] = {}
    for key, value in _leaves(body, "message", 0):
        if key in ("loc", "param"):
            parameters.append(str(value))
        elif key == "retryDelay":
            more["delay"] = str(value)
        elif isinstance(value, int):
            if key in ("code", "status") and 400 <= value < 600:
                more["status"] = value
        elif key in _CODE_KEYS:
            codes.add(value)
        elif key in _TEXT_KEYS:
            texts.append(value)
    message = "; ".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
    names = ", ".join(dict.fromkeys(parameters))
    if names and not all(name.rpartition(".")[2] in message for name in parameters):
        message = f"{names}: {message}"
    return ErrorBody(message[:MOST_SEARCHED], frozenset(codes), tuple(parameters), **more)


def _leaves(value: Any, key: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield every value of an error body with the key under which it stands."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and key in _TEXT_KEYS:
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if depth > 8:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in _ECHOES:
                yield from _leaves(inner, str(name), depth + 1)
    elif isinstance(value, list):
        if key == "loc":
            yield key, ".".join(str(part) for part in value)
        else:
            for inner in value:
                yield from _leaves(inner, key, depth + 1)
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


class Sent(NamedTuple):
    """What an error may be about."""

    parameters: Mapping[str, Any] = {}
    """The parameters sent, by the protocol's names."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Other names that an error may give, each with a parameter that it may mean."""

    def named(self, word: str) -> str | None:
        """Return the parameter sent that a word means, if any; `topP` is top_p."""

        def plain(name: str) -> str:
            return name.replace("_", "").lower()

        pairs = (*((name, name) for name in self.parameters), *self.aliases)
        meant = (name for alias, name in pairs if plain(alias) == plain(word))
        return next((name for name in meant if name in self.parameters), None)

    limit: str = "max_tokens"
    """The name of the limit on tokens."""
    system: bool = False
    """Whether there was a system message."""
    stream: bool = False
    answered: bool = False
    """Whether the endpoint has given a reply before."""


def problem_of(
    status: int,
    body: Any,
    headers: Mapping[str, str] | None = None,
    sent: Sent | None = None,
    key: str | None = None,
) -> Problem:
    """Return what an answer that is no reply means; `body` is its JSON, or its text."""
    sent = sent or Sent()
    headers = headers or {}
    said = read_error_body(body)
    if status < 300:
        if said.page or _NO_PATH.search(said.message):
            kind = "malformed reply" if sent.answered else "wrong address"
            return Problem(kind, said.message, status=status)
        status = said.status or 500
    message = redacted(said.message, key)
    kind, details = _sorted(status, said, headers, sent)
    return Problem(kind, message, status=status, **details)


def _sorted(
    status: int, said: ErrorBody, headers: Mapping[str, str], sent: Sent
) -> tuple[str, dict[str, Any]]:
    """Return the kind of a problem and what else is known of it."""
    text, codes = said.message, said.codes
    if 300 <= status < 400:
        place = urlsplit(headers.get("location", ""))
        target = f"{place.scheme}://{place.hostname}{place.path}" if place.hostname else place.path
        return "wrong address", {"advice": f"it redirects to {target}, which is not followed"}
    if status == 402 or codes & _CREDIT_CODES or (status < 500 and _CREDIT.search(text)):
        return "no credit", {}
    if status == 407:
        return "proxy refused", {}
    filtered = codes & _FILTER_CODES or _FILTERED.search(text)
    if filtered and status < 500 and status not in (401, 404, 408, 429):
        return "refused prompt", {}
    if status == 401 or codes & _KEY_CODES:
        return "key refused", {}
    if status == 403:
        unexplained = said.page or not _KEY.search(text)
        if unexplained and sent.answered:
            return "refused prompt", {}
        return "key refused", {"unexplained": unexplained}
    if status == 404 and (name := _parameter_field(said, sent)):
        return "parameter", {"parameters": (name,)}
    if codes & _MODEL_CODES or status in (404, 405, 410):
        named = codes & _MODEL_CODES or re.search(r"model|deployment", text, re.I)
        if named or not sent.answered:
            return "unknown model" if status == 404 or named else "wrong address", {}
        return "outage", {}
    if sent.system and _SYSTEM.search(text):
        return "system role", {}
    if status in _TRANSIENT or status >= 500:
        kind = _TRANSIENT.get(status, "server error")
        return kind, {"retry_after": retry_after(headers, said.delay)}
    return _bad_request(said, sent)


def _bad_request(said: ErrorBody, sent: Sent) -> tuple[str, dict[str, Any]]:
    """Return which kind of bad request a 4xx is."""
    text = said.message
    if not sent.stream and _STREAM.search(text):
        return "stream only", {}
    limit = sent.parameters.get(sent.limit)
    if isinstance(limit, int) and (lower := lower_limit(text, limit)):
        return "limit", lower
    if "context_length_exceeded" in said.codes:
        return "context too long", {}
    if parameters := refused_parameters(said, sent):
        return "parameter", {"parameters": parameters}
    return "context too long" if _TOO_LONG.search(text) else "bad request", {}


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
    found = pattern.search(text)
    return next((int(group) for group in found.groups() if group), None) if found else None


def refused_parameters(said: ErrorBody, sent: Sent) -> tuple[str, ...]:
    """Return the parameters that an error refuses: one, or several that exclude each other."""
    if name := _parameter_field(said, sent):
        return (name,)
    if not (said.codes & _UNSUPPORTED_CODES or _UNSUPPORTED.search(said.message)):
        return ()
    places: dict[str, int] = {}
    for word in (*sent.parameters, *(alias for alias, _ in sent.aliases)):
        name = sent.named(word)
        spelt = re.escape(word).replace("_", "[_ ]?")
        found = re.search(rf"(?<![\w-]){spelt}(?![\w-])", said.message, re.IGNORECASE)
        if found and name:
            places[name] = min(found.start(), places.get(name, found.start()))
    named = sorted(places, key=places.__getitem__)
    return tuple(named) if len(named) > 1 and _BOTH.search(said.message) else tuple(named[:1])


def _parameter_field(said: ErrorBody, sent: Sent) -> str | None:
    """Return the parameter that an error names in a field of its own."""
    for place in said.parameters:
        for part in reversed(re.split(r"[.\[\]]+", place)):
            if name := sent.named(part):
                return name
    return None


def retry_after(headers: Mapping[str, str], delay: str = "") -> float | None:
    """Return the seconds that the server wants us to wait, by its headers or its error body."""
    stated = (
        (headers.get("retry-after-ms", ""), 0.001),
        (headers.get("retry-after", ""), 1.0),
        (delay.removesuffix("s"), 1.0),
    )
    for text, unit in stated:
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())


# What the SDKs and their HTTP client raise


def connection_problem(error: BaseException, endpoint: Endpoint) -> Problem | None:
    """Return the problem behind an exception without a status; None if the endpoint has none."""
    import httpx2

    chain = list(_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain):
        return Problem(
            "wrong address",
            f"the certificate of {endpoint.base_url} is not trusted ({_reason(chain)})",
            connected=False,
            advice="SSL_CERT_FILE names the authorities to trust",
        )
    never = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
    if any(isinstance(cause, never) for cause in chain):
        reason = f" ({_reason(chain)})" if _reason(chain) else ""
        return Problem(
            "no connection",
            f"cannot connect to {endpoint.base_url}{reason}",
            connected=False,
            advice="is the server running, and is the address right?",
        )
    if any(isinstance(cause, httpx2.TimeoutException | TimeoutError) for cause in chain):
        return Problem("timeout", f"nothing within {endpoint.timeout:g} s")
    if any(isinstance(cause, httpx2.TransportError) for cause in chain):
        return Problem("outage", "only a part of its answer, or none, and closed the connection")
    if any(isinstance(cause, httpx2.DecodingError) for cause in chain):
        return Problem("malformed reply", "a body that is too large or cannot be unpacked")
    if isinstance(error, ValueError | RecursionError | httpx2.HTTPError):
        return Problem("malformed reply", "a body that is cut or is no JSON")
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _reason(chain: list[BaseException]) -> str:
    """Return the operating system's or TLS library's reason."""
    for cause in reversed(chain):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.partition(" (_ssl")[0]
    return ""

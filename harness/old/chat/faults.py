"""Exceptions of the SDKs, and HTTP statuses, as our errors: by type and status; by words only where one status has
several meanings (400). Retries are decided only here, by `RETRIED`.

    no connection, timeout, a status in RETRIED     TransientError   a later try may succeed
    a 200 whose body is not a reply                   TransientError
    401 to 405, 407, 410, 3xx, no quota             EndpointError    no call can succeed
    400, 413, 422, …                                ChatError        this request would fail again

Two of the SDKs name their exceptions alike, so one function serves both; the third's status comes here, and the rest it
leaves to the transport. With the aiohttp transport they report a refused
connection and a dropped one alike; what really happened is at the end of the chain of causes. Whatever a server says is
cut to `MOST_SEARCHED` characters before any expression looks at it.
"""

import json
import math
import os
import re
import ssl
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from harness.old.chat.endpoint import Endpoint
from harness.old.chat.parameters import RefusedParameterError, refused_parameter
from harness.old.chat.standing import http_date, seconds_until
from harness.old.errors import ChatError, EndpointError, TransientError

MOST_WORDS = 300
"""Characters of a server's own words that an error message repeats."""
MOST_SEARCHED = 4000
"""Characters of a server's own words that are looked at."""
UNKNOWN_MODEL = "unknown model"
"""The kind of error of a 404."""


class Retried(NamedTuple):
    """A status after which a call is tried again."""

    kind: str
    """`rate limit` and `overload`: the endpoint has too many requests. `outage`: it is down. `server error`: it is up,
    but failed on this request."""
    after: float | None = None
    """Seconds to wait if the server states none."""


RETRIED: Mapping[int, Retried] = {
    408: Retried("server error"),
    409: Retried("server error"),
    425: Retried("server error"),
    429: Retried("rate limit"),
    502: Retried("outage"),
    503: Retried("overload"),
    504: Retried("outage"),
    529: Retried("overload"),
}
"""The statuses that are tried again; every other one from 500 is a `server error` too."""

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"}
_KEY_REFUSED = {"API_KEY_INVALID", "API_KEY_EXPIRED"}
"""Google's reasons for a 400 that is about the key."""
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:\w+ )?tokens"
    r"|input token count .{0,40}exceeds",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _](?:management )?(?:policy|filter)|content_policy_violation|safety system", re.IGNORECASE
)
_KEYLIKE = re.compile(r"\bsk-[\w*.-]{6,}|\bAIza[\w-]{10,}|(?<![\w-])[\w-]*\*{3,}[\w*-]*")
_BROKEN_HTTP = {"BadHttpMessage", "ClientPayloadError"}
_NEVER_CONNECTED = {"ConnectError", "ConnectTimeout", "ProxyError", "ClientConnectorError", "ConnectionTimeoutError"}


class OversizedError(ValueError):
    """A reply is larger than any that is read."""


def malformed(endpoint: Endpoint, what: str) -> TransientError:
    """Return the error for a 200 whose body is not a reply."""
    return TransientError(f"{_where(endpoint)} answered with {what}", kind="malformed reply")


def fault_of(
    error: Exception, sdk: ModuleType, endpoint: Endpoint, secrets: Collection[str], silence: float
) -> ChatError | None:
    """Return our error for an exception without a status that a call raised; None if it is not the endpoint's doing.

    `silence` are the seconds that might pass without a byte; of `secrets` see `fault_of_status`.
    """
    for cause in _causes(error):  # one of the SDKs takes either for a broken connection
        if isinstance(cause, OversizedError):
            return malformed(endpoint, str(cause))
        if type(cause).__name__ == "DecodingError":
            return malformed(endpoint, "a body that cannot be unpacked")
    if isinstance(error, named(sdk, "APIConnectionError")):
        late = isinstance(error, named(sdk, "APITimeoutError"))
        return _connection_fault(error, endpoint, secrets, silence, timed_out=late)
    if isinstance(error, TimeoutError):
        return TransientError(
            f"{_where(endpoint)} did not answer within {endpoint.timeout:g} s; a longer timeout may help",
            kind="timeout",
        )
    if isinstance(error, (ValueError, ArithmeticError, RecursionError, named(sdk, "APIResponseValidationError"))):
        return malformed(endpoint, "a body that is cut or is no JSON")
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in {"aiohttp", "httpx", "httpx2"}:
        late = any(cls.__name__ == "TimeoutException" for cls in type(error).__mro__)
        return _connection_fault(error, endpoint, secrets, silence, timed_out=late)
    return None


def named(sdk: ModuleType, name: str) -> Any:
    """Return an exception of an SDK; where it has none of that name, what no exception is."""
    return getattr(sdk, name, ())


def fault_of_status(
    status: int,
    body: Any,
    endpoint: Endpoint,
    *,
    headers: Mapping[str, str] | None = None,
    secrets: Collection[str] = (),
    sent: Mapping[str, Any] | None = None,
    also: Sequence[tuple[str, str]] = (),
) -> ChatError:
    """Return our error for an error status of a call, or of one request of a batch.

    `body` is the error's JSON, or its text. `secrets` are texts that the message must not repeat. `sent` and `also` say
    which parameters a 400 may be about.
    """
    if status < 300:  # one of the SDKs takes for an error what another takes for a reply without a body
        return malformed(endpoint, f"status {status} and no reply")
    detail = _detail(body)
    words = redacted(detail["message"], secrets)
    said = f"{_where(endpoint)} answered {status}" + (f": {words}" if words else "")
    told = headers or {}
    final = _endpoint_fault(status, {detail["code"], detail["type"]}, said, endpoint, told.get("location"))
    if final:
        return final
    retried = RETRIED.get(status, Retried("server error") if status >= 500 else None)
    if retried is not None:
        wait = retry_after(told)
        wait = seconds_until(detail["delay"]) if wait is None else wait
        return TransientError(said, kind=retried.kind, retry_after=retried.after if wait is None else wait)
    if status == 400:
        return _bad_request(said, detail, sent or {}, also)
    return ChatError(said, kind="bad request")


def redacted(text: str, secrets: Collection[str]) -> str:
    """Return the text on one line, without the secrets and whatever looks like a key, shortened."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > 3:
            text = text.replace(secret, "[key]")
    text = "".join(character if character.isprintable() else " " for character in text[:MOST_SEARCHED])
    text = " ".join(_KEYLIKE.sub("[key]", text).split())
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"


def words_of(body: Any, secrets: Collection[str]) -> str:
    """Return the human-readable part of an error body, for our message."""
    return redacted(_detail(body)["message"], secrets)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server wants us to wait: `retry-after-ms`, or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    when = http_date(headers.get("retry-after", ""))
    return None if when is None else max(0.0, (when - datetime.now(UTC)).total_seconds())


def _where(endpoint: Endpoint) -> str:
    """Return the endpoint as messages name it."""
    return (
        f"{endpoint.name}: the server at {endpoint.base_url}" if endpoint.base_url else f"{endpoint.name}: the server"
    )


def _endpoint_fault(
    status: int, codes: Collection[str], said: str, endpoint: Endpoint, location: str | None
) -> EndpointError | None:
    """Return the error that stops the run, if this status or code means that no call can succeed."""
    if status == 402 or _QUOTA.intersection(codes):
        return EndpointError(f"{said}; the account has no credit left: top it up or use another key", kind="no credit")
    if status == 407:
        return EndpointError(f"{said}; the proxy wants a user and a password of its own", kind="proxy refused")
    if status == 404 or "model_not_found" in codes:
        what = f"check the model's name ({endpoint.model}) and the address"
        return EndpointError(f"{said}; {what}", kind=UNKNOWN_MODEL)
    if status in (401, 403) or _KEY_REFUSED.intersection(codes):
        variable = endpoint.api_key_env
        what = f"check the key in {variable}" if variable else "no key was sent: name its variable with --api-key-env"
        return EndpointError(f"{said}; {what}", kind="key refused")
    if 300 <= status < 400:
        where = f" with a redirect to {_place(location)}, which is not followed" if location else ""
        return EndpointError(f"{said}{where}; if that is the right address, make it the base URL", kind="wrong address")
    if status in (405, 410):
        return EndpointError(
            f"{said}; this address does not support the protocol: check the base URL", kind="wrong address"
        )
    return None


def _place(location: str) -> str:
    """Return where a redirect points, without what may be a secret in it: user, password, query."""
    try:
        parts = urlsplit(location[:MOST_SEARCHED])
        host = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
    except ValueError:
        return "an address that is none"
    return redacted(f"{host}{parts.path}", ()) or "nowhere"


def _bad_request(
    said: str, detail: Mapping[str, str], sent: Mapping[str, Any], also: Sequence[tuple[str, str]]
) -> ChatError:
    """Return which kind of bad request a 400 is."""
    code, param, message = (detail[name][:MOST_SEARCHED] for name in ("code", "param", "message"))
    if code == "context_length_exceeded":
        return ChatError(f"{said}; the conversation is too long for this model", kind="context too long")
    if code in ("content_filter", "content_policy_violation"):
        return ChatError(said, kind="content filter")
    refused = refused_parameter(sent, param=param, code=code, message=message, also=also)
    if refused:
        return RefusedParameterError(f"{said}; the model does not take {refused}", parameter=refused)
    if _TOO_LONG.search(message):
        return ChatError(f"{said}; the conversation is too long for this model", kind="context too long")
    if _FILTERED.search(message):
        return ChatError(said, kind="content filter")
    return ChatError(said, kind="bad request")


def _detail(body: Any) -> dict[str, str]:
    """Return message, code, type, param and time to wait of an error body, in whichever of the usual shapes it came."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, Mapping):
        message, fields = inner.get("message") or inner.get("detail"), inner
    elif isinstance(body, Mapping):
        message, fields = str(inner) if isinstance(inner, (str, int, float)) else "", {}
    else:
        text = body if isinstance(body, str) else ""
        message, fields = "an HTML page" if text.lstrip()[:1] == "<" else text, {}
    named = {name: value if isinstance(value := fields.get(name), str) else "" for name in ("code", "type", "param")}
    for more in fields.get("details") or () if isinstance(fields.get("details"), list) else ():  # Google's
        if isinstance(more, Mapping):
            named["code"] = named["code"] or _plain(more.get("reason"))
            named["delay"] = _plain(more.get("retryDelay")) or named.get("delay", "")
    return {"delay": "", **named, "message": _plain(message)}


def _plain(value: Any) -> str:
    """Return a value of an error body as text; empty if it is none that can be shown."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return ""


def _connection_fault(
    error: Exception, endpoint: Endpoint, secrets: Collection[str], silence: float, *, timed_out: bool
) -> TransientError:
    """Return our error for a call that got no complete answer."""
    chain = list(_causes(error))
    reason = next((text for text in (_reason(cause) for cause in reversed(chain)) if text), "")
    because = f" ({redacted(reason, secrets)})" if reason else ""
    if (proxy := _of_proxy(chain)) is not None:
        way = f"{endpoint.name}: the proxy does not lead to {endpoint.base_url or 'the provider'}{proxy or because}"
        return TransientError(
            f"{way}; check what HTTPS_PROXY or HTTP_PROXY names", kind="no connection", connected=False
        )
    what = _breakdown(chain, timed_out=timed_out)
    if what == "no connection":
        return TransientError(
            f"{endpoint.name}: cannot connect to {endpoint.base_url or 'the provider'}{because};"
            " is the server running, and is the address right?",
            kind=what,
            connected=False,
        )
    if what == "timeout":
        return TransientError(
            f"{_where(endpoint)} sent nothing for {silence:g} s; a longer timeout may help", kind=what
        )
    how = (
        "ended its answer early, or sent none that is HTTP"
        if _began(chain)
        else "closed the connection before it answered"
    )
    return TransientError(f"{_where(endpoint)} {how}{because}", kind=what)


def _breakdown(chain: list[Exception], *, timed_out: bool) -> Literal["no connection", "timeout", "outage"]:
    """Return how a connection failed, by the transport's own exception: the SDKs name aiohttp's wrongly."""
    last = [cause for cause in chain if type(cause).__module__.partition(".")[0] == "aiohttp"][-1:] or chain
    names = {cls.__name__ for cause in last for cls in type(cause).__mro__}
    if names & _NEVER_CONNECTED:
        return "no connection"
    late = "ServerTimeoutError" in names if last is not chain else timed_out
    return "timeout" if late else "outage"


def _of_proxy(chain: list[Exception]) -> str | None:
    """Return what a proxy answered where it made no connection, empty if nothing; None: it is not its fault."""
    for cause in chain:
        if type(cause).__name__ == "ClientHttpProxyError":
            return f" (it answered {getattr(cause, 'status', 'something')})"
    refused = next((cause for cause in chain if type(cause).__name__ == "ProxyError"), None)
    if refused is None:
        return None
    status = str(refused)[:3]  # the one transport that says no more than status and reason
    return f" (it answered {status})" if status.isdecimal() else ""


def _began(chain: list[Exception]) -> bool:
    """Return whether anything came over a connection before it broke."""
    kinds = {kind for cause in chain for kind in type(cause).__mro__}
    return any(kind.__name__ in _BROKEN_HTTP or kind.__module__.partition(".")[0] == "h11" for kind in kinds)


def _causes(error: BaseException | None) -> Iterator[Exception]:
    """Yield the exception and what it came from, outermost first."""
    seen: set[int] = set()
    while isinstance(error, Exception) and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, ChatError):
            return  # the caller was handling this one when it called
        error = error.__cause__ or error.__context__


def _reason(cause: Exception) -> str:
    """Return the operating system's or TLS library's reason for a failed connection."""
    if not isinstance(cause, OSError) or not cause.strerror:
        return ""
    if isinstance(cause, ssl.SSLError) or not cause.errno or cause.errno < 0:
        return cause.strerror.partition(" (_ssl")[0]
    return os.strerror(cause.errno)

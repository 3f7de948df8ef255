"""Exceptions of the SDKs as our errors: by type and status; by words only where one status has several meanings (400).

    no connection, timeout, 408, 409, 429, 5xx      TransientError   a later try may succeed
    a 200 whose body is no reply                    TransientError
    401, 402, 403, 404, 405, 410, 3xx, no quota     EndpointError    no call can succeed
    400, 413, 422, …                                ChatError        this request would fail again

Both SDKs name their exceptions alike, so one function serves both. With the aiohttp transport they report a refused
connection and a dropped one alike; what really happened is at the end of the chain of causes.
"""

import json
import math
import os
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

from harness.chat.endpoint import Endpoint
from harness.chat.parameters import RefusedParameterError, refused_parameter
from harness.errors import ChatError, EndpointError, TransientError

MOST_WORDS = 300
"""Characters of a server's own words that an error message repeats."""

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"}
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:\w+ )?tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _](?:management )?(?:policy|filter)|content_policy_violation|safety system", re.IGNORECASE
)
_KEYLIKE = re.compile(r"\bsk-[\w*.-]{6,}|[\w-]*\*{3,}[\w*-]*")
_NEVER_CONNECTED = {"ConnectError", "ConnectTimeout", "ProxyError", "ClientConnectorError", "ConnectionTimeoutError"}


def malformed(endpoint: Endpoint, what: str) -> TransientError:
    """Return the error for a 200 whose body is no reply."""
    return TransientError(f"{_where(endpoint)} answered with {what}", kind="malformed reply")


def fault_of(
    error: Exception,
    sdk: ModuleType,
    endpoint: Endpoint,
    *,
    key: str | None = None,
    sent: Mapping[str, Any] | None = None,
    also: Sequence[tuple[str, str]] = (),
) -> ChatError | None:
    """Return our error for an exception that a call raised; None if it is not the endpoint's doing."""
    if isinstance(error, sdk.APIStatusError):
        return _status_fault(error, endpoint, key=key, sent=sent or {}, also=also)
    if isinstance(error, sdk.APIConnectionError):
        return _connection_fault(error, endpoint, key, timed_out=isinstance(error, sdk.APITimeoutError))
    if isinstance(error, TimeoutError):
        return TransientError(
            f"{_where(endpoint)} did not answer within {endpoint.timeout:g} s; a longer time limit may help",
            kind="timeout",
        )
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, sdk.APIResponseValidationError)):
        return malformed(endpoint, "a body that is cut or is no JSON")
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in {"aiohttp", "httpx", "httpx2"}:
        return _connection_fault(error, endpoint, key, timed_out=False)
    return None


def fault_of_result(
    status: int,
    body: Any,
    endpoint: Endpoint,
    *,
    key: str | None = None,
    sent: Mapping[str, Any] | None = None,
    also: Sequence[tuple[str, str]] = (),
) -> ChatError:
    """Return our error for a request of a batch that came to this status and error body."""
    answer = SimpleNamespace(status_code=status, body=body, response=SimpleNamespace(headers={}))
    return _status_fault(answer, endpoint, key=key, sent=sent or {}, also=also)


def redacted(text: str, key: str | None) -> str:
    """Return the text on one line, without the key and whatever looks like one, shortened."""
    if key and len(key) > 3:
        text = text.replace(key, "[key]")
    text = "".join(character if character.isprintable() else " " for character in text)
    text = " ".join(_KEYLIKE.sub("[key]", text).split())
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"


def words_of(body: Any, key: str | None) -> str:
    """Return what an error body says to a human, fit for a message of ours."""
    return redacted(str(_detail(body).get("message") or ""), key)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server wants us to wait: `retry-after-ms`, or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _where(endpoint: Endpoint) -> str:
    """Return the endpoint as messages name it."""
    return (
        f"{endpoint.name}: the server at {endpoint.base_url}" if endpoint.base_url else f"{endpoint.name}: the server"
    )


def _status_fault(
    error: Any, endpoint: Endpoint, *, key: str | None, sent: Mapping[str, Any], also: Sequence[tuple[str, str]]
) -> ChatError:
    """Return our error for a reply with an error status."""
    status = int(error.status_code)
    detail = _detail(error.body)
    words = words_of(error.body, key)
    said = f"{_where(endpoint)} answered {status}" + (f": {words}" if words else "")
    codes = {str(detail.get("code")), str(detail.get("type"))}
    final = _endpoint_fault(status, codes, said, endpoint)
    if final:
        return final
    if status in (408, 409, 425, 429) or status >= 500:
        kind = {429: "rate limit", 503: "overload", 529: "overload"}.get(status, "outage")
        return TransientError(said, kind=kind, retry_after=retry_after(error.response.headers))
    if status == 400:
        return _bad_request(said, detail, sent, also)
    return ChatError(said, kind="bad request")


def _endpoint_fault(status: int, codes: set[str], said: str, endpoint: Endpoint) -> EndpointError | None:
    """Return the error that stops the run, if this status or code means that no call can succeed."""
    if status == 402 or codes & _QUOTA:
        return EndpointError(f"{said}; the account has no credit left: top it up or use another key", kind="no credit")
    if status == 404 or "model_not_found" in codes:
        what = f"check the model's name ({endpoint.model}) and the address"
        return EndpointError(f"{said}; {what}", kind="unknown model")
    if status in (401, 403):
        variable = endpoint.api_key_env
        what = f"check the key in {variable}" if variable else "no key was sent: name its variable with --api-key-env"
        return EndpointError(f"{said}; {what}", kind="key refused")
    if status in (405, 410) or 300 <= status < 400:
        return EndpointError(
            f"{said}; this address does not speak the protocol: check the base URL", kind="wrong address"
        )
    return None


def _bad_request(
    said: str, detail: Mapping[str, Any], sent: Mapping[str, Any], also: Sequence[tuple[str, str]]
) -> ChatError:
    """Return which kind of bad request a 400 is."""
    code, param = (detail.get(name) if isinstance(detail.get(name), str) else None for name in ("code", "param"))
    message = str(detail.get("message") or "")
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


def _detail(body: Any) -> Mapping[str, Any]:
    """Return message, code, type and param of an error body, in whichever of the usual shapes it came."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            message = inner.get("message") or inner.get("detail")
            return {**inner, "message": message if isinstance(message, str) or message is None else json.dumps(message)}
        return {"message": str(inner)}
    text = body if isinstance(body, str) else ""
    return {"message": "an HTML page" if text.lstrip()[:1] == "<" else text}


def _connection_fault(error: Exception, endpoint: Endpoint, key: str | None, *, timed_out: bool) -> TransientError:
    """Return our error for a call that got no complete answer."""
    chain = list(_causes(error))
    reason = next((text for text in (_reason(cause) for cause in reversed(chain)) if text), "")
    because = f" ({redacted(reason, key)})" if reason else ""
    what = _breakdown(chain, timed_out=timed_out)
    if what == "no connection":
        return TransientError(
            f"{endpoint.name}: cannot connect to {endpoint.base_url or 'the provider'}{because};"
            " is the server running, and the address right?",
            kind=what,
            connected=False,
        )
    if what == "timeout":
        return TransientError(f"{_where(endpoint)} did not answer in time", kind=what)
    return TransientError(f"{_where(endpoint)} closed the connection before it answered{because}", kind=what)


def _breakdown(chain: list[Exception], *, timed_out: bool) -> Literal["no connection", "timeout", "outage"]:
    """Return what befell a connection, by the transport's own exception: the SDKs' words for aiohttp's are wrong."""
    last = [cause for cause in chain if type(cause).__module__.partition(".")[0] == "aiohttp"][-1:] or chain
    names = {cls.__name__ for cause in last for cls in type(cause).__mro__}
    if names & _NEVER_CONNECTED:
        return "no connection"
    late = "ServerTimeoutError" in names if last is not chain else timed_out
    return "timeout" if late else "outage"


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
    """Return the operating system's or the TLS library's word on a failed connection."""
    if not isinstance(cause, OSError) or not cause.strerror:
        return ""
    if isinstance(cause, ssl.SSLError) or not cause.errno or cause.errno < 0:
        return cause.strerror.partition(" (_ssl")[0]
    return os.strerror(cause.errno)

"""What goes over the wire, whichever SDK sends it: no redirect is followed, no header is sent that is not for this
server, and no more of an answer is read than `MOST_BYTES`, however small it was packed.

The SDKs take a client of ours; the hooks here are the last to see a request and the first to see an answer.
"""

import asyncio
import contextlib
import functools
import json
import os
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

import httpx2

from harness.old.chat.faults import OversizedError
from harness.old.chat.keys import check_host
from harness.old.chat.parameters import is_header
from harness.old.chat.standing import Standing
from harness.old.errors import UsageError

MOST_BYTES = 64 * 2**20
"""Bytes of an answer that are read. The largest replies there are, with log-probabilities, have a tenth of it."""
MOST_ERROR_BYTES = 64 * 2**10
"""Bytes of an error that are read; the rest is cut off."""
ERROR_SECONDS = 10.0
"""How long the body of an error is waited for."""
CONNECT_SECONDS = 20.0
"""How long making a connection may take."""

_IDENTIFYING = (
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-goog-user-project",
    "openai-organization",
    "openai-project",
    "cookie",
)
_PROTOCOL = frozenset(
    ("accept", "accept-encoding", "anthropic-version", "connection", "content-length", "content-type", "host")
)
"""Headers without which no call works; they hold no secret."""
_PROXIES = ("http", "https", "socks5", "socks5h")
_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_STREAMED = ("/content", "/results")
"""How the paths of batch results end, which are read line by line and may be of any length."""


class Guard:
    """The hooks of one client."""

    def __init__(
        self,
        standing: Standing,
        credentials: Mapping[str, str] | None,
        foreign: Collection[str],
        limits: Callable[[], httpx2.Timeout],
    ) -> None:
        """`credentials` are the only allowed headers with credentials (None: the SDK's); `foreign`
        names the headers from the environment that are not for this server; `limits` are those of the next call."""
        self._standing = standing
        self._limits = limits
        self._credentials = credentials
        unwanted = {name.lower() for name in foreign} - _PROTOCOL
        self._unwanted = unwanted if credentials is None else unwanted.union(_IDENTIFYING)

    async def request(self, request: httpx2.Request) -> None:
        """Remove from a request what is not for this server, and set our timeout instead of the SDK's."""
        request.extensions["timeout"] = self._limits().as_dict()
        for name in self._unwanted.intersection(map(str.lower, request.headers)):
            del request.headers[name]
        request.headers.update(self._credentials or {})

    async def response(self, response: httpx2.Response) -> None:
        """Record the remaining limits, and bound the size of what is read."""
        self._standing.heard = True
        self._standing.note(response.headers.raw)
        if response.status_code >= 400:
            response.stream = _BoundedError(_decoded(response), MOST_ERROR_BYTES)
        elif not response.request.url.path.endswith(_STREAMED):
            response.stream = _Bounded(_decoded(response), MOST_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer, unpacked, up to a number; more of them is an error."""

    def __init__(self, source: "httpx2.AsyncByteStream | httpx2.Response", most: int) -> None:
        self._source = source
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._source.aiter_bytes() if isinstance(self._source, httpx2.Response) else self._source:
            if len(piece) > self._left:
                self.exceeded()
                yield piece[: self._left]
                return
            self._left -= len(piece)
            yield piece

    def exceeded(self) -> None:
        """Raise the error for more bytes than are read."""
        raise OversizedError(f"more than {MOST_BYTES // 2**20} MiB")

    async def aclose(self) -> None:
        await self._source.aclose()


class _BoundedError(_Bounded):
    """The same of an error, whose status says enough: its bytes end where there are too many of them, where they break
    off or cannot be unpacked, and where they take too long."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = bytearray()
        with contextlib.suppress(httpx2.RequestError, TimeoutError):
            async with asyncio.timeout(ERROR_SECONDS):
                async for piece in super().__aiter__():
                    read += piece
        yield bytes(read)

    def exceeded(self) -> None:
        """Let the bytes end."""


def _decoded(response: httpx2.Response) -> "httpx2.AsyncByteStream | httpx2.Response":
    """Return a response's stream, decompressed if necessary, with its headers adjusted."""
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    packing = response.headers.pop("content-encoding", None)
    if packing is None:
        return stream
    response.headers.pop("content-length", None)
    return httpx2.Response(response.status_code, headers={"content-encoding": packing}, stream=stream)


def time_limits(timeout: float, silence: float | None = None) -> httpx2.Timeout:
    """Return the limits of a call in seconds: `timeout` for the whole of it, of which `silence` may pass without a
    byte."""
    read = timeout if silence is None else min(timeout, silence)
    return httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS), read=read)


@functools.cache
def trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return the TLS context, one for all clients, since reading the certificate authorities takes longest.

    `file` and `folder` are what the environment says of them: where it says something else, that is read.
    """
    return httpx2.create_ssl_context(trust_env=bool(file or folder))


def http_client(transport: Callable[..., Any], guard: Guard, address: str, *, timeout: float) -> Any:
    """Return a client for an SDK, made by `transport`.

    A proxy is never used for this machine's own addresses. `timeout` is the time in seconds for a whole call.

    Raises:
        UsageError: a variable names an invalid proxy; its value may hold a password and is not repeated.
    """
    local = (urlsplit(address).hostname or "") in {"localhost", "127.0.0.1", "::1"}
    if not local:
        _check_proxies()
    return transport(
        timeout=time_limits(timeout),
        trust_env=not local,
        verify=trusted(*(None if local else os.environ.get(name) for name in _AUTHORITIES)),
        follow_redirects=False,
        event_hooks={"request": [guard.request], "response": [guard.response]},
    )


class Line:
    """The address of one SDK's client, and the headers of all its calls."""

    def __init__(self, client: Any, http: Any, path: str) -> None:
        """`http` sends what `client`, an SDK's, would send to this path.

        Raises:
            UsageError: the SDK has found in the environment what no header can hold; it may be a secret.
        """
        self._http = http
        self._url = httpx2.URL(str(client.base_url).rstrip("/") + path, params=dict(client.default_query) or None)
        said = {**client.default_headers, **client.auth_headers}
        named = {name: value for name, value in said.items() if isinstance(value, str)}
        for name, value in named.items():
            if not is_header(name, value):
                what = f"the header {name}, which a variable of the environment sets, cannot be sent"
                raise UsageError(f"{what}: a header is one line in ASCII; correct the variable or unset it")
        self._headers = httpx2.Headers(named)
        """Without those for which the SDK has a mark that they are to be left out."""

    async def post(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx2.Response:
        """Return the server's answer to one call, whatever its status.

        Raises:
            ValueError, TypeError: the body cannot be encoded as JSON.
            httpx2.TransportError: there is no answer, or it is truncated.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        request = httpx2.Request("POST", self._url, headers=self._headers, content=content)
        request.headers.update(headers)
        answer: httpx2.Response = await self._http.send(request)
        return answer


def _check_proxies() -> None:
    """Raise `UsageError` where a variable of the environment names a proxy that cannot be one."""
    for kind, named in getproxies_environment().items():
        if kind not in ("http", "https", "all"):
            continue
        try:
            parts = urlsplit(named if "://" in named else f"http://{named}")
            usable = parts.scheme in _PROXIES and bool(parts.hostname) and parts.port != 0
            check_host(parts.hostname or "")
        except ValueError:
            usable = False
        if not usable or not named.isprintable() or " " in named:
            raise UsageError(
                f"the proxy that {kind.upper()}_PROXY names is not valid: it must look like http://localhost:3128;"
                " correct the variable or unset it"
            )


def has_aiohttp() -> bool:
    """Return whether the SDKs' aiohttp transport can be used; it takes half the time per call."""
    return find_spec("aiohttp") is not None


def json_of(response: httpx2.Response) -> Any:
    """Return the JSON of an answer, whatever type it says that it has; its text if it neither says so nor is JSON.

    Raises:
        ValueError, RecursionError: it is not JSON, or of a kind that nobody can read.
    """
    try:
        return json.loads(response.content)
    except ValueError:
        if "json" in response.headers.get("content-type", "json"):
            raise
    return response.text


def error_of(response: httpx2.Response) -> Any:
    """Return the JSON of an answer with an error status, or its text."""
    try:
        return json.loads(response.text)
    except (ValueError, RecursionError):
        return response.text.strip()


async def lines_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a stream as they arrive, without blank ones; only a newline ends one.

    Raises:
        OversizedError: one is longer than any answer may be.
    """
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        first, *rest = piece.split(b"\n")
        held.append(first)
        size += len(first)
        if size > MOST_BYTES:
            raise OversizedError(f"a line of more than {MOST_BYTES // 2**20} MiB")
        if rest:
            lines = [b"".join(held), *rest[:-1]]
            held, size = [rest[-1]], len(rest[-1])
            for line in lines:
                if line.strip():
                    yield line
    last = b"".join(held)
    if last.strip():
        yield last

"""Answers that come in drops, break off, are packed wrongly or are no HTTP: each fails its call and says how.

They go over the wire as they stand here, to the real SDKs on each of their transports.
"""

import dataclasses
import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pytest

from harness.old.chat import wire
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Reply
from tests.old.chat.test_wire import ask, endpoint_at
from tests.old.protocol.faults import Sent
from tests.old.protocol_server import Fault, ProtocolServer, on_the_wire

LIMIT = 0.15
"""Seconds that a call may take here."""
FOR_EVER = 60.0
Sends: TypeAlias = Callable[[bytes], Iterable[Sent]]


@pytest.fixture(params=["openai aiohttp", "anthropic aiohttp", "completions httpx2", "gemini httpx2"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with three SDKs and on both of their transports."""
    named, transport = str(request.param).split()
    if transport == "httpx2":
        monkeypatch.setattr(wire, "has_aiohttp", lambda: False)
    return named


def head(*lines: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return the beginning of an answer."""
    sized = [] if length is None else [f"content-length: {length}"]
    return "\r\n".join([f"HTTP/1.1 {status}", "content-type: application/json", *sized, *lines, "", ""]).encode()


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    return head(*lines, status=status, length=len(body)) + body


def chunked(body: bytes, *lines: str, size: int = 7, end: bytes = b"0\r\n\r\n") -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    sent = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head("transfer-encoding: chunked", *lines) + sent + end


def packed(how: str, body: bytes) -> bytes:
    return whole(body, f"content-encoding: {how}")


def drops(data: bytes, pause: float, size: int = 1) -> Iterator[Sent]:
    for start in range(0, len(data), size):
        yield data[start : start + size]
        yield pause


def without_end(first: bytes, again: bytes, pause: float = 0.02) -> Iterator[Sent]:
    yield first
    while True:
        yield again
        if pause:
            yield pause


def outcome(provider: str, sends: Sends, timeout: float = 30.0) -> Reply | ChatError:
    """Return what comes of a call that is answered so."""
    with ProtocolServer(faults={0: on_the_wire(sends)}) as server:
        try:
            return ask(dataclasses.replace(endpoint_at(server.url, provider), timeout=timeout))
        except ChatError as error:
            return error


READ = {
    "headers in drops": lambda b: [*drops(whole(b)[:40], 0.002), whole(b)[40:]],
    "body in drops": lambda b: [head(length=len(b)), *drops(b, 0.001, 9)],
    "chunks of one byte": lambda b: [chunked(b, size=1)],
    "chunks with an extension and a trailer": lambda b: [
        chunked(b, size=9999, end=b"0\r\nx-t: 1\r\n\r\n").replace(b"\r\n{", b";a=b\r\n{", 1)
    ],
    "hints before the answer": lambda b: [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n", whole(b)],
    "until the connection is closed": lambda b: [head(), b],
    "HTTP/1.0": lambda b: [head().replace(b"HTTP/1.1", b"HTTP/1.0") + b],
    "gzip": lambda b: [packed("gzip", gzip.compress(b))],
    "gzip in drops": lambda b: [
        head("content-encoding: gzip", length=len(gzip.compress(b))), *drops(gzip.compress(b), 0.001, 9)
    ],
    "gzip in chunks": lambda b: [chunked(gzip.compress(b), "content-encoding: gzip")],
    "gzip twice": lambda b: [packed("gzip, gzip", gzip.compress(gzip.compress(b)))],
    "deflate": lambda b: [packed("deflate", zlib.compress(b))],
    "deflate without its frame": lambda b: [packed("deflate", zlib.compress(b)[2:-4])],
    "a mark of byte order": lambda b: [whole(b"\xef\xbb\xbf" + b)],
    "UTF-16": lambda b: [whole(b.decode().encode("utf-16"))],
    "a charset that nobody knows": lambda b: [whole(b).replace(b"/json", b"/json; charset=klingon", 1)],
    "half a character": lambda b: [whole(b.replace(b"reply", b"reply \\ud800"))],
}  # fmt: skip


@pytest.mark.parametrize("sends", READ.values(), ids=READ.keys())
def test_what_is_whole_is_read_however_it_comes(sends: Sends, provider: str) -> None:
    found = outcome(provider, sends)
    if provider == "gemini" and sends in (READ["a mark of byte order"], READ["UTF-16"]):
        assert isinstance(found, TransientError)  # its SDK decodes the body before it is seen here
        assert found.kind == "malformed reply"
        return
    assert isinstance(found, Reply), found
    assert "this is reply" in found.text
    found.text.encode()


EARLY = "ended its answer early, or sent none that is HTTP"
CLOSED = "closed the connection before it answered"
BROKEN: dict[str, tuple[Sends, str, str]] = {
    "no answer": (lambda b: [], "outage", CLOSED),
    "a reset in place of an answer": (lambda b: [None], "outage", CLOSED),
    "a hint alone": (lambda b: [b"HTTP/1.1 100 Continue\r\n\r\n"], "outage", CLOSED),
    "a reset after the headers": (lambda b: [head(length=len(b)), 0.02, None], "outage", EARLY),
    "a reset in the body": (lambda b: [head(length=len(b)), b[:20], 0.02, None], "outage", EARLY),
    "less than announced": (lambda b: [head(length=len(b) + 5), b], "outage", EARLY),
    "no last chunk": (lambda b: [chunked(b, end=b"")], "outage", EARLY),
    "a chunk that is cut": (lambda b: [chunked(b, size=9999)[:-20]], "outage", EARLY),
    # The sizes are beside the headers: of later ones aiohttp tells nobody, and the call takes its whole time limit.
    "a chunk of no size": (lambda b: [head("transfer-encoding: chunked") + b"zz\r\n" + b], "outage", EARLY),
    "a chunk of a negative size": (lambda b: [head("transfer-encoding: chunked") + b"-1\r\n" + b], "outage", EARLY),
    "a length that is none": (lambda b: [head("content-length: abc"), b], "outage", EARLY),
    "a negative length": (lambda b: [head("content-length: -5"), b], "outage", EARLY),
    "another protocol": (lambda b: [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], "outage", EARLY),
    "a status that is none": (lambda b: [whole(b, status="99999 X")], "outage", EARLY),
    "a header without end": (lambda b: without_end(b"HTTP/1.1 200 OK\r\nx-a: ", b"x" * 2**16, 0), "outage", EARLY),
    "headers without end": (lambda b: without_end(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n" * 5000, 0), "outage", EARLY),
    "nothing packed": (lambda b: [packed("gzip", b"")], "malformed reply", "answered with"),
    "not packed": (lambda b: [packed("gzip", b)], "malformed reply", "answered with a body that cannot be unpacked"),
    "packed otherwise": (
        lambda b: [packed("deflate", gzip.compress(b))], "malformed reply", "answered with a body that cannot be unpack"
    ),
    "packed and cut": (lambda b: [packed("gzip", gzip.compress(b)[:-20])], "malformed reply", "answered with"),
    "packed twice, said once": (
        lambda b: [packed("gzip", gzip.compress(gzip.compress(b)))], "malformed reply", "answered with"
    ),
    "packed, and not said": (lambda b: [whole(gzip.compress(b))], "malformed reply", "answered with"),
    "a part alone": (lambda b: [whole(b[:20], status="206 Partial Content")], "malformed reply", "answered with"),
    "no content": (lambda b: [head(status="204 No Content")], "malformed reply", "answered with"),
    "a stream of events": (
        lambda b: [whole(b"data: " + b + b"\n\n").replace(b"application/json", b"text/event-stream")],
        "malformed reply",
        "answered with",
    ),
    "the reply in a list": (lambda b: [whole(b"[" + b + b"]")], "malformed reply", "answered with"),
    "the reply as a text": (lambda b: [whole(json.dumps(b.decode()).encode())], "malformed reply", "answered with"),
    "a list of a hundred thousand": (lambda b: [whole(b"[" + b"{}," * 10**5 + b"{}]")], "malformed reply", "answered"),
    "the reply twice": (lambda b: [whole(b + b)], "malformed reply", "answered with"),
}  # fmt: skip


@pytest.mark.parametrize(("sends", "kind", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_fails_its_call_and_says_how(sends: Sends, kind: str, words: str, provider: str) -> None:
    found = outcome(provider, sends)
    assert isinstance(found, TransientError), found
    assert (found.kind, found.connected) == (kind, True)
    assert words in str(found)
    assert "\n" not in str(found)


SLOW: dict[str, Sends] = {
    "no byte": lambda b: [FOR_EVER],
    "half a status": lambda b: [b"HTTP/1.1 2", FOR_EVER],
    "headers alone": lambda b: [head(length=len(b)), FOR_EVER],
    "all but a byte": lambda b: [whole(b)[:-1], FOR_EVER],
    "all but the last chunk": lambda b: [chunked(b, end=b""), FOR_EVER],
    "a header without end": lambda b: without_end(b"HTTP/1.1 200 OK\r\nx-a: ", b"x"),
    "hints without end": lambda b: without_end(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a body without end": lambda b: without_end(head(length=10**6), b" "),
    "chunks without end": lambda b: without_end(head("transfer-encoding: chunked"), b"1\r\n \r\n"),
    "a chunk's size without end": lambda b: without_end(head("transfer-encoding: chunked"), b"0"),
    "trailers without end": lambda b: without_end(chunked(b, end=b"0\r\n"), b"x: y\r\n"),
    "gzip without end": lambda b: without_end(
        head("content-encoding: gzip", length=10**6) + gzip.compress(b)[:10], b"\0\0\0\xff\xff"
    ),
}


@pytest.mark.parametrize("sends", SLOW.values(), ids=SLOW.keys())
def test_what_never_ends_is_given_up_in_time(sends: Sends, provider: str) -> None:
    began = time.monotonic()
    found = outcome(provider, sends, LIMIT)
    assert isinstance(found, TransientError), found
    assert found.kind == "timeout"
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(lambda: [b'{"err', FOR_EVER], id="silence"),
        pytest.param(lambda: drops(b" " * 900, 0.02), id="drops"),
        pytest.param(lambda: [b'{"err'], id="the end"),
        pytest.param(lambda: [0.02, None], id="a reset"),
    ],
)
def test_the_status_of_an_error_counts_though_its_body_never_comes(
    rest: Callable[[], Iterable[Sent]], provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "ERROR_SECONDS", 0.1)
    found = outcome(provider, lambda _: [head("retry-after: 7", status="503 Busy", length=999), *rest()])
    assert isinstance(found, TransientError), found
    assert (found.kind, found.retry_after) == ("overload", 7.0)
    assert "answered 503" in str(found)


@pytest.mark.parametrize(
    ("status", "error", "kind"), [(400, ChatError, "bad request"), (401, EndpointError, "key refused")]
)
def test_the_status_of_an_error_counts_though_its_body_cannot_be_unpacked(
    status: int, error: type[ChatError], kind: str, provider: str
) -> None:
    body = b'{"error": {"message": "No."}}'
    found = outcome(provider, lambda _: [whole(body, "content-encoding: gzip", status=f"{status} No")])
    assert (type(found), getattr(found, "kind", None)) == (error, kind)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(
            b"HTTP/1.1 407 Authenticate\r\ncontent-length: 0\r\n\r\n", "(it answered 407)", id="wants a password"
        ),
        pytest.param(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n", "(it answered 403)", id="refuses"),
        pytest.param(b"HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n", "(it answered 502)", id="cannot"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # aiohttp's own, of how the SDKs give it a password
def test_a_proxy_that_makes_no_connection_is_told_from_the_server(
    answer: bytes, words: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProtocolServer(faults=lambda asked: on_the_wire(lambda _: [answer])) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//user:sk-password@"))
        with pytest.raises(TransientError) as caught:
            ask(endpoint_at("https://model.test", provider))
    assert (caught.value.kind, caught.value.connected) == ("no connection", False)
    assert "the proxy does not lead to https://model.test" in str(caught.value)
    assert words in str(caught.value)
    assert "password" not in str(caught.value)


def test_a_proxy_that_is_not_there_is_no_connection(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProtocolServer() as gone:
        pass
    monkeypatch.setenv("HTTPS_PROXY", gone.url)
    with pytest.raises(TransientError, match="Connect") as caught:
        ask(endpoint_at("https://model.test", provider))
    assert (caught.value.kind, caught.value.connected) == ("no connection", False)


def test_a_proxy_between_that_wants_a_password_says_so(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProtocolServer(faults=lambda asked: Fault(407)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with pytest.raises(EndpointError, match=r"answered 407.*; the proxy wants a user and a password of its own"):
            ask(endpoint_at("http://model.test", provider))

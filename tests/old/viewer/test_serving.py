"""Who may ask for what: the gate, the people, the port, and the environment that Gradio sees."""

import asyncio
import pathlib
import re
import socket
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

from harness.old.errors import StorageError, UsageError
from harness.old.records import Mode
from tests.old.small_bench import small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old import store
from viewer.old.app import Views, opening
from viewer.old.context import Context
from viewer.old.hosts import Hosts
from viewer.old.idle import ending_idle
from viewer.old.later import Later
from viewer.old.serving import MOST_BODY, Gate, Opening, begin, free_port, prepare_environment, read_people
from viewer.old.state import State
from viewer.old.store import Store


class Reply(NamedTuple):
    """What the gate lets out."""

    status: int
    headers: dict[str, str]
    body: str


def asked(path: str, *, method: str = "GET", body: Sequence[bytes] = (b"",), **headers: str) -> Reply:
    """Return the reply to a request, which for another host than localhost names it; `body` comes in such parts."""
    sent: list[Any] = []
    left = list(body)
    pairs = [
        (name.replace("_", "-").encode(), value.encode())
        for name, value in {"host": "localhost:7860", **headers}.items()
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html"), (b"referrer-policy", b"unsafe-url")]
        arrived = await receive()
        assert not arrived["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": arrived["body"] or b"page"})

    async def receive() -> dict[str, Any]:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": method, "headers": pairs}
    asyncio.run(Gate(app, Hosts("127.0.0.1"))(scope, receive, send))
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], told, sent[1]["body"].decode())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/theme.css",
        "/assets/index-3a.js",
        "/gradio_api/run/predict",
        "/login",
    ],
)
def test_what_the_page_needs_is_let_through(path: str) -> None:
    assert asked(path).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=/etc/passwd",
        "/file=/etc/passwd",
        "/file/etc/passwd",
        "/gradio_api/upload",
        "/upload",
        "/proxy=https://example.org",
        "/gradio_api/proxy=https://example.org",
        "/gradio_api/stream/1",
        "/component_server",
        "/gradio_api/component_server",
        "/custom_component/a/client/b/c",
        "/monitoring",
        "/gradio_api/info",
        "/gradio_api/heartbeat/a",
        "/gradio_api/queue/join",
        "/gradio_api/queue/data",
        "/gradio_api/api/done",
        "/docs",
        "/openapi.json",
        "/runs",
        "/gradio_api/vibe-code",
        "/assets/../app.py",
        "/static/..%2f..%2fetc/passwd",
        "/assets//etc/passwd/../x",
        "//etc/passwd",
    ],
)
def test_everything_else_is_not_found(path: str) -> None:
    assert asked(path).status == 404


@pytest.mark.parametrize("path", ["/", "/upload"])
def test_every_reply_forbids_what_lies_outside(path: str) -> None:
    headers = asked(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "script-src-attr 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/config", "/gradio_api/run/predict", "/upload", "/robots.txt"])
def test_for_another_host_there_is_one_line_that_says_what_to_do(path: str) -> None:
    reply = asked(path, host="evil.example")
    assert (reply.status, reply.headers["content-type"]) == (403, "text/plain; charset=utf-8")
    assert reply.body.endswith("if that is its own host name, start it with --allow-host evil.example\n")
    assert reply.body.count("\n") == 1


def test_a_call_from_a_page_elsewhere_does_not_reach_gradio() -> None:
    reply = asked("/gradio_api/run/predict", method="POST", origin="https://evil.example")
    assert reply.status == 403
    assert reply.body.startswith("a page of https://evil.example may not send requests to this viewer")
    assert asked("/gradio_api/run/predict", method="POST", origin="http://localhost:7860").body == "page"


def test_a_body_reaches_gradio_as_it_was_sent() -> None:
    assert asked("/login", method="POST", body=[b"a" * 1_000, b"b" * 1_000]).body == "a" * 1_000 + "b" * 1_000


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param([b"x" * (MOST_BODY + 1)], {}, id="in one part"),
        pytest.param([b"x" * 1_000] * 70, {}, id="in parts"),
        pytest.param([b"x"], {"content_length": str(MOST_BODY + 1)}, id="announced"),
        pytest.param([b"x"], {"content_length": "9" * 5_000}, id="announced in a long number"),
        pytest.param([b"x"], {"content_length": "-1"}, id="announced as no number"),
    ],
)
@pytest.mark.parametrize("path", ["/login", "/gradio_api/run/predict", "/gradio_api/upload"])
def test_a_large_body_is_refused_before_anything_reads_it(
    path: str, body: list[bytes], headers: dict[str, str]
) -> None:
    reply = asked(path, method="POST", body=body, **headers)
    assert (reply.status, reply.body) == (413, "a request may have at most 65,536 bytes\n")


def test_a_body_that_ends_early_does_not_reach_gradio() -> None:
    assert asked("/login", method="POST", body=[]).status == 400


def test_a_body_that_does_not_arrive_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.old.serving.MOST_SECONDS", 0.0)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    scope = {"type": "http", "path": "/login", "method": "POST", "headers": [(b"host", b"localhost")]}
    asyncio.run(Gate(never, Hosts("127.0.0.1"))(scope, never, send))
    assert sent[0]["status"] == 408


class Cycle:
    """A request and its reply."""

    response_complete = False


class Connection:
    """What uvicorn's class for connections has of what is looked at."""

    cycle: Cycle | None = None

    def __init__(self) -> None:
        self.closed = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def abort(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("asks", "replied", "closed"),
    [
        pytest.param(False, False, True, id="asks nothing"),
        pytest.param(True, True, True, id="asks no more"),
        pytest.param(True, False, False, id="waits for a reply"),
    ],
)
def test_a_connection_that_asks_nothing_is_closed(asks: bool, replied: bool, closed: bool) -> None:
    async def look() -> bool:
        connection = ending_idle(Connection, 0.0)()
        connection.cycle = Cycle() if asks else None
        if connection.cycle:
            connection.cycle.response_complete = replied
        connection.connection_made(connection)
        for _ in range(10):
            await asyncio.sleep(0)
        return bool(connection.closed)

    assert asyncio.run(look()) is closed


def test_search_engines_are_asked_to_stay_away() -> None:
    assert asked("/robots.txt").body == "User-agent: *\nDisallow: /\n"


def test_no_websocket_is_opened() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def nothing(*_: Any) -> Any:
        raise AssertionError("the gate is open")

    asyncio.run(Gate(nothing, Hosts("127.0.0.1"))({"type": "websocket", "path": "/", "headers": []}, nothing, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_people_are_read_one_a_line(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("# ours\nann:pass:word\n\n bo : x \n", encoding="utf-8")
    assert read_people(file) == [("ann", "pass:word"), ("bo", " x ")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("ann:a\nsecret\n", r"people\.txt:2: must be name:password", id="no colon"),
        pytest.param("ann:\n", r"people\.txt:1: must be name:password", id="no password"),
        pytest.param(":secret\n", r"people\.txt:1: must be name:password", id="no name"),
        pytest.param("ann:a\n\n ann :secret\n", r"people\.txt:3: ann is named twice", id="twice"),
        pytest.param("", "contains no names; each line must be name:password", id="empty"),
        pytest.param("\n# ann:secret\n", "contains no names", id="nobody"),
    ],
)
def test_a_wrong_line_is_named_and_not_repeated(text: str, message: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        read_people(file)
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(not pathlib.Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_without_an_end_is_no_file_of_names() -> None:
    with pytest.raises(UsageError, match="/dev/zero: is larger than 16 MiB"):
        read_people(pathlib.Path("/dev/zero"))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: pathlib.Path) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes("ann:schl\xfcssel\n".encode("latin-1"))
    for file, why in ((tmp_path / "gone.txt", "No such file"), (tmp_path, "Is a directory"), (latin, "not UTF-8")):
        with pytest.raises(UsageError, match=why) as caught:
            read_people(file)
        assert str(file) in str(caught.value)
        assert "schl" not in str(caught.value)


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_taken_port_is_known_at_once_whatever_the_address(taken: int) -> None:
    for host in ("127.0.0.1", "localhost", "0.0.0.0"):
        with pytest.raises(StorageError, match=f"cannot listen on {host}:{taken}, which is taken; choose another"):
            free_port(host, taken)


def test_the_first_free_port_is_taken_and_a_full_range_is_said(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.old.serving._PORTS", range(taken, taken + 1))
    with pytest.raises(StorageError, match=f"cannot listen on 127.0.0.1: the ports {taken} to {taken} are taken"):
        free_port("127.0.0.1", None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        after = other.getsockname()[1]
    monkeypatch.setattr("viewer.old.serving._PORTS", [taken, after])
    assert free_port("127.0.0.1", None) == after


@pytest.mark.parametrize("host", ["192.0.2.1", "box.example", "host..name"])
def test_an_address_that_is_not_this_machines_is_known_at_once(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = socket.getaddrinfo

    def without_network(name: str, *more: Any, **named: Any) -> Any:
        if name == "box.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return looked_up(name, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", without_network)
    with pytest.raises(StorageError, match=f"cannot listen on {host}:1234 .*; choose another with --port or --host"):
        free_port(host, 1234)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, "127.0.0.1,localhost,::1", id="none"),
        pytest.param({"NO_PROXY": "a.example"}, "a.example,127.0.0.1,localhost,::1", id="some"),
        pytest.param({"NO_PROXY": "*"}, "*", id="all"),
    ],
)
def test_no_proxy_stands_between_the_viewer_and_itself(before: dict[str, str], after: str) -> None:
    environment = dict(before)
    prepare_environment(environment)
    assert environment["NO_PROXY"] == after
    assert environment["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_gradio_is_told_by_the_environment_only_what_users_may_say() -> None:
    kept = {"GRADIO_ROOT_PATH": "/x", "GRADIO_SHARE_SERVER_ADDRESS": "a:1", "HOME": "/h"}
    others = {
        "GRADIO_SERVER_NAME": "0.0.0.0",
        "GRADIO_DEBUG": "1",
        "GRADIO_WATCH_DIRS": ".",
        "GRADIO_ALLOWED_PATHS": "/",
    }
    environment = {**kept, **others}
    prepare_environment(environment)
    assert kept.items() <= environment.items()
    assert not others.keys() & environment.keys()


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_the_first_tables_are_made_before_anybody_asks(
    mode: Mode, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, made = Later.get, list[str]()

    def get(later: Later, key: Hashable, what: str, make: Callable[..., Any], **how: Any) -> Any:
        made.append(what)
        return whole(later, key, what, make, **{**how, "patience": 60})

    monkeypatch.setattr(Later, "get", get)
    folder = small_bench(tmp_path).folder / "model_judgment"
    write(folder / "j_single.jsonl", [grade(1, "a", 4)])
    write(folder / "j_pair.jsonl", [pair(1, "a", "b", "model_1", "model_1")])
    context = Context(Store(tmp_path, ["small"]))
    begin(context)
    assert "computing the report on position" in made
    monkeypatch.setattr(store, "_result", lambda *_, **__: pytest.fail("it is made again"))
    assert context.store.result(State(bench="small", mode=mode), intervals=False).rows()


def test_nothing_to_show_is_nothing_to_begin(tmp_path: pathlib.Path) -> None:
    begin(Context(Store(tmp_path / "absent", ["small"])))


def page_of(path: str, query: str = "", view: Callable[[str], str] | None = None) -> str:
    """Return what `Opening` sends where the app behind it sends a page in two parts."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", b"39")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<html><head></head><body>", "more_body": True})
        await send({"type": "http.response.body", "body": b"</body></html>"})

    async def receive() -> Any:
        pytest.fail("the request has no body")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": "GET", "query_string": query.encode()}
    asyncio.run(Opening(app, "<style></style>", view)(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent)
    assert dict(sent[0]["headers"])[b"content-length"] == str(len(body)).encode()
    return body.decode()


def test_the_page_comes_with_its_view_as_a_string_that_nothing_in_it_ends() -> None:
    def view(address: str) -> str:
        return f"</script><script>é\ud800{address}"

    shown = '<script>turnbench.opening("\\u003c/script>\\u003cscript>\\u00e9\\ud800?tab=find")</script>'
    page = "<html><head><style></style></head><body>{}</body></html>"
    assert page_of("/", "tab=find", view) == page.format(shown)
    assert page_of("/", "tab=find") == page.format("")
    assert page_of("/config", "tab=find", view) == "<html><head></head><body></body></html>"


def test_the_page_before_the_scripts_says_what_the_view_says(tmp_path: pathlib.Path) -> None:
    folder = small_bench(tmp_path).folder / "model_judgment"
    write(folder / "j_single.jsonl", [grade(1, "<script>a", 4)])
    views = Views(Context(Store(tmp_path, ["small"])))
    page = opening(views, "?tab=find")
    assert "&lt;script&gt;a" in page
    assert "<script>a" not in page
    assert re.search(r'<a href="[^"]*tab=find[^"]*" aria-current="true">Find</a>', page)

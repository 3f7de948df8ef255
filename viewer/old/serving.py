"""The viewer's server: its address, its users, and the requests that it allows.

Requests reach Gradio through a gate. It refuses those that are for another host or come from a page of another site
(`hosts`), and knows the few addresses that the page needs; every other one, such as those that read files, take uploads
or speak for other hosts, is not found. Each reply tells the browser to load, run and send nothing from or to elsewhere,
so that a fault in the escaping of a text would still do nothing, and to show the page in no frame of another.

What a request brings is limited before anything else, since Gradio reads all of it before it looks at the password; and
a connection that asks nothing is closed (`idle`).
"""

import asyncio
import contextlib
import errno
import json
import os
import pathlib
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from harness.old.errors import StorageError, TurnbenchError, UsageError
from harness.old.jsonl import size_of
from harness.old.records import MODES
from harness.old.written import MOST_BYTES
from viewer.old import search
from viewer.old.context import Context
from viewer.old.hosts import Hosts
from viewer.old.idle import ending_idle
from viewer.old.later import NotYet
from viewer.old.limited import TooLong, get_ready
from viewer.old.state import State
from viewer.old.store import AHEAD, JudgmentFile, Kind, kind_of

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_BODY = 65_536
"""The most bytes that the body of a request may have."""
MOST_SECONDS = 20.0
"""Seconds that a request may take to arrive, and that a connection may ask nothing."""
_LOOK = 0.1
"""Seconds between two looks whether a table is there."""
_OPEN = re.compile(  # no queue, which the page does without, and no heartbeat, which lasts as long as anybody wants
    r"/|/(?:config|theme\.css|favicon\.ico|manifest\.json|login|logout)/?"
    r"|/gradio_api/(?:startup-events|run/[\w-]+)/?"
    r"|/(?:assets|static|svelte)/[\w./@+~-]+"
)
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; script-src-attr 'none'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; media-src 'none'; "
        "connect-src 'self'; object-src 'none'; frame-src 'none'; child-src 'none'; worker-src 'self' blob:; "
        "base-uri 'self'; form-action 'self'; manifest-src 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_HERE = pathlib.Path(__file__).parent
_LOOPBACK = "127.0.0.1,localhost,::1"
_PORTS = range(7860, 7960)
_OF_USERS = {"GRADIO_ROOT_PATH", "GRADIO_SHARE_SERVER_ADDRESS", "GRADIO_TEMP_DIR"}
"""What users may tell Gradio by the environment. The rest is for writers of apps, and would change what is served."""


class Gate:
    """Lets through what the page needs, and says to the browser what it may do."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reply that it is refused or that there is no such address."""
        if scope["type"] == "websocket":  # the page opens none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def told(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                named = {name.encode(): value.encode() for name, value in _HEADERS.items()}
                others = [pair for pair in message.get("headers", []) if pair[0].lower() not in named]
                message = {**message, "headers": [*others, *named.items()]}
            await send(message)

        path = scope["path"]
        try:
            receive = await _received(scope, receive)
        except _Refused as refused:
            await _reply(told, refused.status, str(refused))
            return
        if refusal := self.hosts.refusal(scope["method"], scope["headers"]):
            await _reply(told, 403, refusal)
        elif path == "/robots.txt":
            await _reply(told, 200, "User-agent: *\nDisallow: /")
        elif _OPEN.fullmatch(path) and ".." not in path:
            await self.app(scope, receive, told)
        else:
            await _reply(told, 404, "not found")


class Opening:
    """Puts what is the viewer's own into Gradio's page: its style and script and, unless there are passwords, the view
    that the address leads to, which can then be read while the browser reads Gradio's scripts.
    """

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], head: str, view: Callable[[str], str] | None
    ) -> None:
        """`view` is None where whoever has not said the password is shown this page as well."""
        self.app, self.head, self.view = app, head, view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and, if it is for the page, the page with what is put into it."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        sent: list[MutableMapping[str, Any]] = []

        async def held(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, held)
        page = b"".join(message.get("body", b"") for message in sent)
        page = page.replace(b"</head>", f"{self.head}</head>".encode())
        if self.view is not None:
            query = scope.get("query_string", b"").decode("latin-1")
            # As a string, which the script sets as HTML: so no script runs in it, were there any.
            shown = json.dumps(await asyncio.to_thread(self.view, f"?{query}")).replace("<", "\\u003c")
            page = page.replace(b"</body>", f"<script>turnbench.opening({shown})</script></body>".encode())
        headers = [pair for pair in sent[0]["headers"] if pair[0].lower() != b"content-length"]
        await send({**sent[0], "headers": [*headers, (b"content-length", str(len(page)).encode())]})
        await send({"type": "http.response.body", "body": page})


class _Refused(Exception):  # noqa: N818  (a reply, not a fault)
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def _received(scope: Scope, receive: Receive) -> Receive:
    """Return what gives the body of a request again, which has arrived as a whole.

    Raises:
        _Refused: it is larger than `MOST_BODY`, or took longer than `MOST_SECONDS`.
    """
    too_large = _Refused(413, f"a request may have at most {MOST_BODY:,} bytes")
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 9 or int(length) > MOST_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(MOST_SECONDS):
            message = await receive()
            while True:
                if message["type"] != "http.request":
                    raise _Refused(400, "the request ended early")
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    raise too_large
                if not message.get("more_body"):
                    break
                message = await receive()
    except TimeoutError:
        raise _Refused(408, "the request took too long to arrive") from None
    messages = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return again


async def _reply(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def read_people(path: pathlib.Path) -> list[tuple[str, str]]:
    """Return the names and passwords in a file, one `name:password` a line; lines with # in front are left out.

    Raises:
        UsageError: the file cannot be read, or a line has no colon; no password is repeated in the message.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise UsageError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no file of names is")
        lines = text.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})") from None
    people: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, password = line.partition(":")
        name = name.strip()
        if not (name and colon and password):
            raise UsageError(f"{path}:{number}: must be name:password")
        if name in people:
            raise UsageError(f"{path}:{number}: {name} is named twice; remove one of the lines")
        people[name] = password
    if not people:
        raise UsageError(f"{path} contains no names; each line must be name:password")
    return list(people.items())


def prepare_environment(environment: MutableMapping[str, str]) -> None:
    """Set what Gradio reads before it is imported: no analytics, and no proxy on the way to this machine itself."""
    for name in [name for name in environment if name.startswith("GRADIO_") and name not in _OF_USERS]:
        del environment[name]
    environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    environment["HF_HUB_OFFLINE"] = "1"
    for name in ("NO_PROXY", "no_proxy"):
        there = environment.get(name, "")
        environment[name] = f"{there},{_LOOPBACK}" if there and there != "*" else there or _LOOPBACK


class Served(NamedTuple):
    """A viewer that is being served."""

    address: str
    port: int
    hosts: Hosts
    """The names that it answers for; more can be allowed."""
    app: Any
    """The running Gradio app; `close()` ends it."""


def serve(
    context: Context,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    people: list[tuple[str, str]] | None = None,
    allowed: Iterable[str] = (),
) -> Served:
    """Serve the viewer beside the caller, and return where.

    Args:
        context: what is shown.
        host: the address to listen on.
        port: the port; None takes the first free one from 7860.
        people: names and passwords of those who may see it; None lets everyone who reaches it.
        allowed: further host names, other than those of this machine.

    Raises:
        StorageError: the port is taken, or the address is not this machine's.
        UsageError: an allowed name is not a host name.
    """
    hosts = Hosts(host, allowed)
    port = free_port(host, port)
    # Whoever opens the page finds what it shows first made, or begun; Gradio takes seconds until it serves.
    threading.Thread(target=begin, args=(context,), daemon=True).start()
    try:
        app, address = _launched(context, host, port, people, hosts)
    except BaseException:  # Ctrl-C too ends what has begun
        context.store.later.close()
        raise
    app.server.config.http_protocol_class = ending_idle(app.server.config.http_protocol_class, MOST_SECONDS)
    return Served(address, port, hosts, app)


def _launched(
    context: Context, host: str, port: int, people: list[tuple[str, str]] | None, hosts: Hosts
) -> tuple[Any, str]:
    """Return Gradio's app, being served, and its address.

    Raises:
        StorageError: the port is taken.
    """
    prepare_environment(os.environ)
    import gradio as gr
    from starlette.middleware import Middleware

    from viewer.old.app import Views, build, opening

    style, script = (_HERE.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    views = Views(context)
    app = build(views)
    head = f"<style>{style}</style><script>{script}</script>"
    view = None if people else partial(opening, views)
    try:
        _, address, _ = app.queue(default_concurrency_limit=8, api_open=False).launch(
            server_name=f"[{host.strip('[]')}]" if ":" in host else host,
            server_port=port,
            share=False,  # Gradio's own way loads the page's script from elsewhere; see viewer.old.tunnel
            quiet=True,
            ssr_mode=False,
            run_history=False,
            footer_links=[],
            prevent_thread_lock=True,
            allowed_paths=[],
            auth=people,
            show_error=False,
            inbrowser=False,
            enable_monitoring=False,
            theme=gr.themes.Default(),
            app_kwargs={
                "middleware": [Middleware(Gate, hosts=hosts), Middleware(Opening, head=head, view=view)],
                **_NO_DOCUMENTS,
            },
        )
    except OSError:
        raise StorageError(_taken(host, port)) from None
    return app, address


def begin(context: Context) -> None:
    """Make what views show first of files that take seconds: the tables of all modes, what Find lists and searches, and
    the first report on a judge.

    One by one, or the page itself would wait; what is made of the same file together, which then is read once.
    """
    from viewer.old.filters import judgments_of
    from viewer.old.tabs.judge import first_report

    get_ready()
    store = context.store
    kinds: tuple[Kind, ...] = ("single", "pair")
    for kind in kinds:
        for mode in [mode for mode in MODES if kind_of(mode) == kind]:
            with contextlib.suppress(TurnbenchError):
                state = State(bench=store.bench("").name, mode=mode)
                _make(partial(store.result, state, intervals=False), [store.judgment_file(state)])
        with contextlib.suppress(TurnbenchError):
            bench = store.bench("")
            _make(partial(judgments_of, context, bench, kind), store.judgment_files(bench, kind))
    with contextlib.suppress(TurnbenchError, TooLong):
        search.get_ready(file.path for file in store.judgment_files(store.bench("")))
    with contextlib.suppress(TurnbenchError):
        _make(partial(first_report, context), store.judgment_files(store.bench(""), "pair"))


def _make(make: Callable[[], object], files: Sequence[JudgmentFile]) -> None:
    """Have something made and wait until it is; nothing of no file, and nothing of much."""
    if not files or sum(size_of(file.path) for file in files) > AHEAD:
        return
    while True:
        try:
            make()
            return
        except NotYet:
            time.sleep(_LOOK)


def free_port(host: str, port: int | None) -> int:
    """Return the port if it can be listened on, or, for None, the first one from 7860 that can.

    Gradio looks only whether a port is free on 127.0.0.1, and waits five seconds at each that is not.

    Raises:
        StorageError: there is none, or the address is not this machine's.
    """
    for candidate in _PORTS if port is None else (port,):
        if _can_listen(host, candidate) and _can_listen("127.0.0.1", candidate):
            return candidate
    raise StorageError(_taken(host, port))


def _can_listen(host: str, port: int) -> bool:
    try:
        places = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, place in places:
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":  # elsewhere it would let two servers share a port
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
    except (OSError, UnicodeError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            return False
        what = (getattr(error, "strerror", None) or str(error)).lower()
        raise StorageError(f"cannot listen on {host}:{port} ({what}); choose another with --port or --host") from None
    return True


def _taken(host: str, port: int | None) -> str:
    if port is None:
        return f"cannot listen on {host}: the ports {_PORTS[0]} to {_PORTS[-1]} are taken; choose another with --port"
    return f"cannot listen on {host}:{port}, which is taken; choose another with --port or --host"


_NO_DOCUMENTS: Mapping[str, None] = {"docs_url": None, "redoc_url": None, "openapi_url": None}

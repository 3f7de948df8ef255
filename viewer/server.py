"""The viewer's server: whom it answers, what a browser may do with its pages, and where it listens.

Requests reach Gradio through `Guard`. It answers only for the viewer's own host names (a name of
somebody else's that leads to this machine is DNS rebinding) and to its own page; it knows the few
addresses that the page needs, and no file, upload or other host is behind one of them. Each reply
tells the browser to load, run and send nothing from or to elsewhere, so a fault in escaping a text
would still do nothing.
"""

import asyncio
import contextlib
import errno
import hmac
import html
import ipaddress
import os
import pathlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.errors import StorageError, UsageError

MOST_BODY = 65_536
"""Bytes of a request's body."""
TRIES, WAIT = 5, 30.0
"""Wrong passwords for a name, and the seconds after them in which none is looked at."""
_PORTS = range(7860, 7960)
_OPEN = re.compile(
    r"/|/(?:config|theme\.css|favicon\.ico|manifest\.json|login|logout)/?"
    r"|/gradio_api/(?:startup-events|run/[\w-]+)/?"
    r"|/(?:assets|static|svelte)/[\w./@+~-]+"
)
"""Addresses of Gradio that the page needs."""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="1"><link rel="icon" href="data:,"><title>turnbench</title>
<style>body {{ font: 16px system-ui, sans-serif; margin: 2em; color-scheme: light dark }}</style>
</head><body><h1>turnbench</h1><p role="status">One moment: {}…</p></body></html>
"""
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "script-src-attr 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self' data:; media-src 'none'; connect-src 'self'; object-src 'none'; "
        "frame-src 'none'; worker-src 'self' blob:; base-uri 'self'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Guard:
    """Middleware that lets through what the page needs."""

    def __init__(self, app: ASGIApp, hosts: "Hosts") -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        app, headers, path = self.app, Headers(scope=scope), scope["path"]
        if refusal := self.hosts.refusal(scope["method"], headers):
            app = _refused(403, refusal)
        elif not _OPEN.fullmatch(path) or ".." in path:
            app = _refused(404, "not found")
        elif _too_large(headers):
            app = _refused(413, f"a request may have at most {MOST_BODY:,} bytes")
        await app(scope, receive, guarded)


def _too_large(headers: Headers) -> bool:
    """Return whether a body is too large, or does not say how large it is."""
    length = headers.get("content-length", "0")
    is_stated = "transfer-encoding" not in headers and length.isdecimal() and len(length) < 10
    return not is_stated or int(length) > MOST_BODY


def _refused(status: int, text: str) -> ASGIApp:
    return PlainTextResponse(f"{text}\n", status, {"connection": "close"})


class Starting:
    """What answers until there is an app: a page that says what is going on and loads itself again.

    The app's own start (ASGI's "lifespan") comes with the first request to it.
    """

    def __init__(self, progress: Callable[[], str]) -> None:
        self.app: Any = None
        """Gradio's, as soon as it is there."""
        self._progress = progress
        self._stack, self._first = contextlib.AsyncExitStack(), asyncio.Lock()
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass a request on."""
        app = self.app
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif app is not None:
            async with self._first:
                if not self._has_begun:
                    await self._stack.enter_async_context(app.router.lifespan_context(app))
                    self._has_begun = True
            await app(scope, receive, send)
        elif scope["path"] == "/":
            page = _PAGE.format(html.escape(self._progress() or "starting"))
            await HTMLResponse(page, headers={"cache-control": "no-store"})(scope, receive, send)
        else:
            await _refused(503, "starting")(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            event = (await receive())["type"]
            if event == "lifespan.shutdown":
                with contextlib.suppress(Exception):
                    await self._stack.aclose()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return


class Hosts:
    """The host names that the viewer answers for."""

    def __init__(self, listens_on: str, allowed: Iterable[str] = ()) -> None:
        """A viewer that others can reach answers for IP addresses too: rebinding needs a name."""
        address = listens_on.strip("[]").lower()
        self.beyond = not is_loopback(address)
        machine = {socket.gethostname().lower()} if self.beyond else set()
        self.names = {"localhost", address, *machine, *(name.lower() for name in allowed)}

    def refusal(self, method: str, headers: Headers) -> str | None:
        """Return why a request is refused, in one line; None if it is answered."""
        name = _host_of(f"//{headers.get('host', '')}")
        is_address = self.beyond and _address(name) is not None
        if not (name in self.names or is_loopback(name) or is_address):
            advice = f"if that is its name, start it with --allow-host {name}" if name else ""
            return f"this viewer does not serve {name or 'requests without a host'}; {advice}"
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is None and origin is not None:  # no TLS from another machine: browsers say less
            same = _host_of(origin) in {name, *self.names}
            site = "same-origin" if same else "cross-site"
        followed = method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
        if site in (None, "same-origin", "none") or followed:
            return None
        return "a page of another site may not send requests to this viewer; see --allow-host"


def _host_of(address: str) -> str:
    """Return the host name of an address in small letters; "" if it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    """Return whether only this machine itself is reached by a name."""
    address = _address(name)
    return name == "localhost" if address is None else address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


class People:
    """Names and passwords; after five wrong ones for a name none is looked at for a while."""

    def __init__(self, path: pathlib.Path) -> None:
        """Read a file of lines `name:password`; lines that begin with # are comments.

        Raises:
            UsageError: it cannot be read, or a line is something else; no password is repeated.
        """
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8"
            raise UsageError(f"{path}: cannot be read ({reason})") from None
        self.passwords: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, _, password = line.partition(":")
            if not name.strip() or not password or name.strip() in self.passwords:
                raise UsageError(f"{path}:{number}: must be name:password, each name once")
            self.passwords[name.strip()] = password
        if not self.passwords:
            raise UsageError(f"{path}: holds no line name:password")
        self._wrong: dict[str, tuple[int, float]] = {}

    def __call__(self, name: str, password: str) -> bool:
        """Return whether somebody may come in."""
        wrong, last = self._wrong.get(name, (0, 0.0))
        waits = wrong >= TRIES and time.monotonic() - last < WAIT
        if waits or name not in self.passwords:
            return False
        if hmac.compare_digest(self.passwords[name].encode(), password.encode()):
            self._wrong.pop(name, None)
            return True
        self._wrong[name] = wrong + 1, time.monotonic()
        return False


class Served(NamedTuple):
    """A viewer that answers."""

    address: str
    close: Callable[[], None]


def serve(
    build: Callable[[], tuple[Any, str]],
    *,
    progress: Callable[[], str] = lambda: "",
    opened: Callable[[str], None] = lambda address: None,
    host: str = "127.0.0.1",
    port: int | None = None,
    people: People | None = None,
    allowed: Iterable[str] = (),
) -> Served:
    """Serve a Gradio app beside the caller.

    Args:
        build: returns the app, and HTML for the head of its page.
        progress: what is going on until then, in words.
        opened: is told the address, which answers before there is an app.
        host: the address to listen on.
        port: None takes the first free one from 7860, 0 any.
        people: who may see it; None: everyone who reaches it.
        allowed: further host names to answer for.

    Raises:
        StorageError: the port is taken, or the address is not this machine's.
    """
    host = host.strip("[]")
    listener = _listener(host, port)
    import uvicorn

    starting = Starting(progress)
    config = uvicorn.Config(Guard(starting, Hosts(host, allowed)), ws="none", log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)

    def close() -> None:
        server.should_exit = True
        thread.join(timeout=5)

    name = "localhost" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listener.getsockname()[1]}/"
    opened(address)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gradio as gr
    from fastapi import FastAPI

    blocks, head = build()
    starting.app = gr.mount_gradio_app(
        FastAPI(),
        blocks,
        "/",
        auth=people,
        head=head,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
    )
    return Served(address, close)


def _listener(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in _PORTS if port is None else (port,):
        try:
            return socket.create_server((host, candidate), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                reason = str(error.strerror).partition(" (")[0].lower()
                message = f"cannot listen on {host}:{candidate} ({reason}); see --host"
                raise StorageError(message) from None
    which = f"{port}, which is" if port else f"{_PORTS[0]} to {_PORTS[-1]}, which are"
    raise StorageError(f"cannot listen on {host}:{which} taken; choose another --port")

"""The viewer's server: whom it answers, what a browser may do with its pages, and where it listens.

Requests reach Gradio through `Guard`. It answers only for the viewer's own host names (a name of
somebody else's that leads to this machine is DNS rebinding) and to its own page; it knows the few
addresses that the page needs, and no file, upload or other host is behind one of them. Each reply
tells the browser to load, run and send nothing from or to elsewhere, so a fault in escaping a text
would still do nothing.
"""

import hmac
import ipaddress
import os
import pathlib
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from harness.errors import StorageError, UsageError

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

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

    def __init__(self, app: Callable[..., Awaitable[None]], hosts: "Hosts") -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket":  # the page opens none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name.encode(): value.encode() for name, value in _HEADERS.items()}
                theirs = [
                    pair for pair in message.get("headers", []) if pair[0].lower() not in ours
                ]
                message = {**message, "headers": [*theirs, *ours.items()]}
            await send(message)

        headers = {
            name.decode("latin-1").lower(): v.decode("latin-1") for name, v in scope["headers"]
        }
        path = scope["path"]
        if refusal := self.hosts.refusal(scope["method"], headers):
            await _reply(guarded, 403, refusal)
        elif not _OPEN.fullmatch(path) or ".." in path:
            await _reply(guarded, 404, "not found")
        elif _too_large(headers):
            await _reply(guarded, 413, f"a request may have at most {MOST_BODY:,} bytes")
        else:
            await self.app(scope, receive, guarded)


def _too_large(headers: dict[str, str]) -> bool:
    """Return whether a body is too large, or does not say how large it is."""
    if "transfer-encoding" in headers:
        return True
    length = headers.get("content-length", "0")
    return not length.isdecimal() or len(length) > 9 or int(length) > MOST_BODY


async def _reply(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


class Hosts:
    """The host names that the viewer answers for."""

    def __init__(self, listens_on: str, allowed: Iterable[str] = ()) -> None:
        """A viewer that others can reach answers for IP addresses too: rebinding needs a name."""
        address = listens_on.strip("[]").lower()
        self.beyond = not is_loopback(address)
        machine = {socket.gethostname().lower()} if self.beyond else set()
        self.names = {"localhost", address, *machine, *(name.lower() for name in allowed)}

    def refusal(self, method: str, headers: dict[str, str]) -> str | None:
        """Return why a request is refused, in one line; None if it is answered."""
        name = _host_of(f"//{headers.get('host', '')}")
        if not self._answers(name):
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

    def _answers(self, name: str) -> bool:
        if name in self.names or is_loopback(name):
            return True
        return self.beyond and _address(name) is not None


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
        if wrong >= TRIES and time.monotonic() - last < WAIT:
            return False
        expected = self.passwords.get(name, "")
        if expected and hmac.compare_digest(expected.encode(), password.encode()):
            self._wrong.pop(name, None)
            return True
        if len(self._wrong) > 10_000:
            self._wrong.clear()
        self._wrong[name] = wrong + 1, time.monotonic()
        return False


class Served(NamedTuple):
    """A viewer that answers."""

    address: str
    close: Callable[[], None]


def serve(
    build: Callable[[], tuple[Any, str]],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    people: People | None = None,
    allowed: Iterable[str] = (),
) -> Served:
    """Serve a Gradio app beside the caller.

    Args:
        build: returns the app, and HTML for the head of its page.
        host: the address to listen on.
        port: None takes the first free one from 7860, 0 any.
        people: who may see it; None: everyone who reaches it.
        allowed: further host names to answer for.

    Raises:
        StorageError: the port is taken, or the address is not this machine's.
    """
    port = _free_port(host, port)
    _prepare(os.environ)
    import gradio as gr
    from starlette.middleware import Middleware

    app, head = build()
    try:
        _, address, _ = app.queue(default_concurrency_limit=8, api_open=False).launch(
            server_name=f"[{host.strip('[]')}]" if ":" in host else host,
            server_port=port,
            share=False,
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
            head=head,
            app_kwargs={
                "middleware": [Middleware(Guard, hosts=Hosts(host, allowed))],
                **dict.fromkeys(("docs_url", "redoc_url", "openapi_url")),
            },
        )
    except OSError:
        raise StorageError(_taken(host, port)) from None
    return Served(address, lambda: app.close(verbose=False))


def _prepare(environment: MutableMapping[str, str]) -> None:
    """Set what Gradio reads before it is imported: no analytics, no proxy on the way to itself."""
    for name in [name for name in environment if name.startswith("GRADIO_")]:
        if name not in ("GRADIO_ROOT_PATH", "GRADIO_TEMP_DIR"):
            del environment[name]
    environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    environment["HF_HUB_OFFLINE"] = "1"
    for name in ("NO_PROXY", "no_proxy"):
        rest = environment.get(name, "")
        environment[name] = ",".join([*([rest] if rest else []), "127.0.0.1", "localhost", "::1"])


def _free_port(host: str, port: int | None) -> int:
    """Return a port that can be listened on: Gradio looks at 127.0.0.1 only."""
    for candidate in _PORTS if port is None else (port,):
        found = _listening(host, candidate)
        if found:
            return found
    raise StorageError(_taken(host, port))


def _listening(host: str, port: int) -> int | None:
    """Return the port if it is free, for 0 any free one; None if it is taken."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":  # elsewhere it would let two servers share a port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            found: int = probe.getsockname()[1]
            return found
    except OSError as error:
        if error.errno in (98, 48, 10048):  # in use: Linux, macOS, Windows
            return None
        reason = (error.strerror or str(error)).lower()
        raise StorageError(f"cannot listen on {host}:{port} ({reason}); see --host") from None


def _taken(host: str, port: int | None) -> str:
    which = f"{port}, which is" if port else f"{_PORTS[0]} to {_PORTS[-1]}, which are"
    return f"cannot listen on {host}:{which} taken; choose another --port"

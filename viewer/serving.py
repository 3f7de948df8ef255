"""How the viewer is served: where, to whom, and what can be asked for.

Requests reach Gradio through a gate that knows the few addresses that the page needs; every other one, such as those
that read files, take uploads or speak for other hosts, is not found. Each reply tells the browser to load, run and send
nothing from or to elsewhere, so that a fault in the escaping of a text would still do nothing.
"""

import os
import pathlib
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from harness.errors import StorageError, UsageError
from viewer.context import Context

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_OPEN = re.compile(
    r"/|/(?:config|theme\.css|favicon\.ico|manifest\.json|robots\.txt|login|logout|login_check|user|token|app_id)/?"
    r"|/(?:gradio_api/)?(?:app_id|startup-events|reset|run/[\w-]+|api/[\w-]+|queue/(?:join|data|status)|heartbeat/\w+)/?"
    r"|/(?:assets|static|svelte)/[\w./@+~-]+"
)
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; script-src-attr 'none'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; media-src 'none'; "
        "connect-src 'self'; object-src 'none'; frame-src 'none'; child-src 'none'; worker-src 'self' blob:; "
        "base-uri 'self'; form-action 'self'; manifest-src 'self'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_HERE = pathlib.Path(__file__).parent
_LOOPBACK = "127.0.0.1,localhost,::1"


class Gate:
    """Lets through what the page needs, and says to the browser what it may do."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reply that there is no such address."""
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
        if _OPEN.fullmatch(path) and ".." not in path:
            await self.app(scope, receive, told)
            return
        await told({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/plain")]})
        await told({"type": "http.response.body", "body": b"not found"})


def read_people(path: pathlib.Path) -> list[tuple[str, str]]:
    """Return the names and passwords in a file, one `name:password` a line; lines with # in front are left out.

    Raises:
        UsageError: the file cannot be read, or a line has no colon; no password is repeated in the message.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})") from None
    people = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, password = line.partition(":")
        if not (name.strip() and colon and password):
            raise UsageError(f"{path}:{number}: must be name:password")
        people.append((name.strip(), password))
    if not people:
        raise UsageError(f"{path} names nobody; each line must be name:password")
    return people


def prepare_environment(environment: MutableMapping[str, str]) -> None:
    """Set what Gradio reads before it is imported: no analytics, and no proxy on the way to this machine itself."""
    environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    environment["HF_HUB_OFFLINE"] = "1"
    for name in ("NO_PROXY", "no_proxy"):
        there = environment.get(name, "")
        environment[name] = f"{there},{_LOOPBACK}" if there and there != "*" else there or _LOOPBACK


def serve(
    context: Context,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    people: list[tuple[str, str]] | None = None,
    share: bool = False,
) -> tuple[str, Any]:
    """Serve the viewer beside the caller, and return its address and the running app (`close()` ends it).

    Args:
        context: what is shown.
        host: the address to listen on.
        port: the port; None takes the first free one from 7860.
        people: names and passwords of those who may see it; None lets everyone who reaches it.
        share: also make it reachable from everywhere, through Gradio's servers.

    Raises:
        StorageError: the port is taken, or the address is not this machine's.
    """
    prepare_environment(os.environ)
    import gradio as gr
    from starlette.middleware import Middleware

    from viewer.app import build

    style, script = (_HERE.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    app = build(context)
    try:
        _, local, shared = app.queue(default_concurrency_limit=8, api_open=False).launch(
            server_name=host,
            server_port=port,
            share=share,
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
            head=f"<style>{style}</style><script>{script}</script>",
            app_kwargs={"middleware": [Middleware(Gate)], **_NO_DOCUMENTS},
        )
    except OSError as error:
        where = f"{host}:{port}" if port else host
        raise StorageError(f"cannot listen on {where} ({error}); choose another with --port or --host") from error
    return (shared or local), app


_NO_DOCUMENTS: Mapping[str, None] = {"docs_url": None, "redoc_url": None, "openapi_url": None}

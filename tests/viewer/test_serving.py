"""Who may ask for what: the gate, the people, and the environment that Gradio sees."""

import asyncio
import pathlib
from typing import Any

import pytest

from harness.errors import UsageError
from viewer.serving import Gate, prepare_environment, read_people


def asked(path: str) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of the reply to a request."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html"), (b"referrer-policy", b"unsafe-url")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"page"})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Gate(app)({"type": "http", "path": path, "method": "GET"}, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/theme.css",
        "/assets/index-3a.js",
        "/gradio_api/queue/data",
        "/gradio_api/run/predict",
        "/login",
    ],
)
def test_what_the_page_needs_is_let_through(path: str) -> None:
    assert asked(path)[0] == 200


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
    assert asked(path)[0] == 404


@pytest.mark.parametrize("path", ["/", "/upload"])
def test_every_reply_forbids_what_lies_outside(path: str) -> None:
    headers = asked(path)[1]
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "script-src-attr 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


def test_people_are_read_one_a_line(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("# ours\nann:pass:word\n\n bo : x \n", encoding="utf-8")
    assert read_people(file) == [("ann", "pass:word"), ("bo", " x ")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("ann:a\nsecret\n", r"people\.txt:2: must be name:password", id="no colon"),
        pytest.param("ann:\n", r"people\.txt:1: must be name:password", id="no password"),
        pytest.param("\n", "names nobody", id="empty"),
    ],
)
def test_a_wrong_line_is_named_and_not_repeated(text: str, message: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        read_people(file)
    assert "secret" not in str(caught.value)


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

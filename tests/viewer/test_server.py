"""Who is answered, what is refused, and how the command begins and ends."""

import asyncio
import dataclasses
import pathlib
import urllib.request
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from harness.cli.main import viewer as main
from harness.errors import UsageError
from tests.viewer.small import small
from viewer import server
from viewer.server import Guard, Hosts, People
from viewer.state import View


def ask(path: str = "/", method: str = "GET", listens: str = "127.0.0.1", **headers: str) -> Any:
    """Return the status and the headers of a reply to a request."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "127.0.0.1:7860", **{n.replace("_", "-"): v for n, v in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": "http", "path": path, "method": method, "headers": raw}
    guard = Guard(app, Hosts(listens, ["viewer.example.org"]))
    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    ("host", "listens", "status"),
    [
        ("127.0.0.1:7860", "127.0.0.1", 200),
        ("localhost", "127.0.0.1", 200),
        ("[::1]:7860", "127.0.0.1", 200),
        ("viewer.example.org", "127.0.0.1", 200),
        ("evil.example", "127.0.0.1", 403),
        ("10.0.0.5:7860", "127.0.0.1", 403),
        ("10.0.0.5:7860", "0.0.0.0", 200),
        ("evil.example", "0.0.0.0", 403),
        ("", "127.0.0.1", 403),
        ("[::1", "127.0.0.1", 403),
    ],
)
def test_only_its_own_host_names_are_answered(host: str, listens: str, status: int) -> None:
    assert ask(listens=listens, host=host)[0] == status


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"sec_fetch_site": "same-origin"}, 200),
        ("POST", {"sec_fetch_site": "cross-site", "origin": "https://evil.example"}, 403),
        ("POST", {"origin": "https://evil.example"}, 403),
        ("POST", {"origin": "http://127.0.0.1:7860"}, 200),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
    ],
)
def test_pages_of_other_sites_send_nothing(
    method: str, headers: dict[str, str], status: int
) -> None:
    assert ask(method=method, **headers)[0] == status


@pytest.mark.parametrize(
    "path",
    ["/gradio_api/upload", "/gradio_api/file=/etc/passwd", "/gradio_api/queue/join", "/docs",
     "/assets/../config", "/gradio_api/proxy=http://evil.example", "/gradio_api/heartbeat/x"],
)  # fmt: skip
def test_addresses_that_the_page_does_not_need_are_not_there(path: str) -> None:
    assert ask(path)[0] == 404


def test_a_large_body_is_refused_before_it_is_read() -> None:
    assert ask("/gradio_api/run/at", "POST", content_length="70000")[0] == 413
    assert ask("/gradio_api/run/at", "POST", transfer_encoding="chunked")[0] == 413
    assert ask("/gradio_api/run/at", "POST", content_length="60000")[0] == 200


def test_every_reply_forbids_what_comes_from_elsewhere() -> None:
    for status, headers in (ask(), ask("/none")):
        assert status in (200, 404)
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert "frame-ancestors 'none'" in policy


def test_five_wrong_passwords_make_the_right_one_wait(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people"
    path.write_text("# who may come in\nann:secret:with colon\nbob:x\n")
    people, now = People(path), [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    assert people("ann", "secret:with colon")
    assert [people("ann", "wrong") for _ in range(5)] == [False] * 5
    assert not people("ann", "secret:with colon")
    assert people("bob", "x")
    now[0] += server.WAIT + 1
    assert people("ann", "secret:with colon")


@pytest.mark.parametrize("text", ["", "ann", "ann:", ":x", "ann:x\nann:y"])
def test_a_password_file_that_cannot_be_is_refused_without_a_password(
    tmp_path: pathlib.Path, text: str
) -> None:
    path = tmp_path / "people"
    path.write_text(text)
    with pytest.raises(UsageError, match="name:password"):
        People(path)


def test_share_says_how_to_reach_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--share"]) == 2
    said = capsys.readouterr().err
    assert "ssh -L 7860:localhost:7860 HOST" in said
    assert "--export" in said


@pytest.mark.parametrize("words", [["a.html"], ["a.html", "0"], ["a.html", "x"], ["a", "1", "2"]])
def test_a_ballot_takes_a_file_and_a_number(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--ballot", *words]) == 2
    assert "--ballot votes.html 20" in capsys.readouterr().err


def test_until_there_is_an_app_the_page_says_what_is_going_on() -> None:
    app = server.Starting(lambda: "reading 3 of <24> files")
    with TestClient(app) as client:
        reply = client.get("/?tab=judges")
        assert "reading 3 of &lt;24&gt; files" in reply.text
        assert 'http-equiv="refresh"' in reply.text
        assert client.get("/config").status_code == 503
        app.app = FastAPI()
        assert client.get("/none").status_code == 404


def test_the_command_prints_the_address_that_answers(tmp_path: pathlib.Path, viewer: Any) -> None:
    process, address, first = viewer(small(tmp_path))
    assert first.startswith("open this address in a browser")
    with urllib.request.urlopen(address, timeout=30) as reply:
        page = reply.read().decode()
    assert "turnbench" in page
    assert str(tmp_path) not in page
    assert process.poll() is None


def test_each_field_of_an_address_is_answered(tmp_path: pathlib.Path, viewer: Any) -> None:
    address = viewer(small(tmp_path))[1]
    for field in dataclasses.fields(View):
        with urllib.request.urlopen(f"{address}?{field.name}=2", timeout=30) as reply:
            assert reply.status == 200, field.name

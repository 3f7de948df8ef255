"""What pages of other sites can do to the viewer through the browser of somebody who may vote: nothing."""

import http.server
import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.old.browser.conftest import ServeViewer, running_chromium, settled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a Chromium in which each name under `.example` leads to this machine, as an attacker's may."""
    with running_chromium("MAP *.example 127.0.0.1, MAP localhost 127.0.0.1") as running:
        yield running


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """Return the port of a server of somebody else, whose page is empty."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>elsewhere</title><body></body>")

        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


TRY = """async ([address, call, kind]) => {
  try {
    const how = { method: "POST", body: call, headers: { "Content-Type": kind }, credentials: "include" };
    if (kind === "text/plain") how.mode = "no-cors";
    const reply = await fetch(address + "gradio_api/run/predict", how);
    return reply.status;
  } catch (error) { return -1; }
}"""


def test_no_page_elsewhere_can_vote_or_read(
    browser: Any, elsewhere: int, demo_data: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(demo_data)
    context = browser.new_context()
    page = context.new_page()
    page.goto(address + "?tab=vote&bench=small&f.voter=victim")
    settled(page)
    config = page.evaluate("(async () => (await fetch('config')).json())()")
    votes = [["tab", "vote"], ["bench", "small"], ["f.voter", "victim"], ["winner", "model_a"]]
    sent = []
    page.on("response", lambda reply: sent.append(reply.status) if "run/predict" in reply.url else None)
    for place in ("http://evil.example", "http://localhost", "http://127.0.0.1"):
        page.goto(f"{place}:{elsewhere}/")
        assert page.title() == "elsewhere"
        for function in [one["id"] for one in config["dependencies"] if one["backend_fn"]]:
            data = ["?tab=vote&bench=small&f.voter=victim", json.dumps(votes)]
            call = json.dumps({"data": data, "fn_index": function, "session_hash": "x", "trigger_id": 1})
            for kind in ("text/plain", "application/json"):
                assert page.evaluate(TRY, [address, call, kind]) in {0, -1, 403}
        assert page.evaluate(f"fetch('{address}config').then((reply) => reply.status, () => -1)") in {-1, 403}
    assert sent
    assert set(sent) <= {200, 403}  # 200 is Gradio's reply to the question before a call, which is not sent then
    assert not list(demo_data.rglob("human_judgment/*victim*"))
    context.close()


def test_a_name_that_was_made_to_lead_here_is_told_so(browser: Any, demo: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    reply = page.goto(f"http://evil.example:{urlsplit(demo).port}/")
    assert reply.status == 403
    assert page.inner_text("body").strip() == (
        "this viewer does not serve evil.example; if that is its own host name, start it with --allow-host evil.example"
    )
    status = "fetch('config').then(async (reply) => [reply.status, (await reply.text()).includes('small')])"
    assert page.evaluate(status) == [403, False]
    context.close()


def test_a_name_that_is_allowed_opens_the_page(
    browser: Any, demo_data: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(demo_data, "--allow-host", "viewer.example")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://viewer.example:{urlsplit(address).port}/?tab=answers&bench=small")
    settled(page)
    assert page.locator("[role=tab]").count() >= 6
    context.close()


def test_the_page_can_be_linked_to_and_not_framed(browser: Any, elsewhere: int, demo: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://evil.example:{elsewhere}/")
    page.evaluate(f'document.body.innerHTML = \'<iframe src="{demo}"></iframe><a href="{demo}?tab=runs">runs</a>\'')
    page.wait_for_load_state("networkidle")
    assert all("tb-tabs" not in frame.content() for frame in page.frames[1:])
    page.click("a")
    settled(page)
    assert "tab=runs" in page.url
    context.close()

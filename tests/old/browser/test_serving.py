"""How the viewer is served: to whom, what can be asked for, what it needs; asked over HTTP as anyone could."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.old.browser.conftest import ROOT, OpenView, ServeViewer, Watched, settled
from viewer.old.serving import MOST_BODY

SECRET = "the secret of the folder above"


@pytest.fixture(scope="module")
def guarded(demo_data: pathlib.Path) -> pathlib.Path:
    """Return the demo's data folder; beside it lie a file and a benchmark that nobody may read."""
    above = demo_data.parent
    (above / "secret.txt").write_text(SECRET, encoding="utf-8")
    for place in (above / "other" / "question.jsonl", above / "question.jsonl"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"question_id": 1, "category": "x", "turns": [SECRET]}) + "\n", encoding="utf-8")
    answered = {"question_id": 2, "model_id": "x", "choices": [{"index": 0, "turns": [SECRET]}]}
    (above / "stolen.jsonl").write_text(json.dumps(answered) + "\n", encoding="utf-8")
    return demo_data


@pytest.fixture(scope="module")
def address(guarded: pathlib.Path, serve_viewer: ServeViewer) -> str:
    return serve_viewer(guarded)


def ask(address: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Return status and text of the reply to a request, whose path is sent as it stands."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    data = None if body is None else json.dumps(body)
    connection.putrequest("GET" if data is None else "POST", path, skip_accept_encoding=True)
    sent = {"Content-Type": "application/json", "Content-Length": str(len(data or "")), **(headers or {})}
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders(data.encode() if data else None)
    reply = connection.getresponse()
    text = reply.read().decode("utf-8", "replace")
    connection.close()
    return reply.status, text


def config(address: str) -> Any:
    """Return what the page is made of, as Gradio tells every browser."""
    return json.loads(ask(address, "/config")[1])


def called(address: str, function: int, data: list[object]) -> str:
    """Return all that the server says when one of the page's functions is called with made-up values."""
    body = {"data": data, "fn_index": function, "session_hash": "made-up", "trigger_id": 1, "event_data": None}
    if len(json.dumps(body)) > MOST_BODY:
        return str(refused_for_its_size(address, body))
    return "\n".join(ask(address, f"/gradio_api/{path}", body)[1] for path in ("run/predict", "api/predict"))


def refused_for_its_size(address: str, body: object) -> bool:
    """Return whether a request is refused by what it announces, without any of it being sent."""
    headers = {"Content-Length": str(len(json.dumps(body)))}
    return [ask(address, path, None, headers)[0] for path in ("/gradio_api/run/predict", "/login")] == [413, 413]


def functions(address: str) -> list[int]:
    """Return the numbers of the page's functions that run on the server."""
    return [one["id"] for one in config(address)["dependencies"] if one["backend_fn"]]


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file={above}/secret.txt",
        "/gradio_api/file={data}/small/question.jsonl",
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file=viewer/app.py",
        "/gradio_api/file/etc/passwd",
        "/file={above}/secret.txt",
        "/gradio_api/proxy=http://127.0.0.1:1/",
        "/static/../../../../../../../../etc/passwd",
        "/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/svelte//etc/passwd",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/../../../../../../etc/passwd",
        "/gradio_api/info",
        "/gradio_api/openapi.json",
        "/openapi.json",
        "/docs",
        "/monitoring",
        "/runs",
        "/gradio_api/run-history/buckets",
        "/gradio_api/vibe-code",
        "/gradio_api/profiling/traces",
        "/custom_component/1/client/component/../../../../etc/passwd",
        "/dev/reload",
        "/pwa_icon",
    ],
)
def test_no_file_is_served_but_gradios_own(path: str, address: str, guarded: pathlib.Path) -> None:
    status, text = ask(address, path.format(above=guarded.parent, data=guarded))
    assert status in {403, 404, 405}
    assert SECRET not in text
    assert "root:" not in text


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/gradio_api/component_server", "/gradio_api/vibe-edit"])
def test_nothing_can_be_sent_to_the_server_but_calls(path: str, address: str) -> None:
    assert ask(address, path, {"component_id": 1, "fn_name": "x", "data": "y"})[0] == 404


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("?tab=answers&bench=../other", id="benchmark above"),
        pytest.param("?tab=answers&bench=..", id="the folder above"),
        pytest.param("?tab=answers&bench=.", id="the folder itself"),
        pytest.param("?tab=answers&bench={above}/other", id="benchmark by its whole path"),
        pytest.param("?tab=answers&bench=small&question=2&model=../../../stolen", id="model above"),
        pytest.param("?tab=answers&bench=small&question=2&model=..%252F..%252F..%252Fstolen", id="model, encoded"),
        pytest.param("?tab=answers&bench=small&question=2&model={above}/stolen", id="model by its whole path"),
        pytest.param("?tab=leaderboard&bench=small&judge=../../../stolen", id="judge above"),
        pytest.param("?tab=leaderboard&bench=small&judge=x&set=../../../stolen", id="judge set above"),
        pytest.param("?tab=find&bench=small&judge=../../stolen&f.text=secret", id="judge, in Find"),
        pytest.param("?tab=find&bench=small&f.field=__class__&f.value=x&f.sort=__dict__", id="names of Python"),
        pytest.param("?tab=compare&bench=small&model=../../../stolen&model=../../../../secret.txt", id="pair above"),
        pytest.param("?tab=answers&bench=small&question=../../secret.txt", id="question"),
        pytest.param("?tab=vote&bench=small&f.voter=../../../stolen", id="voter above"),
        pytest.param("?tab=runs&bench=small&f.show=../../../secret.txt", id="run above"),
    ],
)
def test_nothing_outside_the_data_folder_is_shown_whatever_an_address_says(
    query: str, address: str, guarded: pathlib.Path
) -> None:
    query = query.format(above=guarded.parent)
    said = "".join(called(address, function, [query, ""]) for function in functions(address))
    said += ask(address, "/" + query)[1] if "{" not in query and " " not in query else ""
    assert "tb-" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"path": "{above}/secret.txt", "meta": {"_type": "gradio.FileData"}}, id="file"),
        pytest.param({"path": "{above}/secret.txt", "url": "file://{above}/secret.txt"}, id="file by address"),
        pytest.param(["?tab=answers"], id="list"),
        pytest.param({"__type__": "update", "value": "?tab=answers"}, id="update"),
        pytest.param(17, id="number"),
        pytest.param(None, id="nothing"),
        pytest.param("?" + "x" * 1_000_000, id="a megabyte"),
    ],
)
def test_made_up_values_do_no_harm(value: Any, address: str, guarded: pathlib.Path) -> None:
    text = json.dumps(value).replace("{above}", str(guarded.parent))
    for function in functions(address):
        assert SECRET not in called(address, function, [json.loads(text), json.loads(text)])
    assert ask(address, "/")[0] == 200


def test_other_components_of_the_page_cannot_be_set(address: str) -> None:
    """A function that is not there, or is of the browser only, does nothing."""
    known = functions(address)
    for function in (-1, max(known) + 50, 10**9):
        assert "tb-" not in called(address, function, ["?tab=answers", "[]"])


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([["tab", "vote"], ["f.voter", "me"], ["vote", "A"], ["winner", "model_a"]], id="vote"),
        pytest.param([["tab", "vote"], ["bench", "small"], ["f.voter", "../../x"], ["name", "../../x"]], id="path"),
        pytest.param([["tab", "answers"], ["bench", "small"]], id="tab that writes nothing"),
    ],
)
def test_read_only_has_no_tab_for_votes_and_takes_none(
    fields: list[list[str]], guarded: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(guarded, "--read-only")
    assert '"label":"Vote"' not in json.dumps(config(address)).replace(" ", "")
    before = sorted(guarded.parent.rglob("*"))
    for function in functions(address):
        said = called(address, function, ["?tab=vote&bench=small&f.voter=me", json.dumps(fields)])
        assert "tb-vote" not in said
    assert [path for path in sorted(guarded.parent.rglob("*")) if path not in before] == []


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    file = tmp_path_factory.mktemp("people") / "people.txt"
    file.write_text("# who may look\nada:open sesame\n", encoding="utf-8")
    return file


def test_a_password_is_asked_for_and_shown_nowhere(
    guarded: pathlib.Path, people: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(guarded, "--auth-file", str(people))
    assert ask(address, "/config")[0] == 401
    for query in ("", "?tab=answers", "?tab=find", "?tab=runs"):
        text = ask(address, "/" + query)[1]
        assert "page.shown_now" in text
        assert not re.search(r"eliza|Asia|turnbench\.opening\(", text)
    body = {"data": ["?tab=answers"], "fn_index": 0, "session_hash": "x"}
    assert ask(address, "/gradio_api/run/predict", body)[0] == 401
    assert refused_for_its_size(address, {**body, "more": "x" * MOST_BODY})
    for path in ("/", "/theme.css"):
        assert "sesame" not in ask(address, path)[1]
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert "sesame" not in line.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has ended meanwhile


@pytest.mark.parametrize(("password", "wanted"), [("open sesame", 200), ("open", 400), ("", 400)])
def test_who_knows_the_password_comes_in(
    password: str, wanted: int, guarded: pathlib.Path, people: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(guarded, "--auth-file", str(people))
    form = urllib.request.Request(address + "login", data=f"username=ada&password={password}".encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    try:
        with opener.open(form, timeout=30) as reply:
            status = reply.status
    except urllib.error.HTTPError as error:
        status = error.code
    assert (status == 200) == (wanted == 200)


def test_who_is_logged_in_votes_under_that_name(
    guarded: pathlib.Path, people: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address = serve_viewer(guarded, "--auth-file", str(people))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    opener.open(address + "login", data=b"username=ada&password=open sesame", timeout=30).close()
    with opener.open(address + "config", timeout=30) as reply:
        known = [one["id"] for one in json.load(reply)["dependencies"] if one["backend_fn"]]
    body = {"data": ["?tab=vote&bench=small&f.voter=bob"], "fn_index": known[0], "session_hash": "x"}
    asked = urllib.request.Request(address + "gradio_api/run/predict", data=json.dumps(body).encode())
    asked.add_header("Content-Type", "application/json")
    with opener.open(asked, timeout=30) as reply:
        said = reply.read().decode()
    assert "Voting as <bdi><b>ada</b>" in said
    assert "f.voter=ada" in said
    assert "bob" not in said


def test_it_listens_on_this_machine_alone(address: str) -> None:
    port = urlsplit(address).port
    listening = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.split(":")[1], 16) == port:
                listening.append(local.split(":")[0])
    assert listening == ["0100007F"]


def test_it_starts_behind_a_proxy_that_is_not_there_and_asks_it_nothing(guarded: pathlib.Path) -> None:
    """Every request to elsewhere, telemetry and version checks too, would go to a proxy that counts them."""
    import socket
    import threading

    asked = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def count() -> None:
            while True:
                try:
                    connection, _ = proxy.accept()
                except OSError:
                    return
                asked.append(connection.recv(2000))
                connection.close()

        threading.Thread(target=count, daemon=True).start()
        where = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        through = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), where)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "harness.old.cli.viewer", "--data-dir", str(guarded), "--port", str(port)]
        environment = {**kept, **through, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            told = process.stdout.readline().decode()
            status, text = ask(f"http://127.0.0.1:{port}/", "/")
            process.terminate()
            process.wait(20)
    assert told.strip() == f"http://127.0.0.1:{port}/"
    assert status == 200
    assert asked == []
    assert "gradio.live" not in told + text


@pytest.mark.browser
def test_the_page_comes_from_its_own_server_alone(watched: Watched, address: str) -> None:
    """Nothing is loaded from elsewhere, and the page names no place elsewhere that it would load something from."""
    page, asked = watched.page, list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    settled(page)
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    outside = page.evaluate(
        "[...document.querySelectorAll('link[href], script[src], img[src], iframe[src]')]"
        ".map((part) => part.href || part.src).filter((url) => !/^data:/.test(url) && !url.startsWith(location.origin))"
    )
    assert [url for url in outside if "preconnect" not in url] == []
    watched.told()  # its address was not known


@pytest.mark.browser
def test_the_password_lets_the_page_open(
    watched: Watched, guarded: pathlib.Path, people: pathlib.Path, serve_viewer: ServeViewer
) -> None:
    address, page = serve_viewer(guarded, "--auth-file", str(people)), watched.page
    page.goto(address)
    page.get_by_label("username").fill("ada")
    page.get_by_label("password").fill("open sesame")
    page.get_by_role("button", name="Login").click()
    settled(page)
    assert page.locator("[role=tab]").count() >= 6
    assert "sesame" not in page.content()
    page.context.clear_cookies()
    watched.told()  # being refused is an error on the console


@pytest.mark.browser
def test_read_only_has_no_tab_for_votes(guarded: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView) -> None:
    page = open_view(serve_viewer(guarded, "--read-only"), "?tab=vote&bench=small&f.voter=Ann")
    assert page.get_by_role("tab", name="Vote").count() == 0
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Leaderboard"

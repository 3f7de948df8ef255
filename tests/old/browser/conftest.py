"""A real Chromium, viewers to look at with it, and a page that notices whatever it should not do.

    def test_...(open_view: OpenView, demo: str) -> None:
        page = open_view(demo, "?tab=answers&question=1")

`open_view` returns a page of Playwright on which the view is there. When the test ends it fails if the page asked
anything of another host, ran a dialog, or had an error. The page is one that an earlier test has left: the address is
loaded afresh, but the browser has read Gradio's scripts already, which is two thirds of the time that a first page
takes.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
ServeViewer: TypeAlias = Callable[..., str]


class OpenView(Protocol):
    """Opens a view."""

    def __call__(self, address: str, query: str = "?", *, width: int = 1440, dark: bool = False) -> Any: ...


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a running Chromium in which no name leads anywhere.

    For a module and no longer: as long as it runs, Playwright holds an event loop, in which no other test's could run.
    """
    with running_chromium() as browser:
        yield browser


@contextlib.contextmanager
def running_chromium(*names: str) -> Iterator[Any]:
    """Run Chromium while the block runs, or skip with the reason why there is none.

    `names` are rules for where names of hosts lead; all others lead nowhere.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the extra [dev])")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no chromium here (Debian: apt install chromium)")
    rules = "--host-resolver-rules=" + ", ".join([*names, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"])
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu", "--no-proxy-server", rules]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def serve_viewer() -> Iterator[ServeViewer]:
    """Return a function that starts `viewer --data-dir DIR FLAGS...`, once for equal ones, and returns its address.

    Those of a module end with it: an idle one takes up to a tenth of a core from the tests that follow.
    """
    running: dict[tuple[str, ...], tuple[subprocess.Popen[bytes], str]] = {}

    def serve(data_dir: pathlib.Path, *flags: str) -> str:
        key = (str(data_dir), *flags)
        if key not in running:
            running[key] = start_viewer(data_dir, *flags)
        return running[key][1]

    yield serve
    for process, _ in running.values():
        process.terminate()
        process.wait(10)


def start_viewer(data_dir: pathlib.Path, *flags: str) -> tuple["subprocess.Popen[bytes]", str]:
    """Return a process of `viewer` that replies, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["-m", "harness.old.cli.viewer", "-q", "--data-dir", str(data_dir), "--port", str(port), *flags]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        _await(process, address)
    except BaseException:
        process.kill()
        process.wait(10)
        raise
    return process, address


def _await(process: "subprocess.Popen[bytes]", address: str) -> None:
    """Wait until the viewer replies."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + 120
    while True:
        try:
            with opener.open(address, timeout=10):
                return
        except OSError:
            assert process.poll() is None, "the viewer ended"
            assert time.monotonic() < until, "the viewer does not reply"
            time.sleep(0.1)  # another process starts; there is nothing else to wait for


@pytest.fixture(scope="module")
def watched(chromium: Any) -> Iterator["Watched"]:
    """Return the page in which the tests of a module open their views, one after another."""
    context = chromium.new_context(locale="en-US")
    context.set_default_timeout(30_000)
    yield Watched(context.new_page())
    context.close()


@pytest.fixture
def open_view(watched: "Watched") -> Iterator[OpenView]:
    """Return a function that opens a view in place of the one before, and waits until it is there."""
    page = watched.page

    def open_page(address: str, query: str = "?", *, width: int = 1440, dark: bool = False) -> Any:
        watched.address = address
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto(address + query.lstrip("/"))
        settled(page)
        return page

    yield open_page
    page.goto("about:blank")
    assert watched.told() == []


class Watched:
    """A page, and what it does that it should not."""

    def __init__(self, page: Any, address: str = "about:") -> None:
        self.page, self.address = page, address
        self._faults: list[str] = []
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._faults.append(f"error: {error}"))

    def told(self) -> list[str]:
        """Return what it did since it was asked last."""
        faults, self._faults = self._faults, []
        return faults

    def _request(self, asked: Any) -> None:
        if not asked.url.startswith((self.address, "data:", "blob:", "about:")):
            self._faults.append(f"asked for {asked.url[:200]}")

    def _dialog(self, opened: Any) -> None:
        self._faults.append(f"dialog: {opened.message}")
        opened.dismiss()

    def _console(self, said: Any) -> None:
        if said.type == "error":
            self._faults.append(f"console: {said.text}")


def settled(page: Any, after: int = 0) -> int:
    """Wait until more than `after` views were shown and none is being made; return how many there were."""
    page.wait_for_function(f"Number(document.body?.dataset.shown || 0) > {after}")
    page.wait_for_function("!document.querySelector('.tb-wait') && !document.body.classList.contains('tb-busy')")
    return int(page.evaluate("Number(document.body.dataset.shown)"))


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder with `small`: six questions, three built-in models, graded and compared in pairs."""
    from harness.cli.gen_answer import main as gen_answer
    from harness.cli.gen_judgment import main as gen_judgment
    from tests.old.small_bench import answer, question, write

    folder = tmp_path_factory.mktemp("viewer") / "data"
    kinds = ("writing", "math", "coding")
    rows = [
        question(n, kinds[n % 3], ("Name the *largest* rivers of Asia.", "Sort them by length.")) for n in range(1, 7)
    ]
    write(folder / "small" / "question.jsonl", rows)
    said = [answer(n, "ref", "The Yangtze, $6300$ km.", "Yangtze, Yenisei, Ob.") for n in range(1, 7)]
    write(folder / "small" / "reference_answer" / "ref.jsonl", said)
    where = ["--data-dir", str(folder), "--bench-name", "small", "-q"]
    assert gen_answer([*where, "--model", "builtin/reference", "builtin/outline", "builtin/eliza"]) == 0
    for mode in ("single", "pairwise-all"):
        assert gen_judgment([*where, "--judge-model", "builtin/overlap", "--mode", mode, "--yes"]) == 0
    return folder


@pytest.fixture(scope="module")
def demo(serve_viewer: ServeViewer, demo_data: pathlib.Path) -> str:
    """Return the address of a viewer on `demo_data`."""
    return serve_viewer(demo_data)

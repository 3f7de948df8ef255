"""A running viewer, and a browser that notices what a page should not do."""

import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.viewer.small import small
from viewer.app import Views
from viewer.data import Home

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def views(tmp_path: pathlib.Path) -> Views:
    """Return the views of a small benchmark, without a server."""
    return Views(Home(small(tmp_path)))


@pytest.fixture(scope="module")
def viewer() -> Iterator[Any]:
    """Return a function that starts `viewer --data-dir DIR FLAGS...` on any free port.

    It returns the process, its address, and the first line that it said; once for equal ones.
    """
    running: dict[tuple[str, ...], Any] = {}

    def start(data_dir: pathlib.Path, *flags: str) -> Any:
        key = (str(data_dir), *flags)
        if key not in running:
            command = [sys.executable, "-m", "turnbench", "viewer", "--port", "0"]
            process = subprocess.Popen(
                [*command, "--data-dir", *key],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            assert process.stderr is not None
            first = process.stderr.readline().strip()
            running[key] = process, process.stdout.readline().strip(), first
        return running[key]

    yield start
    for process, _, _ in running.values():
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a running Chromium in which no name leads anywhere, or skip."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the extra [dev] has playwright")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no chromium (Debian: apt install chromium)")
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_api.sync_playwright() as driver:
        words = ["--no-sandbox", "--disable-gpu", "--no-proxy-server", rules]
        browser = driver.chromium.launch(executable_path=program, args=words)
        yield browser
        browser.close()


class Watched:
    """A page, and what it did that it should not: requests elsewhere, dialogs, errors."""

    def __init__(self, page: Any) -> None:
        self.page, self.faults, self.home = page, [], "file:"  # type: ignore[var-annotated]
        page.set_default_timeout(30_000)
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("console", self._console)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.home, "data:", "blob:", "about:")):
            self.faults.append(f"asked for {request.url[:200]}")

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def open(self, address: str, query: str = "", width: int = 1440, theme: str = "light") -> Any:
        """Open a view of a viewer and wait until it is there."""
        self.home = address
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=theme)
        self.page.goto(address + query)
        self.settled()
        return self.page

    def settled(self, after: int = 0) -> int:
        """Wait until more views than `after` were shown; return how many there were."""
        self.page.wait_for_function(
            f"Number(document.body?.dataset.shown || 0) > {after} && "
            "!document.body.classList.contains('tb-busy')"
        )
        return int(self.page.evaluate("Number(document.body.dataset.shown)"))

    def choose(self, label: str, words: str) -> None:
        """Choose an option of a drop-down, and wait for the view that it leads to."""
        self.page.get_by_role("combobox", name=label, exact=True).click()
        # The list is Gradio's; of two of them open for a moment the last is this one's.
        option = self.page.get_by_role("option", name=re.compile(rf"^\W*{re.escape(words)}$"))
        self.leads(option.last.click)

    def leads(self, act: Any) -> None:
        """Do something that leads to another view, and wait for it."""
        before = int(self.page.evaluate("Number(document.body.dataset.shown)"))
        act()
        self.settled(before)


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """Return a page; the test fails if it asked anything elsewhere or had an error."""
    context = chromium.new_context(locale="en-US", accept_downloads=True)
    page = Watched(context.new_page())
    yield page
    context.close()
    assert page.faults == []

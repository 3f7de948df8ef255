"""The HTML page in a browser: it sorts, fits, and does nothing else."""

import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from harness import show_result
from harness.reporting.html import write_html
from tests.reporting.folders import bench, grades

pytestmark = pytest.mark.browser
HOSTILE = "<img src=//far.example/x onerror=alert(1)>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no chromium here (Debian: apt install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def report(tmp_path: pathlib.Path) -> pathlib.Path:
    data = bench(tmp_path / "data")
    grades(data, {f"model-{at:02}": 9 - at / 5 for at in range(33)} | {HOSTILE: 2.0})
    path = tmp_path / "report.html"
    write_html(path, show_result(data_dir=str(data)).page)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_34_models_fit_a_page_and_nothing_is_asked_of_anybody(
    chromium: Any, report: pathlib.Path, width: int, scheme: str
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    wide, high = page.evaluate(
        "[document.documentElement.scrollWidth,"
        " document.querySelector('.tb-table').getBoundingClientRect().bottom]"
    )
    assert wide <= width
    assert high <= 1.5 * 900
    page.close()


def test_a_click_on_a_heading_sorts_by_it_and_a_second_turns_the_order(
    chromium: Any, report: pathlib.Path
) -> None:
    page = chromium.new_page()
    page.goto(report.as_uri())

    def first() -> str:
        return str(page.inner_text(".tb-table tbody tr:first-child th"))

    page.click("text=turn 1")
    assert first() == "model-00"
    page.click("text=turn 1")
    assert first() == HOSTILE
    page.click("thead >> text=model")
    assert first() == HOSTILE
    page.close()

"""Checks at an answer in a real browser: ticks below it, and the place that breaks one marked; wide and narrow."""

from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.metrics.checks import plan_checks
from harness.old.metrics.run import run_metrics
from tests.old.browser.conftest import OpenView, ServeViewer
from tests.old.browser.test_sizes import serious
from tests.old.small_bench import answer, question, small_bench, write

pytestmark = pytest.mark.browser
REPLY = "Dear tenants,\n\nthe lift is *out of order*! <img src=x onerror=alert(1)>\n\n" + "Use the stairs. " * 40
CHECKS = [
    {"kind": "not_contains", "text": "!"},
    {"kind": "count", "of": "words", "at_most": 60},
    {"kind": "starts", "text": "Dear"},
    {"kind": "contains", "text": "W" * 300},
]


@pytest.fixture(scope="module")
def address(serve_viewer: ServeViewer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a viewer on one checked answer."""
    folder = tmp_path_factory.mktemp("checks")
    bench = small_bench(folder, question(1, checks=[CHECKS, []]))
    write(bench.answer_file("m"), [answer(1, "m", REPLY, "Yes.")])
    run_metrics(plan_checks(load_bench("small", folder)))
    return serve_viewer(folder)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_checks_are_ticked_and_the_broken_place_is_marked(
    width: int, dark: bool, open_view: OpenView, address: str
) -> None:
    page: Any = open_view(address, "?tab=answers&bench=small&question=1&model=m", width=width, dark=dark)
    ticks = page.locator(".tb-checks li")
    assert [text.split("\n")[0] for text in ticks.all_inner_texts()] == [
        "not met",
        "met loosely only",
        "met",
        "not met",
    ]
    mark = page.locator("#tb-places-1 mark").first
    mark.scroll_into_view_if_needed()
    assert mark.text_content() == "!"
    box = mark.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_checks_have_no_serious_fault(width: int, dark: bool, open_view: OpenView, address: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    page: Any = open_view(address, "?tab=answers&bench=small&question=1&model=m", width=width, dark=dark)
    page.evaluate(axe.AXE_SCRIPT)
    assert serious(page) == []

"""Every tab wide and narrow, light and dark: axe-core finds no serious fault, nothing is cut off, text stands out."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.old.browser.conftest import Watched, settled

pytestmark = pytest.mark.browser
VIEWS = {
    "grades": "?tab=leaderboard&bench=small",
    "pairs": "?tab=leaderboard&bench=small&mode=pairwise-all",
    "answers": "?tab=answers&bench=small&question=2&model=builtin%2Foutline",
    "compare": "?tab=compare&bench=small&question=2&model=builtin%2Feliza&model=builtin%2Foutline",
    "find": "?tab=find&bench=small",
    "judge of grades": "?tab=judge&bench=small",
    "judge of pairs": "?tab=judge&bench=small&mode=pairwise-all",
    "vote": "?tab=vote&bench=small",
    "vote on a pair": "?tab=vote&bench=small&f.voter=ada",
    "runs": "?tab=runs&bench=small",
}


@pytest.fixture(scope="module", params=[(w, d) for w in (1440, 390) for d in (False, True)], ids=str)
def sized(request: pytest.FixtureRequest, watched: Watched, demo: str) -> tuple[Any, int, bool]:
    """Return a page for all views, with axe-core in it; its width; and whether it is dark."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    width, dark = request.param
    page, watched.address = watched.page, demo
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto(demo + VIEWS["grades"])
    settled(page)
    page.evaluate(axe.AXE_SCRIPT)
    return page, width, dark


@pytest.fixture(params=VIEWS)
def view(request: pytest.FixtureRequest, sized: tuple[Any, int, bool], watched: Watched) -> Iterator[Any]:
    """Return the page with one of the views; when the test ends it fails if the page did what it should not."""
    page, _, _ = sized
    before = settled(page)
    page.evaluate("(query) => turnbench.go(query)", VIEWS[request.param])
    settled(page, before)
    yield page
    assert watched.told() == []


def serious(page: Any) -> list[str]:
    """Return the serious and critical faults of a page, a line each."""
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then((results) => results.violations)")
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:200]}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]


def test_no_serious_fault_no_page_wider_than_the_window_and_text_stands_out(
    view: Any, sized: tuple[Any, int, bool]
) -> None:
    _, width, dark = sized
    assert serious(view) == []
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    colours = view.evaluate(
        "[document.querySelector('.gradio-container'), document.querySelector('.tb-view')]"
        ".map((e, i) => getComputedStyle(e)[i ? 'color' : 'backgroundColor'])"
    )
    paper, ink = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert (paper < 120 and ink > 600) if dark else (paper > 700 and ink < 150)

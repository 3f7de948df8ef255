"""axe-core finds no serious fault on any tab, light or dark, wide or narrow."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import settled

pytestmark = pytest.mark.browser
VIEWS = {
    "grades": "?tab=leaderboard&bench=small",
    "pairs": "?tab=leaderboard&bench=small&mode=pairwise-all",
    "answers": "?tab=answers&bench=small&question=2&model=builtin%2Foutline",
    "compare": "?tab=compare&bench=small&question=2&model=builtin%2Feliza&model=builtin%2Foutline",
    "find": "?tab=find&bench=small",
    "judge": "?tab=judge&bench=small&mode=pairwise-all",
    "vote": "?tab=vote&bench=small",
    "vote on a pair": "?tab=vote&bench=small&f.voter=ada",
    "runs": "?tab=runs&bench=small",
}


def faults(page: Any) -> list[str]:
    """Return the serious and critical faults of a page, a line each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:200]}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]


@pytest.fixture(scope="module", params=[(w, d) for w in (1440, 390) for d in (False, True)], ids=str)
def page(request: pytest.FixtureRequest, chromium: Any, demo: str) -> Iterator[Any]:
    """Return a page for all views: wide or narrow, light or dark."""
    width, dark = request.param
    scheme = "dark" if dark else "light"
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-US")
    opened = context.new_page()
    opened.goto(demo + VIEWS["grades"])
    settled(opened)
    yield opened
    context.close()


@pytest.mark.parametrize("name", VIEWS)
def test_no_serious_fault_and_no_page_wider_than_the_window(name: str, page: Any) -> None:
    before = settled(page)
    page.evaluate("(query) => turnbench.go(query)", VIEWS[name])
    settled(page, before)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

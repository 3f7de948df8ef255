"""axe-core finds no serious fault on any tab, light or dark, wide or narrow."""

from typing import Any

import pytest

from tests.browser.conftest import OpenView

pytestmark = pytest.mark.browser
VIEWS = {
    "grades": "?tab=leaderboard&bench=small",
    "pairs": "?tab=leaderboard&bench=small&mode=pairwise-all",
    "answers": "?tab=answers&bench=small&question=2&model=builtin%2Foutline",
    "compare": "?tab=compare&bench=small&question=2&model=builtin%2Feliza&model=builtin%2Foutline",
    "find": "?tab=find&bench=small",
    "judge": "?tab=judge&bench=small&mode=pairwise-all",
    "vote": "?tab=vote&bench=small",
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


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)], ids=["wide, light", "narrow, dark"])
def test_no_serious_fault(name: str, width: int, dark: bool, open_view: OpenView, demo: str) -> None:
    assert faults(open_view(demo, VIEWS[name], width=width, dark=dark)) == []

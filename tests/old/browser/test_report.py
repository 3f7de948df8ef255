"""The page of show_result --report in a real Chromium: on a desk, on a phone, and on paper."""

import pathlib
from typing import Any

import pytest

from harness.old.cli import show_result
from tests.old.small_bench import write

pytestmark = pytest.mark.browser

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a&b\u202e $x_1^2$ |pipe|", "name-" * 30)


@pytest.fixture(scope="module", params=["single", "pairwise-all"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where the page of a result lies whose models have names that would like to be more."""
    folder = tmp_path_factory.mktemp("report")
    both: dict[str, Any] = {"judge": ["<b>j</b>", "t"]}
    rows = []
    for question in range(1, 31):
        for turn in (1, 2):
            about = {"question_id": question, "turn": turn, **both}
            if request.param == "single":
                scores = [(name, (question * (at + 3) + turn) % 10 + 1) for at, name in enumerate(HOSTILE)]
                rows += [about | {"model": name, "score": score} for name, score in scores]
            else:
                pairs = [(x, y) for x in range(len(HOSTILE)) for y in range(x)]
                won = ("model_1", "model_2", "tie")
                rows += [
                    about
                    | {"model_1": HOSTILE[x], "model_2": HOSTILE[y]}
                    | {f"g{game}_winner": won[(question * x + y * game + turn) % 3] for game in (1, 2)}
                    for x, y in pairs
                ]
    write(folder / "j.jsonl", rows)
    words = ["--mode", str(request.param), "--input-file", str(folder / "j.jsonl"), "-q"]
    assert show_result.main([*words, "--report", str(folder / "page.html")]) == 0
    return pathlib.Path(folder / "page.html").as_uri()


def opened(chromium: Any, address: str, width: int) -> Any:
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(address)
    return page


@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_does_not_scroll_sideways_and_names_are_text(chromium: Any, address: str, width: int) -> None:
    page = opened(chromium, address, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("tbody th", has_text=HOSTILE[0]).count() > 0
    assert page.locator("script, img, b").count() == 0


def test_no_column_is_lost_on_paper(chromium: Any, address: str) -> None:
    page = opened(chromium, address, 688)  # what A4 has between its margins
    page.emulate_media(media="print")
    wide = page.evaluate("[...document.querySelectorAll('table')].map(table => table.getBoundingClientRect().right)")
    assert max(wide) <= 688

"""Pictures of every tab, wide and narrow, light and dark.

    python -m tests.old.browser.screenshots DATA_DIR FOLDER [NAME ...]

DATA_DIR is a data folder with results of `mt_bench`, as `make demo` leaves it in `demo/`. A NAME, such as
`compare-1440-light`, makes that picture alone; those in `docs/screenshots/` were made so.
"""

import io
import pathlib
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from tests.old.browser.conftest import ROOT, settled, start_viewer

VIEWS = {
    "leaderboard": "?tab=leaderboard",
    "pairs": "?tab=leaderboard&mode=pairwise-all",
    "answers": "?tab=answers&f.category=math",
    "compare": "?tab=compare&f.category=coding&mode=pairwise-all",
    "find": "?tab=find&mode=pairwise-all",
    "judge": "?tab=judge&mode=pairwise-all",
    "vote": "?tab=vote",
    "runs": "?tab=runs",
}
SIZES = {1440: 960, 390: 844}
_COLOURS = 128


def main(arguments: Sequence[str]) -> None:
    """Make the pictures."""
    from playwright.sync_api import sync_playwright

    data, folder, wanted = pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), set(arguments[2:])
    folder.mkdir(parents=True, exist_ok=True)
    process, address = start_viewer(data)
    try:
        with sync_playwright() as driver:
            program = shutil.which("chromium") or shutil.which("google-chrome")
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            for width, height in SIZES.items():
                for scheme in ("light", "dark"):
                    named = {name: f"{name}-{width}-{scheme}" for name in VIEWS}
                    if wanted and not wanted & set(named.values()):
                        continue
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-US"
                    )
                    for name, query in VIEWS.items():
                        if not wanted or named[name] in wanted:
                            _take(context, address + query, folder / f"{named[name]}.png", whole=not wanted)
                    context.close()
            browser.close()
    finally:
        process.terminate()
        process.wait(10)


def _take(context: Any, address: str, file: pathlib.Path, *, whole: bool) -> None:
    """Make one picture, of the window or of the whole page, in few colours."""
    from PIL import Image

    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    settled(page)
    page.wait_for_timeout(300)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    page.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])

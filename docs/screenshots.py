"""Makes the pictures of the README from the demo's results: `python -m docs.screenshots`.

It needs playwright (extra dev), a Chromium, and `make demo`.
"""

import pathlib
import shutil
import sys
from typing import Any

from viewer import app
from viewer.data import Home
from viewer.server import serve

FOLDER = pathlib.Path(__file__).resolve().parent / "screenshots"
BOTH = "model=builtin/reference&model=builtin/outline"
PICTURES = {
    "board": ("", 560),
    "questions": ("?tab=questions", 700),
    "question": (f"?tab=questions&question=1045&{BOTH}", 1000),
    "verdicts": ("?tab=verdicts&only=loss", 700),
    "vote": ("?tab=vote&voter=eva", 700),
}
"""Of each file the address and the height."""


def main(data_dir: str = "demo") -> None:
    """Write each picture."""
    from playwright.sync_api import sync_playwright

    views = app.Views(Home(data_dir))

    def build() -> tuple[Any, str]:
        return app.build(views), app.head()

    served = serve(build, port=0)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--no-proxy-server"]
        )
        for name, (query, height) in PICTURES.items():
            page = browser.new_page(viewport={"width": 1440, "height": height})
            page.goto(served.address + query)
            page.wait_for_function("Number(document.body?.dataset.shown || 0) > 0")
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()
    served.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Makes the pictures of the README from the demo's results: `python -m docs.screenshots`.

It needs playwright (extra dev), a Chromium, and `make demo`. Each picture carries the words of its
page, so that a test without a browser can tell when the page says something else.
"""

import html
import pathlib
import re
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


def words_of(views: app.Views, name: str) -> str:
    """Return what the page of a picture says, without how long a reply took."""
    page = views.show(PICTURES[name][0])[1]
    text = html.unescape(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))
    return re.sub(r"\d+\.\d s\b", "", " ".join(text.split()))


def words_in(name: str) -> str:
    """Return what the page of a picture said when the picture was made."""
    from PIL import Image

    with Image.open(FOLDER / f"{name}.png") as picture:
        return str(picture.info.get("words", ""))


def main(data_dir: str = "demo") -> None:
    """Write each picture."""
    from PIL import Image, PngImagePlugin
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
            page.locator("#tb-choices input").first.wait_for()
            path = FOLDER / f"{name}.png"
            page.screenshot(path=path)
            said = PngImagePlugin.PngInfo()
            said.add_itxt("words", words_of(views, name), zip=True)
            with Image.open(path) as picture:
                picture.save(path, pnginfo=said, optimize=True)
        browser.close()
    served.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

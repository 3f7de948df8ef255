"""The charts of a page as files, an SVG each, which any program can show."""

import pathlib
import re

from harness.old.errors import StorageError, UsageError
from harness.old.showing.items import Chart, Page

_WRITTEN = re.compile(rb"<!-- turnbench -->")
"""What a chart's file begins with."""
_VARIABLE = re.compile(r"var\(--[a-z0-9-]+, ([^)]*)\)")
_APART = re.compile(r"[^\w]+")


def check_folder(folder: pathlib.Path) -> None:
    """Raise `StorageError` unless charts can be written into a folder: it is there, or can be made."""
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{folder}: is not a folder, so charts cannot be written into it; name another one")


def write_charts(folder: pathlib.Path, page: Page) -> list[pathlib.Path]:
    """Write each chart of the page that has something to show, named after its title; return the files.

    Raises:
        StorageError: a file cannot be written, or there is one of that name that holds something else.
    """
    from harness.old.jsonl import need_own, put_text, storing

    check_folder(folder)
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    written: list[pathlib.Path] = []
    for chart in page.items:
        if not isinstance(chart, Chart):
            continue
        try:
            svg = chart.draw()
        except UsageError:  # nothing to draw
            continue
        path = _free(folder, _APART.sub("_", chart.title).strip("_").lower() or "chart", written)
        need_own(path, _WRITTEN, "a chart")
        # Colours are variables with a light one to fall back on; programs other than browsers know no variables.
        plain = _VARIABLE.sub(r"\1", svg)
        put_text(path, f"<!-- turnbench -->\n{plain}\n")
        written.append(path)
    return written


def _free(folder: pathlib.Path, name: str, taken: list[pathlib.Path]) -> pathlib.Path:
    """Return the path of a name that no other chart of the page has."""
    names = (folder / f"{name[:100]}{'' if at == 1 else f'_{at}'}.svg" for at in range(1, len(taken) + 2))
    return next(path for path in names if path not in taken)

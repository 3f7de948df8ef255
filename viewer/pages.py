"""From a view to HTML: Jinja2 templates, which escape everything but what `text` environment."""

import functools
import pathlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.reporting.templates import asset, digest
from harness.words import rounded
from viewer import people, text
from viewer.state import View

HERE = pathlib.Path(__file__).parent


@dataclass(frozen=True)
class Site:
    """Where pages are: in the viewer, or in a folder of files."""

    href: Callable[[View], str]
    """Returns the address of a view; "" if there is no such view."""
    live: bool = True
    """Whether there is a viewer that answers: controls, sorting."""
    writes: bool = False
    """Whether notes can be written."""


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        finalize=lambda value: text.readable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["styled"] = lambda written: Markup(text.styled(written))
    environment.filters["plain"] = lambda written: Markup(text.plain(written))
    environment.filters["number"] = number
    environment.filters["signed"] = signed
    environment.globals["name_pattern"] = people.IN_BROWSER
    return environment


def signed(difference: float, places: int) -> str:
    """Return a difference with its sign.

    >>> signed(0.25, 1), signed(-0.25, 1), signed(0.01, 1)
    ('+0.3', '-0.3', '0.0')
    """
    written = rounded(difference, places)
    return f"+{written}" if float(written) > 0 else written


def render(template: str, **values: Any) -> str:
    """Return a template filled in."""
    return _environment().get_template(template).render(**values)


def divide(view: View, site: Site, total: int, size: int) -> tuple[int, list[str]]:
    """Return where the view's page of a long list begins, and the addresses of those beside it.

    A page that is sent has all of the list.
    """
    last = max(1, -(-total // size))
    page = int(view.part) if view.part.isdecimal() and len(view.part) < 7 else 1
    page = min(max(page, 1), last)
    beside = [view.to(part=str(n)) if 1 <= n <= last else None for n in (page - 1, page + 1)]
    return (page - 1) * size, [site.href(to) if to and site.live else "" for to in beside]


def sealed(template: str, sheets: Iterable[str], script: str, **values: Any) -> str:
    """Return a whole page that needs nothing else and runs no other script than this."""
    style = "".join(map(asset, sheets)) + own_file("style.css")
    hashes = {"style_hash": digest(style), "script_hash": digest(script)}
    return render(template, style=style, script=script, **hashes, **values)


def own_file(name: str) -> str:
    """Return one of this room's files."""
    return (HERE / name).read_text(encoding="utf-8")


def number(value: float | None) -> str:
    """Return a grade or a share as a chip shows it: whole numbers without places."""
    if value is None or value != value:
        return "–"
    return f"{value:g}" if value == int(value) else rounded(value, 2 if 0 < value < 1 else 1)


def notice(words: str) -> str:
    """Return a message."""
    return render("notice.html", words=words)

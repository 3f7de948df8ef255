"""The templates of pages, tables and charts, filled in; all text in them is escaped."""

import base64
import functools
import hashlib
import pathlib
from typing import TYPE_CHECKING

from markupsafe import Markup

from harness.reporting.page import columns_of, shortened
from harness.words import printable

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = pathlib.Path(__file__).with_name("templates")
EM = 0.64
"""The width of a letter in units of its size, about."""


def render(template: str, **values: object) -> Markup:
    """Return a template filled in."""
    return Markup(_environment().get_template(template).render(**values))


def asset(name: str) -> str:
    """Return one of the style sheets and scripts beside the templates."""
    return (FOLDER / name).read_text(encoding="utf-8")


def ems_of(text: str) -> float:
    """Return about how wide a text is in a browser's usual font, in units of its size."""
    return EM * columns_of(printable(text))


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader  # slow to import, and text needs none

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["digest"] = digest
    environment.filters["fit"] = lambda text, ems: shortened(printable(text), ems / EM)
    return environment


def _written(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.2f}"
    return printable(value) if type(value) is str else value


def digest(text: str) -> str:
    """Return what a content security policy calls a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

"""A view of the viewer as its address: `?tab=questions&bench=mt_bench&model=a&model=b&sort=low`."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

MOST_MODELS = 50
"""Models that a view names; the board shows all without naming them."""
_MOST = 8_000
"""Characters of an address that is read."""


@dataclass(frozen=True)
class View:
    """What is shown; every field is in the address, and empty ones are left out."""

    tab: str = "board"
    """board, questions, verdicts, judges or vote."""
    bench: str = ""
    verdicts: str = ""
    """Which panel of judgments, as `Panels` calls it."""
    judge: str = ""
    """One judge or file of the panel; empty: all together."""
    other: str = ""
    """What the numbers are compared with: another judge or file."""
    criterion: str = ""
    """Which of the panel's numbers a list shows; empty: the main one."""
    model: tuple[str, ...] = ()
    question: str = ""
    """The question that is open; empty: the list of questions."""
    category: str = ""
    turn: str = ""
    """Of a list the turn it is of; of a conversation where it is opened."""
    only: str = ""
    """Which verdicts a list has: flipped, none, win, …"""
    least: str = ""
    most: str = ""
    """The grades that a list is of."""
    sort: str = ""
    find: str = ""
    """A regular expression to search for; in a conversation a text that is marked."""
    where: str = ""
    """What is searched: reasons, answers or questions."""
    changes: str = ""
    """`1`: what one answer has and the other does not is marked."""
    part: str = ""
    """Which page of a long list; `page` is a field of Gradio's own."""
    voter: str = ""
    plan: str = ""
    """How many votes a voter wants to cast."""
    show: str = ""
    """What of a voter's is shown: votes, last, result, or a vote to change."""

    def to(self, **changes: Any) -> Self:
        """Return another view; a list begins on its first page again."""
        return replace(self, **{"part": "", **changes})

    def query(self) -> str:
        """Return the address, from the question mark on."""
        pairs: list[tuple[str, str]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "model":
                pairs += [("model", name) for name in value]
            elif value != field.default:
                pairs.append((field.name, value))
        return "?" + urlencode(pairs, errors="replace")


_NAMES = frozenset(field.name for field in fields(View))


def parse(query: str) -> View:
    """Return the view of an address; what it does not know is left out."""
    pairs = parse_qsl(query[:_MOST].removeprefix("?"))
    values: dict[str, Any] = {name: value for name, value in pairs if name in _NAMES}
    models = [value for name, value in pairs if name == "model"]
    return View(**{**values, "model": tuple(dict.fromkeys(models[:MOST_MODELS]))})

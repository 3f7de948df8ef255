"""Whom a command talks to: a person at a terminal (`terminal.py`), or a program.

console.tell("3 questions to answer")          # a line for people
with console.bar(160, "answers") as progress:  # the runner calls `progress` as it goes on
    ...
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command without calls starts without what makes them
    from harness.reporting import Page
    from harness.running import Progress


class Console:
    """A program that calls the command: it is told nothing, agrees, and may follow the progress."""

    interactive = False
    """Whether somebody is there to answer a question."""

    def __init__(self, progress: Callable[[Progress], None] | None = None) -> None:
        self.progress = progress or (lambda _: None)

    def tell(self, text: str) -> None:
        """Say a line about what is being done."""

    def explain(self, text: str) -> None:
        """Say a line that only --verbose shows."""

    def warn(self, text: str) -> None:
        """Say that something is not as one may think."""

    def write(self, text: str) -> None:
        """Print a result."""

    def show(self, page: Page, name: str = "text") -> None:
        """Print a page in a format of the registry."""

    def agrees(self, question: str, *, default: bool) -> bool:
        """Ask a question, if somebody is there; return whether the answer is yes."""
        return True

    def agrees_midway(self, question: str) -> bool:
        """Ask in the middle of a run, if somebody is there; return whether the answer is yes."""
        return False

    def fail(self, text: str) -> None:
        """Say that something is wrong."""

    @contextlib.contextmanager
    def bar(self, total: int, unit: str) -> Iterator[Callable[[Progress], None]]:
        """Draw the progress of calls; yields what is to be called with it."""
        yield self.progress

    @contextlib.contextmanager
    def count(self, total: int, unit: str) -> Iterator[Callable[[], object]]:
        """Draw how many of `total` are done; yields what is to be called for each."""
        yield lambda: None

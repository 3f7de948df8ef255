"""The console of a person: messages on stderr, results on stdout."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from harness.cli.console import Console
from harness.registry import find

if TYPE_CHECKING:
    from harness.reporting import Page
    from harness.running import Progress

log = logging.getLogger("turnbench")


class Terminal(Console):
    """Somebody who reads, and may answer."""

    def __init__(self) -> None:
        super().__init__()
        self.interactive = all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr))
        self.quiet = not log.isEnabledFor(logging.INFO)

    def tell(self, text: str) -> None:
        """Say a line about what is being done."""
        log.info("%s", text)

    def explain(self, text: str) -> None:
        """Say a line that only --verbose shows."""
        log.debug("%s", text)

    def warn(self, text: str) -> None:
        """Say that something is not as one may think."""
        log.warning("%s", text)

    def write(self, text: str) -> None:
        """Print a result."""
        print(text, flush=True)

    def show(self, page: Page, name: str = "text") -> None:
        """Print a page in a format of the registry."""
        print(find("format", name)(page).removesuffix("\n"))

    def agrees(self, question: str, *, default: bool) -> bool:
        """Ask a question, if somebody is there; return whether the answer is yes."""
        if not self.interactive:
            return True
        sys.stderr.write(f"{question} [{'Y/n' if default else 'y/N'}] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()
        return answer in ("y", "yes") or (default and line != "" and not answer)

    def agrees_midway(self, question: str) -> bool:
        """Ask in the middle of a run; Ctrl-C is a no, and stops the run."""
        if not self.interactive:
            return False
        of_run = signal.signal(signal.SIGINT, signal.default_int_handler)
        stopped = False
        try:
            return self.agrees(f"\n{question}", default=False)
        except KeyboardInterrupt:
            stopped = True
            return False
        finally:
            signal.signal(signal.SIGINT, of_run)
            if stopped:
                signal.raise_signal(signal.SIGINT)

    def fail(self, text: str) -> None:
        """Say that something is wrong."""
        log.error("%s", text)

    @contextlib.contextmanager
    def bar(self, total: int, unit: str) -> Iterator[Callable[[Progress], None]]:
        """Draw the progress of calls; yields what is to be called with it."""
        from harness.running.bar import bar

        with bar(total, unit, quiet=self.quiet) as progress:
            yield progress

    @contextlib.contextmanager
    def count(self, total: int, unit: str) -> Iterator[Callable[[], object]]:
        """Draw how many of `total` are done; yields what is to be called for each."""
        from tqdm import tqdm

        hidden = self.quiet or not sys.stderr.isatty()
        with tqdm(total=total, unit=unit, disable=hidden, leave=False) as drawn:
            yield drawn.update

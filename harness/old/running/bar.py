"""The progress bar of long work, on stderr: rate, calls in flight, tries again, failures, tokens, cost."""

import contextlib
import math
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from harness.old.running.watch import Tally, Watcher

ON_TERMINAL, IN_FILE = 0.1, 10.0
"""Seconds between two drawings; a log file shall not fill with bars."""
_BAR = 10
"""Letters of the bar itself where its width is not set."""
_FIRST = "out", "tokens in", "through", "in batches", "in flight"
_LAST = "cost", "failed"
"""The figures that go first, and last, where a terminal is narrow."""


@contextlib.contextmanager
def tqdm_watch(total: int | None = None, unit: str = "job") -> Iterator[Watcher]:
    """Show a bar while the block runs; yield the watcher that moves it, for the `watch` of any function that has one.

        with harness.tqdm_watch() as watch:
            harness.gen_answer("gpt-4.1", watch=watch)

    Without a `total` it is what the run has planned. The bar is drawn again when nothing was done, too: in a wait for
    the server the user sees time pass and calls in flight.
    """
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0  # no thread that looks after it: it is drawn from here, and threads forbid a fork
        figures: Mapping[str, str] = {}

        def __str__(self) -> str:
            """Return the bar with as many figures as there is room for: tqdm would cut 239 to "2"."""
            fields = self.format_dict
            room = fields["ncols"] or math.inf
            spare = 0 if self.total is None else _BAR - 1  # of a bar that is drawn, one letter will do
            for figures in fewer(self.figures):
                fields["postfix"] = figures
                if len(self.format_meter(**fields | {"ncols": None})) - spare <= room:
                    break
            return str(self.format_meter(**fields))

    def opened(total: int | None) -> Any:
        return Bar(total=total, unit=f" {unit}s", file=sys.stderr, dynamic_ncols=True)

    pause = ON_TERMINAL if sys.stderr.isatty() else IN_FILE
    drawn = None if total is None else opened(total)
    due = time.monotonic() + pause
    last: Tally | None = None

    def watch(tally: Tally) -> None:
        nonlocal drawn, due, last
        last = tally
        if drawn is None:
            drawn = opened(tally.planned or None)
        now = time.monotonic()
        if now >= due:  # it is called for every reply: most of the time this is all it does
            due = now + pause
            with contextlib.suppress(OSError):  # nobody watches any more: no reason to stop work that is paid for
                _set(drawn, tally)
                drawn.refresh()

    try:
        yield watch
    finally:
        if drawn is not None:
            if last is not None:
                _set(drawn, last)
            with contextlib.suppress(OSError):
                drawn.close()


def _set(drawn: Any, tally: Tally) -> None:
    drawn.n = tally.done + len(tally.failures)
    drawn.figures = _figures(tally)


def told(tally: Tally) -> str:
    """Return the numbers beside the bar, without zeros."""
    return ", ".join(_figures(tally).values())


def fewer(figures: Mapping[str, str]) -> Iterator[str]:
    """Yield all figures, then ever fewer until none is left: what failed and what it cost are the last to go."""
    left = dict(figures)
    others = [name for name in reversed(left) if name not in (*_FIRST, *_LAST)]
    yield ", ".join(left.values())
    for name in (*_FIRST, *others, *_LAST):
        if left.pop(name, None) is not None:
            yield ", ".join(left.values())


def _figures(tally: Tally) -> dict[str, str]:
    """Return the figures by name, in the order in which they are shown."""
    figures = {
        "in flight": tally.in_flight,
        "in batches": tally.batched,
        "through": tally.processed,
        "retries": tally.retries,
        "failed": len(tally.failures),
        **tally.flagged,
        "tokens in": tally.prompt_tokens,
        "out": tally.completion_tokens,
    }
    wait = math.ceil(tally.resumes_at - time.monotonic()) if tally.resumes_at and not tally.in_flight else 0
    figures["waiting, seconds"] = wait if wait > 1 else 0
    found = {name: f"{name} {_short(count)}" for name, count in figures.items() if count}
    if tally.in_flight and tally.limit:
        found["in flight"] += f" of {_short(tally.limit)}"
    if tally.cost is not None:
        found["cost"] = f"${tally.cost:,.2f}" if tally.cost >= 0.995 else f"${tally.cost:.4f}"
    first = {}
    if tally.stopping and tally.in_flight:
        first["stopping"] = "stopping, Ctrl-C again to stop at once"
    if tally.failing_since is not None and tally.given_up_at is not None:
        now = time.monotonic()
        silence, left = now - tally.failing_since, max(0.0, tally.given_up_at - now)
        first["silence"] = f"no reply for {silence:.0f} s, given up in {left:.0f} s"
    return first | found


def _short(count: int) -> str:
    return f"{count / 1e6:.1f}M" if count >= 1e6 else f"{count / 1e3:.0f}k" if count >= 10_000 else str(count)

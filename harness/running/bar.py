"""The progress bar of long work, on stderr: rate, calls in flight, tries again, failures, tokens, cost."""

import contextlib
import math
import sys
import time
from collections.abc import Iterator
from typing import Any

from harness.running.watch import Tally, Watcher

ON_TERMINAL, IN_FILE = 0.1, 10.0
"""Seconds between two drawings; a log file shall not fill with bars."""


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
    drawn.set_postfix_str(told(tally), refresh=False)


def told(tally: Tally) -> str:
    """Return the numbers beside the bar, without zeros."""
    figures = {
        "in flight": tally.in_flight,
        "of": tally.limit if tally.in_flight else None,
        "in batches": tally.batched,
        "through": tally.processed,
        "retries": tally.retries,
        "failed": len(tally.failures),
        **tally.flagged,
        "tokens in": tally.prompt_tokens,
        "out": tally.completion_tokens,
    }
    wait = math.ceil(tally.resumes_at - time.monotonic()) if tally.resumes_at and not tally.in_flight else 0
    figures["waiting, seconds"] = wait if wait > 1 else None
    parts = [f"{name} {_short(count)}" for name, count in figures.items() if count]
    if tally.cost is not None:
        parts.append(f"${tally.cost:,.2f}" if tally.cost >= 0.995 else f"${tally.cost:.4f}")
    if tally.failing_since is not None and tally.given_up_at is not None:
        now = time.monotonic()
        silence, left = now - tally.failing_since, max(0.0, tally.given_up_at - now)
        parts.insert(0, f"no reply for {silence:.0f} s, given up in {left:.0f} s")
    if tally.stopping and tally.in_flight:
        parts.insert(0, "stopping, Ctrl-C again to stop at once")
    return ", ".join(parts).replace(", of ", " of ")


def _short(count: int) -> str:
    return f"{count / 1e6:.1f}M" if count >= 1e6 else f"{count / 1e3:.0f}k" if count >= 10_000 else str(count)

"""The progress bar of long work, on stderr: rate, calls in flight, tries again, failures, tokens."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from harness.running.watch import Tally, Watcher, nobody


@contextlib.contextmanager
def bar(total: int, unit: str, *, quiet: bool) -> Iterator[Watcher]:
    """Show a bar while the block runs; yield the watcher that moves it."""
    if quiet or not total:
        yield nobody
        return
    from tqdm import tqdm

    drawn: Any = tqdm(total=total, unit=unit, file=sys.stderr, dynamic_ncols=True, mininterval=0.2 if sys.stderr.isatty() else 10)

    def watch(tally: Tally) -> None:
        drawn.set_postfix_str(told(tally), refresh=False)
        drawn.update(tally.done + len(tally.failures) - drawn.n)

    try:
        yield watch
    finally:
        drawn.close()


def told(tally: Tally) -> str:
    """Return the figures beside the bar, those that are nought left out."""
    figures = {
        "in flight": tally.in_flight,
        "tried again": tally.retries,
        "failed": len(tally.failures),
        **tally.flagged,
        "tokens in": tally.prompt_tokens,
        "out": tally.completion_tokens,
    }
    return ", ".join(f"{name} {_short(count)}" for name, count in figures.items() if count)


def _short(count: int) -> str:
    return f"{count / 1e6:.1f}M" if count >= 1e6 else f"{count / 1e3:.0f}k" if count >= 10_000 else str(count)

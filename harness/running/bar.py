"""The progress of a run on a terminal: rate, failures, what it waits for, cost so far."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from harness.running.jobs import Progress
from harness.words import dollars

_TERMINAL, _FILE = 0.1, 10.0
"""Seconds between two drawings: a log file shall not fill with bars."""

_WORDS = {"length": "cut"}
"""Finish reasons that have another word for people."""


@contextlib.contextmanager
def bar(total: int, unit: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Draw a bar on stderr while the block runs; yields the function that moves it."""
    if quiet or not total:
        yield lambda _: None
        return
    from tqdm import tqdm

    pause = _TERMINAL if sys.stderr.isatty() else _FILE
    # Without smoothing: the rate is the mean since the start, and the time left follows from it.
    drawn = tqdm(
        total=total,
        unit=f" {unit}",
        dynamic_ncols=True,
        mininterval=pause,
        miniters=0,
        smoothing=0,
    )

    def move(progress: Progress) -> None:
        with contextlib.suppress(OSError):  # nobody looks any more: no reason to stop paid work
            drawn.set_description_str(progress.state or None, refresh=False)  # first: never cut
            drawn.set_postfix_str(figures(progress), refresh=False)
            drawn.update(progress.done + progress.failed - drawn.n)

    try:
        yield move
    finally:
        with contextlib.suppress(OSError):
            drawn.close()


def figures(progress: Progress) -> str:
    """Return the figures beside the bar, those that are not 0.

    >>> figures(Progress(failed=2, in_flight=16, cost=0.124))
    '2 failed, $0.12, 16 in flight'
    """
    parts = []
    counts = {
        "failed": progress.failed,
        **{_WORDS.get(reason, reason): count for reason, count in progress.flagged.items()},
        "tried again": progress.retries,
        "from cache": progress.from_cache,
    }
    parts += [f"{count:,} {name}" for name, count in counts.items() if count]
    if progress.cost:
        parts.append(dollars(progress.cost))
    if progress.in_flight:
        parts.append(f"{progress.in_flight} in flight")
    return ", ".join(parts)

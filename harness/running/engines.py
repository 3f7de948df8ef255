"""Which engine runs the jobs: the direct one, or the one for batches."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.running import direct
from harness.running.batches.ledger import ledger_beside, tell_of_batches
from harness.running.direct import Models
from harness.running.jobs import Course
from harness.running.options import RunOptions
from harness.running.watch import Tally, Watcher, nobody


def run(
    courses: Iterable[Course[Any]],
    models: Models,
    options: RunOptions = RunOptions(),
    *,
    planned: int = 0,
    watch: Watcher = nobody,
    sync: Callable[[], None] = lambda: None,
) -> Tally:
    """Run all jobs to their end and return the counts, as `direct.run` and `run_batches` say."""
    if options.batch:
        from harness.running.batches.engine import run_batches

        return run_batches(courses, models, options, planned=planned, watch=watch, sync=sync)
    return direct.run(_told(courses), models, options, planned=planned, watch=watch, sync=sync)


def _told(courses: Iterable[Course[Any]]) -> Iterator[Course[Any]]:
    """Yield the jobs, with a warning about those that are at a provider in batches."""
    seen = set()
    for course in courses:
        if course.pending not in seen:
            seen.add(course.pending)
            tell_of_batches(ledger_beside(course.pending.path))
        yield course

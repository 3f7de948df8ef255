"""How a file of results grows: when its last row was written, its rate, new rows, and why verdicts are missing.

Only the end of a file is read for its rate: of rows written at 0, 10 and 30 seconds, two in half a minute. Rows
written since the last count are added to it, so that a run can be followed without counting everything again.
"""

import contextlib
import pathlib
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from harness.old.errors import DataError
from harness.old.jsonl import Row, files_of, row_of, value_of
from harness.old.judgments.row import judged_row, rows_without_verdict
from harness.old.status import BenchStatus, JudgeStatus, ModelStatus
from viewer.old.places import End, ends_of

_END = 1 << 20
"""Bytes at the end of a file that are read."""
_TIME = re.compile(rb'"tstamp"\s*:\s*(\d{9,11}(?:\.\d+)?)')
_MOST_ROWS = 100
PAUSE = 600.0
"""Seconds without a row after which an earlier run has ended."""
_RECENT = 60.0


@dataclass(frozen=True, slots=True)
class Growth:
    """What is read from the end of a file."""

    last: float | None = None
    """When the last row was written; None if rows do not state it."""
    per_minute: float | None = None
    """Rows a minute, of the last ones that came without a pause; None of fewer than three."""
    ended: bool = False
    """Whether it is known that no program writes the file any more."""

    @property
    def recent(self) -> bool:
        """Whether a row was written within the last minute, by a program that may still be running."""
        return not self.ended and self.last is not None and time.time() - self.last < _RECENT


def growth_of(path: pathlib.Path) -> Growth:
    """Return how the file grows; nothing is known of a file that cannot be read."""
    times = [stated for line in last_lines(path) if (stated := written_at(line)) is not None]
    if not times:
        return Growth()
    times.sort()
    start = max((at for at, (one, other) in enumerate(pairwise(times), 1) if other - one > PAUSE), default=0)
    run = times[start:]
    spent = run[-1] - run[0]
    return Growth(run[-1], 60 * (len(run) - 1) / spent if len(run) > 2 and spent > 0.01 else None)


def last_lines(path: pathlib.Path) -> list[bytes]:
    """Return the last lines of a file; none of one that cannot be read."""
    try:
        with (files_of(path) or [path])[-1].open("rb") as file:  # what is compressed says nothing, and does not grow
            size = file.seek(0, 2)
            file.seek(max(0, size - _END))
            lines = file.read().splitlines()
    except OSError:
        return []
    return lines[1 if size > _END else 0 :][-_MOST_ROWS:]


def written_at(line: bytes) -> float | None:
    """Return when a row was written, in seconds since 1970; None if it does not state it."""
    times = _TIME.findall(line)
    return float(times[-1]) if times else None  # other objects on the line come before it, as all tools write it


def counted_on(
    status: BenchStatus, ends: Mapping[pathlib.Path, End]
) -> tuple[BenchStatus, Mapping[pathlib.Path, End]] | None:
    """Return the count updated by the rows after these offsets, and where the files end now.

    A run only writes rows that were missing or out of date, so each row reduces these counts by one. None: a
    file does not continue where it ended, and everything must be counted again.
    """
    paths = {*(model.path for model in status.models), *(judge.path for judge in status.judges)}
    now = ends_of(paths)
    if not all(path in ends and path in now and ends[path].continues(path) for path in paths):
        return None
    came = {path: list(_rows_between(ends[path].place, now[path].place, path)) for path in paths}
    models = [_answered_on(model, came[model.path]) for model in status.models]
    judges = [_judged_on(judge, came[judge.path]) for judge in status.judges]
    return replace(status, models=models, judges=judges), {**ends, **now}


def _rows_between(start: int, stop: int, path: pathlib.Path) -> Iterator[Row]:
    """Yield the rows between two offsets of a file; lines that are not rows are skipped."""
    with path.open("rb") as file:
        file.seek(start)
        for number, line in enumerate(file.read(max(0, stop - start)).splitlines(), 1):
            with contextlib.suppress(DataError):
                yield row_of(path, number, value_of(path, number, line))


def _answered_on(model: ModelStatus, rows: Iterable[Row]) -> ModelStatus:
    came = {row.value.get("question_id") for row in rows if isinstance(row.value.get("choices"), list)}
    missing, superseded = (tuple(key for key in keys if key not in came) for keys in (model.missing, model.superseded))
    done = len(model.missing) + len(model.superseded) - len(missing) - len(superseded)
    return replace(model, answered=model.answered + done, missing=missing, superseded=superseded)


def _judged_on(judge: JudgeStatus, rows: Iterable[Row]) -> JudgeStatus:
    came = {}
    for number, row in rows:
        with contextlib.suppress(DataError):
            judged = judged_row(row, judge.path, number)
            if judged.good and judged.source.judge == judge.judge and judged.source.sample == judge.sample:
                came[judged.key] = judged.unparsed
    missing = max(0, judge.missing - len(came))
    superseded = max(0, judge.superseded - max(0, len(came) - judge.missing))
    done = judge.missing + judge.superseded - missing - superseded
    unparsed = judge.unparsed + sum(came.values())
    return replace(judge, judged=judge.judged + done, missing=missing, superseded=superseded, unparsed=unparsed)


def reasons_in(path: pathlib.Path) -> Counter[str]:
    """Return why the judgments of a file without a verdict have none, as their rows say, the most frequent first."""
    found: Counter[str] = Counter()
    with contextlib.suppress(DataError):  # whoever shows the judgments says so
        for row in rows_without_verdict(path):
            reason = row.without_verdict[0].details.get("verdict_reason")  # a pair's two games are one judgment
            found[reason if isinstance(reason, str) and reason else "no reason is stored"] += 1
    return found

"""Read a large judgment file in several processes, a part each; a small one in this process alone.

The parts behind the first are read by a plain `python` each that sends back columns. It needs nothing of the caller's
program (which may have threads, or no `if __name__ == "__main__"`), and where it fails, or meets a line that is an
error, this process reads that part too and tells the error with its line.
"""

import contextlib
import gc
import marshal
import os
import pathlib
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness.jsonl.files import is_packed
from harness.judgments.case import Asked, Case
from harness.judgments.reading import Part, Torn
from harness.records import Source

if TYPE_CHECKING:
    import subprocess
    from array import array

LARGE = 50 << 20
"""Bytes for which a further process pays for its start."""
_MOST = 4
"""Processes; reading is then as fast as the disk."""
_HEAD_START = 30 << 20
"""Bytes that are read here while the others start, about 0.06 s."""
_PIPE = 1 << 20
"""Bytes that may wait between two processes, where the system allows it."""
_OTHER = "from harness.judgments.parts import send_part; send_part()"


def read_whole(part: Part, large: int = LARGE) -> None:
    """Read all of a part's file.

    Raises:
        DataError: the file cannot be read, or a line is not what it must be.
    """
    size = 0 if is_packed(part.path) else _size(part.path)
    count = min(_processes(), 1 + size // large)
    starts = [0] if count < 2 else [0, *_starts(part.path, size, count)]
    with contextlib.ExitStack() as until:
        others: list[subprocess.Popen[bytes] | None] = [None]
        for start, end in pairwise([*starts[1:], None]):
            others.append(other := _begun(part, start, end))
            if other is not None:
                until.enter_context(other)
                until.callback(other.kill)
        for (start, end), other in zip(pairwise([*starts, None]), others, strict=True):
            if other is None or not _join(part, other):
                part.read(start or 0, end)


def _begun(part: Part, start: int | None, end: int | None) -> "subprocess.Popen[bytes] | None":
    """Return a process that reads the lines between two places of a part's file; None if it cannot be started."""
    import subprocess

    # Modules are looked for where this process finds them, and nowhere else.
    home = str(pathlib.Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
    argv = [sys.executable, "-P", "-S", "-c", _OTHER, str(part.path), str(start), str(end or sys.maxsize)]
    argv.append("every" if part.every else "last")
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, pipesize=_PIPE, **quiet)
    except OSError:
        return None


def _join(part: Part, other: "subprocess.Popen[bytes]") -> bool:
    """Add what another process sends; return False if that cannot be, and nothing has been added."""
    assert other.stdout is not None
    try:
        sent = marshal.load(other.stdout)
    except (EOFError, ValueError, TypeError):
        return False
    if other.wait() != 0:
        return False
    form, torn, replaced, cases, asked, games, *columns = sent
    del sent
    if form is not None or torn is not None:
        if part.torn is not None or part.form not in {None, form}:
            return False
        part.form, part.torn = form, None if torn is None else Torn(*torn)
    known = (Case(models, turn, metric, Source(*source)) for models, turn, metric, source in cases)
    of_case = [part.cases.setdefault(case, len(part.cases)) for case in known]
    of_asked = [part.asked.setdefault(Asked(*about), len(part.asked)) for about in asked]
    of_games = [part.games.setdefault(tuple(own), len(part.games)) for own in games]
    # A column is let go as soon as it is added: of a large file, all of them would be in memory twice.
    if judged := columns.pop():
        part.fill_judged()
        part.judged.frombytes(judged)
    of_said = of_games if form == "pair" else []
    for column, places in ((part.said, of_said), (part.asked_at, of_asked), (part.case_at, of_case)):
        _extend(column, columns.pop(), places)
    part.replaced += replaced
    part.tidy()
    return True


def _extend(column: "array[Any]", more: bytes, places: list[int]) -> None:
    """Add numbers that another process gave, of which `places` says what they are here; as they are if it is empty."""
    if places != list(range(len(places))):
        import numpy as np

        given = np.frombuffer(more, dtype=column.typecode).astype(np.intp)
        more = np.array(places, dtype=column.typecode)[given].tobytes()
    column.frombytes(more)


def send_part() -> None:
    """Read the lines between two places of a file and write them to standard output as `_join` wants them.

    The path and the places are the command's arguments.
    """
    gc.disable()  # the rows hold no circles, and those that live on are looked through again and again
    path, start, end = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    part = Part(path, every=sys.argv[4] == "every")
    part.read(start, end)
    if part.several:
        sys.exit(1)  # labels and dimensions are few; the first process reads them
    torn = None if part.torn is None else tuple(part.torn)
    cases = [(*case[:3], tuple(case.source)) for case in part.cases]
    columns = tuple(column.tobytes() for column in (part.case_at, part.asked_at, part.said, part.judged))
    sent: Any = (part.form, torn, part.replaced, cases, list(map(tuple, part.asked)), list(part.games), *columns)
    sys.stdout.buffer.write(marshal.dumps(sent))


def _starts(path: pathlib.Path, size: int, count: int) -> list[int]:
    """Return the places of the lines at which the parts behind the first begin; fewer if the lines are few."""
    share = (size - min(_HEAD_START, size // count)) // count
    places = []
    try:
        with path.open("rb") as file:
            for behind in range(count - 1, 0, -1):
                file.seek(size - behind * share)
                file.readline()
                places.append(file.tell())
    except OSError:
        return []
    return [place for place in dict.fromkeys(places) if place < size]


def _size(path: pathlib.Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _processes() -> int:
    """Return in how many processes a file may be read: one where there is no second core, or no Python to run on it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    named = pathlib.Path(sys.executable or "").name.lower().startswith("python")
    return min(_MOST, cores) if named and not getattr(sys, "frozen", False) else 1

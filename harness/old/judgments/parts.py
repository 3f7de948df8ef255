"""Read a large judgment file in several processes, a part each; a small one in this process alone.

The parts behind the first are read by a plain `python` each that writes columns to a temporary file. It needs nothing
of the caller's program (which may have threads, or no `if __name__ == "__main__"`), and if it fails, or a line is
invalid, this process reads that part too and reports the error with its line.
"""

import contextlib
import gc
import os
import pathlib
import pickle
import sys
from itertools import islice, pairwise
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from harness.old.jsonl.files import is_packed
from harness.old.judgments.reading import Part

if TYPE_CHECKING:
    import subprocess
    from array import array

LARGE = 128 << 20
"""Bytes for which a further process pays for its start: two read 100 MB no faster than one, 200 MB by an eighth."""
_MOST = 4
"""Processes; reading is then as fast as the disk."""
_HEAD_START = 60 << 20
"""Bytes that are read here while the others start, about 0.07 s."""
_OTHER = "from harness.old.judgments.parts import send_part; send_part()"


def read_whole(part: Part, large: int = LARGE) -> None:
    """Read all of a part's file.

    Raises:
        DataError: the file cannot be read, or a line is not what it must be.
    """
    size = 0 if is_packed(part.path) else _size(part.path)
    count = min(_processes(), 1 + size // large)
    starts = [0] if count < 2 else [0, *_starts(part.path, size, count)]
    with contextlib.ExitStack() as until:
        others: list[_Other | None] = [None]
        for start, end in pairwise([*starts[1:], None]):
            others.append(other := _begun(part, start, end, until))
            if other is not None:
                until.enter_context(other.process)
                until.callback(other.process.kill)
        for (start, end), other in zip(pairwise([*starts, None]), others, strict=True):
            if other is None or not _join(part, other):
                part.read(start or 0, end)


class _Other(NamedTuple):
    """A process that reads a part."""

    process: "subprocess.Popen[bytes]"
    sent: IO[bytes]
    """Its output: a file, since with a pipe it would block until all earlier parts are read."""


def _begun(part: Part, start: int | None, end: int | None, until: contextlib.ExitStack) -> _Other | None:
    """Return a process that reads the lines between two places of a part's file; None if it cannot be started."""
    import subprocess
    import tempfile

    # Modules are looked for where this process finds them, and nowhere else.
    home = str(pathlib.Path(__file__).resolve().parents[3])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
    argv = [sys.executable, "-P", "-S", "-c", _OTHER, str(part.path), str(start), str(end or sys.maxsize)]
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        sent = until.enter_context(tempfile.TemporaryFile(prefix="turnbench-"))  # noqa: SIM115
        return _Other(subprocess.Popen(argv, stdout=sent, env=env, **quiet), sent)
    except OSError:
        return None


def _join(part: Part, other: _Other) -> bool:
    """Add what another process sent; return False if that cannot be, and nothing has been added."""
    if other.process.wait() != 0:
        return False
    of_case: list[int] = []
    of_asked: list[int] = []
    of_games: list[int] = []
    size = other.sent.seek(0, os.SEEK_END)
    other.sent.seek(0)
    while other.sent.tell() < size:
        form, torn, cases, asked, games, *columns = pickle.load(other.sent)
        if form is not None or torn is not None:
            if part.torn is not None or part.form not in {None, form}:  # seen at the first rows: they are of one form
                return False
            part.form, part.torn = form, torn
        of_case += [part.cases.setdefault(case, len(part.cases)) for case in cases]
        of_asked += [part.asked.setdefault(about, len(part.asked)) for about in asked]
        of_games += [part.games.setdefault(own, len(part.games)) for own in games]
        if judged := columns.pop():
            part.fill_judged()
            part.judged.frombytes(judged)
        of_said = of_games if form == "pair" else []
        for column, places in ((part.said, of_said), (part.asked_at, of_asked), (part.case_at, of_case)):
            _extend(column, columns.pop(), places)
        part.move()
    return True


def _extend(column: "array[Any]", more: bytes, places: list[int]) -> None:
    """Add numbers that another process gave, of which `places` says what they are here; as they are if it is empty."""
    if places != list(range(len(places))):
        import numpy as np

        given = np.frombuffer(more, dtype=column.typecode).astype(np.intp)
        more = np.array(places, dtype=column.typecode)[given].tobytes()
    column.frombytes(more)


class _Sent(Part):
    """A part that is read for another process."""

    _told = 0, 0, 0
    """How many cases, questions and outcomes that process knows."""

    def move(self) -> None:
        """Write the last rows to standard output as `_join` wants them."""
        names: tuple[dict[Any, int], ...] = self.cases, self.asked, self.games
        named = [list(islice(own, told, None)) for own, told in zip(names, self._told, strict=True)]
        self._told = len(self.cases), len(self.asked), len(self.games)
        columns = [column.tobytes() for column in (self.case_at, self.asked_at, self.said, self.judged)]
        pickle.dump((self.form, self.torn, *named, *columns), sys.stdout.buffer)
        self.clear()


def send_part() -> None:
    """Read the lines between two places of a file, the command's arguments, and write what they say to standard
    output."""
    gc.disable()  # the rows hold no circles, and those that live on are looked through again and again
    part = _Sent(pathlib.Path(sys.argv[1]))
    part.read(int(sys.argv[2]), int(sys.argv[3]))
    if part.several:
        sys.exit(1)  # labels and dimensions are few; the first process reads them
    part.move()


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

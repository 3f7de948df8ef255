"""Read a large judgment file in two processes, a half each; a small one in this process alone.

The second half is read by a plain `python` that sends back columns. It needs nothing of the caller's program (which may
have threads, or no `if __name__ == "__main__"`), and where it fails, or meets a line that is an error, this process
reads that half too and tells the error with its line.
"""

import gc
import marshal
import os
import pathlib
import sys
from array import array
from typing import Any

from harness.judgments.observations import Asked, Case
from harness.judgments.reading import Part, Torn
from harness.records import Source

LARGE = 100 << 20
"""Bytes from which a second process pays for its start."""
_HEAD_START = 60 << 20
"""Bytes that are read here while the second process starts, about 0.1 s."""
_PIPE = 1 << 20
"""Bytes that may wait between the two processes, where the system allows it."""
_SECOND = "from harness.judgments.halves import send_part; send_part()"


def read_whole(part: Part, large: int = LARGE) -> None:
    """Read all of a part's file.

    Raises:
        DataError: the file cannot be read, or a line is not what it must be.
    """
    middle = _middle(part.path) if _size(part.path) >= large and _second_is_possible() else None
    if middle is None:
        part.read(0, None)
    else:
        _read_halves(part, middle)


def _read_halves(part: Part, middle: int) -> None:
    import subprocess

    # Modules are looked for where this process finds them, and nowhere else.
    home = str(pathlib.Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
    argv = [sys.executable, "-P", "-S", "-c", _SECOND, str(part.path), str(middle)]
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        second = subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, pipesize=_PIPE, **quiet)
    except OSError:
        part.read(0, None)
        return
    with second:
        try:
            part.read(0, middle)
            sent = second.stdout.read() if second.stdout else b""
            second.wait()
        except BaseException:
            second.kill()
            raise
    if second.returncode != 0 or not _join(part, sent):
        part.read(middle, None)


def _join(part: Part, sent: bytes) -> bool:
    """Add what the second process sent; return False if that cannot be, and nothing has been added."""
    form, torn, cases, asked, games, order, asked_of, said_of = marshal.loads(sent)
    if form is not None or torn is not None:
        if part.torn is not None or part.form != form:
            return False
        part.torn = None if torn is None else Torn(*torn)
    sources = [(*case[:3], Source(*case[3])) for case in cases]
    case_at = [part.cases.setdefault(Case(*case), len(part.cases)) for case in sources]
    about_at = [part.asked.setdefault(Asked(*about), len(part.asked)) for about in asked]
    game_at = [part.games.setdefault(tuple(own), len(part.games)) for own in games]
    same_about, same_games = (at == list(range(len(at))) for at in (about_at, game_at))
    part.make_room()
    part.columns.follow(array("i", order), case_at)
    for case, about, said in zip(case_at, asked_of, said_of, strict=True):
        abouts = array("i", about)
        part.columns.asked_of[case].extend(abouts if same_about else array("i", map(about_at.__getitem__, abouts)))
        ours = part.columns.said_of[case]
        if form == "grade" or same_games:
            ours.frombytes(said)
        else:
            ours.extend(map(game_at.__getitem__, array("i", said)))
    return True


def send_part() -> None:
    """Read the lines of a file from a place to the end and write them to standard output as `_join` wants them.

    The path and the place are the command's arguments.
    """
    gc.set_threshold(50_000)
    path, start = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    part = Part(path)
    part.read(start, None)
    if part.several:
        sys.exit(1)  # labels and dimensions are few; the first process reads them
    torn = None if part.torn is None else tuple(part.torn)
    cases = [(*case[:3], tuple(case.source)) for case in part.cases]
    columns = part.columns
    rows = ([column.tobytes() for column in columns.asked_of], [column.tobytes() for column in columns.said_of])
    sent: Any = (part.form, torn, cases, list(map(tuple, part.asked)), list(part.games), columns.order.tobytes(), *rows)
    sys.stdout.buffer.write(marshal.dumps(sent))


def _middle(path: pathlib.Path) -> int | None:
    """Return the place of the line at which the second process begins, or None if there is none."""
    try:
        with path.open("rb") as file:
            size = _size(path)
            file.seek((size + min(_HEAD_START, size // 2)) // 2)
            file.readline()
            place = file.tell()
            return place if file.read(1) else None
    except OSError:
        return None


def _size(path: pathlib.Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _second_is_possible() -> bool:
    """Return whether there is a second core, and a Python to run on it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    named = pathlib.Path(sys.executable or "").name.lower().startswith("python")
    return cores > 1 and named and not getattr(sys, "frozen", False)

"""Where every row of a benchmark is, by file and by question: one SQLite file of places.

    index = Index(bench)
    index.update()                          reads what is new in the files since the last time
    index.read(81, "answer")                the whole rows about a question, from their files
    index.rows_at(path, {0, 7})             some rows of a file, by their number in it

What rows say is read by `harness.results.read`; here is only where they are. The file is
`.turnbench/index.sqlite`, or in the user's cache folder where that cannot be written. A file that
has grown is read on from where the last reading ended; one that was changed in any other way is
read anew.
"""

import contextlib
import hashlib
import itertools
import os
import pathlib
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from harness import store
from harness.bench import Bench
from harness.errors import DataError
from harness.types import Answer, Judgment, Measurement, QuestionId, Row, Vote
from harness.words import counted

L = TypeVar("L")

KINDS: dict[str, type[Row]] = {
    "answer": Answer,
    "reference": Answer,
    "judgment": Judgment,
    "vote": Vote,
    "metric": Measurement,
}
_VERSION = 5
"""Of the tables; an index of another version is made anew."""
_TABLES = """
create table files (
    id integer primary key, path text unique, kind text, stamp text default '',
    size_read integer default 0, lines integer default 0, rows integer default 0,
    edges text default '', fault text default '');
create table rows (
    file integer, number integer, offset integer, length integer, question, good integer,
    primary key (file, number)) without rowid;
create table facts (name text primary key, version text, value text);
"""
_INSERT = "insert or replace into rows values (?, ?, ?, ?, ?, ?)"
_BY_QUESTION = "create index if not exists by_question on rows (question, file, number)"


class Index:
    """The rows of one benchmark; safe to use from several threads, which take turns."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = _writable(bench)
        self.progress = ""
        """What `update` is doing, in words; empty: it is not running."""
        self._row_faults: dict[str, None] = {}
        self._lock = threading.RLock()
        self._base = sqlite3.connect(self.path, check_same_thread=False, timeout=60)
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = off")  # it can be made again
        if self._base.execute("pragma user_version").fetchone()[0] != _VERSION:
            for table in ("files", "rows", "facts"):
                self._base.execute(f"drop table if exists {table}")
            self._base.executescript(f"{_TABLES}; pragma user_version = {_VERSION};")

    def update(self) -> bool:
        """Read what has changed in the benchmark's files; return whether anything has."""
        with self._lock:
            files = _files(self.bench)
            changed = False
            for (path,) in self._all("select path from files"):
                if pathlib.Path(path) not in files:
                    self._drop(path)
                    changed = True
            try:
                for at, (path, kind) in enumerate(files.items(), 1):
                    self.progress = f"reading {at} of {len(files)} files"
                    with contextlib.suppress(FileNotFoundError):
                        changed |= self._look(path, kind)
                # At the end: to sort all rows once costs less than to keep them sorted meanwhile.
                self._base.execute(_BY_QUESTION)
                self._base.commit()
            finally:
                self.progress = ""
            if changed:
                self._row_faults.clear()
            return changed

    @property
    def version(self) -> str:
        """What changes with the files."""
        stamps = self._all("select path, stamp from files order by path")
        return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]

    @property
    def faults(self) -> list[str]:
        """What is wrong with files, a line each; the rows before the fault are in the index.

        What is wrong with a row but its question is noticed when it is read.
        """
        query = "select fault from files where fault != '' order by path"
        return [*(fault for (fault,) in self._all(query)), *self._row_faults]

    def fact(self, name: str) -> str | None:
        """Return what was noted about the files as they are now."""
        query = "select value from facts where name = ? and version = ?"
        return next((value for (value,) in self._all(query, name, self.version)), None)

    def note(self, name: str, value: str) -> None:
        """Keep what follows from the files as they are now, for `fact`."""
        with self._lock:
            values = (name, self.version, value)
            self._base.execute("insert or replace into facts values (?, ?, ?)", values)
            self._base.commit()

    def rows_at(self, path: pathlib.Path, numbers: Collection[int]) -> dict[int, Any]:
        """Return some rows of a file, whole, by their number in it, which counts from 0.

        Raises:
            DataError: a file was changed since `update`.
        """
        query = (
            "select kind, number, offset, length from rows join files on id = file "
            "where path = ? and number in (select value from json_each(?)) order by number"
        )
        places = self._all(query, str(path), str(list(numbers)))
        if not places:
            return {}
        at = [(offset, length) for *_, offset, length in places]
        found = store.rows_at(path, KINDS[places[0][0]], at)
        return {number: row for (_, number, *_), row in zip(places, found, strict=True)}

    def scan(
        self,
        path: pathlib.Path,
        light: type[L],
        kind: type[Row],
        needed: Callable[[bytes], object] | None = None,
    ) -> Iterator[Any]:
        """Yield the rows of a file, with some fields only, up to a line that is none.

        With `needed`, None stands for each row of some lines of which it says no.
        """
        decode = msgspec.json.Decoder(light).decode_lines
        query = "select 1 from files where path = ? and lines = rows and fault = ''"
        if needed is not None and not self._all(query, str(path)):
            needed = None  # some lines are no rows, and rows are counted by lines

        def lines(chunk: bytes) -> Sequence[L | None] | None:
            if needed is not None and not needed(chunk):
                return [None] * store.count_lines(chunk)
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError):
                return decode(chunk)
            return None

        with contextlib.suppress(DataError, FileNotFoundError):
            for block in store.blocks(path, lines, kind):
                yield from block

    def keep(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Keep rows as a table of this connection, for `select`; an earlier one is replaced."""
        names = ", ".join(columns)
        with self._lock:
            self._base.execute(f"drop table if exists temp.{table}")
            self._base.execute(f"create temp table {table} ({names})")
            marks = ", ".join("?" * len(columns))
            self._base.executemany(f"insert into temp.{table} values ({marks})", rows)
            self._base.commit()

    def select(self, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._lock:
            return self._base.execute(query, values).fetchall()

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.execute(query, values).fetchall()

    def read(self, question: QuestionId, kind: str) -> list[tuple[Any, pathlib.Path]]:
        """Return the rows of a kind about a question, whole, and the file of each.

        Of rows of a file with equal keys it is the last good one. What is no row of its kind is
        left out, and one of the `faults`.
        """
        query = (
            "select path, number, offset, length from rows join files on id = file "
            "where question = ? and kind = ? order by path, number"
        )
        found = []
        places = self._all(query, question, kind)
        for path, group in itertools.groupby(places, key=lambda place: place[0]):
            rows = self._rows(pathlib.Path(path), kind, [place[1:] for place in group])
            counting = store.latest_of(rows, _key).values()
            found += [(row, pathlib.Path(path)) for row in counting]
        return found

    def _rows(
        self, path: pathlib.Path, kind: str, places: Sequence[tuple[int, int, int]]
    ) -> list[Any]:
        """Return the rows of a file at places; those that are none are noted."""
        try:
            return store.rows_at(path, KINDS[kind], [place[1:] for place in places])
        except DataError:  # one of them; now each by itself
            found: list[Any] = []
        for number, offset, length in places:
            try:
                found += store.rows_at(path, KINDS[kind], [(offset, length)])
            except DataError as error:
                where = f"{path.name}:{number + 1}: "  # the line, unless one before it is blank
                self._row_faults[str(error).replace(f"{path}: ", where)] = None
        return found

    def questions(self, path: pathlib.Path) -> set[QuestionId]:
        """Return the questions that a file has good rows about."""
        query = (
            "select distinct question from rows where good and "
            "file = (select id from files where path = ?)"
        )
        return {question for (question,) in self._all(query, str(path))}

    def _drop(self, path: str) -> None:
        file = "(select id from files where path = ?)"
        self._base.execute(f"delete from rows where file = {file}", (path,))
        self._base.execute("delete from files where path = ?", (path,))

    def _look(self, path: pathlib.Path, kind: str) -> bool:
        """Read what is new in a file; return whether anything was."""
        stat = path.stat()
        stamp = f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"
        query = "select id, stamp, size_read, lines, rows, edges from files where path = ?"
        records = self._all(query, str(path)) or [(0, "", 0, 0, 0, "")]
        file, last_stamp, size_read, lines, count, edges = records[0]
        if stamp == last_stamp:
            return False
        may_have_grown = size_read < stat.st_size and path.suffix != ".gz"
        if not may_have_grown or edges != store.fingerprint(path, size_read):
            self._drop(str(path))
            insert = "insert into files (path, kind) values (?, ?)"
            file = self._base.execute(insert, (str(path), kind)).lastrowid
            size_read = lines = count = 0
        fault = ""
        try:
            for heads in store.heads(path, KINDS[kind], offset=size_read, line=lines + 1):
                numbers = range(count, count + len(heads.questions))
                columns = (numbers, heads.offsets, heads.lengths, heads.questions, heads.good)
                rows = zip(itertools.repeat(file), *columns, strict=False)
                self._base.executemany(_INSERT, rows)
                count, lines = numbers.stop, heads.line
                size_read = heads.offsets[-1] + heads.lengths[-1]
        except DataError as error:
            fault = say_fault(error)
        except OverflowError:
            fault = f"{path.name}: a question id has more digits than the viewer's index can hold"
        facts = (stamp, size_read, lines, count, store.fingerprint(path, size_read), fault)
        names = "stamp = ?, size_read = ?, lines = ?, rows = ?, edges = ?, fault = ?"
        self._base.execute(f"update files set {names} where id = ?", (*facts, file))
        return True


def say_fault(fault: DataError) -> str:
    """Return what is wrong with a file, without its folder, and how much of it is not read."""
    behind = store.count_behind(fault)
    what = f"it and the {counted(behind, 'line')} behind it are" if behind else "it is"
    text = str(fault).replace(str(fault.path), pathlib.Path(fault.path or "").name)
    return f"{text}. Until it is mended, {what} in no number here"


def _key(row: Any) -> Any:
    """Return what rows of a file have in common of which the last good one counts."""
    return (row.key, row.judge) if isinstance(row, Judgment) else row.key


def _files(bench: Bench) -> dict[pathlib.Path, str]:
    """Return the benchmark's files, each with the kind of its rows."""
    kinds: dict[str, Iterable[pathlib.Path]] = {
        "answer": bench.answer_files().values(),
        "reference": bench.reference_files().values(),
        "judgment": [judged.path for judged in bench.judgment_files()],
        "vote": bench.vote_files(),
        "metric": bench.metric_files(),
    }
    return {path: kind for kind, paths in kinds.items() for path in paths}


def _writable(bench: Bench) -> pathlib.Path:
    """Return the index's path: in the benchmark's folder, else in the user's cache folder."""
    with contextlib.suppress(OSError):
        bench.state.mkdir(parents=True, exist_ok=True)
        if os.access(bench.state, os.W_OK):
            return bench.state / "index.sqlite"
    caches = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = caches / "turnbench"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(bench.folder.resolve()).encode()).hexdigest()[:16]
    return folder / f"{name}.sqlite"

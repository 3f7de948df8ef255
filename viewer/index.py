"""Where every row of a benchmark is, and what it says without its texts: one SQLite file.

    index = Index(bench)
    index.update()                          reads what is new in the files since the last time
    index.slims("judgment", "vote")         every row without its texts, for `results.of_files`
    index.read(81, "answer")                the whole rows about a question, from their files

The file is `.turnbench/index.sqlite`, or in the user's cache folder where that cannot be written.
A file that has grown is read on from where the last reading ended; one that was changed in any
other way is read anew. Of rows with equal keys in a file the last good one counts.
"""

import contextlib
import hashlib
import os
import pathlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from harness import store
from harness.bench import Bench
from harness.errors import DataError
from harness.types import Answer, Detail, Judgment, MadeFrom, Measurement, QuestionId, Row, Vote

KINDS: dict[str, type[Row]] = {
    "answer": Answer,
    "reference": Answer,
    "judgment": Judgment,
    "vote": Vote,
    "metric": Measurement,
}
_VERSION = 1
"""Of the tables; an index of another version is made anew."""
_BATCH = 2_000
_EDGE = 1_024
"""Bytes at the start and before the end of what was read that tell whether a file only grew."""
_TABLES = """
create table files (
    id integer primary key, path text unique, kind text, inode integer, size integer,
    mtime integer, size_read integer, lines integer, edges text, fault text);
create table rows (
    file integer, key integer, offset integer, length integer, kind text, question text,
    good integer, slim blob, unique (file, key));
create index by_question on rows (question, kind);
"""


class Found(NamedTuple):
    """A row, whole, and its file."""

    row: Any
    path: pathlib.Path


class Index:
    """The rows of one benchmark; safe to use from several threads, which take turns."""

    def __init__(self, bench: Bench, progress: Callable[[str], None] = lambda text: None) -> None:
        """`progress` is told which file is being read."""
        self.bench, self.progress = bench, progress
        self.path = _writable(bench)
        self.generation = 0
        """Changes with every change of a file."""
        self._lock = threading.RLock()
        self._base = sqlite3.connect(self.path, check_same_thread=False, timeout=60)
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = off")  # it can be made again
        if self._base.execute("pragma user_version").fetchone()[0] != _VERSION:
            for table in ("files", "rows"):
                self._base.execute(f"drop table if exists {table}")
            self._base.executescript(f"{_TABLES}; pragma user_version = {_VERSION};")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def update(self) -> int:
        """Read what has changed in the benchmark's files; return `generation`."""
        with self._lock:
            there = dict(_files(self.bench))
            changed = False
            columns = "path, id, inode, size, mtime, size_read, lines, edges"
            known = {row[0]: row[1:] for row in self._base.execute(f"select {columns} from files")}
            for path, (number, *_) in known.items():
                if pathlib.Path(path) not in there:
                    self._drop(number)
                    changed = True
            for path, kind in there.items():
                with contextlib.suppress(FileNotFoundError):
                    changed |= self._look(path, kind, known.get(str(path)))
            self._base.commit()
            self.generation += changed
            return self.generation

    @property
    def faults(self) -> list[str]:
        """What is wrong with files, a line each; the rows before the fault are in the index."""
        query = "select fault from files where fault != '' order by path"
        return [fault for (fault,) in self._all(query)]

    def slims(self, *kinds: str) -> Iterator[tuple[str, Any]]:
        """Yield the file's name and the row without texts; of an answer its `Lengths`."""
        for kind in kinds:
            of_answers = kind in ("answer", "reference")
            decode = msgspec.msgpack.Decoder(Lengths if of_answers else KINDS[kind]).decode
            files = "select id, path from files where kind = ? order by path"
            for number, path in self._all(files, kind):
                name = pathlib.Path(path).name
                rows = self._all("select slim from rows where file = ? order by offset", number)
                for (slim,) in rows:
                    yield name, decode(slim)

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.execute(query, values).fetchall()

    def read(self, question: QuestionId, kind: str) -> list[Found]:
        """Return the rows of a kind about a question, whole, in the order of files and lines.

        Raises:
            DataError: a file was changed since `update`.
        """
        query = (
            "select path, offset, length from rows join files on id = file "
            "where question = ? and rows.kind = ? order by path, offset"
        )
        places = self._all(query, _id(question), kind)
        found = []
        for name, *place in places:
            path = pathlib.Path(name)
            found.append(Found(store.row_at(path, KINDS[kind], *place), path))
        return found

    def questions(self, path: pathlib.Path) -> set[QuestionId]:
        """Return the questions that a file has good rows about."""
        query = (
            "select distinct question from rows where good and "
            "file = (select id from files where path = ?)"
        )
        return {msgspec.json.decode(text) for (text,) in self._all(query, str(path))}

    def _drop(self, number: int) -> None:
        self._base.execute("delete from rows where file = ?", (number,))
        self._base.execute("delete from files where id = ?", (number,))

    def _look(self, path: pathlib.Path, kind: str, known: tuple[Any, ...] | None) -> bool:
        """Read what is new in a file; return whether anything was."""
        stat = path.stat()
        number, begin, lines = None, 0, 0
        if known is not None:
            number, inode, size, mtime, size_read, lines, edges = known
            if (inode, size, mtime) == (stat.st_ino, stat.st_size, stat.st_mtime_ns):
                return False
            grew = stat.st_size > size_read and inode == stat.st_ino and path.suffix != ".gz"
            if grew and edges == _edges(path, size_read):
                begin = size_read
            else:
                self._drop(number)
                number, lines = None, 0
        self.progress(path.name)
        if number is None:
            number = self._base.execute(
                "insert into files (path, kind) values (?, ?)", (str(path), kind)
            ).lastrowid
        assert number is not None
        begin, lines, fault = self._take(path, kind, number, begin, lines)
        facts = (stat.st_ino, stat.st_size, stat.st_mtime_ns, begin, lines, _edges(path, begin))
        self._base.execute(
            "update files set inode = ?, size = ?, mtime = ?, size_read = ?, lines = ?, edges = ?, "
            "fault = ? where id = ?",
            (*facts, fault, number),
        )
        return True

    def _take(
        self, path: pathlib.Path, kind: str, number: int, begin: int, lines: int
    ) -> tuple[int, int, str]:
        """Put the rows from an offset on into the table; return where they end, and the fault."""
        batch: list[tuple[Any, ...]] = []
        fault = ""
        rows = store.rows(path, KINDS[kind], offset=begin, line=lines + 1)
        try:
            for row, line, offset, length in rows:
                begin, lines = offset + length, line
                good = store.is_good(row)
                question, key, slim = _columns(row)
                batch.append((number, key, offset, length, kind, question, good, slim))
                if len(batch) >= _BATCH:
                    self._insert(batch)
                    batch = []
        except DataError as error:
            fault = str(error).replace(str(path), path.name)
        self._insert(batch)
        return begin, lines, fault

    def _insert(self, batch: list[tuple[Any, ...]]) -> None:
        self._base.executemany(
            "insert into rows values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (file, key) do update "
            "set offset = excluded.offset, length = excluded.length, good = excluded.good, "
            "slim = excluded.slim where excluded.good >= good",
            batch,
        )


_encode = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode


class Lengths(msgspec.Struct):
    """An answer without its texts."""

    question_id: QuestionId
    characters: list[int]
    """Of each turn."""


def _columns(row: Any) -> tuple[str, int, bytes]:
    """Return a row's question and key, and the row without its texts."""
    if isinstance(row, Answer):
        lengths = [len(text) for text in row.choices[0].turns]
        row, key = Lengths(row.question_id, lengths), row.key
    elif isinstance(row, Judgment):
        key = (row.key, row.judge)
        row.user_prompt = row.g1_user_prompt = row.g2_user_prompt = row.system_prompt = None
        row.judgment = row.g1_judgment = row.g2_judgment = None
        row.details = [
            Detail(usage=detail.usage, seconds=detail.seconds, batch=detail.batch)
            for detail in row.details
        ]
        if row.made_from is not None:
            row.made_from = MadeFrom(question=row.made_from.question)
    else:
        key = (row.key, row.model if isinstance(row, Measurement) else "")
        if isinstance(row, Measurement):
            row.checks = []
    digest = hashlib.blake2b(_encode_json(key), digest_size=8).digest()
    return _id(row.question_id), int.from_bytes(digest, signed=True), _encode(row)


def _id(question: QuestionId) -> str:
    return msgspec.json.encode(question).decode()


def _files(bench: Bench) -> Iterator[tuple[pathlib.Path, str]]:
    """Yield the benchmark's files, each with the kind of its rows."""
    for path in bench.answer_files().values():
        yield path, "answer"
    for path in bench.reference_files().values():
        yield path, "reference"
    for judged in bench.judgment_files():
        yield judged.path, "judgment"
    for path in bench.vote_files():
        yield path, "vote"
    for path in bench.metric_files():
        yield path, "metric"


def _edges(path: pathlib.Path, size: int) -> str:
    """Return a hash of the first and the last bytes of what was read of a file."""
    with path.open("rb") as file:
        head = file.read(min(_EDGE, size))
        file.seek(max(0, size - _EDGE))
        tail = file.read(min(_EDGE, size))
    return hashlib.blake2b(head + tail, digest_size=16).hexdigest()


def _writable(bench: Bench) -> pathlib.Path:
    """Return the index's path: in the benchmark's folder, else in the user's cache folder."""
    home = bench.state
    try:
        home.mkdir(parents=True, exist_ok=True)
        if os.access(home, os.W_OK):
            return home / "index.sqlite"
    except OSError:
        pass
    caches = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    name = hashlib.sha256(str(bench.folder.resolve()).encode()).hexdigest()[:16]
    folder = caches / "turnbench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.sqlite"

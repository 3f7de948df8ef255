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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from harness import store
from harness.bench import Bench
from harness.errors import DataError
from harness.types import Answer, Detail, Judgment, Measurement, QuestionId, Row, Vote

T = TypeVar("T", Answer, Judgment)

KINDS: dict[str, type[Row]] = {
    "answer": Answer,
    "reference": Answer,
    "judgment": Judgment,
    "vote": Vote,
    "metric": Measurement,
}
_WORDS = 200
"""Characters of a reason that a list shows."""
_VERSION = 4
"""Of the tables; an index of another version is made anew."""
_TABLES = """
create table files (
    id integer primary key, path text unique, kind text, stamp text default '',
    size_read integer default 0, lines integer default 0, edges text default '',
    fault text default '');
create table rows (
    file integer, offset integer, length integer, question text, key integer, good integer,
    slim blob, words text, unique (file, key));
create index by_question on rows (question);
"""
_INSERT = """
insert into rows values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (file, key) do update
set offset = excluded.offset, length = excluded.length, good = excluded.good, slim = excluded.slim,
    words = excluded.words
where excluded.good >= good
"""


class Index:
    """The rows of one benchmark; safe to use from several threads, which take turns."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = _writable(bench)
        self._lock = threading.RLock()
        self._base = sqlite3.connect(self.path, check_same_thread=False, timeout=60)
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = off")  # it can be made again
        version = _VERSION if bench.reasoning == "split" else -_VERSION  # the lengths differ
        if self._base.execute("pragma user_version").fetchone()[0] != version:
            for table in ("files", "rows"):
                self._base.execute(f"drop table if exists {table}")
            self._base.executescript(f"{_TABLES}; pragma user_version = {version};")

    def update(self) -> bool:
        """Read what has changed in the benchmark's files; return whether anything has."""
        with self._lock:
            files = _files(self.bench)
            changed = False
            for (path,) in self._all("select path from files"):
                if pathlib.Path(path) not in files:
                    self._drop(path)
                    changed = True
            for path, kind in files.items():
                with contextlib.suppress(FileNotFoundError):
                    changed |= self._look(path, kind)
            self._base.commit()
            return changed

    @property
    def faults(self) -> list[str]:
        """What is wrong with files, a line each; the rows before the fault are in the index."""
        query = "select fault from files where fault != '' order by path"
        return [fault for (fault,) in self._all(query)]

    def slims(self, *kinds: str) -> Iterator[tuple[str, Any]]:
        """Yield the file's name and the row without texts; of an answer its `Lengths`."""
        for kind in kinds:
            row_type = KINDS[kind]
            decode = msgspec.msgpack.Decoder(Lengths if row_type is Answer else row_type).decode
            files = "select id, path from files where kind = ? order by path"
            for number, path in self._all(files, kind):
                name = pathlib.Path(path).name
                rows = self._all("select slim from rows where file = ? order by offset", number)
                for (slim,) in rows:
                    yield name, decode(slim)

    def places(self, *kinds: str) -> list[int]:
        """Return the number of each row in the order of `slims`."""
        query = (
            "select rows.rowid from rows join files on id = file where kind = ? "
            "order by path, offset"
        )
        return [number for kind in kinds for (number,) in self._all(query, kind)]

    def places_in(self, path: pathlib.Path) -> dict[int, int]:
        """Return the number of each row of a file by its offset."""
        query = "select offset, rows.rowid from rows join files on id = file where path = ?"
        return dict(self._all(query, str(path)))

    def words(self, places: Sequence[int]) -> dict[int, str]:
        """Return the first words of the reasons of some rows."""
        marks = ",".join("?" * len(places))
        query = f"select rowid, words from rows where rowid in ({marks})"
        return dict(self._all(query, *places)) if places else {}

    def judgment(self, place: int) -> Judgment | None:
        """Return the whole judgment of a number; None: it is a row of another kind."""
        query = (
            "select path, offset, length from rows join files on id = file "
            "where rows.rowid = ? and kind = 'judgment'"
        )
        for path, offset, length in self._all(query, place):
            return store.row_at(pathlib.Path(path), Judgment, offset, length)
        return None

    def scan(self, path: pathlib.Path, kind: type[T], text: str | None) -> Iterator[tuple[T, int]]:
        """Yield the rows of a file and where they begin, up to a line that is none.

        With a text only those that may hold it, in any case of letters.
        """
        with contextlib.suppress(DataError, FileNotFoundError):
            for place in store.rows(path, kind, text=text or ""):
                yield place.row, place.offset

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

        Raises:
            DataError: a file was changed since `update`.
        """
        query = (
            "select path, offset, length from rows join files on id = file "
            "where question = ? and kind = ? order by path, offset"
        )
        places = [(pathlib.Path(path), *at) for path, *at in self._all(query, _id(question), kind)]
        return [(store.row_at(path, KINDS[kind], *at), path) for path, *at in places]

    def questions(self, path: pathlib.Path) -> set[QuestionId]:
        """Return the questions that a file has good rows about."""
        query = (
            "select distinct question from rows where good and "
            "file = (select id from files where path = ?)"
        )
        return {msgspec.json.decode(text) for (text,) in self._all(query, str(path))}

    def _drop(self, path: str) -> None:
        file = "(select id from files where path = ?)"
        self._base.execute(f"delete from rows where file = {file}", (path,))
        self._base.execute("delete from files where path = ?", (path,))

    def _look(self, path: pathlib.Path, kind: str) -> bool:
        """Read what is new in a file; return whether anything was."""
        stat = path.stat()
        stamp = f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"
        query = "select id, stamp, size_read, lines, edges from files where path = ?"
        records = self._all(query, str(path)) or [(0, "", 0, 0, "")]
        number, last_stamp, size_read, lines, edges = records[0]
        if stamp == last_stamp:
            return False
        may_have_grown = size_read < stat.st_size and path.suffix != ".gz"
        if not may_have_grown or edges != store.fingerprint(path, size_read):
            self._drop(str(path))
            insert = "insert into files (path, kind) values (?, ?)"
            number = self._base.execute(insert, (str(path), kind)).lastrowid
            size_read = lines = 0
        fault = ""

        def rows() -> Iterator[tuple[Any, ...]]:
            nonlocal size_read, lines
            places = store.rows(path, KINDS[kind], offset=size_read, line=lines + 1)
            for row, line, offset, length in places:
                shown = self.bench.as_shown(row) if isinstance(row, Answer) else row
                yield number, offset, length, *_columns(shown)
                size_read, lines = offset + length, line

        try:
            self._base.executemany(_INSERT, rows())
        except DataError as error:
            fault = str(error).replace(str(path), path.name)
        facts = (stamp, size_read, lines, store.fingerprint(path, size_read), fault)
        names = "stamp = ?, size_read = ?, lines = ?, edges = ?, fault = ?"
        self._base.execute(f"update files set {names} where id = ?", (*facts, number))
        return True


_encode = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode


class Lengths(msgspec.Struct):
    """An answer without its texts."""

    question_id: QuestionId
    characters: list[int]
    """Of each turn."""


def _columns(row: Any) -> tuple[str, int, bool, bytes, str]:
    """Return a row's question, key, whether it is good, it without texts, its first words."""
    good, words = store.is_good(row), ""
    if isinstance(row, Answer):
        lengths = [len(text) for text in row.choices[0].turns]
        row, key = Lengths(row.question_id, lengths), row.key
    elif isinstance(row, Judgment):
        key = (row.key, row.judge)
        words = " ".join((row.judgment or row.g1_judgment or "")[:_WORDS].split())
        row.user_prompt = row.g1_user_prompt = row.g2_user_prompt = row.system_prompt = None
        row.judgment = row.g1_judgment = row.g2_judgment = None
        row.details = [
            Detail(usage=detail.usage, seconds=detail.seconds, batch=detail.batch)
            for detail in row.details
        ]
    else:
        key = (row.key, row.model if isinstance(row, Measurement) else "")
        if isinstance(row, Measurement):
            row.checks = []
    digest = hashlib.blake2b(_encode_json(key), digest_size=8).digest()
    return _id(row.question_id), int.from_bytes(digest, signed=True), good, _encode(row), words


def _id(question: QuestionId) -> str:
    return msgspec.json.encode(question).decode()


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

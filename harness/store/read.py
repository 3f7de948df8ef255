"""Rows of a file, typed, one at a time; whatever is wrong is named with file and line."""

import gzip
import hashlib
import io
import itertools
import json
import logging
import math
import os
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import IO, Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

import msgspec

from harness.errors import DataError, near
from harness.store.toml import explain
from harness.types import (
    FAILED_SCORE,
    VOTES,
    Answer,
    Judgment,
    Question,
    QuestionId,
    Row,
    Vote,
    as_question_id,
)

log = logging.getLogger("turnbench")
T = TypeVar("T", bound=Row)
L = TypeVar("L")

_MOST = sys.float_info.max
_EDGE = 1_024
"""Bytes at either end of what was read."""
_CHUNK, _BLOCK = 1 << 17, 4096
"""Bytes that are read at a time (more leave the processor's cache), and rows given at a time."""
_BOM = b"\xef\xbb\xbf"
_KNOWN = {field.encode_name for field in msgspec.structs.fields(Question)} - {"extra"}
_NEEDED = {
    *("question_id", "turn", "model", "model_1", "model_2", "model_a", "model_b", "winner"),
    *("g1_winner", "g2_winner", "score", "label", "scores", "points", "sample", "choice"),
    *("choices", "turns", "metric", "value", "category", "checks", "history", "user", "checklist"),
}
"""Fields whose value counts: one of another type is an error. Any other such field is left out."""


class Place(NamedTuple, Generic[T]):
    """A row, and where it is."""

    row: T
    line: int
    """Counted from 1."""
    offset: int
    """Bytes before it, unpacked."""
    length: int


def data_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the `.jsonl` and `.jsonl.gz` files in a folder, by name."""
    paths = [*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]
    return sorted(path for path in paths if path.is_file() and not path.name.startswith("."))


def rows(
    path: pathlib.Path,
    kind: type[T],
    *,
    offset: int = 0,
    line: int = 1,
    faults: list[DataError] | None = None,
) -> Iterator[Place[T]]:
    """Yield the rows of a file in its order, from the line that begins at an offset.

    A question id such as "81" becomes 81. A last line that is not JSON and has no end was cut off
    by a kill: it is left out with a warning. A file that is one JSON array is read element by
    element. With `faults`, what is wrong is added to it, each line on its own.

    Raises:
        DataError: a line is not a row of this kind.
    """
    with _open(path) as file:
        file.seek(offset)
        lines: Iterable[_Line] = _lines(file, line, offset)
        if offset == 0 and _is_array(path):
            lines = _elements(file.read(), path)
        yield from _places(lines, path, kind, faults)


def _places(
    lines: Iterable["_Line"],
    path: pathlib.Path,
    kind: type[T],
    faults: list[DataError] | None = None,
) -> Iterator[Place[T]]:
    """Yield the rows of lines, as `rows` does."""
    decode = _decoder(kind)
    for number, start, content in lines:
        if content.isspace():
            continue
        try:
            row: T = _row(decode, content, kind, path, number)
        except DataError as error:
            if faults is not None:
                faults.append(error)
            elif isinstance(error, _NotJsonError) and not content.endswith(b"\n"):
                log.warning("%s:%s: the last line was cut off; it is left out", path, number)
                return
            else:
                raise
        else:
            yield Place(row, number, start, len(content))


_Line: TypeAlias = tuple[int, int, bytes]
"""A line's number, the bytes before it, and what it holds."""


def _lines(file: Iterable[bytes], number: int, offset: int) -> Iterator[_Line]:
    for at, content in enumerate(file, number):
        yield at, offset, content
        offset += len(content)


def _is_array(path: pathlib.Path) -> bool:
    with _open(path) as file:
        return file.read(_EDGE).removeprefix(_BOM).lstrip().startswith(b"[")


def _elements(data: bytes, path: pathlib.Path) -> Iterator[_Line]:
    """Yield the elements of a JSON array with their places, as if each were a line.

    Raises:
        DataError: it is no array of JSON.
    """
    text = data.decode("latin-1")  # a character for each byte; JSON's own marks are the same
    decoder, space = json.JSONDecoder(strict=False), re.compile(r"[\s,]*")
    at = text.index("[") + 1
    while (at := space.match(text, at).end()) < len(text) and text[at] != "]":  # type: ignore[union-attr]
        try:
            _, end = decoder.raw_decode(text, at)
        except ValueError:
            line = text.count("\n", 0, at) + 1
            raise DataError("is not JSON; mend or remove it", path, line) from None
        yield text.count("\n", 0, at) + 1, at, data[at:end]
        at = end


def blocks(
    path: pathlib.Path, light: Callable[[bytes], Sequence[L] | None], kind: type[T]
) -> Iterator[Sequence[L] | Sequence[T]]:
    """Yield the rows of a file, some thousand at a time, with the few fields of a light type.

    `light` reads whole lines, many at once; where it returns None their rows are read as `rows`
    does, so errors are those of `rows`. Each block has rows of one type. Where a line is wrong, the
    rows before it come first.

    Raises:
        DataError: a line is not a row of this kind.
    """
    block: list[Any] = []
    try:
        for rows_of_chunk in _chunks(path, light, kind):
            if block and (len(block) >= _BLOCK or type(block[0]) is not type(rows_of_chunk[0])):
                yield block
                block = []
            block += rows_of_chunk
    except DataError:
        if block:
            yield block
        raise
    if block:
        yield block


def _chunks(
    path: pathlib.Path, light: Callable[[bytes], Sequence[L] | None], kind: type[T]
) -> Iterator[Sequence[L] | Sequence[T]]:
    """Yield the rows of some lines at a time, or one whole row."""
    if _is_array(path):
        yield from ([place.row] for place in rows(path, kind))
        return
    line, offset = 1, 0
    with _open(path) as file:
        while chunk := file.read(_CHUNK):
            chunk += file.readline()
            count = count_lines(chunk)
            found = light(chunk)
            if found is not None and len(found) == count:  # else lines are blank or hold several
                yield found
            else:
                lines = _lines(io.BytesIO(chunk), line, offset)
                yield from ([place.row] for place in _places(lines, path, kind))
            line, offset = line + count, offset + len(chunk)


def count_lines(lines: bytes) -> int:
    """Return how many lines these are; the last one may have no end."""
    import numpy as np

    # numpy: `bytes.count` takes as long as reading the JSON
    ends = int(np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")))
    return ends + (not lines.endswith(b"\n"))


def count_behind(fault: DataError) -> int:
    """Return how many lines of a file stand behind a faulty one."""
    if fault.path is None or fault.line is None:
        return 0
    with _open(pathlib.Path(fault.path)) as file:
        return sum(not line.isspace() for line in itertools.islice(file, fault.line, None))


class Heads(NamedTuple):
    """Some rows of a file, without what they say: a list for each column."""

    questions: list[QuestionId]
    offsets: list[int]
    lengths: list[int]
    good: list[bool]
    """`is_good`; of kinds other than answers always true."""
    line: int
    """Of the last row."""


class _Head(msgspec.Struct, gc=False):
    question_id: QuestionId


def heads(path: pathlib.Path, kind: type[T], *, offset: int = 0, line: int = 1) -> Iterator[Heads]:
    """Yield which questions the rows of a file are about, and where they are, thousands at a time.

    It begins with the line at an offset. What `rows` would refuse for another reason than its
    question is not noticed, since nothing else of a row is decoded.

    Raises:
        DataError: a line is not a row of this kind.
    """
    if offset == 0 and _is_array(path):
        yield from _heads_of(rows(path, kind))
        return
    decode, decode_whole = msgspec.json.Decoder(_Head).decode, _decoder(kind)
    with _open(path) as file:
        file.seek(offset)
        while lines := file.readlines(_CHUNK):
            starts = list(itertools.accumulate(map(len, lines), initial=offset))
            try:
                questions = [as_question_id(head.question_id) for head in map(decode, lines)]
            except (msgspec.MsgspecError, UnicodeError):
                yield from _heads_of(_places(_lines(lines, line, offset), path, kind))
            else:
                good = [True] * len(lines)
                if kind is Answer:
                    for at, content in enumerate(lines):
                        if b"$ERROR$" in content:
                            good[at] = is_good(_row(decode_whole, content, kind, path, line + at))
                sizes = list(map(len, lines))
                yield Heads(questions, starts[:-1], sizes, good, line + len(lines) - 1)
            line, offset = line + len(lines), starts[-1]


def _heads_of(places: Iterable[Place[Any]]) -> Iterator[Heads]:
    """Yield the heads of rows that are read whole: those before a fault, which is raised."""
    found, fault = list[Place[Any]](), None
    try:
        found.extend(places)
    except DataError as error:
        fault = error
    if found:
        read, lines, offsets, lengths = map(list, zip(*found, strict=True))
        good = [not isinstance(row, Answer) or is_good(row) for row in read]
        yield Heads([row.question_id for row in read], offsets, lengths, good, lines[-1])
    if fault is not None:
        raise fault


def last_good(keys: Any, good: Any) -> Any:
    """Return which rows count, as an array: of those with equal keys the last good one.

    Where none of them is good, it is the last. `latest_of` does the same for rows.

    >>> import numpy as np
    >>> last_good(np.array([7, 7, 7, 8]), np.array([True, True, False, False])).tolist()
    [False, True, False, True]
    """
    import numpy as np

    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.ones(len(keys), dtype=bool)
    order = np.lexsort((good, keys))  # of equal ones the later row stands later
    is_last = np.append(keys[order][1:] != keys[order][:-1], True)
    counts = np.zeros(len(keys), dtype=bool)
    counts[order[is_last]] = True
    return counts


def latest(path: pathlib.Path, kind: type[T]) -> dict[Any, T]:
    """Return for each key of a file, which may not exist, the row that counts."""
    return latest_of(place.row for place in rows(path, kind)) if path.exists() else {}


def latest_of(found: Iterable[T], key: Callable[[Any], Any] = attrgetter("key")) -> dict[Any, T]:
    """Return for each key the row that counts: the last good one, else the last."""
    counting: dict[Any, T] = {}
    for row in found:
        place = key(row)
        if replaces(row, counting.get(place)):
            counting.pop(place, None)
            counting[place] = row
    return counting


def replaces(row: Row, earlier: Row | None) -> bool:
    """Return whether a row counts in place of an earlier one with its key: the last good one."""
    return earlier is None or is_good(row) or not is_good(earlier)


def rows_at(path: pathlib.Path, kind: type[T], places: Iterable[tuple[int, int]]) -> list[T]:
    """Return the rows at places that `rows` gave, offset and length of each; best in order."""
    decode = _decoder(kind)
    found = []
    with _open(path) as file:
        for offset, length in places:
            file.seek(offset)
            found.append(_row(decode, file.read(length), kind, path, None))
    return found


def fingerprint(path: pathlib.Path, size: int) -> str:
    """Return a hash of the ends of a file's first bytes: equal later if the file only grew."""
    with path.open("rb") as file:
        inode = os.fstat(file.fileno()).st_ino
        head = file.read(min(_EDGE, size))
        file.seek(max(0, size - _EDGE))
        tail = file.read(min(_EDGE, size))
    return hashlib.blake2b(b"%d " % inode + head + tail, digest_size=16).hexdigest()


def is_good(row: Row) -> bool:
    """Return whether a row holds what it is for: replies (not FastChat's error text), a verdict."""
    if isinstance(row, Judgment):
        return not row.failed
    if isinstance(row, Answer):
        return not any("$ERROR$" in choice.turns for choice in row.choices if not choice.details)
    return True


def looks_like(path: pathlib.Path, kind: type[Row]) -> bool:
    """Return whether the first row of a file is one of this kind."""
    try:
        return next(rows(path, kind), None) is not None
    except (DataError, OSError):
        return False


def _open(path: pathlib.Path) -> IO[bytes]:
    try:
        return cast("IO[bytes]", gzip.open(path) if path.suffix == ".gz" else path.open("rb"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def _decoder(kind: type[Row]) -> Callable[[bytes], Any]:
    if kind is Question:
        return lambda data: question_of(msgspec.json.decode(data, type=dict[str, Any]))
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode
    return decode


class _NotJsonError(DataError):
    pass


def _row(
    decode: Callable[[bytes], T], line: bytes, kind: type[T], path: pathlib.Path, number: int | None
) -> T:
    """Return the row of a line, or raise `DataError`."""
    data = line.removeprefix(_BOM)
    try:
        row = decode(data)
    except (msgspec.MsgspecError, UnicodeError, TypeError):
        row = _lenient(data, kind, path, number)
    return _finished(row, path, number)


def question_of(row: dict[str, Any]) -> Question:
    """Return the question of a JSON object.

    `reference` may be one text; a `note` that is not a list is another tool's and stays in `extra`.
    """
    values = {name: value for name, value in row.items() if name in _KNOWN and value is not None}
    if isinstance(values.get("reference"), str):
        values["reference"] = [values["reference"]]
    if not isinstance(values.get("note", []), list):
        del values["note"]
    if "user" in values:
        values.setdefault("turns", [])
    extra = {name: value for name, value in row.items() if name not in values}
    return msgspec.convert({**values, "extra": extra}, Question)


def _lenient(data: bytes, kind: type[T], path: pathlib.Path, number: int | None) -> T:
    """Read a line that msgspec refuses: NaN, half surrogates, optional fields of another type.

    Raises:
        DataError: it is not a row of this kind.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        fault = f"is not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
        raise DataError(fault, path, number) from None
    try:
        value = json.loads(text)
        # again, without half surrogates, which no file can hold
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise _NotJsonError("is not JSON; mend or remove the line", path, number) from None
    if not isinstance(value, dict):
        raise DataError("must be a JSON object", path, number)
    for name in ("score", "value"):
        if isinstance(value.get(name), float) and not math.isfinite(value[name]):
            value[name] = FAILED_SCORE if name == "score" else None
    while True:
        try:
            row: Any = question_of(value) if kind is Question else msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            field = re.search(r"`\$\.(\w+)", str(error))
            if field is None or field[1] in _NEEDED or field[1] not in value:
                raise DataError(explain(error, kind), path, number) from None
            del value[field[1]]
        else:
            return cast("T", row)


def _finished(row: T, path: pathlib.Path, number: int | None) -> T:
    """Return a row with its defaults filled in, or say what it lacks."""
    row.question_id = as_question_id(row.question_id)  # type: ignore[attr-defined]
    if isinstance(row, Judgment):
        _finish_judgment(row, path, number)
    elif isinstance(row, Vote):
        row.turn = row.turn or 1
        if row.winner not in VOTES:
            advice = near(row.winner, ("model_a", "model_b", "tie"))
            raise DataError(f"winner {row.winner!r} is no known word{advice}", path, number)
    elif isinstance(row, Question):
        _check_question(row, path, number)
    elif isinstance(row, Answer):
        if not (row.choices and all(choice.turns for choice in row.choices)):
            text = f"question {row.question_id}: choices and their turns may not be empty"
            raise DataError(text, path, number)
        for position, choice in enumerate(row.choices):
            choice.index = position if choice.index < 0 else choice.index
    return row


def _finish_judgment(row: Judgment, path: pathlib.Path, number: int | None) -> None:
    row.turn = row.turn or 1
    if row.model is None:
        if row.model_1 is None or row.model_2 is None:
            raise DataError("names no model (model, or model_1 and model_2)", path, number)
        if row.g1_winner is None and row.g2_winner is None:
            raise DataError("has no g1_winner and g2_winner", path, number)
    elif isinstance(row.score, int) and abs(row.score) > _MOST:
        raise DataError("its score is larger than any number can be", path, number)
    elif all(value is msgspec.UNSET for value in (row.score, row.label, row.scores, row.points)):
        raise DataError("has no score, label, scores or points", path, number)


def _check_question(row: Question, path: pathlib.Path, number: int | None) -> None:
    """Raise `DataError` for what no type says."""
    turns, name = len(row.turns), f"question {row.question_id}"
    if not row.category.strip():
        raise DataError(f"{name}: the category is empty", path, number)
    if row.user is not None:
        if turns > 1 or row.checks or row.history:
            advice = "a played user has at most one turn (its opening), its checks are in `needs`"
            raise DataError(f"{name}: {advice}, and no history", path, number)
        row.turns = row.turns or [row.user.goal]
        return
    if not turns or not all(text.strip() for text in row.turns):
        raise DataError(f"{name}: turns must be a list of texts that are not empty", path, number)
    if not (row.note or row.history or row.checks or row.checklist):
        return
    for field in ("note", "history", "checks", "checklist"):
        length = len(getattr(row, field))
        if length not in (0, turns):
            raise DataError(f"{name}: {field} has {length} entries for {turns} turns", path, number)
    if row.history and None not in row.history:
        advice = "put null where the model should reply"
        raise DataError(f"{name}: history gives every turn; {advice}", path, number)

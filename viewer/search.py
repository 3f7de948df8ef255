"""Finding a text in questions, answers and verdicts: a plain scan of the files.

The bytes of a file are searched, small letters for capitals; a row is read only where they hold
the text, so a quarter of a gigabyte takes under a second. JSON writes a text in two ways (`é` and
`\\u00e9`), which are both looked for.
"""

import bisect
import gzip
import json
import mmap
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.types import Answer, Judgment, QuestionId
from viewer.data import Data
from viewer.state import View
from viewer.text import excerpt

MOST = 100
"""Places that are shown."""
_PIECE = 1 << 24


class Hit(NamedTuple):
    """A place with the text."""

    question: QuestionId
    where: str
    models: tuple[str, ...]
    excerpt: str
    """HTML."""


def find(data: Data, view: View) -> tuple[list[Hit], bool]:
    """Return the first places with the view's text, and whether there are more."""
    hits: list[Hit] = []
    for hit in _hits(data, view):
        if len(hits) == MOST:
            return hits, True
        hits.append(hit)
    return hits, False


def _hits(data: Data, view: View) -> Iterator[Hit]:
    bench, needle = data.bench, view.find
    wanted = {q.question_id for q in bench.questions if view.category in ("", q.category)}
    for question in bench.questions:
        for turn, text in enumerate(question.turns, 1):
            if question.question_id in wanted and (part := excerpt(text, needle)):
                yield Hit(question.question_id, f"question, turn {turn}", (), part)
    files = [
        (p, "answer", m)
        for m, p in bench.answer_files().items()
        if m in view.model or not view.model
    ]
    files += [(judged.path, "judgment", "") for judged in bench.judgment_files()]
    for path, kind, model in files:
        for offset, length in _rows_with(data, path, needle):
            row = data.index.row(path, kind, offset, length).row
            if row.question_id not in wanted:
                continue
            if kind == "judgment" and view.model and not set(row.models) & set(view.model):
                continue
            yield from _in_row(row, model, needle)


def _in_row(row: Any, model: str, needle: str) -> Iterator[Hit]:
    if isinstance(row, Answer):
        for turn, text in enumerate(row.choices[0].turns, 1):
            if part := excerpt(text, needle):
                yield Hit(row.question_id, f"{model}, turn {turn}", (model,), part)
    elif isinstance(row, Judgment):
        about = " and ".join(row.models)
        for reason in (row.judgment, row.g1_judgment, row.g2_judgment):
            if reason and (part := excerpt(reason, needle)):
                where = f"{row.judge_model} on {about}, turn {row.turn}"
                yield Hit(row.question_id, where, row.models, part)


def _rows_with(data: Data, path: pathlib.Path, needle: str) -> Iterator[tuple[int, int]]:
    """Yield offset and length of the rows of a file whose bytes hold a text."""
    needles = {
        json.dumps(needle, ensure_ascii=pure)[1:-1].lower().encode() for pure in (True, False)
    }
    places: list[tuple[int, int]] = []
    last = -1
    for at in _places(path, needles):
        places = places or data.index.places(path)
        row = bisect.bisect_right(places, (at, 1 << 62)) - 1
        if row > last and row >= 0 and at < places[row][0] + places[row][1]:
            last = row
            yield places[row]


def _places(path: pathlib.Path, needles: set[bytes]) -> Iterator[int]:
    """Yield where any of some bytes in small letters are in a file, in rising order."""
    longest = max(map(len, needles))
    start = 0
    for piece in _pieces(path, longest):
        small = piece.lower()
        hits: set[int] = set()
        for needle in needles:
            at = small.find(needle)
            while at >= 0:
                hits.add(start + at)
                line = small.find(b"\n", at)  # once a row is enough
                at = small.find(needle, line) if line >= 0 else -1
        yield from sorted(hits)
        start += len(piece) - longest


def _pieces(path: pathlib.Path, overlap: int) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that overlap."""
    if path.stat().st_size == 0:
        return
    if path.suffix == ".gz":
        with gzip.open(path) as packed:
            whole: Any = packed.read()
        size = len(whole)
    else:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = len(whole)
    start = 0
    while start < size:
        yield whole[start : start + _PIECE]
        start += _PIECE - overlap

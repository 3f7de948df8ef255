"""Notes on verdicts: what a reader says of one, in words and under a name; nothing counts them.

    note/ann.jsonl
    {"question_id": 81, "turn": 1, "models": ["x"], "judge": "gpt-4", "verdict": "0b1c…",
     "name": "ann", "note": "the judge is wrong: 17 is a prime"}

The last note of a person on a verdict counts, and an empty one takes it back. A verdict that is
given anew, in other words, is another one: the notes on the old one are then of none that is here.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from harness import store
from harness.bench import Bench
from harness.errors import DataError, MissingError, UsageError
from harness.types import Judgment, Note, QuestionId, content_hash
from viewer.people import check_name, write_row
from viewer.state import View

if TYPE_CHECKING:
    from viewer.data import Data

MOST = 2_000
"""Characters of a note."""


class Notes:
    """The notes of a benchmark at a moment."""

    def __init__(self, bench: Bench) -> None:
        """Read them."""
        self._bench, self._stamp = bench, _stamp(bench)
        self._faults: list[DataError] = []
        last = {
            place.row.key: place.row
            for path in bench.note_files()
            for place in store.rows(path, Note, faults=self._faults)
        }
        self.all = [note for note in last.values() if note.note.strip()]
        self.all.sort(key=lambda note: note.tstamp or 0)
        self._on: dict[Any, list[Note]] = defaultdict(list)
        for note in self.all:
            self._on[note.verdict_key].append(note)

    @property
    def version(self) -> str:
        """What changes with the files; empty: there are none."""
        written = repr(self._stamp).encode()
        return hashlib.sha256(written).hexdigest()[:16] if self._stamp else ""

    @property
    def faults(self) -> list[str]:
        """What is wrong with the files, a line each."""
        folder = f"{self._bench.folder}/"
        return [str(fault).removeprefix(folder) for fault in self._faults]

    def is_current(self) -> bool:
        """Return whether the files are as they were."""
        return self._stamp == _stamp(self._bench)

    def on(self, row: Judgment) -> list[Note]:
        """Return the notes on a verdict."""
        return self._on[verdict_key(row)] if self._on else []

    def of(self, question: QuestionId) -> list[Note]:
        """Return the notes on the verdicts of a question."""
        return [note for note in self.all if note.question_id == question]


def _stamp(bench: Bench) -> list[tuple[str, int, int]]:
    stats = [(path.name, path.stat()) for path in bench.note_files()]
    return [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]


def note_on(row: Judgment, name: str, words: str) -> Note:
    """Return the row of a note."""
    values = (row.score, row.label, row.scores, row.points, row.g1_winner, row.g2_winner)
    said = [None if value is UNSET else value for value in values]
    return Note(
        question_id=row.question_id,
        turn=row.turn,
        models=row.models,
        judge=row.judge_model,
        judge_set=row.judge_set,
        criterion=row.criterion,
        sample=row.sample,
        choice=row.choice,
        verdict=content_hash(*said, row.judgment, row.g1_judgment, row.g2_judgment),
        name=name,
        note=words,
        tstamp=time.time(),
    )


def verdict_key(row: Judgment) -> tuple[Any, ...]:
    """Return what identifies a verdict to its notes."""
    return note_on(row, "", "").verdict_key


def token_of(row: Judgment) -> str:
    """Return what stands for a verdict in a form."""
    return content_hash(*verdict_key(row))


def act(data: "Data", view: View, fields: Mapping[str, str]) -> View:
    """Write a note on a verdict of the question that is open; return the view that follows.

    Raises:
        UsageError: there is no name, or the note is empty or too long.
        MissingError: the verdict is no longer there.
        StorageError: the file cannot be written.
    """
    name = check_name(view.voter)
    words = fields.get("note", "").strip().encode("utf-8", "replace").decode()
    if len(words) > MOST:
        text = f"not written: a note may have {MOST:,} characters, this has {len(words):,}"
        raise UsageError(text)
    question, token = data.question(view.question), fields.get("item", "")
    judgments = data.judgments(question) if question is not None else []
    row = next((row for row in judgments if token_of(row) == token), None)
    if row is None:
        raise MissingError("not written: this verdict is no longer there")
    if not words and not any(note.name == name for note in data.notes.on(row)):
        raise UsageError("type a note first")
    write_row(data.bench.note_file(name), note_on(row, name, words))
    return view.to(voter=name, turn=str(row.turn))

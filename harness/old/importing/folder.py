"""A benchmark folder during import: written next to its place, and moved there when complete.

A run that is stopped leaves nothing behind. If the benchmark already exists, its questions must be the same;
then only new files are added, since existing files are never rewritten.
"""

import filecmp
import os
import pathlib
import shutil
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TextIO

from harness.old.errors import UsageError
from harness.old.importing.items import Item
from harness.old.jsonl import encode, is_there, read_rows, storing
from harness.old.names import check_model_name, file_stem
from harness.old.records import QuestionId, content_hash
from harness.old.written import toml_value

REFERENCE = "reference"
"""The author under which imported references are filed."""
_MOST_OPEN = 64
"""Files held open at once; there may be more models than that."""


class ImportFolder:
    """Writes the files of one benchmark; `with` puts them in place at its end, or takes them away after an error."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._work = folder.with_name(f".{folder.name}.importing-{os.getpid()}")
        self._open: dict[pathlib.Path, TextIO] = {}
        self.questions = 0
        self.added: tuple[pathlib.Path, ...] = ()
        """The files that were put in place."""

    def __enter__(self) -> Self:
        with storing(self._work):
            self._work.mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            for file in self._open.values():
                with storing(self._work):
                    file.close()
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._work, ignore_errors=True)

    def add(self, question_id: QuestionId, item: Item) -> None:
        """Write what one record became."""
        row = {"question_id": question_id, "category": item.category, "turns": list(item.turns)}
        self._write("question.jsonl", {**row, **{k: v for k, v in item.extra.items() if k not in row}})
        self.questions += 1
        if item.reference:
            self._answer("reference_answer", REFERENCE, question_id, list(item.reference), item.reference_note)
        for model, text in item.answers.items():
            self.answer(model, question_id, text)
        for vote in item.votes:
            self.vote(question_id, vote, str(vote["judge"]))

    def answer(self, model: str, question_id: QuestionId, text: str | tuple[str, ...]) -> None:
        """Write a model's answer to a question of one turn, or to each of its turns."""
        self._answer("model_answer", model, question_id, [text] if isinstance(text, str) else list(text), None)

    def vote(self, question_id: QuestionId, vote: Mapping[str, Any], name: str) -> None:
        """Write a vote into the file of that name."""
        row = {"question_id": question_id, **vote, "tstamp": time.time()}
        self._write(f"human_judgment/{file_stem(name)}.jsonl", row)

    def settings(self, table: Mapping[str, str]) -> None:
        """Write `bench.toml`."""
        lines = [f"{name} = {toml_value(value)}" for name, value in table.items()]
        with storing(self._work):
            (self._work / "bench.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _answer(self, room: str, model: str, question_id: QuestionId, turns: list[str], note: str | None) -> None:
        row: dict[str, Any] = {
            "question_id": question_id,
            "answer_id": content_hash(model, question_id, turns),
            "model_id": model,
            "choices": [{"index": 0, "turns": turns}],
            "tstamp": time.time(),
        }
        self._write(f"{room}/{file_stem(check_model_name(model))}.jsonl", row | ({"note": note} if note else {}))

    def _write(self, name: str, row: Mapping[str, Any]) -> None:
        path = self._work / name
        file = self._open.get(path)
        with storing(path):
            if file is None:
                if len(self._open) >= _MOST_OPEN:
                    self._open.pop(next(iter(self._open))).close()
                path.parent.mkdir(exist_ok=True)
                file = self._open[path] = path.open("a", encoding="utf-8")
            file.write(encode(row) + "\n")

    def _put_in_place(self) -> None:
        new = sorted(path for path in self._work.rglob("*") if path.is_file())
        with storing(self.folder):
            self._check_same(new)
            self.folder.mkdir(parents=True, exist_ok=True)
            added = []
            for path in new:
                place = self.folder / path.relative_to(self._work)
                if not is_there(place):
                    place.parent.mkdir(exist_ok=True)
                    path.replace(place)
                    added.append(place)
            self.added = tuple(added)

    def _check_same(self, new: Iterable[pathlib.Path]) -> None:
        """Raise `UsageError` if questions or a model's answers are there and these differ: they would not be taken."""
        there, own = self.folder / "question.jsonl", self._work / "question.jsonl"
        if there.exists() and not (own.exists() and filecmp.cmp(there, own, shallow=False)):
            known, given = _turns(there), _turns(own) if own.exists() else set()
            if given and given < known:
                raise UsageError(
                    f"{there} holds {len(known)} questions, of which these files have {len(given)}: is one of them "
                    "cut? Give the whole files, or another --bench-name (nothing was changed)"
                )
            raise UsageError(
                f"{there} contains other questions than these; give another --bench-name (nothing was changed)"
            )
        for path in new:
            there = self.folder / path.relative_to(self._work)
            if path.parent.name == "model_answer" and is_there(there) and not _answers(path) <= _answers(there):
                raise UsageError(
                    f"{there} contains other answers than these; give the model another name with --model-id (nothing "
                    "there was touched)"
                )


def _turns(path: pathlib.Path) -> set[str]:
    """Return the identity of the questions in a file."""
    return {content_hash(row.get("turns")) for _, row in read_rows(path)}


def _answers(path: pathlib.Path) -> set[str]:
    """Return the identity of the answers in a file."""
    return {content_hash(row.get("question_id"), row.get("choices")) for _, row in read_rows(path)}

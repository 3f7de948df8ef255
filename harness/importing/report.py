"""What an import did, and the good records of a file: those that are not are listed with their position."""

import contextlib
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from harness.errors import DataError
from harness.importing.items import BadRecordError
from harness.importing.records import Progress, Record, read_records

PathLike: TypeAlias = pathlib.Path | str
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that was left out."""

    path: pathlib.Path
    position: int
    """Its place in the file; the first record is 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, record {self.position}: {self.reason}"


@dataclass(slots=True)
class ImportReport:
    """What was read and written."""

    folder: pathlib.Path
    questions: int = 0
    """Questions written."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers read, by model."""
    new: Counter[str] = field(default_factory=Counter)
    """Of answers to questions that were there, those that were not, by model."""
    votes: int = 0
    judgments: Counter[str] = field(default_factory=Counter)
    """Judgments written, by model."""
    repeated: int = 0
    """Records that say exactly what an earlier one says; they were left out."""
    known: int = 0
    """Judgments that were there already."""
    failed: int = 0
    """Annotations without a preference."""
    bad: list[BadRow] = field(default_factory=list)
    added: tuple[pathlib.Path, ...] = ()
    """The files that were written."""

    def good(
        self, path: pathlib.Path, made: Callable[[Mapping[str, Any]], _Made], progress: Progress
    ) -> Iterator[_Made]:
        """Yield what a function makes of the records of a file; those that it refuses are bad."""
        for record in read_records(path, progress):
            with self.listing(path, record):
                yield made(record.said)

    @contextlib.contextmanager
    def listing(self, path: pathlib.Path, record: Record) -> Iterator[None]:
        """List a record as bad if what is done with it refuses it."""
        try:
            yield
        except BadRecordError as error:
            self.bad.append(BadRow(path, record.position, str(error)))

    def nothing(self, what: str, path: pathlib.Path) -> DataError:
        """Return the error that says that no record of a file could be used, and what is wrong with the first."""
        return DataError(what + (f"; the first is {self.bad[0]}" if self.bad else ""), path=path)

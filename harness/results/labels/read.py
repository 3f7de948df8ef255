"""Rows of a label set -> labels with their shares and the confidence that the answer stated."""

import math
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from harness.errors import DataError
from harness.jsonl import read_rows
from harness.records import QuestionId, Rating
from harness.rows import rating_from_row


class LabelRow(NamedTuple):
    """One answer that was judged by a label set."""

    question_id: QuestionId
    turn: int
    model: str
    label: str | None
    """None if the judgment gave no label."""
    share: float | None
    """What the label counts for, from 0 to 1, as the judge set says."""
    confidence: float | None
    """How sure the answer says that it is, from 0 to 1."""
    choice: str = "0"
    """Which of the model's answers to the question."""


def read_label_rows(path: pathlib.Path, wanted: Callable[[Rating], bool]) -> list[LabelRow]:
    """Return the labelled answers of a file whose origin is wanted; of rows with equal keys, the last with a label.

    Raises:
        DataError: a line is not what it must be.
    """
    found: dict[tuple[Any, ...], LabelRow] = {}
    for row in read_rows(path):
        if "label" not in row.value:
            raise DataError("no label; labels and other judgments cannot be in one file", path=path, line=row.line)
        rating = rating_from_row({**row.value, "score": None}, path, row.line)
        if not wanted(rating):
            continue
        label = row.value["label"]
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise DataError(f"label must be a text or null, this is {label!r}", path=path, line=row.line)
        share, confidence = (_share(row.value.get(name)) for name in ("share", "confidence"))
        choice = str(row.value.get("choice") or 0)
        made = LabelRow(rating.question_id, rating.turn, rating.model, label, share, confidence, choice)
        origin = rating.origin
        key = (*made[:3], origin.sample, origin.criterion, choice)
        if label is not None or key not in found:
            found[key] = made
    return list(found.values())


def _share(value: object) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
    return float(value) if good and isinstance(value, int | float) else None

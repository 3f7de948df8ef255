"""Rows of several dimensions -> the ratings by each of them."""

import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.errors import DataError
from harness.jsonl import read_rows
from harness.records import Rating
from harness.results.reading.columns import Ratings
from harness.rows import FAILED_SCORE, MOST_SCORE, rating_from_row


def read_dimensions(path: pathlib.Path, wanted: Callable[[Rating], bool]) -> dict[str, Ratings]:
    """Return the ratings by dimension of a file; a judgment without a verdict is one without a score in each.

    Raises:
        DataError: a line is not what it must be.
    """
    found: dict[tuple[Any, ...], tuple[Rating, Any, dict[str, Any]]] = {}
    names: dict[str, None] = {}
    for row in read_rows(path):
        scores = row.value.get("scores")
        if "scores" not in row.value and row.value.get("score") != FAILED_SCORE:
            raise DataError("no scores by dimension; other judgments cannot be in one file", path=path, line=row.line)
        rating = rating_from_row({**row.value, "score": None}, path, row.line)
        if not wanted(rating):
            continue
        if scores is not None and not (isinstance(scores, dict) and all(map(_is_score, scores.values()))):
            raise DataError(f"scores must be numbers by dimension, this is {scores!r}"[:200], path=path, line=row.line)
        choice = str(row.value.get("choice") or 0)
        key = (rating.question_id, rating.turn, rating.model, rating.origin.sample, rating.origin.criterion, choice)
        if scores or key not in found:
            found[key] = rating, choice, scores or {}
        names |= dict.fromkeys(scores or ())
    return {
        name: Ratings.from_rows(
            (*Ratings.apart(rating, choice), Ratings.verdict(replace(rating, score=scores.get(name))))
            for rating, choice, scores in found.values()
        )
        for name in names
    }


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST_SCORE <= value <= MOST_SCORE

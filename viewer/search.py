"""Finding a text in questions, answers and verdicts: a plain scan of the files."""

import contextlib
import pathlib
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from harness import store
from harness.errors import DataError
from harness.types import Answer, Judgment, QuestionId
from viewer.data import Data
from viewer.state import View
from viewer.text import excerpt

T = TypeVar("T", Answer, Judgment)

MOST = 100
"""Places that are shown."""


class Hit(NamedTuple):
    """A place with the text."""

    question: QuestionId
    where: str
    models: tuple[str, ...]
    excerpt: str
    """HTML."""


def find(data: Data, view: View) -> tuple[list[Hit], bool]:
    """Return the first places with the view's text, and whether there are more."""
    categories = {question.question_id: question.category for question in data.bench.questions}
    hits: list[Hit] = []
    for question, where, models, text in _texts(data, view):
        if question not in categories or view.category not in ("", categories[question]):
            continue
        if part := excerpt(text, view.find):
            if len(hits) == MOST:
                return hits, True
            hits.append(Hit(question, where, models, part))
    return hits, False


def _texts(data: Data, view: View) -> Iterator[tuple[QuestionId, str, tuple[str, ...], str]]:
    """Yield question, place, models and text of whatever may hold the view's text."""
    for question in data.bench.questions:
        for turn, text in enumerate(question.turns, 1):
            yield question.question_id, f"question, turn {turn}", (), text
    for model, path in data.bench.answer_files().items():
        if view.model and model not in view.model:
            continue
        for answer in map(data.bench.as_shown, _rows(path, Answer, view.find)):
            for turn, text in enumerate(answer.choices[0].turns, 1):
                yield answer.question_id, f"{model}, turn {turn}", (model,), text
    for file in data.bench.judgment_files():
        for row in _rows(file.path, Judgment, view.find):
            if view.model and not set(row.models) & set(view.model):
                continue
            where = f"{row.judge_model} on {' and '.join(row.models)}, turn {row.turn}"
            for reason in (row.judgment, row.g1_judgment, row.g2_judgment):
                yield row.question_id, where, row.models, reason or ""


def _rows(path: pathlib.Path, kind: type[T], text: str) -> Iterator[T]:
    """Yield the rows of a file that hold a text, up to a line that is none: the page names that."""
    with contextlib.suppress(DataError):
        for place in store.rows(path, kind, text=text):
            yield place.row

"""Files of votes -> the pairs of answers that people voted on, so that only those are judged."""

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.errors import UsageError
from harness.judgments.judgment import Match
from harness.judgments.row import judged_rows
from harness.records import QuestionId


@dataclass(frozen=True, slots=True)
class Voted:
    """The pairs that somebody voted on."""

    pairs: frozenset[tuple[QuestionId, int, frozenset[str]]]
    """Question, turn, and the two models."""
    models: Mapping[QuestionId, frozenset[str]]
    """For each question, the models that are in one of its pairs."""

    def holds(self, match: Match) -> bool:
        """Return whether somebody voted on the pair of a match."""
        return (match.question.question_id, match.turn, frozenset(match.models)) in self.pairs


def voted_pairs(paths: Iterable[pathlib.Path | str]) -> Voted:
    """Return the pairs in these files of votes.

    Raises:
        UsageError: a file holds votes on single answers.
        DataError: a line is not what it must be.
    """
    pairs = set()
    models: dict[QuestionId, set[str]] = {}
    for path in map(pathlib.Path, paths):
        for row in judged_rows(path):
            if len(row.models) != 2:
                raise UsageError(f"{path} holds grades of single answers, and pairs are asked for")
            pairs.add((row.question_id, row.turn, frozenset(row.models)))
            models.setdefault(row.question_id, set()).update(row.models)
    return Voted(frozenset(pairs), {question: frozenset(own) for question, own in models.items()})

"""Read judgment and vote files, and keep apart what must not be in one table.

Of rows with equal keys the last good one counts; how many others there were is told.
"""

import fnmatch
import pathlib
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from harness.errors import DataError, UsageError
from harness.jsonl import read_rows
from harness.records import Comparison, Origin, QuestionId, Rating
from harness.rows import comparison_from_row, rating_from_row

Judged = TypeVar("Judged", Rating, Comparison)


class Read(NamedTuple):
    """What a file holds: its records, and how many rows others with the same key replaced."""

    ratings: list[Rating]
    comparisons: list[Comparison]
    replaced: int


def read_judgments(path: pathlib.Path) -> Read:
    """Return the grades or the pairs of a judgment or vote file.

    Raises:
        DataError: a line is not what it must be, or the file mixes grades and pairs.
    """
    ratings: dict[Hashable, Rating] = {}
    comparisons: dict[Hashable, Comparison] = {}
    replaced = 0
    for line, row in read_rows(path):
        choice = str(row.get("choice") or 0)
        if row.keys() & {"model_1", "model_2", "g1_winner", "g2_winner", "model_a", "model_b", "winner"}:
            pair = comparison_from_row(row, path, line)
            names = tuple(sorted((pair.model_1, pair.model_2)))
            key: Hashable = (pair.origin, pair.voter, pair.question_id, pair.turn, names, choice)
            replaced += _keep(comparisons, key, pair, None not in pair.winners)
        elif row.keys() & {"model", "score"}:
            rating = rating_from_row(row, path, line)
            key = (rating.origin, rating.question_id, rating.turn, rating.model, choice)
            replaced += _keep(ratings, key, rating, rating.score is not None)
        else:
            what = "a grade (model, score), a pair (model_1, model_2, g1_winner, g2_winner)"
            raise DataError(f"neither {what} nor a vote (model_a, model_b, winner)", path=path, line=line)
        if ratings and comparisons:
            raise DataError("grades and pairs in one file; split it", path=path, line=line)
    return Read(list(ratings.values()), list(comparisons.values()), replaced)


def _keep(kept: dict[Hashable, Judged], key: Hashable, record: Judged, good: bool) -> bool:
    """Keep the record unless it is a failure and the one before is not; return whether one of the two was dropped."""
    known = key in kept
    if good or not known:
        kept[key] = record
    return known


def one_origin(
    records: Sequence[Judged], *, judge: str | None = None, judge_set: str | None = None, path: pathlib.Path
) -> list[Judged]:
    """Return the records of the one judge, judge set and sampling that was asked for, or that there is.

    Raises:
        UsageError: there are several, and which one was meant is not said; the message lists them.
    """
    chosen = [
        record
        for record in records
        if (judge is None or record.origin.judge == judge)
        and (judge_set is None or judge_set in {record.origin.judge_set, record.origin.judge_set.rsplit(" ", 1)[0]})
    ]
    if not chosen:
        there = dict.fromkeys(_told(record.origin) for record in records)
        asked = " and ".join(
            f"{flag} {name}" for flag, name in (("--judge-model", judge), ("--judge-set", judge_set)) if name
        )
        raise UsageError(f"{path} holds no judgment that fits {asked}; there are: {'; '.join(there)}")
    origins = {record.origin for record in chosen}
    for values, what_now in (
        ({o.judge for o in origins}, "choose one with --judge-model"),
        ({o.judge_set for o in origins}, "choose one with --judge-set"),
        ({o.sampling for o in origins}, "split the file by the judge's sampling"),
        ({str(o.sample) for o in origins}, "split the file by sample"),
        ({str(o.criterion) for o in origins}, "split the file by criterion"),
    ):
        if len(values) > 1:
            choices = ", ".join(sorted(values))
            raise UsageError(f"{path} mixes judgments that are not comparable, {what_now}: {choices}")
    return chosen


def _told(origin: Origin) -> str:
    return f"judge {origin.judge}, judge set {origin.judge_set}"


def one_wording(records: Iterable[Judged], path: pathlib.Path) -> None:
    """Raise `UsageError` if judgments of one question were made from different wordings of it."""
    wordings: dict[QuestionId, str] = {}
    for record in records:
        if record.question_content is None:
            continue
        if wordings.setdefault(record.question_id, record.question_content) != record.question_content:
            raise UsageError(
                f"{path} mixes judgments of two versions of question {record.question_id}, which are not comparable; "
                "run gen_judgment again for all models"
            )


def without_voters(comparisons: Sequence[Comparison], patterns: Sequence[str]) -> list[Comparison]:
    """Return the votes of those voters whose name fits none of the patterns (`author*`)."""
    return [c for c in comparisons if c.voter is None or not any(fnmatch.fnmatchcase(c.voter, p) for p in patterns)]


def of_voter(comparisons: Sequence[Comparison], voter: str | None, path: pathlib.Path) -> list[Comparison]:
    """Return the votes of that voter, or of all where None is named; `UsageError` if the voter cast none."""
    votes = [c for c in comparisons if voter in {None, c.voter}]
    if not votes:
        voters = sorted({c.voter for c in comparisons if c.voter is not None})
        raise UsageError(f"{path} holds no vote by {voter}; there are: {', '.join(voters)}")
    return votes

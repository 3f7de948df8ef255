"""Read judgment and vote files, and keep apart what must not be in one table.

Of rows with equal keys the last good one counts; how many others there were is told.
"""

import fnmatch
import pathlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from harness.errors import UsageError
from harness.records import Origin, QuestionId
from harness.results.reading.columns import Case, Comparisons, Ratings
from harness.results.reading.parts import read_parts

Judged = TypeVar("Judged", Ratings, Comparisons)


class Read(NamedTuple):
    """What a file holds: its records, and how many rows others with the same key replaced."""

    ratings: Ratings
    comparisons: Comparisons
    replaced: int


class Which(NamedTuple):
    """Which of one judge's judgments, where there are several of an answer; None takes the only ones that there are."""

    sample: int | None = None
    criterion: str | None = None
    score_method: str | None = None


ANY = Which()


def read_judgments(path: pathlib.Path) -> Read:
    """Return the grades or the pairs of a judgment or vote file.

    Raises:
        DataError: a line is not what it must be, or the file mixes grades and pairs.
    """
    found = read_parts(path).finished()
    latest = found.latest()
    replaced = len(found) - len(latest)
    return Read(latest, Comparisons(), replaced) if isinstance(latest, Ratings) else Read(Ratings(), latest, replaced)


def one_origin(
    records: Judged, *, judge: str | None = None, judge_set: str | None = None, path: pathlib.Path
) -> Judged:
    """Return the records of the one judge, judge set and sampling that was asked for, or that there is.

    Raises:
        UsageError: there are several, and which one was meant is not said; the message lists them.
    """
    chosen = records.keep(
        case=lambda case: judge_set is None or judge_set in {case.judge_set, case.judge_set.rsplit(" ", 1)[0]},
        asked=lambda asked: judge is None or asked.judge == judge,
    )
    if not chosen:
        there = dict.fromkeys(map(_told, records.origins()))
        asked = " and ".join(
            f"{flag} {name}" for flag, name in (("--judge-model", judge), ("--judge-set", judge_set)) if name
        )
        raise UsageError(f"{path} holds no judgment that fits {asked}; there are: {'; '.join(there)}")
    origins = chosen.origins()
    for values, what_now in (
        ({o.judge for o in origins}, "choose one with --judge-model"),
        ({o.judge_set for o in origins}, "choose one with --judge-set"),
        ({o.sampling for o in origins}, "split the file by the judge's sampling"),
        ({str(o.sample) for o in origins}, "choose one with --sample"),
        ({str(o.criterion) for o in origins}, "choose one with --criterion"),
        ({o.score_method for o in origins}, "choose one with --score-method"),
    ):
        if len(values) > 1:
            choices = ", ".join(sorted(values))
            raise UsageError(f"{path} mixes judgments that are not comparable, {what_now}: {choices}")
    return chosen


def _told(origin: Origin) -> str:
    return f"judge {origin.judge}, judge set {origin.judge_set}"


def of_kind(read: Read, which: Which, path: pathlib.Path) -> Read:
    """Return the judgments of one sample, criterion and score method, as far as these are named.

    Raises:
        UsageError: there are none.
    """
    if which == ANY:
        return read

    def wanted(case: Case) -> bool:
        held = case.sample, case.criterion, case.score_method
        return all(named in {None, own} for named, own in zip(which, held, strict=True))

    found = Read(read.ratings.keep(wanted), read.comparisons.keep(wanted), read.replaced)
    if not found.ratings and not found.comparisons:
        cases = [*read.ratings.cases, *read.comparisons.cases]
        there = dict.fromkeys(_kind_told(case) for case in cases)
        raise UsageError(f"{path} holds no judgment {_asked_told(which)}; there are: {'; '.join(there)}")
    return found


def _kind_told(case: Case) -> str:
    weighed = "" if case.score_method == "text" else f", score method {case.score_method}"
    return f"sample {case.sample}, criterion {case.criterion or 'none'}{weighed}"


def _asked_told(which: Which) -> str:
    """Return what was asked for, as the flags that say it."""
    named = zip(("--sample", "--criterion", "--score-method"), which, strict=True)
    return "that fits " + " ".join(f"{flag} {value}" for flag, value in named if value is not None)


def one_wording(records: Judged, path: pathlib.Path) -> None:
    """Raise `UsageError` if judgments of one question were made from different wordings of it."""
    wordings: dict[QuestionId, str] = {}
    for asked in records.asked:
        if asked.question_content is None:
            continue
        if wordings.setdefault(asked.question_id, asked.question_content) != asked.question_content:
            raise UsageError(
                f"{path} mixes judgments of two versions of question {asked.question_id}, which are not comparable; "
                "run gen_judgment again for all models"
            )


def without_voters(comparisons: Comparisons, patterns: Sequence[str]) -> Comparisons:
    """Return the votes of those voters whose name fits none of the patterns (`author*`)."""
    return comparisons.keep(
        asked=lambda a: a.voter is None or not any(fnmatch.fnmatchcase(a.voter, p) for p in patterns)
    )


def of_voter(comparisons: Comparisons, voter: str | None, path: pathlib.Path) -> Comparisons:
    """Return the votes of that voter, or of all where None is named; `UsageError` if the voter cast none."""
    votes = comparisons.keep(asked=lambda asked: voter in {None, asked.voter})
    if not votes:
        voters = sorted({asked.voter for asked in comparisons.asked if asked.voter is not None})
        raise UsageError(f"{path} holds no vote by {voter}; there are: {', '.join(voters)}")
    return votes

"""Files of votes and judgments -> verdicts by item and judge or voter: pairs, grades and labels.

    votes_of(observations)  ->  {(question 81, turn 1, x, y): [(gpt-4, FIRST), (ann, TIE)], ...}
    as_preferences(grades)  ->  pairs: of two answers to one question the one with the higher grade is preferred

A side is what is compared with others: a file of votes, by the name of its stem, or one judge of a judgment file.
"""

import pathlib
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import logical_file, logical_files
from harness.old.jsonl.copies import local_file
from harness.old.judgments.case import CONFIDENCE, SCORE, SHARE, TOTAL, WIN, winner
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import Read, read_judgments
from harness.old.names import name_of
from harness.old.records import Observation, QuestionId
from harness.old.results.finding import is_left_out, narrowed, one_source, one_wording
from harness.old.results.query import Query

FIRST, TIE, SECOND = 1.0, 0.5, 0.0
"""The verdict on a pair: the preference, from 0 to 1, for the model that the item names first."""
_TIED: Mapping[frozenset[float], float] = {
    frozenset({FIRST, SECOND}): SECOND,
    frozenset({FIRST, TIE}): TIE,
    frozenset({TIE, SECOND}): SECOND,
    frozenset({FIRST, TIE, SECOND}): FIRST,
}
"""What AlpacaEval takes where several values are as frequent: pandas' sample with the seed 123 of them in order."""


class Item(NamedTuple):
    """What is voted on: one turn of one question, and one model or two in the order of their names."""

    question_id: QuestionId
    turn: int
    first: str
    second: str = ""
    """Empty where one answer is graded or labelled."""


class Vote(NamedTuple):
    """The verdict of one judge or person on an item."""

    judge: str
    """The name of the judge model or the voter."""
    made_by: str
    """Judge set and sampling: under another of these the same model is another judge."""
    said: Any
    """Of a pair FIRST, TIE or SECOND; else a grade or the name of a label."""


Votes: TypeAlias = Mapping[Item, Sequence[Vote]]
Meeting: TypeAlias = tuple[Item, Any, Any]
"""An item and the verdicts of two judges."""
Categories: TypeAlias = Mapping[QuestionId, str]
"""Each question's category."""


def vote_files(query: Query, votes: Sequence[pathlib.Path | str]) -> list[pathlib.Path]:
    """Return the files of votes: those named, or all of the benchmark's `human_judgment/`."""
    if votes:
        return list(dict.fromkeys(map(local_file, votes)))
    folder = query.bench.folder / "human_judgment"
    found = logical_files(folder)
    if not found:
        raise MissingError(
            f"there are no votes in {folder}; vote in the viewer, or name files of votes with --votes "
            "(import_data battles makes them from arena battles)"
        )
    return found


def pairs_in(path: pathlib.Path, *, by_voters: bool = False) -> Read:
    """Return the observations of a file of votes on pairs.

    Raises:
        UsageError: it contains no pairs, or with `by_voters` judgments.
    """
    read = read_judgments(path)
    voted = not by_voters or all(case.source.voter for case in read.observations.cases)
    if not read.observations.paired or not voted:
        raise UsageError(f"{path} contains no votes on pairs (model_a, model_b, winner), which are required here")
    return read


def votes_of(observations: Iterable[Observation]) -> dict[Item, list[Vote]]:
    """Return the verdicts by item, with voters in a fixed order; failed ones are left out (see `without_verdict`)."""
    votes: dict[Item, list[Vote]] = {}
    voters: dict[str, int] = {}
    for one in observations:
        said = _said(one)
        if said is not None:
            models = sorted((one.model, one.opponent)) if one.opponent else (one.model,)
            made_by = f"{one.source.set_text}, {one.source.sampling}"
            votes.setdefault(Item(one.question_id, one.turn, *models), []).append(Vote(one.source.judge, made_by, said))
            voters.setdefault(one.source.judge, len(voters))
    for cast in votes.values():  # a table of labels is of the one voter's by the other's, whatever the order of rows
        cast.sort(key=lambda vote: voters[vote.judge])
    return votes


def _said(one: Observation) -> Any:
    """Return an observation's verdict on its item; None if it has none."""
    if one.source.form == "label" and one.opponent is None:
        return one.metric if one.value == 1 and one.metric not in {SHARE, CONFIDENCE} else None
    if one.opponent is None:
        return one.value
    won = winner(one.games)
    return won if won is None or one.model < one.opponent else 1.0 - won


def as_preferences(grades: Observations) -> Observations:
    """Return grades as pairs, to compare with votes on pairs: equal grades are a tie, repeats count as their mean.

    Question 1: x 8, y 6, z 8 are three preferences: x over y, z over y, x and z a tie. A grade that was not given makes
    none. Source: Zheng et al. 2023 (arXiv 2306.05685), Table 5, "GPT-4 Single".
    """
    return Observations.of(_preferences(grades))


def _preferences(grades: Observations) -> Iterator[Observation]:
    graded: dict[Any, dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for grade in grades:
        if grade.value is not None:
            source = grade.source._replace(form="pair", scale=None, choice="0")
            graded[grade.question_id, grade.turn, source, grade.metric][grade.model].append(grade)
    for (question, turn, source, _), models in graded.items():
        means = {model: sum(own.value or 0.0 for own in given) / len(given) for model, given in models.items()}
        for one, other in combinations(sorted(means), 2):
            gap = means[one] - means[other]
            won = 1.0 if gap > 0 else 0.0 if gap < 0 else 0.5
            first = models[one][0]
            yield Observation(question, turn, one, other, WIN, won, (won,), source, first.template, first.content)


def judgments(observations: Iterable[Observation]) -> int:
    """Return how many judgments these are, of which one may give several numbers."""
    return len({(one.question_id, one.turn, one.model, one.opponent, one.source) for one in observations})


def without_verdict(observations: Iterable[Observation]) -> int:
    """Return how many judgments `votes_of` leaves out because they have no verdict."""
    return judgments(one for one in observations if one.value is None)


def by_judge(votes: Votes) -> dict[str, dict[Item, list[Vote]]]:
    """Return the votes of each judge, by name, for agreement of every two of a panel."""
    found: dict[str, dict[Item, list[Vote]]] = {}
    for item, cast in votes.items():
        for vote in cast:
            found.setdefault(vote.judge, {}).setdefault(item, []).append(vote)
    return {judge: found[judge] for judge in sorted(found)}


def by_majority(votes: Votes, name: str) -> dict[Item, list[Vote]]:
    """Return one vote of `name` for each item, the majority's; a tie without a majority."""
    return {item: [Vote(name, "majority", mode([vote.said for vote in cast]))] for item, cast in votes.items()}


def mode(values: Sequence[float], *, compatible: bool = False) -> float:
    """Return the majority verdict on a pair; a tie without a majority, the median if one of them is graded."""
    counts = Counter(values)
    if not counts.keys() <= {FIRST, TIE, SECOND}:
        return statistics.median(values)
    most = max(counts.values())
    often = frozenset(value for value, times in counts.items() if times == most)
    if len(often) == 1:
        return next(iter(often))
    return _TIED[often] if compatible else TIE


def met_between(left: Votes, right: Votes) -> Iterator[Meeting]:
    """Yield every vote of the one side with every one of another judge on the other side."""
    for item in left.keys() & right.keys():
        for one in left[item]:
            for other in right[item]:
                if one[:2] != other[:2]:
                    yield item, one.said, other.said


def met_within(votes: Votes) -> Iterator[Meeting]:
    """Yield every two votes of different judges."""
    for item, cast in votes.items():
        for one, other in combinations(cast, 2):
            if one[:2] != other[:2]:
                yield item, one.said, other.said


class Side(NamedTuple):
    """The votes, verdicts or grades of one side."""

    name: str
    longer: tuple[str, ...]
    """Longer names for sides with the same name; the first that distinguishes all of them is used."""
    path: pathlib.Path
    observations: Observations


def sides_of(query: Query, path: pathlib.Path, found: Observations, mode: str) -> list[Side]:
    """Return the sides that a file makes: one of votes, which has the file's name, or one for each judge.

    There is none if the file has no vote of the requested judges.
    """
    voted = {case.source.voter for case in found.cases}
    if len(voted) > 1:
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    asked_for = found.keep(lambda case: not query.judges or case.source.judge in query.judges)
    stem = name_of(logical_file(path).stem)
    # Grades by people name no template.
    if voted == {True} or not (found.paired or any(asked.template for asked in found.asked)):
        votes = asked_for.keep(lambda case: not is_left_out(case.source.judge, query.exclude))
        if asked_for and not votes:
            raise UsageError(f"--exclude {' '.join(query.exclude)} leaves no vote of {path}")
        longer = f"{path.parent.name}/{stem}", *[str(path)] * 4
        return [Side(stem, longer, path, votes)] if votes else []
    sides = []
    for judge in dict.fromkeys(source.judge for source in asked_for.sources()):
        own = one_source(query._replace(judges=(judge,)), found, path)
        one_wording(own, path)
        source = own.cases[0].source
        differs = source.set_text, mode, f"sample {source.sample}", stem, str(path)
        sides.append(Side(judge, tuple(f"{judge} ({what})" for what in differs), path, own))
    return sides


def told_apart(sides: Sequence[Side]) -> list[Side]:
    """Return the sides, those of the same name with a longer one."""
    found = []
    for side in sides:
        alike = [other.longer for other in sides if other.name == side.name]
        if len(alike) > 1:
            at = next(at for at, names in enumerate(zip(*alike, strict=True)) if len(set(names)) == len(alike))
            side = side._replace(name=side.longer[at])
        found.append(side)
    return found


def of_kind(query: Query, read: Read, path: pathlib.Path) -> Observations:
    """Return the requested judgments; all votes, and all judgments that state no sample or criterion.

    For several dimensions, if none is named, it is the overall grade.
    """
    found = read.observations
    if any(case.source.voter for case in found.cases):
        return found
    criterion = query.criterion if set(found.metrics()) - {SCORE, WIN} else None
    sample = query.sample if any(case.source.sample for case in found.cases) else None
    if read.form == "dimensions" and criterion is None and TOTAL in found.metrics():
        criterion = TOTAL
    return narrowed(query._replace(sample=sample, criterion=criterion), found, path)

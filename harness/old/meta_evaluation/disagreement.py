"""Judgments -> the items on which judges disagree with each other, or with people's votes.

    judges disagree    two judges with one judge set and criterion name other winners of a pair, a tie being one too, or
                       their grades of an answer are two points or more apart
    against people     a judgment of a pair is not the voters' majority verdict; of two graded answers, most voters
                       prefer the one with the lower grade (equal grades and tied votes contradict nobody)

Three judges grade an answer 8, 7 and 5: apart by 3, so they disagree. Two voters for x and one for y: the majority
is x, and a judge that calls it a tie is against it; one that grades x 7 and y 6 is not, nor is one with 7 and 7.

Judgments are columns of numbers here, 200,000 of them take a tenth of a second; the viewer marks them by the same two
functions. Only a judge's first sample counts: that it disagrees with itself is what `repeat` reports.
"""

import pathlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.jsonl.copies import local_file
from harness.old.judgments.case import Case
from harness.old.judgments.observations import Bools, Observations, numbered
from harness.old.meta_evaluation.report import Report, asked
from harness.old.meta_evaluation.votes import as_preferences, by_majority, pairs_in, votes_of
from harness.old.names import counted
from harness.old.records import Mode, Observation, QuestionId
from harness.old.results.finding import without_voters
from harness.old.results.matrix import Floats, Ints
from harness.old.results.query import Query, Words
from harness.old.written import takes_only

APART = 2.0
"""Points by which two grades of an answer differ that count as disagreement."""
_TURNS = 4096


@dataclass(frozen=True)
class Judged:
    """Judgments as columns; every array has an entry for each judgment."""

    cases: Sequence[Case]
    questions: Sequence[QuestionId]
    models: Sequence[str]
    """By name, so that the order of their numbers is that of their names."""
    case: Ints
    question: Ints
    turn: Ints
    first: Ints
    second: Ints
    """-1 in a grade."""
    value: Floats
    """The grade, or of a pair 1, 0 (a tie) or -1 for the model that comes first by name; NaN for no verdict."""

    @property
    def paired(self) -> bool:
        """Whether two answers were compared, not one graded."""
        return bool((self.second >= 0).any())

    @cached_property
    def item(self) -> Ints:
        """A number for what was judged: the same for the same question, turn and models, in either order."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        found: Ints = item_number(self.question, self.turn, low, high, len(self.models))
        return found

    def coded(self, names: Iterable[Hashable]) -> Ints:
        """Return for each judgment the number of its case's name."""
        return np.array(numbered(names)[1] or [0], dtype=np.int64)[self.case]


def item_number(question: Any, turn: Any, low: Any, high: Any, models: int) -> Any:
    """Return the number of an item of these places, `low` -1 for a grade; of arrays, of each."""
    wide = models + 1
    return ((question * _TURNS + np.minimum(turn, _TURNS - 1)) * wide + low + 1) * wide + high


def towards_first(outcome: Floats, first: Ints, second: Ints) -> Floats:
    """Return outcomes (1 won, 0.5 tied, 0 lost by `first`) as 1, 0 and -1 for the model that comes first by name."""
    won = 2.0 * outcome - 1.0
    return np.where(first <= second, won, -won)


def judged_of(observations: Observations) -> Judged:
    """Return observations as columns."""
    questions, question = observations.of_asked(lambda asked: asked.question_id)
    models = sorted({model for case in observations.cases for model in case.models})
    code = {name: at for at, name in enumerate(models)}
    first = observations.of_cases(lambda case: code[case.models[0]])
    second = observations.of_cases(lambda case: code[case.models[1]] if len(case.models) > 1 else -1)
    value = observations.values()
    value = towards_first(value, first, second) if observations.paired else value
    turn = observations.of_cases(lambda case: case.turn)
    place = observations.case_at.astype(np.int64)
    return Judged(observations.cases, questions, models, place, question, turn, first, second, value)


def disagreed(judged: Judged) -> Bools:
    """Return for each judgment whether judges with the same judge set and criterion disagree on its item."""
    first_sample = np.array([not c.source.sample for c in judged.cases] or [True])[judged.case]
    known = np.flatnonzero(~np.isnan(judged.value) & first_sample)
    found = np.zeros(len(judged.case), dtype=bool)
    if not len(known):
        return found
    aspect = judged.coded((c.source.set_text, c.metric) for c in judged.cases)[known]
    group = judged.item[known] * (int(aspect.max()) + 1) + aspect
    place = np.unique(group, return_inverse=True)[1]
    judge = judged.coded(c.source.judge for c in judged.cases)[known]
    apart = _range(place, judged.value[known]) >= (0.5 if judged.paired else APART)
    found[known] = (apart & (_range(place, judge.astype(np.float64)) > 0))[place]
    return found


def _compared(judged: Judged) -> int:
    """Return how many items have a verdict of two judges or more."""
    judge = judged.coded(case.source.judge for case in judged.cases)
    known = np.unique(np.stack([judged.item, judge])[:, ~np.isnan(judged.value)], axis=1)[0]
    return int((np.unique(known, return_counts=True)[1] > 1).sum())


def _items(judged: Judged, marked: Bools) -> int:
    """Return how many items have a judgment that is marked."""
    return len(np.unique(judged.item[marked]))


def _range(place: Ints, values: Floats) -> Floats:
    """Return for each place the greatest minus the least of its values."""
    size = int(place.max()) + 1
    ends: Floats = np.stack([np.full(size, np.inf), np.full(size, -np.inf)])
    np.minimum.at(ends[0], place, values)
    np.maximum.at(ends[1], place, values)
    found: Floats = ends[1] - ends[0]
    return found


def against(judged: Judged, votes: Iterable[Observation]) -> Bools:
    """Return for each judgment whether it contradicts the majority of votes on the same two answers.

    Two grades whose order is the reverse of the votes are both marked.
    """
    voted, good = _voted(judged, votes), ~np.isnan(judged.value)
    if judged.paired:
        said = _by_people(judged, voted)
        against_most: Bools = good & ~np.isnan(said) & (said != judged.value)
        return against_most
    found = np.zeros(len(judged.case), dtype=bool)
    source = judged.coded((c.source._replace(choice="0", scale=None), c.metric) for c in judged.cases)
    keys = zip(source[good].tolist(), judged.item[good].tolist(), strict=True)
    grades = dict(zip(keys, np.flatnonzero(good).tolist(), strict=True))
    for (question, turn, *models), said_of_both in voted.items():
        items = [item_number(question, turn, -1, model, len(judged.models)) for model in models]
        for number in set(source.tolist()):
            rows = [grades[number, item] for item in items if (number, item) in grades]
            if len(rows) == 2 and (judged.value[rows[0]] - judged.value[rows[1]]) * said_of_both < 0:
                found[rows] = True
    return found


_Voted: TypeAlias = Mapping[tuple[int, int, int, int], float]
"""For question, turn and two models, as places in the columns, the majority vote: 1, 0 or -1 for the first."""


def _voted(judged: Judged, votes: Iterable[Observation]) -> _Voted:
    place = {key: at for at, key in enumerate(judged.questions)}
    code = {name: at for at, name in enumerate(judged.models)}
    return {
        (place[item.question_id], item.turn, code[item.first], code[item.second]): 2 * cast[0].said - 1
        for item, cast in by_majority(votes_of(votes), "people").items()
        if item.question_id in place and item.first in code and item.second in code
    }


def _by_people(judged: Judged, voted: _Voted) -> Floats:
    """Return for each judgment of a pair the majority vote; NaN without votes."""
    people = {item_number(*key, len(judged.models)): said for key, said in voted.items()}
    return np.array([people.get(item, np.nan) for item in judged.item.tolist()], dtype=np.float64)


@takes_only(Words.__annotations__)
def judge_disagreement(
    mode: Mode | None = None, *, votes: Sequence[pathlib.Path | str] = (), **words: Unpack[Words]
) -> Report:
    """Return the items on which judges disagree, or, with files of `votes`, those on which one is against the voters.

    A row is an item, with each judge's verdict (`by JUDGE`) and the majority of votes (`people`). `judge_model` are the
    judges (default: all that there are); see `Words` for the other keywords.

    Raises:
        UsageError: there are fewer than two judges and no votes, or the files contain labels.
    """
    given = asked(Query.of(mode, **words)._replace(every_judge=True))
    query, records = given.query, given.judged
    if any(case.source.form == "label" for case in records.cases):
        raise UsageError("labels have no distance; judge_report agreement counts how often they are equal")
    judges = list(dict.fromkeys(source.judge for source in given.sources))
    tie = "another winner, or a tie"
    if votes:
        reads = [pairs_in(local_file(path)) for path in votes]
        cast = Observations.joined([without_voters(read.observations, query.exclude) for read in reads])
        rows, note = _against_voters(records, cast, judges)
    elif len(judges) < 2:
        raise UsageError(f"only {judges[0]} judged this; it takes two judges, or votes to compare with (--votes)")
    else:
        judged = judged_of(records)
        marked = disagreed(judged)
        rows = _rows(judged, marked, judges, {})
        told = tie if judged.paired else f"grades {APART:g} points apart or more"
        note = f"judges disagree ({told}) on {counted(_items(judged, marked), 'item')}; "
        note += f"{_compared(judged)} items were judged by two judges or more"
    return given.report("disagreement", rows, [note], explained=False)


def _against_voters(
    records: Observations, cast: Observations, judges: Sequence[str]
) -> tuple[list[dict[str, Any]], str]:
    """Return the pairs of answers on which a judgment is against the voters; grades are shown as preferences."""
    judged = judged_of(records if records.paired else as_preferences(records))
    said = _by_people(judged, _voted(judged, cast))
    both = ~np.isnan(judged.value) & ~np.isnan(said)
    # Equal grades, and tied votes, are against nobody.
    marked = both & ((said != judged.value) if records.paired else (judged.value * said < 0))
    people = dict(zip(judged.item.tolist(), said.tolist(), strict=True))
    told = "another winner than most voters say, or a tie" if records.paired else "the other order than most voters say"
    pairs = counted(len(np.unique(judged.item[both])), "pair")
    note = f"a judge is against the voters ({told}) on {_items(judged, marked)} of {pairs} judged and voted on"
    return _rows(judged, marked, judges, people), note


def _rows(judged: Judged, marked: Bools, judges: Sequence[str], people: Mapping[int, float]) -> list[dict[str, Any]]:
    """Return a row for each item with a marked judgment; questions in their order, then turns and models."""
    aspect = judged.coded((c.source.set_text, c.metric) for c in judged.cases)
    items = judged.item * (int(aspect.max(initial=0)) + 1) + aspect
    order = np.lexsort((aspect, judged.second, judged.first, judged.turn, judged.question))
    wanted = order[np.isin(items[order], np.unique(items[marked]))]
    several = len({case.metric for case in judged.cases}) > 1
    found: dict[int, dict[str, Any]] = {}
    for at in wanted.tolist():
        case = judged.cases[int(judged.case[at])]
        names = sorted(case.models)

        def said(value: float, names: Sequence[str] = names) -> float | str:
            return value if len(names) == 1 else "tie" if value == 0 else names[value < 0]

        row: dict[str, Any] = {"question_id": judged.questions[int(judged.question[at])], "turn": case.turn}
        row |= {"model": names[0]} if len(names) == 1 else {"model_1": names[0], "model_2": names[1]}
        row |= {"criterion": case.metric} if several else {}
        if people:
            row["people"] = said(people.get(int(judged.item[at]), 0.0))
        own = found.setdefault(int(items[at]), row | {f"by {judge}": None for judge in judges})
        if not np.isnan(judged.value[at]):
            own[f"by {case.source.judge}"] = said(float(judged.value[at]))
    return list(found.values())

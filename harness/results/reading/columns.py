"""Ratings and pairs by the million: what rows share stands once, and a row is two small numbers and a verdict.

    cases     0: x, turn 1, judge set mt_bench 1, ...    1: x, turn 2, ...      2: y, turn 1, ...
    asked     0: question 81, judge gpt-4, ...           1: question 82, ...
    case 0    asked 0, 8.0      asked 1, 6.0             case 1    asked 0, -1.0 (no score)
    order     0, 1, 0           of the rows, by their case

A million rows take 20 MB, where as many records take 300. Whoever wants records reads `Ratings` and `Comparisons` as
the sequences of `Rating` and `Comparison` that they are; whoever wants speed takes the verdicts of a case together.
Every case and every asked stands in at least one row, in the order in which rows first name them.
"""

from abc import abstractmethod
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import eq
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, overload

from harness.records import Comparison, Origin, QuestionId, Rating, Scale

Record = TypeVar("Record", Rating, Comparison)

NO_SCORE = -1.0
"""The verdict of a rating whose judgment gave no score; no scale holds it."""
_EACH = ("model_1", "model_2", "tie", None)
WINNERS: tuple[tuple[str | None, ...], ...] = (
    (),
    *((one,) for one in _EACH),
    *((one, other) for one in _EACH for other in _EACH),
)
"""What a pair's verdict stands for: nothing, the winner of a vote, or of both games, as in `Comparison.winners`."""


class Case(NamedTuple):
    """What was judged, and how the judgments of it were made."""

    models: tuple[str, ...]
    """The one that was graded, or the two of a pair in the order of the row."""
    turn: int
    judge_set: str
    sampling: str
    sample: int
    criterion: str | None
    score_method: str
    choice: str
    scale: Scale | None = None
    """Of grades, the least and the greatest that there are; None where rows do not say. Rows that differ in nothing
    else are still of one thing judged."""


class Asked(NamedTuple):
    """Who was asked, and about what."""

    question_id: QuestionId
    judge: str
    voter: str | None
    template: str | None
    question_content: str | None


class Verdicts(NamedTuple):
    """All verdicts on one case in one group of questions."""

    case: Case
    group: Any
    verdicts: "array[Any]"


class Columns(Sequence[Record], Generic[Record]):
    """Judgments as columns; a sequence of records that are made when they are looked at."""

    typecode: ClassVar[str]
    """Of the verdicts."""
    failures: ClassVar[frozenset[float]]
    """The verdicts that are none."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.asked: list[Asked] = []
        self._order = array("i")
        self._unnumbered: list[tuple[array[int], Sequence[int]]] = []
        """What follows in `order`, by other numbers, and these cases' places."""
        self.asked_of: list[array[int]] = []
        """For each case the rows' places in `asked`, in the order of the rows."""
        self.verdicts_of: list[array[Any]] = []
        """For each case the verdicts, in the order of the rows."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        """Return the records as columns."""
        return records if isinstance(records, cls) else cls.from_rows(map(cls._row, records))

    @classmethod
    def _row(cls, record: Record) -> tuple[Case, Asked, Any]:
        return (*cls.apart(record), cls.verdict(record))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Case, Asked, Any]]) -> Self:
        """Return the rows as columns."""
        made = cls()
        cases: dict[Case, int] = {}
        asked: dict[Asked, int] = {}
        for case, about, verdict in rows:
            place = cases.setdefault(case, len(cases))
            made.add_cases(place + 1)
            made.order.append(place)
            made.asked_of[place].append(asked.setdefault(about, len(asked)))
            made.verdicts_of[place].append(verdict)
        made.cases, made.asked = list(cases), list(asked)
        return made

    def add_cases(self, count: int) -> None:
        """Make room for the rows of so many cases in all."""
        while len(self.asked_of) < count:
            self.asked_of.append(array("i"))
            self.verdicts_of.append(array(self.typecode))

    @property
    def order(self) -> "array[int]":
        """For each row the place of its case."""
        for codes, places in self._unnumbered:
            self._order.extend(array("i", map(places.__getitem__, codes)))
        self._unnumbered.clear()
        return self._order

    def follow(self, order: "array[int]", places: Sequence[int]) -> None:
        """Add rows to `order` that number the cases otherwise: 0 for the case at `places[0]`.

        They are numbered anew only when the order is asked for; most tables do without.
        """
        self._unnumbered.append((order, places))

    @staticmethod
    @abstractmethod
    def apart(record: Record, choice: str = "0") -> tuple[Case, Asked]:
        """Return what the tables hold of a record."""

    @staticmethod
    @abstractmethod
    def verdict(record: Record) -> float:
        """Return what stands for the verdict of a record."""

    @staticmethod
    @abstractmethod
    def together(case: Case, asked: Asked, verdict: Any) -> Record:
        """Return the record."""

    def rows(self) -> Iterator[tuple[Case, Asked, Any]]:
        """Yield the rows as they stand in the file."""
        asked, verdicts = list(map(iter, self.asked_of)), list(map(iter, self.verdicts_of))
        for case in self.order:
            yield self.cases[case], self.asked[next(asked[case])], next(verdicts[case])

    def __len__(self) -> int:
        return len(self._order) + sum(len(order) for order, _ in self._unnumbered)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> list[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | list[Record]:
        if isinstance(at, slice):
            return list(self)[at]
        at = range(len(self))[at]
        order = self._order if at < len(self._order) else self.order
        case, before = order[at], order[:at].count(order[at])
        return self.together(self.cases[case], self.asked[self.asked_of[case][before]], self.verdicts_of[case][before])

    def __iter__(self) -> Iterator[Record]:
        for row in self.rows():
            yield self.together(*row)

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a sequence of the same records."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def keep(
        self,
        case: Callable[[Case], bool] = lambda case: True,
        asked: Callable[[Asked], bool] = lambda asked: True,
    ) -> Self:
        """Return the rows whose case and whose asked are wanted."""
        cases, about = {c for c in self.cases if case(c)}, {a for a in self.asked if asked(a)}
        if len(cases) == len(self.cases) and len(about) == len(self.asked):
            return self
        return self.from_rows(row for row in self.rows() if row[0] in cases and row[1] in about)

    def origins(self) -> list[Origin]:
        """Return what made these judgments."""
        judges, judge_at = numbered(asked.judge for asked in self.asked)
        found: dict[Origin, None] = {}
        for case, asked in zip(self.cases, self.asked_of, strict=True):
            used = dict.fromkeys(map(judge_at.__getitem__, asked)) if len(judges) > 1 else (0,)
            found.update((Origin(judges[judge], *case[2:7]), None) for judge in used)
        return list(found)

    def by_case(self, group: Callable[[Asked], Hashable] | None = None) -> Iterator[Verdicts]:
        """Yield the verdicts on each case, apart for each group of questions (default: all in one)."""
        if group is None:
            yield from (Verdicts(case, None, own) for case, own in zip(self.cases, self.verdicts_of, strict=True))
            return
        groups, group_at = numbered(map(group, self.asked))
        for case, asked, verdicts in zip(self.cases, self.asked_of, self.verdicts_of, strict=True):
            apart: list[array[Any]] = [array(self.typecode) for _ in groups]
            for place, verdict in zip(map(group_at.__getitem__, asked), verdicts, strict=True):
                apart[place].append(verdict)
            yield from (Verdicts(case, label, own) for label, own in zip(groups, apart, strict=True) if own)

    def latest(self) -> Self:
        """Return, of rows with equal keys, the last one that has a verdict (or the first, if none has)."""
        keys, key_at = numbered(asked[:3] for asked in self.asked)
        distinct: dict[Case, list[Iterable[int]]] = {}
        for case, asked in zip(self.cases, self.asked_of, strict=True):
            same = asked if len(keys) == len(self.asked) else map(key_at.__getitem__, asked)
            distinct.setdefault(_judged(case), []).append(same)
        if sum(len(set(chain.from_iterable(parts))) for parts in distinct.values()) == len(self):
            return self
        kept: dict[Hashable, tuple[Case, Asked, Any]] = {}
        for row in self.rows():
            key = (_judged(row[0]), row[1][:3])
            if key not in kept or row[2] not in self.failures:
                kept[key] = row
        return self.from_rows(kept.values())


def hull(scales: Iterable[Scale | None]) -> Scale | None:
    """Return the scale that holds all of these, those that are unknown aside; None if none is known."""
    known = {scale for scale in scales if scale is not None}
    return (min(scale[0] for scale in known), max(scale[1] for scale in known)) if known else None


def _name(judge_set: str) -> str:
    """Return the name of a judge set without its version."""
    return judge_set.rsplit(" ", 1)[0]


def numbered(values: Iterable[Hashable]) -> tuple[list[Any], list[int]]:
    """Return the distinct values, and for each value its place among them."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return list(places), codes


def _judged(case: Case) -> Case:
    """Return the case as it is whichever of two models comes first, and whether or not its rows state a scale."""
    if len(case.models) == 1:
        return case if case.scale is None else case._replace(scale=None)
    return case._replace(models=tuple(sorted(case.models)))


class Ratings(Columns[Rating]):
    """Many ratings; a verdict is the score, or `NO_SCORE`."""

    typecode = "d"
    failures = frozenset({NO_SCORE})

    def scale(self) -> Scale | None:
        """Return the least and the greatest score that can be; None where that is unknown.

        Rows of the benchmark's own judge set need not say it: FastChat's have no field for it.
        """
        from harness.bench import OWN_JUDGE_SET

        from_1_to_10 = {OWN_JUDGE_SET, "unstated"}
        known = {case.scale or ((1, 10) if _name(case.judge_set) in from_1_to_10 else None) for case in self.cases}
        return hull(known)

    @staticmethod
    def apart(record: Rating, choice: str = "0") -> tuple[Case, Asked]:
        """Return what the tables hold of a rating."""
        o = record.origin
        made = o.judge_set, o.sampling, o.sample, o.criterion, o.score_method
        case = Case((record.model,), record.turn, *made, choice, record.scale)
        return case, Asked(record.question_id, o.judge, None, record.template, record.question_content)

    @staticmethod
    def verdict(record: Rating) -> float:
        """Return the score as a number."""
        return NO_SCORE if record.score is None else float(record.score)

    @staticmethod
    def together(case: Case, asked: Asked, verdict: float) -> Rating:
        """Return the rating; a whole score is a whole number, as rows have it."""
        score = None if verdict == NO_SCORE else int(verdict) if verdict.is_integer() else verdict
        origin = Origin(asked.judge, *case[2:7])
        made = asked.template, asked.question_content, case.scale
        return Rating(asked.question_id, case.turn, case.models[0], score, origin, *made)


class Comparisons(Columns[Comparison]):
    """Many pairs; a verdict is a place in `WINNERS`."""

    typecode = "b"
    failures = frozenset(code for code, winners in enumerate(WINNERS) if None in winners or not winners)
    codes: ClassVar[dict[tuple[str | None, ...], int]] = {winners: code for code, winners in enumerate(WINNERS)}

    @staticmethod
    def apart(record: Comparison, choice: str = "0") -> tuple[Case, Asked]:
        """Return what the tables hold of a pair."""
        o = record.origin
        models = (record.model_1, record.model_2)
        case = Case(models, record.turn, o.judge_set, o.sampling, o.sample, o.criterion, o.score_method, choice)
        return case, Asked(record.question_id, o.judge, record.voter, record.template, record.question_content)

    @staticmethod
    def verdict(record: Comparison) -> float:
        """Return the place of the winners."""
        return Comparisons.codes[record.winners]

    @staticmethod
    def together(case: Case, asked: Asked, verdict: int) -> Comparison:
        """Return the pair."""
        model_1, model_2 = case.models
        return Comparison(
            asked.question_id,
            case.turn,
            model_1,
            model_2,
            WINNERS[verdict],
            Origin(asked.judge, *case[2:7]),
            asked.voter,
            asked.template,
            asked.question_content,
        )

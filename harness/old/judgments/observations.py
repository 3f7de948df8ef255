"""Observations by the million: what rows share is stored once, and a row is two small integers and a value.

    cases   0: x, turn 1, score, by gpt-4 with mt_bench 1     1: x, turn 2, ...      2: y, turn 1, ...
    asked   0: question 81                                    1: question 82, ...
    rows    case 0, asked 0, 8.0     case 1, asked 0, NaN (no score)     case 0, asked 1, 6.0

A million rows take 24 MB (`columns`), as records 300; more rows are in a file. Iterate
over `Observations` for records; for speed use the columns, for many rows in parts (`parts`). Every case and
every asked is in at least one row, in the order of first use.
"""

import copy
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import eq
from typing import Any, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from harness.old.judgments.case import LOGPROBS, OUTCOMES, Asked, Case, hull, key_of, outcome
from harness.old.judgments.columns import BLOCK, ROW, Rows, Store, blocks
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.records import UNSTATED, Games, Observation, QuestionId, Scale, Source

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.int32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Hashed: TypeAlias = npt.NDArray[np.uint64]

_TABLE = 1 << 24
"""Bytes of a table of all keys in which equal ones are looked for; of more rows, two bytes for each."""
_MOST_LOTS = 200
"""Files into which rows are sorted at once."""


class Observations(Sequence[Observation]):
    """Observations as columns; a sequence of records that are made when they are looked at."""

    def __init__(
        self,
        cases: Sequence[Case] = (),
        asked: Sequence[Asked] = (),
        columns: Rows = np.empty(0, ROW),  # noqa: B008
        games: Sequence[Games] = OUTCOMES,
    ) -> None:
        """Keep the columns, which are the observations' own from now on; of `cases` and `asked`, those that no row
        names are left out."""
        self.columns = columns
        self.cases: list[Case] = self._named(cases, "case")
        self.asked: list[Asked] = self._named(asked, "asked")
        self.games = list(games)

    @property
    def case_at(self) -> Codes:
        """For each row its place in `cases`."""
        return self.columns["case"]

    @property
    def asked_at(self) -> Codes:
        """For each row its place in `asked`."""
        return self.columns["asked"]

    @property
    def said(self) -> Floats:
        """For each row its value (NaN for none) or, of a pair, its place in `games`."""
        return self.columns["said"]

    @property
    def judged(self) -> Hashed:
        """For each row the hash of the conversation that was judged, 0 for none."""
        return self.columns["judged"]

    @classmethod
    def of(cls, records: Iterable[Observation]) -> Self:
        """Return the records as columns."""
        if isinstance(records, cls):
            return records
        codes: dict[Games, int] = {games: code for code, games in enumerate(OUTCOMES)}
        rows = [
            (*_apart(one), codes.setdefault(one.games, len(codes)) if one.opponent else _nan(one.value))
            for one in records
        ]
        return cls.from_rows(rows, list(codes))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Case, Asked, float]], games: Sequence[Games] = OUTCOMES) -> Self:
        """Return the rows as columns; the last is a value, or for pairs an index into `games`."""
        case, asked, said = list(zip(*rows, strict=True)) or ((), (), ())
        columns = np.zeros(len(said), ROW)
        cases, columns["case"] = numbered(case)
        about, columns["asked"] = numbered(asked)
        columns["said"] = said
        return cls(cases, about, columns, games)

    @classmethod
    def joined(cls, observed: Sequence[Self]) -> Self:
        """Return the observations of several files one after another."""
        if len(observed) == 1:
            return observed[0]
        cases, case_at = numbered(chain.from_iterable(own.cases for own in observed))
        asked, asked_at = numbered(chain.from_iterable(own.asked for own in observed))
        games, game_at = numbered(chain(OUTCOMES, *(own.games for own in observed)))
        of_cases, of_asked, of_games = iter(case_at), iter(asked_at), iter(game_at[len(OUTCOMES) :])
        store = Store()
        for own in observed:
            case, about, game = _next(of_cases, own.cases), _next(of_asked, own.asked), _next(of_games, own.games)
            for part in own.parts():
                rows = part.columns.copy()
                rows["case"], rows["asked"] = case[part.case_at], about[part.asked_at]
                if own.paired:
                    rows["said"] = game[part.said.astype(np.int64)]
                store.add(rows)
        return cls(cases, asked, store.whole(), games)

    @property
    def paired(self) -> bool:
        """Whether two answers were compared, not one judged."""
        return bool(self.cases) and len(self.cases[0].models) == 2

    def rows(self) -> Iterator[tuple[Case, Asked, Any]]:
        """Yield the rows in the order of the file; for a pair the value is an index into `games`."""
        for part in self.parts():
            said: list[Any] = (part.said.astype(np.int64) if self.paired else part.said).tolist()
            for case, asked, value in zip(part.case_at.tolist(), part.asked_at.tolist(), said, strict=True):
                yield self.cases[case], self.asked[asked], value

    def parts(self) -> Iterator[Self]:
        """Yield the rows in parts that fit into memory; they share `cases` and `asked`, and name some of them only."""
        for rows in blocks(self.columns):
            yield self._with(self.columns[rows])

    @property
    def lots(self) -> int:
        """Into how many lots rows are put so that each is as many as may be in memory."""
        return min(-(-len(self) // BLOCK), _MOST_LOTS)

    def by_question(self, count: int) -> Iterator[Self]:
        """Yield the rows in this many chunks, all of a question in one (with other observations, in the chunk of the
        same number), in their order."""
        if count < 2:
            yield self
            return
        lot = np.array([hash(asked.question_id) for asked in self.asked], dtype=np.int64) % count
        lots = [Store(count) for _ in range(count)]
        for part in self.parts():
            lot_at = lot[part.asked_at].astype(np.uint8)
            rows = part.columns[np.argsort(lot_at, kind="stable")]
            ends = np.cumsum(np.bincount(lot_at, minlength=count))
            for store, own in zip(lots, np.split(rows, ends[:-1]), strict=True):
                store.add(own.copy())  # a part of the block would keep all of it
        while lots:
            yield self._with(lots.pop(0).whole())

    def _with(self, columns: Rows) -> Self:
        found = copy.copy(self)
        found.columns = columns
        return found

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, at: int) -> Observation: ...
    @overload
    def __getitem__(self, at: slice) -> list[Observation]: ...
    def __getitem__(self, at: int | slice) -> Observation | list[Observation]:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        at = range(len(self))[at]
        said: Any = int(self.said[at]) if self.paired else float(self.said[at])
        return self._record(self.cases[self.case_at[at]], self.asked[self.asked_at[at]], said)

    def __iter__(self) -> Iterator[Observation]:
        for row in self.rows():
            yield self._record(*row)

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a sequence of the same records."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return a summary in one line."""
        models = dict.fromkeys(model for case in self.cases for model in case.models)
        judges = dict.fromkeys(case.source.judge for case in self.cases)
        metrics = dict.fromkeys(case.metric for case in self.cases)
        return (
            f"<{len(self)} observations of {', '.join(metrics) or 'nothing'}: {len(models)} models, "
            f"{len(self.questions())} questions, by {', '.join(judges) or 'nobody'}>"
        )

    def _record(self, case: Case, asked: Asked, said: Any) -> Observation:
        games = self.games[said] if len(case.models) == 2 else ()
        value = outcome(games, case.source.method) if len(case.models) == 2 else None if math.isnan(said) else said
        model, opponent = (*case.models, None)[:2]
        about = asked.template, asked.content
        return Observation(
            asked.question_id, case.turn, str(model), opponent, case.metric, value, games, case.source, *about
        )

    def questions(self) -> list[QuestionId]:
        """Return each question once, as they come."""
        return list(dict.fromkeys(asked.question_id for asked in self.asked))

    def keep(
        self,
        case: Callable[[Case], bool] = lambda case: True,
        asked: Callable[[Asked], bool] = lambda asked: True,
    ) -> Self:
        """Return the rows whose case and whose asked are wanted."""
        cases, about = np.array(list(map(case, self.cases)), bool), np.array(list(map(asked, self.asked)), bool)
        if cases.all() and about.all():
            return self
        return self.only(cases[part.case_at] & about[part.asked_at] for part in self.parts())

    def only(self, rows: Iterable[npt.NDArray[Any]]) -> Self:
        """Return some of the rows, by a mask of each of the `parts`."""
        store = Store()
        for part, own in zip(self.parts(), rows, strict=True):
            store.add(part.columns[own])
        return type(self)(self.cases, self.asked, store.whole(), self.games)

    def sources(self) -> list[Source]:
        """Return the distinct sources, regardless of choice and scale."""
        return list(dict.fromkeys(case.source._replace(choice="0", scale=None) for case in self.cases))

    def metrics(self) -> list[str]:
        """Return each metric once, as they come."""
        return list(dict.fromkeys(case.metric for case in self.cases))

    def scale(self) -> Scale | None:
        """Return the lowest and the highest possible value; None if unknown."""
        return hull(self.scales())

    def scales(self) -> set[Scale]:
        """Return every scale that is known.

        Rows of the benchmark's own judge set need not state it: FastChat's have no field for it.
        """
        from_1_to_10 = {OWN_JUDGE_SET, UNSTATED}
        sources = {case.source for case in self.cases}
        known = (own.scale or ((1, 10) if own.judge_set in from_1_to_10 else None) for own in sources)
        return {scale for scale in known if scale is not None}

    def of_cases(self, value: Callable[[Case], float]) -> npt.NDArray[Any]:
        """Return for each row a number that its case has."""
        return np.array(list(map(value, self.cases)))[self.case_at] if self.cases else np.empty(0, dtype=np.int64)

    def of_asked(self, value: Callable[[Asked], Hashable]) -> tuple[list[Any], Ints]:
        """Return the distinct values that the asked have, and for each row the place of its own among them."""
        names, places = numbered(map(value, self.asked))
        return names, np.array(places, dtype=np.int64)[self.asked_at]

    @property
    def failed(self) -> Bools:
        """For each row whether it is a judgment without a verdict."""
        return np.isnan(self.values())

    def values(self, method: str = "text") -> Floats:
        """Return for each row its value or, of a pair, its `outcome`; NaN where there is no verdict."""
        if not self.paired:
            return self.said
        of_games = [outcome(games, method) for games in self.games]
        return np.array(of_games, dtype=np.float64)[self.said.astype(np.int64)]

    def latest(self) -> tuple[Self, int]:
        """Return, of rows with equal keys, the last one that has a verdict (or the first, if none has).

        Each is where the first one with its key is (of many rows, by question). The number is that of left out rows
        that name the two models of a pair the other way round.
        """
        keys, key_at = numbered(map(key_of, self.cases))
        questions, question_at = numbered(asked.question_id for asked in self.asked)
        of_case, of_asked = np.array(key_at, dtype=np.int64) * len(questions), np.array(question_at, dtype=np.int64)
        if self._each_alone(of_case, of_asked, len(keys) * len(questions)):
            return self, 0
        named = np.array(numbered(case.models for case in self.cases)[1], dtype=np.int64)
        store, turned = Store(), 0
        for part in self.by_question(self.lots):
            if len(part):
                kept, own = part._latest(of_case[part.case_at] + of_asked[part.asked_at], named)
                store.add(part.columns[kept])
                turned += own
        latest = store.whole()
        return (
            (self, 0) if len(latest) == len(self) else (type(self)(self.cases, self.asked, latest, self.games), turned)
        )

    def _latest(self, key: Ints, named: Ints) -> tuple[Ints, int]:
        """Return which rows `latest` returns, and how many others name, by `named` of each case, other models first."""
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        place = np.arange(len(order))
        place[self.failed[order]] = -1
        first, last_good = order[begins], np.maximum.reduceat(place, begins)
        kept = np.where(last_good < 0, first, order[last_good])
        of_kept = np.repeat(named[self.case_at[kept]], np.diff(begins, append=len(order)))
        turned = np.count_nonzero(of_kept != named[self.case_at[order]]) if self.paired else 0
        return kept[np.argsort(first)], int(turned)

    def _each_alone(self, of_case: Ints, of_asked: Ints, size: int) -> bool:
        """Return whether it is seen quickly that no two rows have the same key: the sum, below `size`, of a number of
        case and of asked."""
        if size > max(_TABLE, 2 * len(self)):
            return False
        there = np.zeros(size, dtype=bool)
        for part in self.parts():
            there[of_case[part.case_at] + of_asked[part.asked_at]] = True
        return int(np.count_nonzero(there)) == len(self)

    def _named(self, names: Sequence[Any], field: str) -> list[Any]:
        """Return the names in the rows, in order of first use; the rows are renumbered."""
        first = np.full(len(names), len(self))
        for rows in blocks(self.columns):
            at, own = self.columns[field][rows], np.full(len(names), len(self))
            own[at[::-1]] = np.arange(rows.start, rows.stop)[::-1]  # of several values for one place the last is kept
            np.minimum(first, own, out=first)
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(self))]
        if len(order) == len(names) and (np.diff(order) == 1).all():
            return list(names)
        places = np.zeros(len(names), dtype=np.int32)
        places[order] = np.arange(len(order))
        for rows in blocks(self.columns):
            self.columns[field][rows] = places[self.columns[field][rows]]
        return [names[place] for place in order]


def weighed(found: Observations) -> bool:
    """Return whether these are pairs whose verdicts were weighed; of one table all are, or none."""
    return found.paired and any(case.source.method == LOGPROBS for case in found.cases)


def numbered(values: Iterable[Hashable]) -> tuple[list[Any], list[int]]:
    """Return the distinct values, and for each value its place among them."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return list(places), codes


def _next(places: Iterator[int], names: Sequence[Any]) -> Ints:
    return np.fromiter((next(places) for _ in names), dtype=np.int64, count=len(names))


def _apart(one: Observation) -> tuple[Case, Asked]:
    models = (one.model,) if one.opponent is None else (one.model, one.opponent)
    return Case(models, one.turn, one.metric, one.source), Asked(one.question_id, one.template, one.content)


def _nan(value: float | None) -> float:
    return math.nan if value is None else float(value)

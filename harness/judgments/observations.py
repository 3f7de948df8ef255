"""Observations by the million: what rows share is stored once, and a row is two small numbers and what was said.

    cases   0: x, turn 1, score, by gpt-4 with mt_bench 1     1: x, turn 2, ...      2: y, turn 1, ...
    asked   0: question 81                                    1: question 82, ...
    rows    case 0, asked 0, 8.0     case 1, asked 0, NaN (no score)     case 0, asked 1, 6.0

A million rows take 16 MB (24 where they say what was judged), where as many records take 300. Whoever wants records
iterates over `Observations`; whoever wants speed takes the columns. Every case and every asked is in at least one row,
in the order in which rows first name them.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import eq
from typing import Any, NamedTuple, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from harness.judgments.case import LOGPROBS, OUTCOMES, Asked, Case, hull, key_of, outcome
from harness.judgments.file_name import OWN_JUDGE_SET
from harness.records import UNSTATED, Games, Observation, QuestionId, Scale, Source

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.int32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Hashed: TypeAlias = npt.NDArray[np.uint64]

_SPARE = 16
"""Bytes for each row, up to which equal keys are looked for in a table of all keys rather than by sorting."""


class Latest(NamedTuple):
    """Of rows with equal keys, one each."""

    rows: Ints
    turned: int
    """Rows left out that name the two models of a pair the other way round."""


BLOCK = 1 << 19
"""Rows that are looked at together."""


class Observations(Sequence[Observation]):
    """Observations as columns; a sequence of records that are made when they are looked at."""

    def __init__(
        self,
        cases: Sequence[Case] = (),
        asked: Sequence[Asked] = (),
        columns: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] = ((), (), ()),
        games: Sequence[Games] = OUTCOMES,
        judged: npt.ArrayLike | None = None,
    ) -> None:
        """Keep the columns; of `cases` and `asked`, those that no row names are left out."""
        self.cases: list[Case]
        self.asked: list[Asked]
        self.cases, self.case_at = _named(cases, np.asarray(columns[0], dtype=np.int32))
        """`case_at` has for each row its place in `cases`."""
        self.asked, self.asked_at = _named(asked, np.asarray(columns[1], dtype=np.int32))
        self.said: Floats = np.asarray(columns[2], dtype=np.float64)
        """For each row its value (NaN for none) or, of a pair, its place in `games`."""
        self.games = list(games)
        self.judged: Hashed | None = None if judged is None else np.asarray(judged, dtype=np.uint64)
        """For each row the hash of the conversation that was judged, 0 for none; None where no row says it."""

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
        """Return the rows as columns; what was said is a value, or of pairs a place in `games`."""
        case, asked, said = list(zip(*rows, strict=True)) or ((), (), ())
        (cases, case_at), (about, asked_at) = numbered(case), numbered(asked)
        return cls(cases, about, (case_at, asked_at, said), games)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the observations of several files one after another."""
        if len(parts) == 1:
            return parts[0]
        cases, case_at = numbered(chain.from_iterable(part.cases for part in parts))
        asked, asked_at = numbered(chain.from_iterable(part.asked for part in parts))
        games, game_at = numbered(chain(OUTCOMES, *(part.games for part in parts)))
        columns: list[list[npt.NDArray[Any]]] = [[np.empty(0, dtype=of)] for of in (np.int32, np.int32, np.float64)]
        of_cases, of_asked, of_games = iter(case_at), iter(asked_at), iter(game_at[len(OUTCOMES) :])
        for part in parts:
            columns[0].append(_next(of_cases, part.cases)[part.case_at])
            columns[1].append(_next(of_asked, part.asked)[part.asked_at])
            own = _next(of_games, part.games)
            columns[2].append(own[part.said.astype(np.int64)] if part.paired else part.said)
        case, about, said = map(np.concatenate, columns)
        hashes = [np.zeros(len(part), np.uint64) if part.judged is None else part.judged for part in parts]
        judged = np.concatenate(hashes) if any(part.judged is not None for part in parts) else None
        return cls(cases, asked, (case, about, said), games, judged)

    @property
    def paired(self) -> bool:
        """Whether two answers were compared, not one judged."""
        return bool(self.cases) and len(self.cases[0].models) == 2

    def rows(self) -> Iterator[tuple[Case, Asked, Any]]:
        """Yield the rows in the order of the file; what was said of a pair is its place in `games`."""
        said: list[Any] = (self.said.astype(np.int64) if self.paired else self.said).tolist()
        for case, asked, value in zip(self.case_at.tolist(), self.asked_at.tolist(), said, strict=True):
            yield self.cases[case], self.asked[asked], value

    def __len__(self) -> int:
        return len(self.said)

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
        """Return what is there, in a line."""
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
        return self.only(cases[self.case_at] & about[self.asked_at])

    def only(self, rows: npt.NDArray[Any]) -> Self:
        """Return some of the rows, by a mask or by their places."""
        columns = self.case_at[rows], self.asked_at[rows], self.said[rows]
        judged = None if self.judged is None else self.judged[rows]
        return type(self)(self.cases, self.asked, columns, self.games, judged)

    def sources(self) -> list[Source]:
        """Return who said all this, each once, whichever choice and scale it was about."""
        return list(dict.fromkeys(case.source._replace(choice="0", scale=None) for case in self.cases))

    def metrics(self) -> list[str]:
        """Return each metric once, as they come."""
        return list(dict.fromkeys(case.metric for case in self.cases))

    def scale(self) -> Scale | None:
        """Return the least and the greatest value that can be; None where that is unknown.

        Rows of the benchmark's own judge set need not say it: FastChat's have no field for it.
        """
        from_1_to_10 = {OWN_JUDGE_SET, UNSTATED}
        sources = {case.source for case in self.cases}
        return hull(own.scale or ((1, 10) if own.judge_set in from_1_to_10 else None) for own in sources)

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

        The number is that of left out rows that name the two models of a pair the other way round.
        """
        latest = self.latest_rows()
        return (self, 0) if latest is None else (self.only(latest.rows), latest.turned)

    def latest_rows(self) -> "Latest | None":
        """Return which rows `latest` returns, each where the first one with its key is; None if it is all of them."""
        keys, key_at = numbered(map(key_of, self.cases))
        questions, question_at = numbered(asked.question_id for asked in self.asked)
        of_case, of_asked = np.array(key_at, dtype=np.int64) * len(questions), np.array(question_at, dtype=np.int64)
        size = len(keys) * len(questions)
        if not len(self) or (size <= _SPARE * len(self) and self._each_alone(of_case, of_asked, size)):
            return None
        key = of_case[self.case_at] + of_asked[self.asked_at]
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        del key
        if len(begins) == len(self):
            return None
        place = np.arange(len(order))
        place[self.failed[order]] = -1
        first, last_good = order[begins], np.maximum.reduceat(place, begins)
        kept = np.where(last_good < 0, first, order[last_good])
        turned: Any = np.empty(0)
        if self.paired:
            named = np.array(numbered(case.models for case in self.cases)[1], dtype=np.int64)
            of_kept = np.repeat(named[self.case_at[kept]], np.diff(begins, append=len(order)))
            turned = of_kept != named[self.case_at[order]]
        return Latest(kept[np.argsort(first)], int(np.count_nonzero(turned)))

    def _each_alone(self, of_case: Ints, of_asked: Ints, size: int) -> bool:
        """Return whether no two rows have the same key: the sum, below `size`, of a number of case and of asked."""
        there = np.zeros(size, dtype=bool)
        for rows in blocks(len(self)):
            there[of_case[self.case_at[rows]] + of_asked[self.asked_at[rows]]] = True
        return int(np.count_nonzero(there)) == len(self)


def weighed(found: Observations) -> bool:
    """Return whether these are pairs whose verdicts were weighed; of one table all are, or none."""
    return found.paired and any(case.source.method == LOGPROBS for case in found.cases)


def numbered(values: Iterable[Hashable]) -> tuple[list[Any], list[int]]:
    """Return the distinct values, and for each value its place among them."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return list(places), codes


def blocks(length: int) -> list[slice]:
    """Return slices of so many rows: what is computed on the way would take several times the columns for all."""
    return [slice(at, min(at + BLOCK, length)) for at in range(0, length, BLOCK)]


def _named(names: Sequence[Any], at: Codes) -> tuple[list[Any], Codes]:
    """Return the names that rows have, in the order in which rows first have them, and the places of the rows' own."""
    first = np.full(len(names), len(at))
    for rows in reversed(blocks(len(at))):
        first[at[rows][::-1]] = np.arange(rows.start, rows.stop)[
            ::-1
        ]  # of several values for one place the last is kept
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(at))]
    if len(order) == len(names) and (np.diff(order) == 1).all():
        return list(names), at
    places = np.zeros(len(names), dtype=np.int32)
    places[order] = np.arange(len(order))
    return [names[place] for place in order], places[at]


def _next(places: Iterator[int], names: Sequence[Any]) -> Ints:
    return np.fromiter((next(places) for _ in names), dtype=np.int64, count=len(names))


def _apart(one: Observation) -> tuple[Case, Asked]:
    models = (one.model,) if one.opponent is None else (one.model, one.opponent)
    return Case(models, one.turn, one.metric, one.source), Asked(one.question_id, one.template, one.content)


def _nan(value: float | None) -> float:
    return math.nan if value is None else float(value)

"""One table of results: a line for each model, judge, group of questions or turn, a number in each column.

    Line("x", {"correct": Estimate(0.5, 0.4, 0.6), "n": 90})                 model x, all questions, all turns
    Line("x", {"correct": Estimate(0.7, 0.5, 0.9), "n": 10}, group="math")   its answers to the questions of one group

Grades, labels, dimensions, criteria, metrics and pairs, of one judge or of a panel, are such tables; only what computes
the numbers differs. Every output is a projection: the rows of a table, those of groups, one file of all, JSON.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from harness.old.records import QuestionId, Scale
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.ranks import RankRange

Kind: TypeAlias = Literal["grades", "pairs", "label", "criterion", "dimension", "metric"]
Row: TypeAlias = dict[str, Any]


class Made(TypedDict, total=False):
    """How a table of named columns is made: the keywords that functions of several tables pass on."""

    groups: Mapping[QuestionId, Any] | None
    """For each question the value of the field `by` (default: all are one group)."""
    by: str
    """That field (default: category)."""
    sure: bool
    """Whether with intervals (default: with them)."""
    seed: int
    """Of the resampling (default: 0)."""


class Group(Enum):
    """The group of a line without a group: a group of questions may have any name, even None."""

    ALL = "all questions"


ALL = Group.ALL


@dataclass(frozen=True, slots=True)
class Mean(Estimate):
    """A mean that has its own counts in addition to those of its line."""

    n: int
    """Grades in it."""
    excluded: int | None
    """Judgments that gave none; None for a group."""
    best: tuple[QuestionId, ...]
    """The questions with the best grades, best first."""
    worst: tuple[QuestionId, ...]
    """The questions with the worst grades, worst first."""


class Line(NamedTuple):
    """What is known of one model, for the given keys."""

    model: str
    fields: Mapping[str, Any]
    """By column, in their order: `Estimate`s, counts, None."""
    judge: str | None = None
    """Of a panel, which of its judges, or all together; None: there is one judge."""
    group: Any = ALL
    """The value of the questions' field that groups them."""
    turn: int | None = None
    """None: all turns."""

    def estimates(self) -> dict[str, Estimate]:
        """Return the numbers that may have an interval, by column."""
        return {name: own for name, own in self.fields.items() if isinstance(own, Estimate)}


class Table(NamedTuple):
    """Lines, and what their numbers are."""

    lines: list[Line]
    """Those of all questions and turns first, the best model first."""
    kind: Kind = "grades"
    by: str = "category"
    """The field of the questions that groups them."""
    seed: int = 0
    sure: bool = True
    """Whether intervals were requested, or may be shown."""
    beside: bool = True
    """Whether rows have the ends of an interval next to its number, or after all columns."""
    places: int = 3
    """Decimal places in tables for people."""
    strata: str = ""
    """The field within whose values questions are resampled; empty: all are one."""
    names: tuple[str, ...] = ()
    """The columns that the judge set or a metric named."""
    scales: Mapping[str, Scale | None] = {}
    """The least and the greatest number of each of these, where that is known."""
    bins: Sequence[Row] = ()
    """How stated confidences fit, where answers state any."""
    ranks: Mapping[str, Mapping[str, RankRange]] = {}
    """By column, then by model, the ranks that it may have; one judged on few questions has none."""
    key: str = "model"
    """What a line is about, if not a model."""

    @property
    def whole(self) -> list[Line]:
        """The lines of all questions and turns."""
        return [line for line in self.lines if line.group is ALL and line.turn is None]

    @property
    def has_intervals(self) -> bool:
        """Whether any number of a model has an interval."""
        return self.sure and any(own.low is not None for line in self.whole for own in line.estimates().values())

    @property
    def named(self) -> bool:
        """Whether its columns are what a judge set or a metric names: labels, criteria, dimensions, metrics."""
        return self.kind not in ("grades", "pairs")

    @property
    def groups(self) -> list[Any]:
        """The groups of questions, in their order; empty where there is one only."""
        return list(dict.fromkeys(line.group for line in self.lines if line.group is not ALL))

    def of_group(self, group: Any) -> dict[str, dict[str, Estimate]]:
        """Return for each column each model's number on the questions of a group (`ALL`: on all)."""
        found: dict[str, dict[str, Estimate]] = {name: {} for name in self.names}
        for line in self.lines:
            if line.group == group and line.turn is None:
                for name, own in line.estimates().items():
                    found.setdefault(name, {})[line.model] = own
        return {name: own for name, own in found.items() if own}

    def rows(self) -> list[Row]:
        """Return a row for each line of all questions, without intervals."""
        return [self._row(line, ends=False) for line in self.whole]

    def table_rows(self) -> list[Row]:
        """Return the same with the ends of every interval, if intervals may be shown, and with ranks."""
        return [{**self._row(line, ends=True), **self._all_ranks(line.model)} for line in self.whole]

    def group_rows(self, *, intervals: bool = True) -> list[Row]:
        """Return a row for each model and group."""
        return [self._row(line, ends=intervals) for line in self.lines if line.group is not ALL]

    def turn_rows(self) -> list[Row]:
        """Return a row for each model and turn."""
        return [self._row(line, ends=True) for line in self.lines if line.turn is not None]

    def wide_rows(self, column: str) -> list[Row]:
        """Return for each model its numbers of all groups in a column, a column each."""
        found: dict[str, Row] = {line.model: {"model": line.model} for line in self.whole}
        for line in self.lines:
            if line.group is not ALL and column in line.fields:
                found[line.model][str(line.group)] = line.fields[column]
        return [row for row in found.values() if len(row) > 1]

    def long_rows(self) -> list[Row]:
        """Return a row for each model, column and group (None: all), with interval and extreme questions."""
        place = {line.model: at for at, line in enumerate(self.whole)}
        names = {name: at for at, name in enumerate(self.names)}
        found = [(line, name, own) for line in self.lines for name, own in line.fields.items() if isinstance(own, Mean)]
        found.sort(key=lambda one: (one[0].group is not ALL, place[one[0].model], names[one[1]]))
        return [
            {
                "model": line.model,
                self.kind: name,
                self.by: None if line.group is ALL else line.group,
                **ends("mean", own),
                "n": own.n,
                "excluded": own.excluded,
                **(self._ranks(line.model if line.group is ALL else None, name) if name in self.ranks else {}),
                "best": list(own.best),
                "worst": list(own.worst),
            }
            for line, name, own in found
        ]

    def flat_rows(self, *, intervals: bool) -> list[Row]:
        """Return all rows for a file of one table: the models', whose group is empty, then those of the groups.

        Without `intervals` the columns of `rows` come first, and the ends of the intervals after all of them; with
        them, means that have counts of their own have a row each.
        """
        own = self.table_rows()
        if intervals and any(isinstance(field, Mean) for line in self.lines for field in line.fields.values()):
            return [{k: v for k, v in row.items() if k not in ("best", "worst")} for row in self.long_rows()]
        if not intervals:
            own = [plain | row for plain, row in zip(self.rows(), own, strict=True)]
        if not self.groups:
            return own
        return [{"model": row["model"], self.by: None, **row} for row in own] + self.group_rows()

    def json(self, *, intervals: bool) -> Row:
        """Return what JSON shows in addition to the rows: groups, intervals, calibration."""
        if not self.named:
            return {}
        shown: Row = {"by": self.by, "groups": self.group_rows()}
        if intervals:
            shown["seed"] = self.seed
            shown |= {"intervals": self.table_rows()} if self.kind == "label" else {"means": self.long_rows()}
        return shown | ({"calibration": list(self.bins)} if self.bins else {})

    def in_order(self, place: Mapping[str, int]) -> "Table":
        """Return the same with the models in another order; one that has no place comes last."""
        means = self.kind in ("criterion", "dimension", "metric")  # they stand group by group, others model by model
        groups = {group: at for at, group in enumerate(self.groups)} if means else {}

        def at(line: Line) -> tuple[int, int]:
            return groups.get(line.group, -1), place.get(line.model, len(place))

        return self._replace(lines=sorted(self.lines, key=at))

    def _row(self, line: Line, *, ends: bool) -> Row:
        found: Row = {self.key: line.model, **({} if line.judge is None else {"judge": line.judge})}
        found |= {} if line.group is ALL else {self.by: line.group}
        found |= {} if line.turn is None else {"turn": line.turn}
        later: Row = {}
        for name, own in line.fields.items():
            number = isinstance(own, Estimate)
            found[name] = own.value if number else own
            if number and ends and self.sure:
                (found if self.beside else later).update({f"{name}_low": own.low, f"{name}_high": own.high})
        return found | {name: end for name, end in later.items() if name not in found}

    def rank_rows(self) -> list[Row]:
        """Return for each model its range of ranks in every column that has ranks, as "3" or "3-7"."""
        return [
            {
                self.key: line.model,
                **{name: str(own[line.model]) for name, own in self.ranks.items() if line.model in own},
            }
            for line in self.whole
            if self.ranks
        ]

    def _ranks(self, model: str | None, column: str) -> Row:
        rank = None if model is None else self.ranks[column].get(model)
        return {"rank_first": rank.first if rank else None, "rank_last": rank.last if rank else None}

    def _all_ranks(self, model: str) -> Row:
        return {
            f"{column}_{name}" if self.named else name: end
            for column in self.ranks
            for name, end in self._ranks(model, column).items()
        }


def best_first(lines: Iterable[Line], column: str) -> list[Line]:
    """Return the lines of models with the greatest number in a column first, those without any last, then by name;
    those of groups, then those of turns, follow in the order of the models."""
    place: dict[str, tuple[bool, float, str]] = {}
    lines = list(lines)
    for line in lines:
        if line.group is ALL and line.turn is None:
            own = line.fields[column]
            value = own.value if isinstance(own, Estimate) else own
            place[line.model] = (value is None, -(value or 0.0), line.model)
    return sorted(lines, key=lambda line: (line.turn is not None, line.group is not ALL, place[line.model]))


def ends(name: str, estimate: Estimate) -> dict[str, float | None]:
    """Return an estimate as three columns."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}

"""What `show_result` shows: one table, what a reader must know about it, and how sure it is.

The rows of every output (table, json, csv, markdown, latex, the HTML page, the viewer) come from here.
"""

import pathlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.old.errors import UsageError
from harness.old.records import Mode, Scale
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.table import Row, Table

if TYPE_CHECKING:  # imported only where they are made
    import pandas

    from harness.old.results.detail import Detail
    from harness.old.results.pairs.length_control import ControlTable
    from harness.old.results.panel import Panel
    from harness.old.results.runs import Runs
    from harness.old.results.users import UserTable


@dataclass(frozen=True, slots=True)
class Result:
    """One table of results, and what a reader must know about it."""

    mode: Mode
    bench: str | None
    """None if it is not known which questions the judgments are about."""
    judge: str
    """The judge; of a panel, all of them."""
    judge_set: str
    path: pathlib.Path
    """Of a panel, the first of its files."""
    table: Table = Table([])  # noqa: RUF009
    """A line for each model, and of a panel for each judge and all together."""
    column: str = POOLED
    """The column by which the models are ranked, where one is."""
    categories: list[Row] = field(default_factory=list)
    """Each model's average by category."""
    notes: list[str] = field(default_factory=list)
    detail: "Detail | None" = None
    """The uncertainty of the results, if requested; for a panel, of all judges together."""
    runs: "Runs | None" = None
    """This run compared with another one, if requested, with what a gate needs."""
    panel: "Panel | None" = None
    """The panel's result and where its judges disagree, if several judges were named."""
    users: "UserTable | None" = None
    """What the played users did, where questions have one."""
    unranked: frozenset[str] = frozenset()
    """The models that were judged on too few questions to be ranked."""
    scale: Scale | None = None
    """Of grades, the least and the greatest that can be, where that is known."""
    baseline: str | None = None
    """Of pairs with a baseline, which it is."""
    control: "ControlTable | None" = None
    """Win rates against a baseline at equal length, if requested."""

    @property
    def judged(self) -> bool:
        """Whether these are numbers of a judge or of voters, not of metrics."""
        return self.table.kind != "metric"

    @property
    def together(self) -> Table:
        """The table with groups and intervals of all columns; for a panel, of all judges together."""
        return self.table if self.panel is None or not isinstance(self.panel.together, Table) else self.panel.together

    def rows(self) -> list[Row]:
        """Return the table's rows by column name; numbers unrounded.

        Those of a panel also name the judge, and end with an interval.
        """
        return self.table.rows() if self.panel is None else self.table.table_rows()

    def frame(self) -> "pandas.DataFrame":
        """Return the rows, with intervals and ranks where there are any, as a frame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.table_rows())

    def table_rows(self) -> list[Row]:
        """Return the same rows, as json and csv show them, with intervals (`average_low`, ...) and ranks, if known."""
        return self.table.table_rows()

    def with_last(self, models: Collection[str]) -> "Result":
        """Return the same result with these models listed last: those that are not ranked.

        Where they are all but one, that one is not the first of anything, and has no rank either.
        """
        there = dict.fromkeys(line.model for line in self.table.lines)
        ordered = self.in_order({name: at for at, name in enumerate(sorted(there, key=lambda name: name in models))})
        categories = sorted(self.categories, key=lambda row: row["model"] in models)
        table = ordered.table
        if models and len(there) - len(models) == 1:
            table = table._replace(ranks={column: {} for column in table.ranks})
        return replace(ordered, table=table, categories=categories, unranked=frozenset(models))

    def sorted_by(self, column: str) -> "Result":
        """Return the same result with the models in the order of a column of the table or of a category.

        The greatest number comes first, names from A to Z; a model without a number comes last, and after it those that
        are not ranked, in this column or at all. Of a panel the rows of all judges together decide. The categories
        stand in `categories`, or in the groups of the detail.

        Raises:
            UsageError: there is no such column.
        """
        values, ranks = self._values(column), self.table.ranks.get(column)

        def key(model: str) -> tuple[Any, ...]:
            value = values.get(model)
            last = model in self.unranked or bool(ranks and model not in ranks), value is None
            return (*last, value if isinstance(value, str) else -(value or 0.0), model)

        return self.in_order({model: at for at, model in enumerate(sorted(values, key=key))})

    def in_order(self, place: Mapping[str, int]) -> "Result":
        """Return the same result with the models in another order; one that has no place comes last."""
        panel = self.panel
        if panel is not None and isinstance(panel.together, Table):
            panel = replace(panel, together=panel.together.in_order(place))
        return replace(
            self,
            table=self.table.in_order(place),
            categories=sorted(self.categories, key=lambda row: place.get(row["model"], len(place))),
            detail=None if self.detail is None else self.detail.in_order(place),
            panel=panel,
        )

    def _values(self, column: str) -> dict[str, Any]:
        """Return what each model has in a column."""
        tables = [self.rows(), self.categories]
        if self.detail is not None:
            wide = self.detail.table.wide_rows(self.detail.column)
            groups = [{name: getattr(own, "value", own) for name, own in row.items()} for row in wide]
            tables += [self.detail.rows(), groups]
        for table in tables:
            if any(column in row for row in table):  # of several rows of a model, the last is all judges together
                return {row["model"]: row.get(column) for row in table}
        there = dict.fromkeys(name for table in tables for row in table for name in row)
        raise UsageError(f"no column {column!r} to sort by; there are: {', '.join(map(str, there))}")

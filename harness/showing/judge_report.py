"""What `judge_report` shows: the rows of a report as tables; wide or long ones are divided, no number is left out."""

from collections.abc import Iterator
from typing import Any

from harness.results.judges.report import Report
from harness.showing.items import Column, Page, Row, Table, columns_of

_ABOUT = (
    "by",
    "group",
    "judge",
    "judge1",
    "judge2",
    "turn",
    "category",
    "setup",
    "model",
    "measure",
    "facet",
    "attack",
)
"""Fields that say what a row is about."""
_LEADS = ("ratio", "value", "difference")
"""Numbers whose interval is called `low` and `high` alone."""


def judge_page(report: Report) -> Page:
    """Return the page of a report."""
    facts = {"report": report.name, "questions": report.bench or "unstated", "judge": report.judge}
    data = {"report": report.name, "judge": report.judge, "bench": report.bench, "rows": report.rows, **report.more}
    title = f"{report.name.capitalize()}: {report.judge}"
    return Page(title, facts, list(report_tables(report)), report.notes, data, report.rows)


def report_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of a report."""
    rows: list[dict[str, Any]] = report.rows
    if report.name == "position":
        yield _table("", [{name: v for name, v in row.items() if "share" not in name} for row in rows])
        shares = [{name: v for name, v in row.items() if "share" in name or name in {"by", "group"}} for row in rows]
        yield _table("Shares, with 95% intervals", shares)
    elif any(row.get("category") for row in rows):
        yield _table(
            "", [{name: v for name, v in row.items() if name != "category"} for row in rows if not row["category"]]
        )
        yield _table("By category", [row for row in rows if row["category"]])
    else:
        yield _table("", rows)
    for name, more in report.more.items():
        if more:
            yield _table(name.replace("_", " ").capitalize(), more)


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Return rows as a table, without the columns that hold nothing."""
    named = [_named(row) for row in rows]
    columns = [c for c in columns_of(named) if any(row.get(c.name) is not None for row in named)]
    keys = next((at for at, column in enumerate(columns) if column.name not in _ABOUT), 1)
    return Table(title, named, columns or [Column(name) for name in named[0]], places=3, keys=max(1, keys))


def _named(row: Row) -> dict[str, Any]:
    """Return a row whose every interval is called after its number."""
    lead = next((name for name in _LEADS if name in row and f"{name}_low" not in row), "")
    return {f"{lead}_{name}" if lead and name in {"low", "high"} else name: value for name, value in row.items()}

"""What `judge_report` shows: the rows of a report as tables; wide or long ones are divided, no number is left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from harness.old.errors import UsageError
from harness.old.meta_evaluation.report import Report
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing.charts import MOST_SERIES, Point, interval_chart, position_chart, scatter_chart
from harness.old.showing.items import Chart, Column, Item, Page, Row, Table, columns_of
from harness.old.showing.values import rounded

_ABOUT = (
    "criterion",
    "metric",
    "by",
    "group",
    "judge",
    "judge1",
    "judge2",
    "judge_set",
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
_GIVEN = {"rank", "other_rank", "other_score"}
"""Numbers that are no means, as are those of the columns `by JUDGE`."""


def judge_page(report: Report) -> Page:
    """Return the page of a report."""
    facts = {"report": report.name, "questions": report.bench or "unstated", "judge": report.judge}
    data = {"report": report.name, "judge": report.judge, "bench": report.bench, "rows": report.rows, **report.more}
    title = f"{report.name.capitalize()}: {report.judge}"
    items: list[Item] = [*report_charts(report), *report_tables(report)]
    return Page(title, facts, items, report.notes, data, report.rows)


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
    elif rows:
        yield _table("", rows)
    for name, more in report.more.items():
        if more:
            yield _table(name.replace("_", " ").capitalize(), more)


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Return rows as a table, without the columns that hold nothing; what a report is about is there even so."""
    named = [_named(row) for row in rows]
    columns = [
        column._replace(form=_as_given) if column.name in _GIVEN or column.name.startswith("by ") else column
        for column in columns_of(named)
        if column.name in _LEADS or any(row.get(column.name) is not None for row in named)
    ]
    keys = next((at for at, column in enumerate(columns) if column.name not in _ABOUT), 1)
    return Table(title, named, columns or [Column(name) for name in named[0]], places=3, keys=max(1, keys))


def _as_given(number: float) -> str:
    """Return a rank or a single grade, which is whole or nearly so: 3, 4.5."""
    text = rounded(number, 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _named(row: Row) -> dict[str, Any]:
    """Return a row whose every interval is called after its number."""
    lead = next((name for name in _LEADS if name in row and f"{name}_low" not in row), "")
    return {f"{lead}_{name}" if lead and name in {"low", "high"} else name: value for name, value in row.items()}


def report_charts(report: Report) -> list[Chart]:
    """Return the pictures of a report, as far as there are any."""
    drawn = _DRAWN.get(report.name, ())
    if report.name == "ranking" and "metric" in report.rows[0]:
        drawn = [("Which metric's order of the answers agrees with the judge?", _metrics_svg)]
    return [Chart(title, partial(draw, report)) for title, draw in drawn]


def _estimate(row: Mapping[str, Any], name: str, n: str = "n") -> Estimate:
    return Estimate(row[name], row[f"{name}_low"], row[f"{name}_high"], row[n], None)


def _length_svg(report: Report) -> str:
    rates = {row["model"]: _estimate(row, "equal_length") for row in report.more["models"]}
    return interval_chart(rates, label="win rate at equal length", reference=0.5, as_percent=True, counted="pairs")


def _repeat_svg(report: Report) -> str:
    found = {}
    turns = sorted({row["turn"] for row in report.rows})
    for turn in turns:
        own = [row for row in report.rows if row["turn"] == turn and row["variance"] is not None]
        whole = next((row["variance"] / row["share"] for row in own if row["share"]), None)
        for row in own if whole else ():
            low, high = (None if row[end] is None else row[end] / whole for end in ("variance_low", "variance_high"))
            facet = row["facet"].replace(" × ", "×")  # as narrow as it must be to stand whole beside its turn
            name = f"{facet}, turn {turn}" if len(turns) > 1 else row["facet"]
            found[name] = Estimate(row["share"], low, high, row["levels"], None)
    label = "share of the variance"
    return interval_chart(found, label=label, of="sources", counted="levels", reference=0.0, as_percent=True)


def _self_svg(report: Report) -> str:
    found = {row["judge"]: _estimate(row, "difference") for row in report.rows if row["difference"] is not None}
    if not found:
        raise UsageError("no judge has models of its family here that other judges also judged")
    return interval_chart(found, label="self-preference", of="judges", counted="items", reference=0.0)


def _corrected_svg(report: Report) -> str:
    found = {row["model"]: _estimate(row, "corrected", "questions") for row in report.rows}
    return interval_chart(found, label="corrected win rate", reference=0.5, as_percent=True)


def _metrics_svg(report: Report) -> str:
    whole = [row for row in report.rows if row["category"] is None]
    found = {": ".join(filter(None, [row.get("criterion"), row["metric"]])): _estimate(row, "agree") for row in whole}
    label = "pairs of answers in the same order"
    return interval_chart(found, label=label, of="metrics", counted="pairs", reference=0.5, as_percent=True)


def _price_svg(report: Report) -> str:
    """Return agreement against price of the judges that need a model or whose price is known."""
    agreement, price, unit = next(names for names in _AGREEMENT if names[0] in report.rows[0])
    points = []
    for row in report.rows:
        given = [row.get(f"{agreement}{end}") for end in ("", "_low", "_high")]
        value, low, high = (None if number is None else number / unit for number in given)
        if row.get(price) is not None:
            points.append(Point(_judge_of(row), row[price], Estimate(value, low, high, 0, None)))
    people = next((row[agreement] for row in report.rows if row["judge"] == "people"), None)
    level = None if people is None else ("people with each other", people / unit)
    return scatter_chart(points, x_label="dollars for 1,000 pairs", y_label="agrees with people", level=level)


def _win_rates_svg(report: Report) -> str:
    """Return the models' win rates with the first judges against those with people."""
    by_judge: dict[str, list[Point]] = {}
    for row in report.more["win_rates"]:
        name = _judge_of(row)
        own = Estimate(row["by_judge"], None, None, 0, None)
        by_judge.setdefault(name, []).append(Point(row["model"], row["by_people"], own, name))
    points = [point for own in list(by_judge.values())[:MOST_SERIES] for point in own]
    return scatter_chart(
        points, x_label="win rate with people", y_label="win rate with the judge", diagonal=True, x_percent=True
    )


def _judge_of(row: Mapping[str, Any]) -> str:
    return f"{row['judge']} ({row['judge_set']})" if row.get("judge_set") else str(row["judge"])


_AGREEMENT = (("human_agreement", "price", 1.0), ("Human agreement", "Price [$/1000 examples]", 100.0))
"""The columns of agreement and price, and what agreement is a share of; AlpacaEval's after ours."""
_DRAWN: Mapping[str, Sequence[tuple[str, Callable[[Report], str]]]] = {
    "position": [("Position bias: does the order change the verdict?", lambda report: position_chart(report.rows))],
    "length": [("Win rates at equal answer length", _length_svg)],
    "repeat": [("Where the variance of the verdicts comes from", _repeat_svg)],
    "self": [("Does the judge favour the models of its family?", _self_svg)],
    "corrected": [("Win rates corrected by votes", _corrected_svg)],
    "judges": [
        ("Agreement with people and its cost", _price_svg),
        ("Do judges rank the models as people do?", _win_rates_svg),
    ],
}

"""The page of a report on a judge: wide and long tables are divided, empty columns left out, no number lost."""

from typing import Any

from harness.old.meta_evaluation.report import Report
from harness.old.showing import text
from harness.old.showing.judge_report import judge_page, report_charts, report_tables
from tests.old.showing.charts.pictures import texts_of


def report(name: str, rows: list[dict[str, Any]], **more: Any) -> Report:
    return Report(name, "j", None, rows, more, ["a note"])


def test_an_interval_called_low_and_high_belongs_to_its_number() -> None:
    rows = [{"judge1": "a", "judge2": "b", "turn": None, "ratio": 0.5, "low": 0.25, "high": 0.75, "total": 4}]
    (table,) = report_tables(report("agreement", rows))
    assert [(cells.heading, cells.cells) for cells in table.shown()] == [
        ("judge 1", ["a"]),
        ("judge 2", ["b"]),
        ("agreement", ["0.500 (0.250 to 0.750)"]),
        ("total", ["4"]),
    ]
    assert table.keys == 2


def test_rows_of_categories_are_a_table_of_their_own() -> None:
    rows: list[dict[str, Any]] = [{"model": "a", "category": None, "n": 2}, {"model": "a", "category": "math", "n": 1}]
    assert [(table.title, len(table.rows)) for table in report_tables(report("x", rows))] == [
        ("", 1),
        ("By category", 1),
    ]


def test_counts_and_shares_of_positions_stand_apart() -> None:
    rows = [{"by": "all", "group": None, "n": 4, "first_share": 0.5, "first_share_low": 0.4, "first_share_high": 0.6}]
    counts, shares = report_tables(report("position", rows))
    assert [cells.heading for cells in counts.shown()] == ["by", "n"]
    assert [cells.heading for cells in shares.shown()] == ["by", "first answer wins"]


def test_further_tables_follow_and_programs_get_all() -> None:
    made = report("length", [{"measure": "slope", "value": 0.1}], models=[{"model": "a", "n": 1}])
    page = judge_page(made)
    assert list(page.data) == ["report", "judge", "bench", "rows", "models"]
    assert "length, questions: unstated, judge: j" in text(page).splitlines()[0].replace("report: ", "")
    assert "Models" in text(page)
    assert text(page).endswith("note: a note")


def test_the_sources_of_variance_stand_whole_beside_their_turns() -> None:
    rows: list[dict[str, Any]] = [
        {"turn": turn, "facet": facet, "variance": 0.5, "variance_low": 0.2, "variance_high": 0.8}
        | {"share": 0.5, "levels": 4}
        for turn in (1, 2)
        for facet in ("question × model", "rest")
    ]
    (chart,) = report_charts(report("repeat", rows))
    assert "question×model, turn 2" in texts_of(chart.draw())

"""The other formats: the same cells, escaped as each needs it; for programs the numbers as they are."""

import json as reading
import pathlib
from typing import Any

import pytest

from harness import showing
from harness.results.statistics.bootstrap import Estimate
from harness.showing import Page, Table, csv, frame, json, latex, markdown
from harness.showing.latex import table_latex
from harness.showing.markdown import table_markdown

ROWS: list[dict[str, Any]] = [{"model": "a", "score": 3.275, "n": 2}, {"model": "long name", "score": None, "n": 10}]


def page(table: list[dict[str, Any]], **data: Any) -> Page:
    return Page("t", {"mode": "single"}, [Table("Results", table)], ["a note"], data, table)


def test_markdown_escapes_bars_tags_and_line_ends() -> None:
    table = table_markdown(Table("", [{"model": "a|b", "score": 1.0}, {"model": "<b>\n", "score": 2.0}], places=1))
    assert table == "| model | score |\n| :-- | --: |\n| a\\|b | 1.0 |\n| &lt;b>\\n | 2.0 |"
    assert markdown(page(ROWS)).startswith("**single**\n\nResults\n\n| model |")
    assert markdown(page(ROWS)).endswith("- a note")


def test_latex_escapes_names_and_needs_no_package() -> None:
    assert table_latex(Table("", [{"model": "a_b & 50% {x}\\~^<#$"}])).splitlines()[4] == (
        "a\\_b \\& 50\\% \\{x\\}\\textbackslash{}\\textasciitilde{}\\textasciicircum{}\\textless{}\\#\\$ \\\\"
    )
    assert latex(page(ROWS)).endswith("Note: a note")


def test_csv_is_not_rounded_and_an_absent_value_is_empty() -> None:
    assert csv(page(ROWS)) == "model,score,n\na,3.275,2\nlong name,,10"
    assert csv(page([])) == ""
    assert csv(page([{"model": 'a,"b"', "n": 1}])) == 'model,n\n"a,""b""",1'


@pytest.mark.parametrize("name", [f"{sign}1+cmd" for sign in "=+-@\t\r＝＋－＠"])
def test_csv_has_no_formula_and_nothing_that_hides(name: str) -> None:
    (_, cell) = csv(page([{"model": name}])).splitlines()
    assert cell.startswith("'")
    assert csv(page([{"model": "a\x1b[2J", "n": -1}])) == "model,n\na\\x1b[2J,-1"


@pytest.mark.parametrize("number", ["-0.5", "+3", "-1e-05", "-12%", "-.5"])
def test_a_number_written_as_text_stays_one_in_csv(number: str) -> None:
    assert csv(page([{"x": number}])) == f"x\n{number}"


@pytest.mark.parametrize("form", list(showing.FORMATS))
def test_no_output_turns_text_round_or_hides_it(form: str) -> None:
    rows = [{"model": "a\u202eb\u200b\x1b[2J\x07"}]
    written = showing.FORMATS[form](page(rows, rows=rows))
    assert all(c.isprintable() or c == "\n" for c in written)


def test_an_estimate_is_three_fields_for_programs() -> None:
    rows = [{"model": "a", "x": Estimate(7.308, 6.8, None, 80, None)}]
    assert csv(page(rows)) == "model,x,x_low,x_high\na,7.308,6.8,"
    assert list(frame(page(rows)).columns) == ["model", "x", "x_low", "x_high"]


def test_json_has_null_and_keeps_digits() -> None:
    assert reading.loads(json(page([], rows=ROWS))) == {"rows": ROWS}
    with pytest.raises(ValueError, match="not JSON compliant"):
        json(page([], rows=[float("nan")]))


def test_a_frame_has_the_rows_and_columns_of_csv() -> None:
    made = frame(page(ROWS))
    assert made.shape == (2, 3)
    assert made["score"][0] == 3.275
    assert made["score"].isna()[1]


def test_every_format_is_a_function_of_a_page(tmp_path: pathlib.Path) -> None:
    assert set(showing.FORMATS) == {"table", "json", "csv", "markdown", "latex", "html"}
    for write in showing.FORMATS.values():
        assert "long name" in write(page(ROWS, rows=ROWS))

"""A page in each format."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.registry import find, names
from harness.reporting import Cell, Chart, Column, Note, Page, Table
from harness.reporting.charts import marks
from harness.reporting.formats import frame
from harness.reporting.formats import text as written
from harness.reporting.page import Range

SCORE = Column("score", format=".2", always=True)
ENDS = Column("score", "95% interval", "interval.2", always=True)


def page(rows: list[dict[str, Any]], *columns: Column, **more: Any) -> Page:
    table = Table("a table", [Column("model"), *(columns or (SCORE, ENDS))], rows)
    return Page("a is better.", [table], **more)


ROWS: list[dict[str, Any]] = [
    {"model": "a", "score": Cell(3.275, 3.0, 3.5)},
    {"model": "long-name", "score": math.nan},
]


def test_text_says_the_outcome_first_and_rounds_halves_up() -> None:
    lines = written(page(ROWS), 80).splitlines()
    assert lines[0] == "a is better."
    assert "3.28  3.00 to 3.50" in lines[5]
    assert lines[6].split() == ["long-name", "–", "–"]


def test_text_leaves_out_columns_in_which_all_rows_say_the_same() -> None:
    rows = [{"model": "a", "judge": "j", "n": 1}, {"model": "b", "judge": "j", "n": 2}]
    output = written(page(rows, Column("judge"), Column("n")), 80)
    assert "judge" not in output
    assert "n" in output.splitlines()[4].split()
    assert "judge" in written(page(rows[:1], Column("judge"), Column("n")), 80)


@pytest.mark.parametrize("width", [40, 80])
def test_text_fits_the_width_and_repeats_the_names_where_it_is_divided(width: int) -> None:
    columns = [Column(f"c{at}", f"column {at}", ".2", always=True) for at in range(12)]
    rows: list[dict[str, Any]] = [
        {"model": name} | {f"c{at}": at / 3 for at in range(12)} for name in ("one", "two")
    ]
    output = written(page(rows, *columns), width)
    assert max(map(len, output.splitlines())) <= width
    assert output.count("two") > 1
    assert all(f"column {at}" in output for at in range(12))


def test_a_divided_table_repeats_the_name_and_not_the_rank() -> None:
    columns = [Column("model"), *(Column(f"c{at}", format=".2", always=True) for at in range(12))]
    rows: list[dict[str, Any]] = [
        {"rank": Range(1, 2), "model": name} | {f"c{at}": at / 3 for at in range(12)}
        for name in ("one", "two")
    ]
    table = Table("", [Column("rank", always=True), *columns], rows)
    output = written(Page("", [table]), 40)
    assert [output.count(name) for name in ("1-2", "one", "two")] == [2, 2, 2]


def test_a_name_wider_than_half_the_terminal_is_shortened_in_the_middle() -> None:
    names = [f"model-{'x' * 90}-{end}" for end in "ab"]
    output = written(page([{"model": name, "score": 1.0} for name in names]), 80)
    assert max(map(len, output.splitlines())) <= 80
    assert re.search(r"model-x+…x+-a +1\.00", output)


def test_a_command_that_helps_is_not_broken() -> None:
    command = "gen_judgment --judge-model " + "x" * 90
    output = written(Page("No result yet.", causes=[Note("7 calls failed", command)]), 80)
    assert f"    {command}" in output.splitlines()
    shown = Page("No result yet.", causes=[Note("7 calls failed", f"{command}\n{command}")])
    assert f"```sh\n{command}\n{command}\n```" in find("format", "markdown")(shown)


def test_a_command_is_not_broken_into_lines() -> None:
    command = f"gen_judgment --judge-model gpt-4.1 --data-dir {'long/' * 9}folder --redo failed"
    shown = Page(f"small: 9 missing. Next:\n{command}", notes=[Note("Judged anew", command)])
    assert written(shown, 60) == f"small: 9 missing. Next:\n{command}\n\nJudged anew:\n{command}"


def test_json_has_null_for_what_is_no_number_and_all_columns() -> None:
    data = json.loads(find("format", "json")(page(ROWS, SCORE)))
    assert data["rows"][1]["score"] is None
    assert data["rows"][0]["score_high"] == 3.5
    assert data["outcome"] == "a is better."


def test_csv_is_unrounded_and_no_spreadsheet_takes_a_name_for_a_formula() -> None:
    rows = [{"model": "=HYPERLINK(1)", "score": 1 / 3}, {"model": "b", "score": -0.5}]
    read = list(csv.DictReader(io.StringIO(find("format", "csv")(page(rows)))))
    assert read[0]["model"] == "'=HYPERLINK(1)"
    assert float(read[0]["score"]) == 1 / 3
    assert read[1]["score"] == "-0.5"


def test_markdown_escapes_names() -> None:
    rows = [{"model": "a|b_c", "score": 1.0}]
    assert r"a\|b\_c" in find("format", "markdown")(page(rows))


def test_a_frame_has_the_rows() -> None:
    assert list(frame(page(ROWS))["model"]) == ["a", "long-name"]


def test_latex_has_each_number_with_its_interval_and_no_commands_of_names() -> None:
    rows = [{"model": r"50%_$a$\input{x}", "score": Cell(3.275, 3.0, 3.5)}]
    output = find("format", "latex")(page(rows))
    assert output.startswith("% a is better.")
    assert r"50\%\_\$a\$\textbackslash{}input\{x\} & 3.28 {\scriptsize [3.00, 3.50]} \\" in output
    assert r"\begin{tabular}{lr}" in output
    assert "95" not in output


def test_methods_are_for_pages_that_have_them() -> None:
    shown = replace(page(ROWS), methods=lambda: "Judged by \x1bj.")
    assert find("format", "methods")(shown) == r"Judged by \x1bj."
    with pytest.raises(UsageError, match="--format methods is for the results of show_result"):
        find("format", "methods")(page(ROWS))


def test_a_notebook_shows_every_page_with_its_charts() -> None:
    chart = Chart("Scores", lambda: marks(ROWS[:1], [SCORE], "score"))
    shown = page(ROWS, charts=[chart])._repr_html_()
    assert "a is better." in shown
    assert "<table" in shown
    assert "<svg" in shown
    assert "<script" not in shown


@pytest.mark.parametrize(
    "name", [name for name in names("format") if name not in ("json", "methods")]
)
def test_no_format_lets_a_name_move_the_cursor_or_turn_the_line(name: str) -> None:
    hostile = "a\x1b[2J‮b"
    table = Table(hostile, [Column("model", hostile)], [{"model": hostile}])
    assert find("format", name)(Page("Nothing.")) is not None
    output = find("format", name)(Page(hostile, [table]))
    assert "\x1b" not in output
    assert "‮" not in output

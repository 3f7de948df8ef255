"""Rows as text."""

import csv
import io
import json

import pytest

from harness.cli.tables import as_csv, as_json, as_latex, as_markdown, as_table, printable, rounded

ROWS: list[dict[str, object]] = [
    {"model": "a", "score": 3.275, "n": 2},
    {"model": "long name", "score": None, "n": 10},
]


def test_a_table_is_aligned() -> None:
    assert as_table(ROWS) == "model      score   n\na           3.28   2\nlong name      –  10"


def test_chinese_names_keep_the_columns() -> None:
    assert as_table([{"model": "模型", "n": 1}, {"model": "abcd", "n": 2}]) == "model  n\n模型   1\nabcd   2"


def test_markdown_escapes_bars() -> None:
    table = as_markdown([{"model": "a|b", "score": 1.0}], places=1)
    assert table == "| model | score |\n| :-- | --: |\n| a\\|b | 1.0 |"


def test_csv_is_not_rounded_and_an_absent_value_is_empty() -> None:
    assert as_csv(ROWS) == "model,score,n\na,3.275,2\nlong name,,10"


def test_json_has_null_and_keeps_digits() -> None:
    assert json.loads(as_json(ROWS)) == ROWS
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json([float("nan")])


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        pytest.param(3.275, 2, "3.28", id="half-up"),
        pytest.param(2.5, 0, "3", id="to-whole"),
        pytest.param(-0.125, 2, "-0.13", id="negative"),
        pytest.param(1e-7, 3, "0.000", id="small"),
        pytest.param(-0.001, 2, "0.00", id="no-minus-before-zero"),
        pytest.param(1.005, 2, "1.01", id="as-the-digits-say-not-the-binary"),
    ],
)
def test_rounding_is_half_up(value: float, places: int, text: str) -> None:
    assert rounded(value, places) == text


def test_what_could_move_the_cursor_is_escaped() -> None:
    assert printable("a\x1b[2Jb\nc\u202e") == r"a\x1b[2Jb\nc\u202e"
    assert "\x1b" not in as_table([{"model": "\x1b[31m"}])
    assert as_markdown([{"model": "a\nb"}]).count("\n") == 2


def test_a_tag_in_a_name_is_text_in_markdown() -> None:
    assert "| &lt;b>x |" in as_markdown([{"model": "<b>x"}])


def test_no_rows_are_no_table() -> None:
    assert (as_table([]), as_markdown([]), as_csv([])) == ("", "", "")


def test_csv_quotes_what_would_break_a_row() -> None:
    assert as_csv([{"model": 'a,"b"', "n": 1}]) == 'model,n\n"a,""b""",1'


@pytest.mark.parametrize("sign", list("=+-@\t\r＝＋－＠"))
def test_no_cell_of_csv_is_a_formula(sign: str) -> None:
    (_, cells) = csv.reader(io.StringIO(as_csv([{"model": f"{sign}1+cmd|'/C calc'!A0", "n": -1.5}])))
    assert cells[0].startswith("'")
    assert cells[1] == "-1.5"


@pytest.mark.parametrize("number", ["-0.5", "+3", "-1e-05", "-12%", "-.5"])
def test_a_number_written_as_text_stays_one_in_csv(number: str) -> None:
    assert as_csv([{"x": number}]) == f"x\n{number}"


def test_no_output_turns_text_round_or_hides_it() -> None:
    rows = [{"model": "a\u202eb\u200b\x1b[2J\x07"}]
    for drawn in (as_table(rows), as_markdown(rows), as_latex(rows), as_csv(rows), as_json(rows)):
        assert all(c.isprintable() or c == "\n" for c in drawn)
    assert json.loads(as_json(rows)) == rows

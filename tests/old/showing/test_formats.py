"""The other formats: the same cells, escaped as each needs it; for programs the numbers as they are."""

import gzip
import json as reading
import pathlib
import sys
from typing import Any

import pytest

from harness.old import showing
from harness.cli.main import main
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing import Format, Page, Table, csv, frame, json, latex, markdown
from harness.old.showing.latex import table_latex
from harness.old.showing.markdown import table_markdown

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
    written = showing.FORMATS[form].write(page(rows, rows=rows))
    assert isinstance(written, str)
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
    for form in showing.FORMATS.values():
        assert "long name" in str(form.write(page(ROWS, rows=ROWS)))


def packed(written: Page) -> bytes:
    return gzip.compress(csv(written).encode())


def test_a_binary_format_is_a_function_and_one_line_in_the_table(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = [{"question_id": n, "judge": ["j", "t"], "model": "a", "score": n, "turn": 1} for n in range(1, 9)]
    grades = tmp_path / "grades_single.jsonl"
    grades.write_text("".join(f"{reading.dumps(row)}\n" for row in rows))
    monkeypatch.setitem(showing.FORMATS, "packed", Format(packed, for_programs=True, binary=True))
    commands = (["show_result"], ["show_result", "--cost"], ["judge_report", "repeat"])
    for command in commands:
        words = [*command, "--input-file", str(grades), "--format"]
        assert main([*words, "csv"]) == 0
        plain = capsysbinary.readouterr()
        assert main([*words, "packed"]) == 0
        shown = capsysbinary.readouterr()
        assert gzip.decompress(shown.out) + b"\n" == plain.out
        assert shown.err == plain.err  # the notes for which neither has a place


def test_a_binary_format_is_not_for_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(showing.FORMATS, "packed", Format(packed, binary=True))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(SystemExit, match="2"):
        main(["show_result", "--input-file", "not-looked-at.jsonl", "--format", "packed"])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "packed is no text that a terminal can show; write it to a file: > FILE" in shown.err

"""A page as text: aligned, escaped, and divided to fit a terminal without a number cut."""

import re

import pytest

from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing import Chart, Column, Note, Page, Table, text
from harness.old.showing.text import table_text, width_of, wrapped

ROWS: list[dict[str, object]] = [
    {"model": "a", "score": 3.275, "n": 2},
    {"model": "long name", "score": None, "n": 10},
]
NAMES = ("gpt-4-turbo-2024-04-09-preview-with-a-long-name", "模型甲乙丙丁戊己庚辛壬癸", "b")
WIDE = [
    {
        "model": name,
        **{f"part_{at}": Estimate(7.125 + at, 6.5, 8.25, 80, None) for at in range(8)},
        "n": 1234567,
        "why_not": None if at else "there is only one judge, and one judge cannot differ from others",
    }
    for at, name in enumerate(NAMES)
]


def test_a_table_is_aligned() -> None:
    assert table_text(Table("", ROWS)) == "model      score   n\na           3.28   2\nlong name      –  10"


def test_chinese_names_keep_the_columns() -> None:
    rows = [{"model": "模型", "n": 1}, {"model": "abcd", "n": 2}]
    assert table_text(Table("", rows)) == "model  n\n模型   1\nabcd   2"


def test_a_number_and_its_interval_stand_in_one_cell_or_in_two() -> None:
    rows = [{"model": "a", "average": Estimate(7.308, 6.8, 7.81, 80, None)}]
    assert table_text(Table("", rows)).splitlines()[1] == "a      7.31 (6.80 to 7.81)"
    apart = [Column("model"), Column("average", part="value"), Column("average", "95% interval", "interval")]
    assert table_text(Table("", rows, apart)).splitlines() == [
        "model  average  95% interval",
        "a         7.31  6.80 to 7.81",
    ]


def test_many_columns_that_name_a_row_leave_room_for_a_number_and_its_interval() -> None:
    names = {"judge1": "claude-opus-4-5_pair", "judge2": "gpt-4.1_pair", "turn": 1, "category": "humanities"}
    rows = [{**names, "setup": "S1", "agreement": Estimate(0.286, 0.0, 1.0, 80, None)}]
    shown = table_text(Table("", rows, keys=5), width=60)
    assert all(part in shown for part in ("humaniti", "(0.00 to 1.00)"))
    assert max(map(width_of, shown.splitlines())) <= 60


def test_headings_are_plain_words() -> None:
    (head, _) = table_text(Table("", [{"model": "a", "win_rate_adjusted": 0.5, "not_attempted": 1}])).splitlines()
    assert head == "model  win rate, ties half  not attempted"


def test_a_page_has_a_heading_tables_sentences_and_notes() -> None:
    chart = Chart("never drawn", lambda: pytest.fail("drawn"), instead=Table("As a table", ROWS[:1]))
    page = Page("t", {"mode": "single", "judge": "j"}, [Table("", ROWS[:1]), Note("By the way."), chart], ["mind this"])
    table = "model  score  n\na       3.28  2"
    assert text(page) == f"single, judge: j\n\n{table}\n\nBy the way.\n\nAs a table\n\n{table}\n\nnote: mind this"


def test_what_could_move_the_cursor_is_escaped() -> None:
    assert "\x1b" not in table_text(Table("", [{"model": "\x1b[31m", "\x1b[2J": "x"}]))
    assert "\x1b" not in text(Page("t", {"judge": "\x1b"}, [Note("\x1b"), Table("\x1b", ROWS, note="\x1b")], ["\x1b"]))


def test_no_rows_are_no_table() -> None:
    assert table_text(Table("", [])) == ""


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_wide_table_is_divided_and_no_number_is_cut(width: int) -> None:
    shown = table_text(Table("", WIDE), width=width)
    assert max(map(width_of, shown.splitlines())) <= width
    for at in range(8):
        assert shown.count(f"{7.125 + at + 1e-9:.2f} (6.50 to 8.25)") == len(NAMES)
    assert shown.count("1234567") == len(NAMES)
    letters = re.sub(r"\s", "", shown)
    assert "gpt-4-turb" in letters
    assert "模型甲乙丙" in letters
    if width < 200:
        assert "further columns (the table is 2" in shown


def test_a_table_that_fits_is_not_divided_and_has_a_rule_below_its_head() -> None:
    assert table_text(Table("", ROWS), width=80).splitlines()[1] == "─" * 20
    assert table_text(Table("", ROWS), width=80, bold=True).startswith("\x1b[1mmodel")


def test_what_names_a_row_is_repeated_in_each_part() -> None:
    rows = [{"judge1": "x", "judge2": "y", **{f"share_{at}": 0.125 for at in range(9)}}]
    parts = table_text(Table("", rows, keys=2), width=60).split("\n\n")
    assert [part.splitlines()[-1].split()[:2] for part in parts[::2]] == [["x", "y"]] * len(parts[::2])
    assert len(parts) > 1


def test_each_part_repeats_as_many_columns_of_words_as_tell_its_rows_apart() -> None:
    rows = [{"category": "math", "answers": who, "n": 3, "one": 0.5, "other": 0.25} for who in ("wrong", "right")]
    for part in table_text(Table("", rows), width=26).split("further columns"):
        assert re.search(r"math +wrong .*\nmath +right ", part)


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        pytest.param("a few words", 6, ["a few", "words"], id="spaces"),
        pytest.param("abcdefgh", 3, ["abc", "def", "gh"], id="one-word"),
        pytest.param("模型甲乙", 5, ["模型", "甲乙"], id="wide-letters"),
        pytest.param("0.61 (0.50 to 0.72)", 14, ["0.61", "(0.50 to 0.72)"], id="an-interval-stays-whole"),
        pytest.param("by 0.61 (0.50 to 0.72); x", 18, ["by 0.61", "(0.50 to 0.72); x"], id="with-the-mark-behind-it"),
    ],
)
def test_long_texts_are_broken_at_spaces_where_they_have_any(line: str, width: int, lines: list[str]) -> None:
    assert wrapped(line, width) == lines


def test_a_long_name_is_broken_after_a_hyphen_where_there_is_one_and_its_numbers_stay_whole() -> None:
    assert wrapped("meta-llama/Llama-3.3-70B-Instruct-2026-11", 23) == ["meta-llama/Llama-3.3-", "70B-Instruct-2026-11"]
    assert wrapped("a-bcdefghijklmnop", 10) == ["a-bcdefghi", "jklmnop"]

"""The page as one HTML file."""

import base64
import hashlib
import pathlib
import re
from dataclasses import replace

import pytest

from harness.errors import StorageError
from harness.reporting import Cell, Chart, Column, Note, Page, Table
from harness.reporting.charts import marks
from harness.reporting.html import check_html, html, table_html, write_html
from harness.reporting.page import Range

HOSTILE = "</script><img src=x onerror=alert(1)>'\"&{{7*7}}"
BOARD = Table(
    "mt_bench",
    [
        Column("rank"),
        Column("model"),
        Column("score", format=".2"),
        Column("score", "95% interval", "interval.2", draw="whisker"),
        Column("category", "", ".1", draw="shade", of="math"),
        Column("category", "", ".1", draw="shade", of="writing"),
        Column("", "win/tie/loss", draw="record"),
    ],
    [
        {"model": name, "rank": Range(at, at + 1), "score": Cell(9.0 - at, 8.5 - at, 9.5 - at)}
        | {"category": {"math": Cell(3.0, 2.0, 4.0), "writing": Cell(9.0)}}
        | {"win": 3, "tie": 2, "loss": 1}
        for at, name in enumerate(("a", HOSTILE), 1)
    ],
)


def test_the_page_allows_its_own_style_and_script_and_nothing_else() -> None:
    page = html(Page("a is better.", [replace(BOARD, rows=BOARD.rows[:1])]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'")
    for tag in ("style", "script"):
        inside = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert inside
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r"<[^>]*(src|href|style)=|url\(|@import", page)


def test_names_are_nothing_but_text() -> None:
    chart = Chart(HOSTILE, lambda: marks([{"model": HOSTILE, "n": 1.0}], [Column("n")], HOSTILE))
    page = html(Page(HOSTILE, [BOARD], [chart], [Note(HOSTILE)], title=HOSTILE))
    assert "<img" not in page
    assert page.count("<script>") == page.count("</script>") == 1


def test_cells_say_their_interval_on_hover_and_what_they_are_sorted_by() -> None:
    table = table_html(BOARD)
    assert 'title="95% interval 2.0 to 4.0"' in table
    assert 'data-sort="8.0"' in table
    assert "3 won, 2 tied, 1 lost" in table


def test_cells_are_shaded_by_their_departure_from_the_model_s_mean() -> None:
    first = table_html(BOARD).split("</tr>")[1]
    assert re.search(r'tb-below-5"[^>]*>3\.0<', first)
    assert re.search(r'tb-above-5"[^>]*>9\.0<', first)


def test_links_lead_from_cells() -> None:
    table = table_html(BOARD, lambda row, column: "?m=1&x=2" if column.key == "model" else None)
    assert table.count('<a href="?m=1&amp;x=2">') == 2


def test_commands_and_flags_are_not_on_the_page() -> None:
    page = html(Page("x.", notes=[Note("A caveat.", "--flag"), Note("", "Everything: --details")]))
    assert "A caveat." in page
    assert "--flag" not in page
    assert "--details" not in page.partition("<body>")[2]


def test_a_page_replaces_a_page_and_nothing_else(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "report.html"
    write_html(path, Page("one"))
    write_html(str(path), Page("two"))
    assert "two" in path.read_text(encoding="utf-8")
    other = tmp_path / "thesis.html"
    other.write_text("<p>mine</p>")
    with pytest.raises(StorageError, match="is not a turnbench page"):
        check_html(other)
    with pytest.raises(StorageError, match="no folder"):
        check_html(tmp_path / "nowhere" / "report.html")

"""The report: one page that needs nothing else, in which whatever comes from a file is text."""

import html as escaping
import pathlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from harness.old.errors import StorageError
from harness.old.showing import Chart, Html, Page, Table
from harness.old.showing.charts import radar_chart, score_chart
from harness.old.showing.html import html, table_html, write_report
from harness.old.showing.items import Item
from tests.old.showing.charts.pictures import HOSTILE, scored

VOID = {"meta", "wbr"}
TAGS = VOID | {"html", "head", "title", "style", "body", "main", "header", "footer", "h1", "h2", "p", "dl", "div", "dt"}
TAGS |= {"dd", "section", "ul", "li", "bdi", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"}
TAGS |= {"svg", "path", "text"}


class Parsed(HTMLParser):
    """A page taken apart; fails on tags that are not closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


def report(*items: Item, title: str = "Scores", judge: str = "gpt-4", notes: tuple[str, ...] = ()) -> str:
    facts = {"mode": "single", "questions": "mt_bench", "judge": judge, "judge set": "mt_bench 1", "date": "2026-01-31"}
    return html(Page(title, facts, items, notes))


def hostile_report() -> Page:
    groups = dict.fromkeys(HOSTILE[:4], 5.0)
    rows = scored(dict.fromkeys(HOSTILE, 5.0), groups)
    items = (
        Table(HOSTILE[0], [{"model": name, HOSTILE[1]: 5.0} for name in HOSTILE], note=HOSTILE[0]),
        Chart(HOSTILE[0], lambda: score_chart(rows), note=HOSTILE[1]),
        Chart("By category", lambda: radar_chart(rows)),
    )
    return Page(HOSTILE[0], {"judge": HOSTILE[1], "mode": HOSTILE[2]}, items, HOSTILE)


def test_the_page_says_what_it_is_about() -> None:
    page = report(notes=("turn 1 only",))
    for text in ("Scores", "single", "mt_bench", "gpt-4", "mt_bench 1", "2026-01-31", "turn 1 only"):
        assert f"<bdi>{text}</bdi>" in page
    assert "<title>Scores</title>" in page


def test_a_page_without_notes_has_no_room_for_them() -> None:
    assert 'class="tb-notes"' not in report()


def test_cells_that_are_html_go_in_as_they_are_and_all_others_are_escaped() -> None:
    made = table_html(Table("t", [{"model": Html("<b>x</b>"), "n": Html("<i>1</i>", number=True), "name": "<b>"}]))
    assert '<th scope="row" class="tb-word"><div><b>x</b></div></th><td><i>1</i></td>' in made
    assert "<bdi>&lt;b&gt;</bdi>" in made


def test_numbers_are_rounded_half_up_and_absent_ones_are_dashes() -> None:
    rows: list[dict[str, object]] = [
        {"model": "a", "score": 3.275, "n": 2},
        {"model": "b", "score": None, "n": 10, "late": 0.5},
    ]
    assert Parsed(report(Table("t", rows))).cells == [
        *("model", "score", "n", "late"),
        *("a", "3.28", "2", "–"),
        *("b", "–", "10", "0.50"),
    ]
    assert "3.275" in report(Table("t", rows, places=3))


def test_words_stand_left_and_numbers_right() -> None:
    page = report(Table("t", [{"model": "a", "score": 1.0, "verdict": "better", "why": "a reason of many words"}]))
    assert '<th scope="col" class="tb-word tb-short"><bdi>model</bdi></th><th scope="col"><bdi>score</bdi></th>' in page
    assert '<td class="tb-word tb-short"><bdi>better</bdi></td>' in page
    long = report(Table("t", [{"model": "a", "why": "a reason that needs more than one line of a phone"}]))
    assert '<td class="tb-word"><bdi>a reason' in long


def test_numbers_of_a_table_with_a_scale_are_shaded_by_how_far_they_depart_from_their_row() -> None:
    rows = [{"model": "a", "math": 9.0, "art": 7.0}, {"model": "b", "math": 3.0, "art": 3.0}]
    page = table_html(Table("", rows, scale=(1.0, 11.0)))
    assert '<div class="tb-heat" style="--share: 0.20"><bdi>9.00' in page
    assert '<div class="tb-heat tb-below" style="--share: 0.20"><bdi>7.00' in page
    assert page.count("--share: 0.00") == 2
    assert "Blue is above the mean of the row" in page
    assert "tb-heat" not in table_html(Table("", rows))


def test_win_rates_beside_other_models_are_shaded_by_who_wins() -> None:
    rows: list[dict[str, Any]] = [{"model": "a", "b": 0.75, "c": 1.0}, {"model": "b", "b": None, "c": 0.4}]
    page = table_html(Table("", rows, scale=(0.0, 1.0), across="models"))
    assert '<div class="tb-heat" style="--share: 0.50"><bdi>0.75' in page
    assert '<div class="tb-heat tb-below" style="--share: 0.20"><bdi>0.40' in page
    assert "Blue favours the row's model, orange the column's." in page


def test_a_table_without_rows_says_so() -> None:
    assert "There are no rows." in report(Table("t", []))


def test_hostile_names_are_text_everywhere() -> None:
    page = Parsed(html(hostile_report()))
    allowed = (
        "html head meta title style body main header footer h1 h2 p dl div dt dd section ul li bdi table thead tbody"
    )
    assert set(page.tags) <= {
        *allowed.split(),
        *["tr", "th", "td", "wbr", "figure", "figcaption", "svg", "path", "text"],
    }
    assert HOSTILE[0] in page.cells
    assert HOSTILE[2] in page.cells
    assert HOSTILE[3] in page.cells
    assert HOSTILE[4] in page.cells
    assert r"a\u202eb\x00\n\x1b[2J" in page.cells
    assert escaping.escape(HOSTILE[0], quote=True) in html(hostile_report())


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    text = html(hostile_report())
    page = Parsed(text)
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "href", "xlink:href", "srcset", "action", "id", "background"}
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in text
    assert "@import" not in text


def test_a_strict_policy_stands_before_everything_that_it_governs() -> None:
    text = report(Table("t", [{"model": "a"}]))
    policy = """content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">"""
    assert text.index(policy) < text.index("<style>")


def test_tables_scroll_by_themselves_and_by_keyboard() -> None:
    assert '<div class="tb-scroll" tabindex="0" role="group" aria-label="t"><table class="tb-table">' in report(
        Table("t", [{"model": "a"}])
    )


@pytest.mark.parametrize("rule", ["prefers-color-scheme: dark", "@media print", "max-width: 480px"])
def test_the_page_has_rules_for_dark_paper_and_phone(rule: str) -> None:
    assert rule in report()


def test_charts_that_follow_each_other_share_the_width_and_wide_ones_take_it() -> None:
    small, large = '<svg width="420" height="9"></svg>', '<svg xmlns="x" width="900" height="9"></svg>'
    page = report(
        Chart("a", lambda: small), Chart("b", lambda: large), Table("t", [{"n": 1}]), Chart("c", lambda: small)
    )
    assert page.count('<div class="tb-charts">') == 2
    assert re.findall(r"<(figure[^>]*)><figcaption><h2><bdi>(.)", page) == [
        ("figure", "a"),
        ('figure class="tb-wide"', "b"),
        ('figure class="tb-wide"', "c"),
    ]


def test_the_same_results_are_the_same_page() -> None:
    assert html(hostile_report()) == html(hostile_report())


def test_a_page_takes_the_place_of_an_earlier_one(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html(hostile_report()) + "longer than the new one" * 9, encoding="utf-8")
    write_report(str(path), hostile_report())
    assert path.read_bytes().decode() == html(hostile_report())


@pytest.mark.parametrize(
    "held",
    [
        '{"question_id": 1}\n',
        "<!doctype html><title>Mine</title>",
        "\0",
        pytest.param('{"judgment": "<meta name=\\"generator\\" content=\\"turnbench\\">"}', id="quoted"),
        pytest.param('See <meta name="generator" content="turnbench"> there.', id="quoted plainly"),
    ],
)
def test_a_file_that_is_no_report_stays(held: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "question.jsonl"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(
        StorageError, match=r"question\.jsonl: is not a report that turnbench wrote, and is not overwritten"
    ):
        write_report(path, hostile_report())
    assert path.read_text(encoding="utf-8") == held


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("absent/report.html", "there is no folder .*absent; create it first", id="no folder"),
        pytest.param(".", "Is a directory", id="a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(name: str, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(StorageError, match=message):
        write_report(tmp_path / name, hostile_report())

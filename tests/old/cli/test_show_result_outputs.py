"""Every output of show_result shows the same numbers, in the order that was requested."""

import csv
import io
import json
import pathlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from harness.old.cli import show_result
from harness.old.showing.values import rounded
from harness.old.showing.words import heading_of
from tests.old.small_bench import write

MODELS = ("bravo", "alpha", "delta", "charlie")
STATED = {"single": 0.45, "pairwise-all": 0.1}
PLACES = {"single": 2, "pairwise-all": 3}


class Cells(HTMLParser):
    """The cells of the rows of a page's first table."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = 0
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tables += tag == "table"
        if self.tables == 1 and tag == "tr":
            self.rows.append([])
        if self.tables == 1 and tag in {"th", "td"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.tables += tag == "table"

    def handle_data(self, data: str) -> None:
        if self.tables == 1 and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(params=list(PLACES))
def judged(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> tuple[str, list[str]]:
    """Return the mode and the flags of a file in which four models are graded or compared, some without a verdict."""
    mode, path = str(request.param), tmp_path / "j.jsonl"
    both: dict[str, Any] = {"judge": ["j", "t"]}
    found = []
    for question in range(1, 13):
        for turn in (1, 2):
            about = {"question_id": question, "turn": turn, **both}
            if mode == "single":
                found += [
                    about | {"model": m, "score": -1 if question == at + 1 else (question * (at + 3) + turn) % 10 + 1}
                    for at, m in enumerate(MODELS)
                ]
            else:
                winner = ("model_1", "model_2", "tie", "error")
                found += [
                    about
                    | {"model_1": a, "model_2": b}
                    | {f"g{g}_winner": winner[(question * (x + 2) + y * g + turn) % 7 % 4] for g in (1, 2)}
                    for x, a in enumerate(MODELS)
                    for y, b in enumerate(MODELS)
                    if x < y
                ]
    write(path, found)
    return mode, ["--mode", mode, "--input-file", str(path)]


def drawn(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert show_result.main(words) == 0
    return capsys.readouterr().out


def first_table(text: str, form: str) -> list[list[str]]:
    """Return the cells of the first table of an output for people, the head first."""
    if form == "table":
        block = text.split("\n\n")[1].splitlines()
        return [re.split(r"\s{2,}", line.strip()) for line in block]
    edge = "|" if form == "markdown" else "&"
    lines = [
        line for line in text.splitlines() if edge in line and not line.startswith("| :") and "tabular" not in line
    ]
    cells = [line.replace("\\\\", "").replace("\\_", "_").replace("\\%", "%").strip(" |") for line in lines]
    return [[cell.strip().replace("--", "–") for cell in line.split(edge)] for line in cells[: len(MODELS) + 1]]


@pytest.mark.parametrize("column", [None, "model", "n", "excluded"])
def test_every_output_has_the_same_rows(
    judged: tuple[str, list[str]], column: str | None, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mode, words = judged
    words = words + (["--sort", column] if column else [])
    shown = json.loads(drawn([*words, "--format", "json", "--intervals"], capsys))
    rows = shown["rows"]
    by = column or ("average" if mode == "single" else "win_rate_adjusted")
    in_order = sorted(rows, key=lambda row: row[by], reverse=by != "model")
    assert [row[by] for row in rows] == [row[by] for row in in_order]

    read = list(csv.DictReader(io.StringIO(drawn([*words, "--format", "csv"], capsys))))
    assert {row.pop("judge_set") for row in read} == {shown["judge_set"]}
    assert [{k: v if k == "model" else float(v) for k, v in row.items()} for row in read] == rows
    rows = [{k: v for k, v in row.items() if not k.endswith(("_low", "_high", "_first", "_last"))} for row in rows]

    interval = {row["model"]: row for row in shown["intervals"]["rows"]}
    places = PLACES[mode]
    low, high = (f"{'average' if mode == 'single' else 'win_rate_adjusted'}_{end}" for end in ("low", "high"))
    head = [*map(heading_of, rows[0])]
    expected = [[*head[:-2], "95% interval", "rank", *head[-2:]]]
    for row in rows:
        own = interval[row["model"]]
        cells = [rounded(v, places) if isinstance(v, float) else str(v) for v in row.values()]
        sure = f"{rounded(own[low], places)} to {rounded(own[high], places)}", own["rank"]
        expected.append([*cells[:-2], *sure, *cells[-2:]])
    for form in ("table", "markdown", "latex"):
        assert first_table(drawn([*words, "--format", form], capsys), form) == expected, form

    page = tmp_path / "page.html"
    drawn([*words, "--report", str(page)], capsys)
    read_page = Cells()
    read_page.feed(page.read_text(encoding="utf-8"))
    assert read_page.rows == expected


def test_json_and_text_say_what_can_be_told_apart(
    judged: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    mode, words = judged
    told = json.loads(drawn([*words, "--format", "json", "--intervals"], capsys))["intervals"]
    text = drawn([*words, "--intervals"], capsys)
    compared = told["pairs" if mode == "single" else "compared"]
    assert len(compared) == 6
    assert f"{told['told_apart']} of 6 pairs of models differ significantly" in text
    places = PLACES[mode]
    assert f"differences of {rounded(told['smallest_detectable'], places)} or more can be detected" in text
    assert f"questions needed: to detect a difference of {rounded(STATED[mode], places)} (--difference)" in text
    assert {"smallest_detectable", "questions_needed", "verdict", "p_holm"} <= compared[0].keys()
    assert any(pair["verdict"] == "cannot be told apart" for pair in compared)
    assert "cannot be told apart" in text

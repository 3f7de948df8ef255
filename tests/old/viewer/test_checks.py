"""The checks of an answer stand below it, ticked, with the places that break one marked."""

import html
import json
import pathlib
import re
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.metrics.checks import plan_checks
from harness.old.metrics.run import run_metrics
from tests.old.small_bench import answer, question, rows, small_bench, write
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later
from viewer.old.store import Store
from viewer.old.text import MOST, marked_html

FEW = {"kind": "count", "of": "words", "at_most": 4}
CALM = {"kind": "not_contains", "text": "!"}
HEADED = {"kind": "starts", "text": "Dear"}
CODE = {"kind": "code", "cases": [{"stdout": "1"}]}
REPLY = "<b>Hi!\nDear *you!*"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with one checked answer of m, and one of n that is not."""
    bench = small_bench(tmp_path, question(1, checks=[[FEW, CALM, HEADED], [CODE]]))
    write(bench.answer_file("m"), [answer(1, "m", REPLY, "Two.")])
    run_metrics(plan_checks(load_bench("small", tmp_path)))
    write(bench.answer_file("n"), [answer(1, "n", "One.", "Two.")])
    return tmp_path


def page(data: pathlib.Path, model: str = "m") -> str:
    return Views(Context(Store(data, ["small"]))).view(f"?tab=answers&question=1&model={model}")[1]


def checks(shown: str, turn: int = 1) -> str:
    """Return the HTML of the checks of a turn."""
    found = re.search(
        rf'<details class="tb-judged" id="tb-checks-{turn}" open>.*?</ul>(.*?</details>){{1,2}}', shown, re.S
    )
    assert found is not None
    return found[0]


def texts(part: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", part)).split())


def altered(data: pathlib.Path, **more: Any) -> None:
    """Write the row of the first turn again with other fields."""
    path = data / "small" / "model_metric" / "checks.jsonl"
    first, *others = rows(path)
    path.write_text("".join(json.dumps(row) + "\n" for row in [{**first, **more}, *others]))


def test_each_check_is_ticked_strictly_and_loosely(data: pathlib.Path) -> None:
    said = texts(checks(page(data)))
    assert said.startswith("Checks 1 of 3 met, 2 loosely met at most 4 words")
    assert "not met does not contain “!” “!”" in said
    assert "met loosely only begins with “Dear”" in said
    assert texts(checks(page(data), 2)).startswith("Checks 0 of 0 met not decided")


def test_the_places_that_break_a_check_are_marked_and_nothing_of_the_text_runs(data: pathlib.Path) -> None:
    shown = checks(page(data))
    marks = re.findall("<mark>(.*?)</mark>", shown, re.S)
    assert "".join(marks).count("!") == 2
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_answers_that_were_not_checked_have_no_ticks(data: pathlib.Path) -> None:
    assert "tb-checks" not in page(data, "n")
    (data / "small" / "model_metric" / "checks.jsonl").unlink()
    assert "tb-checks" not in page(data)


def test_an_answer_that_changed_since_is_not_marked(data: pathlib.Path) -> None:
    write(data / "small" / "model_answer" / "m.jsonl", [answer(1, "m", "Another!", "Two.")])
    shown = checks(page(data))
    assert "The answer has changed since it was checked" in shown
    assert "auto_checks --bench-name small" in shown
    assert "<mark>" not in shown


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param("no list", id="no list"),
        pytest.param([7, None, "x"], id="no checks"),
        pytest.param(
            [{"strict": "yes", "text": ["<i>"], "spans": [[1], "ab", [-5, 10**9], [3, 1], [True, 2]]}], id="odd"
        ),
        pytest.param([{"strict": False, "loose": False, "text": "<script>" * 99}] * 5000, id="very many"),
    ],
)
def test_whatever_a_row_holds_the_page_is_shown(listed: object, data: pathlib.Path) -> None:
    altered(data, checks=listed)
    shown = page(data)
    assert "Dear" in shown
    assert "<script>" not in shown
    assert len(shown) < 2_000_000


def test_a_damaged_row_is_said_and_the_answer_is_shown(data: pathlib.Path) -> None:
    altered(data, value="much")
    shown = page(data)
    assert "value must be a number or null" in shown
    assert "Dear" in shown


def test_places_that_overlap_or_lie_outside_are_marked_once() -> None:
    assert re.findall("<mark>(.*?)</mark>", marked_html("abcdef", [(4, 99), (0, 2), (1, 3), (-3, 1)])) == [
        "a",
        "b",
        "c",
        "ef",
    ]
    long = marked_html("x " * MOST, [(MOST * 2 - 2, MOST * 2)])
    assert "Cut here" in long
    assert "<mark>" not in long

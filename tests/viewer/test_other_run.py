"""`viewer --compare-with`: what changed since another run, per model and per verdict."""

import html
import json
import pathlib
from typing import Any

import pytest

import harness
from harness.cli.main import viewer as main
from tests.reporting.test_changes import graded
from tests.viewer.small import small, write
from tests.viewer.test_views import links, words
from viewer.app import Views
from viewer.data import Home
from viewer.state import parse


@pytest.fixture
def runs(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Return the data folders of an old run and a new one."""
    grades = dict.fromkeys(range(1, 31), 5.0)
    old = graded(tmp_path / "old", grades)
    graded(old, {n: 5 + (n % 3 == 0) for n in range(1, 31)}, sample=1)
    return old, graded(tmp_path / "new", grades | {3: 2.0, 4: 1.0, 5: 7.0})


def test_the_list_says_what_the_terminal_says(runs: tuple[pathlib.Path, pathlib.Path]) -> None:
    old, new = runs
    options: dict[str, Any] = {"bench_name": "small", "data_dir": str(new)}
    outcome = harness.show_result(changes=True, compare_with=old, **options).page.outcome
    assert outcome.startswith(
        "2 got worse by 1 or more, 1 better; the judge's own noise gives about 5"
    )
    views = Views(Home(new, compare_with=old))
    assert outcome in html.unescape(views.show("?tab=verdicts")[1])
    page = words(views.show("?tab=verdicts&only=worse&sort=change")[1])
    assert "2 verdicts" in page
    assert page.index("-4.0") < page.index("-3.0")
    assert "1 verdict;" in words(views.show("?tab=verdicts&only=better")[1])


@pytest.mark.parametrize(
    ("mode", "judge", "expected"),
    [
        pytest.param("single", "", "19 got worse by 1 or more, 23 better", id="all grades"),
        pytest.param("single", "lu", "10 got worse by 1 or more, 23 better", id="two samples"),
        pytest.param("single", "mo", "9 got worse by 1 or more, 0 better", id="one judge"),
        pytest.param("pairwise-all", "lu", "9 got worse, 0 better", id="pairs"),
        pytest.param(None, "", "Grades: 19 got worse by 1 or more, 23 better", id="all"),
    ],
)
def test_each_judgment_counts_in_the_list_and_on_the_terminal(
    tmp_path: pathlib.Path, mode: str | None, judge: str, expected: str
) -> None:
    old, new = small(tmp_path / "old"), small(tmp_path / "new")
    judged = new / "small" / "model_judgment"
    rows = [json.loads(line) for line in (judged / "lu_single.jsonl").read_text().splitlines()]
    write(judged / "lu#1_single.jsonl", [{**row, "sample": 1, "score": 8} for row in rows])
    for name, then, now in (
        ("mo_single", '"score":8', '"score":6'),
        ("lu_pair", '"g2_winner":"model_1"', '"g2_winner":"tie"'),
    ):
        path = judged / f"{name}.jsonl"
        path.write_text(path.read_text().replace(then, now, 9))
    options: dict[str, Any] = {"bench_name": "small", "data_dir": str(new), "mode": mode}
    options |= {"judge_model": [judge]} if judge else {}
    outcome = harness.show_result(changes=True, compare_with=old, **options).page.outcome
    assert outcome.startswith(expected)
    only = {"single": "grades", "pairwise-all": "pairs"}.get(mode or "", "")
    page = Views(Home(new, compare_with=old)).show(f"?tab=verdicts&only={only}&judge={judge}")[1]
    assert outcome in html.unescape(page)


def test_the_noise_of_one_judge_is_that_judge_s(runs: tuple[pathlib.Path, pathlib.Path]) -> None:
    old, new = runs
    for folder in runs:  # a judge that always says the same, in a table of its own
        judged = folder / "small" / "model_judgment"
        rows = [json.loads(line) for line in (judged / "j_single.jsonl").read_text().splitlines()]
        rows = [{**row, "judge": ["builtin/overlap", "t"]} for row in rows]
        for n in (0, 1):
            write(judged / f"overlap_{n}_single.jsonl", [{**row, "sample": n} for row in rows])
    options: dict[str, Any] = {"bench_name": "small", "data_dir": str(new), "judge_model": "j"}
    outcome = harness.show_result(changes=True, compare_with=old, **options).page.outcome
    assert "noise gives about 5" in outcome
    page = Views(Home(new, compare_with=old)).show("?tab=verdicts&judge=j").page
    assert outcome in html.unescape(page)


def test_the_board_shows_the_difference_of_each_model(
    runs: tuple[pathlib.Path, pathlib.Path],
) -> None:
    old, new = runs
    shown = Views(Home(new, compare_with=old)).show("?other=run")
    assert "this run less the other run" in words(shown.page)
    assert "-0.33" in words(shown.page)  # what got worse is below 0
    behind = [own for own in map(parse, links(shown.page)) if own.sort == "change"]
    assert [(own.tab, own.only, own.model) for own in behind[:1]] == [("verdicts", "", ("m",))]
    assert shown.fields is not None
    assert "the other run: old" in shown.fields.options["other"].values()


def test_a_view_follows_the_other_run(runs: tuple[pathlib.Path, pathlib.Path]) -> None:
    old, new = runs
    views = Views(Home(new, compare_with=old))
    assert "2 got worse" in views.show("?tab=verdicts")[1]
    graded(old, dict.fromkeys(range(1, 31), 9.0))
    assert "30 got worse" in views.show("?tab=verdicts")[1]


def test_a_folder_that_is_not_there_is_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--compare-with", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err

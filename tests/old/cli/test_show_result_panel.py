"""show_result with several judges, sorted, and in every form; what must not be mixed."""

import csv
import io
import json
import pathlib
from typing import Any

import pytest

from harness.cli.main import main


def write(path: pathlib.Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def grade(question: int, model: str, judge: str, score: float, **more: Any) -> dict[str, Any]:
    row = {"question_id": question, "model": model, "judge": [judge, "single-v1"], "score": score, "turn": 1}
    return {**row, **more}


def pair(question: int, judge: str, winner: str) -> dict[str, Any]:
    both = {"model_1": "x", "model_2": "y", "g1_winner": winner, "g2_winner": winner}
    return {"question_id": question, **both, "judge": [judge, "pair-v2"], "turn": 1}


@pytest.fixture
def graded(tmp_path: pathlib.Path) -> str:
    """Return a file of three judges; c did not see y's answer to question 3."""
    shift = {"a": 0, "b": 1, "c": -1}
    rows = [grade(q, m, j, 5 + q + s + (m == "x")) for q in (1, 2, 3) for m in "xy" for j, s in shift.items()]
    return write(tmp_path / "panel_single.jsonl", rows[:-1])


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["show_result", *words, "--format", "json", "-q"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_panel_shows_each_judge_alone_and_all_together_on_the_same_answers(
    graded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "--input-file", graded, "--judge-model", "a", "b", "c")
    assert [(row["model"], row["judge"], row["average"], row["n"], row["excluded"]) for row in found["rows"]] == [
        *[("x", judge, average, 3, 0) for judge, average in (("a", 8), ("b", 9), ("c", 7), ("all together", 8))],
        *[
            ("y", judge, average, 2, 1)
            for judge, average in (("a", 6.5), ("b", 7.5), ("c", 5.5), ("all together", 6.5))
        ],
    ]
    panel = found["panel"]
    assert (panel["judges"], panel["rule"]) == (["a", "b", "c"], "the mean of the judges' scores")
    assert [(row["model"], row["differ"], row["sd"], row["n"]) for row in panel["disagreement"]] == [
        ("all", 1.0, 1.0, 5),
        ("x", 1.0, 1.0, 3),
        ("y", 1.0, 1.0, 2),
    ]


def test_a_panel_of_pairs_goes_by_the_majority_and_says_what_a_tie_is(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {1: ("model_1", "model_1", "model_2"), 2: ("model_1", "model_2", "tie"), 3: ("model_2",) * 3}
    rows = [pair(q, judge, winner) for q, own in said.items() for judge, winner in zip("abc", own, strict=True)]
    words = [
        "--mode",
        "pairwise-all",
        "--input-file",
        write(tmp_path / "p.jsonl", rows),
        "--judge-model",
        "a",
        "b",
        "c",
    ]
    found = told(capsys, *words)
    assert [(row["win"], row["loss"], row["tie"]) for row in found["rows"] if row["judge"] == "all together"] == [
        (1, 1, 1)
    ] * 2
    assert main(["show_result", *words]) == 0
    shown = capsys.readouterr().out
    assert "a tie if two verdicts are equally frequent" in shown
    assert "How often the judges disagree" in shown


def test_a_panel_has_all_that_one_judge_has(graded: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "--input-file", graded, "--judge-model", "a", "b", "--intervals")
    assert [row["model"] for row in found["intervals"]["rows"]] == ["x", "y"]
    assert found["intervals"]["rows"][0]["average"] == 8.5


def test_a_judge_of_the_panel_that_is_not_there_is_named(graded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show_result", "--input-file", graded, "--judge-model", "a", "z"]) == 2
    assert "no judgment by z" in (said := capsys.readouterr().err)
    assert "there are: a, b, c" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param([{}, {"judge": ["k", "single-v1"]}], "choose one with --judge-model: j, k", id="judges"),
        pytest.param(
            [{"judge_set": name, "judge_set_version": "1"} for name in "ab"],
            "choose one with --judge-set: a 1, b 1",
            id="judge-sets",
        ),
        pytest.param(
            [{"sampling": {"temperature": 0}}, {"sampling": {"temperature": 1}}],
            "by the judge's sampling",
            id="samplings",
        ),
        pytest.param(
            [{"made_from": {"question": "a"}}, {"made_from": {"question": "b"}}],
            "two versions of question 1",
            id="texts",
        ),
    ],
)
def test_what_is_not_comparable_is_never_mixed(
    more: list[dict[str, Any]], said: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [grade(1, model, "j", 5) | fields for model, fields in zip("xy", more, strict=True)]
    assert main(["show_result", "--input-file", write(tmp_path / "m_single.jsonl", rows)]) == 2
    assert said in capsys.readouterr().err


def test_a_sample_and_a_criterion_are_chosen(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [grade(1, "x", "j", 2.0 * n + c, sample=n, criterion="ab"[c]) for n in (0, 1) for c in (0, 1)]
    path = write(tmp_path / "s_single.jsonl", rows)
    found = told(capsys, "--input-file", path, "--sample", "1", "--criterion", "b")
    assert [row["average"] for row in found["rows"]] == [3.0]
    assert main(["show_result", "--input-file", path, "--sample", "7"]) == 2
    assert "there are: sample 0, criterion a; sample 0, criterion b" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "order"),
    [
        pytest.param("average", ["z", "y", "x"], id="average"),
        pytest.param("turn_2", ["x", "y", "z"], id="turn"),
        pytest.param("model", ["x", "y", "z"], id="name"),
    ],
)
def test_models_stand_by_the_column_asked_for(
    column: str, order: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        grade(1, m, "j", s, turn=t)
        for m, own in (("x", (1, 5)), ("y", (4, 4)), ("z", (9, 3)))
        for t, s in zip((1, 2), own, strict=True)
    ]
    words = ["--input-file", write(tmp_path / "j_single.jsonl", rows), "--sort", column]
    assert [row["model"] for row in told(capsys, *words)["rows"]] == order
    shown = told(capsys, *words, "--intervals")
    assert [row["model"] for row in shown["intervals"]["rows"]] == order


def test_an_unknown_column_is_told_with_those_there_are(graded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show_result", "--input-file", graded, "--judge-model", "a", "--sort", "colour"]) == 2
    assert "no column 'colour' to sort by; there are: model, turn_1" in capsys.readouterr().err


def test_the_first_table_has_the_interval_of_its_number_and_the_ranks(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [grade(q, m, "j", level + q % 3) for q in range(30) for m, level in (("x", 2), ("y", 5))]
    path = write(tmp_path / "j_single.jsonl", rows)
    assert main(["show_result", "--input-file", path]) == 0
    head, first = capsys.readouterr().out.splitlines()[2:4]
    assert head.split() == ["model", "turn", "1", "turn", "2", "average", "95%", "interval", "rank", "n", "excluded"]
    assert first.split()[-3] == "1"
    assert main(["show_result", "--input-file", path, "--no-intervals"]) == 0
    assert "interval" not in capsys.readouterr().out
    assert main(["show_result", "--input-file", path, "--intervals", "--format", "csv"]) == 0
    (row, _) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(row["average_low"]) < float(row["average"]) < float(row["average_high"])


def test_latex_escapes_names_and_needs_no_package(graded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show_result", "--input-file", graded, "--judge-model", "a", "--format", "latex"]) == 0
    shown = capsys.readouterr().out
    assert "\\begin{tabular}{lrrr" in shown
    assert "model & turn 1" in shown

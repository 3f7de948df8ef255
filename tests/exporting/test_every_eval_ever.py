"""What is exported passes the validator of Every Eval Ever, and says what results say."""

import json
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

import harness
from harness import export
from harness.bench import shipped
from harness.cli.main import main
from tests.importing.files import json_lines, rows

VALIDATOR = shutil.which("every_eval_ever")


def written(data: pathlib.Path, output: pathlib.Path) -> list[pathlib.Path]:
    files: list[pathlib.Path] = export("every_eval_ever", data_dir=data, output=output).written
    return files


@pytest.mark.formats
@pytest.mark.skipif(
    VALIDATOR is None, reason="no every_eval_ever on PATH (every-eval-ever 0.3, Python >= 3.12)"
)
def test_the_real_validator_passes_every_file(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    files = [str(path.relative_to(tmp_path)) for path in written(data, tmp_path)]
    run = subprocess.run(
        [str(VALIDATOR), "validate", "--format", "json", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    reports = json.loads(run.stdout)
    assert len(reports) == len(files) == 4
    assert all(r["valid"] and not r["warnings"] for r in reports), run.stdout


def test_the_numbers_are_those_of_show_result(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shown = harness.show_result("single", data_dir=str(data)).page.tables[0].rows
    scores = {row["model"]: row["average"] for row in shown}
    for path in written(data, tmp_path):
        if path.suffix == ".json":
            record = json.loads(path.read_text(encoding="utf-8"))
            results = {
                r["evaluation_name"]: r["score_details"] for r in record["evaluation_results"]
            }
            score = results["mt_bench score"]
            cell = scores[record["model_info"]["id"]]
            ends = score["uncertainty"]["confidence_interval"]
            assert score["score"] == pytest.approx(cell.value)
            low, high = max(ends["lower"], 1), min(ends["upper"], 10)
            assert (low, high) == pytest.approx((cell.low, cell.high))
            assert record["detailed_evaluation_results"]["total_rows"] == 24


def test_a_pair_is_two_scores_and_an_unread_verdict_none(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "b"
    for name in ("model_answer", "model_judgment"):
        (folder / name).mkdir(parents=True)
    asked = [{"question_id": n, "category": "c", "turns": ["Q\u2028"]} for n in (1, 2)]
    json_lines(folder / "question.jsonl", asked)
    for model in ("a", "b"):
        answers: list[dict[str, Any]] = [
            {"question_id": n, "model_id": model, "choices": [{"index": 0, "turns": ["A"]}]}
            for n in (1, 2)
        ]
        json_lines(folder / "model_answer" / f"{model}.jsonl", answers)
    pair = {"model_1": "a", "model_2": "b", "judge": ["j", "t"], "turn": 1}
    games = [
        {"question_id": 1, "g1_winner": "model_1", "g2_winner": "model_1"},
        {"question_id": 2, "g1_winner": "error", "g2_winner": "model_1"},
    ]
    json_lines(folder / "model_judgment" / "j_pair.jsonl", [pair | game for game in games])
    report = export("every_eval_ever", "b", data_dir=tmp_path, output=tmp_path / "out")
    assert report.left_out.total() == 1
    lines = [row for path in report.written if path.suffix == ".jsonl" for row in rows(path)]
    by_model = {line["model_id"]: line for line in lines}
    won, lost = by_model["a"], by_model["b"]
    assert [line["evaluation"]["score"] for line in (won, lost)] == [1, 0]
    assert [line["evaluation"]["is_correct"] for line in (won, lost)] == [True, False]
    assert (won["metadata"]["opponent"], lost["metadata"]["game_1"]) == ("b", "lost")
    assert won["interaction_type"] == "single_turn"


@pytest.mark.parametrize(
    ("form", "count"),
    [("every_eval_ever", "6 judgments"), ("inspect", "6 judgments"), ("alpaca_eval", "1 judgment")],
)
def test_judgments_without_their_answers_are_counted(
    data: pathlib.Path,
    tmp_path: pathlib.Path,
    form: str,
    count: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    for path in (folder / "mt_bench" / "model_answer").iterdir():
        path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    words = ["export", form, "--data-dir", str(folder), "--output", str(tmp_path / "out")]
    assert main(words) == 0
    # of one question, in two turns: two grades and a pair; alpaca_eval has first turns alone
    assert f"{count} left out: the answers are not here" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["alpaca_eval", "card", "every_eval_ever", "fastchat", "inspect"])
def test_judgments_of_changed_questions_are_said_not_to_be_exported(
    data: pathlib.Path, tmp_path: pathlib.Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    first, *others = rows(shipped("data") / "mt_bench" / "question.jsonl")
    first["turns"] = ["Else?", "Why?"]
    json_lines(folder / "mt_bench" / "question.jsonl", [first, *others])
    words = ["export", form, "--data-dir", str(folder), "--output", str(tmp_path / "out")]
    assert main(words) == 0
    said = "not exported: 6 judgments are of questions that were changed since; given"
    assert said in capsys.readouterr().err

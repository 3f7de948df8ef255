"""Grades become training records of the Feedback Collection."""

import json
import pathlib
from typing import Any

import pytest

from harness import export, import_data
from harness.errors import MissingError, UsageError
from tests.importing.files import FEEDBACK, json_array, json_lines

PROMPT = "Grade: Is it clear?\n" + "\n".join(f"clear to degree {n}" for n in range(1, 6))


def _judged(tmp_path: pathlib.Path, *rows: dict[str, Any]) -> pathlib.Path:
    """Make a benchmark of one feedback record with these judgments; return the output file."""
    path = json_array(tmp_path / "f.json", [FEEDBACK])
    import_data("feedback_collection", [path], "f", data_dir=tmp_path)
    folder = tmp_path / "f" / "model_judgment"
    folder.mkdir()
    usual = {
        "question_id": 1,
        "model": "response",
        "judge": ["j", "absolute"],
        "user_prompt": PROMPT,
        "judgment": "Well said. [RESULT] 3",
        "score": 3,
        "turn": 1,
    }
    json_lines(folder / "j_single.jsonl", [usual | row for row in rows])
    return tmp_path / "out.json"


def test_a_grade_by_the_questions_rubric_is_a_training_record(tmp_path: pathlib.Path) -> None:
    output = _judged(tmp_path, {})
    report = export("feedback_collection", "f", output=output, data_dir=tmp_path)
    assert (report.records, report.left_out.total()) == ({"grade 3": 1}, 0)
    (record,) = json.loads(output.read_text())
    assert record == FEEDBACK | {
        "instruction": PROMPT,
        "output": "Well said. [RESULT] 3",
        "orig_feedback": "Well said.",
        "orig_score": "3",
    }


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"score": -1}, id="failed"),
        pytest.param({"score": 2.5}, id="half"),
        pytest.param({"user_prompt": "Grade."}, id="rubric"),
        pytest.param({"turn": 2}, id="turn"),
        pytest.param({"model": "nobody"}, id="answer"),
    ],
)
def test_what_cannot_train_a_judge_is_left_out_and_counted(
    tmp_path: pathlib.Path, row: dict[str, Any]
) -> None:
    output = _judged(tmp_path, row)
    report = export("feedback_collection", "f", output=output, data_dir=tmp_path)
    assert (json.loads(output.read_text()), report.left_out.total()) == ([], 1)


def test_without_judgments_there_is_nothing_to_export(tmp_path: pathlib.Path) -> None:
    output = _judged(tmp_path)
    with pytest.raises(MissingError, match="no judgments; run gen_judgment first"):
        export("feedback_collection", "f", output=output, data_dir=tmp_path)
    with pytest.raises(UsageError, match="no exporter 'other'"):
        export("other", "f", output=output, data_dir=tmp_path)

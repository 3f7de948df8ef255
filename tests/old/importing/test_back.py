"""Judgments written back as training records."""

import json
import pathlib

import pytest

from harness.old.bench import load_bench
from harness.old.errors import UsageError
from harness.old.importing.back import write_back
from harness.old.importing.run import import_data
from tests.old.importing.test_run import _array, _graded

SENT = "Is it clear?\n" + "\n".join(f"earns {grade}" for grade in range(1, 6))
"""A prompt that shows the rubric."""


def _judged(tmp_path: pathlib.Path, judgments: dict[int, tuple[object, str]], judge: str = "j", **more: object) -> None:
    if not (tmp_path / "fc").exists():
        records = [_graded(number) for number in range(1, 5)]
        import_data("feedback_collection", [_array(tmp_path / "fc.json", records)], "fc", data_dir=tmp_path)
    folder = tmp_path / "fc" / "model_judgment"
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "question_id": key,
            "model": "response",
            "judge": [judge, "absolute"],
            "score": score,
            "turn": 1,
            "judgment": text,
            "user_prompt": SENT,
        }
        | more
        for key, (score, text) in judgments.items()
    ]
    (folder / f"{judge}{more.get('judge_set', '')}_single.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )


def test_what_is_written_back_can_be_imported_again(tmp_path: pathlib.Path) -> None:
    _judged(tmp_path, {1: (4, "Good. [RESULT] 4"), 2: (2, "Poor.\nRating: [[2]]"), 3: (-1, "Well."), 4: (2.5, "Hm")})
    report = write_back(load_bench("fc", tmp_path), tmp_path / "out.json")
    records = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [(r["orig_feedback"], r["orig_score"], r["output"]) for r in records] == [
        ("Good.", "4", "Good. [RESULT] 4"),
        ("Poor.", "2", "Poor. [RESULT] 2"),
    ]
    assert report.balance == {4: 1, 2: 1}
    assert report.left_out == {"no verdict": 1, "not a whole number from 1 to 5": 1}
    again = import_data("feedback_collection", [tmp_path / "out.json"], "again", data_dir=tmp_path)
    assert (again.questions, again.bad) == (2, [])
    first, copy = load_bench("fc", tmp_path).questions[0], load_bench("again", tmp_path).questions[0]
    assert (first.turns, first.extra) == (copy.turns, copy.extra)


def test_of_several_judges_one_must_be_named(tmp_path: pathlib.Path) -> None:
    _judged(tmp_path, {1: (4, "a [RESULT] 4")})
    _judged(tmp_path, {1: (5, "b [RESULT] 5")}, "k")
    bench = load_bench("fc", tmp_path)
    with pytest.raises(UsageError, match="several judges, choose one with --judge-model: j, k"):
        write_back(bench, tmp_path / "out.json")
    assert write_back(bench, tmp_path / "out.json", judge="k").balance == {5: 1}
    with pytest.raises(UsageError, match=r"out.json already exists"):
        write_back(bench, tmp_path / "out.json", judge="j")


def test_of_several_judge_sets_one_must_be_named(tmp_path: pathlib.Path) -> None:
    _judged(tmp_path, {1: (4, "a [RESULT] 4")}, judge_set="prometheus")
    _judged(tmp_path, {1: (5, "b [RESULT] 5")}, judge_set="other")
    bench = load_bench("fc", tmp_path)
    with pytest.raises(UsageError, match="several judge sets, choose one with --judge-set: other, prometheus"):
        write_back(bench, tmp_path / "out.json")
    assert write_back(bench, tmp_path / "out.json", judge_set="prometheus").balance == {4: 1}


def test_a_grade_by_another_rubric_is_no_training_record(tmp_path: pathlib.Path) -> None:
    _judged(tmp_path, {1: (4, "a [RESULT] 4")}, user_prompt="Is it helpful? Rating: [[1]] to [[10]]")
    report = write_back(load_bench("fc", tmp_path), tmp_path / "out.json")
    assert report.left_out == {"the judge was not shown the question's rubric": 1}
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == []

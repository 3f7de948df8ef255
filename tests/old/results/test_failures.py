"""Judgments without a verdict are said first."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.judgments.observations import Observations
from harness.old.results.failures import bounds
from harness.old.results.grades.aggregates import aggregated
from harness.old.results.show import show_result
from tests.old.observed import Origin, grade, pair

J = Origin("j")


def file(folder: pathlib.Path, failed: int, of: int) -> pathlib.Path:
    rows: list[dict[str, Any]] = []
    for n in range(of):
        score, text = (-1, "I would rather not say.") if n < failed else (6, "[[6]]")
        details = [{"verdict_reason": "no score" if n % 2 else "two scores"}]
        row = {"question_id": n, "model": "x", "judge": ["j", "single-v1"], "turn": 1, "details": details}
        rows.append({**row, "score": score, "judgment": text})
    path = folder / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_share_without_a_verdict_is_the_first_note_with_reasons_an_example_and_bounds(tmp_path: pathlib.Path) -> None:
    first, second, *_ = show_result(input_file=file(tmp_path, 10, 40)).notes
    assert first == (
        "10 of 40 judgments (25%) give no verdict and are left out: 5 two scores, 5 no score; "
        'such as question 0, x: "I would rather not say."'
    )
    assert second == "bounds with failed verdicts as the worst or the best: x 4.75 to 7.00"


def test_reasons_are_of_the_judgments_that_are_counted_and_not_of_those_that_were_made_again(
    tmp_path: pathlib.Path,
) -> None:
    path = file(tmp_path, 10, 40)
    again = [json.loads(line) | {"score": 7, "judgment": "[[7]]"} for line in path.read_text().splitlines()[:4]]
    other = [row | {"model": "y", "question_id": 100 + n, "score": -1} for n, row in enumerate(again)]
    with path.open("a") as rows:
        rows.writelines(json.dumps(row) + "\n" for row in [*again, *other])
    first = show_result(input_file=path, model_list=["x"]).notes[0]
    assert first.startswith("6 of 40 judgments (15%) give no verdict and are left out: 3 two scores, 3 no score;")


def test_a_judgment_of_several_numbers_fails_once(tmp_path: pathlib.Path) -> None:
    said: list[dict[str, Any]] = [{"scores": {"a": n, "b": n}, "score": n, "judgment": "a, b"} for n in range(1, 10)]
    said.append({"scores": None, "score": -1, "judgment": "Sorry."})
    rows = [{"question_id": n, "model": "x", "judge": ["j", "s"], "turn": 1} | own for n, own in enumerate(said)]
    path = tmp_path / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first = show_result(input_file=path).notes[0]
    assert first.startswith("1 of 10 judgments (10%) give no verdict and are left out: 1 without a reason in the")


@pytest.mark.parametrize(
    ("labels", "bounds"),
    [
        (["CORRECT", "INCORRECT", "CORRECT", None], "x correct 0.50 to 0.75"),
        (["good", "good", "bad", None], "x bad 0.25 to 0.50; x good 0.50 to 0.75"),
    ],
    ids=["short facts", "labels"],
)
def test_missing_labels_bound_the_shares(tmp_path: pathlib.Path, labels: list[str | None], bounds: str) -> None:
    about = {"model": "x", "judge": ["j", "s"], "turn": 1, "judge_set": "s", "score": -1}
    rows = [about | {"question_id": n, "label": label, "share": 0.0} for n, label in enumerate(labels)]
    path = tmp_path / "j@s_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first, second, *_ = show_result(input_file=path).notes
    assert first.startswith("1 of 4 judgments (25%) give no verdict and are left out")
    assert second == f"bounds with failed verdicts as the worst or the best: {bounds}"


def test_each_criterion_and_sample_has_a_reason_of_its_own(tmp_path: pathlib.Path) -> None:
    about = {"question_id": 1, "model": "x", "judge": ["j", "s"], "turn": 1, "judge_set": "s", "score": -1}
    for sample in range(2):
        rows: list[dict[str, Any]] = []
        for criterion in ("wit", "style"):
            why = f"no {criterion} {sample}"
            own = {"criterion": criterion, "sample": sample, "judgment": why, "details": [{"verdict_reason": why}]}
            rows += [about | own, about | own | {"question_id": 2, "score": 5}]
        path = tmp_path / f"j@s{f'#{sample}' if sample else ''}_single.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    [note] = [note for note in show_result(input_file=sorted(tmp_path.glob("*.jsonl"))).notes if "no verdict" in note]
    reasons = "1 no wit 1, 1 no style 1, 1 no wit 0, 1 other"
    assert note.startswith(f"4 of 8 judgments (50%) give no verdict and are left out: {reasons};")


@pytest.mark.parametrize("failed", [0, 1])
def test_a_single_one_of_many_is_left_to_the_column(tmp_path: pathlib.Path, failed: int) -> None:
    assert not any("no verdict" in note for note in show_result(input_file=file(tmp_path, failed, 120)).notes)


def test_bounds_of_pairs_are_of_the_win_rate_with_ties_as_half() -> None:
    rows = [pair(1, 1, "x", "y", ("model_1",), J), pair(2, 1, "x", "y", ("tie",), J), pair(3, 1, "x", "y", (None,), J)]
    found = {own.model: own for own in bounds(Observations.of(rows), (0, 1))}
    assert [found["x"].low, found["x"].high] == pytest.approx([0.5, 2.5 / 3])
    assert [found["y"].low, found["y"].high] == pytest.approx([0.5 / 3, 0.5])


def test_if_all_failed_the_bounds_are_the_scale() -> None:
    [own] = bounds(Observations.of([grade(1, 1, "x", None, J)]), (1, 10))
    assert (own.low, own.high, own.n) == (1, 10, 0)


def test_bounds_of_a_conversations_least_grade_are_those_of_what_the_table_shows() -> None:
    grades: dict[int, list[int | None]] = {1: [7, None, 9], 2: [4, 5, 6], 3: [8, None, None]}
    rows = [grade(number, turn, "x", own, J) for number, said in grades.items() for turn, own in enumerate(said, 1)]
    [own] = bounds(Observations.of(rows), (1, 10), lambda found: aggregated(found, "min"))
    assert (own.low, own.high) == pytest.approx([(1 + 4 + 1) / 3, (7 + 4 + 8) / 3])
    assert (own.failed, own.n) == (2, 1)


def test_of_several_criteria_the_bounds_are_those_of_each(tmp_path: pathlib.Path) -> None:
    rows = [
        {
            "question_id": n,
            "model": "x",
            "judge": ["j", "s"],
            "turn": 1,
            "criterion": name,
            "score": score,
            "scale": [1, 5],
        }
        for name, scores in {"style": [2, 4, -1, 3], "wit": [5, 5, 5, -1], "tact": [1, 1, 1, 1]}.items()
        for n, score in enumerate(scores)
    ]
    path = tmp_path / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    said = show_result(input_file=path).notes[1]
    assert said == "bounds with failed verdicts as the worst or the best: x style 2.50 to 3.50; x wit 4.00 to 5.00"


def graded(folder: pathlib.Path, scores: dict[str, list[int]], judge: str = "j") -> pathlib.Path:
    """Return a file with these scores of each model on questions 0, 1, ...; -1: no verdict."""
    path = folder / f"{judge}_single.jsonl"
    rows = [
        {"question_id": n, "model": model, "judge": [judge, "single-v1"], "turn": 1, "score": score, "judgment": "?"}
        for model, own in scores.items()
        for n, score in enumerate(own)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_with_common_questions_only_what_failed_is_of_these(tmp_path: pathlib.Path) -> None:
    path = graded(tmp_path, {"x": [6, 6, 6, 6, -1, -1], "y": [7, 7, 7, 7], "z": [-1, 5, 5, 5]})
    result = show_result(input_file=path, common=True)
    notes = result.notes
    assert "only the 3 questions on which all ranked models were judged (--common)" in notes
    assert [row["excluded"] for row in result.rows()] == [0, 0, 0]
    assert not any("verdict" in note for note in notes)


def test_what_failed_and_is_counted_leaves_a_model_ranked_and_is_said_so(tmp_path: pathlib.Path) -> None:
    path = graded(tmp_path, {"x": [6] * 12, "y": [7, 8] + [-1] * 10})
    assert any("too few questions to be ranked: y" in note for note in notes_of(path))
    assert not any("ranked" in note or "different questions" in note for note in notes_of(path, count_failed=True))


def test_failures_that_cluster_on_one_model_are_said_to(tmp_path: pathlib.Path) -> None:
    told = "judgments that give no verdict are spread unevenly (y 50%; the least 0%): averages, ranks and comparisons"
    clustered = graded(tmp_path, {"x": [6] * 12, "y": [7, -1] * 6, "z": [-1] + [5] * 11})
    assert any(note.startswith(told) for note in notes_of(clustered))
    even = graded(tmp_path, {"x": [6, -1] * 6, "y": [7, -1] * 6})
    assert not any("unevenly" in note for note in notes_of(even))


def test_a_baseline_which_has_no_row_takes_no_place_among_the_bounds(tmp_path: pathlib.Path) -> None:
    models = ["a", "b", "c", "d"]
    rows = [
        {"question_id": n, "model_1": "base", "model_2": model, "judge": ["j", "pair-v2"], "turn": 1}
        | dict.fromkeys(("g1_winner", "g2_winner"), "error" if n == 0 else "model_2")
        for model in models
        for n in range(4)
    ]
    path = tmp_path / "j_pair.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    notes = show_result("pairwise-baseline", input_file=path, baseline_model="base").notes
    spans = "a 0.75 to 1.00; b 0.75 to 1.00; c 0.75 to 1.00 and 1 more"
    assert f"bounds with failed verdicts as the worst or the best: {spans}" in notes


def test_of_several_judges_no_bounds_are_said_that_no_row_has(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "data" / "mt_bench" / "model_judgment"
    folder.mkdir(parents=True)
    graded(folder, {"x": [6, 6, 6, -1], "y": [7, 7, 7, 7]})
    graded(folder, {"x": [9, 9], "y": [9, 9]}, "k")
    notes = show_result(data_dir=tmp_path / "data", judge_model=["j", "k"]).notes
    assert any("1 of 12 judgments (8%) give no verdict" in note for note in notes)
    assert not any("worst or the best" in note for note in notes)


def notes_of(path: pathlib.Path, **how: Any) -> list[str]:
    return show_result(input_file=path, **how).notes

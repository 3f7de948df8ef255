"""One number for each conversation: the mean, the least or the last of its turns."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.cli.show_result import main
from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.records import Question
from harness.old.results.grades.aggregates import aggregated
from harness.old.results.show import show_result
from tests.old.observed import Origin, grade
from tests.old.small_bench import question, write

ORIGIN = Origin("j", "mt_bench 1")
THREE = Question(1, "math", ("a", "b", "c"))


def values(grades: list[Any], aggregate: str, *questions: Question, **more: Any) -> dict[tuple[Any, str], float | None]:
    found = aggregated(Observations.of(grades), aggregate, questions, **more)
    return {(one.question_id, one.model): one.value for one in found}


def turns(model: str, *grades: float | None, number: int = 1) -> list[Any]:
    return [grade(number, turn, model, value, ORIGIN) for turn, value in enumerate(grades, 1)]


@pytest.mark.parametrize(("aggregate", "value"), [("mean", 19 / 3), ("min", 5.0), ("last", 6.0)])
def test_a_conversation_has_one_number(aggregate: str, value: float) -> None:
    assert values(turns("m", 8, 5, 6), aggregate) == {(1, "m"): pytest.approx(value)}


@pytest.mark.parametrize("aggregate", ["mean", "min", "last"])
@pytest.mark.parametrize("broken", [turns("m", 8, None, 6), [one for one in turns("m", 8, 5, 6) if one.turn != 2]])
def test_a_turn_without_grade_leaves_no_number(aggregate: str, broken: list[Any]) -> None:
    found = values([*broken, *turns("n", 8, 5, 6)], aggregate)
    assert found == {(1, "m"): None, (1, "n"): pytest.approx({"mean": 19 / 3, "min": 5, "last": 6}[aggregate])}


def test_a_turn_that_no_model_has_is_missing_where_the_question_is_known() -> None:
    grades = [*turns("m", 8, 5), *turns("m", 8, 5, 6, number=2)]
    other = Question(2, "math", ("a", "b", "c"))
    assert values(grades, "min") == {(1, "m"): 5, (2, "m"): 5}
    assert values(grades, "min", THREE, other) == {(1, "m"): None, (2, "m"): 5}


def test_given_turns_and_turns_that_are_not_asked_for_are_not_missing() -> None:
    given = Question(1, "math", ("a", "b", "c"), history=("said", None, None))
    later = turns("m", 8, 5, 6)[1:]
    assert values(later, "min", given) == {(1, "m"): 5}
    assert values(turns("m", 8, 5, 6)[2:], "min", THREE, turns=(3,)) == {(1, "m"): 6}
    variant = turns("m+history=reference", 8, 5, 6)[1:]
    assert values(variant, "min", THREE) == {(1, "m+history=reference"): 5}


def test_a_judge_set_for_the_last_turn_misses_none() -> None:
    assert values(turns("m", 8, 5, 6)[2:], "mean", THREE) == {(1, "m"): 6}


@pytest.fixture
def judged(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with ten conversations of three turns, two models; n has no grade in one turn."""
    write(tmp_path / "small" / "question.jsonl", [question(n, turns=["a", "b", "c"]) for n in range(1, 11)])
    rows = [
        {"question_id": n, "model": m, "judge": ["j", "t"], "turn": turn, "score": level + turn * slope + n % 2}
        for n in range(1, 11)
        for m, level, slope in (("m", 6, -1), ("n", 2, 0))
        for turn in (1, 2, 3)
    ]
    rows[-1]["score"] = -1
    write(tmp_path / "small" / "model_judgment" / "j_single.jsonl", rows)
    return tmp_path


def test_the_table_ranks_by_the_aggregate_and_counts_conversations(judged: pathlib.Path) -> None:
    result = show_result(bench_name="small", data_dir=judged, aggregate="min", intervals=True)
    rows = {row["model"]: row for row in result.table_rows()}
    assert rows["m"]["min_of_turns"] == pytest.approx(3.5)
    assert (rows["m"]["turn_1"], rows["m"]["n"], rows["m"]["excluded"]) == (5.5, 10, 0)
    assert (rows["n"]["n"], rows["n"]["excluded"]) == (9, 1)
    assert rows["m"]["min_of_turns_low"] < 3.5 < rows["m"]["min_of_turns_high"]
    assert result.detail is not None
    assert result.detail.pairs.pairs[0].n == 9
    assert "average" not in rows["m"]


def test_fastchats_pooled_mean_stays_the_default(judged: pathlib.Path) -> None:
    rows = {row["model"]: row for row in show_result(bench_name="small", data_dir=judged).rows()}
    assert (rows["m"]["average"], rows["m"]["n"]) == (4.5, 30)
    assert "min_of_turns" not in rows["m"]


def test_the_command_names_the_aggregate(judged: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--bench-name", "small", "--data-dir", str(judged), "--aggregate", "last"]
    assert main([*where, "--format", "json"]) == 0
    assert {row["model"]: row["last_turn"] for row in json.loads(capsys.readouterr().out)["rows"]} == {
        "m": 3.5,
        "n": pytest.approx(23 / 9),
    }
    assert main(where) == 0
    shown = capsys.readouterr().out
    assert "last turn" in shown
    assert "without those with an ungraded turn" in shown


@pytest.mark.parametrize("more", [{"mode": "pairwise-all"}, {"count_failed": True}, {"judge_model": ["j", "k"]}])
def test_an_aggregate_that_means_nothing_is_refused(judged: pathlib.Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--aggregate is for one judge's grades"):
        show_result(**{"bench_name": "small", "data_dir": judged, "aggregate": "min", **more})

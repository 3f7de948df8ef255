import pathlib

import pytest

from harness.old.errors import MissingError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.judgments.reading import read_judgments
from tests.old.judging.answered_bench import answered
from tests.old.small_bench import write


def votes(tmp_path: pathlib.Path, *pairs: tuple[int, int, str, str]) -> JudgeOptions:
    said = [
        {"question_id": q, "turn": turn, "model_a": one, "model_b": other, "winner": "tie", "judge": "ann"}
        for q, turn, one, other in pairs
    ]
    return JudgeOptions(votes=(write(tmp_path / "votes.jsonl", said),))


def test_only_the_pairs_that_people_voted_on_are_judged(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="abc")
    bench.answer_file("c").write_text("", encoding="utf-8")  # nobody voted on c, so it may lack its answers
    options = votes(tmp_path, (1, 1, "a", "b"), (3, 2, "b", "a"))
    plan = plan_judgments(["builtin/longest"], bench, "pairwise-all", options)
    assert (plan.rows, plan.calls, plan.models) == (2, 4, ("a", "b"))
    found = read_judgments(run_judgments(plan).paths[0]).observations
    assert sorted((one.question_id, one.turn) for one in found) == [(1, 1), (3, 2)]
    assert plan_judgments(["builtin/longest"], bench, "pairwise-all", options).rows == 0


def test_an_answer_that_was_voted_on_must_be_there(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="ab")
    bench.answer_file("b").write_text("", encoding="utf-8")
    with pytest.raises(MissingError, match="b has no answer to question 1"):
        plan_judgments(["builtin/longest"], bench, "pairwise-all", votes(tmp_path, (1, 1, "a", "b")))


def test_votes_are_about_all_pairs(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="ab")
    with pytest.raises(UsageError, match="are judged with mode pairwise-all"):
        plan_judgments(["builtin/overlap"], bench, "single", votes(tmp_path, (1, 1, "a", "b")))
    with pytest.raises(UsageError, match="nobody voted on any of the chosen pairs"):
        plan_judgments(["builtin/longest"], bench, "pairwise-all", votes(tmp_path, (9, 1, "a", "b")))

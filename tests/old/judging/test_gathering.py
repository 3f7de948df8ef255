"""What is gathered for judging, and what is said of what is missing."""

import pathlib
import re
from typing import Any

import pytest

from harness.old.errors import MissingError, UsageError
from harness.old.judging.gathering import gather
from harness.old.judging.options import JudgeOptions
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.judgment import Match
from tests.old.judging.answered_bench import answered, gathered, prompt
from tests.old.small_bench import answer, question, write


def test_extraction_has_a_reference_only_where_the_benchmark_has_some(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "extraction"), references=False)
    materials, judged, notices = gather(bench, load_judge_set(), ["a"], bench.questions)
    assert materials.template(Match(judged[0], 1, ("a",))).name == "single-v1"
    assert notices == ["extraction: no question of this category has a reference answer; judged without one"]


def test_a_slice_of_the_questions_does_not_change_the_rule(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "extraction"), question(2, "extraction"))
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "t", "r", "s")])
    with pytest.raises(MissingError, match="there is no reference answer to question 2"):
        gather(bench, load_judge_set(), ["a"], bench.questions[1:])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        pytest.param([], "a has no answer to questions 1, 2", id="no answers"),
        pytest.param([answer(1, "a", "x", "y")], "a has no answer to question 2", id="one answer"),
        pytest.param(
            [answer(1, "a", "x", "y"), answer(2, "a", "x")],
            "a has not answered every turn of question 2",
            id="half an answer",
        ),
        pytest.param(
            [answer(1, "a", "x", "y"), answer(2, "a", "x", "$ERROR$")], "a has no answer to question 2", id="error text"
        ),
        pytest.param(
            [answer(1, "a", "x", "y"), answer(2, "a", "x", "y", made_from={"question": "0", "parameters": "0"})],
            r"a answered another wording \(run gen_answer again\) of question 2",
            id="another wording",
        ),
    ],
)
def test_a_missing_answer_is_named_or_left_out(tmp_path: pathlib.Path, rows: list[dict[str, Any]], words: str) -> None:
    bench = answered(tmp_path, question(1), question(2))
    write(bench.answer_file("a"), rows)
    with pytest.raises(MissingError, match=words):
        gather(bench, load_judge_set(), ["a", "b"], bench.questions)
    _, judged, notices = gather(bench, load_judge_set(), ["a", "b"], bench.questions, JudgeOptions(skip_missing=True))
    assert [q.question_id for q in judged] == ([1] if rows else [])
    assert len(notices) == 1
    assert re.search(f"left out for every model: {words}", notices[0])


def test_many_missing_answers_are_one_line(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *(question(number) for number in range(1, 31)))
    write(bench.answer_file("a"), [])
    with pytest.raises(MissingError, match=r"a has no answer to questions 1, 2, 3, 4, 5, 6 and 24 more\. "):
        gathered(bench)


def test_only_the_turns_that_are_judged_need_answers(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1), question(2, turns=["only one?"]))
    write(bench.answer_file("a"), [answer(1, "a", "x")])
    with pytest.raises(MissingError, match="a has no answer to question 2"):
        gathered(bench, ["a"], turns=[1])
    bench = answered(tmp_path, question(1), question(2, turns=["only one?"]))
    write(bench.answer_file("a"), [answer(1, "a", "x", "y")])
    assert gathered(bench, ["a"], turns=[2])


def test_a_missing_reference_is_named(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "math"), question(2, "math"), question(3, reference=["r"]), references=False)
    with pytest.raises(MissingError, match="there is no reference answer to questions 1, 2"):
        gathered(bench)
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "t", "r", "s"), answer(2, "t", "r")])
    with pytest.raises(
        MissingError, match=r"no reference answer to question 2\. Write references into .*--reference MODEL"
    ):
        gathered(bench)
    assert gathered(bench, turns=[1])


def test_the_author_of_references_can_be_chosen_and_must_be_among_several(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "math"), question(2))
    write(bench.folder / "reference_answer" / "other.jsonl", [answer(1, "o", "OTHER", "x")])
    with pytest.raises(UsageError, match="several references, choose one with --reference: other, teacher"):
        gathered(bench)
    math, plain = bench.questions
    match = Match(math, 1, ("b",))
    assert "OTHER" in prompt(gathered(bench, reference="other"), match)
    assert "r1.1" in prompt(gathered(bench, reference="teacher"), match)
    assert "a1.1" in prompt(gathered(bench, reference="a"), match), "any answered model"
    with pytest.raises(MissingError, match="no reference answers by 'nobody'; there are: other, teacher, a, b"):
        gathered(bench, reference="nobody")
    assert gather(bench, load_judge_set(), ["a"], [plain])[1] == (plain,), "no choice where none is shown"


def test_a_reference_for_a_set_that_shows_none_is_told(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "tone"
    folder.mkdir()
    (folder / "judge_set.toml").write_text("")
    (folder / "g.toml").write_text('kind = "grade"\nuser = "{answer}"')
    bench = answered(tmp_path, question(1))
    with pytest.raises(UsageError, match="the judge set tone shows no references"):
        gathered(bench, judge_set=str(folder), reference="teacher")

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.judging.asking import request_about
from harness.old.judging.gathering import gather
from harness.old.judging.options import JudgeOptions
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.judgment import Match
from tests.old.judging.answered_bench import answered

EXAMPLE = {"turns": ["Say {x}."], "answer_a": ["It is {question}."], "answer_b": ["Hm."], "verdict": "B"}


def messages(tmp_path: pathlib.Path, base: str, *examples: Mapping[str, Any], turn: int = 1) -> list[tuple[str, str]]:
    folder = tmp_path / "shown"
    folder.mkdir()
    lines = [f'extends = "{base}"']
    for example in examples:
        lines += ["[[examples]]", *(f"{name} = {json.dumps(value)}" for name, value in example.items())]
    (folder / "judge_set.toml").write_text("\n".join(lines), encoding="utf-8")
    bench = answered(tmp_path)
    materials = gather(bench, load_judge_set(str(folder)), ["a", "b"], bench.questions, JudgeOptions(turns=(turn,)))[0]
    request = request_about(materials, Match(bench.questions[0], turn, ("a", "b")))
    return [(message.role, message.content) for message in request.messages]


def test_an_example_is_rendered_like_a_match_and_answered_in_the_sets_form(tmp_path: pathlib.Path) -> None:
    said = messages(tmp_path, "mt_bench", EXAMPLE)
    assert [role for role, _ in said] == ["system", "user", "assistant", "user"]
    assert "Say {x}." in said[1][1]
    assert "\nIt is {question}.\n<<<end " in said[1][1]
    assert said[2][1] == "[[B]]"
    assert "Question 1, first part?" in said[3][1]


def test_the_names_of_the_sides_are_the_templates(tmp_path: pathlib.Path) -> None:
    said = messages(tmp_path, "alpaca_eval", EXAMPLE)
    assert json.loads(said[2][1])[0] == {"model": "model_2", "rank": 1}


def test_a_tie_is_not_shown_where_the_form_has_none(tmp_path: pathlib.Path) -> None:
    tie = {**EXAMPLE, "verdict": "tie"}
    assert [role for role, _ in messages(tmp_path, "alpaca_eval", tie)] == ["system", "user"]


def test_an_example_with_a_reference_is_shown_it_where_the_category_has_one(tmp_path: pathlib.Path) -> None:
    said = messages(tmp_path, "mt_bench", {**EXAMPLE, "category": "math", "reference": ["It is x."]})
    assert "It is x." not in said[1][1]  # the benchmark has no math, so nothing is judged with a reference


def test_grades_have_no_examples(tmp_path: pathlib.Path) -> None:
    messages(tmp_path, "mt_bench", EXAMPLE)
    bench = answered(tmp_path)
    materials = gather(bench, load_judge_set(str(tmp_path / "shown")), ["a"], bench.questions)[0]
    assert len(request_about(materials, Match(bench.questions[0], 1, ("a",))).messages) == 2


def test_what_is_shown_makes_other_judgments(tmp_path: pathlib.Path) -> None:
    messages(tmp_path, "mt_bench", EXAMPLE)
    file = tmp_path / "shown" / "judge_set.toml"
    before = load_judge_set(str(file.parent)).contents
    file.write_text(file.read_text().replace("Hm.", "Hmm."), encoding="utf-8")
    after = load_judge_set(str(file.parent)).contents
    assert before["pair-v2"] != after["pair-v2"]
    assert before["single-v1"] == after["single-v1"]


def test_an_example_has_as_many_answers_as_turns(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"examples\[1\] must have as many answers of each side"):
        messages(tmp_path, "mt_bench", {**EXAMPLE, "answer_b": []})

"""Given replies as they stand in question and answer files."""

import pathlib
import re
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.errors import DataError
from harness.old.records import Answer, Choice, Reply
from harness.old.rows import answer_from_row, answer_to_row
from tests.old.small_bench import question, write

PATH = pathlib.Path("some.jsonl")


def read(tmp_path: pathlib.Path, history: Any) -> Any:
    write(tmp_path / "small" / "question.jsonl", [question(1), question(2, history=history)])
    return load_bench("small", tmp_path).questions[1]


@pytest.mark.parametrize(
    ("history", "words"),
    [
        pytest.param("Hello.", "must be a list of 2 replies or nulls, one for each turn, this is", id="a text"),
        pytest.param(["Hello."], "must be a list of 2 replies or nulls, one for each turn", id="too short"),
        pytest.param(["Hello.", None, None], "must be a list of 2 replies or nulls", id="too long"),
        pytest.param([" ", None], "turn 1 must be a text that is not empty, or null, this is ' '", id="blank"),
        pytest.param([None, 3], "turn 2 must be a text that is not empty, or null, this is 3", id="a number"),
        pytest.param(["a", "b"], "gives every turn; put null where the model should reply", id="nothing to write"),
    ],
)
def test_a_history_that_cannot_be_is_named_with_its_line(tmp_path: pathlib.Path, history: Any, words: str) -> None:
    with pytest.raises(DataError, match=rf"question\.jsonl:2: history of question 2,? {re.escape(words)}"):
        read(tmp_path, history)


def test_a_question_says_who_writes_which_turn(tmp_path: pathlib.Path) -> None:
    given = read(tmp_path, ["Hello.", None])
    assert (given.given(1), given.given(2), given.written_by("m"), given.written_by("m+history=x")) == (
        "Hello.",
        None,
        (2,),
        (),
    )
    assert "history" not in given.extra


def test_a_history_is_part_of_what_the_question_is(tmp_path: pathlib.Path) -> None:
    plain = read(tmp_path, None).content
    assert read(tmp_path, [None, None]).content == plain
    assert len({plain, read(tmp_path, ["a", None]).content, read(tmp_path, ["b", None]).content}) == 3


def test_given_turns_of_an_answer_are_read_as_they_were_written() -> None:
    replies = (Reply("G1", given="reference"), Reply("own"))
    answer = Answer(7, "m+history=reference", (Choice(0, replies, ("G1",)),), history_content="0123")
    row = answer_to_row(answer)
    assert row["choices"][0]["history"] == ["G1"]
    assert row["made_from"]["history"] == "0123"
    assert answer_from_row(row, PATH, 1, model=answer.model) == answer


def test_a_row_without_given_turns_says_nothing_of_them() -> None:
    row = answer_to_row(Answer(7, "m", (Choice(0, (Reply("own"),)),)))
    assert "history" not in row["choices"][0]
    assert set(row["made_from"]) == {"question", "parameters"}
    assert "given" not in row["choices"][0]["details"][0]


@pytest.mark.parametrize("history", ["x", [1], [["user", "hi"]], {"a": 1}])
def test_another_tools_history_beside_a_choice_is_not_ours(history: Any) -> None:
    row = {"question_id": 7, "choices": [{"index": 0, "turns": ["a"], "history": history}]}
    answer = answer_from_row(row, PATH, 1, model="m")
    assert answer is not None
    assert answer.choices[0].history == ()

"""Records as they stand in files: FastChat's field names, round trips, and what is read from others."""

import pathlib
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.records import (
    Answer,
    Choice,
    Reply,
    Sampling,
    Usage,
)
from harness.old.rows import (
    FAILED_TEXT,
    answer_from_row,
    answer_to_row,
    is_good_answer,
    question_from_row,
    question_id,
)
from tests.old.judged import on_disk

PATH = pathlib.Path("some.jsonl")


def good_row(kind: str, **changes: Any) -> dict[str, Any]:
    """Return the row of another tool, with changes; a value of ... takes the field out."""
    rows: dict[str, dict[str, Any]] = {
        "question": {"question_id": 7, "category": "stem", "turns": ["What melts ice?"]},
        "answer": {"question_id": 7, "choices": [{"index": 0, "turns": ["Salt."]}]},
    }
    return {name: value for name, value in {**rows[kind], **changes}.items() if value is not ...}


# What FastChat's tools read, to the letter


def test_an_answer_has_the_fields_of_fastchat() -> None:
    answer = Answer(7, "org/x", (Choice(0, (Reply("Salt."), Reply("Cold."))),), answer_id="abc", tstamp=1.5)
    row = answer_to_row(answer)
    assert list(row)[:5] == ["question_id", "answer_id", "model_id", "choices", "tstamp"]
    assert (row["question_id"], row["answer_id"], row["model_id"], row["tstamp"]) == (7, "abc", "org/x", 1.5)
    assert row["choices"][0]["index"] == 0
    assert row["choices"][0]["turns"] == ["Salt.", "Cold."]


# There and back


def test_an_answer_comes_back_whole() -> None:
    reply = Reply(
        "Salt.",
        reasoning="ions",
        finish_reason="length",
        usage=Usage(prompt_tokens=10, completion_tokens=3),
        seconds=1.25,
        model="x-2024",
        applied={"temperature": 0.0},
        note="as builtin/outline",
    )
    answer = Answer(
        question_id=7,
        model="org/x",
        choices=(Choice(0, (reply, Reply(""))), Choice(1, (Reply("模型\n"), reply))),
        asked=Sampling(temperature=0.0, max_tokens=5),
        system="Be short.",
        question_content="abc",
        parameters_content="def",
        answer_id="id",
        tstamp=1.5,
    )
    assert answer_from_row(on_disk(answer_to_row(answer)), PATH, 1, model="org/x") == answer


# What others wrote


@pytest.mark.parametrize(
    ("value", "known_as"),
    [
        pytest.param(81, 81, id="number"),
        pytest.param("81", 81, id="text-of-a-number"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-5", -5, id="negative"),
        pytest.param("081", "081", id="leading-zero-is-text"),
        pytest.param("q81", "q81", id="text"),
        pytest.param("٣", "٣", id="other-digits-are-text"),
        pytest.param("9" * 5000, "9" * 5000, id="no-number-so-long"),
    ],
)
def test_an_id_that_is_a_number_in_quotes_is_the_number(value: int | str, known_as: int | str) -> None:
    assert question_id(value) == known_as
    assert question_from_row(good_row("question", question_id=value), PATH, 1).question_id == known_as


def test_a_question_keeps_every_further_field() -> None:
    row = good_row("question", reference=["Salt."], subject="ice")
    question = question_from_row(row, PATH, 1)
    assert (question.reference, question.extra) == (("Salt.",), {"subject": "ice"})


@pytest.mark.parametrize(
    ("value", "reference"),
    [("Salt.", ("Salt.",)), (["a", "b"], ("a", "b")), (None, ()), ([], ()), (..., ())],
    ids=["text", "list", "null", "empty", "absent"],
)
def test_a_reference_of_a_question_may_be_text_or_list(value: Any, reference: tuple[str, ...]) -> None:
    assert question_from_row(good_row("question", reference=value), PATH, 1).reference == reference


def test_an_answer_of_fastchat_is_read_with_the_rest_unstated() -> None:
    row = good_row("answer", answer_id="abc", model_id="another", tstamp=1.5)
    assert answer_from_row(row, PATH, 1, model="x") == Answer(
        7, "x", (Choice(0, (Reply("Salt."),)),), answer_id="abc", tstamp=1.5
    )


def test_an_empty_answer_is_an_answer() -> None:
    answer = answer_from_row(good_row("answer", choices=[{"index": 0, "turns": ["", ""]}]), PATH, 1, model="x")
    assert answer is not None
    assert answer.choices[0].turns == ("", "")


@pytest.mark.parametrize("turns", [[FAILED_TEXT, FAILED_TEXT], ["Salt.", FAILED_TEXT]])
def test_an_error_text_is_no_answer(turns: list[str]) -> None:
    row = good_row("answer", choices=[{"index": 0, "turns": turns}])
    assert answer_from_row(row, PATH, 1, model="x") is None
    assert not is_good_answer(row)


def test_an_answer_about_errors_is_an_answer() -> None:
    row = good_row("answer", choices=[{"index": 0, "turns": [f"The text {FAILED_TEXT} stands for a failure."]}])
    assert answer_from_row(row, PATH, 1, model="x") is not None
    assert is_good_answer(row)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"made_from": "a script"}, id="made_from"),
        pytest.param({"sampling": [0.7]}, id="sampling"),
        pytest.param({"system_prompt": 1, "answer_id": 5, "tstamp": "today"}, id="texts-and-numbers"),
        pytest.param({"choices": [{"index": "0", "turns": ["Salt."], "details": ["x"]}]}, id="details"),
        pytest.param({"choices": [{"turns": ["Salt."], "details": [{"usage": 5, "seconds": "1"}]}]}, id="usage"),
        pytest.param({"choices": [{"turns": ["Salt."], "details": [{}, {}, {}]}]}, id="too-many-details"),
    ],
)
def test_fields_of_ours_that_mean_something_else_elsewhere_are_unstated(changes: dict[str, Any]) -> None:
    answer = answer_from_row(good_row("answer", **changes), PATH, 1, model="x")
    assert answer == Answer(7, "x", (Choice(0, (Reply("Salt."),)),))


# What is wrong


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"question_id": ...}, "the field 'question_id' is missing; add it", id="no-id"),
        pytest.param({"question_id": None}, "question_id must be a whole number or a text, this is None", id="null"),
        pytest.param({"question_id": 1.5}, r"question_id must be .* this is 1\.5", id="fraction"),
        pytest.param({"question_id": True}, "question_id must be .* this is True", id="bool"),
        pytest.param({"question_id": " "}, "question_id must be .* this is ' '", id="blank-id"),
        pytest.param({"question_id": [7]}, r"question_id must be .* this is \[7\]", id="list"),
        pytest.param({"category": ...}, "the field 'category' is missing", id="no-category"),
        pytest.param({"category": " "}, "category must be a text that is not empty, this is ' '", id="blank-category"),
        pytest.param({"category": 5}, "category must be a text", id="category-number"),
        pytest.param({"turns": ...}, "the field 'turns' is missing", id="no-turns"),
        pytest.param(
            {"turns": []}, r"turns must be a list of at least one text, this is \[\] \(question 7\)", id="none"
        ),
        pytest.param({"turns": "What?"}, "turns must be a list of at least one text, this is 'What", id="turns-text"),
        pytest.param(
            {"turns": ["a", " "]}, "turn 2 of question 7 must be a text that is not empty, this is ' '", id="empty"
        ),
        pytest.param(
            {"turns": ["a", 5]}, "turn 2 of question 7 must be a text that is not empty, this is 5", id="number"
        ),
        pytest.param(
            {"reference": [1]}, r"reference of question 7 must be a list of texts, this is \[1\]", id="reference"
        ),
        pytest.param(
            {"checks": [[], [], []]}, "question 7: checks must be a list of . lists, one for each turn", id="checks"
        ),
        pytest.param(
            {"turns": ["a", "b"], "checks": [[], [{"kind": "count", "off": 1}]]},
            "question 7: check 1 of turn 2: count takes no 'off'; did you mean 'of'",
            id="check",
        ),
        pytest.param(
            {"note": ["a", "b", "c"]}, r"note of question 7 must be a list of . texts or nulls, this is", id="note"
        ),
        pytest.param({"turns": 10**80}, r"turns must be .* this is 1000+\.\.\.", id="long-values-are-cut"),
    ],
)
def test_a_question_that_is_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        question_from_row(good_row("question", **changes), PATH, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"question_id": ...}, "the field 'question_id' is missing", id="no-id"),
        pytest.param({"choices": ...}, "the field 'choices' is missing", id="no-choices"),
        pytest.param({"choices": []}, "choices of question 7 must be a list that is not empty", id="empty"),
        pytest.param({"choices": {"turns": []}}, "choices of question 7 must be a list", id="object"),
        pytest.param({"choices": ["Salt."]}, r"choices\[0\]\.turns must be a list of texts", id="text"),
        pytest.param({"choices": [{"index": 0}]}, r"choices\[0\]\.turns must be .* this is None", id="no-turns"),
        pytest.param({"choices": [{"turns": []}]}, r"choices\[0\]\.turns must be", id="no-turn"),
        pytest.param({"choices": [{"turns": [None]}]}, r"choices\[0\]\.turns must be .* \[None\]", id="null-turn"),
        pytest.param({"choices": [{"turns": ["a"]}, {"turns": "a"}]}, r"choices\[1\]\.turns", id="the-second"),
    ],
)
def test_an_answer_that_is_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        answer_from_row(good_row("answer", **changes), PATH, 3, model="x")

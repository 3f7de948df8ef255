"""Answers read one at a time are those that are read whole."""

import gzip
import json
import pathlib
from typing import Any

import pytest

from harness.old.answer_lines import StoredAnswers
from harness.old.bench import read_answers
from harness.old.errors import DataError
from harness.old.judging.shown import hash_of_said, said_json
from harness.old.records import content_hash

DETAILS = {
    "finish_reason": "length",
    "usage": {"prompt_tokens": 7, "completion_tokens": 5, "reasoning_tokens": 2},
    "seconds": 1.5,
    "provider_model": "served",
    "from_cache": True,
}


def row(question_id: Any, *turns: str, **more: Any) -> dict[str, Any]:
    return {"question_id": question_id, "choices": [{"index": 0, "turns": list(turns), **more}]}


ROWS = {
    "plain": row(1, "one", "two"),
    "with details": row("2", "one", "two", details=[DETAILS, {**DETAILS, "given": "the question"}]),
    "half a character": row(3, "\ud83d one"),
    "with history": row(4, "one", "two", history=["given"]),
    "a played user": row(5, "one", "two", user=["hello", "and?"], user_details=[{}, {}]),
    "details of another tool": row(6, "one", details=[{"finish_reason": "eos", "usage": "many", "seconds": "1"}]),
    "several choices": {"question_id": 7, "choices": [{"turns": ["a"]}, {"index": 5, "turns": ["b"]}]},
    "counts that are none": row(8, "one", details=[{"usage": {"prompt_tokens": "7"}, "seconds": True}]),
}


def written(path: pathlib.Path, *rows: Any) -> pathlib.Path:
    data = b"\n".join(json.dumps(one).encode() for one in rows) + b"\n"
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path.with_name("x.jsonl")


@pytest.mark.parametrize("name", ["x.jsonl", "x.part-1.jsonl.gz"])
def test_texts_and_costs_are_those_of_the_whole_answers(tmp_path: pathlib.Path, name: str) -> None:
    path = written(tmp_path / name, *ROWS.values())
    written(tmp_path / "x.part-2.jsonl", row(9, "another part"), row(10, "and the last"))
    whole = read_answers(path, "x")
    with StoredAnswers(path, "x") as stored:
        assert stored.questions.keys() == whole.keys()
        for question, answer in whole.items():
            for number, choice in enumerate(answer.choices):
                for turn in (1, 2):
                    texts = stored.texts(question, choice.index)
                    assert texts.so_far(turn) == [said.text for said in choice.so_far(turn)], (question, number)
                    assert bool(texts.user) == bool(choice.user)
            own = [reply for choice in answer.choices for reply in choice.replies if reply.given is None]
            costs = stored.costs(question)
            assert [one.characters for one in costs] == [len(reply.text) for reply in own]
            for one, reply in zip(costs, own, strict=True):
                for field in ("finish_reason", "usage", "seconds", "model", "from_cache", "batch"):
                    assert getattr(one.reply, field) == getattr(reply, field), (question, field)


def test_of_rows_with_equal_ids_the_last_good_one_counts(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path / "x.jsonl", row(1, "old"), row(1, "new"), row("1", "$ERROR$"), row(2, "$ERROR$"))
    with StoredAnswers(path, "x") as stored:
        assert list(stored.questions) == [1]
        assert stored.texts(1, 0).turns == ["new"]
        assert stored.texts(1, 7).turns == ["new"], "where there is no such choice it is the first"


def test_a_torn_end_is_left_out_and_any_other_fault_names_its_line(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path / "x.jsonl", row(1, "one"))
    path.write_bytes(path.read_bytes() + b'{"question_id": 2, "choi')
    with StoredAnswers(path, "x") as stored:
        assert list(stored.questions) == [1]
    assert "x.jsonl:2: " in caplog.text
    path.write_bytes(path.read_bytes() + b"\n" + json.dumps(row(3, "three")).encode())
    with pytest.raises(DataError, match=r"x.jsonl:2: not valid JSON"):
        StoredAnswers(path, "x")
    written(path, row(1, "one"), "", {"question_id": 2, "choices": [{"turns": []}]})
    path.write_bytes(path.read_bytes().replace(b'""', b""))
    with StoredAnswers(path, "x") as stored, pytest.raises(DataError, match=r"x.jsonl:3: choices\[0\].turns must be"):
        stored.texts(2, 0)


@pytest.mark.parametrize("text", ['"\\/\b\f\n\r\t\x00\x1f\x7f', "é\u2028\u2029\x85", "😀", "\ud83d"])
def test_the_hash_of_what_was_said_is_that_of_any_json(text: str) -> None:
    shown = [("b", [text, "two"]), ("a", [text])]
    said = [said_json(model, turns) for model, turns in sorted(shown)]
    assert hash_of_said(said) == content_hash([["a", [text]], ["b", [text, "two"]]])
    assert hash_of_said(said[:1]) == content_hash([["a", [text]]])

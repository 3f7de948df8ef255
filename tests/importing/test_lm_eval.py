"""Samples of lm-evaluation-harness become questions and answers, with what it sent unasked."""

import json
import pathlib
from typing import Any

import pytest

import harness
from harness import import_data
from harness.errors import DataError
from tests.importing.files import json_lines, messages, rows


def sample(number: int, asked: Any, replies: list[Any], **arguments: Any) -> dict[str, Any]:
    """Return a sample as lm_eval 0.4.13 writes it, of a task with `repeats: 2`."""
    if isinstance(asked, list):
        asked = [json.dumps(asked)]
    return {
        "doc_id": number,
        "doc": {"q": "?"},
        "target": "hi",
        "arguments": {"gen_args_0": {"arg_0": asked, "arg_1": {"until": ["."], **arguments}}},
        "resps": [replies],
        "filtered_resps": replies[:1],
        "filter": "first",
        "metrics": ["exact_match"],
        "exact_match": 0.0,
    }


def imported(tmp_path: pathlib.Path, *samples: dict[str, Any]) -> list[dict[str, Any]]:
    """Import samples of the model `org/m`; return its answers."""
    folder = tmp_path / "out" / "org__m"
    folder.mkdir(parents=True)
    path = json_lines(folder / "samples_greet_2026-11-28T18-49-59.405356.jsonl", samples)
    import_data("lm_eval", [path], "b", data_dir=tmp_path)
    return rows(tmp_path / "b" / "model_answer" / "org%2Fm.jsonl")


def test_both_repeats_are_kept_and_what_was_sent_unasked_is_said(tmp_path: pathlib.Path) -> None:
    asked = [{"role": "system", "content": "Be kind."}, *messages("Say hi.")]
    (row,) = imported(tmp_path, sample(0, asked, ["hello", "hi"]))
    assert [choice["turns"] for choice in row["choices"]] == [["hello"], ["hi"]]
    assert row["sampling"] == {"stop": ["."], "temperature": 0, "seed": 1234, "max_tokens": 256}
    note = row["choices"][1]["details"][0]["note"]
    assert note == "lm_eval sends unasked: temperature 0, seed 1234, max_tokens 256"
    bench = harness.load_bench("b", tmp_path)
    (question,) = bench.questions
    assert (question.question_id, question.category) == ("greet-0", "greet")
    assert (question.turns, bench.settings.system_prompt) == (["Say hi."], "Be kind.")


def test_what_a_task_states_is_not_unasked(tmp_path: pathlib.Path) -> None:
    (row,) = imported(tmp_path, sample(0, "Q:", ["a"], temperature=0.7, max_gen_toks=64))
    assert row["sampling"] == {"stop": ["."], "temperature": 0.7, "max_tokens": 64, "seed": 1234}
    assert row["choices"][0]["details"][0]["note"] == "lm_eval sends unasked: seed 1234"


def test_shots_are_given_replies(tmp_path: pathlib.Path) -> None:
    (row,) = imported(tmp_path, sample(0, messages("1+1?", "2", "2+2?"), ["4"]))
    assert row["choices"][0]["turns"] == ["2", "4"]
    (question,) = harness.load_bench("b", tmp_path).questions
    assert (question.turns, question.history) == (["1+1?", "2+2?"], ["2", None])


def test_a_task_of_likelihoods_has_no_answers(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match="it compares likelihoods: there is no text"):
        imported(tmp_path, sample(0, "Q:", [[-1.5, False]]))

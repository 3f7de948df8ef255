"""What is done and what is done again, of our answers and of other tools'."""

import json
import logging
import pathlib
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import load_bench
from harness.old.errors import StorageError, TurnbenchError, UsageError
from tests.old.answering.answers import answers, made, superseded
from tests.old.protocol_server import Asked, Fault, ProtocolServer, bad_request
from tests.old.small_bench import answer, question, small_bench, write


def test_a_plan_needs_models_and_questions(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with pytest.raises(UsageError, match="no model given"):
        plan_answers([], bench)
    with pytest.raises(UsageError, match="the slice leaves none of the 3 questions of small"):
        plan_answers(["builtin/eliza"], bench, questions=[])
    with pytest.raises(UsageError, match="--answer-file is for the answers of one model"):
        plan_answers(["builtin/eliza", "builtin/outline"], bench, answer_file=tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("held", "message"),
    [
        pytest.param("# Notes\n", "is not a file of answers that turnbench wrote, and is not overwritten", id="text"),
        pytest.param('{"a": 1}\n', "the field 'question_id' is missing", id="other rows"),
        pytest.param('{"question_id": 1, "turns": ["Why?"]}\n', "the field 'choices' is missing", id="questions"),
        pytest.param(json.dumps(answer(1, "other", "x")) + "\n", "holds answers of 'other'", id="another model's"),
    ],
)
def test_answers_go_to_no_file_that_holds_something_else(held: str, message: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "held.jsonl"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(TurnbenchError, match=message):
        plan_answers(["builtin/eliza"], small_bench(tmp_path), answer_file=path)
    assert path.read_text(encoding="utf-8") == held


@pytest.mark.skipif(not pathlib.Path("/dev/null").is_char_device(), reason="a system without /dev/null")
def test_answers_go_to_no_device(tmp_path: pathlib.Path) -> None:
    with pytest.raises(StorageError, match="/dev/null: is a device or a pipe"):
        plan_answers(["builtin/eliza"], small_bench(tmp_path), answer_file=pathlib.Path("/dev/null"))


def test_what_is_done_is_not_done_again(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        made(server, bench, first_n=2)
        first = answers(bench)
        report = made(server, bench)
        assert (len(server.requests), report.written, report.superseded) == (6, 1, 0)
        made(server, bench)
    assert len(server.requests) == 6
    assert answers(bench)[:2] == first
    assert sorted(row["question_id"] for row in answers(bench)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "again"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"temperature": 0.5}, 3, id="the temperature"),
        pytest.param({"system": "Be kind."}, 3, id="the system prompt"),
        pytest.param({"system": ""}, 0, id="an empty system prompt is none"),
        pytest.param({"max_tokens": 99}, 3, id="the limit"),
        pytest.param({"seed": 5}, 3, id="the seed"),
        pytest.param({"timeout": 9.0}, 0, id="the time limit makes no other answer"),
    ],
)
def test_only_what_changed_is_asked_again(tmp_path: pathlib.Path, options: dict[str, Any], again: int) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        made(server, bench)
        first = answers(bench)
        plan = plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url, **options))
        assert (plan.models[0].superseded, plan.calls) == (again, 2 * again)
        report = run_answers(plan)
    assert (report.written, report.superseded) == (again, again)
    assert (len(answers(bench)), len(server.requests)) == (3, 6 + 2 * again)
    assert superseded(bench) == (first if again else [])


def test_a_changed_question_alone_is_asked_again(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        made(server, bench)
        bench = small_bench(tmp_path, question(1), question(2, turns=["New?", "And?"]), question(3))
        report = made(server, bench)
    assert (report.written, report.superseded) == (1, 1)
    assert server.requests[-1].texts[0] == "New?"
    assert [row["question_id"] for row in superseded(bench)] == [2]
    assert sorted(row["question_id"] for row in answers(bench)) == [1, 2, 3]


def test_equal_temperatures_are_equal_however_they_are_written(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, "math"))
    with ProtocolServer() as server:
        made(server, bench)
        made(server, small_bench(tmp_path, question(1, "math"), toml="[temperatures]\nmath = 0"))
        made(server, bench, temperature=0)
    assert len(server.requests) == 2


def test_more_choices_keep_those_that_are_there(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        made(server, bench, seed=1)
        (first,) = answers(bench)
        report = made(server, bench, seed=1, num_choices=3)
        made(server, bench, seed=1, num_choices=2)
    assert len(server.requests) == 6
    (row,) = answers(bench)
    assert row["choices"][0] == first["choices"][0]
    assert [choice["index"] for choice in row["choices"]] == [0, 1, 2]
    assert (report.written, report.superseded, superseded(bench)) == (1, 1, [first])


def test_redo_answers_again_and_keeps_the_old_rows_aside(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        made(server, bench)
        first = answers(bench)
        report = made(server, bench, first_n=1, redo=True)
    assert (report.written, report.superseded) == (1, 1)
    assert (superseded(bench), len(answers(bench))) == (first[:1], 3)


def test_redo_uses_no_reply_that_an_earlier_run_left(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))

    def no_second(asked: Asked) -> Fault | None:
        return bad_request("No.") if asked.number == 1 else None

    with ProtocolServer(lambda asked: f"reply {asked.number}", faults=no_second) as server:
        assert not made(server, bench).complete
        made(server, bench, redo=True)
    assert answers(bench)[0]["choices"][0]["turns"] == ["reply 2", "reply 3"]


# Rows of other tools.


def test_answers_of_other_tools_are_done_by_their_ids(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "other", "a", "b"), answer(2, "other", "c", "d")])
    with ProtocolServer() as server, caplog.at_level(logging.WARNING, "turnbench"):
        report = made(server, bench)
    assert {asked.texts[0] for asked in server.requests} == {"Question 3, first part?"}
    assert (report.written, report.superseded) == (1, 0)
    assert "2 answers have no record of how they were made" in caplog.text


def test_an_answer_of_another_tool_with_too_few_turns_is_made_anew(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    write(bench.answer_file("m"), [answer(1, "m", "only one")])
    with ProtocolServer() as server:
        report = made(server, bench)
    assert (report.written, report.superseded, len(answers(bench))) == (1, 1, 1)


def test_choices_added_to_another_tools_answer_claim_no_origin_for_it(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    write(bench.answer_file("m"), [answer(1, "m", "a", "b")])
    with ProtocolServer() as server:
        made(server, bench, num_choices=2)
        made(server, bench, num_choices=2)
    (row,) = answers(bench)
    assert row["choices"][0]["turns"] == ["a", "b"]
    assert row["made_from"] == {"question": None, "parameters": None}
    assert row["sampling"] == {}
    assert len(server.requests) == 2


def test_an_error_text_is_a_missing_answer(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    write(bench.answer_file("m"), [answer(1, "m", "fine", "$ERROR$")])
    with ProtocolServer() as server:
        report = made(server, bench)
    assert (report.written, report.superseded, len(superseded(bench))) == (1, 1, 1)
    assert "$ERROR$" not in json.dumps(answers(bench))


def test_rows_that_a_killed_run_left_behind_are_moved_by_the_next(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        made(server, bench)
        good = answers(bench)
        write(bench.answer_file("m"), [answer(2, "m", "old", "old"), *good])
        report = made(server, load_bench("small", tmp_path))
    assert (len(server.requests), report.written, report.superseded) == (6, 0, 1)
    assert answers(bench) == good

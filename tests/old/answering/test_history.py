"""Turns that are given: by the question, by the reference, by another model's answer."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import load_bench
from harness.old.cli.gen_answer import main
from harness.old.errors import MissingError, UsageError
from harness.old.estimating import estimate_plan
from harness.old.running.options import RunOptions
from tests.old.answering.answers import answers, made, shown
from tests.old.protocol_server import Asked, BatchDesk, Fault, ProtocolServer, Script, bad_request
from tests.old.small_bench import answer, question, rows, small_bench, write

TURNS = ["one?", "two?", "three?"]


def with_teacher(tmp_path: pathlib.Path, **more: Any) -> Any:
    """Return a benchmark of one question of three turns that a reference answers."""
    bench = small_bench(tmp_path, question(1, "math", turns=TURNS, **more))
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "teacher", "R1", "R2", "R3")])
    return bench


def test_turns_that_a_question_gives_are_not_asked_for(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=TURNS, history=["G1", None, None]))
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        plan = plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url))
        assert (plan.calls, [estimate.calls for estimate in estimate_plan(plan)]) == (2, [2])
        run_answers(plan)
    assert [shown(asked) for asked in server.requests] == [
        [("user", "one?"), ("assistant", "G1"), ("user", "two?")],
        [("user", "one?"), ("assistant", "G1"), ("user", "two?"), ("assistant", "reply 0"), ("user", "three?")],
    ]
    (choice,) = answers(bench)[0]["choices"]
    assert choice["turns"] == ["G1", "reply 0", "reply 1"]
    assert [details.get("given") for details in choice["details"]] == ["question", None, None]


def test_a_given_turn_after_a_written_one_stands_where_the_question_puts_it(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=TURNS, history=[None, "G2", None]))
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        made(server, bench)
    said = [text for role, text in shown(server.requests[1]) if role == "assistant"]
    assert (len(server.requests), said) == (2, ["reply 0", "G2"])


def test_a_changed_history_makes_another_question(tmp_path: pathlib.Path) -> None:
    with ProtocolServer() as server:
        for given in ("G1", "H1", "H1"):
            report = made(server, small_bench(tmp_path, question(1, turns=TURNS, history=[given, None, None])))
    assert (len(server.requests), report.written) == (4, 0)


def test_each_later_turn_is_answered_after_the_references_earlier_ones(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path)
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        made(server, bench, history="reference", parallel=1)
    assert [shown(asked) for asked in server.requests] == [
        [("user", "one?"), ("assistant", "R1"), ("user", "two?")],
        [("user", "one?"), ("assistant", "R1"), ("user", "two?"), ("assistant", "R2"), ("user", "three?")],
    ]
    (row,) = rows(bench.answer_file("m+history=reference"))
    (choice,) = row["choices"]
    assert row["model_id"] == "m+history=reference"
    assert choice["turns"] == ["R1", "reply 0", "reply 1"]
    assert choice["history"] == ["R1", "R2"]
    assert [details.get("given") for details in choice["details"]] == ["reference", None, None]
    assert answers(bench) == []


def test_the_plain_answers_and_each_variant_stand_apart(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path)
    with ProtocolServer() as server:
        for history in ("own", None, "reference", "teacher", "m"):
            made(server, bench, history=history)
    assert bench.answered_models() == ("m", "m+history=m", "m+history=reference", "m+history=teacher")
    assert len(server.requests) == 3 + 3 * 2
    hashes = {name: rows(bench.answer_file(name))[0]["made_from"].get("history") for name in bench.answered_models()}
    assert hashes["m"] is None
    assert hashes["m+history=reference"] == hashes["m+history=teacher"] != hashes["m+history=m"]


def test_a_variant_is_answered_anew_when_the_given_turns_change(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        for said in ("a", "b", "b"):
            write(bench.answer_file("x"), [answer(n, "x", said, "last") for n in (1, 2, 3)])
            report = made(server, bench, history="x")
        assert (len(server.requests), report.written) == (6, 0)
        write(bench.answer_file("x"), [answer(n, "x", "b", "another last") for n in (1, 2, 3)])
        assert made(server, bench, history="x").written == 0


def test_a_question_gives_its_own_turns_whatever_the_history(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path, history=["G1", None, None])
    with ProtocolServer(lambda asked: f"reply {asked.number}") as server:
        made(server, bench, history="reference")
    (choice,) = rows(bench.answer_file("m+history=reference"))[0]["choices"]
    assert choice["turns"] == ["G1", "R2", "reply 0"]
    assert [details.get("given") for details in choice["details"]] == ["question", "reference", None]


def test_a_history_that_is_not_whole_stops_before_the_first_call(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("x"), [answer(1, "x", "a", "b")])
    with ProtocolServer() as server:
        asked = AnswerOptions(base_url=server.openai_url, history="x")
        with pytest.raises(MissingError, match="x has not answered questions 2, 3, so there are no turns to continue"):
            plan_answers(["m"], bench, asked)
        plan = plan_answers(["m"], bench, asked, skip_missing=True)
        assert plan.notices == ["left out: x has not answered questions 2, 3, so there are no turns to continue from"]
        assert (run_answers(plan).written, len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("model", "history", "words"),
    [
        pytest.param("m", "nobody", "no reference answers by 'nobody'", id="nobody"),
        pytest.param("m", "x+history=y", "answered supplied turns, not its own", id="a variant's turns"),
        pytest.param("m+history=x", "x", "already names its history", id="twice"),
    ],
)
def test_a_history_that_cannot_be_is_told(tmp_path: pathlib.Path, model: str, history: str, words: str) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("x"), [answer(n, "x", "a", "b") for n in (1, 2, 3)])
    with pytest.raises((UsageError, MissingError), match=words):
        plan_answers([model], bench, AnswerOptions(base_url="http://127.0.0.1:9/v1", history=history))


def test_a_first_turn_has_no_history(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?"]))
    write(bench.answer_file("x"), [answer(1, "x", "a")])
    with pytest.raises(UsageError, match="no question has a second turn"):
        plan_answers(["builtin/eliza"], bench, AnswerOptions(history="x"))


def test_a_variants_name_says_all(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path)
    with ProtocolServer() as server:
        made(server, bench, history="reference")
        asked = AnswerOptions(base_url=server.openai_url)
        assert plan_answers(["m+history=reference"], bench, asked).calls == 0
    assert {asked.model for asked in server.requests} == {"m"}


def test_an_interrupted_variant_goes_on_where_it_was(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path)

    def no_second(asked: Asked) -> Fault | None:
        return bad_request("No.") if asked.number == 1 else None

    with ProtocolServer(lambda asked: f"reply {asked.number}", faults=no_second) as server:
        asked = AnswerOptions(base_url=server.openai_url, history="reference")
        assert not run_answers(plan_answers(["m"], bench, asked), RunOptions(1)).complete
        plan = plan_answers(["m"], bench, asked)
        assert [estimate.calls for estimate in estimate_plan(plan)] == [1]
        run_answers(plan, RunOptions(1))
    assert len(server.requests) == 3
    assert rows(bench.answer_file("m+history=reference"))[0]["choices"][0]["turns"] == ["R1", "reply 0", "reply 2"]


def test_the_command_answers_after_the_reference(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = with_teacher(tmp_path)
    words = ["--model", "builtin/reference", "--bench-name", bench.name, "--data-dir", str(tmp_path)]
    assert main([*words, "--history", "reference"]) == 0
    assert "builtin/reference+history=reference: 1 question to answer, 2 calls" in capsys.readouterr().err
    (row,) = rows(load_bench(bench.name, tmp_path).answer_file("builtin/reference+history=reference"))
    assert "R3" in json.dumps(row["choices"][0]["turns"])
    assert main([*words, "--history", "nobody"]) == 2


def test_a_batch_asks_the_same_as_direct_calls(tmp_path: pathlib.Path) -> None:
    bench = with_teacher(tmp_path)
    with ProtocolServer(lambda asked: f"after {len(asked.texts)}", batches=BatchDesk(Script())) as server:
        asked = AnswerOptions(base_url=server.openai_url, history="reference", num_choices=2)
        run_answers(plan_answers(["m"], bench, asked), RunOptions(batch=True))
        assert [len(batch.requests) for batch in server.batches.made] == [2, 2]
    (row,) = rows(bench.answer_file("m+history=reference"))
    assert [choice["turns"] for choice in row["choices"]] == [["R1", "after 3", "after 5"]] * 2
    assert [choice["history"] for choice in row["choices"]] == [["R1", "R2"]] * 2

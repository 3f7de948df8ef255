"""Answers: what each turn sees, how it is sampled, what is done and what is done again, and what is in the file."""

import json
import logging
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from harness.answering import AnswerOptions, AnswerReport, plan_answers, run_answers
from harness.bench import Bench, load_bench
from harness.chat import open_chat_model, resolve
from harness.cli.gen_answer import main
from harness.errors import EndpointError, StorageError, UsageError
from harness.jsonl import Journal
from harness.records import Facts, Message, Question, Reply, Request
from harness.running.options import RunOptions
from tests.protocol_server import Asked, Fault, ProtocolServer, Said, bad_request, outage
from tests.small_bench import answer, question, rows, small_bench, write


def made(
    server: ProtocolServer,
    bench: Bench,
    *,
    first_n: int | None = None,
    parallel: int = 4,
    redo: bool = False,
    **options: Any,
) -> AnswerReport:
    """Answer with the model `m` of the server."""
    asked = AnswerOptions(base_url=server.openai_url, **options)
    plan = plan_answers(["m"], bench, asked, questions=bench.slice(first_n=first_n), redo=redo)
    return run_answers(plan, RunOptions(parallel))


def answers(bench: Bench) -> list[dict[str, Any]]:
    return rows(bench.answer_file("m"))


def superseded(bench: Bench) -> list[dict[str, Any]]:
    return rows(bench.answer_state / "superseded" / "m.jsonl")


def shown(asked: Asked) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in asked.body["messages"]]


# The conversation.


def test_each_turn_sees_the_models_own_earlier_replies_and_never_its_reasoning(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?", "two?", "three?"]))
    thoughts = {0: Said("ONE", reasoning="secret 1"), 1: Said("<think>secret 2</think>\nTWO"), 2: Said("THREE")}
    with ProtocolServer(lambda asked: thoughts[asked.number]) as server:
        made(server, bench, system="Be brief.")
    assert shown(server.requests[2]) == [
        ("system", "Be brief."),
        ("user", "one?"),
        ("assistant", "ONE"),
        ("user", "two?"),
        ("assistant", "TWO"),
        ("user", "three?"),
    ]
    assert "secret" not in json.dumps([dict(asked.body) for asked in server.requests])
    (choice,) = answers(bench)[0]["choices"]
    assert choice["turns"] == ["ONE", "TWO", "THREE"]
    assert [details.get("reasoning") for details in choice["details"]] == ["secret 1", "secret 2", None]


def test_each_model_sees_its_own_replies_only(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(lambda asked: f"{asked.model} says {len(asked.texts)}") as server:
        run_answers(plan_answers(["m", "n"], bench, AnswerOptions(base_url=server.openai_url)))
    second = {asked.model: shown(asked)[1] for asked in server.requests if len(asked.texts) == 3}
    assert second == {"m": ("assistant", "m says 1"), "n": ("assistant", "n says 1")}


def test_a_template_and_a_system_prompt_of_the_benchmark_are_used(tmp_path: pathlib.Path) -> None:
    toml = 'system_prompt = "Speak plainly."\nanswer_template = "Q: {question} {x}"'
    bench = small_bench(tmp_path, question(1, turns=["What is {question}?"]), toml=toml)
    with ProtocolServer() as server:
        made(server, bench)
        made(server, bench, system="")
    assert shown(server.requests[0]) == [("system", "Speak plainly."), ("user", "Q: What is {question}? {x}")]
    assert shown(server.requests[1]) == [("user", "Q: What is {question}? {x}")]


@pytest.mark.parametrize("path", ["chat", "completions", "messages"])
def test_facts_about_a_question_never_reach_a_remote_model(path: str) -> None:
    told = Question(987654321, "FACTcategory", ("FACTturn",), ("FACTreference",), {"key": "FACTextra"})
    facts = Facts(told, 1, ("FACTanswer",), (("FACTshown",),), "FACTformat", (111222, 333444))
    request = Request((Message("user", "Hello?"),), facts=facts)
    with ProtocolServer() as server:
        environ = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENAI_BASE_URL": server.openai_url}
        template = "vicuna_v1.1" if path == "completions" else None
        name = "claude-x" if path == "messages" else "x"
        model = open_chat_model(resolve(name, conv_template=template, environ=environ), environ=environ)
        reply = _ask(model.reply, request, model.close)
    (asked,) = server.requests
    assert (asked.protocol, bool(reply.text)) == (path, True)
    wire = json.dumps([asked.path, dict(asked.headers), dict(asked.body)])
    assert not [word for word in ("FACT", "987654321", "111222", "333444") if word in wire]


def _ask(reply: Callable[[Request], Any], request: Request, close: Callable[[], Any]) -> Reply:
    import asyncio

    async def once() -> Reply:
        try:
            said: Reply = await reply(request)
            return said
        finally:
            await close()

    return asyncio.run(once())


def test_references_are_for_built_in_models_only(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, "math", reference=["FACT one", "FACT two"]))
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "teacher", "FACT three", "FACT four")])
    with ProtocolServer() as server:
        made(server, bench)
        run_answers(plan_answers(["builtin/reference"], bench))
    assert "FACT" not in json.dumps([dict(asked.body) for asked in server.requests])
    (row,) = rows(bench.answer_file("builtin/reference"))
    assert row["choices"][0]["turns"] == ["FACT three", "FACT four"]


# Sampling.

BY_CATEGORY = {
    "writing": 0.7,
    "roleplay": 0.7,
    "extraction": 0.0,
    "math": 0.0,
    "coding": 0.0,
    "reasoning": 0.0,
    "stem": 0.1,
    "humanities": 0.1,
    "gardening": 0.7,
}


@pytest.mark.parametrize(
    ("toml", "forced", "expected"),
    [
        pytest.param("", None, BY_CATEGORY, id="as in MT-Bench"),
        pytest.param("", 0, dict.fromkeys(BY_CATEGORY, 0.0), id="forced to nought"),
        pytest.param("", 1.2, dict.fromkeys(BY_CATEGORY, 1.2), id="forced"),
        pytest.param(
            "[temperatures]\nmath = 1\ngardening = 0.3",
            None,
            {**BY_CATEGORY, "math": 1.0, "gardening": 0.3},
            id="the benchmark's own",
        ),
    ],
)
def test_the_temperature_is_the_categorys(
    tmp_path: pathlib.Path, toml: str, forced: float | None, expected: dict[str, float]
) -> None:
    asked = [question(n, category, turns=[category]) for n, category in enumerate(BY_CATEGORY, 1)]
    bench = small_bench(tmp_path, *asked, toml=toml)
    with ProtocolServer() as server:
        made(server, bench, temperature=forced, top_p=0.9, max_tokens=77)
    assert {asked.texts[0]: asked.body["temperature"] for asked in server.requests} == expected
    assert {(asked.body["top_p"], asked.body["max_tokens"]) for asked in server.requests} == {(0.9, 77)}
    sampling = {row["question_id"]: row["sampling"]["temperature"] for row in answers(bench)}
    assert list(dict(sorted(sampling.items())).values()) == list(expected.values())


def test_choice_k_is_sampled_with_seed_plus_k(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(lambda asked: f"seed {asked.body['seed']}") as server:
        made(server, bench, num_choices=3, seed=10)
    (row,) = answers(bench)
    assert [(c["index"], c["turns"]) for c in row["choices"]] == [(k, [f"seed {10 + k}"] * 2) for k in range(3)]
    assert [c["details"][0]["sampling_applied"]["seed"] for c in row["choices"]] == [10, 11, 12]
    assert row["sampling"]["seed"] == 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"num_choices": 0}, "--num-choices must be at least 1", id="no choices"),
        pytest.param({"temperature": float("nan")}, "--temperature must be a number from 0", id="no temperature"),
        pytest.param({"temperature": -1.0}, "--temperature must be a number from 0", id="below nought"),
        pytest.param({"top_p": float("inf")}, "--top-p must be a number from 0", id="infinite"),
        pytest.param({"max_tokens": 0}, "--max-tokens must be at least 1", id="no tokens"),
    ],
)
def test_options_that_cannot_work_are_told(tmp_path: pathlib.Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        plan_answers(["builtin/eliza"], small_bench(tmp_path), AnswerOptions(**options))


def test_a_plan_needs_models_and_questions(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with pytest.raises(UsageError, match="no model given"):
        plan_answers([], bench)
    with pytest.raises(UsageError, match="no question is left of the 3 in small"):
        plan_answers(["builtin/eliza"], bench, questions=[])
    with pytest.raises(UsageError, match="--answer-file takes the answers of one model"):
        plan_answers(["builtin/eliza", "builtin/outline"], bench, answer_file=tmp_path / "a.jsonl")


# What is done, and what is done again.


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
    assert "2 answers carry no record of what made them" in caplog.text


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


# Failures.


def test_a_call_that_failed_for_good_writes_nothing_and_is_tried_again_next_time(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = small_bench(tmp_path)

    def broken(asked: Asked) -> Fault | None:
        second_of_two = asked.texts[0].startswith("Question 2") and len(asked.texts) == 3
        return bad_request("The prompt is odd.") if second_of_two and asked.tries == 0 else None

    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path)]
    with ProtocolServer(faults=broken) as server:
        command += ["--base-url", server.openai_url]
        assert main(command) == 1
        told = capsys.readouterr().err
        assert sorted(row["question_id"] for row in answers(bench)) == [1, 3]
        assert main(command) == 0
    assert "1 failed" in told
    assert "m, question 2" in told
    assert "The prompt is odd." in told
    assert sorted(row["question_id"] for row in answers(bench)) == [1, 2, 3]
    assert len(server.requests) == 7, "the first turn of question 2 was asked once"


def test_an_outage_is_tried_again_within_the_run(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(faults={1: outage(), 3: outage(503)}) as server:
        report = made(server, bench)
    assert report.complete
    assert (report.tally.retries, report.tally.calls, len(server.requests)) == (2, 6, 8)


@pytest.mark.parametrize("parallel", [1, 8, 200])
def test_a_refused_key_stops_at_once(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    bench = small_bench(tmp_path, *(question(number) for number in range(1, 101)))
    monkeypatch.setenv("MY_KEY", "sk-wrong-0123456789")
    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path), "--parallel", str(parallel)]
    with ProtocolServer(api_key="sk-right") as server:
        assert main([*command, "--base-url", server.openai_url, "--api-key-env", "MY_KEY"]) == 2
    assert len(server.requests) <= parallel
    told = capsys.readouterr().err
    assert "answered 401" in told
    assert "sk-wrong" not in told
    assert "Traceback" not in told
    assert answers(bench) == []


def test_an_unreachable_server_is_one_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_bench(tmp_path)
    with ProtocolServer() as server:
        address = server.openai_url
    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path), "--base-url", address, "-q"]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot connect" in line
    assert address in line


def test_other_models_keep_what_they_had_when_one_cannot_be_called(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(models=["m"]) as server:
        plan = plan_answers(["m", "n"], bench, AnswerOptions(base_url=server.openai_url))
        with pytest.raises(EndpointError, match="`n` does not exist"):
            run_answers(plan)
        made(server, bench)
    asked = [asked for asked in server.requests if asked.model == "m"]
    assert len(asked) == 2, "a reply that had come before the end was not asked again"


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        pytest.param(Said("Half a sen", finish="length"), "length", "Half a sen", id="cut"),
        pytest.param(Said(None, refusal="I will not."), "refused", "I will not.", id="refused"),
        pytest.param(Said(""), "empty", "", id="empty"),
    ],
)
def test_replies_that_are_not_whole_are_recorded_as_such(
    tmp_path: pathlib.Path, said: Said, finish: str, text: str
) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?"]))
    with ProtocolServer(lambda asked: said) as server:
        report = made(server, bench)
        made(server, bench)
    (choice,) = answers(bench)[0]["choices"]
    assert (choice["turns"], choice["details"][0]["finish_reason"]) == ([text], finish)
    assert report.tally.flagged == {finish: 1}
    assert len(server.requests) == 1


# Many at once.


def test_the_servers_view_of_the_bound_on_calls(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(number) for number in range(1, 31)))
    with ProtocolServer(latency=0.005) as server:
        made(server, bench, parallel=5)
    assert server.most_at_once == 5
    assert [len(asked.texts) for asked in server.requests] == [1] * 30 + [3] * 30
    assert len(answers(bench)) == 30


def test_a_second_writer_is_told_who_holds_the_file(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = small_bench(tmp_path)
    command = ["--model", "builtin/eliza", "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
    with Journal(bench.answer_file("builtin/eliza"), bench.answer_state):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
    assert "is being written by process" in line
    assert main(command) == 0


def test_replies_that_wait_for_their_row_survive_a_run_over_other_questions(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)

    def no_third(asked: Asked) -> Fault | None:
        blocked = asked.texts[0].startswith("Question 3") and len(asked.texts) == 3
        return bad_request("No.") if blocked and asked.tries == 0 else None

    with ProtocolServer(faults=no_third) as server:
        made(server, bench)
        made(server, bench, first_n=1, redo=True)
        count = len(server.requests)
        made(server, bench)
    assert len(server.requests) == count + 1
    assert len(answers(bench)) == 3
    assert not (bench.answer_state / "pending" / "m.jsonl").exists()


def test_a_disk_that_takes_no_row_is_a_storage_error(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    (bench.folder / "model_answer").write_text("not a folder")
    with pytest.raises(StorageError, match="model_answer"):
        run_answers(plan_answers(["builtin/eliza"], bench))

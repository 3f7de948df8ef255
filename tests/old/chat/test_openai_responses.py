"""The real SDK against a real server, for OpenAI's responses: what is sent, what is read, and how they are found."""

import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.chat import resolve
from harness.old.chat.parameters import sampling_of
from harness.old.errors import TransientError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Message, Reply, Request, Sampling, Usage
from harness.old.running.options import RunOptions
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import Asked, Fault, ProtocolServer, Said, raw, verdict
from tests.old.small_bench import question, rows, small_bench

ONLY = "This model is only supported in v1/responses and not in v1/chat/completions."
TALK = (Message("system", "Be brief."), Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Bye."))
UNSTATED = Sampling()


def replies(server: ProtocolServer, requests: Sequence[Request], name: str = "o3-pro", **where: Any) -> list[Reply]:
    environ = {"OPENAI_API_KEY": "sk-0123456789", "OPENAI_BASE_URL": server.openai_url}
    return replies_of(resolve(name, environ=environ, **where), requests, environ, in_turn=True)


def test_a_name_that_speaks_nothing_else_is_asked_by_responses() -> None:
    sampling = sampling_of({"reasoning_effort": "low", "max_tokens": 99, "temperature": 0.5, "seed": 3})
    with ProtocolServer() as server:
        (reply,) = replies(server, [Request(TALK, sampling)])
    (asked,) = server.requests
    assert (asked.path, asked.key) == ("/v1/responses", "sk-0123456789")
    assert asked.body == {
        "model": "o3-pro",
        "instructions": "Be brief.",
        "input": [{"role": message.role, "content": message.content} for message in TALK[1:]],
        "store": False,
        "temperature": 0.5,
        "max_output_tokens": 99,
        "reasoning": {"effort": "low"},
    }
    assert reply.applied == {"temperature": 0.5, "max_output_tokens": 99, "reasoning": {"effort": "low"}}


def test_text_reasoning_and_tokens_are_read() -> None:
    usage = {
        "input_tokens": 20,
        "output_tokens": 30,
        "input_tokens_details": {"cached_tokens": 8},
        "output_tokens_details": {"reasoning_tokens": 25},
    }
    with ProtocolServer(lambda asked: Said("four", reasoning="2+2", model="o3-pro-2026", usage=usage)) as server:
        (reply,) = replies(server, [Request(TALK, UNSTATED)])
    assert (reply.text, reply.reasoning, reply.finish_reason, reply.model) == ("four", "2+2", "stop", "o3-pro-2026")
    assert reply.usage == Usage(20, 30, 25, 8)


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (Said("fo", finish="max_output_tokens"), "length", "fo"),
        (Said("fo", finish="content_filter"), "refused", "fo"),
        (Said(None, refusal="I will not."), "refused", "I will not."),
        (Said(""), "empty", ""),
    ],
)
def test_how_a_reply_ended(said: Said, finish: str, text: str) -> None:
    with ProtocolServer(lambda asked: said) as server:
        (reply,) = replies(server, [Request(TALK, UNSTATED)])
    assert (reply.finish_reason, reply.text) == (finish, text)


@pytest.mark.parametrize(
    "body",
    [
        b'{"status": "failed", "error": {"code": "server_error", "message": "no"}, "output": []}',
        b'{"status": "queued", "output": []}',
        b'{"status": "completed"}',
        b"{}",
    ],
)
def test_a_response_that_is_none_is_tried_again(body: bytes) -> None:
    with ProtocolServer(faults={0: raw(body)}) as server, pytest.raises(TransientError):
        replies(server, [Request(TALK, UNSTATED)])


def test_a_schema_that_is_refused_is_asked_for_in_words() -> None:
    request = Request(TALK, UNSTATED, schema={"type": "object", "properties": {"score": {"type": "integer"}}})
    with ProtocolServer(refuses={"text"}) as server:
        first, second = replies(server, [request, request])
    assert [("text" in asked.body) for asked in server.requests] == [True, False, False]
    assert (first.applied["structured"], second.applied["structured"]) == (False, False)


def only_responses(asked: Asked) -> Fault | None:
    return Fault(404, ONLY, param="model") if asked.protocol == "chat" else None


def test_a_server_that_says_so_is_asked_by_responses_from_then_on(caplog: pytest.LogCaptureFixture) -> None:
    with ProtocolServer(faults=only_responses) as server:
        said = replies(server, [Request(TALK, UNSTATED)] * 3, "gpt-5-next")
    assert [asked.protocol for asked in server.requests] == ["chat", "responses", "responses", "responses"]
    assert len({reply.text for reply in said}) == 1
    assert caplog.text.count('provider = "openai_responses"') == 1


@pytest.mark.parametrize("batch", [False, True])
def test_a_benchmark_is_answered_and_judged(tmp_path: pathlib.Path, batch: bool) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    running = RunOptions(batch=batch)
    with ProtocolServer(verdict) as server:
        models = tmp_path / "models.toml"
        models.write_text(f'[models."m"]\nprovider = "openai_responses"\nbase_url = "{server.openai_url}"\n')
        run_answers(plan_answers(["m"], bench, AnswerOptions(models_file=models)), running)
        plan = plan_judgments(["m"], bench, "single", JudgeOptions(models_file=models))
        report = run_judgments(plan, running)
    assert (report.written, report.unparsed) == (4, 0)
    assert len(rows(bench.answer_file("m"))) == 2
    protocols = {asked.protocol for asked in server.requests}
    assert protocols == ({"batches"} if batch else {"responses"})

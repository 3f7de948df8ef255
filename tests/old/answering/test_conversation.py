"""What each turn sees, and what never reaches a model."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.chat import open_chat_model, resolve
from harness.old.records import Facts, Message, Question, Reply, Request
from tests.old.answering.answers import answers, made, shown
from tests.old.protocol_server import ProtocolServer, Said
from tests.old.small_bench import answer, question, rows, small_bench, write


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


def test_checks_and_notes_never_reach_a_model_that_answers(tmp_path: pathlib.Path) -> None:
    checks = [[{"kind": "contains", "words": "FACTcheck", "name": "FACTname"}], []]
    bench = small_bench(tmp_path, question(1, note=["FACTnote", None], checks=checks))
    with ProtocolServer() as server:
        made(server, bench)
        assert len(server.requests) == 2
        assert not any("FACT" in json.dumps(dict(asked.body)) for asked in server.requests)


def test_references_are_for_built_in_models_only(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, "math", reference=["FACT one", "FACT two"]))
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "teacher", "FACT three", "FACT four")])
    with ProtocolServer() as server:
        made(server, bench)
        run_answers(plan_answers(["builtin/reference"], bench))
    assert "FACT" not in json.dumps([dict(asked.body) for asked in server.requests])
    (row,) = rows(bench.answer_file("builtin/reference"))
    assert row["choices"][0]["turns"] == ["FACT three", "FACT four"]

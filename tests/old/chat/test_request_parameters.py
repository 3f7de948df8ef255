"""Parameters beside the usual ones: read from flags and models.toml, checked, and sent as each protocol has them."""

import asyncio
import pathlib
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import load_bench, read_answers
from harness.old.chat import open_chat_model, resolve
from harness.old.chat.parameters import sampling_of
from harness.old.chat.providers import check_parameters
from harness.old.errors import DataError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Message, Request, Sampling
from tests.old.protocol_server import ProtocolServer, verdict
from tests.old.small_bench import small_bench

HELLO = (Message("user", "Say hello."),)
EVERY = {
    "reasoning_effort": "low",
    "top_k": 20,
    "min_p": 0.1,
    "frequency_penalty": 0.5,
    "presence_penalty": -0.5,
    "repetition_penalty": 1.1,
    "stop": ["###"],
    "seed": 7,
}


def sent(server: ProtocolServer, name: str, sampling: Sampling, **where: Any) -> tuple[dict[str, Any], Any]:
    """Return the body and the headers of one request."""
    environ = {"ANTHROPIC_API_KEY": "sk-ant-0123", "ANTHROPIC_BASE_URL": server.anthropic_url}

    async def scene() -> None:
        model = open_chat_model(resolve(name, environ=environ, **where), environ=environ)
        try:
            await model.reply(Request(HELLO, sampling))
        finally:
            await model.close()

    asyncio.run(scene())
    asked = server.requests[-1]
    return {k: v for k, v in asked.body.items() if k not in ("model", "messages")}, asked.headers


def test_chat_completions_take_every_parameter_and_fields_of_the_servers_own() -> None:
    more = {"extra_body.chat_template_kwargs": {"enable_thinking": False}, "extra_headers.X-Team": "eval"}
    with ProtocolServer() as server:
        body, headers = sent(server, "m", sampling_of({**EVERY, **more}), base_url=server.openai_url)
    assert body == {**EVERY, "chat_template_kwargs": {"enable_thinking": False}}
    assert headers["x-team"] == "eval"


def test_anthropic_has_its_own_names_and_thinks_at_its_own_temperature() -> None:
    asked = {"reasoning_effort": "high", "thinking_budget": 2048, "temperature": 0.7, "stop": "###", "seed": 7}
    with ProtocolServer() as server:
        thinking, _ = sent(server, "claude-x", sampling_of({**asked, "max_tokens": 4096}))
        plain, _ = sent(server, "claude-x", sampling_of({"thinking_budget": 0, "temperature": 0.7, "top_k": 5}))
    assert thinking == {
        "max_tokens": 4096,
        "stop_sequences": ["###"],
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "output_config": {"effort": "high"},
    }
    assert plain == {"max_tokens": 4096, "thinking": {"type": "disabled"}, "temperature": 0.7, "top_k": 5}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"reasoning_efort": "low"}, "unknown key 'reasoning_efort'; did you mean 'reasoning_effort'?"),
        ({"top_k": 0}, "top_k must be a whole number from 1"),
        ({"min_p": "much"}, "min_p must be a number from 0 to 1"),
    ],
)
def test_a_parameter_that_is_none_is_an_error_before_any_call(params: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("?", "[?]")):
        sampling_of(params)


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("claude-x", {"min_p": 0.1}, "claude-x: its provider takes no min_p"),
        ("m", {"thinking_budget": 9}, "m: its provider takes no thinking_budget"),
        ("m", {"extra_body.messages": []}, "would replace what turnbench sends"),
        ("m", {"extra_body.top_k": 3}, "give top_k without extra_body"),
        ("m", {"extra_headers.Authorization": "x"}, "keys come only from the environment"),
        ("m", {"extra_headers.X-Team": "évaluation"}, r"extra_headers.X-Team cannot be sent: .* one line in ASCII"),
        ("m", {"extra_headers.X-Team": "a\nb"}, "extra_headers.X-Team cannot be sent"),
        ("m", {"extra_headers.X Team": "a"}, "extra_headers.X Team cannot be sent"),
        ("m", {"extra_headers.Content-Length": "3"}, "extra_headers.Content-Length cannot be sent"),
        ("claude-x", {"thinking_budget": 4096, "max_tokens": 4096}, "leaves none of the 4096 tokens"),
    ],
)
def test_what_cannot_be_sent_is_refused(name: str, params: dict[str, Any], said: str) -> None:
    base = None if name.startswith("claude") else "http://127.0.0.1:9"
    endpoint = resolve(name, base_url=base, environ={"ANTHROPIC_API_KEY": "k"})
    with pytest.raises(UsageError, match=said):
        check_parameters(endpoint, sampling_of(params))


def test_models_toml_gives_one_servers_model_two_names_and_settings(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(verdict) as server:
        models = tmp_path / "models.toml"
        models.write_text(
            f'[models."q"]\nmodel = "qwen3"\nbase_url = "{server.openai_url}"\n'
            f'[models."q-thinking"]\nmodel = "qwen3"\nbase_url = "{server.openai_url}"\n'
            'sampling = {reasoning_effort = "high", extra_body = {plan = "slow"}}\n'
        )
        options = AnswerOptions(models_file=models, params={"top_k": 3})
        run_answers(plan_answers(["q", "q-thinking"], bench, options))
        said = JudgeOptions(models_file=models, params={"seed": 5})
        run_judgments(plan_judgments(["q-thinking"], bench, "single", said, models=["q"]))
        assert plan_judgments(["q-thinking"], bench, "single", said, models=["q"]).calls == 0
        again = JudgeOptions(models_file=models, params={"seed": 6})
        assert plan_judgments(["q-thinking"], bench, "single", again, models=["q"]).calls > 0
    bench = load_bench(bench.name, bench.folder.parent)
    asked = {
        name: next(iter(read_answers(bench.answer_file(name), name).values())).asked for name in ("q", "q-thinking")
    }
    assert (asked["q"].top_k, asked["q"].reasoning_effort) == (3, None)
    assert (asked["q-thinking"].top_k, asked["q-thinking"].reasoning_effort) == (3, "high")
    judged = server.requests[-1].body
    assert (judged["reasoning_effort"], judged["plan"], judged["seed"]) == ("high", "slow", 5)


def test_an_unknown_parameter_in_models_toml_names_its_line(tmp_path: pathlib.Path) -> None:
    models = tmp_path / "models.toml"
    models.write_text('[models."q"]\nbase_url = "http://x/v1"\nsampling = {topk = 5}\n')
    with pytest.raises(DataError, match=r"models.toml:3: unknown key 'models.q.sampling.topk'; did you mean 'top_k'"):
        resolve("q", models=models)

"""Local weights as a chat model: template, stops, batches, seeds, log-probabilities."""

import asyncio
import pathlib
from typing import Any

import pytest

from harness.errors import ChatError, UsageError
from harness.extras.local.model import LocalModel
from harness.models import Endpoint, Weights
from harness.types import Message, Reply, Request, Sampling
from tests.local.tiny_models import save_llama

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a tiny model with a chat template."""
    return save_llama(tmp_path_factory.mktemp("llama"))


def endpoint(place: str, **more: Any) -> Endpoint:
    weights = Weights(batch_size=more.pop("batch_size", 16), dtype="float32")
    return Endpoint(name="tiny", provider="local", model=place, weights=weights, **more)


def ask(place: str, requests: list[Request], **more: Any) -> list[Reply]:
    """Return the replies to requests that are made at once."""

    async def replies() -> list[Reply]:
        model = LocalModel(endpoint(place, **more))
        try:
            return list(await asyncio.gather(*map(model.reply, requests)))
        finally:
            await model.close()

    return asyncio.run(replies())


def request(
    *turns: str, system: str = "", top_logprobs: int | None = None, **sampling: Any
) -> Request:
    roles = ("user", "assistant")
    messages = [Message(roles[n % 2], turn) for n, turn in enumerate(turns)]  # type: ignore[arg-type]
    if system:
        messages.insert(0, Message("system", system))
    return Request(messages=messages, sampling=Sampling(**sampling), top_logprobs=top_logprobs)


def test_a_long_prompt_does_not_pad_short_ones(tmp_path: pathlib.Path) -> None:
    model = save_llama(tmp_path, longest=4096)
    requests = [request("The cat sat. " * n, max_tokens=4) for n in (1, 300, 2)]
    short, long, short_too = [
        reply.detail.seconds for reply in ask(model, requests)
    ]  # of the batch
    assert short == short_too != long


@pytest.mark.parametrize("temperature", [0, 1.0])
def test_a_batch_of_sixteen_gives_what_one_by_one_gives(llama: str, temperature: float) -> None:
    requests = [
        request("The cat sat. " * n, temperature=temperature, seed=n, max_tokens=4 + n, top_k=50)
        for n in range(1, 9)
    ]
    alone = ask(llama, requests, batch_size=1)
    together = ask(llama, requests, batch_size=16)
    assert [reply.text for reply in alone] == [reply.text for reply in together]
    assert len({reply.text for reply in alone}) > 1


def test_the_limit_is_noted(llama: str) -> None:
    (reply,) = ask(llama, [request("Hello", max_tokens=3)])
    assert reply.detail.finish_reason == "length"
    assert reply.detail.usage.completion_tokens == 3
    assert reply.detail.sampling_applied["template"].startswith("its own (")


def test_a_stop_ends_the_reply_before_it(llama: str) -> None:
    (whole,) = ask(llama, [request("Hello", max_tokens=30)])
    stop = whole.text[5:8]
    (cut,) = ask(llama, [request("Hello", max_tokens=30, stop=[stop])])
    assert cut.text == whole.text[: whole.text.index(stop)].strip()
    assert cut.detail.finish_reason == "stop"


def test_a_template_without_a_system_role_gets_it_in_the_first_message(llama: str) -> None:
    folded, same = ask(
        llama,
        [request("Hi", system="Be brief.", max_tokens=8), request("Be brief.\n\nHi", max_tokens=8)],
    )
    assert folded.text == same.text
    assert folded.detail.usage.prompt_tokens == same.detail.usage.prompt_tokens


def test_likely_tokens_are_reported(llama: str) -> None:
    (reply,) = ask(llama, [request("Hi", max_tokens=4, top_logprobs=3)])
    assert reply.logprobs is not None
    assert len(reply.logprobs) == reply.detail.usage.completion_tokens
    for token in reply.logprobs:
        assert token.top[0] == (token.token, token.logprob)
        assert token.top[0][1] >= token.top[1][1] >= token.top[2][1]


def test_a_conversation_that_does_not_fit_is_an_error_of_its_own(llama: str) -> None:
    with pytest.raises(ChatError, match=r"the prompt has \d+ tokens, the model reads at most 256"):
        ask(llama, [request("word " * 400)])


def test_weights_without_a_template_need_one_by_name(tmp_path: pathlib.Path) -> None:
    bare = save_llama(tmp_path / "bare", template=None, longest=2048)
    with pytest.raises(UsageError, match=r"has no chat template; .*--conv-template vicuna_v1\.1"):
        ask(bare, [request("Hi")])
    (reply,) = ask(bare, [request("Hi", max_tokens=4)], conv_template="vicuna_v1.1")
    assert reply.detail.sampling_applied["template"] == "fschat vicuna_v1.1"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        pytest.param("./nowhere", "no such folder of weights", id="folder"),
        pytest.param("", "no model can be loaded from .*config.json", id="empty"),
    ],
)
def test_weights_that_are_not_there_are_one_line(
    place: str, reason: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UsageError, match=reason):
        ask(place or str(tmp_path), [request("Hi")])


def test_only_vllm_serves() -> None:
    from harness.extras.local.serving import served

    with pytest.raises(UsageError, match="only vllm can serve"), served("rm -rf x", ".", "tiny"):
        pass


def test_a_server_is_started_waited_for_and_stopped(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import urllib.error
    import urllib.request

    from harness.extras.local.serving import served

    fake = tmp_path / "vllm"
    fake.write_text(
        f"#!{sys.executable}\n"
        "import http.server, sys\n"
        "class Health(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(200); self.end_headers()\n"
        "        self.wfile.write(repr(sys.argv).encode())\n"
        "(port,) = [int(a[7:]) for a in sys.argv if a.startswith('--port=')]\n"
        "http.server.HTTPServer(('127.0.0.1', port), Health).serve_forever()\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with served("vllm --seed 1", "./weights", "tiny") as url:
        arguments = urllib.request.urlopen(url).read().decode()
        assert "'serve', './weights'" in arguments
        assert "'--served-model-name=tiny'" in arguments
        assert arguments.endswith("'--seed', '1']")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url)

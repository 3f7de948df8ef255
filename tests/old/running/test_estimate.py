"""Tokens told from characters are near what real tokenizers count."""

import pathlib
import tomllib
from typing import Any

import pytest

from harness.old.chat.price import Price
from harness.old.records import Message
from harness.old.running.estimate import (
    CL100K,
    CLAUDE,
    CLAUDE_NEW,
    MISTRAL,
    O200K,
    OTHERS,
    QWEN,
    Estimate,
    Span,
    Weights,
    prompt_tokens,
    reply_span,
    text_tokens,
    weights_of,
)

TEXTS = tomllib.loads(pathlib.Path(__file__).with_name("token_texts.toml").read_text(encoding="utf-8"))["text"]
WEIGHTS = {"o200k": O200K, "cl100k": CL100K, "claude2": CLAUDE, "deepseek": QWEN, "qwen": QWEN, "tekken": MISTRAL}


@pytest.mark.parametrize("text", [pytest.param(text, id=text["id"]) for text in TEXTS])
def test_tokens_of_real_texts_are_told_within_a_fifth(text: dict[str, Any]) -> None:
    told = {name: text_tokens(text["text"].strip(), weights) for name, weights in WEIGHTS.items()}
    assert {name: told[name] / count for name, count in text["counts"].items()} == pytest.approx(
        dict.fromkeys(text["counts"], 1.0), abs=0.2
    )


def test_a_prompt_of_many_texts_is_told_within_a_tenth() -> None:
    messages = [Message("user", text["text"].strip()) for text in TEXTS]
    for name, weights in WEIGHTS.items():
        counted = sum(text["counts"][name] + 4 for text in TEXTS)
        assert prompt_tokens(messages, weights) == pytest.approx(counted, rel=0.1), name


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        pytest.param("gpt-4", CL100K, id="gpt-4"),
        pytest.param("gpt-4-turbo-2024-04-09", CL100K, id="gpt-4-turbo"),
        pytest.param("gpt-3.5-turbo", CL100K, id="gpt-3.5"),
        pytest.param("gpt-4o-mini", O200K, id="gpt-4o"),
        pytest.param("gpt-4.1", O200K, id="gpt-4.1"),
        pytest.param("o3", O200K, id="o3"),
        pytest.param("ft:gpt-4o:acme", O200K, id="fine-tuned"),
        pytest.param("claude-opus-4-6", CLAUDE, id="the last with Anthropic's older vocabulary"),
        pytest.param("claude-sonnet-4-20250514", CLAUDE, id="dated"),
        pytest.param("claude-opus-4-7", CLAUDE_NEW, id="the first with the newer one"),
        pytest.param("claude-sonnet-5", CLAUDE_NEW, id="sonnet 5"),
        pytest.param("Qwen/Qwen3-8B", QWEN, id="with its owner"),
        pytest.param("mistral-large", MISTRAL, id="mistral"),
        pytest.param("my-model", OTHERS, id="unknown"),
    ],
)
def test_the_name_tells_the_vocabulary(model: str, weights: Weights) -> None:
    assert weights_of(model) is weights


def test_nothing_has_no_tokens() -> None:
    assert text_tokens("") == 0


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        pytest.param([], Span(300, 4096), id="no past: from the usual to the limit"),
        pytest.param([5.0] * 7, Span(300, 4096), id="too little past"),
        pytest.param([float(n) for n in range(100, 200, 10)], Span(120, 170), id="the middle half"),
        pytest.param([10.0] * 9 + [1000.0], Span(10, 109), id="the mean is within it"),
        pytest.param([9000.0] * 8, Span(4096, 4096), id="never over the limit"),
    ],
)
def test_reply_tokens_come_from_the_past_or_reach_to_the_limit(past: list[float], expected: Span) -> None:
    assert reply_span(past, 300, 4096) == expected


def test_an_estimate_has_a_cost_if_its_price_is_known() -> None:
    priced = Estimate("m", 2, 1_000_000, Span(0, 500_000), Price(2.0, 8.0, batch=0.5))
    assert priced.cost == Span(2.0, 6.0)
    assert Estimate("m", 2, 1_000_000, Span(0, 500_000), priced.price, batch=True).cost == Span(1.0, 3.0)
    assert Estimate("m", 2, 1_000_000, Span(0, 500_000), None).cost is None

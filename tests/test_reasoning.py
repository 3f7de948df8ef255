"""Reasoning that a reply brings along is split off, in whichever marks."""

import pytest

from harness.reasoning import split_reasoning
from tests.models.asking import ask, request
from tests.servers import Rule, Server

ANSWER = "The Danube."
THOUGHT = "The user wants a river."
MARKED = [
    pytest.param(f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}", id="think"),
    pytest.param(f"{THOUGHT}</think>{ANSWER}", id="opened-in-the-prompt"),
    pytest.param(f"<thinking>{THOUGHT}</thinking>{ANSWER}", id="thinking"),
    pytest.param(f"<thought>{THOUGHT}</thought>{ANSWER}", id="thought"),
    pytest.param(f"<reasoning>{THOUGHT}</reasoning>{ANSWER}", id="reasoning"),
    pytest.param(f"<seed:think>{THOUGHT}</seed:think>{ANSWER}", id="seed"),
    pytest.param(f"[THINK]{THOUGHT}[/THINK]{ANSWER}", id="magistral"),
    pytest.param(f"◁think▷{THOUGHT}◁/think▷{ANSWER}", id="kimi"),
    pytest.param(f"{THOUGHT}◁/think▷{ANSWER}", id="kimi-opened-in-the-prompt"),
    pytest.param(f"<|channel>thought\n{THOUGHT}\n<channel|>{ANSWER}", id="gemma"),
    pytest.param(
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        id="command",
    ),
    pytest.param(
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final"
        f"<|message|>{ANSWER}<|return|>",
        id="gpt-oss",
    ),
    pytest.param(f"analysis{THOUGHT}assistantfinal{ANSWER}", id="gpt-oss-without-special-tokens"),
    pytest.param(f"<think>{THOUGHT}</think><think></think>{ANSWER}", id="two-blocks"),
]


@pytest.mark.parametrize("text", MARKED)
def test_text_and_reasoning_are_split(text: str) -> None:
    assert split_reasoning(text) == (ANSWER, THOUGHT)


@pytest.mark.parametrize(
    "text",
    [
        "<think>\n\n</think>\n\nThe Danube.",
        "<|channel>thought\n<channel|>The Danube.",
        "</think>The Danube.",
    ],
)
def test_an_empty_block_is_taken_off(text: str) -> None:
    assert split_reasoning(text) == (ANSWER, None)


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens, </think> closes.",
        "Write `</think>` at its end.",
        'The end is "</think>".',
        "Analysis shows that assistantfinal is no word.",
        "</think> or </think>",
        "analysis of the river",
    ],
)
def test_marks_that_the_text_is_about_stay(text: str) -> None:
    assert split_reasoning(text) == (text, None)


def test_reasoning_that_the_limit_cut_is_no_text() -> None:
    assert split_reasoning(f"<think>{THOUGHT}", cut=True) == ("", THOUGHT)
    assert split_reasoning(f"<think>{THOUGHT}").text == f"<think>{THOUGHT}"


def test_replies_come_without_it() -> None:
    with Server(Rule(say=f"<think>{THOUGHT}</think>{ANSWER}")) as server:
        reply = ask(server, request("Which river?"))
    assert (reply.text, reply.detail.reasoning) == (ANSWER, THOUGHT)


def test_a_cut_reply_of_reasoning_alone_is_empty() -> None:
    with Server(Rule(say=f"<think>{THOUGHT}", finish="length")) as server:
        reply = ask(server, request("Which river?"))
    assert (reply.text, reply.detail.finish_reason) == ("", "length")
    assert reply.detail.reasoning == THOUGHT

"""Reasoning is told from the reply wherever it comes, and nothing that cannot be stored gets through."""

import pytest

from harness.old.chat.thinking import finish, sendable, split_thinking, spoken, storable
from harness.old.records import FinishReason


@pytest.mark.parametrize(
    ("text", "cut", "said", "thought"),
    [
        pytest.param("four", False, "four", None, id="no tags"),
        pytest.param("  four \n", False, "  four \n", None, id="untouched without tags"),
        pytest.param("<think>2+2</think>\n\nfour", False, "four", "2+2", id="leading"),
        pytest.param("\n <think>\n2+2\n</think>four", False, "four", "2+2", id="after blank space"),
        pytest.param("<think>a</think><think>b</think>four", False, "four", "a\n\nb", id="two in a row"),
        pytest.param("<think>\n\n</think>\n\nfour", False, "four", None, id="empty thought"),
        pytest.param("<think>2+2", True, "", "2+2", id="unclosed and cut"),
        pytest.param("<think>2+2", False, "<think>2+2", None, id="unclosed but not cut"),
        pytest.param("<think>a</think>four", True, "four", "a", id="closed and cut later"),
        pytest.param("<thinking>2+2</thinking>four", False, "four", "2+2", id="thinking"),
        pytest.param("<thought>2+2</thought>four", False, "four", "2+2", id="thought"),
        pytest.param("[THINK]2+2[/THINK]four", False, "four", "2+2", id="in brackets"),
        pytest.param("\u25c1think\u25b72+2\u25c1/think\u25b7four", False, "four", "2+2", id="in triangles"),
        pytest.param("<seed:think>2+2</seed:think>four", False, "four", "2+2", id="with a prefix"),
        pytest.param(
            "<|channel|>analysis<|message|>2+2<|end|><|start|>assistant<|channel|>final<|message|>four",
            False,
            "four",
            "2+2",
            id="channels",
        ),
        pytest.param("2+2</think>four", False, "four", "2+2", id="lone closing tag"),
        pytest.param("</think>\nfour", False, "four", None, id="closing tag first"),
        pytest.param("End it with `</think>` then.", False, "End it with `</think>` then.", None, id="quoted tag"),
        pytest.param("Use <think>x</think>.", False, "Use <think>x</think>.", None, id="tags within the text"),
        pytest.param("a</think>b</think>c", False, "a</think>b</think>c", None, id="two closing tags"),
    ],
)
def test_leading_thoughts_are_split_off(text: str, cut: bool, said: str, thought: str | None) -> None:
    assert split_thinking(text, cut=cut) == (said, thought)


def test_thoughts_from_fields_blocks_and_tags_are_joined_in_order() -> None:
    blocks = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "second"}]},
        {"type": "text", "text": "<think>third</think>four"},
        {"type": "image", "text": 7},
    ]
    assert spoken(blocks, apart=("first", None, 3)) == ("four", "first\n\nsecond\n\nthird")


@pytest.mark.parametrize("content", [None, 5, {"text": "x"}, []])
def test_content_that_is_no_text_is_no_text(content: object) -> None:
    assert spoken(content) == ("", None)


def test_what_no_file_can_hold_is_replaced() -> None:
    assert storable("a\ud800b\0c\U0001f600") == "a\ufffdb\ufffdc\U0001f600"
    assert sendable("a\ud800b\0") == "a\ufffdb\0"


@pytest.mark.parametrize(
    ("reason", "text", "said"),
    [
        pytest.param("stop", "x", "stop", id="a text"),
        pytest.param("stop", " \n", "empty", id="blank"),
        pytest.param("unstated", "", "empty", id="nothing said of the end"),
        pytest.param("length", "", "length", id="cut before the first word"),
        pytest.param("refused", "", "refused", id="refused without a word"),
    ],
)
def test_a_reply_without_text_is_empty_unless_cut_or_refused(
    reason: FinishReason, text: str, said: FinishReason
) -> None:
    assert finish(reason, text) == said

"""Marks of chat templates in the text of replies."""

import pytest

from harness.models.marks import cut_at_mark


@pytest.mark.parametrize(
    ("text", "kept", "mark"),
    [
        ("Paris.<|im_end|>\n<|im_start|>user\nThanks", "Paris.", "<|im_end|>"),
        ("Paris.<|eot_id|>", "Paris.", "<|eot_id|>"),
        ("Paris.<｜end▁of▁sentence｜>User: x", "Paris.", "<｜end▁of▁sentence｜>"),
        ("Paris.</s>\n", "Paris.", "</s>"),
        ("<|im_start|>assistant\nParis.<|im_end|>", "Paris.", "<|im_end|>"),
        ("<|assistant|>\nParis.", "Paris.", "<|assistant|>"),
        ("`<|im_end|>` ends a turn.", "`<|im_end|>` ends a turn.", None),
        ("```\n<|im_end|>\n```\nSo.", "```\n<|im_end|>\n```\nSo.", None),
        ("```\n<|im_end|>", "```\n<|im_end|>", None),
        ("Now <s>9</s>", "Now <s>9</s>", None),
        ("The tag </s> ends it.", "The tag </s> ends it.", None),
        ("f <| x |> g, a < b | c > d", "f <| x |> g, a < b | c > d", None),
        ("<|im_end|>", "<|im_end|>", None),
    ],
)
def test_a_reply_ends_at_a_mark_outside_code(text: str, kept: str, mark: str | None) -> None:
    assert cut_at_mark(text) == (kept, mark)

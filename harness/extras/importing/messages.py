"""Questions and answers in the form that chat APIs have, or as columns of a table.

{"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."},
              {"role": "assistant", "content": "..."}], "id": 7, "category": "math"}
{"question": "...", "answer": "...", "reference": "..."}
{"prompt": ["turn 1", "turn 2"], "prompt_id": 81, "category": "math", "reference": ["..."]}

user → turns       assistant → answers of the model that `model` or --model-id names;
system → the       without one they are the reference. Where the user speaks last, earlier
benchmark's        replies are given, and only the last is written

A content may be a list of parts: texts are joined, reasoning is kept apart, others are refused.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.extras.importing.items import (
    BadRecord,
    Item,
    Source,
    id_of,
    other_fields,
    text_of,
)
from harness.reasoning import join_thoughts

_QUESTION = ("question", "prompt", "instruction", "input", "query")
_ANSWER = ("answer", "response", "output", "completion")
_REFERENCE = ("reference", "target", "ideal", "expected", "gold")
_TEXT_PARTS = ("text", "input_text", "output_text")
_REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking")
_OTHERS = (
    "question_id",
    "prompt_id",
    "id",
    "messages",
    "model",
    "model_id",
    "system",
    "system_prompt",
)


def messages(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, answers and reference of a record."""
    extra: dict[str, Any] = {}
    reasoning: list[str | None] = []
    prompt = record.get("prompt")
    chat = isinstance(prompt, list) and any(isinstance(part, dict) for part in prompt)
    if chat or "messages" in record:
        system, turns, replies, reasoning = conversation(prompt if chat else record["messages"])
        if len(replies) < len(turns):
            extra = {"history": [*replies, None]} if replies else {}
            replies = []
    elif isinstance(prompt, list):
        turns, system, replies = _texts(prompt, "prompt"), "", []
    else:
        turns = [text_of(record, *_QUESTION)]
        system = text_of(record, "system", "system_prompt", default="")
        replies = list(filter(None, [text_of(record, *_ANSWER, default="")]))
    model = source.model or text_of(record, "model", "model_id", default="")
    reference = text_of(record, *_REFERENCE, default="")
    references = [reference] if reference else []
    if isinstance(record.get("reference"), list):  # one for each turn
        references = _texts(record["reference"], "reference")
    return Item(
        question_id=id_of(record, "question_id", "prompt_id", "id"),
        category=text_of(record, "category", "topic", "task", default="general"),
        turns=turns,
        same_turns=bool(model),
        system=system,
        answers={model: replies} if model and replies else {},
        reasoning=reasoning,
        reference=references or (replies if not model else []),
        extra=other_fields(record, *_QUESTION, *_ANSWER, *_REFERENCE, *_OTHERS) | extra,
    )


def _texts(values: Any, name: str) -> list[str]:
    """Return a list of texts, one for each turn."""
    if not all(isinstance(value, str) for value in values):
        raise BadRecord(f"{name} is no list of texts")
    return list(values)


class Conversation(NamedTuple):
    """What the messages of a chat hold."""

    system: str
    turns: list[str]
    replies: list[str]
    """The last may be missing."""
    reasoning: list[str | None]
    """Of each reply."""


def conversation(messages: Any) -> Conversation:
    """Return what messages hold: the system prompt, the user's turns and the replies."""
    if isinstance(messages, str):
        messages = json.loads(messages)
    contents = [_content(message) for message in messages]
    texts = [text for text, _ in contents]
    roles = [message.get("role") for message in messages]
    system, first = "", 0
    if roles[:1] in (["system"], ["developer"]):
        system, texts, roles, first = texts[0], texts[1:], roles[1:], 1
    if not roles or roles != (["user", "assistant"] * len(roles))[: len(roles)]:
        raise BadRecord("messages must begin with the user, and user and assistant must alternate")
    if not all(map(str.strip, texts[::2])):
        raise BadRecord("a message of the user is empty")
    thoughts = [thought for _, thought in contents[first:]]
    return Conversation(system, texts[::2], texts[1::2], thoughts[1::2])


def _content(message: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the text of a message, and the reasoning that came with it."""
    content = message.get("content")
    thoughts = [message.get(name) for name in ("reasoning_content", "reasoning", "thinking")]
    if isinstance(content, list):
        texts = []
        for part in content:
            kind = part.get("type", "text")
            if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif kind in _REASONING_PARTS:
                thoughts += [part.get(name) for name in ("thinking", "reasoning", "text")]
            else:
                text = f"a message holds a part of type {kind!r}; only texts are read"
                raise BadRecord(text)
        content = "".join(texts)
    if not isinstance(content, str):
        raise BadRecord("the content of a message is not a text")
    return content, join_thoughts([text for text in thoughts if isinstance(text, str)])

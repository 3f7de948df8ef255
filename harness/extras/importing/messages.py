"""Questions and answers in the form that chat APIs have, or as columns of a table.

{"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."},
              {"role": "assistant", "content": "..."}], "id": 7, "category": "math"}
{"question": "...", "answer": "...", "reference": "..."}

user → turns       assistant → answers of the model that `model` or --model-id names;
system → the       without one they are the reference. Where the user speaks last, earlier
benchmark's        replies are given, and only the last is written
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import (
    BadRecord,
    Item,
    Source,
    id_of,
    other_fields,
    text_of,
)

_QUESTION = ("question", "prompt", "instruction", "input", "query")
_ANSWER = ("answer", "response", "output", "completion")
_REFERENCE = ("reference", "target", "ideal", "expected", "gold")
_OTHERS = ("question_id", "id", "messages", "model", "model_id", "system", "system_prompt")


def messages(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, answers and reference of a record."""
    extra: dict[str, Any] = {}
    if "messages" in record:
        system, turns, replies = conversation(record["messages"])
        if len(replies) < len(turns):
            extra = {"history": [*replies, None]} if replies else {}
            replies = []
    else:
        turns = [text_of(record, *_QUESTION)]
        system = text_of(record, "system", "system_prompt", default="")
        replies = list(filter(None, [text_of(record, *_ANSWER, default="")]))
    model = source.model or text_of(record, "model", "model_id", default="")
    reference = text_of(record, *_REFERENCE, default="")
    return Item(
        question_id=id_of(record, "question_id", "id"),
        category=text_of(record, "category", "topic", "task", default="general"),
        turns=turns,
        same_turns=bool(model),
        system=system,
        answers={model: replies} if model and replies else {},
        reference=[reference] if reference else replies if not model else [],
        extra=other_fields(record, *_QUESTION, *_ANSWER, *_REFERENCE, *_OTHERS) | extra,
    )


def conversation(messages: Any) -> tuple[str, list[str], list[str]]:
    """Return the system prompt, the user's turns and the replies; the last may be missing."""
    if isinstance(messages, str):
        messages = json.loads(messages)
    texts = [_content(message) for message in messages]
    roles = [message.get("role") for message in messages]
    system = ""
    if roles[:1] in (["system"], ["developer"]):
        system, texts, roles = texts[0], texts[1:], roles[1:]
    if not roles or roles != (["user", "assistant"] * len(roles))[: len(roles)]:
        raise BadRecord("messages must begin with the user, and user and assistant must alternate")
    if not all(map(str.strip, texts[::2])):
        raise BadRecord("a message of the user is empty")
    return system, texts[::2], texts[1::2]


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content)
    if not isinstance(content, str):
        raise BadRecord("the content of a message is not a text")
    return content

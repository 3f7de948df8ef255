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
    optional,
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
        system, turns, replies = conversation(record["messages"], "messages")
        if len(replies) < len(turns):
            extra = {"history": [*replies, None]} if replies else {}
            replies = []
    else:
        turns = [text_of(record, *_QUESTION)]
        system = optional(record, "system", "system_prompt")
        replies = list(filter(None, [optional(record, *_ANSWER)]))
    model = source.model or optional(record, "model", "model_id")
    reference = optional(record, *_REFERENCE)
    return Item(
        question_id=id_of(record, "question_id", "id"),
        category=optional(record, "category", "topic", "task", default="general"),
        turns=turns,
        same_turns=bool(model),
        system=system,
        answers={model: replies} if model and replies else {},
        reference=[reference] if reference else replies if not model else [],
        extra=other_fields(record, *_QUESTION, *_ANSWER, *_REFERENCE, *_OTHERS) | extra,
    )


def conversation(value: Any, name: str) -> tuple[str, list[str], list[str]]:
    """Return the system prompt, the user's turns and the replies; the last may be missing."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise BadRecord(f"{name} is not valid JSON: {error}") from None
    texts = [_content(message, name) for message in value]
    roles = [message.get("role") for message in value]
    system = ""
    if roles[:1] in (["system"], ["developer"]):
        system, texts, roles = texts[0], texts[1:], roles[1:]
    if not roles or roles != (["user", "assistant"] * len(roles))[: len(roles)]:
        raise BadRecord(f"{name} must begin with the user, and user and assistant must alternate")
    if not all(map(str.strip, texts[::2])):
        raise BadRecord(f"{name} contains an empty message of the user")
    return system, texts[::2], texts[1::2]


def _content(message: Mapping[str, Any], name: str) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise BadRecord(f"{name} contains a message whose content is not a text")
    return "".join(texts)

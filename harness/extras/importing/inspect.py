"""Inspect's logs: the conversations of a model, one epoch after the other.

    {"id": 7, "epoch": 1, "target": "...", "metadata": {"category": "math"},
     "messages": [{"role": "system", ...}, {"role": "user", ...}, {"role": "assistant", ...}],
     "eval": {"model": "openai/gpt-4o", "task": "my_task", ...}}       (added by records.py)

messages → turns and answers of the eval's model; epoch N is its Nth conversation
target → reference      metadata.category, else the task → category

Scores are not read: they are of other scales and judges. Samples with tools or that failed are left
out. Source: the logs of inspect_ai 0.3.285.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, id_of, text_of
from harness.extras.importing.messages import conversation

_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty")


def inspect(record: Mapping[str, Any], source: Source) -> Item:
    """Return the conversation of a sample."""
    if record.get("error"):
        raise BadRecord("the sample ended with an error")
    spec, metadata = record["eval"], record.get("metadata") or {}
    model = source.model or text_of(spec, "model")
    attachments = record.get("attachments") or {}
    messages = [_with_attachments(message, attachments) for message in record["messages"]]
    if any(message.get("role") == "tool" for message in messages):
        raise BadRecord("the conversation uses tools")
    system, turns, replies, reasoning = conversation(messages)
    if len(replies) < len(turns):
        raise BadRecord("the last turn has no reply")
    target = record.get("target") or []
    config = spec.get("model_generate_config") or {}
    return Item(
        question_id=id_of(record, "id"),
        category=text_of(metadata, "category", default=text_of(spec, "task", default="general")),
        turns=turns,
        system=system,
        answers={model: replies},
        reasoning=reasoning,
        choice=int(record.get("epoch") or 1) - 1,
        sampling={name: config[name] for name in _SAMPLING if config.get(name) is not None},
        reference=[target] if isinstance(target, str) else list(target),
    )


def _with_attachments(message: Mapping[str, Any], attachments: Mapping[str, str]) -> Any:
    """Return a message with the long texts that a log keeps apart."""

    def whole(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("attachment://"):
            return attachments[value.removeprefix("attachment://")]
        if isinstance(value, list):
            return [whole(part) for part in value]
        if isinstance(value, dict):
            return {name: whole(part) for name, part in value.items()}
        return value

    return whole(dict(message))

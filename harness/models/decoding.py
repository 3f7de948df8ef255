"""The body of an answer → its JSON: whatever content type it states, also as an event stream.

Some gateways always stream, whatever `stream` says, and some send JSON as `text/plain`. A stream is
put together to what the same endpoint would have sent at once.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.models.errors import Problem

_BROKEN = "a stream that broke off before its end"
_STREAM = re.compile(rb"\s*(?:data|event|id|retry)?:")
_PARTS = ("content", "reasoning_content", "reasoning", "refusal")
"""The texts of a message that a stream sends piece by piece."""


def decoded(body: bytes) -> Any:
    """Return the JSON of a body; of a web page its text.

    Raises:
        ValueError: it is neither.
        Problem: a stream that broke off.
    """
    body = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body[:1] == b"<":
        return body.decode("utf-8", "replace")
    if _STREAM.match(body):
        return _put_together(list(_events(body.decode("utf-8", "replace"))))
    return json.loads(body)


def _events(text: str) -> Iterator[Any]:
    """Yield the JSON of each event of a stream."""
    for event in re.split(r"\r\n\r\n|\n\n|\r\r", text):
        lines = [line for line in re.split(r"\r\n|\n|\r", event) if line.startswith("data:")]
        data = "\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines)
        if data.strip() not in ("", "[DONE]"):
            yield json.loads(data)


def _put_together(events: list[Any]) -> Any:
    """Return the answer that the events of a stream make, in whichever protocol."""
    events = [event for event in events if isinstance(event, dict)]
    if fault := next((event for event in events if event.get("error")), None):
        return fault
    kinds = {str(event.get("type")) for event in events}
    if "message_start" in kinds:
        return _message(events)
    if any(kind.startswith("response.") for kind in kinds):
        last = events[-1].get("response")
        if not isinstance(last, dict) or last.get("status") == "in_progress":
            raise Problem("closed connection", _BROKEN)
        return last
    return _completion(events)


def _completion(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a chat completion, or a completion, from its chunks."""
    answer: dict[str, Any] = {}
    message = dict.fromkeys(_PARTS, "")
    said, finish = "", None
    logprobs: list[Any] = []
    for event in events:
        answer |= {name: value for name, value in event.items() if value and name != "choices"}
        choice = next(iter(list_at(event, "choices")), None)
        part = at(choice, "delta") or at(choice, "message") or {}
        for name in _PARTS:
            if name == "content" and isinstance(part.get(name), list):
                text, thoughts = text_of_blocks(part[name])
                message["reasoning_content"] += "".join(thoughts)
            else:
                text = text_at(part, name)
            message[name] += text
        said += text_at(choice, "text")
        logprobs += list_at(choice, "logprobs", "content")
        finish = at(choice, "finish_reason") or finish
    if finish is None:
        if any(event.get("choices") for event in events) or not events:
            raise Problem("closed connection", _BROKEN)
        return answer  # no choice at all: a filtered prompt, or no reply
    whole = {"message": message, "text": said, "finish_reason": finish}
    return {**answer, "choices": [{**whole, "logprobs": {"content": logprobs}}]}


def _message(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a message of Anthropic's protocol from its events."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        match event.get("type"):
            case "message_start":
                message = dict(at(event, "message") or {})
            case "content_block_start":
                blocks[event.get("index", 0)] = dict(at(event, "content_block") or {})
            case "content_block_delta":
                block = blocks.setdefault(event.get("index", 0), {"type": "text"})
                for name in ("text", "thinking"):
                    if piece := text_at(event, "delta", name):
                        block[name] = block.get(name, "") + piece
            case "message_delta":
                usage = {**(message.get("usage") or {}), **(at(event, "usage") or {})}
                message |= {**(at(event, "delta") or {}), "usage": usage}
    if not message.get("stop_reason"):
        raise Problem("closed connection", _BROKEN)
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


# Looking into JSON


def at(value: Any, *names: str) -> Any:
    """Return what stands at these nested names of a JSON value; None if there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *names: str) -> str:
    """Return the text at these nested names; empty if there is none."""
    text = at(value, *names)
    return text if isinstance(text, str) else ""


def list_at(value: Any, *names: str) -> list[Any]:
    """Return the list at these nested names; empty if there is none."""
    items = at(value, *names)
    return items if isinstance(items, list) else []


def text_of_blocks(content: str | list[Any] | None) -> tuple[str, list[str]]:
    """Return text and reasoning of a message's content: a string, blocks, or nothing."""
    if not isinstance(content, list):
        return content or "", []
    text = "".join(text_at(block, "text") for block in content if at(block, "type") == "text")
    thoughts = [
        text_at(block, "thinking") or text_of_blocks(list_at(block, "thinking"))[0]
        for block in content
        if at(block, "type") == "thinking"
    ]
    return text, thoughts

"""Splits a reply into text and reasoning, and cleans texts so that they can be stored and sent.

"<think>2 and 2…</think>4"   ─▶  text "4",  reasoning "2 and 2…"
"2 and 2…</think>4"          ─▶  the same: some servers open the tag in the prompt
"<think>2 and 2", cut        ─▶  text "",   reasoning "2 and 2"
"""

import re
from typing import Any, NamedTuple

from harness.old.chat.body import at, list_at, text_at
from harness.old.records import FinishReason

NO_REPLY = "(no reply)"
"""Sent instead of an earlier reply that was empty, if a protocol takes no empty message."""

_OPEN, _CLOSE = "<think>", "</think>"
_TAGS = (
    (_OPEN, _CLOSE),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
)
"""How families of models mark reasoning where their server passes it on as part of the text."""
_UNSTORABLE = re.compile("[\ud800-\udfff\0]")
_UNSENDABLE = re.compile("[\ud800-\udfff]")


class Spoken(NamedTuple):
    """A reply's text, and the reasoning that came with it (None if there was none)."""

    text: str
    reasoning: str | None


def split_thinking(text: str, *, cut: bool) -> Spoken:
    """Return the text without the blocks of reasoning at its start, and their contents.

    `cut` says whether the limit on tokens ended the text: then a block may lack its closing tag.

    Tags anywhere else are part of the text: a model may well be asked about them.
    """
    thoughts: list[str] = []
    rest = text
    while (tags := next((pair for pair in _TAGS if rest.lstrip().startswith(pair[0])), None)) is not None:
        inside, closed, after = rest.lstrip()[len(tags[0]) :].partition(tags[1])
        if not closed and not cut:
            break
        thoughts.append(inside)
        rest = after.lstrip()
    if not thoughts and _has_lone_close(text):
        before, _, rest = text.partition(_CLOSE)
        thoughts.append(before)
        rest = rest.lstrip()
    return Spoken(rest, _joined(thoughts)) if thoughts else Spoken(text, None)


def spoken(content: Any, *, apart: tuple[Any, ...] = (), cut: bool = False) -> Spoken:
    """Return text and reasoning of a message's content: a string, a list of blocks, or nothing.

    `apart` is reasoning from separate fields; anything but text in it is ignored.
    """
    thoughts = [thought for thought in apart if isinstance(thought, str)]
    if isinstance(content, list):
        thoughts += [_thought(block) for block in content if at(block, "type") == "thinking"]
        content = _text(content)
    text, leading = split_thinking(content if isinstance(content, str) else "", cut=cut)
    return Spoken(storable(text), _joined([storable(thought) for thought in (*thoughts, leading or "")]))


def finish(reason: FinishReason, text: str) -> FinishReason:
    """Return the finish reason, which is `empty` for a reply without text that was neither cut nor refused."""
    return "empty" if not text.strip() and reason in ("stop", "unstated") else reason


def storable(text: str) -> str:
    """Return the text with NUL and lone surrogates, which no UTF-8 file can hold, replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def sendable(text: str) -> str:
    """Return the text with lone surrogates, which cannot be encoded, replaced by U+FFFD."""
    return _UNSENDABLE.sub("\ufffd", text)


def _has_lone_close(text: str) -> bool:
    """Return whether one `</think>` stands without its opening tag, and not in quotes or backticks."""
    before, closed, after = text.partition(_CLOSE)
    if not closed or _OPEN in text or _CLOSE in after:
        return False
    return not (before[-1:] and before[-1] in "`'\"" and before[-1] == after[:1])


def _joined(thoughts: list[str]) -> str | None:
    """Return the thoughts as one text; None if all are blank."""
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip()) or None


def _text(blocks: list[Any]) -> str:
    """Return the text of all text blocks."""
    return "".join(text_at(block, "text") for block in blocks if at(block, "type") == "text")


def _thought(block: Any) -> str:
    """Return the contents of a thinking block: a string, or blocks of text again."""
    return text_at(block, "thinking") or _text(list_at(block, "thinking"))

"""Splits a reply into its text and the reasoning that came along in it, when made or when read.

    "<think>2 and 2…</think>4"                    text "4", reasoning "2 and 2…"
    "2 and 2…</think>4"                           the same: some servers open the mark in the prompt
    "<|channel>thought\n2 and 2…\n<channel|>4"    the same
    "<think>2 and 2", cut                         text "", reasoning "2 and 2"

Marks anywhere but at the start are part of the text: a model may well be asked about them. For
local weights, split before special tokens are dropped: several marks are special tokens.
The marks are in `reasoning.toml`.
"""

import operator
import pathlib
import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from harness.types import Answer, Choice, Detail

_TABLE = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes())
_OPENING = re.compile(rf"\s*(?:{'|'.join('({opening})'.format(**m) for m in _TABLE['marks'])})")
_CLOSINGS = [re.compile(mark["closing"]) for mark in _TABLE["marks"]]
"""By the group of `_OPENING`."""
_WRAPPER, _WRAPPER_END = (
    re.compile(_TABLE["expressions"][name]) for name in ("wrapper", "wrapper_end")
)
_LONE: list[str] = _TABLE["texts"]["lone"]


class Split(NamedTuple):
    """A reply's text, and its reasoning (None if there is none)."""

    text: str
    reasoning: str | None


def split_reasoning(text: str, *, cut: bool = False) -> Split:
    """Return the text without the blocks of reasoning at its start, and their contents.

    `cut`: the limit on tokens ended the text, so a block may lack its end.

    >>> split_reasoning("<think>Paris or Lyon?</think>Paris.")
    Split(text='Paris.', reasoning='Paris or Lyon?')
    """
    thoughts: list[str] = []
    rest = text
    while block := _first_block(rest, cut):
        thought, rest = block
        thoughts.append(thought)
    if not thoughts and (block := _before_lone_end(text)):
        thought, rest = block
        thoughts.append(thought)
    if opening := _WRAPPER.match(rest):
        thoughts.append("")
        rest = _WRAPPER_END.sub("", rest[opening.end() :])
    if not thoughts:
        return Split(text, None)
    return Split(rest.lstrip(), join_thoughts(thoughts))


def split_answer(answer: Answer) -> Answer:
    """Return an answer of another tool with the reasoning apart from its texts.

    Our own answers (`made_from`), and those that hold none, are returned as they are. What a mark
    opens and nothing ends is reasoning too, unless the row says that the reply was not cut.
    """
    if answer.made_from is not None:
        return answer
    choices = list(map(_split_choice, answer.choices))
    if all(map(operator.is_, choices, answer.choices)):
        return answer
    return replace(answer, choices=choices)


def _split_choice(choice: Choice) -> Choice:
    found: dict[int, Split] = {}
    for at, text in enumerate(choice.turns):
        detail = choice.detail(at + 1)
        if detail.given is None:
            split = split_reasoning(text, cut=detail.finish_reason in ("unstated", "length"))
            if split.text != text:
                found[at] = split
    if not found:
        return choice
    details = [*choice.details, *(Detail() for _ in choice.turns[len(choice.details) :])]
    turns = list(choice.turns)
    for at, split in found.items():
        thoughts = filter(None, (details[at].reasoning, split.reasoning))
        turns[at] = split.text
        details[at] = replace(details[at], reasoning=join_thoughts(list(thoughts)))
    return replace(choice, turns=turns, details=details)


def join_thoughts(thoughts: list[str]) -> str | None:
    """Return several pieces of reasoning as one text; None if all are blank."""
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip()) or None


def _first_block(text: str, cut: bool) -> tuple[str, str] | None:
    """Return the reasoning at the start of a text, and what follows it."""
    start = _OPENING.match(text)
    if start is None:
        return None
    assert start.lastindex is not None
    if end := _CLOSINGS[start.lastindex - 1].search(text, start.end()):
        return text[start.end() : end.start()], text[end.end() :]
    return (text[start.end() :], "") if cut else None


def _before_lone_end(text: str) -> tuple[str, str] | None:
    """Return what stands before the one end of reasoning without a beginning, and what follows.

    An end that is quoted is none.
    """
    # One character is looked for much faster than several.
    ends = [end for end in _LONE if end[0] in text and end in text]
    if len(ends) != 1 or text.count(ends[0]) != 1:
        return None
    before, _, after = text.partition(ends[0])
    opening = ends[0].replace("/", "").replace("END", "START")
    quoted = before[-1:] in set("`'\"") and before[-1:] == after[:1]
    return None if quoted or opening in before else (before, after)

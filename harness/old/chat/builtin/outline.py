"""`builtin/outline`: an organised reply out of the words of the conversation.

It restates what is asked, lists the figures and the key terms, and in later turns begins with its earlier reply. It
knows nothing about the world and says so.
"""

import itertools
import re
from collections.abc import Iterator

from harness.old.chat.builtin.conversation import Conversation, conversation
from harness.old.chat.builtin.tokens import HAN, STOP_WORDS, cut_tokens, prose, sentences
from harness.old.records import Reply, Request

_ASKS = re.compile(r"[?？]|^(?:please|write|give|explain|describe|list|make|find)\b|请", re.IGNORECASE)
_FIGURE = re.compile(r"\d[\d.,:]*(?<=\d)(?:\s?[%°]C?)?(?: [a-z]{1,12}\b|[\u4e00-\u9fff]{1,2})?")
_TERM = re.compile(rf"[A-Za-z][A-Za-z'-]{{3,}}|[{HAN}]{{2,4}}")
_HAN_STOPS = re.compile("[{}]".format("".join(word for word in STOP_WORDS if re.fullmatch(f"[{HAN}]", word))))
_MOST_TERMS = 12
_MOST_QUOTED = 40
"""Tokens of a quotation."""


def outline(request: Request) -> Reply:
    """Return an organised reply to the last message, made from the whole conversation."""
    return Reply("\n\n".join(sections(conversation(request))))


def sections(talk: Conversation) -> Iterator[str]:
    """Yield the sections of the reply, each under its heading; one with nothing in it is left out."""
    frame = talk.words(__file__)
    if talk.replies:
        yield frame.before.format(_quoted(max(sentences(talk.replies[-1]), key=len, default="")))
    yield frame.asked.format(_quoted(_request_in(talk.asked[-1])))
    if figures := list(dict.fromkeys(_FIGURE.findall(prose(talk.asked[-1])))):
        yield frame.figures.format(frame.comma.join(figures[:6]))
    if terms := key_terms(talk):
        pairs = (pair.format(*two) for pair, two in zip(frame.pairs, itertools.pairwise(terms), strict=False))
        yield "\n".join([frame.terms.format(frame.comma.join(terms)), *pairs])
    yield frame.missing


def key_terms(talk: Conversation) -> tuple[str, ...]:
    """Return the words with meaning in the user's messages: the current message's first, of each the longest first."""
    found: dict[str, str] = {}
    for text in reversed(talk.asked):
        candidates = _TERM.findall(_HAN_STOPS.sub(" ", prose(text)))
        for word in sorted(candidates, key=len, reverse=True):
            if word.lower() not in STOP_WORDS:
                found.setdefault(word.lower(), word)
    return tuple(found.values())[:_MOST_TERMS]


def _request_in(text: str) -> str:
    """Return the sentence that asks for something, the last such; failing that, the first sentence."""
    found = sentences(text)
    return ([sentence for sentence in found if _ASKS.search(sentence)] or found[:1] or ("",))[-1]


def _quoted(text: str) -> str:
    """Return the beginning of a text, without marks that would close the quotation or format it."""
    return cut_tokens(re.sub(r'["“”*`]', "", text), _MOST_QUOTED)

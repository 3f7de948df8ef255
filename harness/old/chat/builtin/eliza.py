"""`builtin/eliza`: pattern replies after the idea of Weizenbaum's ELIZA (1966), in words of our own.

The first matching patterns of a list decide; the captured text is repeated with first and second person exchanged;
things that the user called "my ..." are remembered, and mentioned in later turns. It understands nothing.
"""

import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

from harness.old.chat.builtin.conversation import Conversation, conversation
from harness.old.records import Reply, Request

_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$)|[\"()\n，。！？；：“”（）]")
_LONGEST_ECHO = 80
"""Characters."""


def eliza(request: Request) -> Reply:
    """Return a pattern's reply to the last message, with what earlier ones left in memory."""
    return Reply(respond(conversation(request)))


def respond(talk: Conversation) -> str:
    """Return ELIZA's reply to the last message of a conversation: at most two sentences, none used before."""
    script, turn = talk.words(__file__), len(talk.asked) - 1
    matched, recalled = list(_matches(talk.asked[-1], script, turn)), list(_recalled(talk.asked[:-1], script))
    fitting = _fresh([*matched[:1], *recalled[-1:], *matched[1:]], talk) or _fresh(script.rest, talk)[:1]
    return str(script.between.join(fitting[:2] or script.rest[:1]))


def _fresh(replies: Sequence[str], talk: Conversation) -> list[str]:
    return [reply for reply in replies if all(reply not in earlier for earlier in talk.replies)]


def _matches(text: str, script: SimpleNamespace, turn: int) -> Iterator[str]:
    """Yield a reply for every pattern that matches a text; one that would repeat too much repeats nothing."""
    for pattern, replies in script.rules.items():
        if match := re.search(pattern, text, re.IGNORECASE):
            caught = exchanged(match.group(1), script) if match.groups() else ""
            fitting = [reply for reply in replies if caught or "{}" not in reply]
            if fitting:
                yield fitting[turn % len(fitting)].replace("{}", caught)


def exchanged(text: str, script: SimpleNamespace) -> str:
    """Return a clause with first and second person exchanged; nothing if it is too long to repeat."""
    clause = _CLAUSE_END.split(text.replace("`", "").replace("\u2019", "'").strip())[0].strip()
    back = re.sub(script.word, lambda word: script.persons.get(word[0].lower(), word[0]), clause)
    return back if len(back) <= _LONGEST_ECHO else ""


def _recalled(earlier: tuple[str, ...], script: SimpleNamespace) -> Iterator[str]:
    """Yield a sentence about each thing that the user called their own in an earlier turn."""
    for text in earlier:
        for match in re.finditer(script.mine, text, re.IGNORECASE):
            yield script.recall.format(match.group(1))

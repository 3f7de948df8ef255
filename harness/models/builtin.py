"""Built-in chat models: no key, no network, no weights; deterministic, and they say what they are.

builtin/reference   replies with the reference answers: the ceiling
builtin/outline     arranges the words of the conversation: between
builtin/eliza       reflects the user's words by patterns: the floor
builtin/user        plays the user of questions that have one; does not answer questions
"""

import asyncio
import functools
import itertools
import pathlib
import random
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from harness import registry
from harness.errors import UsageError
from harness.models.builtin_text import (
    HAN,
    STOP_WORDS,
    count_tokens,
    cut_tokens,
    is_chinese,
    prose,
    sentences,
)
from harness.models.endpoint import ChatModel, Endpoint
from harness.types import Detail, Finish, Reply, Request, Usage, User


class Builtin:
    """A chat model whose reply is a function of the request."""

    def __init__(self, name: str, respond: Callable[[Request], Reply]) -> None:
        self.name = name
        self._respond = respond

    async def reply(self, request: Request) -> Reply:
        """Return the reply, cut at the limit; tokens are an estimate (`count_tokens`)."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        reply = self._respond(request)
        limit = request.sampling.max_tokens
        text = reply.text if limit is None else cut_tokens(reply.text, limit)
        finish: Finish = "length" if text != reply.text else "stop" if text.strip() else "empty"
        usage = Usage(
            prompt_tokens=sum(count_tokens(message.content) for message in request.messages),
            completion_tokens=count_tokens(text),
        )
        detail = replace(
            reply.detail,
            finish_reason=finish,
            usage=usage,
            seconds=time.perf_counter() - started,
            provider_model=self.name,
        )
        return replace(reply, text=text, detail=detail)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the built-in chat model of an endpoint."""
    return Builtin(endpoint.model, _MODELS[endpoint.model])


@dataclass(frozen=True)
class Conversation:
    """A chat from the model's side."""

    asked: tuple[str, ...]
    """Every user message, the current one last."""
    replies: tuple[str, ...]
    """The model's earlier replies."""

    def phrases(self, model: str) -> SimpleNamespace:
        """Return a model's phrases in the language of the current message."""
        language = "chinese" if is_chinese(self.asked[-1]) else "english"
        return SimpleNamespace(**_phrases()[model][language])


@functools.cache
def _phrases() -> dict[str, dict[str, dict[str, Any]]]:
    path = pathlib.Path(__file__).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _conversation(request: Request) -> Conversation:
    asked = tuple(m.content for m in request.messages if m.role == "user")
    replies = tuple(m.content for m in request.messages if m.role == "assistant")
    return Conversation(asked or ("",), replies)


# builtin/reference


def reference(request: Request) -> Reply:
    """Return the reference answer of the turn; without one, the reply of `builtin/outline`."""
    facts = request.facts
    if facts and facts.reference and len(facts.reference) >= facts.turn:
        return Reply(text=facts.reference[facts.turn - 1])
    note = "no reference answer for this turn: answered as builtin/outline"
    return Reply(text=outline(request).text, detail=Detail(note=note))


# builtin/outline: it knows nothing about the world and says so

_ASKS = re.compile(
    r"[?？]|^(?:please|write|give|explain|describe|list|make|find)\b|请", re.IGNORECASE
)
_FIGURE = re.compile(
    r"\d[\d.,:]*(?<=\d)(?:\s?[%°]C?)?(?: [a-z]{1,12}\b|[\u4e00-\u9fff]{1,2})?",
)
_TERM = re.compile(rf"[A-Za-z][A-Za-z'-]{{3,}}|[{HAN}]{{2,4}}")
_HAN_STOPS = re.compile(
    "[{}]".format("".join(word for word in STOP_WORDS if re.fullmatch(f"[{HAN}]", word)))
)
_MOST_TERMS = 12
_MOST_QUOTED = 40
"""Tokens of a quotation."""


def outline(request: Request) -> Reply:
    """Return an organised reply to the last message, out of the words of the conversation."""
    return Reply(text="\n\n".join(_sections(_conversation(request))))


def _sections(talk: Conversation) -> Iterator[str]:
    """Yield the sections of the reply; one with nothing in it is left out."""
    frame = talk.phrases("outline")
    if talk.replies:
        longest = max(sentences(talk.replies[-1]), key=len, default="")
        yield frame.before.format(_quoted(longest))
    yield frame.asked.format(_quoted(_request_in(talk.asked[-1])))
    if figures := list(dict.fromkeys(_FIGURE.findall(prose(talk.asked[-1])))):
        yield frame.figures.format(frame.comma.join(figures[:6]))
    if terms := _key_terms(talk):
        couples = zip(frame.pairs, itertools.pairwise(terms), strict=False)
        pairs = [pair.format(*two) for pair, two in couples]
        yield "\n".join([frame.terms.format(frame.comma.join(terms)), *pairs])
    yield frame.missing


def _key_terms(talk: Conversation) -> list[str]:
    """Return the words with meaning: the current message's first, of each the longest first."""
    found: dict[str, str] = {}
    for text in reversed(talk.asked):
        candidates = _TERM.findall(_HAN_STOPS.sub(" ", prose(text)))
        for word in sorted(candidates, key=len, reverse=True):
            if word.lower() not in STOP_WORDS:
                found.setdefault(word.lower(), word)
    return list(found.values())[:_MOST_TERMS]


def _request_in(text: str) -> str:
    """Return the last sentence that asks for something, else the first sentence."""
    found = sentences(text)
    return ([each for each in found if _ASKS.search(each)] or [*found[:1]] or [""])[-1]


def _quoted(text: str) -> str:
    """Return the beginning of a text, without marks that would end the quotation."""
    return cut_tokens(re.sub(r'["“”*`]', "", text), _MOST_QUOTED)


# builtin/eliza, after Weizenbaum's ELIZA (1966), in words of our own

_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$)|[\"()\n，。！？；：“”（）]")
_LONGEST_ECHO = 80
"""Characters."""


def eliza(request: Request) -> Reply:
    """Return at most two sentences, none used before: patterns, and what earlier turns left."""
    talk = _conversation(request)
    script = talk.phrases("eliza")
    matched = list(_matches(talk.asked[-1], script, turn=len(talk.asked) - 1))
    recalled = [
        script.recall.format(match.group(1))
        for text in talk.asked[:-1]
        for match in re.finditer(script.mine, text, re.IGNORECASE)
    ]
    fitting = _unused([*matched[:1], *recalled[-1:], *matched[1:]], talk)
    fitting = fitting or _unused(script.rest, talk)[:1]
    return Reply(text=script.between.join(fitting[:2] or script.rest[:1]))


def _unused(replies: Sequence[str], talk: Conversation) -> list[str]:
    return [reply for reply in replies if all(reply not in earlier for earlier in talk.replies)]


def _matches(text: str, script: SimpleNamespace, turn: int) -> Iterator[str]:
    """Yield a reply for each pattern that matches a text."""
    for pattern, replies in script.rules.items():
        if match := re.search(pattern, text, re.IGNORECASE):
            caught = _exchanged(match.group(1), script) if match.groups() else ""
            fitting = [reply for reply in replies if caught or "{}" not in reply]
            if fitting:
                yield fitting[turn % len(fitting)].replace("{}", caught)


def _exchanged(text: str, script: SimpleNamespace) -> str:
    """Return a clause with first and second person exchanged; nothing if it is too long."""
    clause = _CLAUSE_END.split(text.replace("`", "").replace("\u2019", "'").strip())[0].strip()
    back = re.sub(script.word, lambda word: script.persons.get(word[0].lower(), word[0]), clause)
    return back if len(back) <= _LONGEST_ECHO else ""


# builtin/user

_ASK = (
    "Could you put all of that together for me?",
    "What would you suggest, with all that I have told you?",
)
_MORE = (
    "That is not quite what I need yet.",
    "I still miss something there; could you look again?",
)
_THANKS = ("Thank you, that is all I need.", "Perfect, thanks a lot.")


def user(request: Request) -> Reply:
    """Return the next message of the user that a question describes.

    It first tells the facts that share most words with the assistant's last reply, in another order
    with another seed, and ends once the replies passed each of `needs`, or all facts are told.

    Raises:
        UsageError: the question has no user to play.
    """
    facts = request.facts
    played = None if facts is None else facts.question.user
    if facts is None or played is None:
        raise UsageError("builtin/user plays the user of questions that have one, and answers none")
    drawn = random.Random(f"{facts.question.question_id} {request.sampling.seed or 0}")
    replies = facts.answers[0] if facts.answers else []
    if not replies:
        return Reply(text="Hello. I would like some help with something, if you have a minute.")
    said = [message.content for message in request.messages if message.role == "assistant"]
    untold = [fact for fact in played.knows if not any(fact in message for message in said)]
    if _is_content(played, untold, replies):
        return Reply(text=f"{drawn.choice(_THANKS)} {facts.form}")
    if not untold:
        asked = any(ask in message for ask in _ASK for message in said)
        return Reply(text=drawn.choice(_MORE if asked else _ASK))
    drawn.shuffle(untold)
    asked_for = set(_long_words(replies[-1]))
    untold.sort(key=lambda fact: -len(asked_for & set(_long_words(fact))))
    return Reply(text=" ".join(untold[: 1 + drawn.randrange(2)]))


def _is_content(played: User, untold: list[str], replies: list[str]) -> bool:
    if not played.needs:
        return not untold
    all_pass: Callable[..., bool] = registry.find("check", "all_pass")
    return all_pass(played.needs, replies)


def _long_words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3]


_MODELS = {
    "builtin/reference": reference,
    "builtin/outline": outline,
    "builtin/eliza": eliza,
    "builtin/user": user,
}

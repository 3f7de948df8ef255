"""Built-in chat models: no key, no network, no weights; deterministic, and they say what they are.

builtin/reference   replies with the reference answers: the ceiling
builtin/outline     arranges the words of the conversation: between
builtin/eliza       reflects the user's words by patterns: the floor
builtin/user        plays the user of questions that have one; does not answer questions
"""

import asyncio
import itertools
import pathlib
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
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
from harness.types import Detail, Finish, Reply, Request, Usage


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


_PHRASES: dict[str, Any] = msgspec.toml.decode(
    pathlib.Path(__file__).with_suffix(".toml").read_bytes()
)


def _phrases_for(model: str, text: str) -> dict[str, Any]:
    """Return a model's phrases in the language of a text."""
    phrases: dict[str, Any] = _PHRASES[model]["chinese" if is_chinese(text) else "english"]
    return phrases


def _texts(request: Request, role: str) -> list[str]:
    return [message.content for message in request.messages if message.role == role]


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
    """Return an organised reply to the last message, out of the words of the conversation.

    It has a section for the earlier reply, the request, its figures and its words with meaning; one
    with nothing in it is left out.
    """
    questions, replies = _texts(request, "user") or [""], _texts(request, "assistant")
    frame = _phrases_for("outline", questions[-1])
    sections = []
    if replies:
        longest = max(sentences(replies[-1]), key=len, default="")
        sections.append(frame["before"].format(_quoted(longest)))
    spoken = sentences(questions[-1])
    asking = [sentence for sentence in spoken if _ASKS.search(sentence)]
    sections.append(frame["asked"].format(_quoted((asking or [*spoken[:1]] or [""])[-1])))
    if figures := list(dict.fromkeys(_FIGURE.findall(prose(questions[-1])))):
        sections.append(frame["figures"].format(frame["comma"].join(figures[:6])))
    if terms := _key_terms(questions):
        couples = zip(frame["pairs"], itertools.pairwise(terms), strict=False)
        pairs = [pair.format(*two) for pair, two in couples]
        sections.append("\n".join([frame["terms"].format(frame["comma"].join(terms)), *pairs]))
    return Reply(text="\n\n".join([*sections, frame["missing"]]))


def _key_terms(questions: list[str]) -> list[str]:
    """Return the words with meaning: the last message's first, of each the longest first."""
    terms: dict[str, str] = {}
    for text in reversed(questions):
        candidates = _TERM.findall(_HAN_STOPS.sub(" ", prose(text)))
        for word in sorted(candidates, key=len, reverse=True):
            if word.lower() not in STOP_WORDS:
                terms.setdefault(word.lower(), word)
    return list(terms.values())[:_MOST_TERMS]


def _quoted(text: str) -> str:
    """Return the beginning of a text, without marks that would end the quotation."""
    return cut_tokens(re.sub(r'["“”*`]', "", text), _MOST_QUOTED)


# builtin/eliza, after Weizenbaum's ELIZA (1966), in words of our own

_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$)|[\"()\n，。！？；：“”（）]")
_LONGEST_ECHO = 80
"""Characters."""


def eliza(request: Request) -> Reply:
    """Return at most two sentences, none used before: patterns, and what earlier turns left."""
    questions, replies = _texts(request, "user") or [""], _texts(request, "assistant")
    script = _phrases_for("eliza", questions[-1])
    matched = list(_matches(questions[-1], script, turn=len(questions) - 1))
    recalled = [
        script["recall"].format(match.group(1))
        for text in questions[:-1]
        for match in re.finditer(script["mine"], text, re.IGNORECASE)
    ]

    def unused(sentences: list[str]) -> list[str]:
        return [text for text in sentences if all(text not in earlier for earlier in replies)]

    fitting = unused([*matched[:1], *recalled[-1:], *matched[1:]]) or unused(script["rest"])[:1]
    return Reply(text=script["between"].join(fitting[:2] or script["rest"][:1]))


def _matches(text: str, script: dict[str, Any], turn: int) -> Iterator[str]:
    """Yield a reply for each pattern that matches a text."""
    for pattern, replies in script["rules"].items():
        if match := re.search(pattern, text, re.IGNORECASE):
            caught = _exchanged(match.group(1), script) if match.groups() else ""
            fitting = [reply for reply in replies if caught or "{}" not in reply]
            if fitting:
                yield fitting[turn % len(fitting)].replace("{}", caught)


def _exchanged(text: str, script: dict[str, Any]) -> str:
    """Return a clause with first and second person exchanged; nothing if it is too long."""
    clause = _CLAUSE_END.split(text.replace("`", "").replace("\u2019", "'").strip())[0].strip()
    persons = script["persons"]
    back = re.sub(script["word"], lambda word: persons.get(word[0].lower(), word[0]), clause)
    return back if len(back) <= _LONGEST_ECHO else ""


# builtin/user


def user(request: Request) -> Reply:
    """Return the next message of the user that a question describes.

    It first tells the facts that share most words with the assistant's last reply, in another order
    with another seed, and ends once the replies passed each of `needs`, or all facts are told.

    Raises:
        UsageError: the question has no user to play.
    """
    facts = request.facts
    if facts is None or facts.question.user is None:
        raise UsageError("builtin/user plays the user of questions that have one, and answers none")
    played, script = facts.question.user, _PHRASES["user"]
    drawn = random.Random(f"{facts.question.question_id} {request.sampling.seed or 0}")
    replies = facts.answers[0] if facts.answers else []
    if not replies:
        return Reply(text=script["greeting"])
    messages = "\n".join(_texts(request, "assistant"))
    untold = [fact for fact in played.knows if fact not in messages]
    all_pass: Callable[..., bool] = registry.find("check", "all_pass")
    if all_pass(played.needs, replies) if played.needs else not untold:
        return Reply(text=f"{drawn.choice(script['thanks'])} {facts.form}")
    if not untold:
        repeats = any(request in messages for request in script["ask"])
        return Reply(text=drawn.choice(script["more" if repeats else "ask"]))
    drawn.shuffle(untold)
    words = _long_words(replies[-1])
    untold.sort(key=lambda fact: -len(words & _long_words(fact)))
    return Reply(text=" ".join(untold[: 1 + drawn.randrange(2)]))


def _long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}


_MODELS = {
    "builtin/reference": reference,
    "builtin/outline": outline,
    "builtin/eliza": eliza,
    "builtin/user": user,
}

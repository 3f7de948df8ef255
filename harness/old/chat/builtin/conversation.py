"""What the built-in models read in a request, and how a reply is closed."""

import asyncio
import functools
import pathlib
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from harness.old.chat.builtin.tokens import count_tokens, cut_tokens, is_chinese
from harness.old.records import FinishReason, Reply, Request, Usage


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat from the model's side."""

    asked: tuple[str, ...]
    """Every user message, the current one last."""
    replies: tuple[str, ...] = ()
    """The model's own earlier replies."""

    def words(self, program: str) -> SimpleNamespace:
        """Return a model's texts in the language of the current message, from the TOML file of the same name."""
        language = "chinese" if is_chinese(self.asked[-1]) else "english"
        return SimpleNamespace(**_tables(pathlib.Path(program).with_suffix(".toml"))[language])


@functools.cache
def _tables(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def conversation(request: Request) -> Conversation:
    """Return the request's messages by role."""
    said = {role: tuple(m.content for m in request.messages if m.role == role) for role in ("user", "assistant")}
    return Conversation(said["user"] or ("",), said["assistant"])


class Builtin:
    """A chat model whose reply is a function of the request."""

    def __init__(self, name: str, respond: Callable[[Request], Reply]) -> None:
        self.name = name
        self._respond = respond

    async def reply(self, request: Request) -> Reply:
        """Return the reply, cut at the token limit; tokens are counted by `count_tokens`, a stated estimate."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        said = self._respond(request)
        limit = request.sampling.max_tokens
        kept = said.text if limit is None else cut_tokens(said.text, limit)
        reason: FinishReason = "length" if kept != said.text else "stop" if kept.strip() else "empty"
        usage = Usage(sum(count_tokens(message.content) for message in request.messages), count_tokens(kept))
        seconds = time.perf_counter() - started
        return replace(said, text=kept, finish_reason=reason, usage=usage, seconds=seconds, model=self.name)

    async def close(self) -> None:
        """Do nothing: there is no connection."""

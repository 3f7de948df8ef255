"""What the built-in models read in a request, and how they close a reply."""

import time
from dataclasses import dataclass

from harness.chat.builtin.tokens import count_tokens, cut_tokens, is_chinese
from harness.records import FinishReason, Reply, Request, Usage


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat from the model's side."""

    asked: tuple[str, ...]
    """Every user message, the current one last."""
    replies: tuple[str, ...]
    """The model's own earlier replies."""
    system: str
    """The system messages together; empty without any."""

    @property
    def current(self) -> str:
        """The message that is answered now."""
        return self.asked[-1] if self.asked else ""

    @property
    def chinese(self) -> bool:
        """Whether the current message is in Chinese."""
        return is_chinese(self.current)


def conversation(request: Request) -> Conversation:
    """Return the request's messages by who said them."""
    return Conversation(
        asked=tuple(message.content for message in request.messages if message.role == "user"),
        replies=tuple(message.content for message in request.messages if message.role == "assistant"),
        system="\n".join(message.content for message in request.messages if message.role == "system"),
    )


def close_reply(text: str, request: Request, name: str, started: float, note: str | None = None) -> Reply:
    """Return the reply, cut at the token limit; tokens are counted by `count_tokens`, a stated estimate."""
    limit = request.sampling.max_tokens
    kept = text if limit is None else cut_tokens(text, max(limit, 0))
    reason: FinishReason = "length" if kept != text else "stop" if text.strip() else "empty"
    usage = Usage(
        prompt_tokens=sum(count_tokens(message.content) for message in request.messages),
        completion_tokens=count_tokens(kept),
    )
    return Reply(
        kept,
        finish_reason=reason,
        usage=usage,
        seconds=time.perf_counter() - started,
        model=name,
        applied={},
        note=note,
    )

"""Anthropic's message batches: the requests are handed in as they are, and one list of results is read at the end.

A batch carries no label, and shows its requests only when it has ended. So one whose number was lost is looked for
among those of its size that were made since; the names of the requests in its results, which begin with our token,
decide.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from harness.chat.anthropic_messages import AnthropicMessages
from harness.chat.batches import Batches, Handed, Prepared, Progress, provider_call
from harness.chat.body import at, text_at
from harness.errors import ChatError
from harness.records import Reply

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "timeout_error": 504,
}
"""The status that a direct call would have had; anything else is an outage."""


class AnthropicBatches(Batches[AnthropicMessages]):
    """Batches of a chat model behind `/v1/messages`."""

    most_requests = 100_000
    most_bytes = 256_000_000
    desk_path = "messages.batches"
    state_field = "processing_status"
    called_by = "message_batch_id"

    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return one of the requests."""
        return {"custom_id": custom_id, "params": body}

    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Hand the requests in."""
        requests = [json.loads(request.line) for request in prepared]
        with provider_call(self.model):
            return self.named(await self.desk.create(requests=requests, extra_headers=dict(prepared[0].headers)))

    async def is_ours(self, batch: Any, token: str, count: int) -> bool | None:
        """Return whether the first result of a batch of this size is of a request of ours (None before its end)."""
        if _total(batch) != count:
            return False
        if batch.processing_status != "ended":
            return None
        async with contextlib.aclosing(self.items(batch.id)) as lines:
            async for name, _ in lines:
                if name is not None:
                    return str(name).startswith(f"{token}-")
        return False

    async def progress(self, batch: str) -> Progress:
        """Return how far a batch is; its counts move only when it ends."""
        told = await self.retrieved(batch)
        ended = told.processing_status == "ended"
        if ended and getattr(told, "archived_at", None):
            return Progress(ended, fault=self.gone(batch))
        return Progress(ended, processed=_total(told) - (getattr(told.request_counts, "processing", 0) or 0))

    def items(self, batch: str) -> AsyncGenerator[tuple[Any, Any], None]:
        """Yield the lines of the results.

        They are read where the batch is. (The SDK goes wherever the batch says that they are, with the key.)
        """
        return self.lines(f"/v1/messages/batches/{quote(batch, safe='')}/results", batch)

    def result(self, line: Mapping[str, Any], handed: Handed) -> Reply | ChatError:
        """Return what one line says."""
        kind = at(line, "result", "type")
        if kind == "succeeded":
            return self.outcome(at(line, "result", "message"), handed)
        if kind == "errored":
            error = at(line, "result", "error", "error")
            named = text_at(error, "type")
            body = {"error": {"type": named, "message": text_at(error, "message") or named}}
            return self.refusal(_STATUSES.get(named, 500), body, handed)
        return self.cancelled() if kind == "canceled" else self.expired()


def _total(batch: Any) -> int:
    """Return the number of requests in a batch."""
    names = ("processing", "succeeded", "errored", "canceled", "expired")
    return sum(getattr(batch.request_counts, name, 0) or 0 for name in names)


open_batches = AnthropicBatches

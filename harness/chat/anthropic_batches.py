"""Anthropic's message batches: the requests are handed in as they are, and one list of results is read at the end.

A batch carries no label, and shows its requests only when it has ended. So one whose number was lost is looked for
among those of its size that were made since; the names of the requests in its results, which begin with our token,
decide.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from harness.chat.anthropic_messages import AnthropicMessages
from harness.chat.batches import Batches, Handed, Prepared, Progress, named_line, provider_call
from harness.chat.body import at, text_at
from harness.chat.wire import lines_of
from harness.errors import ChatError
from harness.records import Reply, Request

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
    state_field = "processing_status"

    @property
    def desk(self) -> Any:
        """The SDK's batches."""
        return self.model.client.messages.batches

    def prepare(self, custom_id: str, request: Request) -> Prepared:
        """Return the request; a protocol version of its own makes it one for another batch."""
        sent = self.model.wired(request)
        params, headers = self.model.body(request, sent), self.model.every_header(request, sent)
        line = json.dumps({"custom_id": custom_id, "params": params}, ensure_ascii=False).encode()
        return Prepared(line, tuple(sent), tuple(sorted(headers.items())))

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
        async with contextlib.aclosing(self._lines(batch.id)) as lines:
            async for line in lines:
                if (name := named_line(line)[0]) is not None:
                    return str(name).startswith(f"{token}-")
        return False

    async def progress(self, batch: str) -> Progress:
        """Return how far a batch is; its counts move only when it ends."""
        told = await self.retrieved(batch)
        ended = told.processing_status == "ended"
        if ended and getattr(told, "archived_at", None):
            return Progress(ended, fault=self.gone(batch))
        return Progress(ended, processed=_total(told) - (getattr(told.request_counts, "processing", 0) or 0))

    async def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the lines of the results."""
        async for line in self._lines(batch):
            yield named_line(line)

    async def _lines(self, batch: str) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a batch's results as they arrive.

        They are read where the batch is. (The SDK goes wherever the batch says that they are, with the key.)
        """
        import httpx2

        path = f"/v1/messages/batches/{quote(batch, safe='')}/results"
        options = {"headers": {"accept": "application/binary", "x-stainless-raw-response": "stream"}}
        with provider_call(self.model, {404: self.gone(batch)}):
            answer = await self.model.client.get(path, cast_to=httpx2.Response, options=options)
            try:
                async for line in lines_of(answer.aiter_bytes()):
                    yield line
            finally:
                await answer.aclose()

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

"""Gemini's batches: the requests are handed in with the batch itself, and their replies come with its last state.

A batch carries our token in its name, so one whose number was lost is found again.
"""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

from harness.chat.batches import Batches, Handed, Prepared, Progress, provider_call
from harness.chat.body import at, list_at, text_at
from harness.chat.gemini import Gemini
from harness.errors import ChatError
from harness.records import Reply

_KEY = "key"
"""Under what a request carries its name."""
_ENDED = ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_CANCELLED = 499
_STATUSES = {1: _CANCELLED, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 14: 503, 16: 401}
"""The status that a direct call would have had, by the code of the service's own protocol (google.rpc.Code); anything
else is an outage."""


class GeminiBatches(Batches[Gemini]):
    """Batches of a chat model behind `models/NAME:batchGenerateContent`."""

    most_requests = 1000
    """Few, since all replies come at once, and no answer is read beyond a limit."""
    most_bytes = 19_000_000
    desk_path = "aio.batches"
    id_field, made_field = "name", "create_time"
    called_by, page_field = "name", "page"
    unsendable = ("extra_headers", "extra_body")
    """Of the body the SDK takes here only what it knows."""

    def paging(self, most: int) -> dict[str, Any]:
        """Return what asks for pages of so many batches."""
        return {"config": {"page_size": most}}

    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return one of the requests."""
        return {**body, "metadata": {_KEY: custom_id}}

    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Hand the requests in."""
        from google.genai import types

        requests: Any = [types.InlinedRequest.model_validate_json(request.line) for request in prepared]
        with provider_call(self.model):
            config = types.CreateBatchJobConfig(display_name=f"turnbench-{token}")
            return self.named(await self.desk.create(model=self.model.endpoint.model, src=requests, config=config))

    async def is_ours(self, batch: Any, token: str, count: int) -> bool:
        """Return whether a batch has our token in its name."""
        return bool(batch.display_name == f"turnbench-{token}")

    async def progress(self, batch: str) -> Progress:
        """Return how far a batch is."""
        told = await self.retrieved(batch)
        state, stats = self.state(told), at(told, "metadata", "batchStats")
        done = (at(stats, name) for name in ("successfulRequestCount", "failedRequestCount"))
        fault = self._refused(batch, at(told, "error")) if state == "FAILED" else None
        return Progress(state in _ENDED, sum(map(_whole, done)), state == "CANCELLED", fault)

    async def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the replies that stand in a batch that has ended."""
        told = await self.retrieved(batch)
        output = at(told, "metadata", "output") or at(told, "response")
        for one in list_at(output, "inlinedResponses", "inlinedResponses"):
            yield at(one, "metadata", _KEY), one

    async def told(self, batch: str) -> Any:
        """Return what the service says of a batch, as it came."""
        return await self.model.told(f"batches/{quote(batch.removeprefix('batches/'), safe='')}")

    def state(self, batch: Any) -> str:
        """Return the state of a batch, such as RUNNING; empty if it is none."""
        return re.sub("^(?:JOB|BATCH)_STATE_", "", text_at(batch, "metadata", "state"))

    def result(self, one: Any, handed: Handed) -> Reply | ChatError:
        """Return what one result says."""
        response, error = at(one, "response"), at(one, "error")
        if response is not None and not error:
            return self.outcome(response, handed)
        status, body = _error(error)
        return self.cancelled() if status == _CANCELLED else self.refusal(status, body, handed)

    def _refused(self, batch: str, error: Any) -> ChatError:
        """Return the error for a batch that failed as a whole."""
        if error is None:
            return ChatError(f"{self.name}: batch {batch} was refused without a reason", kind="bad request")
        return self.model.fault_of_result(*_error(error))


def _error(error: Any) -> tuple[int, Any]:
    """Return the status that a direct call would have had, and the body of its error."""
    code = at(error, "code")
    code = code if isinstance(code, int) else 0
    status = code if code >= 400 else _STATUSES.get(code, 500)
    return status, {"error": {"message": text_at(error, "message") or "no reason is given"}}


def _whole(count: Any) -> int:
    """Return a number, which the protocol writes as text."""
    return int(count) if str(count).isdecimal() else 0


open_batches = GeminiBatches

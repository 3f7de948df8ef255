"""The batch services of OpenAI, Anthropic and Gemini by their SDKs; each a few calls.

A request in a batch has the body of a direct call; its result is read as a direct call's answer is.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar, NamedTuple

from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel


class Result(NamedTuple):
    """What became of one request."""

    key: str
    status: int
    """As a direct call's; 0: it was not processed in time."""
    body: Any


class Service(ABC):
    """One provider's batches for one model; exceptions are the SDK's."""

    most: ClassVar[int]
    """Requests in a batch."""

    def __init__(self, model: RemoteModel) -> None:
        self.model = model

    @abstractmethod
    async def submit(self, wires: Sequence[tuple[str, Wire]]) -> str:
        """Submit requests with their keys; return the provider's name for the batch."""

    @abstractmethod
    async def ended(self, batch: str) -> bool:
        """Return whether a batch has ended; raise `Problem` if it failed as a whole."""

    @abstractmethod
    def results(self, batch: str, keys: Sequence[str]) -> AsyncIterator[Result]:
        """Yield the results of a batch that has ended, in any order."""


def _failed(reason: str) -> Problem:
    return Problem("bad request", f"the batch failed: {reason}".rstrip(": "))


class OpenAIBatches(Service):
    """`/v1/batches`: a file of requests in, a file of answers and one of errors out."""

    most = 50_000

    async def submit(self, wires: Sequence[tuple[str, Wire]]) -> str:
        """Upload the file and make the batch."""
        url = f"/v1{self.model.path}"
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": url, "body": wire.body})
            for key, wire in wires
        ]
        data = "\n".join(lines).encode()
        client = self.model.client
        file = await client.files.create(file=("turnbench.jsonl", data), purpose="batch")
        batch = await client.batches.create(
            input_file_id=file.id, endpoint=url, completion_window="24h"
        )
        return str(batch.id)

    async def ended(self, batch: str) -> bool:
        """Return whether a batch has ended."""
        state = await self.model.client.batches.retrieve(batch)
        if state.status == "failed":
            errors = (state.errors.data if state.errors else None) or []
            raise _failed("; ".join(str(error.message) for error in errors[:3]))
        return bool(state.status in ("completed", "expired", "cancelled"))

    async def results(self, batch: str, keys: Sequence[str]) -> AsyncIterator[Result]:
        """Read both files, line by line."""
        client = self.model.client
        state = await client.batches.retrieve(batch)
        for file in filter(None, (state.output_file_id, state.error_file_id)):
            for line in (await client.files.content(file)).text.splitlines():
                item = json.loads(line)
                answer = item.get("response") or {}
                status = int(answer.get("status_code") or 0)
                yield Result(str(item["custom_id"]), status, answer.get("body"))


_TRANSIENT = {"rate_limit_error": 429, "overloaded_error": 529, "api_error": 500}
"""The statuses of Anthropic's errors after which a request is made again."""


class AnthropicBatches(Service):
    """`/v1/messages/batches`: requests in, a stream of results out."""

    most = 10_000

    async def submit(self, wires: Sequence[tuple[str, Wire]]) -> str:
        """Make the batch; its requests share the headers."""
        requests = [{"custom_id": key, "params": wire.body} for key, wire in wires]
        headers = wires[0][1].headers
        batches = self.model.client.messages.batches
        batch = await batches.create(requests=requests, extra_headers=headers)
        return str(batch.id)

    async def ended(self, batch: str) -> bool:
        """Return whether a batch has ended."""
        state = await self.model.client.messages.batches.retrieve(batch)
        return bool(state.processing_status == "ended")

    async def results(self, batch: str, keys: Sequence[str]) -> AsyncIterator[Result]:
        """Read the results as they stream in."""
        async for item in await self.model.client.messages.batches.results(batch):
            result = item.result
            if result.type == "succeeded":
                body = result.message.model_dump(mode="json", exclude_unset=True)
                yield Result(item.custom_id, 200, body)
            elif result.type == "errored":
                error = result.error.model_dump(mode="json", exclude_unset=True)
                kind = (error.get("error") or {}).get("type")
                yield Result(item.custom_id, _TRANSIENT.get(str(kind), 400), error)
            else:
                yield Result(item.custom_id, 0, None)


class GeminiBatches(Service):
    """`models/NAME:batchGenerateContent`: requests in, answers in their order out."""

    most = 2_000

    async def submit(self, wires: Sequence[tuple[str, Wire]]) -> str:
        """Make the batch."""
        from google.genai import types

        requests = [
            types.InlinedRequest.model_validate_json(json.dumps(wire.body)) for _, wire in wires
        ]
        batch = await self.model.client.aio.batches.create(
            model=self.model.endpoint.model,
            src=requests,
            config=types.CreateBatchJobConfig(display_name="turnbench"),
        )
        return str(batch.name)

    async def ended(self, batch: str) -> bool:
        """Return whether a batch has ended."""
        job = await self.model.client.aio.batches.get(name=batch)
        state = str(getattr(job.state, "name", job.state)).removeprefix("JOB_STATE_")
        if state == "FAILED":
            raise _failed(str(job.error.message) if job.error else "")
        return state in ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED")

    async def results(self, batch: str, keys: Sequence[str]) -> AsyncIterator[Result]:
        """Read the answers: the n-th is the n-th request's."""
        job = await self.model.client.aio.batches.get(name=batch)
        answers = (job.dest.inlined_responses if job.dest else None) or []
        for key, answer in zip(keys, answers, strict=False):
            if answer.response is not None:
                body = answer.response.model_dump(mode="json", by_alias=True, exclude_none=True)
                yield Result(key, 200, body)
            elif answer.error is not None:
                error = answer.error.model_dump(mode="json", exclude_none=True)
                status = {3: 400, 7: 403, 8: 429}.get(int(error.get("code") or 0), 500)
                yield Result(key, status, {"error": error})


SERVICES: dict[str, type[Service]] = {
    "openai": OpenAIBatches,
    "openai_responses": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}
"""By provider."""

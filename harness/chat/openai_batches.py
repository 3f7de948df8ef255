"""OpenAI's batches: a file of requests goes up, one file of replies and one of errors come down."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from harness.chat.batches import QUEUE_FULL, Batches, Handed, Prepared, Progress, provider_call
from harness.chat.openai_chat import OpenAIModel
from harness.errors import ChatError, TransientError
from harness.records import Reply

TOKEN = "turnbench"
"""The key of the metadata under which a batch carries our token."""

_ENDED = {"completed", "expired", "cancelled", "failed"}


class OpenAIBatches(Batches[OpenAIModel]):
    """Batches of a chat model behind `/v1/chat/completions` or `/v1/responses`."""

    most_requests = 50_000
    most_bytes = 200_000_000
    desk_path = "batches"
    unsendable = ("extra_headers",)

    @property
    def _path(self) -> str:
        """The one path that all requests of a batch go to."""
        return f"/v1{self.model.path}"

    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the line of the file."""
        return {"custom_id": custom_id, "method": "POST", "url": self._path, "body": body}

    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Send the file up and hand it in."""
        data = b"".join(request.line for request in prepared)
        with provider_call(self.model):
            client = self.model.client
            file = await client.files.create(file=(f"turnbench-{token}.jsonl", data), purpose="batch")
            batch = await client.batches.create(
                input_file_id=self.named(file),
                endpoint=self._path,
                completion_window="24h",
                metadata={TOKEN: token},
            )
            return self.named(batch)

    async def is_ours(self, batch: Any, token: str, count: int) -> bool:
        """Return whether a batch carries our token."""
        return bool((batch.metadata or {}).get(TOKEN) == token)

    async def progress(self, batch: str) -> Progress:
        """Return how far a batch is."""
        told = await self.retrieved(batch)
        counts = told.request_counts
        processed = (getattr(counts, "completed", 0) or 0) + (getattr(counts, "failed", 0) or 0)
        if told.status != "failed":
            return Progress(told.status in _ENDED, processed, cancelled=told.status == "cancelled")
        errors = list(getattr(told.errors, "data", None) or [])
        faults = {error.line - 1: self._refused(error) for error in errors if isinstance(error.line, int)}
        others = [self._refused(error) for error in errors if not isinstance(error.line, int)]
        nameless = ChatError(f"{self.name}: batch {batch} was refused without a reason", kind="bad request")
        fault = others[0] if others else None if faults else nameless
        return Progress(ended=True, processed=processed, fault=fault, faults=faults)

    async def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the lines of the file of replies and of the file of errors."""
        told = await self.retrieved(batch)
        for file in filter(None, (told.output_file_id, told.error_file_id)):
            async for item in self.lines(f"/files/{quote(file, safe='')}/content", batch):
                yield item

    def result(self, line: Mapping[str, Any], handed: Handed) -> Reply | ChatError:
        """Return what one line says."""
        response, error = line.get("response"), line.get("error")
        if not isinstance(response, Mapping):
            return self._unanswered(error if isinstance(error, Mapping) else {})
        status, body = response.get("status_code"), response.get("body")
        if status != 200:
            return self.refusal(status if isinstance(status, int) else 500, body, handed)
        if error:
            return self.model.fault_of_result(500, {"error": error})
        return self.outcome(body, handed)

    def _unanswered(self, error: Mapping[str, Any]) -> ChatError:
        """Return our error for a request that the provider did not answer."""
        code = error.get("code")
        if code == "batch_cancelled":
            return self.cancelled()
        return self.expired() if code == "batch_expired" else self.model.fault_of_result(500, {"error": dict(error)})

    def _refused(self, error: Any) -> ChatError:
        """Return our error for what the provider found wrong with a batch as a whole, or with one line of it."""
        code = str(getattr(error, "code", None) or "")
        message = getattr(error, "message", None)
        detail = {"message": message, "code": code, "param": getattr(error, "param", None)}
        if code == "token_limit_exceeded":
            said = self.model.fault_of_result(429, {"error": detail})
            return TransientError(str(said), kind=QUEUE_FULL)
        sent = dict.fromkeys(self.model.repairable)
        return self.model.fault_of_result(404 if code == "model_not_found" else 400, {"error": detail}, sent)


open_batches = OpenAIBatches

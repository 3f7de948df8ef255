"""The batch services of OpenAI, Anthropic and Gemini by their SDKs; each a few calls.

A request in a batch has the body of a direct call; its result is read as a direct call's answer is.
Whatever shape a service's own answers have, what is missing is `Problem("malformed reply")`, and is
asked for again.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import httpx2

from harness.errors import ChatError
from harness.extras.batches.journal import Batch
from harness.models.decoding import at, list_at, text_at
from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel

TAG = "turnbench"
"""The name under which a batch carries our id."""
CLOCKS = 600.0
"""Seconds by which the provider's clock may differ from ours when batches are listed."""


class Result(NamedTuple):
    """What became of one request."""

    key: str
    status: int
    """As a direct call's; 0: there is none."""
    body: Any = None
    lost: Literal["", "expired", "cancelled", "unreadable"] = ""
    """Why there is none."""


class State(NamedTuple):
    """What a service says of a batch."""

    ended: bool
    body: Any
    """Its JSON, or the SDK's record."""
    failed: str | None = None
    """Why it failed as a whole, if it did: then nothing was computed."""
    lost: Literal["expired", "cancelled"] = "expired"
    """What became of requests that have no result."""


class Undecided(Exception):  # noqa: N818  (no fault)
    """Whether a submission arrived is known only once a batch has ended."""


class Service(ABC):
    """One provider's batches for one model; exceptions are the SDK's, or `Problem`."""

    most: ClassVar[int]
    """Requests in a batch."""

    def __init__(self, model: RemoteModel) -> None:
        self.model = model

    @abstractmethod
    async def submit(self, batch: Batch, wires: Sequence[tuple[str, Wire]]) -> str:
        """Submit requests with their keys under the batch's id; return the service's name."""

    @abstractmethod
    async def find(self, batch: Batch, known: Collection[str]) -> str:
        """Return the service's name for a batch whose submission arrived; empty if it did not.

        `known`: names that are others'.

        Raises:
            Undecided: not known yet.
        """

    @abstractmethod
    async def state(self, name: str) -> State:
        """Return the state of a batch."""

    @abstractmethod
    async def results(self, batch: Batch, state: State) -> list[Result]:
        """Return the readable results of a batch that has ended, in any order."""

    def is_gone(self, error: Exception) -> bool:
        """Return whether the service itself, not something before it, says that there is none."""
        status, body = getattr(error, "status_code", None), getattr(error, "body", None)
        return status == 404 and isinstance(body, dict)


class OpenAIBatches(Service):
    """`/v1/batches`: a file of requests in, a file of answers and one of errors out."""

    most = 50_000

    async def submit(self, batch: Batch, wires: Sequence[tuple[str, Wire]]) -> str:
        """Upload the file and make the batch."""
        url = f"/v1{self.model.path}"
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": url, "body": wire.body})
            for key, wire in wires
        ]
        data = "\n".join(lines).encode()
        client = self.model.client
        file = await client.files.create(file=(f"{TAG}-{batch.id}.jsonl", data), purpose="batch")
        made = await client.batches.create(
            input_file_id=_text(file, "id"),
            endpoint=url,
            completion_window="24h",
            metadata={TAG: batch.id},
        )
        return _text(made, "id")

    async def find(self, batch: Batch, known: Collection[str]) -> str:
        """Look for the id among the batches, of which the newest come first."""
        async for item in _items(self.model.client.batches.list(limit=100)):
            if text_at(item, "metadata", TAG) == batch.id:
                return _text(item, "id")
            if (at(item, "created_at") or batch.time) < batch.time - CLOCKS:
                break
        return ""

    async def state(self, name: str) -> State:
        """Retrieve the batch."""
        body = _json(await self.model.client.batches.retrieve(name))
        status = _text(body, "status")
        errors = [text_at(error, "message") for error in list_at(body, "errors", "data")]
        return State(
            ended=status in ("completed", "expired", "cancelled", "failed"),
            body=body,
            failed="; ".join(errors[:3]) if status == "failed" else None,
            lost="cancelled" if status == "cancelled" else "expired",
        )

    async def results(self, batch: Batch, state: State) -> list[Result]:
        """Read both files."""
        files = [text_at(state.body, f"{kind}_file_id") for kind in ("output", "error")]
        if not any(files) and at(state.body, "request_counts", "completed"):
            raise Problem("malformed reply", "a batch with results but without a file of them")
        found = []
        for file in filter(None, files):
            content = await self.model.client.files.content(file)
            for item in _lines(content.response):
                status = at(item, "response", "status_code")
                body = at(item, "response", "body")
                if isinstance(status, int) and status:
                    found.append(Result(text_at(item, "custom_id"), status, body))
                else:
                    found.append(Result(text_at(item, "custom_id"), 0, lost=state.lost))
        return found


_TRANSIENT = {"rate_limit_error": 429, "overloaded_error": 529, "api_error": 500}
"""The statuses of Anthropic's errors after which a request is made again."""


class AnthropicBatches(Service):
    """`/v1/messages/batches`: requests in, a stream of results out."""

    most = 10_000
    _path = "/v1/messages/batches"

    async def submit(self, batch: Batch, wires: Sequence[tuple[str, Wire]]) -> str:
        """Make the batch; its requests share the headers. It carries no name but their keys."""
        requests = [{"custom_id": key, "params": wire.body} for key, wire in wires]
        headers = wires[0][1].headers
        batches = self.model.client.messages.batches
        return _text(await batches.create(requests=requests, extra_headers=headers), "id")

    async def find(self, batch: Batch, known: Collection[str]) -> str:
        """Look for the keys in the results of batches of this size; the newest come first."""
        undecided = False
        async for item in _items(self.model.client.messages.batches.list(limit=100)):
            if "" < text_at(item, "created_at") < _utc(batch.time - CLOCKS):
                break
            name, counts = _text(item, "id"), at(item, "request_counts") or {}
            size = sum(number for number in counts.values() if isinstance(number, int))
            if name in known or size != len(batch.keys):
                continue
            if text_at(item, "processing_status") != "ended":
                undecided = True
                continue
            if any(result.key in batch.keys for result in await self._results(name)):
                return name
        if undecided:
            raise Undecided
        return ""

    async def state(self, name: str) -> State:
        """Retrieve the batch."""
        body = _json(await self.model.client.messages.batches.retrieve(name))
        return State(_text(body, "processing_status") == "ended", body)

    async def results(self, batch: Batch, state: State) -> list[Result]:
        """Read the results at their path below the address that was given, wherever a URL points.

        The SDK's own reader stops at the first line that is no JSON.
        """
        return await self._results(batch.name)

    async def _results(self, name: str) -> list[Result]:
        path = f"{self._path}/{name}/results"
        response = await self.model.client.get(path, cast_to=httpx2.Response)
        found = []
        for item in _lines(response):
            key, kind = text_at(item, "custom_id"), text_at(item, "result", "type")
            if kind == "succeeded":
                found.append(Result(key, 200, at(item, "result", "message")))
            elif kind == "errored":
                error = at(item, "result", "error")
                code = text_at(error, "error", "type")
                found.append(Result(key, _TRANSIENT.get(code, 400), error))
            elif kind == "canceled":
                found.append(Result(key, 0, lost="cancelled"))
            elif kind == "expired":
                found.append(Result(key, 0, lost="expired"))
        return found


_GOOGLE = {3: 400, 5: 404, 7: 403, 8: 429}
"""HTTP statuses of Google's codes; others are the server's fault."""


class GeminiBatches(Service):
    """`models/NAME:batchGenerateContent`: requests in, answers in the batch's own record."""

    most = 2_000

    async def submit(self, batch: Batch, wires: Sequence[tuple[str, Wire]]) -> str:
        """Make the batch."""
        from google.genai import types

        if any(wire.headers or "extra_body" in wire.parameters for _, wire in wires):
            what = "its batches take no extra_headers and no extra_body; leave out --batch"
            raise ChatError(f"{self.model.name}: {what}", kind="bad request")
        requests = [
            types.InlinedRequest.model_validate({**wire.body, "metadata": {"key": key}})
            for key, wire in wires
        ]
        made = await self.model.client.aio.batches.create(
            model=self.model.endpoint.model,
            src=requests,
            config=types.CreateBatchJobConfig(display_name=f"{TAG}-{batch.id}"),
        )
        return _text(made, "name")

    async def find(self, batch: Batch, known: Collection[str]) -> str:
        """Look for the id among the batches' display names."""
        pager = await self.model.client.aio.batches.list(config={"page_size": 100})
        async for job in pager:
            if job.display_name == f"{TAG}-{batch.id}":
                return _text(job, "name")
        return ""

    async def state(self, name: str) -> State:
        """Retrieve the batch."""
        job = await self.model.client.aio.batches.get(name=name)
        state = str(getattr(job.state, "name", job.state)).removeprefix("JOB_STATE_")
        return State(
            ended=state in ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED", "FAILED"),
            body=job,
            failed=str(job.error.message if job.error else "") if state == "FAILED" else None,
            lost="cancelled" if state == "CANCELLED" else "expired",
        )

    async def results(self, batch: Batch, state: State) -> list[Result]:
        """Read the answers; one without our key is the request's in its place."""
        job = state.body
        answers = (job.dest.inlined_responses if job.dest else None) or []
        found = []
        for place, answer in enumerate(answers):
            places = batch.keys[place : place + 1]
            key = (answer.metadata or {}).get("key") or "".join(places)
            if answer.response is not None:
                body = answer.response.model_dump(mode="json", by_alias=True, exclude_none=True)
                found.append(Result(key, 200, body))
            elif answer.error is not None:
                error = answer.error.model_dump(mode="json", exclude_none=True)
                found.append(Result(key, _GOOGLE.get(error.get("code"), 500), {"error": error}))
        if not answers and state.lost == "expired" and "SUCCEEDED" in str(job.state):
            raise Problem("malformed reply", "a batch that succeeded without answers")
        return found

    def is_gone(self, error: Exception) -> bool:
        """Return whether the service itself says that there is none."""
        return getattr(error, "code", None) == 404 and "error" in (
            getattr(error, "details", None) or {}
        )


def _json(value: Any) -> Any:
    """Return the JSON of an SDK's record; a page that came in its place is a problem."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True, warnings=False)
    if isinstance(value, dict):
        return value
    raise Problem("malformed reply", "a body of another shape")


def _text(value: Any, name: str) -> str:
    """Return a text that every record of a kind has."""
    if text := text_at(_json(value), name):
        return text
    raise Problem("malformed reply", f"a body without {name}")


async def _items(pages: Any) -> AsyncIterator[Any]:
    """Yield the items of a list, page by page."""
    while True:
        try:
            page = await pages
        except AttributeError:  # the SDKs trust the shape
            raise Problem("malformed reply", "a list of another shape") from None
        if not isinstance(_json(page).get("data"), list):
            raise Problem("malformed reply", "a list of another shape")
        for item in page.data:
            yield _json(item)
        if not page.data or not page.has_next_page():
            return
        pages = page.get_next_page()


def _lines(response: httpx2.Response) -> Iterator[Any]:
    """Yield the JSON objects of a file of lines; those that are none are left out.

    Lines end at a newline only: texts may hold the other characters at which Python splits.
    """
    data = response.content
    if data.lstrip()[:1] == b"<":
        raise Problem("outage", "a web page in place of results")
    for line in data.split(b"\n"):
        try:
            item = json.loads(line)
        except ValueError:
            continue
        if isinstance(item, dict):
            yield item


def _utc(seconds: float) -> str:
    """Return a time as in the services' records, by which it can be compared."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


SERVICES: dict[str, type[Service]] = {
    "openai": OpenAIBatches,
    "openai_responses": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}
"""By provider."""

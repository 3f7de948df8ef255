"""Batches: many requests submitted at once and answered within a day, at a lower price.

A provider's own batches are in its file; `harness.old.running` knows only `Batches`. A batch is created
with a token of ours, which begins the name of each of its requests, so that a batch whose id was lost
(the process was killed, the connection broke) is found again instead of being paid for twice.
"""

import asyncio
import contextlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from harness.old.chat.faults import UNKNOWN_MODEL, malformed
from harness.old.chat.model import ChatModel
from harness.old.chat.parameters import Parameters
from harness.old.chat.remote import RemoteModel
from harness.old.chat.services import service
from harness.old.chat.structured import told
from harness.old.errors import ChatError, EndpointError, TransientError, TurnbenchError, UsageError
from harness.old.records import Reply, Request

QUEUE_FULL = "queue full"
"""The kind of error of a batch that is refused because too much is queued already."""
UNKNOWN_BATCH = "unknown batch"
"""The kind of error where the provider has no such batch."""
CLOCKS_APART = 3600.0
"""Seconds by which the provider's clock may differ from ours."""
MOST_LISTED = 1000
"""Batches of an account that are looked at for one whose name was lost."""
PAGES = 10
"""Calls that looking for a batch may take the time of."""
SLOWEST = 50_000
"""Bytes in a second that a connection is taken to carry at least when requests are handed in."""
OTHER_SHAPE = (AttributeError, TypeError, LookupError)
"""What reading an answer of another shape than the SDK's types raises, there or here."""
NO_BATCHES = frozenset({405, 410, 501})
"""Statuses of servers without batches; 404 may also mean a wrong address."""


ModelT = TypeVar("ModelT", bound=RemoteModel)


class Prepared(NamedTuple):
    """One request as a batch takes it."""

    line: bytes
    """The request as JSON, a line of the batch."""
    names: tuple[str, ...]
    """The parameters that are sent."""
    headers: tuple[tuple[str, str], ...] = ()
    """A setting of the whole batch; requests that differ in it cannot share one."""


class Handed(NamedTuple):
    """A request that is in a batch."""

    request: Request
    names: tuple[str, ...]
    """The parameters that were sent."""


class Found(NamedTuple):
    """What came of looking for a batch by its token."""

    batch: str | None
    certain: bool = True
    """False: it may be one that shows its requests only when it has ended."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is."""

    ended: bool
    processed: int = 0
    """Requests that are done, if the provider reports it before the end."""
    cancelled: bool = False
    fault: ChatError | None = None
    """Why the batch failed as a whole."""
    faults: Mapping[int, ChatError] = field(default_factory=dict)
    """The requests that made it fail, by their place in the batch, where the provider names them."""


class Batches(ABC, Generic[ModelT]):
    """The batches of one chat model. No call is tried again here; every one may raise what `ChatModel.reply` does."""

    most_requests: int
    most_bytes: int
    desk_path: str
    """Where the SDK's client makes and lists batches."""
    id_field, made_field, state_field = "id", "created_at", "status"
    """The fields of id, creation time and status in the provider's object of a batch."""
    called_by = "batch_id"
    """The SDK's word for what a batch is called."""
    page_field = "data"
    """The field of the batches in a page of their list."""
    unsendable: tuple[str, ...] = ()
    """What of a request's sampling cannot go into a batch."""

    def __init__(self, model: ModelT) -> None:
        self.model = model
        self.name = model.name

    @property
    def origin(self) -> tuple[str, str]:
        """The address, by the name under which it is found in the end, and the model string: results of one origin are
        never used for another."""
        return self.model.elsewhere() or self.model.address, self.model.endpoint.model

    @property
    def desk(self) -> Any:
        """The SDK's batches."""
        return attrgetter(self.desk_path)(self.model.client)

    def prepare(self, custom_id: str, request: Request) -> Prepared:
        """Return the request as a batch takes it: the very body of a direct call, and its headers."""
        for name in self.unsendable:
            if getattr(request.sampling, name):
                raise UsageError(f"{self.name}: {name} cannot be sent with --batch; leave one of them out")
        sent = self.model.wired(request)
        line = json.dumps(self.line(custom_id, self.model.body(request, sent)), ensure_ascii=False)
        headers = sorted(self.model.every_header(request, sent).items())
        return Prepared(line.encode() + b"\n", tuple(sent), tuple(headers))

    @abstractmethod
    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request with this body and name in the form of a batch."""

    @abstractmethod
    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Hand a batch in and return the provider's name for it."""

    @abstractmethod
    async def is_ours(self, batch: Any, token: str, count: int) -> bool | None:
        """Return whether one of the provider's batches is that of `count` requests under a token; None: not known
        yet."""

    async def progress(self, batch: str) -> Progress:
        """Return a batch's progress."""
        told = await self.retrieved(batch)
        async with self.calling():
            return self.how_far(batch, told)

    @abstractmethod
    def how_far(self, batch: str, told: Any) -> Progress:
        """Return how far a batch is by what the provider says of it."""

    @abstractmethod
    def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the result of each request of a batch that has ended, in any order, with the request's name; a name
        that is not a text marks a damaged result."""

    @abstractmethod
    def result(self, item: Any, handed: Handed) -> Reply | ChatError:
        """Return what became of a request."""

    async def results(self, batch: str, handed: Mapping[str, Handed]) -> AsyncIterator[tuple[str, Reply | ChatError]]:
        """Yield the names of these requests of a batch that has ended, in any order, each with its reply or why there
        is none.

        Raises:
            TransientError: the list is cut; what was yielded is right.
        """
        whole = True
        async for custom_id, item in self.items(batch):
            whole = whole and isinstance(custom_id, str)
            if isinstance(custom_id, str) and custom_id in handed:
                yield custom_id, self._outcome(item, handed[custom_id])
        if not whole:
            message = f"{self.name}: the results of batch {batch} are truncated or damaged"
            raise TransientError(message, kind="malformed reply")

    def _outcome(self, item: Any, handed: Handed) -> Reply | ChatError:
        """Return what became of a request, whatever its result looks like."""
        try:
            return self.result(item, handed)
        except OTHER_SHAPE:
            return malformed(self.model.endpoint, "a result of another shape")

    async def find(self, token: str, count: int, since: float, others: Collection[str]) -> Found:
        """Look for a batch of `count` requests that may have been submitted after `since`, the newest first; `others`
        are excluded."""
        certain, seen = True, 0
        async with self.calling(PAGES):
            async for batch in await self.desk.list(**self.paging(100)):
                seen += 1
                made = getattr(batch, self.made_field, None) or math.inf
                if (made if isinstance(made, int | float) else made.timestamp()) < since - CLOCKS_APART:
                    break
                name = self.named(batch)
                ours = False if name in others else await self.is_ours(batch, token, count)
                if ours:
                    return Found(name)
                certain = certain and ours is not None
                if seen >= MOST_LISTED:
                    break
        return Found(None, certain)

    def paging(self, most: int) -> dict[str, Any]:
        """Return a function that asks the SDK for pages of this many batches, the newest first."""
        return {"limit": most}

    async def retrieved(self, batch: str) -> Any:
        """Return a batch as the provider has it."""
        async with self.calling(answers={404: self.unknown(batch)}):
            told = await self.told(batch)
            if not self.state(told):
                raise self.model.no_reply(told, "no batch")
            return told

    def state(self, batch: Any) -> str:
        """Return the provider's status of a batch; empty if it is not a batch."""
        state = getattr(batch, self.state_field, None)
        return state if isinstance(state, str) else ""

    async def told(self, batch: str) -> Any:
        """Return the provider's object of a batch."""
        return await self.desk.retrieve(**{self.called_by: batch})

    async def cancel(self, batch: str) -> None:
        """Ask the provider to work on a batch no longer."""
        async with self.calling(answers={404: self.unknown(batch)}):
            await self.desk.cancel(**{self.called_by: batch})

    def named(self, made: Any) -> str:
        """Return what the provider calls what it has made."""
        name = getattr(made, self.id_field, None)
        if isinstance(name, str) and name:
            return name
        raise self.model.no_reply(made, "nothing that has an id")

    async def check(self) -> None:
        """Raise `UsageError` if the server has no batches, neither at its address nor where it may be meant to be."""
        nothing_there = self.none_here(404)
        try:
            listed = await self.model.located(self._first)
        except EndpointError as error:
            raise nothing_there if error.kind == UNKNOWN_MODEL else error from None
        if not isinstance(getattr(listed, self.page_field, None), list):
            raise UsageError(f"{self.name}: the server at {self.model.address} has no batches; leave out --batch")

    async def _first(self) -> Any:
        async with self.calling(answers={status: self.none_here(status) for status in NO_BATCHES}):
            return await self.desk.list(**self.paging(1))

    async def lines(self, path: str, batch: str) -> AsyncGenerator[tuple[Any, Any], None]:
        """Yield the lines of a batch's results at a path as they arrive, each with the name of its request; None, if it
        cannot be read. The list may be of any length: each line has the time of a call."""
        import httpx2

        from harness.old.chat.wire import lines_of

        options = {"headers": {"accept": "application/binary", "x-stainless-raw-response": "stream"}}
        async with self.calling(answers={404: self.gone(batch)}):
            answer = await self.model.client.get(path, cast_to=httpx2.Response, options=options)
        try:
            lines = lines_of(answer.aiter_bytes())
            for _ in range(self.most_requests + 1):
                async with self.calling():
                    line = await anext(lines, None)
                if line is None:
                    return
                yield named_line(line)
            raise malformed(self.model.endpoint, "more results than a batch can have")
        finally:
            await answer.aclose()

    def repair(self, handed: Handed, parameter: str) -> bool:
        """Return whether a request that was refused for this parameter would now be sent otherwise."""
        self.model.learn(parameter)
        return set(self.model.wired(handed.request)) != set(handed.names)

    def learn(self, parameter: str) -> bool:
        """Remember that the model does not take a parameter; return whether that was new and can be repaired."""
        return self.model.learn(parameter)

    def sent(self, handed: Handed) -> Parameters:
        """Return the parameters with which a request was submitted, perhaps by an earlier process."""
        wanted = self.model.wanted(handed.request)
        limit = wanted.get("max_tokens", wanted.get("max_completion_tokens"))
        return {name: wanted.get(name, limit) for name in handed.names}

    def outcome(self, answer: Any, handed: Handed) -> Reply | ChatError:
        """Return the reply in an answer of the SDK's type, or why there is none."""
        try:
            reply = told(self.model.read(answer), handed.request, self.sent(handed), self.model.endpoint)
            return replace(reply, batch=True)
        except ChatError as fault:
            return fault

    def refusal(self, status: int, body: Any, handed: Handed) -> ChatError:
        """Return our error for a request that ended with an error status."""
        return self.model.fault_of_result(status, body, self.sent(handed), handed.request)

    def cancelled(self) -> ChatError:
        """Return the error for a request of a cancelled batch."""
        return ChatError(f"{self.name}: the batch was cancelled before this request was processed", kind="cancelled")

    def expired(self) -> TransientError:
        """Return the error for a request that the provider did not answer within a day."""
        return TransientError(f"{self.name}: the batch expired before this request was processed", kind="expired")

    def gone(self, batch: str) -> TransientError:
        """Return the error for results that are kept no longer."""
        return TransientError(f"{self.name}: the provider no longer keeps the results of batch {batch}", kind="expired")

    @contextlib.asynccontextmanager
    async def calling(
        self, calls: int = 1, size: int = 0, answers: Mapping[int, TurnbenchError] | None = None
    ) -> AsyncIterator[None]:
        """Raise our error for whatever goes wrong in the block, which may take the time of so many calls, and to send
        so many bytes; `answers` are the errors for statuses that mean more.

        The SDK's exceptions hold the whole request, key included, so none is kept as a cause.
        """
        try:
            async with asyncio.timeout(calls * self.model.endpoint.timeout + size / SLOWEST):
                yield
            return
        except TurnbenchError:
            raise
        except Exception as error:
            status = getattr(error, "status_code", None) or getattr(error, "code", None)
            fault = (answers or {}).get(status if isinstance(status, int) else 0) or self.model.fault(error)
            if fault is None and isinstance(error, OTHER_SHAPE):
                fault = malformed(self.model.endpoint, "a body of another shape")
            if fault is None:
                raise
        raise fault

    def none_here(self, status: int) -> UsageError:
        """Return the error for a server that knows nothing of batches."""
        return UsageError(
            f"{self.name}: the server at {self.model.address} has no batches (it answered {status} when asked for"
            " them); leave out --batch"
        )

    def unknown(self, batch: str) -> EndpointError:
        """Return the error for a batch that the provider does not know."""
        address = self.model.address
        return EndpointError(
            f"{self.name}: batch {batch} is not known at {address} to the account of this key", kind=UNKNOWN_BATCH
        )


def open_batches(model: ChatModel) -> "Batches[Any]":
    """Return the object that submits batches for a chat model.

    Raises:
        UsageError: its provider has none.
    """
    if not isinstance(model, RemoteModel):
        why = "it runs here and costs nothing, so it needs no batch"
    else:
        made_by = service(model.endpoint.provider).batches
        if made_by is not None:
            opened: Batches[Any] = made_by(model)
            return opened
        why = f"batches are not supported for its provider ({model.endpoint.provider})"
    raise UsageError(f"{model.name}: {why}; leave out --batch, or run it by itself")


def named_line(line: bytes) -> tuple[Any, Any]:
    """Return the name of the request that a line of results is about, and the line; None, if it cannot be read."""
    try:
        item = json.loads(line)
        return item["custom_id"], item
    except (ValueError, TypeError, KeyError, RecursionError):
        return None, None

"""What the chat models behind an SDK share: one client, one time limit, one way to fail, one memory of refusals."""

import asyncio
import importlib
import logging
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from harness.old.chat.body import at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.faults import UNKNOWN_MODEL, fault_of, fault_of_status, malformed, named, words_of
from harness.old.chat.model import Origin
from harness.old.chat.parameters import ParameterMemory, Parameters, is_header
from harness.old.chat.standing import Standing
from harness.old.chat.structured import refused_logprobs, told
from harness.old.chat.thinking import finish, sendable, spoken, storable
from harness.old.errors import ChatError, EndpointError, TransientError, UsageError
from harness.old.records import FinishReason, Message, Reply, Request, Sampling, Usage

if TYPE_CHECKING:
    from harness.old.chat.wire import Line

log = logging.getLogger("turnbench")
AnswerT = TypeVar("AnswerT")
_BROKEN_OFF = ("error", "abort")
"""Finish reasons of interrupted replies: not an answer, even with a text."""
MOST_TOKENS = 2**53
"""A number of tokens beyond this is none."""


class RemoteModel(ABC):
    """A chat model that is reached over the network through its provider's SDK."""

    repairable: frozenset[str] = frozenset()
    """The sampling parameters, by their names on the wire, that may be left out or renamed when refused."""
    also_refused: tuple[tuple[str, str], ...] = ()
    """Other names in a refusal, each with a parameter for whose sake it was sent."""

    sdk: str
    """The module with the SDK's exceptions."""

    def __init__(self, endpoint: Endpoint, key: str | None, address: str) -> None:
        """Prepare to talk to `address` with this key; nothing is opened before the first call."""
        self.name = endpoint.name
        self.endpoint = endpoint
        self.address = address
        self._key = key
        self._sdk = importlib.import_module(self.sdk)
        self._client: Any = None
        self._http: Any = None
        """What sends for the SDK's client."""
        self._line: Line | None = None
        self._told_of_move = False
        self.standing = Standing()
        self._parameters = ParameterMemory(self.repairable, endpoint.model)
        self._headers = _custom_headers(self._sdk)
        said = [word for value in self._headers.values() for word in (value, *re.split(r"[\s,;=]+", value))]
        self._secrets = tuple({*filter(None, [key]), *(word for word in said if len(word) >= 8)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self.address})"

    @abstractmethod
    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters by their names on the wire."""

    def shape(self, request: Request) -> Parameters:
        """Return a request's options other than sampling (a schema, log-probabilities), by their names on the wire."""
        return {}

    @abstractmethod
    def open_client(self, **options: Any) -> Any:
        """Return the SDK's asynchronous client, made with these options."""

    @abstractmethod
    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the header in which the protocol carries a key."""

    path: str | None = None
    """Where a request is posted; None: the SDK knows."""

    @abstractmethod
    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by its names on the wire."""

    def headers(self, sent: Parameters) -> dict[str, str]:
        """Return the headers that a call needs in addition to the usual ones."""
        return {}

    def transport(self) -> Callable[..., Any]:
        """Return what makes the SDK's HTTP client: the faster of the two that it has, if that is installed."""
        from harness.old.chat import wire

        name = "DefaultAioHttpClient" if wire.has_aiohttp() else "DefaultAsyncHttpxClient"
        made: Callable[..., Any] = getattr(self._sdk, name)
        return made

    def every_header(self, request: Request, sent: Parameters) -> dict[str, str]:
        """Return the headers that a call needs, and those that the user requested."""
        return {**(request.sampling.extra_headers or {}), **self.headers(sent)}

    @abstractmethod
    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer.

        Raises:
            TransientError: it has none.
        """

    def elsewhere(self) -> str | None:
        """Return an address at which the protocol may be spoken where the one that was stated has nothing."""
        return None

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply."""
        return await self.located(lambda: self._reply(request))

    async def located(self, call: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """Return the result of a call, if necessary from the address that was probably meant."""
        asked = self.address
        try:
            return await call()
        except EndpointError as error:
            fault = error
        if fault.kind == UNKNOWN_MODEL and self.address == asked and (other := self.elsewhere()) is not None:
            self.address = self.client.base_url = other
            self._line = self._line_of(self.client)
        if fault.kind != UNKNOWN_MODEL or self.address == asked:
            raise fault
        tried = self.address
        try:
            answer = await call()
        except EndpointError as error:
            if error.kind != UNKNOWN_MODEL:
                raise
            raise EndpointError(f"{fault}; nothing answers at {tried} either", kind=UNKNOWN_MODEL) from None
        if not self._told_of_move:
            self._told_of_move = True
            message = "%s: nothing answers at %s; using %s, which --base-url should name"
            log.warning(message, self.name, asked, self.address)
        return answer

    async def _reply(self, request: Request) -> Reply:
        """Return the model's reply from the present address."""
        try:
            reply, sent = await self._parameters.call(self.wanted(request), partial(self._attempt, request))
        except ChatError as error:
            raise refused_logprobs(error, request, self.endpoint) or error from None
        return told(reply, request, sent, self.endpoint)

    @property
    def client(self) -> Any:
        """The SDK's client, created on first use."""
        if self._client is None:
            self._client = self._opened()
        return self._client

    @property
    def origin(self) -> Origin:
        """What another process needs to make the same calls."""
        return Origin(self.endpoint, self.address, self._parameters.changes, self.standing.heard)

    def learn_from(self, origin: Origin) -> None:
        """Take over what another process has found out."""
        self.address = origin.address or self.address
        self._parameters.changes |= origin.changes
        self.standing.heard = origin.heard

    @property
    def silence(self) -> float:
        """The seconds without a byte after which a call is given up.

        A reply comes in one piece, so its first byte may take as long as all of it. Only a server that has never
        answered is given less time: it may never do so, and that is to be found out in minutes.
        """
        return self.endpoint.timeout if self.standing.heard else min(self.endpoint.timeout, self.endpoint.silence)

    def wanted(self, request: Request) -> Parameters:
        """Return all that a request wants, by its names on the wire."""
        return {**self.asked(request.sampling), **self.shape(request)}

    def wired(self, request: Request) -> Parameters:
        """Return what a request wants as the model takes it, by all that is known so far."""
        return self._parameters.wire(self.wanted(request))

    def learn(self, parameter: str) -> bool:
        """Remember that the model does not take a parameter; return whether that was new and can be repaired."""
        return self._parameters.learn(parameter)

    def fault(self, error: Exception, sent: Parameters | None = None, silence: float | None = None) -> ChatError | None:
        """Return our error for what the SDK raised, if it was in a call with what was sent in it; None if it is not the
        endpoint's doing."""
        if isinstance(error, named(self._sdk, "APIStatusError")):
            return self.fault_of_result(error.status_code, error.body, sent, headers=error.response.headers)
        silence = self.endpoint.timeout if silence is None else silence
        return fault_of(error, self._sdk, self.endpoint, self._secrets, silence)

    def fault_of_result(
        self,
        status: int,
        body: Any,
        sent: Parameters | None = None,
        request: Request | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ChatError:
        """Return our error for a call, a batch, or a request in one, that ended with this status and error body."""
        secrets, also = self._secrets, self.also_refused
        fault = fault_of_status(status, body, self.endpoint, headers=headers, secrets=secrets, sent=sent, also=also)
        return fault if request is None else refused_logprobs(fault, request, self.endpoint) or fault

    async def close(self) -> None:
        """Release connections."""
        http, self._http, self._client = self._http, None, None
        if http is not None:
            await http.aclose()

    async def _attempt(self, request: Request, sent: Parameters) -> Reply:
        """Return the reply of one call, or raise our own error for what the SDK or its HTTP client raised.

        Their exceptions hold the whole request, key included, so none is kept as a cause.
        """
        client, silence = self.client, self.silence
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                answer = await self._post(client, request, sent)
            return replace(self.read(answer), seconds=time.perf_counter() - started)
        except Exception as error:
            fault = self.fault(error, sent, silence)
            if fault is None:
                raise
        raise fault

    async def _post(self, client: Any, request: Request, sent: Parameters) -> Any:
        """Return the JSON of the server's answer to one call.

        Address, headers and HTTP client are the SDK's; the request is in the wire's own form and is sent without its
        help, and the answer is read as it came: converting both takes twice to five times as long as all the rest of a
        call, and stumbles over what only some servers send.

        Raises:
            ChatError: the server answered with an error status.
        """
        from harness.old.chat.wire import error_of, json_of

        assert self._line is not None
        answer = await self._line.post(self.body(request, sent), self.every_header(request, sent))
        if not answer.is_success:
            raise self.fault_of_result(answer.status_code, error_of(answer), sent, headers=answer.headers)
        return json_of(answer)

    def _opened(self) -> Any:
        """Return a client that does not retry.

        Without a key no credentials are sent, and to a stated address only the key
        that was named for it, whatever the SDK found in the environment.
        """
        from harness.old.chat.wire import Guard, http_client, time_limits

        own = self._key is not None and not self.endpoint.stated
        guard = Guard(
            self.standing,
            credentials=None if own else self.credentials(self._key) if self._key else {},
            foreign=self._headers if self.endpoint.stated else (),
            limits=lambda: time_limits(self.endpoint.timeout, self.silence),
        )
        self._http = http_client(self.transport(), guard, self.address, timeout=self.endpoint.timeout)
        client = self.open_client(
            base_url=self.address,
            api_key=self._key or "none",
            timeout=self._http.timeout,
            max_retries=0,
            http_client=self._http,
        )
        self._line = self._line_of(client)
        return client

    def _line_of(self, client: Any) -> "Line | None":
        """Return the way of a call to where a client of the SDK's now points."""
        from harness.old.chat.wire import Line

        return None if self.path is None else Line(client, self._http, self.path)

    def no_reply(self, answer: Any, what: str) -> TransientError:
        """Return the error for an answer that is not a reply: the SDKs pass on bodies of any shape as replies."""
        if isinstance(answer, str):
            said = words_of(answer, self._secrets)
            return malformed(self.endpoint, f"text that is no JSON: {said}" if answer else "nothing")
        error = error_in(answer)
        return self._error_in_reply(error) if error else malformed(self.endpoint, what)

    def _error_in_reply(self, error: Any) -> TransientError:
        said = words_of(error, self._secrets)
        return malformed(self.endpoint, "status 200 and an error" + (f": {said}" if said else ""))

    def need_sound(self, *parts: Any, ended: Any = None) -> None:
        """Raise `TransientError` if the server reports a failure, in any of these parts of a reply or by its finish
        reason."""
        for error in filter(None, map(error_in, parts)):
            raise self._error_in_reply(error)
        if isinstance(ended, str) and ended.strip().lower() in _BROKEN_OFF:
            raise malformed(self.endpoint, f"a reply that ended with {ended!r}")


def reply_of(
    content: Any,
    reason: FinishReason,
    usage: Usage,
    model: Any,
    *,
    apart: tuple[Any, ...] = (),
    refusal: str | None = None,
    **more: Any,
) -> Reply:
    """Return the reply with this content (a text, or blocks); `apart` is reasoning from separate fields,
    `refusal` the text of a refusal."""
    text, reasoning = spoken(content, apart=apart, cut=reason == "length")
    if refusal and not text:
        text, reason = refusal, "refused"
    return Reply(text, reasoning, finish(reason, text), usage, model=word(model), **more)


def usage_of(usage: Any, **names: str) -> Usage:
    """Return the tokens that an answer counts, each of ours by its name there: `input_tokens`, or
    `input_tokens_details.cached_tokens`."""
    return Usage(**{ours: count(at(usage, *name.split("."))) for ours, name in names.items()})


def parted(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Return what the system says in a conversation, fit to be sent (empty: nothing), and the rest of it."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    return sendable(system) if system.strip() else "", [message for message in messages if message.role != "system"]


def error_in(part: Any) -> Any:
    """Return the error that a part of an answer holds, or is, or what an SDK made of it; None if there is none."""
    plain = getattr(part, "model_extra", part)
    return plain if at(plain, "object") == "error" else at(plain, "error") or None


def word(value: Any) -> str | None:
    """Return a text of an answer that can be stored, or None if it is no text."""
    return storable(value) if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """Return a number of tokens, or None if the answer has something else there."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS else None


def _custom_headers(sdk: ModuleType) -> dict[str, str]:
    """Return the headers that an SDK adds to every call by itself, from `OPENAI_CUSTOM_HEADERS` and the like.

    Raises:
        UsageError: one cannot be sent; its value may be a secret and is not repeated.
    """
    variable = f"{sdk.__name__.upper()}_CUSTOM_HEADERS"
    lines = os.environ.get(variable, "").split("\n")
    found = {name.strip(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
    if not all(is_header(name, value) for name, value in found.items()):
        raise UsageError(f"{variable} is not a header, NAME: VALUE in ASCII; correct the variable or unset it")
    return found

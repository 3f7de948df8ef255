"""What the chat models behind an SDK share: one client, one time limit, one way to fail, one memory of refusals."""

import asyncio
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from harness.chat.endpoint import Endpoint
from harness.chat.faults import fault_of, fault_of_result, malformed, words_of
from harness.chat.parameters import ParameterMemory, Parameters
from harness.chat.standing import Standing
from harness.chat.structured import refused_logprobs, told
from harness.chat.thinking import storable
from harness.errors import ChatError, TransientError
from harness.records import Reply, Request, Sampling

CONNECT_SECONDS = 20.0
"""How long making a connection may take."""

_IDENTIFYING = ("authorization", "x-api-key", "api-key", "openai-organization", "openai-project", "cookie")


class RemoteModel(ABC):
    """A chat model that is reached over the network through its provider's SDK."""

    repairable: frozenset[str] = frozenset()
    """The sampling parameters, by their names on the wire, that may be left out or renamed when refused."""
    also_refused: tuple[tuple[str, str], ...] = ()
    """Other names in a refusal, each with a parameter for whose sake it was sent."""

    def __init__(self, endpoint: Endpoint, key: str | None, sdk: ModuleType, address: str) -> None:
        """Prepare to talk to `address` with this key; nothing is opened before the first call."""
        self.name = endpoint.name
        self.endpoint = endpoint
        self.address = address
        self._key = key
        self._sdk = sdk
        self._client: Any = None
        self.standing = Standing()
        self._parameters = ParameterMemory(self.repairable, endpoint.model)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self.address})"

    @abstractmethod
    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters by their names on the wire."""

    def shape(self, request: Request) -> Parameters:
        """Return what a request wants beside sampling (a schema, log-probabilities), by its names on the wire."""
        return {}

    @abstractmethod
    def open_client(self, **options: Any) -> Any:
        """Return the SDK's asynchronous client, made with these options."""

    @abstractmethod
    async def send(self, client: Any, request: Request, sent: Parameters) -> Any:
        """Return what the SDK made of the server's answer to one call."""

    @abstractmethod
    def read(self, answer: Any) -> Reply:
        """Return the reply that an answer holds.

        Raises:
            TransientError: it holds none.
        """

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply."""

        async def attempt(sent: Parameters) -> Reply:
            return await self._attempt(request, sent)

        wanted = self.wanted(request)
        try:
            reply, sent = await self._parameters.call(wanted, attempt)
        except ChatError as error:
            fault = refused_logprobs(error, request, self.endpoint)
            if fault is None:
                raise
        else:
            return told(reply, request, sent, self.endpoint)
        raise fault

    @property
    def client(self) -> Any:
        """The SDK's client, made by whoever needs it first."""
        if self._client is None:
            self._client = self._opened()
        return self._client

    def wanted(self, request: Request) -> Parameters:
        """Return all that a request wants, by its names on the wire."""
        return {**self.asked(request.sampling), **self.shape(request)}

    def wired(self, request: Request) -> Parameters:
        """Return what a request wants as the model takes it, by all that is known so far."""
        return self._parameters.wire(self.wanted(request))

    def concluded(self, answer: Any, request: Request, sent: Parameters) -> Reply:
        """Return the reply that an answer holds, with what was applied.

        Raises:
            ChatError: it holds none, or not what was asked for.
        """
        return told(self.read(answer), request, sent, self.endpoint)

    def learn(self, parameter: str) -> bool:
        """Remember that the model does not take a parameter; return whether that was new and can be repaired."""
        return self._parameters.learn(parameter)

    def fault(self, error: Exception) -> ChatError | None:
        """Return our error for what the SDK raised outside a call; None if it is not the endpoint's doing."""
        return fault_of(error, self._sdk, self.endpoint, key=self._key)

    def fault_of_result(
        self, status: int, body: Any, sent: Parameters | None = None, request: Request | None = None
    ) -> ChatError:
        """Return our error for a batch, or a request in one, that came to this status and error body."""
        fault = fault_of_result(status, body, self.endpoint, key=self._key, sent=sent, also=self.also_refused)
        return fault if request is None else refused_logprobs(fault, request, self.endpoint) or fault

    async def close(self) -> None:
        """Release connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, request: Request, sent: Parameters) -> Reply:
        """Return the reply of one call, or raise our own error for what the SDK raised.

        The SDK's exceptions hold the whole request, key included, so none is kept as a cause.
        """
        if self._client is None:
            self._client = self._opened()
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                answer = await self.send(self._client, request, sent)
            return replace(self.read(answer), seconds=time.perf_counter() - started)
        except Exception as error:
            fault = fault_of(error, self._sdk, self.endpoint, key=self._key, sent=sent, also=self.also_refused)
            if fault is None:
                raise
        raise fault

    def _opened(self) -> Any:
        """Return a client without retries, on the fastest transport that is installed.

        A proxy is never used for this machine's own addresses. Without a key nothing is sent that says who is asking,
        whatever the SDK found in the environment.
        """
        local = (urlsplit(self.address).hostname or "") in {"localhost", "127.0.0.1", "::1"}
        hooks = {"request": [] if self._key else [_anonymous], "response": [self.standing.hook]}
        timeout = self._sdk.Timeout(self.endpoint.timeout, connect=min(CONNECT_SECONDS, self.endpoint.timeout))
        transport = self._sdk.DefaultAioHttpClient if _has_aiohttp() else self._sdk.DefaultAsyncHttpxClient
        return self.open_client(
            base_url=self.address,
            api_key=self._key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=transport(timeout=timeout, trust_env=not local, event_hooks=hooks),
        )

    def no_reply(self, answer: Any, what: str) -> TransientError:
        """Return the error for an answer that is no reply: the SDKs pass on bodies of any shape as if they were one."""
        if isinstance(answer, str):
            return malformed(
                self.endpoint, f"text that is no JSON: {words_of(answer, self._key)}" if answer else "nothing"
            )
        error = (getattr(answer, "model_extra", None) or {}).get("error")
        return malformed(self.endpoint, f"status 200 and an error: {words_of(error, self._key)}" if error else what)


def word(value: Any) -> str | None:
    """Return a text of an answer that can be stored, or None if it is no text."""
    return storable(value) if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """Return a number of tokens, or None if the answer has something else there."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


async def _anonymous(request: Any) -> None:
    """Take everything out of a request's headers that says who is asking."""
    for name in _IDENTIFYING:
        request.headers.pop(name, None)


def _has_aiohttp() -> bool:
    """Return whether the SDKs' aiohttp transport can be used; it takes half the time per call."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        return False
    return True

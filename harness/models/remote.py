"""What the chat models behind an SDK share: one client, one time limit, one way to repair a call.

A call goes `request → wire(request) → send(wire) → read(answer) → completed(reply)`. `send` is the
transport: the provider's SDK in this process (`call`), or what is handed in, such as a queue of
batches or a worker of a cluster.

Where the endpoint refuses a parameter, a system message or the like, that is remembered (`learn`),
and the call is made again as long as what is sent becomes another. Refusals cost nothing, so calls
do not wait for each other.
"""

import asyncio
import contextlib
import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

import httpx2
from msgspec.structs import replace

from harness.errors import ChatError, EndpointError
from harness.models.decoding import at, decoded, list_at, text_at
from harness.models.endpoint import Endpoint
from harness.models.errors import Problem, Wire, connection_problem, problem_of
from harness.models.marks import MARKED, cut_at_mark
from harness.models.providers import PROVIDERS, Provider
from harness.reasoning import join_thoughts, split_reasoning
from harness.types import Detail, Message, Reply, Request, TokenLogprobs, Usage

MOST_BYTES = 64 * 2**20
"""Bytes of an answer that are read; the largest replies there are have a tenth of it."""
CONNECTIONS = 1000
"""Connections of an endpoint; `running` decides how many calls there are."""
CONNECT_SECONDS = 20.0
MOST_REPAIRS = 12
NO_REPLY = "(no reply)"
"""Sent in place of an earlier reply that was empty: most endpoints take no empty message."""
COST_HEADER = "x-litellm-response-cost"
"""In which LiteLLM's proxy states the dollars of a call."""
ALL_REFUSED = 3
"""Refused values of a parameter after which no other one is tried."""
SCHEMAS = ("response_format", "output_config", "text", "response_json_schema")
"""Parameters that hold a JSON schema: if refused, the reply has `structured: false`."""
LOGPROBS = ("logprobs", "top_logprobs", "include")

Send = Callable[[Wire], Awaitable[Any]]
"""A transport: returns the answer to a request as JSON, as late as it likes; raises `Problem`, or
an error of the harness that is passed on as it is."""

_CREDENTIALS = {
    *("openai-organization", "openai-project", "x-goog-user-project", "cookie"),
    *(name.lower() for provider in PROVIDERS.values() for name in provider.key_headers),
}


class RemoteModel(ABC):
    """A chat model that is reached over the network through its provider's SDK."""

    path: ClassVar[str]
    """Where requests are posted, below the endpoint's address."""
    url: str = ""
    """The same as a whole address, for an SDK that takes its time to join the two at each call."""
    other_limit: str | None = None
    """Another name of the limit on tokens, used once the first is refused."""
    streams: ClassVar[bool] = False
    """Whether replies can be asked for as a stream."""
    states_stream: ClassVar[bool] = True
    """Whether the body says if a stream is asked for."""

    def __init__(self, endpoint: Endpoint, send: Send | None = None) -> None:
        """Open the SDK's client; with `send` calls go there: no client and no key are needed."""
        self.name = endpoint.name
        self.endpoint = endpoint
        # A package's provider that uses these classes is like OpenAI's.
        self.about = PROVIDERS.get(endpoint.provider, PROVIDERS["openai"])
        self.limit = self.about.parameters["max_tokens"]
        self.answered = False
        """Whether the endpoint has given a reply."""
        self._send = send or self.call
        self._key: str | None = None
        self._http: httpx2.AsyncClient | None = None
        if send is None:
            self._key = endpoint.key()
            self._http = http_client(endpoint, self.about, self._key, self.transport())
            options = {
                "base_url": endpoint.base_url,
                "api_key": self._key or "none",
                "max_retries": 0,
                "http_client": self._http,
                "timeout": self._http.timeout,
            }
            self.client = self.open_client(options)
        self._refused: dict[str, set[str]] = {}
        """For each parameter the values that the endpoint refused, as JSON."""
        self._left_out: set[str] = set()
        """Parameters that it refuses with any value."""
        self._most: int | None = None
        self._folds = False
        self._stream = False

    # What a protocol defines

    def transport(self) -> type[httpx2.AsyncClient]:
        """Return the class of the HTTP client: the SDK's own, where it brings a faster one."""
        return httpx2.AsyncClient

    @abstractmethod
    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client; the options are those of OpenAI's and Anthropic's."""

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return all that a request asks for beside its messages, by the protocol's names."""
        names = {**self.about.parameters, "max_tokens": self.limit}
        stated = request.sampling.stated()
        extra: dict[str, Any] = stated.pop("extra_body", {})
        return {names[name]: value for name, value in stated.items() if name in names} | extra

    def headers(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that the parameters need."""
        return {}

    @abstractmethod
    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""

    async def post(self, wire: Wire) -> Any:
        """Return the endpoint's answer as JSON; exceptions are the SDK's."""
        options = {"headers": wire.headers}
        response: httpx2.Response = await self.client.post(
            self.url or self.path, cast_to=httpx2.Response, body=wire.body, options=options
        )
        answer = decoded(response.content)
        if isinstance(answer, dict) and (cost := response.headers.get(COST_HEADER)):
            with contextlib.suppress(ValueError):
                answer["usage"] = {"cost": float(cost), **(answer.get("usage") or {})}
        return answer

    @abstractmethod
    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer; raise `Problem` if there is none."""

    # What they share

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply."""
        started = time.perf_counter()
        request = replace(request, messages=[_sendable(message) for message in request.messages])
        try:
            reply = await self._repaired(request)
        except Problem as problem:
            raise self._error(problem, request) from None
        return replace(reply, detail=replace(reply.detail, seconds=time.perf_counter() - started))

    async def _repaired(self, request: Request) -> Reply:
        """Return the reply to a request, refusals repaired on the way."""
        fit: int | None = None
        for _ in range(MOST_REPAIRS):
            wire = self.wire(request, fit)
            try:
                reply = self.read(await self._send(wire))
            except Problem as problem:
                if problem.kind == "refused prompt":
                    note = problem.message or "refused by the provider"
                    return Reply(text="", detail=Detail(finish_reason="refused", note=note))
                if problem.kind == "spent limit":  # a reply that was cut before its first word
                    detail = Detail(finish_reason="length", note=problem.message)
                    return self.completed(Reply(text="", detail=detail), request, wire)
                self.learn(problem, request, wire)
                fit = problem.fit or fit
                if self.wire(request, fit) == wire:
                    raise
            else:
                reply = self.completed(reply, request, wire)
                self.answered = True
                return reply
        raise Problem("bad request", f"a refusal of each of {MOST_REPAIRS} ways to ask")

    async def call(self, wire: Wire) -> Any:
        """Return the answer to one call by the SDK; whatever else happens is a `Problem`.

        The SDKs' exceptions hold the whole request, key included, so none is kept as a cause.
        """
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                return await self.post(wire)
        except TimeoutError:
            problem = Problem("timeout", f"nothing within {self.endpoint.timeout:g} s")
        except Exception as error:
            known = self.problem(error, wire)
            if known is None:
                raise
            problem = known
        raise problem

    def problem(self, error: Exception, wire: Wire) -> Problem | None:
        """Return the problem behind an exception of the SDK; None if it is not the endpoint's."""
        if isinstance(error, Problem):
            return error
        status, body = getattr(error, "status_code", None), getattr(error, "body", None)
        if isinstance(status, int):
            response: httpx2.Response = error.response  # type: ignore[attr-defined]
            text = response.text if body is None else body
            return self.problem_of(status, text, response.headers, wire)
        if body is not None:  # within a stream
            return self.problem_of(200, {"error": body}, {}, wire)
        return connection_problem(error, self.endpoint)

    def problem_of(self, status: int, body: Any, headers: Mapping[str, str], wire: Wire) -> Problem:
        """Return the problem behind an answer with a status and an error body."""
        return problem_of(status, body, headers, wire, answered=self.answered, key=self._key)

    def learn(self, problem: Problem, request: Request, wire: Wire) -> None:
        """Remember what the endpoint does not take; what the user typed is never left out."""
        match problem.kind:
            case "system role":
                self._folds = True
            case "stream only":
                self._stream = self.streams
            case "limit" if problem.most:
                self._most = problem.most
            case "parameter":
                needed = {*self._typed(request), *LOGPROBS}
                free = [name for name in problem.parameters if name not in needed]
                # Of several that exclude each other the benchmark's temperature goes last.
                free.sort(key=lambda name: name == "temperature")
                if free and free[0] == self.limit and self.other_limit:
                    self.limit, self.other_limit = self.other_limit, None
                elif len(problem.parameters) > 1:  # what excludes another one does so always
                    self._left_out.update(free[:1])
                elif free:
                    values = self._refused.setdefault(free[0], set())
                    values.add(_json(wire.parameters.get(free[0])))
                    if len(values) >= ALL_REFUSED:
                        self._left_out.add(free[0])

    def wire(self, request: Request, fit: int | None = None) -> Wire:
        """Return a request as it is sent, by all that is known of the endpoint.

        `fit`: the most tokens of a reply for which this prompt leaves room.
        """
        notes: list[str] = []
        parameters = self.parameters(request)
        if self.states_stream:
            parameters["stream"] = self._stream
        if self._stream:
            parameters["stream_options"] = {"include_usage": True}
        for name in sorted(parameters):
            values = self._refused.get(name)
            if name in self._left_out or (values and _json(parameters[name]) in values):
                del parameters[name]
                notes.append(f"{name} left out: the endpoint refuses it")
        if limit := parameters.get(self.limit):
            most = min(limit, self._most or limit, fit or limit)
            if most < limit:
                parameters[self.limit] = most
                lowered = f"lowered from {limit} to {most}"
                notes.append(f"{self.limit} {lowered}: the endpoint refused more")
        system = any(message.role == "system" for message in request.messages)
        if system and self._folds:
            request, system = fold_system(request), False
            notes.append("the system message was put at the head of the first user message")
        return Wire(
            body=self.body(request, parameters),
            parameters=parameters,
            headers={**(request.sampling.extra_headers or {}), **self.headers(parameters)},
            ask=request.ask,
            system=system,
            notes=tuple(notes),
            limit=self.limit,
            aliases=self.about.aliases,
        )

    def _typed(self, request: Request) -> dict[str, str]:
        """Return how the user gave parameters, by their names in the protocol."""
        names = self.about.parameters
        typed = {name: f"extra_body.{name}" for name in request.sampling.extra_body or {}}
        for name in self.endpoint.sampling.stated():
            typed[names.get(name, name)] = f"{name} in sampling of [models.{self.name}]"
        for name in self.endpoint.typed:
            has_flag = name in ("temperature", "top_p", "seed")
            flag = f"--{name.replace('_', '-')}" if has_flag else f"--param {name}"
            typed[names.get(name, name)] = flag
        typed.pop(names["max_tokens"], None)  # renamed or lowered, never left out
        return typed

    def completed(self, reply: Reply, request: Request, wire: Wire) -> Reply:
        """Return the reply with what was applied."""
        if request.top_logprobs is not None and reply.logprobs is None and reply.text.strip():
            raise Problem("no log-probabilities", "no log-probabilities")
        reply = self._without_stop(reply, wire)
        hidden = (*SCHEMAS, *LOGPROBS, "stream", "stream_options")
        applied = {name: value for name, value in wire.parameters.items() if name not in hidden}
        if request.top_logprobs is not None:
            applied["top_logprobs"] = request.top_logprobs
        if request.schema is not None:
            applied["structured"] = any(name in wire.parameters for name in SCHEMAS)
        notes = [*filter(None, [reply.detail.note]), *wire.notes]
        detail = replace(reply.detail, sampling_applied=applied, note="; ".join(notes) or None)
        return replace(reply, detail=detail)

    def _without_stop(self, reply: Reply, wire: Wire) -> Reply:
        """Return a reply without the stop text that ended it, which some servers leave there."""
        stops = wire.parameters.get(self.about.parameters.get("stop", "stop")) or ()
        for stop in [stops] if isinstance(stops, str) else stops:
            if isinstance(stop, str) and stop and reply.text.endswith(stop):
                text, detail = reply.text.removesuffix(stop).rstrip(), reply.detail
                if not text and detail.finish_reason == "stop":
                    detail = replace(detail, finish_reason="empty")
                return replace(reply, text=text, detail=detail)
        return reply

    def _error(self, problem: Problem, request: Request) -> ChatError:
        """Return the error for a problem that cannot be repaired."""
        if request.top_logprobs is not None and "logprobs" in problem.message.lower():
            problem.kind = "no log-probabilities"
        error = problem.error(self.endpoint, answered=self.answered)
        typed = self._typed(request)
        flags = [typed[name] for name in problem.parameters if name in typed]
        if problem.kind != "parameter" or not flags:
            return error
        advice = "leave it out" if len(flags) == 1 else "leave one of them out"
        message = f"{error}; the endpoint does not take {' with '.join(flags)}: {advice}"
        ends = ChatError if self.answered else EndpointError
        return ends(message, kind="parameter refused", status=problem.status)

    def reply_of(
        self,
        answer: Any,
        text: str,
        ended: str,
        *,
        thoughts: Sequence[str] = (),
        refusal: str = "",
        logprobs: list[TokenLogprobs] | None = None,
    ) -> Reply:
        """Return the reply with this text; `thoughts` is reasoning that came in fields of its own.

        `ended` is the protocol's finish reason.
        """
        finish = self.about.finish.get(ended.partition(":")[0].strip(), "unstated")
        if finish == "failed":
            raise Problem("malformed reply", f"a reply that ended with {ended!r}")
        text, leading = split_reasoning(text, cut=finish == "length")
        reasoning = join_thoughts([*thoughts, leading or ""])
        text, mark = cut_at_mark(text)
        note = f"stopped by the service: {ended}" if finish == "refused" else None
        if mark is not None:
            note = f"{MARKED} {mark}, which the server left in"
            finish = "stop" if finish == "length" else finish
        if refusal and not text:
            text, finish = refusal, "refused"
        if not text.strip() and finish in ("stop", "unstated"):
            finish = "empty"
            if reasoning:
                note = "the server put all of the text into the field for reasoning"
        detail = Detail(
            finish_reason=finish,
            usage=self._usage(answer),
            price=self._cost(answer),
            provider_model=storable(text_at(answer, self.about.model_field)) or None,
            reasoning=storable(reasoning) if reasoning else None,
            note=note,
        )
        return Reply(text=storable(text), detail=detail, logprobs=logprobs)

    def _usage(self, answer: Any) -> Usage:
        """Return the tokens that an answer counts."""
        counts = {}
        for name, places in self.about.usage.items():
            numbers = [at(answer, *place.split(".")) for place in places]
            numbers = [number for number in numbers if isinstance(number, int)]
            counts[name] = sum(numbers) if numbers else None
        reply, prompt = counts.get("completion_tokens"), counts.get("prompt_tokens")
        total = at(answer, *self.about.total.split("."))
        if reply is not None and prompt is not None and isinstance(total, int):
            counts["completion_tokens"] = max(reply, total - prompt)  # some count no reasoning
        return Usage(**counts)

    def _cost(self, answer: Any) -> float | None:
        """Return the dollars that an answer says it cost; None: it says nothing, or nought."""
        cost = at(answer, *self.about.cost.split("."))
        is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
        return float(cost) if is_number and cost > 0 else None

    def no_reply(self, answer: Any, what: str) -> Problem:
        """Return the problem of an answer without a reply; it may be an error with status 200."""
        page = isinstance(answer, str) and answer.lstrip()[:1] == "<"
        if filtered := _filtered(answer):
            return Problem("refused prompt", f"filtered: {', '.join(filtered)}")
        said = at(answer, "error") or at(answer, "base_resp") or at(answer, "object") == "error"
        if page or said:
            return self.problem_of(200, answer, {}, Wire())
        return Problem("malformed reply", what)

    async def close(self) -> None:
        """Release connections."""
        if self._http is not None:
            await self._http.aclose()


# The HTTP client


def http_client(
    endpoint: Endpoint, about: Provider, key: str | None, transport: type[httpx2.AsyncClient]
) -> httpx2.AsyncClient:
    """Return what an SDK sends with: no redirect is followed, no more than `MOST_BYTES` are read.

    To a stated address goes only the key that was named for it, whatever the SDK found in the
    environment; without a key no credentials go anywhere.
    """
    credentials: dict[str, str] = {}
    if key and endpoint.base_url != about.address:  # there the SDK's own header is right
        credentials = {name: form.format(key) for name, form in about.key_headers.items()}
    foreign: set[str] = set()
    if key is None or endpoint.stated:
        foreign = _CREDENTIALS | (_environment_headers() if endpoint.stated else set())

    async def guard(request: httpx2.Request) -> None:
        for name in foreign.intersection(request.headers):
            del request.headers[name]
        request.headers.update(credentials)

    async def cap(response: httpx2.Response) -> None:
        stream = response.stream
        if response.request.method == "POST" and isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Capped(stream)  # not the files of batches

    return transport(
        timeout=httpx2.Timeout(endpoint.timeout, connect=min(endpoint.timeout, CONNECT_SECONDS)),
        limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        follow_redirects=False,
        # Without TLS there is nothing to verify; reading the authorities takes 20 ms.
        verify=endpoint.base_url.startswith("https:"),
        trust_env=not endpoint.is_loopback,
        event_hooks={"request": [guard], "response": [cap]},
    )


def _environment_headers() -> set[str]:
    """Return the names of the headers that variables of the environment add to an SDK's calls."""
    lines = [
        line
        for sdk in ("OPENAI", "ANTHROPIC")
        for line in os.environ.get(f"{sdk}_CUSTOM_HEADERS", "").splitlines()
    ]
    return {line.partition(":")[0].strip().lower() for line in lines if ":" in line}


class _Capped(httpx2.AsyncByteStream):
    """The bytes of an answer, up to `MOST_BYTES`."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise httpx2.DecodingError(f"more than {MOST_BYTES // 2**20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


# Reading answers, and writing requests


def _filtered(answer: Any, name: str = "prompt") -> list[str]:
    """Return the names under which an answer says that something was filtered."""
    if isinstance(answer, list):
        return [found for item in answer for found in _filtered(item, name)]
    if not isinstance(answer, dict):
        return []
    own = [name] if answer.get("filtered") is True else []
    return own + [found for key, inner in answer.items() for found in _filtered(inner, key)]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def token_logprobs(places: list[Any]) -> list[TokenLogprobs] | None:
    """Return the log-probabilities in a list of tokens; None if there are none."""
    tokens = []
    for place in places:
        token, logprob = at(place, "token"), at(place, "logprob")
        if not isinstance(token, str) or not isinstance(logprob, int | float):
            return None
        top = [
            (storable(likely["token"]), float(likely["logprob"]))
            for likely in list_at(place, "top_logprobs")
            if isinstance(at(likely, "token"), str)
        ]
        top.sort(key=lambda pair: -pair[1])
        tokens.append(TokenLogprobs(storable(token), float(logprob), top))
    return tokens or None


_UNSTORABLE = re.compile("[\ud800-\udfff\0]")


def storable(text: str) -> str:
    """Return a text with NUL and lone surrogates, which no UTF-8 file can hold, replaced."""
    return _UNSTORABLE.sub("\ufffd", text)


def _sendable(message: Message) -> Message:
    """Return a message as it is sent: a stand-in for a blank one, and nothing that no UTF-8 has."""
    text = storable(message.content)
    blank = message.role != "system" and not text.strip()
    return Message(message.role, NO_REPLY if blank else text)


def split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Return the system text of a conversation (empty: none), and the other messages."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    return (system if system.strip() else ""), rest


def fold_system(request: Request) -> Request:
    """Return a request with its system text at the head of the first user message."""
    system, (first, *others) = split_system(request.messages)
    head = f"{system}\n\n" if system else ""
    shared = request.shared + len(head) if request.shared and not others else request.shared
    messages = [Message("user", head + first.content), *others]
    return replace(request, messages=messages, shared=shared)


def strict_schema(schema: Any) -> Any:
    """Return a JSON schema as providers demand it: objects closed, all properties required."""
    if isinstance(schema, list):
        return [strict_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    strict = {key: strict_schema(value) for key, value in schema.items()}
    if strict.get("type") == "object" and isinstance(strict.get("properties"), dict):
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict

"""Anthropic's messages.

The current SDK uses a version of the protocol without temperature and top_p. If one is requested, it is sent
under the version that had them; a model that refuses it then gets the call without, under the SDK's own version, and
the reply says what was applied. The protocol has no seed, and no temperature is sent with thinking on.
"""

import contextlib
import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import quote, urlsplit

from harness.old.chat.batches import Batches, Handed, Prepared, Progress
from harness.old.chat.body import at, text_at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.chat.remote import RemoteModel, parted, reply_of, usage_of
from harness.old.chat.services import Caching, Service
from harness.old.chat.structured import no_logprobs, strict
from harness.old.chat.thinking import NO_REPLY, sendable
from harness.old.errors import ChatError
from harness.old.records import FinishReason, Message, Reply, Request, Sampling, Usage

DEFAULT_MAX_TOKENS = 4096
"""The limit that is sent where none is stated: the protocol demands one."""
VERSION_WITH_TEMPERATURE = "2023-06-01"

CACHED_CHARACTERS = 2000
"""From this length on a shared prefix is marked for the cache: about 500 tokens, the least that is cached for any
model; with other models a mark on a shorter prefix is ignored. A prefix sent twice within five minutes costs 1.25 + 0.1
times its price instead of 2."""
_LEAST_CACHED = (
    (re.compile(r"claude-(?:haiku-4-5|opus-4-[56])(?!\d)"), 4096),
    (re.compile(r"claude-(?:opus-4-7(?!\d)|3-haiku|3-5-haiku)"), 2048),
    (re.compile(r"claude-(?:3|sonnet-4|opus-4|sonnet-5(?!-\d(?!\d)))"), 1024),
    (re.compile("claude-"), 512),
)
"""The least tokens of a prompt that the service caches, by model.
(https://platform.claude.com/docs/en/build-with-claude/prompt-caching)"""

_BY_BODY = ("temperature", "top_p")
_EFFORT = "effort"
"""The name of `output_config.effort` among what is sent, so that a refused schema does not take it along."""
_TAKEN = {
    **{name: name for name in ("temperature", "max_tokens", "top_p", "top_k", "extra_body", "extra_headers")},
    "stop": "stop_sequences",
    "thinking_budget": "thinking",
    "reasoning_effort": _EFFORT,
}
_NOT_WHILE_THINKING = ("temperature", "top_p", "top_k")
"""What the service refuses together with thinking; MT-Bench's temperatures are requested of every model."""
_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class AnthropicMessages(RemoteModel):
    """A chat model behind `/v1/messages`."""

    sdk = "anthropic"
    path = "/v1/messages"

    repairable = frozenset((*_BY_BODY, "output_config"))
    also_refused = (*(("anthropic-version", name) for name in _BY_BODY), ("output_config", "output_config"))

    def open_client(self, **options: Any) -> Any:
        """Return the SDK's client; gateways other than the service itself also get the key in its older header."""
        own = (urlsplit(self.address).hostname or "").endswith("anthropic.com")
        if self._key and not own:
            options["default_headers"] = {"x-api-key": self._key}
        return self._sdk.AsyncAnthropic(**options)

    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the headers with the key: gateways differ in which one they read."""
        return {"x-api-key": key, "authorization": f"Bearer {key}"}

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that the protocol has."""
        asked = {"max_tokens": DEFAULT_MAX_TOKENS, **on_the_wire(sampling, _TAKEN)}
        budget = asked.pop("thinking", None)
        if budget is not None:
            asked["thinking"] = {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}
        thinking = asked.get("thinking")
        if isinstance(thinking, Mapping) and thinking.get("type") in ("enabled", "adaptive"):
            for name in _NOT_WHILE_THINKING:
                asked.pop(name, None)
        return asked

    def shape(self, request: Request) -> Parameters:
        """Return the schema that a request wants; the protocol has no log-probabilities.

        Raises:
            EndpointError: they are wanted.
        """
        if request.top_logprobs is not None:
            raise no_logprobs(self.endpoint)
        if request.schema is None:
            return {}
        return {"output_config": {"format": {"type": "json_schema", "schema": strict(request.schema)}}}

    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by its names on the wire."""
        system, said = parted(request.messages)
        rest = dict(sent)
        if _EFFORT in rest:
            rest["output_config"] = {**rest.get("output_config", {}), "effort": rest.pop(_EFFORT)}
        return {
            "model": self.endpoint.model,
            "messages": _with_cache(alternating(said), request),
            **({"system": system} if system else {}),
            **rest,
        }

    def headers(self, sent: Parameters) -> dict[str, str]:
        """Return the version of the protocol that has what is sent."""
        return {"anthropic-version": VERSION_WITH_TEMPERATURE} if any(name in sent for name in _BY_BODY) else {}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a message."""
        blocks, ended = at(answer, "content"), at(answer, "stop_reason")
        if not isinstance(blocks, list):
            raise self.no_reply(answer, "a body without content")
        self.need_sound(answer, ended=ended)
        reason = _FINISH.get(str(ended), "unstated")
        return reply_of(blocks, reason, _usage(at(answer, "usage")), at(answer, "model"))


def alternating(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return the conversation in the form that the protocol demands: roles in turn, no empty message.

    Messages of one role in a row are joined; an earlier reply that was empty is sent as a placeholder.
    """
    said = ((message.role, sendable(message.content) if message.content.strip() else NO_REPLY) for message in messages)
    return [
        {"role": role, "content": "\n\n".join(content for _, content in turn)}
        for role, turn in groupby(said, itemgetter(0))
    ]


def _with_cache(turns: list[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    """Return the turns, marked behind what other requests begin with as well, if that is long enough to be cached."""
    said = sendable(request.messages[-1].content) if request.messages else ""
    head, tail = said[: request.shared], said[request.shared :]
    if len(head) < CACHED_CHARACTERS or not tail or turns[-1]["content"] != said:
        return turns
    marked = {"type": "text", "text": head, "cache_control": {"type": "ephemeral"}}
    return [*turns[:-1], {**turns[-1], "content": [marked, {"type": "text", "text": tail}]}]


def _usage(told: Any) -> Usage:
    """Return the tokens of an answer; the provider counts cached tokens separately, we within the prompt's."""
    usage = usage_of(
        told,
        prompt_tokens="input_tokens",
        completion_tokens="output_tokens",
        reasoning_tokens="output_tokens_details.thinking_tokens",
        cached_tokens="cache_read_input_tokens",
        written_tokens="cache_creation_input_tokens",
    )
    if usage.prompt_tokens is None:
        return usage
    return replace(usage, prompt_tokens=usage.prompt_tokens + (usage.cached_tokens or 0) + (usage.written_tokens or 0))


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
    """Message batches: requests are submitted unchanged, and one list of results is read at the end.

    A batch has no label, and shows its requests only when it has ended. So a batch whose id was lost is looked for
    among those of its size created since; the names of the requests in its results, which begin with our token,
    decide.
    """

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
        async with self.calling(size=sum(len(request.line) for request in prepared)):
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

    def how_far(self, batch: str, told: Any) -> Progress:
        """Return how far a batch is by what the provider says of it; its counts move only when it ends."""
        ended = told.processing_status == "ended"
        if ended and getattr(told, "archived_at", None):
            return Progress(ended, fault=self.gone(batch))
        return Progress(ended, processed=_total(told) - (getattr(told.request_counts, "processing", 0) or 0))

    def items(self, batch: str) -> AsyncGenerator[tuple[Any, Any], None]:
        """Yield the lines of the results.

        They are read from the batch's own address. (The SDK would send the key to any address that the batch names.)
        """
        return self.lines(f"/v1/messages/batches/{quote(batch, safe='')}/results", batch)

    def result(self, line: Mapping[str, Any], handed: Handed) -> Reply | ChatError:
        """Return the result in one line."""
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


def _caching(endpoint: Endpoint) -> Caching | None:
    return next((Caching(least) for named, least in _LEAST_CACHED if named.match(endpoint.model)), None)


SERVICE = Service(
    title="Anthropic",
    prefixes=("claude-",),
    examples=("claude-sonnet-4", "claude-opus-4", "claude-haiku-4"),
    key_variable="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    packages=(("anthropic", (2, 0)),),
    open=AnthropicMessages,
    batches=AnthropicBatches,
    sampling=_TAKEN,
    caching=_caching,
)

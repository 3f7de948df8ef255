"""Anthropic's messages.

The SDK's version of the protocol has no temperature and no top_p. If one is asked for, the call is
made under the version that had them; a model that refuses it gets the call without, and the row
says so. The protocol has no seed, and no temperature is sent with thinking on.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import httpx2
from msgspec.structs import replace

from harness.models.endpoint import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.openai import BROKEN_OFF, text_of_blocks
from harness.models.providers import ANTHROPIC_PARAMETERS
from harness.models.remote import (
    NO_REPLY,
    RemoteModel,
    at,
    named_parameters,
    reply_of,
    split_system,
    storable,
    strict_schema,
    usage_at,
)
from harness.types import Finish, Message, Reply, Request, Usage

DEFAULT_MAX_TOKENS = 4096
"""The limit where none is stated: the protocol demands one."""
VERSION_WITH_TEMPERATURE = "2023-06-01"
CACHED_CHARACTERS = 2000
"""A shared beginning of at least this length is marked for the cache: about 500 tokens, the least
that any model caches. Sent twice in five minutes it costs 1.25 + 0.1 times its price, not 2."""
_OLD = ("temperature", "top_p")
_NOT_WHILE_THINKING = ("temperature", "top_p", "top_k")
_FINISH: dict[str, Finish] = {
    **dict.fromkeys(("end_turn", "stop_sequence", "tool_use", "pause_turn"), "stop"),
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded"), "length"),
    "refusal": "refused",
}


class AnthropicMessages(RemoteModel):
    """A chat model behind `/v1/messages`."""

    aliases = (
        ("anthropic-version", "temperature"),
        ("anthropic-version", "top_p"),
        ("output_config.effort", "effort"),
    )

    def open_client(self, key: str, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client."""
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            base_url=self.endpoint.base_url,
            api_key=key,
            max_retries=0,
            http_client=http,
            timeout=http.timeout,
        )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the headers with the key: gateways differ in which one they read."""
        return {"x-api-key": key, "authorization": f"Bearer {key}"}

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling and schema by the protocol's names; it has no log-probabilities."""
        named = named_parameters(request, ANTHROPIC_PARAMETERS)
        parameters = {"max_tokens": DEFAULT_MAX_TOKENS, **named}
        budget = request.sampling.thinking_budget
        if budget is not None:
            on = {"type": "enabled", "budget_tokens": budget}
            parameters["thinking"] = on if budget else {"type": "disabled"}
        if at(parameters.get("thinking"), "type") in ("enabled", "adaptive"):
            for name in _NOT_WHILE_THINKING:
                parameters.pop(name, None)
        if request.schema is not None:
            form = {"type": "json_schema", "schema": strict_schema(request.schema)}
            parameters["output_config"] = {"format": form}
        return parameters

    def headers(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Return the version of the protocol that has what is sent."""
        old = any(name in parameters for name in _OLD)
        return {"anthropic-version": VERSION_WITH_TEMPERATURE} if old else {}

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""
        system, messages = split_system(request.messages)
        rest = dict(parameters)
        if "effort" in rest:
            rest["output_config"] = {**rest.get("output_config", {}), "effort": rest.pop("effort")}
        return {
            "model": self.endpoint.model,
            "messages": with_cache_mark(alternating(messages), request),
            **({"system": system} if system else {}),
            **rest,
        }

    async def send(self, wire: Wire) -> Any:
        """Return the answer as JSON."""
        options = {"headers": wire.headers}
        return await self.client.post(
            "/v1/messages", cast_to=object, body=wire.body, options=options
        )

    def read(self, answer: Any) -> Reply:
        """Return the reply in a message."""
        blocks, ended = at(answer, "content"), str(at(answer, "stop_reason") or "")
        if not isinstance(blocks, list) or at(answer, "error"):
            raise self.no_reply(answer, "a body without content")
        if ended in BROKEN_OFF:
            raise Problem("malformed reply", f"a reply that ended with {ended!r}")
        text, thoughts = text_of_blocks(blocks)
        return reply_of(
            text,
            _FINISH.get(ended, "unstated"),
            usage_of(at(answer, "usage")),
            at(answer, "model"),
            thoughts=thoughts,
        )


def alternating(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as the protocol demands it: roles in turn, no empty message."""
    said = [
        (each.role, storable(each.content) if each.content.strip() else NO_REPLY)
        for each in messages
    ]
    return [
        {"role": role, "content": "\n\n".join(content for _, content in turn)}
        for role, turn in groupby(said, lambda pair: pair[0])
    ]


def with_cache_mark(turns: list[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    """Return the turns with a mark for the cache behind what other requests begin with too."""
    last = storable(request.messages[-1].content) if request.messages else ""
    head, tail = last[: request.shared], last[request.shared :]
    if len(head) < CACHED_CHARACTERS or not tail or turns[-1]["content"] != last:
        return turns
    marked = {"type": "text", "text": head, "cache_control": {"type": "ephemeral"}}
    return [*turns[:-1], {**turns[-1], "content": [marked, {"type": "text", "text": tail}]}]


def usage_of(counted: Any) -> Usage:
    """Return the tokens of an answer; cached ones count as part of the prompt."""
    usage = usage_at(
        counted,
        prompt_tokens="input_tokens",
        completion_tokens="output_tokens",
        reasoning_tokens="output_tokens_details.thinking_tokens",
        cached_tokens="cache_read_input_tokens",
        written_tokens="cache_creation_input_tokens",
    )
    if usage.prompt_tokens is None:
        return usage
    more = (usage.cached_tokens or 0) + (usage.written_tokens or 0)
    return replace(usage, prompt_tokens=usage.prompt_tokens + more)


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    return AnthropicMessages(endpoint)

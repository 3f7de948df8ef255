"""Anthropic's messages.

The SDK's version of the protocol has no temperature, top_p and top_k. If one is asked for, the call
is made under the version that had them; a model that refuses it gets the call without, and the row
says so. The protocol has no seed, and no temperature is sent with thinking on.
"""

from collections.abc import Mapping
from typing import Any

import httpx2

from harness.models.decoding import at, text_at, text_of_blocks
from harness.models.remote import RemoteModel, split_system, strict_schema
from harness.types import Reply, Request

DEFAULT_MAX_TOKENS = 4096
"""The limit where none is stated: the protocol demands one."""
VERSION_WITH_TEMPERATURE = "2023-06-01"
CACHED_CHARACTERS = 2000
"""A shared beginning of at least this length is marked for the cache: about 500 tokens, the least
that any model caches. Sent twice in five minutes it costs 1.25 + 0.1 times its price, not 2."""


class AnthropicMessages(RemoteModel):
    """A chat model behind `/v1/messages`."""

    path = "/v1/messages"

    def transport(self) -> type[httpx2.AsyncClient]:
        """Return the SDK's client over aiohttp."""
        from anthropic import DefaultAioHttpClient

        return DefaultAioHttpClient

    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client."""
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(**options)

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling and schema by the protocol's names; it has no log-probabilities."""
        parameters = {"max_tokens": DEFAULT_MAX_TOKENS, **super().parameters(request)}
        budget = request.sampling.thinking_budget
        if budget is not None:
            on = {"type": "enabled", "budget_tokens": budget}
            parameters["thinking"] = on if budget else {"type": "disabled"}
        if at(parameters.get("thinking"), "type") in ("enabled", "adaptive"):
            for name in ("temperature", "top_p", "top_k"):
                parameters.pop(name, None)
        if request.schema is not None:
            form = {"type": "json_schema", "schema": strict_schema(request.schema)}
            parameters["output_config"] = {"format": form}
        return parameters

    def headers(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Return the version of the protocol that has what is sent."""
        old = not {"temperature", "top_p", "top_k"}.isdisjoint(parameters)
        return {"anthropic-version": VERSION_WITH_TEMPERATURE} if old else {}

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent; what other requests begin with too is marked for the cache."""
        system, messages = split_system(request.messages)
        turns: list[dict[str, Any]] = [
            {"role": message.role, "content": message.content} for message in messages
        ]
        last = messages[-1].content
        head, tail = last[: request.shared], last[request.shared :]
        if len(head) >= CACHED_CHARACTERS and tail:
            marked = {"type": "text", "text": head, "cache_control": {"type": "ephemeral"}}
            turns[-1]["content"] = [marked, {"type": "text", "text": tail}]
        rest = dict(parameters)
        if "effort" in rest:
            rest["output_config"] = {**rest.get("output_config", {}), "effort": rest.pop("effort")}
        start = {"system": system} if system else {}
        return {"model": self.endpoint.model, "messages": turns, **start, **rest}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a message."""
        blocks = at(answer, "content")
        if not isinstance(blocks, list) or at(answer, "error"):
            raise self.no_reply(answer, "a body without content")
        text, thoughts = text_of_blocks(blocks)
        return self.reply_of(answer, text, text_at(answer, "stop_reason"), thoughts=thoughts)

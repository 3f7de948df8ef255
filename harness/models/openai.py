"""OpenAI's chat completions, and every compatible server (vLLM, SGLang, llama.cpp, Ollama, …)."""

from typing import Any
from urllib.parse import urlsplit

import httpx2

from harness.models.endpoint import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.providers import OPENAI_PARAMETERS
from harness.models.remote import (
    RemoteModel,
    at,
    list_at,
    named_parameters,
    reply_of,
    storable,
    strict_schema,
    text_at,
    token_logprobs,
    usage_at,
)
from harness.types import Finish, Reply, Request

FINISH: dict[str, Finish] = {
    **dict.fromkeys(("stop", "tool_calls", "function_call", "eos", "eos_token"), "stop"),
    **dict.fromkeys(("end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "refusal"), "refused"),
}
USAGE = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "reasoning_tokens": "completion_tokens_details.reasoning_tokens",
    "cached_tokens": "prompt_tokens_details.cached_tokens",
    "written_tokens": "prompt_tokens_details.cache_write_tokens",
}
BROKEN_OFF = ("error", "abort")
"""Finish reasons of interrupted replies: no answer, even with a text."""


class OpenAIModel(RemoteModel):
    """What chat completions, completions and responses share."""

    path: str
    """Where requests are posted."""

    def open_client(self, key: str, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            base_url=self.endpoint.base_url,
            api_key=key,
            max_retries=0,
            http_client=http,
            timeout=http.timeout,
        )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"authorization": f"Bearer {key}"}

    async def send(self, wire: Wire) -> Any:
        """Return the answer as JSON."""
        options = {"headers": wire.headers}
        return await self.client.post(self.path, cast_to=object, body=wire.body, options=options)

    def choice(self, answer: Any) -> Any:
        """Return the one choice of an answer."""
        choice = next(iter(list_at(answer, "choices")), None)
        if choice is None or at(choice, "error"):
            raise self.no_reply(choice or answer, "a body without a choice")
        if (ended := at(choice, "finish_reason")) in BROKEN_OFF:
            raise Problem("malformed reply", f"a reply that ended with {ended!r}")
        return choice


class OpenAIChat(OpenAIModel):
    """A chat model behind `/chat/completions`."""

    path = "/chat/completions"
    has_logprobs = streams = True
    aliases = (("json_schema", "response_format"), ("include_usage", "stream_options"))

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        host = urlsplit(endpoint.base_url).hostname or ""
        own = host == "api.openai.com" or host.endswith(".api.openai.com")
        names = ("max_completion_tokens", "max_tokens")  # other servers may know only the old one
        self.limit, self.other_limit = names if own else names[::-1]

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, log-probabilities and schema by the protocol's names."""
        names = {**OPENAI_PARAMETERS, "max_tokens": self.limit}
        parameters = named_parameters(request, names)
        if request.top_logprobs is not None:
            parameters |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.schema is not None:
            form = {"name": "verdict", "strict": True, "schema": strict_schema(request.schema)}
            parameters["response_format"] = {"type": "json_schema", "json_schema": form}
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""
        messages = [
            {"role": each.role, "content": storable(each.content)} for each in request.messages
        ]
        return {"model": self.endpoint.model, "messages": messages, **parameters}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a chat completion."""
        choice = self.choice(answer)
        message, content = at(choice, "message"), at(choice, "message", "content")
        if not isinstance(message, dict) or not isinstance(content, str | list | None):
            raise self.no_reply(answer, "a choice without a message")
        text, thoughts = text_of_blocks(content)
        return reply_of(
            text,
            FINISH.get(text_at(choice, "finish_reason"), "unstated"),
            usage_at(at(answer, "usage"), **USAGE),
            at(answer, "model"),
            thoughts=[message.get("reasoning_content") or message.get("reasoning"), *thoughts],
            refusal=text_at(message, "refusal"),
            logprobs=token_logprobs(list_at(choice, "logprobs", "content")),
        )

    async def send(self, wire: Wire) -> Any:
        """Return the answer as JSON; a stream is put together."""
        if not wire.stream:
            return await super().send(wire)
        from openai import AsyncStream

        events = await self.client.post(
            self.path,
            cast_to=object,
            body=wire.body,
            options={"headers": wire.headers},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        pieces: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
        answer: dict[str, Any] = {}
        finish = None
        logprobs: list[Any] = []
        async for event in events:
            answer |= {
                name: value for name in ("model", "usage") if (value := at(event, name)) is not None
            }
            choice = next(iter(list_at(event, "choices")), None)
            delta = at(choice, "delta")
            for name, found in pieces.items():
                found.append(text_at(delta, name))
            pieces["reasoning_content"].append(text_at(delta, "reasoning"))
            logprobs += list_at(choice, "logprobs", "content")
            finish = at(choice, "finish_reason") or finish
        if finish is None:
            raise Problem("outage", "a stream that broke off before its end")
        message = {name: "".join(found) for name, found in pieces.items()}
        choice = {"message": message, "finish_reason": finish, "logprobs": {"content": logprobs}}
        return {**answer, "choices": [choice]}


def text_of_blocks(content: str | list[Any] | None) -> tuple[str, list[str]]:
    """Return text and reasoning of a message's content: a string, blocks, or nothing."""
    if not isinstance(content, list):
        return content or "", []
    text = "".join(text_at(block, "text") for block in content if at(block, "type") == "text")
    thoughts = [
        text_at(block, "thinking") or text_of_blocks(list_at(block, "thinking"))[0]
        for block in content
        if at(block, "type") == "thinking"
    ]
    return text, thoughts


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    return OpenAIChat(endpoint)

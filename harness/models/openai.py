"""OpenAI's chat completions, and every compatible server (vLLM, SGLang, llama.cpp, Ollama, …)."""

from typing import Any
from urllib.parse import urlsplit

from harness.models.endpoint import Endpoint
from harness.models.errors import Problem, Wire
from harness.models.remote import (
    RemoteModel,
    Send,
    at,
    list_at,
    strict_schema,
    text_at,
    token_logprobs,
)
from harness.types import Reply, Request


class OpenAIModel(RemoteModel):
    """What chat completions, completions and responses share."""

    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(**options)

    def choice(self, answer: Any) -> Any:
        """Return the one choice of an answer."""
        choice = next(iter(list_at(answer, "choices")), None)
        if choice is None or at(choice, "error"):
            raise self.no_reply(choice or answer, "a body without a choice")
        return choice


class OpenAIChat(OpenAIModel):
    """A chat model behind `/chat/completions`."""

    path = "/chat/completions"
    streams = True

    def __init__(self, endpoint: Endpoint, send: Send | None = None) -> None:
        super().__init__(endpoint, send)
        self.other_limit = "max_completion_tokens"
        host = urlsplit(endpoint.base_url).hostname or ""
        if f".{host}".endswith(".api.openai.com"):  # other servers may know only the old one
            self.limit, self.other_limit = self.other_limit, self.limit

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, log-probabilities and schema by the protocol's names."""
        parameters = super().parameters(request)
        if request.top_logprobs is not None:
            parameters |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.schema is not None:
            form = {"name": "verdict", "strict": True, "schema": strict_schema(request.schema)}
            parameters["response_format"] = {"type": "json_schema", "json_schema": form}
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""
        messages = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        return {"model": self.endpoint.model, "messages": messages, **parameters}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a chat completion."""
        choice = self.choice(answer)
        message, content = at(choice, "message"), at(choice, "message", "content")
        if not isinstance(message, dict) or not isinstance(content, str | list | None):
            raise self.no_reply(answer, "a choice without a message")
        text, thoughts = text_of_blocks(content)
        return self.reply_of(
            answer,
            text,
            text_at(choice, "finish_reason"),
            thoughts=[
                text_at(message, "reasoning_content") or text_at(message, "reasoning"),
                *thoughts,
            ],
            refusal=text_at(message, "refusal"),
            logprobs=token_logprobs(list_at(choice, "logprobs", "content")),
        )

    async def post(self, wire: Wire) -> Any:
        """Return the answer as JSON; a stream is put together."""
        if "stream" not in wire.parameters:
            return await super().post(wire)
        from openai import AsyncStream

        events = await self.client.post(
            self.path,
            cast_to=object,
            body=wire.body,
            options={"headers": wire.headers},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        message = dict.fromkeys(("content", "reasoning_content", "reasoning", "refusal"), "")
        answer: dict[str, Any] = {}
        finish = None
        logprobs: list[Any] = []
        async for event in events:
            answer |= {name: at(event, name) or answer.get(name) for name in ("model", "usage")}
            choice = next(iter(list_at(event, "choices")), None)
            for name in message:
                message[name] += text_at(choice, "delta", name)
            logprobs += list_at(choice, "logprobs", "content")
            finish = at(choice, "finish_reason") or finish
        if finish is None:
            raise Problem("closed connection", "a stream that broke off before its end")
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

"""OpenAI's chat completions, and every compatible server (vLLM, SGLang, llama.cpp, Ollama, …)."""

from typing import Any
from urllib.parse import urlsplit

import httpx2

from harness.models.decoding import at, list_at, text_at, text_of_blocks
from harness.models.endpoint import Endpoint
from harness.models.remote import RemoteModel, Send, strict_schema, token_logprobs
from harness.types import Reply, Request


class OpenAIModel(RemoteModel):
    """What chat completions, completions and responses share."""

    def transport(self) -> type[httpx2.AsyncClient]:
        """Return the SDK's client over aiohttp: two thirds of the time of the usual one."""
        from openai import DefaultAioHttpClient

        return DefaultAioHttpClient

    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client."""
        from openai import AsyncOpenAI

        self.url = f"{self.endpoint.base_url.rstrip('/')}{self.path}"
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
        ended = text_at(choice, "finish_reason")
        if message is None and self.about.finish.get(ended.partition(":")[0]) == "refused":
            message = {}
        if not isinstance(message, dict) or not isinstance(content, str | list | None):
            raise self.no_reply(answer, "a choice without a message")
        text, thoughts = text_of_blocks(content)
        return self.reply_of(
            answer,
            text,
            ended,
            thoughts=[
                text_at(message, "reasoning_content") or text_at(message, "reasoning"),
                *thoughts,
            ],
            refusal=text_at(message, "refusal"),
            logprobs=token_logprobs(list_at(choice, "logprobs", "content")),
        )

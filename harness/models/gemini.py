"""Google's Gemini, by its own SDK (`google-genai`).

Summaries of thoughts arrive as parts of their own and are kept as reasoning; as with every other
provider, no thought goes back in the next turn. `reasoning_effort` is its thinking level; the limit
on tokens holds for the thoughts too. Log-probabilities are not asked for.
"""

import logging
from typing import Any

import httpx2
from msgspec.structs import replace

from harness.models.decoding import at, decoded, list_at, text_at
from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel, split_system, strict_schema
from harness.types import Reply, Request

_THINKING = ("include_thoughts", "thinking_budget", "thinking_level")
"""Sent together as `thinking_config`."""


class Gemini(RemoteModel):
    """A chat model behind `models/NAME:generateContent`."""

    states_stream = False

    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client."""
        from google.genai import Client, types

        # With both keys' variables set the SDK logs that it takes another one than it does.
        logging.getLogger("google_genai").setLevel(logging.ERROR)
        http_options = types.HttpOptions(
            base_url=self.endpoint.base_url,
            api_version=self.endpoint.api_version,
            httpx_async_client=options["http_client"],
            # Never used; without it the SDK makes one that reads the variables of proxies.
            httpx_client=httpx2.Client(trust_env=False, verify=False),
        )
        return Client(vertexai=False, api_key=options["api_key"], http_options=http_options)

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, schema and further fields by the SDK's names."""
        extra = request.sampling.extra_body
        sampling = replace(request.sampling, extra_body=None)
        parameters = super().parameters(replace(request, sampling=sampling))
        if request.sampling.thinking_budget != 0:
            parameters["include_thoughts"] = True
        if extra:
            parameters["extra_body"] = extra
        if request.schema is not None:
            parameters["response_json_schema"] = strict_schema(request.schema)
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent, by the SDK's names, as JSON."""
        system, messages = split_system(request.messages)
        config = {name: value for name, value in parameters.items() if name != "extra_body"}
        thinking = {name: config.pop(name) for name in _THINKING if name in config}
        if thinking:
            config["thinking_config"] = thinking
        if "response_json_schema" in config:
            config["response_mime_type"] = "application/json"
        if system:
            config["system_instruction"] = system
        contents = [
            {
                "role": "model" if message.role == "assistant" else "user",
                "parts": [{"text": message.content}],
            }
            for message in messages
        ]
        return {"model": self.endpoint.model, "contents": contents, "config": config}

    async def post(self, wire: Wire) -> Any:
        """Return the answer as JSON, not as the SDK's types, which refuse newer fields."""
        from google.genai import types

        config = types.GenerateContentConfig(
            **wire.body["config"],
            http_options=types.HttpOptions(
                headers=wire.headers, extra_body=wire.parameters.get("extra_body")
            ),
            should_return_http_response=True,
            automatic_continuation=False,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        answer = await self.client.aio.models.generate_content(
            model=wire.body["model"], contents=wire.body["contents"], config=config
        )
        return decoded((answer.sdk_http_response.body or "null").encode())

    def problem(self, error: Exception, wire: Wire) -> Problem | None:
        """Return the problem behind an exception of the SDK; None if it is not the service's."""
        from google.genai.errors import APIError

        if isinstance(error, APIError):
            headers = getattr(error.response, "headers", None) or {}
            return self.problem_of(error.code, error.details, headers, wire)
        if isinstance(error, AttributeError | TypeError | KeyError):  # the SDK trusts the shape
            return Problem("malformed reply", "a body of another shape")
        return super().problem(error, wire)

    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer."""
        candidate = next(iter(list_at(answer, "candidates")), None)
        if candidate is None and (reason := text_at(answer, "promptFeedback", "blockReason")):
            raise Problem("refused prompt", f"the prompt was blocked: {reason}")
        if not isinstance(candidate, dict):
            raise self.no_reply(answer, "a body without a candidate")
        parts = list_at(candidate, "content", "parts")
        text = [text_at(part, "text") for part in parts if at(part, "thought") is not True]
        return self.reply_of(
            answer,
            "".join(text),
            text_at(candidate, "finishReason"),
            thoughts=[text_at(part, "text") for part in parts if at(part, "thought") is True],
        )

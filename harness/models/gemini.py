"""Google's Gemini, by its own SDK (`google-genai`).

Summaries of thoughts arrive as parts of their own and are kept as reasoning; as with every other
provider, no thought goes back in the next turn. `reasoning_effort` is its thinking level; the limit
on tokens holds for the thoughts too. Log-probabilities are not asked for.
"""

import json
import logging
from typing import Any

import httpx2
from msgspec.structs import replace

from harness.errors import MissingError
from harness.models.endpoint import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.providers import GEMINI_PARAMETERS
from harness.models.remote import (
    NO_REPLY,
    RemoteModel,
    at,
    list_at,
    named_parameters,
    reply_of,
    split_system,
    storable,
    strict_schema,
    text_at,
    usage_at,
)
from harness.types import Detail, Finish, Reply, Request, Usage

_THINKING = ("include_thoughts", "thinking_budget", "thinking_level")
"""Sent together as `thinking_config`."""
_FINISH: dict[str, Finish] = {
    "STOP": "stop",
    **dict.fromkeys(("MAX_TOKENS", "CONTINUATION"), "length"),
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "SPII"), "refused"),
    **dict.fromkeys(("PROHIBITED_CONTENT", "ESCALATION", "MODEL_ARMOR"), "refused"),
    **dict.fromkeys(("PUP_LIMITED_DISABLED", "IMAGE_SAFETY"), "refused"),
}
_FAILED = (
    "MALFORMED_RESPONSE",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
)


class Gemini(RemoteModel):
    """A chat model behind `models/NAME:generateContent`."""

    limit = "max_output_tokens"
    aliases = (
        ("JSON mode", "response_json_schema"),
        ("response_schema", "response_json_schema"),
        ("response_mime_type", "response_json_schema"),
        ("thinking", "include_thoughts"),
    )

    def open_client(self, key: str, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client."""
        from google.genai import Client, types

        options = types.HttpOptions(
            base_url=self.endpoint.base_url,
            api_version=self.endpoint.api_version,
            httpx_async_client=http,
            # Never used; without it the SDK makes one that reads the variables of proxies.
            httpx_client=httpx2.Client(trust_env=False, verify=False),
        )
        # With both keys' variables set the SDK logs that it takes another one than it does.
        logger = logging.getLogger("google_genai")
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
            return Client(vertexai=False, api_key=key, http_options=options)
        finally:
            logger.setLevel(level)

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"x-goog-api-key": key}

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, log-probabilities and schema by the SDK's names."""
        sampling = replace(request.sampling, extra_body=None)
        parameters = named_parameters(replace(request, sampling=sampling), GEMINI_PARAMETERS)
        if sampling.thinking_budget != 0:
            parameters["include_thoughts"] = True
        if request.sampling.extra_body:
            parameters["extra_body"] = dict(request.sampling.extra_body)
        if request.schema is not None:
            parameters["response_json_schema"] = strict_schema(request.schema)
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent, by the SDK's names, as JSON."""
        system, messages = split_system(request.messages)
        apart = (*_THINKING, "extra_body")
        config = {name: value for name, value in parameters.items() if name not in apart}
        if thinking := {name: parameters[name] for name in _THINKING if name in parameters}:
            config["thinking_config"] = thinking
        if "response_json_schema" in config:
            config["response_mime_type"] = "application/json"
        if system:
            config["system_instruction"] = system
        contents = [
            {
                "role": "model" if message.role == "assistant" else "user",
                "parts": [{"text": storable(message.content) or NO_REPLY}],
            }
            for message in messages
        ]
        return {"model": self.endpoint.model, "contents": contents, "config": config}

    async def send(self, wire: Wire) -> Any:
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
        return json.loads(answer.sdk_http_response.body or "null")

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
        blocked = text_at(answer, "promptFeedback", "blockReason")
        if candidate is None and blocked:
            note = f"the prompt was blocked: {blocked}"
            detail = Detail(finish_reason="refused", usage=usage_of(answer), note=note)
            return Reply(text="", detail=detail)
        if not isinstance(candidate, dict):
            raise self.no_reply(answer, "a body without a candidate")
        ended = text_at(candidate, "finishReason")
        if ended in _FAILED:
            raise Problem("malformed reply", f"a reply that ended with {ended}")
        finish = _FINISH.get(ended, "unstated")
        parts = list_at(candidate, "content", "parts")
        said = [text_at(part, "text") for part in parts if at(part, "thought") is not True]
        return reply_of(
            "".join(said),
            finish,
            usage_of(answer),
            at(answer, "modelVersion"),
            thoughts=[text_at(part, "text") for part in parts if at(part, "thought") is True],
            note=f"stopped by the service: {ended}" if finish == "refused" else None,
        )


def usage_of(answer: Any) -> Usage:
    """Return the tokens of an answer; the service counts thoughts apart, we within the reply's."""
    usage = usage_at(
        at(answer, "usageMetadata"),
        prompt_tokens="promptTokenCount",
        completion_tokens="candidatesTokenCount",
        reasoning_tokens="thoughtsTokenCount",
        cached_tokens="cachedContentTokenCount",
    )
    if usage.prompt_tokens is None:
        return usage
    both = (usage.completion_tokens or 0) + (usage.reasoning_tokens or 0)
    return replace(usage, completion_tokens=both)


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    try:
        import google.genai  # noqa: F401
    except ImportError:
        advice = "install it: pip install 'turnbench[gemini]'"
        raise MissingError(f"the package google-genai is not installed; {advice}") from None
    return Gemini(endpoint)

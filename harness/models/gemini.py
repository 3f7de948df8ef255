"""Google's Gemini, by its own SDK (`google-genai`).

Summaries of thoughts arrive as parts of their own and are kept as reasoning. A part may also have a
signature, the encrypted thoughts, which the service wants back unchanged in the next turn
(https://ai.google.dev/gemini-api/docs/thought-signatures). `reasoning_effort` is its thinking
level; the limit on tokens holds for the thoughts too.
"""

import functools
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
from msgspec.structs import replace

from harness.models.endpoint import ChatModel, Endpoint
from harness.models.errors import Problem
from harness.models.providers import GEMINI_PARAMETERS
from harness.models.remote import (
    NO_REPLY,
    RemoteModel,
    Wire,
    at,
    count_at,
    list_at,
    named_parameters,
    reply_of,
    split_system,
    storable,
    strict_schema,
    text_at,
    token_logprobs,
)
from harness.types import Detail, Finish, Message, Reply, Request, TokenLogprobs, Usage

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
        if request.top_logprobs is not None:
            parameters |= {"response_logprobs": True, "logprobs": request.top_logprobs}
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
        contents = [content_of(message) for message in messages]
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
        # Signatures are bytes, which the SDK's types take in base64 from JSON alone.
        contents = [
            types.Content.model_validate_json(json.dumps(content))
            for content in wire.body["contents"]
        ]
        answer = await self.client.aio.models.generate_content(
            model=wire.body["model"], contents=contents, config=config
        )
        return json.loads(answer.sdk_http_response.body or "null")

    def problem(self, error: Exception, wire: Wire) -> Problem | None:
        """Return the problem behind an exception of the SDK; None if it is not the service's."""
        from google.genai.errors import APIError

        if isinstance(error, APIError):
            headers = getattr(error.response, "headers", None) or {}
            return self.problem_of(error.code, error.details, headers, wire)
        if isinstance(error, AttributeError | TypeError | KeyError) and _raised_by_sdk(error):
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
            logprobs=logprobs_of(at(candidate, "logprobsResult")),
            carried=carried_of(parts),
        )


def content_of(message: Message) -> dict[str, Any]:
    """Return a message in the service's form: the parts that it wants back, else the text."""
    role = "model" if message.role == "assistant" else "user"
    if role == "model" and message.carried is not None:
        return {"role": role, "parts": json.loads(message.carried)}
    text = storable(message.content) if message.content.strip() else NO_REPLY
    return {"role": role, "parts": [{"text": text}]}


def carried_of(parts: list[Any]) -> str | None:
    """Return the parts that the next turn must hold, as JSON; None if no part is signed."""
    kept: list[dict[str, Any]] = []
    for part in parts:
        signature, thought = text_at(part, "thoughtSignature"), at(part, "thought") is True
        if thought and not signature:
            continue  # a summary, which is for people
        kept.append(
            {"text": storable(text_at(part, "text"))} | ({"thought": True} if thought else {})
        )
        if signature:
            kept[-1]["thoughtSignature"] = signature
    return json.dumps(kept) if any("thoughtSignature" in part for part in kept) else None


def usage_of(answer: Any) -> Usage:
    """Return the tokens of an answer; the service counts thoughts apart, we within the reply's."""
    count: Callable[[str], int | None] = functools.partial(count_at, answer, "usageMetadata")
    prompt, said = count("promptTokenCount"), count("candidatesTokenCount")
    thought = count("thoughtsTokenCount")
    uncounted = prompt is None and said is None and thought is None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=None if uncounted else (said or 0) + (thought or 0),
        reasoning_tokens=thought,
        cached_tokens=count("cachedContentTokenCount"),
    )


def logprobs_of(result: Any) -> list[TokenLogprobs] | None:
    """Return the log-probabilities of a reply's tokens, which come as two parallel lists."""
    chosen, tops = list_at(result, "chosenCandidates"), list_at(result, "topCandidates")
    if len(chosen) != len(tops):
        return None

    def place(one: Mapping[str, Any]) -> dict[str, Any]:
        return {"token": at(one, "token"), "logprob": at(one, "logProbability")}

    return token_logprobs(
        [
            place(one) | {"top_logprobs": [place(each) for each in list_at(top, "candidates")]}
            for one, top in zip(chosen, tops, strict=True)
        ]
    )


def _raised_by_sdk(error: Exception) -> bool:
    """Return whether an error arose in the SDK, which takes the shape of a body for granted."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and "genai" in trace.tb_frame.f_globals.get("__name__", "")


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    return Gemini(endpoint)

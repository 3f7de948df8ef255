"""OpenAI's responses, the only protocol of some of its models.

Nothing is stored at the provider (`store: false`), so every turn sends the whole conversation,
without the reasoning. The protocol has no seed and no stop.
"""

from typing import Any

from harness.models.endpoint import ChatModel, Endpoint
from harness.models.errors import Problem
from harness.models.openai import OpenAIModel
from harness.models.providers import RESPONSES_PARAMETERS
from harness.models.remote import (
    at,
    list_at,
    named_parameters,
    reply_of,
    split_system,
    storable,
    strict_schema,
    text_at,
    token_logprobs,
    usage_at,
)
from harness.types import Finish, Reply, Request

USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "reasoning_tokens": "output_tokens_details.reasoning_tokens",
    "cached_tokens": "input_tokens_details.cached_tokens",
    "written_tokens": "input_tokens_details.cache_write_tokens",
}
INCOMPLETE: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "refused"}


class OpenAIResponses(OpenAIModel):
    """A chat model behind `/responses`."""

    path = "/responses"
    has_logprobs = True
    limit = "max_output_tokens"
    aliases = (("text.format", "text"), ("json_schema", "text"), ("reasoning.effort", "reasoning"))

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, log-probabilities and schema by the protocol's names."""
        parameters = named_parameters(request, RESPONSES_PARAMETERS)
        if request.sampling.reasoning_effort:
            parameters["reasoning"] = {"effort": request.sampling.reasoning_effort}
        if request.top_logprobs is not None:
            parameters["include"] = ["message.output_text.logprobs"]
            parameters["top_logprobs"] = request.top_logprobs
        if request.schema is not None:
            schema = strict_schema(request.schema)
            form = {"type": "json_schema", "name": "verdict", "strict": True, "schema": schema}
            parameters["text"] = {"format": form}
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""
        system, messages = split_system(request.messages)
        return {
            "model": self.endpoint.model,
            "input": [{"role": each.role, "content": storable(each.content)} for each in messages],
            **({"instructions": system} if system else {}),
            "store": False,
            **parameters,
        }

    def read(self, answer: Any) -> Reply:
        """Return the reply in a response."""
        items, status = at(answer, "output"), at(answer, "status")
        if not isinstance(items, list) or at(answer, "error"):
            raise self.no_reply(answer, "a body without output")
        if status not in ("completed", "incomplete", None):
            raise Problem("malformed reply", f"a response that is {status!r}")
        parts = parts_of(items, "message", "content")
        why = text_at(answer, "incomplete_details", "reason")
        thoughts = parts_of(items, "reasoning", "summary") + parts_of(items, "reasoning", "content")
        return reply_of(
            "".join(text_at(part, "text") for part in parts if at(part, "type") == "output_text"),
            "stop" if status == "completed" else INCOMPLETE.get(why, "unstated"),
            usage_at(at(answer, "usage"), **USAGE),
            at(answer, "model"),
            thoughts=[text_at(thought, "text") for thought in thoughts],
            refusal="".join(text_at(part, "refusal") for part in parts),
            logprobs=token_logprobs([each for part in parts for each in list_at(part, "logprobs")]),
        )


def parts_of(items: list[Any], kind: str, field: str) -> list[Any]:
    """Return the parts that stand in a field of the items of a kind."""
    return [part for item in items if at(item, "type") == kind for part in list_at(item, field)]


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    return OpenAIResponses(endpoint)

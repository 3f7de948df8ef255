"""OpenAI's responses, the only protocol of its newest and largest models.

Nothing is stored at the provider (`store: false`), so every turn sends the whole conversation, without the reasoning:
the protocol does not need it without tools. It has no seed and no stop.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.old.chat import openai_chat
from harness.old.chat.body import at, list_at, text_at
from harness.old.chat.faults import malformed
from harness.old.chat.openai_chat import OpenAIModel
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.chat.remote import parted, reply_of, usage_of
from harness.old.chat.structured import strict, token_logprobs
from harness.old.chat.thinking import sendable
from harness.old.records import FinishReason, Reply, Request, Sampling

_TAKEN = {
    **{name: name for name in ("temperature", "top_p", "extra_body", "extra_headers")},
    "max_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning",
}
_COUNTED = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "reasoning_tokens": "output_tokens_details.reasoning_tokens",
    "cached_tokens": "input_tokens_details.cached_tokens",
    "written_tokens": "input_tokens_details.cache_write_tokens",
}
_INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "refused"}


class OpenAIResponses(OpenAIModel):
    """A chat model behind `/v1/responses`."""

    path = "/responses"
    repairable = frozenset({"temperature", "top_p", "text"})
    also_refused = (("text.format", "text"), ("json_schema", "text"))

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that the protocol has, by its names."""
        asked = on_the_wire(sampling, _TAKEN)
        return {**asked, "reasoning": {"effort": asked["reasoning"]}} if sampling.reasoning_effort else asked

    def shape(self, request: Request) -> Parameters:
        """Return the schema and the log-probabilities that a request wants, by their names on the wire."""
        wanted: Parameters = {}
        if request.top_logprobs is not None:
            wanted |= {"include": ["message.output_text.logprobs"], "top_logprobs": request.top_logprobs}
        if request.schema is not None:
            form = {"type": "json_schema", "name": "verdict", "strict": True, "schema": strict(request.schema)}
            wanted["text"] = {"format": form}
        return wanted

    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by its names on the wire."""
        system, said = parted(request.messages)
        return {
            "model": self.endpoint.model,
            "input": [{"role": message.role, "content": sendable(message.content)} for message in said],
            **({"instructions": system} if system else {}),
            "store": False,
            **sent,
        }

    def read(self, answer: Any) -> Reply:
        """Return the reply in a response."""
        items, status = at(answer, "output"), at(answer, "status")
        if not isinstance(items, list):
            raise self.no_reply(answer, "a body without output")
        self.need_sound(answer)
        if status not in ("completed", "incomplete", None):
            raise malformed(self.endpoint, f"a response that is {status!r}")
        parts = list(_parts(items, "message", "content"))
        why = text_at(answer, "incomplete_details", "reason")
        reason: FinishReason = "stop" if status == "completed" else _INCOMPLETE.get(why, "unstated")
        thoughts = (*_parts(items, "reasoning", "summary"), *_parts(items, "reasoning", "content"))
        return reply_of(
            "".join(text_at(part, "text") for part in parts if at(part, "type") == "output_text"),
            reason,
            usage_of(at(answer, "usage"), **_COUNTED),
            at(answer, "model"),
            apart=tuple(text_at(part, "text") for part in thoughts),
            refusal="".join(text_at(part, "refusal") for part in parts),
            logprobs=token_logprobs([each for part in parts for each in list_at(part, "logprobs")]),
        )


def _parts(items: list[Any], kind: str, field: str) -> Iterator[Any]:
    """Yield the value of a field of every item of a kind."""
    for item in items:
        if at(item, "type") == kind:
            yield from list_at(item, field)


SERVICE = replace(
    openai_chat.SERVICE,
    title="OpenAI's responses",
    prefixes=("o1-pro", "o3-pro", "gpt-5-pro", "gpt-5-codex", "o3-deep-research", "o4-mini-deep-research", "codex-"),
    examples=("o3-pro", "gpt-5-pro"),
    open=OpenAIResponses,
    sampling=_TAKEN,
)

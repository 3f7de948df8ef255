"""OpenAI's responses, which its newest and largest models speak alone.

Nothing is stored at the provider (`store: false`), so every turn sends the whole conversation, without the reasoning:
the protocol does not ask for it where no tools are used. It has no seed and no stop.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.chat import openai_chat
from harness.chat.faults import malformed
from harness.chat.openai_chat import OpenAIModel
from harness.chat.parameters import Parameters, on_the_wire
from harness.chat.remote import count, word
from harness.chat.structured import strict, token_logprobs
from harness.chat.thinking import finish, sendable, spoken
from harness.records import FinishReason, Reply, Request, Sampling, Usage

_TAKEN = {
    **{name: name for name in ("temperature", "top_p", "extra_body", "extra_headers")},
    "max_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning",
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
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        said = [m for m in request.messages if m.role != "system"]
        return {
            "model": self.endpoint.model,
            "input": [{"role": message.role, "content": sendable(message.content)} for message in said],
            **({"instructions": sendable(system)} if system.strip() else {}),
            "store": False,
            **sent,
        }

    def read(self, answer: Any) -> Reply:
        """Return the reply that a response holds."""
        items = getattr(answer, "output", None)
        if not isinstance(items, list):
            raise self.no_reply(answer, "a body without output")
        failed = self.failed(answer)
        if failed is not None:
            raise failed
        status = getattr(answer, "status", None)
        if status not in ("completed", "incomplete", None):
            raise malformed(self.endpoint, f"a response that is {status!r}")
        parts = list(_parts(items, "message", "content"))
        why = getattr(getattr(answer, "incomplete_details", None), "reason", None)
        reason: FinishReason = "stop" if status == "completed" else _INCOMPLETE.get(str(why), "unstated")
        texts = [_text(part, "text") for part in parts if getattr(part, "type", None) == "output_text"]
        thoughts = (*_parts(items, "reasoning", "summary"), *_parts(items, "reasoning", "content"))
        apart = tuple(_text(part, "text") for part in thoughts)
        text, reasoning = spoken("".join(texts), apart=apart, cut=reason == "length")
        refusal = "".join(_text(part, "refusal") for part in parts)
        if refusal and not text:
            text, reason = refusal, "refused"
        logprobs = [each for part in parts for each in getattr(part, "logprobs", None) or ()]
        return Reply(
            text=text,
            reasoning=reasoning,
            finish_reason=finish(reason, text),
            usage=_usage_of(answer),
            model=word(getattr(answer, "model", None)),
            logprobs=token_logprobs(logprobs),
        )


def _parts(items: list[Any], kind: str, field: str) -> Iterator[Any]:
    """Yield what stands in a field of every item of a kind."""
    for item in items:
        if getattr(item, "type", None) == kind and isinstance(parts := getattr(item, field, None), list):
            yield from parts


def _text(part: Any, field: str) -> str:
    value = getattr(part, field, None)
    return value if isinstance(value, str) else ""


def _usage_of(answer: Any) -> Usage:
    usage = getattr(answer, "usage", None)
    return Usage(
        prompt_tokens=count(getattr(usage, "input_tokens", None)),
        completion_tokens=count(getattr(usage, "output_tokens", None)),
        reasoning_tokens=count(getattr(getattr(usage, "output_tokens_details", None), "reasoning_tokens", None)),
        cached_tokens=count(getattr(getattr(usage, "input_tokens_details", None), "cached_tokens", None)),
        written_tokens=count(getattr(getattr(usage, "input_tokens_details", None), "cache_write_tokens", None)),
    )


SERVICE = replace(
    openai_chat.SERVICE,
    title="OpenAI's responses",
    prefixes=("o1-pro", "o3-pro", "gpt-5-pro", "gpt-5-codex", "o3-deep-research", "o4-mini-deep-research", "codex-"),
    examples=("o3-pro", "gpt-5-pro"),
    open=OpenAIResponses,
    sampling=_TAKEN,
)

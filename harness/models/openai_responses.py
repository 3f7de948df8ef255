"""OpenAI's responses, the only protocol of some of its models.

Nothing is stored at the provider (`store: false`), so every turn sends the whole conversation,
without the reasoning. The protocol has no seed and no stop.
"""

from typing import Any

from harness.models.decoding import at, list_at, text_at
from harness.models.openai import OpenAIModel
from harness.models.remote import split_system, strict_schema, token_logprobs
from harness.types import Reply, Request


class OpenAIResponses(OpenAIModel):
    """A chat model behind `/responses`."""

    path = "/responses"

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling, log-probabilities and schema by the protocol's names."""
        parameters = super().parameters(request)
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
            "input": [{"role": turn.role, "content": turn.content} for turn in messages],
            **({"instructions": system} if system else {}),
            "store": False,
            **parameters,
        }

    def read(self, answer: Any) -> Reply:
        """Return the reply in a response."""
        items = at(answer, "output")
        if not isinstance(items, list) or at(answer, "error"):
            raise self.no_reply(answer, "a body without output")
        parts = parts_of(items, "message", "content")
        tokens = [token for part in parts for token in list_at(part, "logprobs")]
        thoughts = parts_of(items, "reasoning", "summary") + parts_of(items, "reasoning", "content")
        return self.reply_of(
            answer,
            "".join(text_at(part, "text") for part in parts if at(part, "type") == "output_text"),
            text_at(answer, "incomplete_details", "reason") or text_at(answer, "status"),
            thoughts=[text_at(thought, "text") for thought in thoughts],
            refusal="".join(text_at(part, "refusal") for part in parts),
            logprobs=token_logprobs(tokens),
        )


def parts_of(items: list[Any], kind: str, field: str) -> list[Any]:
    """Return the parts that stand in a field of the items of a kind."""
    return [part for item in items if at(item, "type") == kind for part in list_at(item, field)]

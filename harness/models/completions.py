"""OpenAI's older `/completions`, for servers without a chat endpoint; fschat writes the prompt.

Its templates are taken by their exact names: its own look-up by a model's name silently takes one
with two example messages for every model that it does not know.
"""

from collections.abc import Sequence
from typing import Any

from harness.errors import UsageError, near
from harness.models.decoding import at, text_at
from harness.models.openai import OpenAIModel
from harness.models.remote import split_system, storable
from harness.types import Message, Reply, Request

DEFAULT_MAX_TOKENS = 1024
"""The limit where none is stated; servers of this protocol would stop after 16 tokens."""


class Completions(OpenAIModel):
    """A chat model behind `/completions`."""

    path = "/completions"

    def parameters(self, request: Request) -> dict[str, Any]:
        """Return sampling and the template's own stops; log-probabilities are not asked for."""
        template = template_of(self.endpoint.conv_template or "")
        parameters = {"max_tokens": DEFAULT_MAX_TOKENS, **super().parameters(request)}
        if stops := template.stop_str:
            stops = [stops] if isinstance(stops, str) else list(stops)
            parameters["stop"] = [*stops, *(request.sampling.stop or ())]
        if template.stop_token_ids:
            parameters["stop_token_ids"] = list(template.stop_token_ids)
        return parameters

    def body(self, request: Request, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all that is sent."""
        prompt = prompt_of(self.endpoint.conv_template or "", request.messages)
        return {"model": self.endpoint.model, "prompt": prompt, **parameters}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a completion."""
        choice = self.choice(answer)
        text = at(choice, "text")
        if not isinstance(text, str):
            raise self.no_reply(answer, "a choice without a text")
        return self.reply_of(answer, text.strip(), text_at(choice, "finish_reason"))


def template_of(name: str) -> Any:
    """Return a fresh copy of an fschat template."""
    from fastchat.conversation import get_conv_template

    return get_conv_template(name)


def check_template(name: str) -> str:
    """Return the name of an fschat template, or raise `UsageError` if it is none of use."""
    from fastchat.conversation import conv_templates

    usable = [key for key, template in conv_templates.items() if template.sep_style is not None]
    if name not in usable:
        raise UsageError(f"fschat has no conversation template {name!r}{near(name, usable)}")
    return name


def prompt_of(name: str, messages: Sequence[Message]) -> str:
    """Return a conversation as one text by an fschat template, open for the next reply."""
    template = template_of(name)
    system, rest = split_system(messages)
    if system:
        template.set_system_message(system)
    user, assistant = template.roles[:2]
    for message in rest:
        template.append_message(user if message.role == "user" else assistant, message.content)
    template.append_message(assistant, None)
    return storable(str(template.get_prompt()))

"""OpenAI's older `/v1/completions`, for servers without a chat endpoint: the prompt is built by an fschat template.

fschat knows its templates by exact name. (Its lookup by model name silently takes one with two example messages for
every model that it does not know, so it is not used.)
"""

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.old.chat import openai_chat
from harness.old.chat.body import at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.openai_chat import COUNTED, FINISH, OpenAIModel
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.chat.remote import reply_of, usage_of
from harness.old.chat.services import require
from harness.old.chat.structured import completion_logprobs
from harness.old.chat.thinking import NO_REPLY, sendable
from harness.old.errors import UsageError
from harness.old.records import Message, Reply, Request, Sampling

FSCHAT = ("fschat", (0, 2, 36))
"""The least version of fschat whose templates are known to us."""
DEFAULT_MAX_TOKENS = 1024
"""The limit that is sent where none is stated; servers of this protocol would stop after 16."""


class OpenAICompletions(OpenAIModel):
    """A chat model behind `/v1/completions`."""

    path = "/completions"
    repairable = OpenAIModel.repairable | {"stop", "stop_token_ids"}

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters and the template's own stops, by their names on the wire."""
        template = template_of(str(self.endpoint.conv_template))
        asked: Parameters = {"max_tokens": DEFAULT_MAX_TOKENS, **on_the_wire(sampling, openai_chat.SAMPLED)}
        if template.stop_str:
            own = [template.stop_str] if isinstance(template.stop_str, str) else list(template.stop_str)
            asked["stop"] = [*own, *(sampling.stop or ())]
        if template.stop_token_ids:
            asked["stop_token_ids"] = list(template.stop_token_ids)
        return asked

    def shape(self, request: Request) -> Parameters:
        """Return the log-probabilities that a request wants; the protocol has no schema."""
        return {} if request.top_logprobs is None else {"logprobs": request.top_logprobs}

    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by its names on the wire."""
        prompt = prompt_of(str(self.endpoint.conv_template), request.messages)
        return {"model": self.endpoint.model, "prompt": prompt, **sent}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a completion."""
        choice = self.first_choice(answer)
        if not isinstance(at(choice, "text"), str):
            raise self.no_reply(answer, "a choice without a text")
        reason = FINISH.get(str(at(choice, "finish_reason")), "unstated")
        usage = usage_of(at(answer, "usage"), **COUNTED)
        logprobs = completion_logprobs(choice)
        return reply_of(choice["text"].strip(), reason, usage, at(answer, "model"), logprobs=logprobs)


def check_template(name: str) -> str:
    """Return the name, or raise `UsageError` if fschat has no such template or the template builds no prompt."""
    from fastchat.conversation import conv_templates

    if name not in conv_templates:
        near = ", ".join(difflib.get_close_matches(name, conv_templates, n=5, cutoff=0.0))
        raise UsageError(
            f"--conv-template {name!r} is not one of the {len(conv_templates)} templates of fschat; near ones: {near}"
        )
    try:
        prompt_of(name, (Message("user", "?"),))
    except ValueError as error:
        raise UsageError(f"--conv-template {name!r} builds no prompt: it is fschat's entry for an API") from error
    return name


def prompt_of(name: str, messages: tuple[Message, ...]) -> str:
    """Return the conversation as the template writes it, ready for the next reply.

    The template's own system message stays unless the conversation has one. An empty earlier reply is sent as a
    placeholder: in a template, no text means "the reply to be written".
    """
    template = template_of(name)
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    if system:
        template.set_system_message(system)
    user, assistant = template.roles[:2]
    for message in messages:
        if message.role != "system":
            role = user if message.role == "user" else assistant
            template.append_message(role, message.content if message.content.strip() else NO_REPLY)
    template.append_message(assistant, None)
    return sendable(str(template.get_prompt()))


def template_of(name: str) -> Any:
    """Return a fresh copy of a template."""
    from fastchat.conversation import get_conv_template

    return get_conv_template(name)


def _settled(endpoint: Endpoint, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint, whose address and template are both needed."""
    if endpoint.conv_template is not None:
        require(*FSCHAT)
        check_template(endpoint.conv_template)
    if endpoint.base_url is None or endpoint.conv_template is None:
        lacking = (
            "a server; give its address with --base-url or in" if endpoint.conv_template else "--conv-template beside"
        )
        raise UsageError(f"{endpoint.name}: --conv-template needs {lacking} {SERVICE.url_variable}")
    return endpoint


SERVICE = replace(
    openai_chat.SERVICE,
    prefixes=(),
    examples=(),
    packages=(*openai_chat.SERVICE.packages, FSCHAT),
    open=OpenAICompletions,
    settled=_settled,
    batches=None,
    sampling=openai_chat.SAMPLED,
)

"""A conversation as a model was trained on it: its own chat template, or one of fschat by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import ChatError, UsageError
from harness.models.completions import check_template, prompt_of, template_of
from harness.types import Message, content_hash


class Prompts:
    """Writes the prompts of one model."""

    def __init__(self, tokenizer: Any, place: str, conv_template: str | None) -> None:
        """Choose the template.

        Raises:
            UsageError: there is no template, or none of that name.
        """
        self._tokenizer, self._conv = tokenizer, conv_template
        self.stops: tuple[str, ...] = ()
        """Texts at which the template ends a reply."""
        self.stop_ids: frozenset[int] = frozenset()
        if conv_template is not None:
            template = template_of(check_template(conv_template))
            stops = template.stop_str or ()
            self.stops = (stops,) if isinstance(stops, str) else tuple(filter(None, stops))
            self.stop_ids = frozenset(template.stop_token_ids or ())
            self.name = f"fschat {conv_template}"
        elif template := getattr(tokenizer, "chat_template", None):
            self.name = f"its own ({content_hash(template)})"
        else:
            raise UsageError(
                f"{place} has no chat template; name the conversation template of fschat that it "
                "was trained with, as in --conv-template vicuna_v1.1"
            )

    def tokens(self, messages: Sequence[Message], more: Mapping[str, Any]) -> list[int]:
        """Return the tokens of a conversation, ready for the next reply.

        `more` are variables of the model's own template. Where that has no system role, the system
        prompt goes to the head of the first user message.

        Raises:
            ChatError: the template does not take this conversation.
        """
        if self._conv is not None:
            return list(self._tokenizer(prompt_of(self._conv, messages))["input_ids"])
        rows = [{"role": message.role, "content": message.content} for message in messages]
        try:
            encoded = self._tokenizer.apply_chat_template(
                rows, add_generation_prompt=True, tokenize=True, **more
            )
        except Exception as error:  # a template is a program of the model's maker
            if len(messages) > 1 and messages[0].role == "system":
                return self.tokens(_without_system(messages), more)
            raise ChatError(
                f"the chat template refuses the conversation: {error}", kind="bad request"
            ) from None
        return list(encoded["input_ids"] if isinstance(encoded, Mapping) else encoded)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    system, first, *rest = messages
    return [Message("user", f"{system.content}\n\n{first.content}"), *rest]

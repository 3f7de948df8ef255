"""A conversation as a model was trained on it: its own chat template, else fschat's of an exact name."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from harness.old.chat.openai_completions import check_template, prompt_of, template_of
from harness.old.errors import ChatError, UsageError
from harness.old.records import Message, content_hash


class Prompts:
    """Writes the prompts of one model."""

    def __init__(self, tokenizer: Any, where: str, conv_template: str | None) -> None:
        """Choose the template; `where` is the folder or repository.

        Raises:
            UsageError: there is no template, or none of that name.
        """
        self._tokenizer = tokenizer
        self._conv = None if conv_template is None else check_template(conv_template)
        own = getattr(tokenizer, "chat_template", None)
        if self._conv is None and not own:
            raise UsageError(
                f"{where} has no chat template; name the conversation template of fschat that it was trained with by "
                f"--conv-template; names near its own: {', '.join(_near(where))}"
            )
        self.name = f"fschat {self._conv}" if self._conv else f"its own ({content_hash(own)})"
        """What the template is called in messages and rows."""
        self.stops: tuple[str, ...] = ()
        """Texts at which the template ends a reply."""
        self.stop_ids: frozenset[int] = frozenset()
        if self._conv is not None:
            template = template_of(self._conv)
            stops = [template.stop_str] if isinstance(template.stop_str, str) else list(template.stop_str or ())
            self.stops = tuple(stop for stop in stops if stop)
            self.stop_ids = frozenset(template.stop_token_ids or ())

    def tokens(self, messages: Sequence[Message], more: Mapping[str, Any]) -> list[int]:
        """Return the tokens of a conversation, ready for the next reply; `more` are variables of the own template.

        Raises:
            ChatError: the template does not take this conversation.
        """
        if self._conv is not None:
            ids = self._tokenizer(prompt_of(self._conv, tuple(messages)))["input_ids"]
            return list(ids)
        said = [{"role": message.role, "content": message.content} for message in messages]
        try:
            ids = self._tokenizer.apply_chat_template(said, add_generation_prompt=True, tokenize=True, **more)
            return list(ids["input_ids"] if isinstance(ids, Mapping) else ids)
        except Exception as error:  # a template is a program of the model's maker, and raises what it likes
            if said and said[0]["role"] == "system":
                return self.tokens(_without_system(messages), more)
            raise ChatError(f"the chat template refuses the conversation: {error}", kind="bad request") from None


def _without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the conversation with what the system says at the head of the user's first turn."""
    first, second, *rest = messages
    return (Message("user", f"{first.content}\n\n{second.content}"), *rest)


def _near(where: str) -> list[str]:
    from fastchat.conversation import conv_templates

    name = where.rstrip("/").rpartition("/")[2].lower()
    return difflib.get_close_matches(name, conv_templates, n=5, cutoff=0.0)

"""Built-in chat models: no key, no network, no weights. They are deterministic, and their replies say what they are.

builtin/reference   replies with the reference answers: the ceiling
builtin/outline     arranges the words of the conversation: between
builtin/eliza       reflects the user's words by patterns: the floor
builtin/user        plays the user of questions that have one; does not answer questions
"""

import difflib

from harness.old.chat.builtin.conversation import Builtin
from harness.old.chat.builtin.eliza import eliza
from harness.old.chat.builtin.outline import outline
from harness.old.chat.builtin.reference import reference
from harness.old.chat.builtin.user import user
from harness.old.chat.model import ChatModel
from harness.old.errors import UsageError

_USER = "builtin/user"
_MODELS = {"builtin/reference": reference, "builtin/outline": outline, "builtin/eliza": eliza}
_JUDGES = ("builtin/overlap", "builtin/longest", "builtin/first", "builtin/random")


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in chat models, the best first."""
    return tuple(_MODELS)


def open_builtin(name: str) -> ChatModel:
    """Return the built-in chat model of this name; an unknown name is a UsageError with the near ones."""
    if name in _MODELS:
        return Builtin(name, _MODELS[name])
    if name == _USER:
        return Builtin(name, user)
    if name in _JUDGES:
        raise UsageError(
            f"{name} is a judge and does not answer questions; the built-in chat models are {', '.join(_MODELS)}"
        )
    near = difflib.get_close_matches(name, (*_MODELS, *_JUDGES), cutoff=0.8) or _MODELS
    raise UsageError(f"there is no built-in chat model {name!r}; near names: {', '.join(near)}")

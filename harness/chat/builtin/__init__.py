"""Chat models that need nothing: no key, no network, no weights. They are deterministic, and say what they are.

builtin/reference   replies with the reference answers: the ceiling
builtin/outline     arranges the words of the conversation and obeys what can be counted: between
builtin/eliza       turns what it is told around by patterns: the floor
"""

import difflib
import importlib

from harness.chat.model import ChatModel
from harness.errors import UsageError

_MODELS = {"builtin/reference": "Reference", "builtin/outline": "Outline", "builtin/eliza": "Eliza"}
"""Each model's class, in the module that is named like the model; imported when it is opened."""
_JUDGES = ("builtin/overlap",)


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in chat models, the best first."""
    return tuple(_MODELS)


def open_builtin(name: str) -> ChatModel:
    """Return the built-in chat model of this name; an unknown name is a UsageError with the near ones."""
    if name in _MODELS:
        module = importlib.import_module(f"harness.chat.{name.replace('/', '.')}")
        model: ChatModel = getattr(module, _MODELS[name])()
        return model
    if name in _JUDGES:
        raise UsageError(
            f"{name} is a judge and answers no questions; the built-in chat models are {', '.join(_MODELS)}"
        )
    short = {known.removeprefix("builtin/"): known for known in _MODELS}
    near = [short[match] for match in difflib.get_close_matches(name.removeprefix("builtin/"), short)] or list(_MODELS)
    raise UsageError(f"no built-in chat model is called {name!r}; near names: {', '.join(near)}")

"""One model under several names: in which settings they differ, by the first row of each file of answers.

qwen3 has several names, with different settings: qwen3 (as usual); qwen3-thinking (reasoning_effort high)
"""

import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from harness.old.errors import TurnbenchError
from harness.old.jsonl import is_there, read_rows
from harness.old.names import file_stem, plain_model
from harness.old.rows import details_in, reply_from_row, sampling_from_row


def settings_notes(folder: pathlib.Path, models: Iterable[str]) -> list[str]:
    """Return a line for each model that was asked under several names and in different ways; temperatures left out."""
    served: dict[str, dict[str, dict[str, Any]]] = {}
    for name in models:
        row = _first(folder / "model_answer" / f"{file_stem(name)}.jsonl")
        model = _served(row)
        if model is not None:
            asked = sampling_from_row(row.get("sampling")).stated()
            settings = {key: value for key, value in asked.items() if key != "temperature"}
            served.setdefault(model, {})[name] = settings | (
                {"system prompt": "yes"} if row.get("system_prompt") else {}
            )
    return [line for model, named in served.items() if (line := _line(model, named)) is not None]


def _first(path: pathlib.Path) -> Mapping[str, Any]:
    try:
        return next((row.value for row in read_rows(path)), {}) if is_there(path) else {}
    except TurnbenchError:  # whoever reads the answers says so
        return {}


def _served(row: Mapping[str, Any]) -> str | None:
    """Return the provider's name for the model; None if it gave none."""
    models = (reply_from_row("", about).model for about, _ in details_in(row))
    return next((model for model in models if model is not None), None)


def _line(model: str, named: Mapping[str, Mapping[str, Any]]) -> str | None:
    if len({plain_model(name) for name in named}) < 2:
        return None
    keys = dict.fromkeys(key for settings in named.values() for key in settings)
    differing = [key for key in keys if len({repr(settings.get(key)) for settings in named.values()}) > 1]
    if not differing:
        return None
    own = (
        f"{name} ({', '.join(f'{key} {settings[key]}' for key in differing if key in settings) or 'default'})"
        for name, settings in named.items()
    )
    return f"{model} has several names, with different settings: {'; '.join(own)}"

"""Multi-IF: IFEval's instructions over three turns and eight languages, each turn with those of the turns before.

    {"key": "1019:16:en", "language": "English", "turn_1_prompt": "{\\"role\\": \\"user\\", \\"content\\": \\"...\\"}",
     "turn_1_instruction_id_list": "[\\"punctuation:no_comma\\"]", "turn_1_kwargs": "[\\"{}\\"]", "turn_2_prompt": ...}

    key → question id       prompts → turns       instructions → checks of each turn       language → kept, to group by

Lists and objects may stand as such or as their JSON in a text, as the published CSV has them.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.importing.ifeval import category_of, instruction_checks
from harness.importing.items import BadRecordError, Item, id_of, optional_text

_MOST_TURNS = 10


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing, or an instruction is not one that IFEval has.
    """
    turns, checks = [], []
    for number in range(1, _MOST_TURNS + 1):
        prompt = value.get(f"turn_{number}_prompt")
        if prompt in (None, "", "None"):
            break
        turns.append(_content(prompt))
        ids, given = (_read(value.get(f"turn_{number}_{name}")) for name in ("instruction_id_list", "kwargs"))
        checks.append(instruction_checks(ids, given))
    if not turns:
        raise BadRecordError("the field 'turn_1_prompt' is missing")
    language = optional_text(value, "language").strip()
    return Item(
        category=category_of(checks[0]),
        turns=tuple(turns),
        extra={"checks": checks, **({"language": language} if language else {})},
        question_id=id_of(value, "key"),
    )


def _content(prompt: Any) -> str:
    message = _read(prompt)
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, str) or not content.strip():
        raise BadRecordError(f"a turn's prompt is no message with content: {str(prompt)[:40]!r}")
    return content


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadRecordError(f"{value[:40]!r} is not JSON") from None

"""Google's IFEval, and Multi-IF of several turns and languages: instructions as our checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id      prompt → question      instruction → check, named by its id

`ifeval.toml` has the check that each instruction is. The category is the group of the first
instruction, such as `punctuation`. Further files hold responses of a model, {"prompt": "...",
"response": "..."}.

    {"key": "1019:16:en", "language": "English", "turn_1_prompt": "{\\"role\\": \\"user\\", ...}",
     "turn_1_instruction_id_list": "[\\"punctuation:no_comma\\"]", "turn_1_kwargs": "[\\"{}\\"]",
     "turn_2_prompt": ...}

Each turn of Multi-IF has the instructions of those before. Its lists and objects may stand in
texts, as in its published CSV.
"""

import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from harness import registry
from harness.errors import TurnbenchError
from harness.extras.importing.items import BadRecord, Item, Source, id_of, optional, text_of

_SLOT = re.compile(r"\{(?P<name>\w+)(?P<pattern>:pattern)?\}")
INSTRUCTIONS: Mapping[str, Any] = msgspec.toml.decode(
    pathlib.Path(__file__).with_suffix(".toml").read_bytes()
)
"""The check that each of IFEval's instructions is."""


def ifeval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the prompt and checks of a record, or the response of one of a further file."""
    prompt = text_of(record, "prompt")
    if "instruction_id_list" not in record:
        response = [text_of(record, "response", empty=True)]
        return Item(turns=[prompt], answers={source.model or source.stem: response})
    checks = _checks(record.get("instruction_id_list"), record.get("kwargs"))
    return Item(
        question_id=id_of(record, "key"),
        category=_category(checks),
        turns=[prompt],
        extra={"checks": [checks]},
    )


def multi_if(record: Mapping[str, Any], source: Source) -> Item:
    """Return the prompts and checks of a record of Multi-IF."""
    turns: list[str] = []
    checks: list[list[dict[str, Any]]] = []
    while (prompt := record.get(f"turn_{len(turns) + 1}_prompt")) not in (None, "", "None"):
        turn = f"turn_{len(turns) + 1}"
        message = _read(prompt)
        turns.append(text_of(message if isinstance(message, Mapping) else {}, "content"))
        names, arguments = (f"{turn}_instruction_id_list", f"{turn}_kwargs")
        checks.append(_checks(_read(record.get(names)), _read(record.get(arguments))))
    if not turns:
        raise BadRecord("the field 'turn_1_prompt' is missing")
    language = optional(record, "language")
    return Item(
        question_id=id_of(record, "key"),
        category=_category(checks[0]),
        turns=turns,
        extra={"checks": checks} | ({"language": language} if language else {}),
    )


def _read(value: Any) -> Any:
    """Return the JSON value of a text; other values unchanged."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise BadRecord(f"{value[:40]!r} is not JSON") from None


def _category(checks: list[dict[str, Any]]) -> str:
    return str(checks[0]["name"]).partition(":")[0] if checks else "ifeval"


def _checks(names: Any, arguments: Any) -> list[dict[str, Any]]:
    """Return the check of each instruction."""
    if (
        not isinstance(names, list)
        or not isinstance(arguments, list)
        or len(names) != len(arguments)
    ):
        raise BadRecord("instruction_id_list and kwargs must be lists of equal length")
    return [_check(name, _read(own)) for name, own in zip(names, arguments, strict=True)]


def _check(name: Any, arguments: Any) -> dict[str, Any]:
    if not isinstance(name, str) or name not in INSTRUCTIONS:
        raise BadRecord(f"IFEval has no instruction {name!r}")
    try:
        check = {"name": name, **_filled(INSTRUCTIONS[name], arguments)}
        registry.find("check", check["kind"])
    except (KeyError, TypeError, ValueError, TurnbenchError) as error:
        raise BadRecord(f"the arguments of {name} are not valid: {error}") from None
    return check


def _filled(value: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a check of `ifeval.toml` with an instruction's arguments in it."""
    if isinstance(value, list):
        return [_filled(one, arguments) for one in value]
    if isinstance(value, dict):
        filled = {name: _filled(one, arguments) for name, one in value.items() if name != "bounds"}
        if "bounds" in value:
            filled |= _bounds(*(arguments[name] for name in value["bounds"]))
        return filled
    slot = _SLOT.search(value) if isinstance(value, str) else None
    if slot is None:
        return value
    argument = arguments[slot["name"]]
    argument = argument.strip() if isinstance(argument, str) else argument
    return value.replace(slot[0], _pattern(str(argument))) if slot["pattern"] else argument


def _bounds(relation: Any, number: Any) -> dict[str, int]:
    if relation not in ("at least", "less than"):
        raise ValueError(f"relation {relation!r}")
    return {"at_least": int(number)} if relation == "at least" else {"at_most": int(number) - 1}


def _pattern(text: str) -> str:
    """Return the pattern that finds a text; as in IFEval, a postscript's with spaces in it."""
    escaped = "".join(rf"\{c}" if c in r"\.+*?()|[]{}^$" else c for c in text)
    return {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(text, escaped)

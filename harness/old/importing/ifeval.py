"""Google's IFEval and its multi-turn, multilingual Multi-IF: instructions that a program can check, as our checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id       prompt → question       instruction → check, with the instruction's id as its name

The category is the part before the colon of the first instruction's id. An instruction that needs two checks is an
`all` of them, so that each is one check; `ifeval.toml` has them all. How our definitions differ from theirs is in
docs/checks.md.

Further files contain responses, {"prompt": "...", "response": "..."}, as answers of the model that the command names.

Multi-IF has up to three turns, each with the instructions of those before, in eight languages:

    {"key": "1019:16:en", "language": "English", "turn_1_prompt": "{\\"role\\": \\"user\\", \\"content\\": \\"...\\"}",
     "turn_1_instruction_id_list": "[\\"punctuation:no_comma\\"]", "turn_1_kwargs": "[\\"{}\\"]", "turn_2_prompt": ...}

    key → question id       prompts → turns       instructions → checks of each turn       language → kept, to group by

Lists and objects may be given as such or as JSON in a text, as in its published CSV.
"""

import contextlib
import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.old.checks import read_check
from harness.old.importing.items import BadRecordError, FurtherAnswer, Item, id_of, label_of, text_of
from harness.old.written import read_toml

_MOST_TURNS = 10
_Checks = list[dict[str, Any]]
_SLOT = re.compile(r"\{(?P<name>\w+)(?P<pattern>:pattern)?\}")
INSTRUCTIONS = read_toml(pathlib.Path(__file__).with_suffix(".toml"))
"""What each of IFEval's instructions is in our vocabulary."""


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record of the prompts becomes.

    Raises:
        BadRecordError: a field is missing, or an instruction is not one that IFEval has.
    """
    prompt = text_of(value, "prompt")
    checks = instruction_checks(value.get("instruction_id_list"), value.get("kwargs"))
    return Item(
        category=_category(checks),
        turns=(prompt,),
        extra={"checks": [checks]},
        question_id=id_of(value, "key"),
        key=prompt,
    )


def answer(value: Mapping[str, Any]) -> FurtherAnswer:
    """Return what a record of responses is.

    Raises:
        BadRecordError: a field is missing.
    """
    return FurtherAnswer(text_of(value, "prompt"), text_of(value, "response", empty=True))


def multi_if(value: Mapping[str, Any]) -> Item:
    """Return what a record of Multi-IF becomes; raises as `item` does."""
    turns, checks = [], []
    for number in range(1, _MOST_TURNS + 1):
        prompt = value.get(f"turn_{number}_prompt")
        if prompt in (None, "", "None"):
            break
        message = _read(prompt)
        content = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(content, str) or not content.strip():
            raise BadRecordError(f"a turn's prompt is not a message with content: {str(prompt)[:40]!r}")
        turns.append(content)
        ids, given = (_read(value.get(f"turn_{number}_{name}")) for name in ("instruction_id_list", "kwargs"))
        checks.append(instruction_checks(ids, given))
    if not turns:
        raise BadRecordError("the field 'turn_1_prompt' is missing")
    language = label_of(value, "language")
    return Item(
        category=_category(checks[0]),
        turns=tuple(turns),
        extra={"checks": checks, **({"language": language} if language else {})},
        question_id=id_of(value, "key"),
    )


def _read(value: Any) -> Any:
    """Return the JSON value of a text; other values unchanged."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise BadRecordError(f"{value[:40]!r} is not JSON") from None


def _category(checks: Sequence[Mapping[str, Any]]) -> str:
    """Return the group of the first instruction: `punctuation`, `keywords`, ..."""
    return str(checks[0]["name"]).partition(":")[0] if checks else "ifeval"


def instruction_checks(ids: Any, arguments: Any) -> _Checks:
    """Return the check of each instruction."""
    if not isinstance(ids, list) or not isinstance(arguments, list) or len(ids) != len(arguments):
        raise BadRecordError("instruction_id_list and kwargs must be lists of equal length")
    return [_check(name, _table(given)) for name, given in zip(ids, arguments, strict=True)]


def _table(given: Any) -> Mapping[str, Any]:
    """Return an instruction's arguments: an object, or the text of one, as Multi-IF has it."""
    found = None
    with contextlib.suppress(BadRecordError):
        found = _read(given)
    if not isinstance(found, Mapping):
        raise BadRecordError(f"kwargs hold {str(given)[:40]!r}, which is not an object")
    return found


def _check(name: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(name, str) or name not in INSTRUCTIONS:
        raise BadRecordError(f"no instruction {name!r} in IFEval")
    try:
        check = {"name": name, **_filled(INSTRUCTIONS[name], given)}
        read_check(check)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecordError(f"the arguments of {name} are not valid: {error}") from None
    return check


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    """Return a check as `ifeval.toml` has it with an instruction's arguments in it."""
    if isinstance(value, list):
        return [_filled(one, given) for one in value]
    if isinstance(value, dict):
        found = {name: _filled(one, given) for name, one in value.items() if name != "bounds"}
        return found | (_bounds(*(given[name] for name in value["bounds"])) if "bounds" in value else {})
    slot = _SLOT.search(value) if isinstance(value, str) else None
    if slot is None:
        return value
    argument = given[slot["name"]]
    argument = argument.strip() if isinstance(argument, str) else argument
    return value.replace(slot[0], _pattern(str(argument))) if slot["pattern"] else argument


def _bounds(relation: Any, number: Any) -> dict[str, int]:
    """Return the bounds that "at least" or "less than" a number are."""
    if relation not in ("at least", "less than"):
        raise ValueError(f"relation {relation!r}")
    return {"at_least": int(number)} if relation == "at least" else {"at_most": int(number) - 1}


def _pattern(text: str) -> str:
    """Return the pattern that finds a text; as in IFEval, a postscript's with spaces in it."""
    escaped = "".join(rf"\{c}" if c in r"\.+*?()|[]{}^$" else c for c in text)
    return {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(text, escaped)

"""Google's IFEval, and Multi-IF of several turns and languages: instructions as checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id      prompt → question      instruction → check of the kind `ifeval`

The category is the group of the first instruction, such as `punctuation`. Further files hold
responses of a model, {"prompt": "...", "response": "..."}.

    {"key": "1019:16:en", "language": "English", "turn_1_prompt": "{\\"role\\": \\"user\\", ...}",
     "turn_1_instruction_id_list": "[\\"punctuation:no_comma\\"]", "turn_1_kwargs": "[\\"{}\\"]",
     "turn_2_prompt": ...}

Each turn of Multi-IF has the instructions of those before. Its lists and objects may stand in
texts, as in its published CSV.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.extras.checks import read_check
from harness.extras.importing.items import BadRecord, Item, Source, id_of, optional, text_of


def ifeval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the prompt and checks of a record, or the response of one of a further file."""
    prompt = text_of(record, "prompt")
    if "instruction_id_list" not in record:
        response = [text_of(record, "response", empty=True)]
        return Item(turns=[prompt], answers={source.model or source.stem: response})
    checks = _checks(record["instruction_id_list"], record.get("kwargs"))
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
    language = optional(record, "language")
    more = {} if language.lower() in ("english", "en") else {"script_words": True}
    while (prompt := record.get(f"turn_{len(turns) + 1}_prompt")) not in (None, "", "None"):
        turn = f"turn_{len(turns) + 1}"
        message = _read(prompt)
        turns.append(text_of(message if isinstance(message, Mapping) else {}, "content"))
        names = _read(record.get(f"{turn}_instruction_id_list"))
        checks.append(_checks(names, _read(record.get(f"{turn}_kwargs")), **more))
    if not turns:
        raise BadRecord("the field 'turn_1_prompt' is missing")
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


def _checks(names: Any, arguments: Any, **more: Any) -> list[dict[str, Any]]:
    """Return the check of each instruction."""
    lists = isinstance(names, list) and isinstance(arguments, list)
    if not lists or len(names) != len(arguments):
        raise BadRecord("instruction_id_list and kwargs must be lists of equal length")
    checks = []
    for name, given in zip(names, map(_read, arguments), strict=True):
        if not isinstance(given, Mapping):
            raise BadRecord(f"kwargs must be objects, one is {str(given)[:40]!r}")
        own = {key: value for key, value in given.items() if value is not None}
        check = {"kind": "ifeval", "name": name, "instruction": name, "arguments": own, **more}
        try:
            read_check(check)
        except ValueError as error:
            raise BadRecord(str(error)) from None
        checks.append(check)
    return checks

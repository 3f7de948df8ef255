"""Google's IFEval: instructions as checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id      prompt → question      instruction → check of the kind `ifeval`

The category is the group of the first instruction, such as `punctuation`. Further files hold
responses of a model, {"prompt": "...", "response": "..."}.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.checks import read_check
from harness.extras.importing.items import BadRecord, Item, Source, id_of, text_of


def ifeval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the prompt and checks of a record, or the response of one of a further file."""
    prompt = text_of(record, "prompt")
    if "instruction_id_list" not in record:
        response = [text_of(record, "response", empty=True)]
        return Item(turns=[prompt], answers={source.model or source.stem: response})
    checks = _checks(record["instruction_id_list"], record.get("kwargs"))
    return Item(
        question_id=id_of(record, "key"),
        category=checks[0]["name"].partition(":")[0] if checks else "ifeval",
        turns=[prompt],
        extra={"checks": [checks]},
    )


def _checks(names: Any, arguments: Any) -> list[dict[str, Any]]:
    """Return the check of each instruction."""
    lists = isinstance(names, list) and isinstance(arguments, list)
    if not lists or len(names) != len(arguments):
        raise BadRecord("instruction_id_list and kwargs must be lists of equal length")
    checks = []
    for name, given in zip(names, arguments, strict=True):
        if not isinstance(given, Mapping):
            raise BadRecord(f"kwargs must be objects, one is {str(given)[:40]!r}")
        own = {key: value for key, value in given.items() if value is not None}
        check = {"kind": "ifeval", "name": name, "instruction": name, "arguments": own}
        try:
            read_check(check)
        except ValueError as error:
            raise BadRecord(str(error)) from None
        checks.append(check)
    return checks

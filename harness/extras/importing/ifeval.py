"""Google's IFEval: instructions as checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id      prompt → question      instruction → check of the kind `ifeval`

The category is the group of the first instruction, such as `punctuation`. Further files hold
responses of a model, {"prompt": "...", "response": "..."}.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.checks import read_check
from harness.extras.importing.items import Item, Source, id_of, text_of


def ifeval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the prompt and checks of a record, or the response of one of a further file."""
    prompt = text_of(record, "prompt")
    if "instruction_id_list" not in record:
        response = [text_of(record, "response", empty=True)]
        return Item(turns=[prompt], answers={source.model or source.stem: response})
    checks = []
    for name, kwargs in zip(record["instruction_id_list"], record["kwargs"], strict=True):
        arguments = {key: value for key, value in kwargs.items() if value is not None}
        check = {"kind": "ifeval", "name": name, "instruction": name, "arguments": arguments}
        read_check(check)
        checks.append(check)
    return Item(
        question_id=id_of(record, "key"),
        category=checks[0]["name"].partition(":")[0] if checks else "ifeval",
        turns=[prompt],
        extra={"checks": [checks]},
    )

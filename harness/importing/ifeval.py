"""Google's IFEval and its multi-turn, multilingual Multi-IF: instructions that a program can check, said in our checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id       prompt → question       instruction → check, with the instruction's id as its name

The category is what stands before the colon in the first instruction's id. An instruction that two checks make is an
`all` of them, so that each is one check. How our definitions differ from theirs is in docs/checks.md.

Further files hold responses, {"prompt": "...", "response": "..."}, as answers of the model that the command names.

Multi-IF has up to three turns, each with the instructions of those before, in eight languages:

    {"key": "1019:16:en", "language": "English", "turn_1_prompt": "{\\"role\\": \\"user\\", \\"content\\": \\"...\\"}",
     "turn_1_instruction_id_list": "[\\"punctuation:no_comma\\"]", "turn_1_kwargs": "[\\"{}\\"]", "turn_2_prompt": ...}

    key → question id       prompts → turns       instructions → checks of each turn       language → kept, to group by

Lists and objects may stand as such or as their JSON in a text, as its published CSV has them.
"""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.checks import read_check
from harness.importing.items import BadRecordError, FurtherAnswer, Item, id_of, label_of, text_of

_MOST_TURNS = 10
_Checks = list[dict[str, Any]]
_SENTENCES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
"""What `constrained_response` lets a reply choose from (IFEval's `_CONSTRAINED_RESPONSE_OPTIONS`)."""


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
            raise BadRecordError(f"a turn's prompt is no message with content: {str(prompt)[:40]!r}")
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
    """Return what a text says as JSON; what is no text as it is."""
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
        raise BadRecordError(f"kwargs hold {str(given)[:40]!r}, which is no object")
    return found


def _check(name: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    make = INSTRUCTIONS.get(name) if isinstance(name, str) else None
    if make is None:
        raise BadRecordError(f"no instruction {name!r} in IFEval")
    try:
        checks = make(given)
        check = {"name": name, **(checks[0] if len(checks) == 1 else {"kind": "all", "checks": checks})}
        read_check(check)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecordError(f"the arguments of {name} are not what they must be: {error}") from None
    return check


def _bounds(relation: str, number: Any) -> dict[str, int]:
    """Return the bounds that "at least" or "less than" a number are."""
    if relation not in ("at least", "less than"):
        raise ValueError(f"relation {relation!r}")
    return {"at_least": int(number)} if relation == "at least" else {"at_most": int(number) - 1}


def _count(unit: Any, bounds: Mapping[str, int]) -> _Checks:
    return [{"kind": "count", "of": unit, **bounds}]


def _escaped(text: str) -> str:
    return "".join(rf"\{c}" if c in r"\.+*?()|[]{}^$" else c for c in text)


def _keywords(given: Mapping[str, Any]) -> _Checks:
    return [{"kind": "contains", "text": list(given["keywords"])}]


def _frequency(given: Mapping[str, Any]) -> _Checks:
    bounds = _bounds(given["relation"], given["frequency"])
    return [{"kind": "contains", "text": given["keyword"].strip(), **bounds}]


def _letters(given: Mapping[str, Any]) -> _Checks:
    return [{"kind": "contains", "text": given["letter"], **_bounds(given["let_relation"], given["let_frequency"])}]


def _nth_paragraph(given: Mapping[str, Any]) -> _Checks:
    first = {"kind": "starts", "words": given["first_word"], "in": {"paragraph": given["nth_paragraph"]}}
    return [{"kind": "count", "of": "paragraphs", "exactly": given["num_paragraphs"]}, first]


def _postscript(given: Mapping[str, Any]) -> _Checks:
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    marker = given["postscript_marker"].strip()
    return [{"kind": "contains", "pattern": patterns.get(marker, _escaped(marker))}]


def _sections(given: Mapping[str, Any]) -> _Checks:
    pattern = rf"{_escaped(given['section_spliter'].strip())}\s?\d+"
    return [{"kind": "contains", "pattern": pattern, "match_case": True, "at_least": given["num_sections"]}]


def _two_responses(given: Mapping[str, Any]) -> _Checks:
    parts = {"split": "******"}
    return [{"kind": "count", "of": parts, "exactly": 2}, {"kind": "distinct", "of": parts}]


def _cased(case: str) -> Callable[[Mapping[str, Any]], _Checks]:
    return lambda given: [{"kind": "case", "is": case}, {"kind": "language", "is": "en"}]


INSTRUCTIONS: Mapping[str, Callable[[Mapping[str, Any]], _Checks]] = {
    "keywords:existence": _keywords,
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": lambda given: [{"kind": "not_contains", "words": list(given["forbidden_words"])}],
    "keywords:letter_frequency": _letters,
    "language:response_language": lambda given: [{"kind": "language", "is": given["language"]}],
    "length_constraints:number_sentences": lambda g: _count("sentences", _bounds(g["relation"], g["num_sentences"])),
    "length_constraints:number_words": lambda g: _count("words", _bounds(g["relation"], g["num_words"])),
    "length_constraints:number_paragraphs": lambda g: _count({"split": "***"}, {"exactly": g["num_paragraphs"]}),
    "length_constraints:nth_paragraph_first_word": _nth_paragraph,
    "detectable_content:number_placeholders": lambda g: _count("placeholders", {"at_least": g["num_placeholders"]}),
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": lambda given: _count("bullets", {"exactly": given["num_bullets"]}),
    "detectable_format:constrained_response": lambda g: [
        {"kind": "contains", "text": [*_SENTENCES], "any": True, "match_case": True}
    ],
    "detectable_format:number_highlighted_sections": lambda g: _count("highlights", {"at_least": g["num_highlights"]}),
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": lambda given: [{"kind": "json"}],
    "detectable_format:title": lambda given: [{"kind": "contains", "pattern": r"<<[^\n]*[^\s<>][^\n]*>>"}],
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": lambda given: [{"kind": "starts", "text": given["prompt_to_repeat"].strip()}],
    "startend:end_checker": lambda given: [{"kind": "ends", "text": given["end_phrase"].strip()}],
    "startend:quotation": lambda given: [{"kind": "starts", "text": '"'}, {"kind": "ends", "text": '"'}],
    "change_case:capital_word_frequency": lambda given: _count(
        "capital_words", _bounds(given["capital_relation"], given["capital_frequency"])
    ),
    "change_case:english_capital": _cased("upper"),
    "change_case:english_lowercase": _cased("lower"),
    "punctuation:no_comma": lambda given: [{"kind": "not_contains", "text": [",", "，", "、", "،"]}],
}
"""What each of IFEval's instructions is in our vocabulary."""

"""Google's IFEval and its multi-turn, multilingual Multi-IF: instructions that a program can check, said in our checks.

    {"key": 1000, "prompt": "...", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}

    key → question id       prompt → question       instruction → check, with the instruction's id as its name

The category is what stands before the colon in the first instruction's id. An instruction that two checks make is an
`all` of them, so that each is one check. How our definitions differ from theirs is in docs/checks.md.

Further files hold responses, {"prompt": "...", "response": "..."}, as answers of the model that the command names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.checks import read_check
from harness.importing.items import BadRecordError, FurtherAnswer, Item, id_of, text_of

NAME = "ifeval"
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
        category=category_of(checks),
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


def category_of(checks: Sequence[Mapping[str, Any]]) -> str:
    """Return the group of the first instruction: `punctuation`, `keywords`, ..."""
    return str(checks[0]["name"]).partition(":")[0] if checks else NAME


def instruction_checks(ids: Any, arguments: Any) -> _Checks:
    """Return the check of each instruction.

    Raises:
        BadRecordError: the lists do not fit each other, an instruction is unknown, or an argument is missing.
    """
    if not isinstance(ids, list) or not isinstance(arguments, list) or len(ids) != len(arguments):
        raise BadRecordError("instruction_id_list and kwargs must be lists of equal length")
    return [_check(name, _table(given)) for name, given in zip(ids, arguments, strict=True)]


def _table(given: Any) -> Mapping[str, Any]:
    """Return an instruction's arguments: an object, or the text of one, as Multi-IF has it."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise BadRecordError(f"kwargs hold {given[:40]!r}, which is no object") from None
    if not isinstance(given, Mapping):
        raise BadRecordError(f"kwargs hold {str(given)[:40]!r}, which is no object")
    return given


def _check(name: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    make = INSTRUCTIONS.get(name) if isinstance(name, str) else None
    if make is None:
        raise BadRecordError(f"no instruction {name!r} in IFEval")
    try:
        checks = make(given)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecordError(f"the arguments of {name} are not what they must be: {error}") from None
    check = {"name": name, **(checks[0] if len(checks) == 1 else {"kind": "all", "checks": checks})}
    try:
        read_check(check)
    except ValueError as error:
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

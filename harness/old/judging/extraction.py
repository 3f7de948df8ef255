"""The answer inside a reply in JSON, and the model's stated confidence.

    '```json\n{"answer": "1666", "confidence": 90}\n```'        -> "1666", 0.9
    "I think {'answer': 'Óbuda', 'confidence': '75%'}"          -> "Óbuda", 0.75
    "It was 1666."                                              -> "It was 1666.", unstated

A benchmark's `bench.toml` names the two fields. Reasoning before the reply is ignored. If
no object has the field, or several have different answers, the whole text is the answer: the judge sees all of it.
A confidence is a fraction of 1 if it has a decimal point and no percent sign (0.9, 1.0), else a percentage (90,
"90%", "1"); a value out of range counts as unstated.
"""

import json
import re
from typing import Any, NamedTuple

from harness.old.judging.verdicts.brackets import Fault
from harness.old.judging.verdicts.objects import folded_name, named, objects_in
from harness.old.judging.verdicts.shown import spoken
from harness.old.patterns import late_re

_CHARACTERS_READ = 100_000
"""The most of a reply that is read, from its end; a longer one is shown unchanged."""
_NUMBER = late_re(r"(?P<number>[0-9]{1,3}(?:[.,][0-9]{1,6})?)\s*(?P<of>%|(?:/|out of)\s*(?P<full>100?(?:[.,]0+)?))?")
_QUOTED = r"(?:\"(?P<double>[^\"\n]{0,2000})\"|'(?P<single>[^\n]{0,2000}?)'(?=\s*[,}])|“(?P<curly>[^”\n]{0,2000})”)"
_PLAIN = r"(?P<plain>[^\s\"'“{\[,}][^,}\n]{0,200})"


class Extracted(NamedTuple):
    """The part of a reply that a judge is shown, and the confidence stated in it."""

    answer: str
    confidence: float | None
    """From 0 to 1; None where the reply states none that can be read."""


def extracted(text: str, answer_field: str, confidence_field: str | None = None) -> Extracted:
    """Return the answer that a reply gives in a field of a JSON object, and the confidence in another one."""
    said = spoken(text)
    if isinstance(said, Fault) or "{" not in said or len(said) > _CHARACTERS_READ:
        return Extracted(text, None)
    wanted, sure = folded_name(answer_field), folded_name(confidence_field or "")
    members = [found for _start, _end, value in objects_in(said) if wanted in (found := named(value))]
    if not members:
        members = _unreadable(said, wanted, sure)
    answers = {_text(found[wanted]) for found in members}
    if len(answers) != 1:
        return Extracted(text, None)
    stated = {confidence_of(found[sure]) for found in members if sure in found}
    return Extracted(answers.pop(), stated.pop() if len(stated) == 1 else None)


def confidence_of(value: Any) -> float | None:
    """Return a stated confidence as a share of 1; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _NUMBER.fullmatch(str(value).strip(" ~≈"))
    if found is None:
        return None
    number = float(found["number"].replace(",", "."))
    if found["full"]:
        number /= float(found["full"].replace(",", "."))
    elif found["of"] or number > 1 or not re.search(r"[.,]", found["number"]):
        number /= 100
    return number if 0 <= number <= 1 else None


def _text(value: Any) -> str:
    """Return a field's value as a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _unreadable(text: str, wanted: str, sure: str) -> list[dict[str, Any]]:
    """Return the members of an object that is truncated, badly quoted or contains a bare `90%`; none if it names two
    answers."""
    answers = [_value(found) for found in _members(text, wanted, _QUOTED)]
    if len(answers) != 1:
        return []
    stated = [_value(found) for found in _members(text, sure, f"(?:{_QUOTED}|{_PLAIN})")] if sure else []
    return [{wanted: answers[0]} | ({sure: stated[0]} if len(stated) == 1 else {})]


def _members(text: str, name: str, value: str) -> list[re.Match[str]]:
    written = r"[\s_-]+".join(map(re.escape, name.split("_")))
    return list(re.finditer(rf"[{{,\n]\s{{0,40}}[\"'“]?{written}[\"'”]?\s{{0,4}}:\s{{0,4}}{value}", text, re.I))[-20:]


def _value(found: re.Match[str]) -> str:
    return next(text for text in found.groupdict().values() if text is not None).strip()

r"""Labels, read whole: as a member of a JSON object, else as words of their own; never as letters within others.

'{"evaluation": "INCORRECT", "why": "..."}'         -> INCORRECT
"Verdict: not attempted"                            -> NOT_ATTEMPTED
"The answer names another year.\n**INCORRECT**"     -> INCORRECT, which is not CORRECT
"CORRECT, INCORRECT or NOT_ATTEMPTED"               -> none
"It is not CORRECT."                                -> none: it stands within a sentence
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.old.judging.forms import VerdictForm
from harness.old.judging.verdicts.brackets import Fault
from harness.old.judging.verdicts.mentions import Found
from harness.old.judging.verdicts.objects import decide_by_objects, folded_name, named, objects_in
from harness.old.judgments.judgment import Label, Parsed
from harness.old.patterns import late_re

_MEMBER = late_re(r"[\"'“](?P<name>[^\"'“”\n]{1,40})[\"'”]\s{0,4}:\s{0,4}[\"'“](?P<value>[^\"'“”\n]{1,40})[\"'”]")
_BEFORE, _AFTER = late_re(r"\s*(?:```(?:json)?\s)?\s*\{\s*"), late_re(r"\s*,?\s*\}\s*(?:```)?\s*")


def read_label(text: str, form: VerdictForm, key: str | None = None) -> Parsed:
    """Return the label that a text gives; `key` is the member that holds it, None: whichever member holds one."""
    names = {folded_name(label): label for label in form.labels}
    whole = objects_in(text) if "{" in text else []
    if not whole and "{" in text and (member := _lone_member(text, names)) is not None:
        return Parsed(member, "the label of an object that is not whole")
    return decide_by_objects(
        text,
        lambda value: _of_object(value, names, key),
        lambda plain: _words(plain, names),
        is_bare=lambda inside: folded_name(inside) in names,
        places=whole,
        in_form=True,
    )


def _of_object(value: Any, names: Mapping[str, str], key: str | None) -> Label | Fault | None:
    """Return the label that an object holds, a fault if what is there is none; None if it says nothing of it."""
    if not isinstance(value, dict):
        return None
    members = named(value)
    if key is not None and folded_name(key) in members:
        return _of_member(members[folded_name(key)], names)
    readings = [_of_member(member, names) for member in members.values()]
    good = [reading for reading in readings if isinstance(reading, Label)]
    if len(good) > 1:
        return Fault("the object holds several labels")
    # One member alone is the verdict, whatever it is called; what it says is then no label.
    return good[0] if good else readings[0] if len(readings) == 1 else None


def _of_member(value: Any, names: Mapping[str, str]) -> Label | Fault | None:
    """Return the label that a member says; None for the form that was asked for, repeated."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return Fault(f"{value!r} is no label"[:80])
    label = names.get(folded_name(value.strip(" .!。[]<>(){}")))
    if label is not None:
        return Label(label)
    parts = [part for part in re.split(r"[/|,;]", value.strip("[]<>(){} ")) if part.strip()]
    repeated = len(parts) > 1 and all(folded_name(part) in names for part in parts)
    return (
        None
        if repeated or re.fullmatch(r"[.…<>\s]*|\W?label\W?", value, re.I)
        else Fault(f"{value[:40]!r} is no label")
    )


def _lone_member(text: str, names: Mapping[str, str]) -> Label | None:
    """Return the label of the one object that a cut or badly quoted reply consists of, if it stands first or last."""
    members = [member for member in _MEMBER.finditer(text) if folded_name(member["value"]) in names]
    if len(members) != 1 or not _BEFORE.match(text):
        return None
    first = _BEFORE.fullmatch(text, 0, members[0].start()) is not None
    last = _AFTER.fullmatch(text, members[0].end()) is not None
    return Label(names[folded_name(members[0]["value"])]) if first or last else None


def _words(text: str, names: Mapping[str, str]) -> Iterator[Found]:
    """Yield every label that is written as declared, or alone on a line in any letters."""
    longest = sorted(names.values(), key=len, reverse=True)
    every = "|".join(r"[\s_-]?".join(map(re.escape, re.split(r"[\s_-]+", label))) for label in longest)
    written = re.compile(rf"(?<![\w-])\[{{0,2}}(?P<label>{every})\]{{0,2}}(?![\w-])", re.I)
    for found in written.finditer(text):
        label = names.get(folded_name(found["label"]))
        before, after = text[max(0, found.start() - 20) : found.start()], text[found.end() : found.end() + 20]
        alone = re.search(r"(?:^|[\n:=])[^\w\n]*\Z", before) and re.match(r"\W*(?:\n|\Z)", after)
        if label is not None and (alone or (found["label"] == label and not label.islower())):
            yield found.start(), found.end(), Label(label)

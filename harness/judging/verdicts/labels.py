r"""Labels, read whole: as a member of a JSON object, else as words of their own; never as letters within others.

    '{"evaluation": "INCORRECT", "why": "..."}'         -> INCORRECT
    "Verdict: not attempted"                            -> NOT_ATTEMPTED
    "The answer names another year. **INCORRECT**"      -> INCORRECT, which is not CORRECT
    "CORRECT, INCORRECT or NOT_ATTEMPTED"               -> none, a list of what there is
    "It is not CORRECT."                                -> none, a denial says not which other it is

Outside an object, a label that is written as declared is a bracket (see `brackets.py`), and is read as one.
"""

import re
from collections.abc import Collection

from harness.judging.verdicts.brackets import Fault, Reader, Reading, Scale
from harness.judging.verdicts.objects import Found, folded_name, objects_in
from harness.records import Label, Parsed

_LATIN = "0-9A-Za-z_\u00c0-\u024f"
_MEMBER = r"[\"'“](?P<name>[^\"'“”\n]{1,40})[\"'”]\s{0,4}:\s{0,4}[\"'“](?P<value>[^\"'“”\n]{1,40})[\"'”]"
_PLACEHOLDER = re.compile(r"[.…<>\s]*|[<\[{]?(?:(?:your|the|one) )?(?:labels?|verdict|címke|标签)[>\]}]?", re.I)
_LESS = (
    r"(?:(?i:not|partially|partly|mostly|almost|nearly|hardly|barely|half|nem|részben|majdnem|nicht|teilweise)|IN|UN)"
)
"""A label after one of these words is not that label; `IN CORRECT` may be a label that was torn apart."""
_INTRODUCED = (
    r"(?:(?:the |my |final |overall )*"
    r"(?:label|verdict|evaluation|judge?ment|grade|rating|result|answer|decision|classification)"
    r"(?: is)?|értékelés|ítélet|besorolás|eredmény|döntés|minősítés|(?:最终)?(?:评价|评估|判断|判定|结果|结论|评分))"
)


def read_label(text: str, labels: Collection[str], key: str | None = None) -> Parsed | str:
    """Return what the objects of a text say; if they say nothing, the text with its labels in double brackets.

    `key` is the member that holds the label; None: whichever member holds one.
    """
    found = objects_in(text) if "{" in text else []
    said = [reading for one in found if one.own and (reading := _in_object(one, labels, key)) is not None]
    if said:
        return _agreed(said)
    if any(not one.own and _in_object(one, labels, key) is not None for one in found):
        return Parsed(None, "the only verdict is a quoted one")
    unfinished = _unfinished(text, labels, key) if "{" in text else None
    return unfinished or _bracketed(text, labels)


def label_reader(labels: Collection[str]) -> Reader:
    """Return the reader of a bracket that holds one of these labels."""
    names = {folded_name(label): label for label in labels}

    def read(inside: str, scale: Scale) -> Reading:
        label = names.get(folded_name(inside))
        if label is not None:
            return Label(label)
        within = [name for name in re.split(r"[/|,;]| or | vagy |或", inside) if folded_name(name) in names]
        return Fault(f"[[{inside}]] is not one label") if len(within) > 1 else None

    return read


def _in_object(found: Found, labels: Collection[str], key: str | None) -> Label | Fault | None:
    """Return the label that an object holds, a fault if what stands there is none; None if it says nothing of it."""
    if not isinstance(found.value, dict):
        return None
    names = {folded_name(label): label for label in labels}
    members = {folded_name(name): value for name, value in found.value.items()}
    if key is not None and folded_name(key) in members:
        return _of_value(members[folded_name(key)], names)
    readings = [_of_value(value, names) for value in members.values()]
    good = [reading for reading in readings if isinstance(reading, Label)]
    if len(good) > 1:
        return Fault("the object holds several labels")
    if good:
        return good[0]
    # One member alone is the verdict, whatever it is called; what it says is then no label.
    return readings[0] if len(readings) == 1 else None


def _of_value(value: object, names: dict[str, str]) -> Label | Fault | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        return Fault("a list of labels is not one")
    if isinstance(value, bool) or not isinstance(value, str):
        return Fault(f"{value!r} is no label"[:80])
    label = names.get(folded_name(value.strip(" .!。[]<>(){}")))
    if label is not None:
        return Label(label)
    parts = [part for part in re.split(r"[/|,;]| or | vagy |或", value.strip("[]<>(){} ")) if part.strip()]
    echoed = len(parts) > 1 and all(folded_name(part) in names for part in parts)
    if echoed or _PLACEHOLDER.fullmatch(value):
        return None  # the form that was asked for, repeated
    return Fault(f"{value[:40]!r} is no label")


def _agreed(said: list[Label | Fault]) -> Parsed:
    """Return the one label that all objects hold."""
    last = said[-1]
    if isinstance(last, Fault):
        return Parsed(None, last.reason)
    others = [one for one in said if one != last]
    if others:
        first = others[-1]
        other = first.value if isinstance(first, Label) else f"one that is none ({first.reason})"
        return Parsed(None, f"two objects with different labels, {other} and {last.value}")
    return Parsed(last, "the label of the object" if len(said) == 1 else "the label of every object")


def _unfinished(text: str, labels: Collection[str], key: str | None) -> Parsed | None:
    """Return the label of an object that is cut or badly quoted further on; None if there is none."""
    names = {folded_name(label): label for label in labels}
    members = list(re.finditer(_MEMBER, text))[-100:]
    wanted = [
        (folded_name(member["name"]), names[folded_name(member["value"])])
        for member in members
        if folded_name(member["value"]) in names and (key is None or folded_name(member["name"]) == folded_name(key))
    ]
    if not wanted:
        return None
    if len(set(wanted)) > 1:
        return Parsed(None, "several labels, in an object that cannot be read")
    return Parsed(Label(wanted[0][1]), "the label of an object that is not whole")


def _bracketed(text: str, labels: Collection[str]) -> str:
    """Return the text with every label that is a verdict's word in double brackets.

    Within a sentence a label counts as written in the declared letters; alone on its line, or after a word such as
    `Verdict:`, in any.
    """
    longest = sorted(labels, key=len, reverse=True)
    forms = {label: r"[\s_-]?".join(map(re.escape, re.split(r"[\s_-]+", label))) for label in longest}
    every = "|".join(forms.values())
    alone = re.compile(
        rf"^(?P<lead>[ \t#>\-]*(?:{_INTRODUCED}[ \t]*[:=-]{{1,2}}[ \t]*)?)[\[(<\"'`“「]{{0,3}} ?(?P<label>{every}) ?"
        rf"[\])>\"'`”」]{{0,3}}(?P<rest>[ \t.!。]*)$",
        re.I | re.M,
    )
    made = alone.sub(r"\g<lead>[[\g<label>]]\g<rest>", text)
    words = "|".join(form for label, form in forms.items() if len(label) > 1 and not label.islower())
    if not words:
        return made
    around = _LATIN if all(re.fullmatch(rf"[{_LATIN}\s-]+", label) for label in labels) else r"\w"
    whole = re.compile(rf"(?<![{around}\[-])(?P<less>{_LESS} )?\[?(?P<label>{words})\]?(?![{around}\]-])")
    return whole.sub(lambda found: found[0] if found["less"] else f"[[{found['label']}]]", made)

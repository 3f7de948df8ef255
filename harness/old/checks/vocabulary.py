"""The closed vocabulary: every kind of check there is, and reading it from a question's row.

`all` and `any` join checks to one. docs/checks.md is the manual.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec

from harness.old.checks.answers import Choice, Number
from harness.old.checks.check import Check, Finding, Passage
from harness.old.checks.code import Code
from harness.old.checks.contents import Contains, Ends, Equals, NotContains, NotEnds, NotStarts, Order, Starts
from harness.old.checks.counts import Count, Distinct, Sorted
from harness.old.checks.data import Csv, Json, Table
from harness.old.checks.earlier import Keeps, Quotes, Shorter
from harness.old.checks.writing import Case, Language
from harness.old.written import nearest


class _Joined(Check, frozen=True, kw_only=True):
    """Kinds that join checks to one."""

    JOINT: ClassVar[str]
    FIRST: ClassVar[tuple[bool | None, ...]]
    """What decides: of several findings the one that comes first here, of equal ones the first."""
    checks: list["AnyCheck"]

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f" {self.JOINT} ".join(check.statement for check in self.checks)

    def needs_code(self) -> bool:
        """Return whether one of them needs it."""
        return any(check.needs_code() for check in self.checks)

    def measure(self, passage: Passage) -> Finding:
        """Return the finding that decides."""
        return min((check.outcome(passage) for check in self.checks), key=lambda found: self.FIRST.index(found.met))


class All(_Joined, frozen=True, kw_only=True, tag="all"):
    """All of these, counted as one check: {"kind": "all", "checks": [...]}."""

    JOINT = "and"
    FIRST = (False, None, True)


class AnyOf(_Joined, frozen=True, kw_only=True, tag="any"):
    """At least one of these: {"kind": "any", "checks": [...]}."""

    JOINT = "or"
    FIRST = (True, None, False)


AnyCheck: TypeAlias = (
    Count | Sorted | Distinct
    | Contains | NotContains | Starts | NotStarts | Ends | NotEnds | Order | Equals
    | Case | Language
    | Keeps | Quotes | Shorter
    | Json | Csv | Table
    | Number | Choice
    | Code
    | All | AnyOf
)  # fmt: skip
KINDS: Mapping[str, type[Check]] = {str(kind.__struct_config__.tag): kind for kind in AnyCheck.__args__}
"""Every kind by name."""


def read_check(value: Any) -> Check:
    """Return the check of a JSON object.

    Raises:
        ValueError: it is not a valid check; the text says why, with the nearest kind or argument.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"a check must be an object, this is {str(value)[:60]!r}")
    if "kind" not in value:
        raise ValueError(f"a check needs its kind; known: {', '.join(KINDS)}")
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"no kind of check {kind!r}; {nearest(str(kind), KINDS)}")
    known = ["kind", *(field.encode_name for field in msgspec.structs.fields(KINDS[kind]))]
    for name in value:
        if name not in known:
            raise ValueError(f"{kind} takes no {name!r}; {nearest(name, known)}")
    if kind in ("all", "any"):
        inner = value.get("checks")
        if not isinstance(inner, list) or not inner:
            raise ValueError(f"{kind} needs checks, a list that is not empty")
        for check in inner:
            read_check(check)
    try:
        return msgspec.convert(dict(value), KINDS[kind])
    except (msgspec.ValidationError, ValueError) as error:
        raise ValueError(f"{kind}: {error}") from None


def read_checks(value: Any, turns: int) -> tuple[tuple[Check, ...], ...]:
    """Return the checks of a question: for each turn a list.

    Raises:
        ValueError: it is not a list with one list for each turn, or a check is invalid; the text says which.
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != turns:
        raise ValueError(f"checks must be a list of {turns} lists, one for each turn")
    read = []
    for turn, checks in enumerate(value, 1):
        if not isinstance(checks, list):
            raise ValueError(f"checks of turn {turn} must be a list")
        found = []
        for number, check in enumerate(checks, 1):
            try:
                found.append(read_check(check))
            except ValueError as error:
                raise ValueError(f"check {number} of turn {turn}: {error}") from None
        read.append(tuple(found))
    return tuple(read)

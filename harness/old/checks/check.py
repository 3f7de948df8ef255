"""A check: a kind with its arguments, the part of the reply where it looks, and its finding.

    {"kind": "count", "of": "words", "at_most": 15, "each": "line"}

    Check ─▶ outcome(passage) ─▶ Finding(met, found, spans)

A kind is a subclass of `Check`: its fields are the arguments, `measure` tests one part of the reply,
`wanted` describes the requirement. Everything is a pure function of the texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import msgspec

if TYPE_CHECKING:
    from harness.old.checks.sandbox import Sandbox


class Span(NamedTuple):
    """A place in a reply, in characters: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation before the checked reply."""

    questions: tuple[str, ...] = ()
    """The user's turns up to the one that the reply answers."""
    replies: tuple[str, ...] = ()
    """The model's earlier replies, the first turn's first."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The part of a reply that a check looks at."""

    text: str
    """The whole reply, with excluded parts as spaces, so that offsets stay the same."""
    span: Span
    conversation: Conversation = field(default_factory=Conversation)
    sandbox: "Sandbox | None" = None
    """Where a model's code may be run; None: it may not."""

    @classmethod
    def whole(cls, text: str, conversation: Conversation | None = None, sandbox: "Sandbox | None" = None) -> "Passage":
        """Return all of a reply."""
        return cls(text, Span(0, len(text)), conversation or Conversation(), sandbox)

    @property
    def said(self) -> str:
        """The text of the part."""
        return self.at(self.span)

    def at(self, span: Span) -> str:
        """Return the text of some part."""
        return self.text[span.start : span.end]

    def part(self, span: Span) -> "Passage":
        """Return a smaller part of the same reply."""
        return replace(self, span=span)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found."""

    met: bool | None
    """None: it was not looked at (its code may not be run)."""
    found: str = ""
    """What was found instead of the requirement, in a few words."""
    spans: tuple[Span, ...] = ()
    """The places that break it; none where something is missing."""


MET = Finding(True)


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts between the occurrences of a text, as a unit."""

    split: str


Unit: TypeAlias = str | Split
Selector: TypeAlias = dict[str, Any]
"""What narrows the place where a check looks: {"paragraph": 2}, {"after": "Reasons:"}; see `scope.py`."""


class Check(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", omit_defaults=True
):
    """One requirement on a reply that a program can decide."""

    QUOTES: ClassVar[bool] = True
    """Whether the finding may quote the reply, which judges see only in a fence."""

    name: str | None = None
    """What the check is called in tables, where other than its kind."""
    within: Selector | list[Selector] = msgspec.field(name="in", default_factory=list)
    """Where it looks; empty: in the whole reply."""
    each: Unit | None = None
    """It must hold for every part of this unit, and there must be one.

    The field `of` of the kinds that have one is such a unit too.
    """

    def __post_init__(self) -> None:
        """Raise `ValueError` where the arguments do not fit each other."""
        from harness.old.checks.scope import validate

        validate(self.within, self.each, getattr(self, "of", None))

    def measure(self, passage: Passage) -> Finding:
        """Return whether one part of a reply is as the check wants it."""
        raise NotImplementedError

    def wanted(self) -> str:
        """Return the requirement as a text, without the scope."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """The kind's name."""
        tag = self.__struct_config__.tag
        return str(tag)

    @property
    def label(self) -> str:
        """What the check is called in tables."""
        return self.name or self.kind

    @property
    def statement(self) -> str:
        """The requirement as a text, with the scope."""
        from harness.old.checks.scope import place

        return self.wanted() + place(self.within, self.each)

    def needs_code(self) -> bool:
        """Return whether it can be decided only by running code that a model wrote."""
        return False

    def outcome(self, passage: Passage) -> Finding:
        """Return what the check finds in a reply: of several parts, the first that breaks it."""
        from harness.old.checks.scope import MissingPartError, narrow
        from harness.old.checks.units import singular, spans_of

        try:
            there = narrow(self.within, passage)
        except MissingPartError as missing:
            return Finding(False, str(missing))
        if self.each is None:
            return self.measure(there)
        parts = spans_of(self.each, there)
        if not parts:
            return Finding(False, f"there is no {singular(self.each)}")
        findings = [self.measure(there.part(part)) for part in parts]
        broken = [at for at, finding in enumerate(findings) if not finding.met]
        if not broken:
            return MET
        first = findings[broken[0]]
        where = f"{singular(self.each)} {broken[0] + 1}"
        found = f"{where}: {first.found}" if first.found else where
        return Finding(first.met, found, tuple(parts[at] for at in broken))


class Bounds(Check, frozen=True, kw_only=True):
    """Arguments of all kinds that compare a number with a least and a greatest."""

    exactly: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    between: tuple[int, int] | None = None

    @property
    def bounded(self) -> bool:
        """Whether any bound is given."""
        return any(bound is not None for bound in (self.exactly, self.at_least, self.at_most, self.between))

    def limits(self, default: tuple[int, int | None] | None = None) -> tuple[int, int | None]:
        """Return the least and the greatest number that will do, None for no greatest."""
        if self.exactly is not None:
            return self.exactly, self.exactly
        if self.between is not None:
            return self.between
        if self.at_least is None and self.at_most is None and default is not None:
            return default
        return self.at_least or 0, self.at_most

    def check_bounds(self, *, needed: bool) -> None:
        """Raise `ValueError` for bounds that are missing, too many or impossible."""
        stated = [n for n in ("exactly", "between") if getattr(self, n) is not None]
        ends = [n for n in ("at_least", "at_most") if getattr(self, n) is not None]
        if len(stated) > 1 or (stated and ends):
            raise ValueError(f"{' and '.join(stated + ends)} exclude each other; give one")
        if needed and not stated and not ends:
            raise ValueError("needs one of exactly, at_least, at_most, between")
        least, most = self.limits()
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"no number is from {least} to {most}")

    def many(self, default: tuple[int, int | None] | None = None) -> str:
        """Return the bounds as a text: "exactly 8", "90 to 110", "at most 60"."""
        least, most = self.limits(default)
        if least == most:
            return f"exactly {least}"
        if most is None:
            return f"at least {least}"
        return f"{least} to {most}" if least else f"at most {most}"

    def holds(self, number: int, default: tuple[int, int | None] | None = None) -> bool:
        """Return whether a number is within the bounds."""
        least, most = self.limits(default)
        return least <= number and (most is None or number <= most)


def as_json(check: Check) -> Mapping[str, Any]:
    """Return a check as its row has it, defaults left out."""
    built: Mapping[str, Any] = msgspec.to_builtins(check)
    return built

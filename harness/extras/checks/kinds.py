"""Every kind of check, reading one from a question's row, and what the checks of a turn find."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import msgspec

from harness.extras.checks.answers import Choice, Number
from harness.extras.checks.check import Check, nearest
from harness.extras.checks.code import Code
from harness.extras.checks.contents import (
    Case,
    Contains,
    Ends,
    Equals,
    Language,
    NotContains,
    Order,
    Starts,
)
from harness.extras.checks.counts import Count, Distinct, Sorted
from harness.extras.checks.data import Csv, Json, Table
from harness.extras.checks.earlier import Keeps, Quotes, Shorter
from harness.extras.checks.ifeval import IFEval
from harness.extras.checks.passage import Outcome, Passage
from harness.extras.checks.sandbox import Sandbox
from harness.types import Question

NO_CHECKS = "(This message sets no limit that a program can check.)"


class _Joined(Check, frozen=True, kw_only=True):
    """Several checks that count as one."""

    JOINT: ClassVar[str]
    DECIDES: ClassVar[tuple[bool | None, ...]]
    """Of several outcomes the one that comes first here decides."""
    checks: list["AnyCheck"]

    def requirement(self) -> str:
        """Return the requirements in words."""
        return f" {self.JOINT} ".join(check.statement for check in self.checks)

    def runs_code(self) -> bool:
        """Return whether one of them does."""
        return any(check.runs_code() for check in self.checks)

    def test(self, passage: Passage) -> Outcome:
        """Return the outcome that decides."""
        outcomes = [check.outcome(passage) for check in self.checks]
        return min(outcomes, key=lambda outcome: self.DECIDES.index(outcome.passed))


class All(_Joined, frozen=True, kw_only=True, tag="all"):
    """All of these: {"kind": "all", "checks": [...]}."""

    JOINT = "and"
    DECIDES = (False, None, True)


class AnyOf(_Joined, frozen=True, kw_only=True, tag="any"):
    """At least one of these: {"kind": "any", "checks": [...]}."""

    JOINT = "or"
    DECIDES = (True, None, False)


AnyCheck: TypeAlias = (
    Count | Sorted | Distinct | Contains | NotContains | Starts | Ends | Order | Equals | Case
    | Language | Keeps | Quotes | Shorter | Json | Csv | Table | Number | Choice | Code | IFEval
    | All | AnyOf
)  # fmt: skip
KINDS: Mapping[str, type[Check]] = {
    str(kind.__struct_config__.tag): kind for kind in AnyCheck.__args__
}
"""Every kind by name."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check found in one reply, strictly and loosely."""

    check: Check
    outcome: Outcome
    loose: bool | None
    """Whether the reply passes, or one of the variants that IFEval allows for."""


def read_check(value: Any) -> Check:
    """Return the check of a JSON object.

    Raises:
        ValueError: it is not a valid check; the text says why, with the nearest kind or argument.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"a check must be an object, this is {str(value)[:60]!r}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        advice = "" if kind is None else f" {kind!r}"
        raise ValueError(f"no kind of check{advice}; {nearest(str(kind), list(KINDS))}")
    known = ["kind", *(field.encode_name for field in msgspec.structs.fields(KINDS[kind]))]
    for name in value:
        if name not in known:
            raise ValueError(f"{kind} takes no {name!r}; {nearest(str(name), known)}")
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


def read_checks(value: Any, turns: int) -> list[list[Check]]:
    """Return the checks of a question: for each turn a list.

    Raises:
        ValueError: it is not a list with one list for each turn, or a check is invalid.
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != turns:
        raise ValueError(f"checks must be a list of {turns} lists, one for each turn")
    read: list[list[Check]] = []
    for turn, checks in enumerate(value, 1):
        if not isinstance(checks, list):
            raise ValueError(f"checks of turn {turn} must be a list")
        read.append([])
        for number, check in enumerate(checks, 1):
            try:
                read[-1].append(read_check(check))
            except ValueError as error:
                raise ValueError(f"check {number} of turn {turn}: {error}") from None
    return read


def validate(question: Question) -> None:
    """Check the checks of a question, and what a played user needs.

    Raises:
        ValueError: one is not valid.
    """
    if question.checks:
        read_checks(question.checks, len(question.turns))
    for number, need in enumerate(question.user.needs if question.user else (), 1):
        try:
            read_check(need)
        except ValueError as error:
            raise ValueError(f"need {number} of the user: {error}") from None


def check(
    reply: str,
    spec: Check | Mapping[str, Any],
    *,
    questions: Sequence[str] = (),
    earlier: Sequence[str] = (),
    sandbox: Sandbox | None = None,
) -> Outcome:
    """Return what a check finds in a reply; an empty reply passes nothing.

    `questions` are the user's turns up to this one, `earlier` the model's replies before it. Code
    is run only where there is a sandbox.

    Raises:
        ValueError: `spec` is not a valid check.
    """
    read = spec if isinstance(spec, Check) else read_check(spec)
    if not reply.strip():
        return Outcome(False, "the reply is empty")
    return read.outcome(Passage.whole(reply, questions, earlier, sandbox))


def check_turn(
    reply: str,
    specs: Sequence[Check | Mapping[str, Any]],
    *,
    questions: Sequence[str] = (),
    earlier: Sequence[str] = (),
    sandbox: Sandbox | None = None,
) -> list[Verdict]:
    """Return what each of a turn's checks finds, strictly and loosely; see `check`."""
    found = []
    for spec in specs:
        read = spec if isinstance(spec, Check) else read_check(spec)
        outcome = check(reply, read, questions=questions, earlier=earlier, sandbox=sandbox)
        loose = outcome.passed
        if loose is False and not read.runs_code():  # code is not run eight times
            loose = any(
                check(variant, read, questions=questions, earlier=earlier).passed
                for variant in variants(reply)
            )
        found.append(Verdict(read, outcome, loose))
    return found


def all_pass(specs: Sequence[Check | Mapping[str, Any]], replies: Sequence[str]) -> bool:
    """Return whether each check is passed by one of several replies, if loosely."""
    return all(any(check_turn(reply, [spec])[0].loose for reply in replies) for spec in specs)


def describe(verdicts: Sequence[Verdict]) -> str:
    """Return for a judge's prompt which checks a reply passes; no line has the reply's own words.

    - at most 60 words: no (63 words)
    """
    lines = []
    for verdict in verdicts:
        passed = {True: "yes", False: "no", None: "not decided"}[verdict.outcome.passed]
        reason = verdict.outcome.reason
        shown = verdict.outcome.passed is False and reason and not verdict.check.QUOTES
        why = f" ({reason})" if shown else ""
        lines.append(f"- {verdict.check.statement}: {passed}{why}")
    return "\n".join(lines) or NO_CHECKS


def variants(reply: str) -> Iterator[str]:
    """Yield the variants of a reply that loose verdicts allow for.

    Without the first line, the last, both, and each of these and the whole without asterisks
    (J. Zhou et al., arXiv:2311.07911, section 2.3).
    """
    lines = reply.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    yield from itertools.chain(shorter, (text.replace("*", "") for text in (reply, *shorter)))

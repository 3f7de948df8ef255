"""Every kind of check, reading one from a question's row, and what the checks of a turn find."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from harness.errors import near
from harness.extras.checks.answers import Choice, Number
from harness.extras.checks.check import Check
from harness.extras.checks.code import Code
from harness.extras.checks.contents import Contains, Ends, Equals, NotContains, Order, Starts
from harness.extras.checks.counts import Count, Distinct, Sorted
from harness.extras.checks.data import Csv, Json, Table
from harness.extras.checks.earlier import Keeps, Quotes, Shorter
from harness.extras.checks.ifeval import IFEval
from harness.extras.checks.passage import Outcome, Passage
from harness.types import Question

NO_CHECKS = "(This message sets no limit that a program can check.)"
KINDS: dict[str, type[Check]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        *(Count, Sorted, Distinct, Contains, NotContains, Starts, Ends, Order, Equals),
        *(Keeps, Quotes, Shorter, Json, Csv, Table, Number, Choice, Code, IFEval),
    )
}
"""Every kind by name."""


@dataclass(frozen=True, slots=True)
class CheckResult:
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
    kind = str(value.get("kind"))
    if kind not in KINDS:
        raise ValueError(f"no kind of check {kind!r}{near(kind, KINDS)}")
    names = ["kind", *(field.encode_name for field in msgspec.structs.fields(KINDS[kind]))]
    for name in value:
        if name not in names:
            raise ValueError(f"{kind} takes no {name!r}{near(name, names)}")
    try:
        return msgspec.convert(value, KINDS[kind])
    except msgspec.ValidationError as error:
        raise ValueError(f"{kind}: {error}") from None


def validate(question: Question) -> None:
    """Check the checks of a question, and what a played user needs.

    Raises:
        ValueError: one is not valid, or there is not one list for each turn.
    """
    turns, needs = len(question.turns), question.user.needs if question.user else []
    if question.checks and len(question.checks) != turns:
        raise ValueError(f"checks must be a list of {turns} lists, one for each turn")
    lists = {f"check {{}} of turn {n}": checks for n, checks in enumerate(question.checks, 1)}
    for place, checks in (lists | {"need {} of the user": needs}).items():
        for number, value in enumerate(checks, 1):
            try:
                read_check(value)
            except ValueError as error:
                raise ValueError(f"{place.format(number)}: {error}") from None


def check(reply: str, spec: Mapping[str, Any], **context: Any) -> Outcome:
    """Return what a check finds in a reply; see `check_turn`."""
    return check_turn(reply, [spec], **context)[0].outcome


def check_turn(
    reply: str,
    specs: Sequence[Mapping[str, Any]],
    *,
    questions: Sequence[str] = (),
    earlier: Sequence[str] = (),
    run_code: bool = False,
) -> list[CheckResult]:
    """Return what each of a turn's checks finds, strictly and loosely; an empty reply passes none.

    `questions` are the user's turns up to this one, `earlier` the model's replies before it.

    Raises:
        ValueError: one of `specs` is not a valid check.
    """
    passage = Passage(reply, questions, earlier, run_code)
    verdicts = []
    for check in map(read_check, specs):
        outcome = check.outcome(passage)
        loose = outcome.passed
        if loose is False and not check.RUNS_CODE:  # code is not run eight times
            passages = (replace(passage, text=variant) for variant in variants(reply))
            loose = any(check.outcome(p).passed for p in passages)
        verdicts.append(CheckResult(check, outcome, loose))
    return verdicts


def all_pass(specs: Sequence[Mapping[str, Any]], replies: Sequence[str]) -> bool:
    """Return whether each check is passed by one of several replies, if loosely."""
    return all(any(check_turn(reply, [spec])[0].loose for reply in replies) for spec in specs)


def describe(verdicts: Sequence[CheckResult]) -> str:
    """Return for a judge's prompt which checks a reply passes; no line has the reply's own words.

    - at most 60 words: no (63 words)
    """
    lines = []
    for verdict in verdicts:
        passed, reason = verdict.outcome.passed, verdict.outcome.reason
        words = {True: "yes", False: "no", None: "not decided"}[passed]
        why = f" ({reason})" if passed is False and not verdict.check.QUOTES else ""
        lines.append(f"- {verdict.check.statement}: {words}{why}")
    return "\n".join(lines) or NO_CHECKS


def variants(reply: str) -> Iterator[str]:
    """Yield the variants of a reply that loose verdicts allow for.

    Without the first line, the last, both, and each of these and the whole without asterisks
    (J. Zhou et al., arXiv:2311.07911, section 2.3).
    """
    lines = reply.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    yield from shorter
    yield from (text.replace("*", "") for text in (reply, *shorter))

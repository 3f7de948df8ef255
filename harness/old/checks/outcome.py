"""What the checks of a turn find in a reply, strictly and loosely.

Loosely, a check is met if it is met by the reply or by one of seven variants of it: without its first line, without its
last line, without both, and each of these and the whole without asterisks (J. Zhou et al., *Instruction-Following
Evaluation for Large Language Models*, 2023, arXiv:2311.07911, section 2.3). An empty reply meets nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.old.checks.check import Check, Conversation, Finding, Passage, Span
from harness.old.checks.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found in one reply."""

    check: Check
    strict: bool | None
    """Whether the reply meets it; None if that was not decided (its code may not be run)."""
    loose: bool | None
    """Whether the reply or a variant of it does."""
    found: str
    """If it fails: what was found instead."""
    spans: tuple[Span, ...]
    """Where it is not met: the places in the reply that break it."""


def outcomes(
    checks: Sequence[Check], reply: str, conversation: Conversation | None = None, sandbox: Sandbox | None = None
) -> tuple[Outcome, ...]:
    """Return what each check finds in a reply."""
    return tuple(_outcome(check, reply, conversation or Conversation(), sandbox) for check in checks)


def _outcome(check: Check, reply: str, conversation: Conversation, sandbox: Sandbox | None) -> Outcome:
    finding = _finding(check, reply, conversation, sandbox)
    loose = finding.met
    if loose is False and not check.needs_code():  # code is not run eight times
        loose = any(_finding(check, variant, conversation, None).met for variant in variants(reply))
    broken = finding.met is not True
    return Outcome(check, finding.met, loose, finding.found if broken else "", finding.spans if broken else ())


def _finding(check: Check, reply: str, conversation: Conversation, sandbox: Sandbox | None) -> Finding:
    if not reply.strip():
        return Finding(False, "the reply is empty")
    return check.outcome(Passage.whole(reply, conversation, sandbox))


def variants(reply: str) -> Iterator[str]:
    """Yield the seven variants of a reply that loose verdicts allow for."""
    lines = reply.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    yield from shorter
    yield reply.replace("*", "")
    yield from (text.replace("*", "") for text in shorter)


def all_met(checks: Sequence[Check], replies: Sequence[str]) -> bool:
    """Return whether each check is met by one of several replies, if loosely."""
    return all(any(outcomes([check], reply)[0].loose for reply in replies) for check in checks)

"""Checks asked of a reply in one line."""

from collections.abc import Sequence
from typing import Any

from harness.old.checks import Conversation, Outcome, outcomes, read_check
from harness.old.checks.sandbox import Sandbox


def outcome(
    check: dict[str, Any],
    reply: str,
    before: Sequence[str] = (),
    questions: Sequence[str] = (),
    sandbox: Sandbox | None = None,
) -> Outcome:
    conversation = Conversation(tuple(questions), tuple(before))
    (found,) = outcomes([read_check(check)], reply, conversation, sandbox)
    return found


def met(check: dict[str, Any], reply: str, before: Sequence[str] = (), questions: Sequence[str] = ()) -> bool | None:
    return outcome(check, reply, before, questions).strict

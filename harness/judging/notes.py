"""What a judge is shown beside question, answers and reference: notes, and which checks an answer meets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.checks import Outcome

NO_CHECKS = "(This message sets no limit that a program can check.)"


GIVEN = "(Given: the assistant found this turn as it stands and did not write it. It is not judged.)"


def given(reply: str) -> str:
    """Return an earlier reply as a judge sees it where it is not the assistant's own."""
    return f"{GIVEN}\n{reply}"


def told_before(question: str, system: str) -> str:
    """Return the first message of the user below the system prompt that the assistant had."""
    return f"(The assistant's system prompt, which it had to follow: {system})\n\n{question}"


def noted(question: str, note: str | None) -> str:
    """Return a message of the user with the author's note for the judge below it, if there is one."""
    if note is None:
        return question
    return f"{question}\n\n(For you alone, not seen by the assistant. What to look for: {note})"


def referring(reference: str | None, note: str | None) -> str:
    """Return what a judge is shown as the reference of a turn: the reference, the note, both, or that there is none."""
    if reference is None:
        return f"(No full answer. What to look for: {note})" if note is not None else "(None for this message.)"
    return reference if note is None else f"{reference}\n\n(What to look for: {note})"


def shown_outcomes(found: "Sequence[Outcome]") -> str:
    """Return which checks an answer meets, a line each; nothing in it is the answer's own words.

    - at most 60 words: no (63 words)
    """
    lines = []
    for outcome in found:
        met = {True: "yes", False: "no", None: "not decided"}[outcome.strict]
        why = f" ({outcome.found})" if outcome.strict is False and outcome.found and not outcome.check.QUOTES else ""
        lines.append(f"- {outcome.check.statement}: {met}{why}")
    return "\n".join(lines) or NO_CHECKS

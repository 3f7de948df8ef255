"""Checks: requirements on a reply that a program can decide, from a closed list of kinds.

    check("One two three.", {"kind": "count", "of": "words", "at_most": 2})
    Outcome(passed=False, reason="3 words")

    passage.py     a part of a reply, an outcome, and the normal form in which texts are compared
    units.py       words, sentences, lines, list items as human readers count them
    check.py       what every kind has: where it looks, bounds
    contents.py counts.py earlier.py data.py answers.py code.py ifeval.py      the kinds
    sandbox.py     running a model's code in bubblewrap
    kinds.py       all kinds, reading them, strict and loose verdicts
    metric.py      the checks of a turn as a metric

docs/checks.md is the manual. All of it is pure but running code.
"""

from harness.extras.checks.kinds import (
    KINDS,
    all_pass,
    check,
    check_turn,
    describe,
    read_check,
    validate,
)
from harness.extras.checks.passage import normal

__all__ = [
    "KINDS",
    "all_pass",
    "check",
    "check_turn",
    "describe",
    "normal",
    "read_check",
    "validate",
]

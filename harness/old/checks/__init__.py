"""Checks: requirements on a reply that a program can decide, from a closed list of kinds.

    check.py       a check, its scope and its finding
    units.py       words, sentences, lines, bullets, rows ... as human readers count them
    scope.py       selectors of a part of the reply
    find.py        words, texts and patterns, found in linear time
    one file for each family: counts.py, contents.py, writing.py, earlier.py, data.py, answers.py, code.py
    vocabulary.py  all kinds, and reading them
    outcome.py     strict and loose verdicts on a reply
    sandbox.py     running a model's code; languages.toml: how programs in each language are run

docs/checks.md is the manual. Everything here is a pure function of texts, except running code.
"""

from harness.old.checks.check import Check, Conversation, Span
from harness.old.checks.outcome import Outcome, all_met, outcomes
from harness.old.checks.vocabulary import KINDS, read_check, read_checks

__all__ = ["KINDS", "Check", "Conversation", "Outcome", "Span", "all_met", "outcomes", "read_check", "read_checks"]

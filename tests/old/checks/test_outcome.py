"""Loose verdicts allow for a first line, a last line and asterisks; an empty reply meets nothing."""

import pytest

from harness.old.checks.outcome import variants
from tests.old.checks.asked import outcome

LINE = {"kind": "count", "of": "lines", "exactly": 1}


@pytest.mark.parametrize(
    ("reply", "strict", "loose"),
    [
        pytest.param("One line", True, True, id="as asked"),
        pytest.param("Sure!\nOne line", False, True, id="a first line too much"),
        pytest.param("One line\nGood?", False, True, id="a last line too much"),
        pytest.param("Sure!\nOne line\nGood?", False, True, id="both"),
        pytest.param("Sure!\nOne\nline\nGood?", False, False, id="more than that"),
        pytest.param("  \n", False, False, id="nothing"),
    ],
)
def test_loose_verdicts_allow_for_a_first_and_a_last_line(reply: str, strict: bool, loose: bool) -> None:
    found = outcome(LINE, reply)
    assert (found.strict, found.loose) == (strict, loose)


def test_loose_verdicts_allow_for_asterisks() -> None:
    found = outcome({"kind": "starts", "text": "Note"}, "**Note** this")
    assert (found.strict, found.loose) == (False, True)


def test_there_are_seven_variants() -> None:
    assert list(variants("a\n*b*\nc")) == ["*b*\nc", "a\n*b*", "*b*", "a\nb\nc", "b\nc", "a\nb", "b"]


def test_an_empty_reply_does_not_even_lack_what_it_must_not_contain() -> None:
    found = outcome({"kind": "not_contains", "text": "!"}, "")
    assert (found.strict, found.loose, found.found) == (False, False, "the reply is empty")

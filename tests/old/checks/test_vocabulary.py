"""Checks are read strictly; what is wrong is said with the nearest word there is."""

import re
from typing import Any

import pytest

from harness.old.checks import KINDS, read_check, read_checks
from harness.old.checks.check import as_json


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        ("words", "a check must be an object"),
        ({"of": "words"}, "a check needs its kind; known: count"),
        ({"kind": "cuont", "of": "words"}, "no kind of check 'cuont'; did you mean 'count'?"),
        ({"kind": "count", "of": "words", "atmost": 3}, "count takes no 'atmost'; did you mean 'at_most'?"),
        ({"kind": "count", "of": "wrods", "at_most": 3}, "no unit 'wrods'; did you mean 'words'?"),
        ({"kind": "count", "of": "words"}, "needs one of exactly, at_least, at_most, between"),
        ({"kind": "count", "of": "words", "exactly": 3, "at_most": 4}, "exactly and at_most exclude each other"),
        ({"kind": "count", "of": "words", "between": [9, 3]}, "no number is from 9 to 3"),
        ({"kind": "count", "of": "words", "exactly": "3"}, "Expected `int | null`, got `str`"),
        ({"kind": "count", "of": "words", "exactly": 3, "in": {"paragrph": 1}}, "did you mean 'paragraphs'?"),
        ({"kind": "count", "of": "words", "exactly": 3, "in": {"paragraph": 0}}, "a number from 1"),
        ({"kind": "count", "of": "words", "exactly": 3, "each": "sentense"}, "did you mean 'sentences'?"),
        ({"kind": "contains"}, "needs one of words, text, pattern"),
        ({"kind": "contains", "words": "a", "text": "b"}, "needs one of words, text, pattern, not 2"),
        ({"kind": "contains", "words": ""}, "words holds an empty text"),
        ({"kind": "contains", "words": "*"}, "words holds an empty text"),
        ({"kind": "contains", "pattern": "(?=a)"}, "is not valid for RE2"),
        ({"kind": "contains", "pattern": "a" * 3000}, "the most is 2000"),
        ({"kind": "not_contains", "text": "!", "at_least": 2}, "not_contains takes no bounds"),
        ({"kind": "order", "words": ["a"]}, "order needs at least two"),
        ({"kind": "language", "is": "english"}, "no language 'english'; known: af"),
        ({"kind": "case", "is": "small"}, "Invalid enum value 'small'"),
        ({"kind": "choice", "equals": "D", "options": ["A", "B"]}, "equals must be one of the options"),
        ({"kind": "json", "at": "a/b"}, "at must be a JSON pointer"),
        ({"kind": "json", "equals": 1.5, "numbers": "written"}, "equals is the JSON as a text"),
        ({"kind": "csv", "delimiter": ""}, "delimiter must be one character"),
        ({"kind": "keeps", "of": "words"}, "needs one of exactly"),
        ({"kind": "shorter", "share": 2}, "share must be a number between 0 and 1"),
        ({"kind": "number", "equals": 1, "tolerance": -1}, "tolerance must not be below 0"),
        ({"kind": "code", "cases": []}, "needs either cases or tests"),
        ({"kind": "code", "language": "cobol", "tests": "x"}, "no language 'cobol'"),
        ({"kind": "code", "function": "f;g", "cases": [{"args": [], "returns": 1}]}, "cannot be called in python"),
        ({"kind": "code", "function": "f", "cases": [{"args": [1]}]}, "each case needs one of returns, raises"),
        ({"kind": "code", "cases": [{"args": [1], "returns": 1}]}, "each case needs stdout"),
        ({"kind": "all", "checks": []}, "all needs checks"),
        ({"kind": "all", "checks": [{"kind": "cuont"}]}, "did you mean 'count'?"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value)[:60],
)
def test_what_is_wrong_is_said(check: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)):
        read_check(check)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([[]], "checks must be a list of 2 lists, one for each turn"),
        ([[], {}], "checks of turn 2 must be a list"),
        ([[], [{"kind": "case", "is": "lower"}, {"kind": "x"}]], "check 2 of turn 2: no kind of check 'x'"),
    ],
)
def test_a_question_has_a_list_for_each_turn(value: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_checks(value, 2)


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ({"kind": "count", "of": "word", "between": [90, 110]}, "90 to 110 words"),
        (
            {"kind": "count", "of": "sentences", "exactly": 1, "in": {"paragraph": 2}},
            "exactly 1 sentence, in paragraph 2",
        ),
        ({"kind": "count", "of": "words", "at_most": 15, "each": "line"}, "at most 15 words, in each line"),
        ({"kind": "not_contains", "words": ["sorry", "fix*"]}, "does not contain “sorry” or “fix*”"),
        (
            {"kind": "keeps", "of": "sentences", "exactly": 1},
            "keeps exactly 1 sentences of the reply before word for word",
        ),
        ({"kind": "shorter", "share": 0.5}, "at most 50% of the words of the reply before"),
        ({"kind": "number", "equals": 12.5, "tolerance": 0.05}, "the last number is 12.5 (±0.05)"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value)[:60],
)
def test_a_check_says_what_it_asks_for(check: dict[str, Any], text: str) -> None:
    assert read_check(check).statement == text


def test_a_check_is_written_as_it_was_read() -> None:
    row = {"kind": "count", "of": {"split": "***"}, "exactly": 2, "in": {"after": "x"}, "name": "mine"}
    assert as_json(read_check(row)) == row
    assert read_check(row).label == "mine"


def test_every_kind_is_documented() -> None:
    assert all(kind.__doc__ and f'"kind": "{name}"' in kind.__doc__ for name, kind in KINDS.items() if name != "case")

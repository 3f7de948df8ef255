"""Checks are read from a question's row; a wrong one says what to write instead."""

import re
from typing import Any

import pytest

from harness import registry
from harness.extras.checks import check_turn, describe, read_check, validate
from harness.types import Question, User


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param({"kind": "cuont"}, "no kind of check 'cuont'; did you mean count", id="kind"),
        pytest.param(
            {"kind": "count", "of": "words", "atmost": 3},
            "takes no 'atmost'; did you mean at_most",
            id="key",
        ),
        pytest.param(
            {"kind": "count", "of": "wrods", "at_most": 3}, "did you mean words", id="unit"
        ),
        pytest.param(
            {"kind": "count", "of": "words"}, "needs one of exactly, at_least", id="bounds"
        ),
        pytest.param(
            {"kind": "count", "of": "words", "between": [3, 2]},
            "no number is from 3 to 2",
            id="empty",
        ),
        pytest.param(
            {"kind": "contains", "pattern": "(?=a)"}, "is not valid for RE2", id="pattern"
        ),
        pytest.param(
            {"kind": "equals", "text": "a", "in": {"paragaph": 1}},
            "unknown field `paragaph`",
            id="selector",
        ),
        pytest.param(
            {"kind": "code", "tests": "f()", "language": "cobol"}, "'cobol'", id="language"
        ),
        pytest.param({"kind": "starts", "text": "a", "at_most": 1}, "takes no bounds", id="once"),
        pytest.param(
            {"kind": "ifeval", "instruction": "length_constraints:number_words"},
            "length_constraints:number_words: KeyError('relation')",
            id="ifeval",
        ),
    ],
)
def test_a_wrong_check_names_the_nearest(spec: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_check(spec)


def question(**fields: Any) -> Question:
    return Question(question_id=1, category="c", turns=["?"], **fields)


def test_a_wrong_check_names_its_place() -> None:
    with pytest.raises(ValueError, match=r"check 2 of turn 1: no kind of check 'x'"):
        validate(question(checks=[[{"kind": "shorter"}, {"kind": "x"}]]))
    with pytest.raises(ValueError, match=r"a list of 1 lists"):
        validate(question(checks=[[], []]))


def test_what_a_played_user_needs_is_validated_too() -> None:
    user = User(persona="p", goal="g", done="d", needs=[{"kind": "contians"}])
    with pytest.raises(ValueError, match=r"need 1 of the user: .*did you mean contains"):
        registry.find("check", "validate")(question(user=user))
    validate(question(checks=[[{"kind": "shorter"}]]))


def test_a_judge_reads_what_passes_without_the_words_of_the_reply() -> None:
    specs: list[dict[str, Any]] = [
        {"kind": "count", "of": "words", "at_most": 2, "in": {"line": 1}},
        {"kind": "starts", "text": "Hello"},
        {"kind": "not_contains", "text": "!"},
        {"kind": "code", "tests": "f()"},
    ]
    assert describe(check_turn("Ignore all rules", specs)) == (
        "- at most 2 words, in the first line: no (3 words)\n"
        "- begins with “Hello”: no\n"
        "- does not contain “!”: yes\n"
        "- python code that passes its tests: not decided"
    )
    assert describe([]).startswith("(This message sets no limit")


def test_a_loose_verdict_leaves_out_the_first_line() -> None:
    (verdict,) = check_turn("Sure! Here it is:\n\n*Lisbon*", [{"kind": "equals", "text": "Lisbon"}])
    assert (verdict.outcome.passed, verdict.loose) == (False, True)

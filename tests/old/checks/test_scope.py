"""Selectors narrow where a check looks; what is not there is said."""

from typing import Any

import pytest

from tests.old.checks.asked import met, outcome

LETTER = "Date first.\n\nReasons: one two three. Four five.\n\nP.S. Six."


def words(count: int, **scope: Any) -> dict[str, Any]:
    return {"kind": "count", "of": "words", "exactly": count, **scope}


@pytest.mark.parametrize(
    ("within", "count"),
    [
        pytest.param({"paragraph": 1}, 2, id="the first"),
        pytest.param({"paragraph": -1}, 2, id="the last"),
        pytest.param({"paragraph": [1, 2]}, 8, id="from to"),
        pytest.param({"after": "reasons:"}, 7, id="after, any case"),
        pytest.param({"before": "P.S."}, 8, id="before"),
        pytest.param({"between": ["Reasons:", "P.S."]}, 5, id="between"),
        pytest.param([{"after": "Reasons:"}, {"sentence": 1}], 3, id="one after the other"),
        pytest.param({"without": "headings"}, 10, id="nothing to leave out"),
    ],
)
def test_a_selector_narrows_the_place(within: Any, count: int) -> None:
    assert met(words(count, **{"in": within}), LETTER)


def test_code_can_be_left_out() -> None:
    assert met(words(2, **{"in": {"without": "code"}}), "See here:\n\n```\na b c d\n```")


def test_every_part_must_hold_and_the_broken_ones_are_the_place() -> None:
    reply = "one two\nthree\nfour five six"
    found = outcome({"kind": "count", "of": "words", "at_most": 2, "each": "line"}, reply)
    assert (found.strict, found.found) == (False, "line 3: 3 words")
    assert [reply[start:end] for start, end in found.spans] == ["four five six"]


def test_a_part_that_is_not_there_breaks_the_check() -> None:
    assert outcome(words(1, **{"in": {"paragraph": 4}}), LETTER).found == "there are 3 paragraphs, none is number 4"
    assert outcome(words(1, **{"in": {"after": "Because"}}), LETTER).found == "'Because' is not there"
    assert outcome(words(1, each="row"), LETTER).found == "there is no row"


def test_places_are_those_of_the_whole_reply() -> None:
    found = outcome({"kind": "not_contains", "words": "six", "in": {"after": "P.S."}}, LETTER)
    assert [LETTER[start:end] for start, end in found.spans] == ["Six"]

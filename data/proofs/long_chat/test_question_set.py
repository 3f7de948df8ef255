"""The long conversations as a whole: what stands in them, and what their README promises."""

import re
from collections import Counter
from typing import Any

import pytest

from data.proofs.shipped import DATA, rows

FOLDER = DATA / "long_chat"
IDS = range(8001, 8028)
CATEGORIES = {
    "memory": 5,
    "topic_shift": 5,
    "self_correction": 4,
    "instruction_retention": 4,
    "contradiction": 6,
    "distance": 3,
}
FIELDS = {
    *(
        "question_id",
        "category",
        "turns",
        "instructions",
        "criteria",
        "score_descriptions",
        "rubric",
    ),
    *("note", "checks", "canary"),
}
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = rows("long_chat")
BY_ID = pytest.mark.parametrize(
    "row", [pytest.param(row, id=str(row["question_id"])) for row in ROWS]
)


def test_there_are_27_questions_with_their_own_ids_in_order() -> None:
    assert [row["question_id"] for row in ROWS] == list(IDS)


def test_the_categories_stand_together() -> None:
    assert [row["category"] for row in ROWS] == [
        name for name, count in CATEGORIES.items() for _ in range(count)
    ]


@BY_ID
def test_a_question_has_5_to_12_turns_and_the_fields_described(row: dict[str, Any]) -> None:
    assert set(row) - {"claim"} == FIELDS
    assert 5 <= len(row["turns"]) <= 12
    assert len(row["note"]) == len(row["checks"]) == len(row["turns"])
    for text in (
        *row["turns"],
        *filter(None, row["note"]),
        row["criteria"],
        *row["score_descriptions"],
    ):
        assert text == text.strip() != ""


@BY_ID
def test_what_is_said_once_is_needed_again_at_least_three_turns_later(row: dict[str, Any]) -> None:
    assert row["instructions"]
    for one in row["instructions"]:
        assert set(one) == {"what", "words", "given", "needed"}
        said = [number for number, turn in enumerate(row["turns"], 1) if one["words"] in turn]
        assert said == [one["given"]]
        assert one["needed"] == sorted(set(one["needed"]))
        assert all(one["given"] + 3 <= turn <= len(row["turns"]) for turn in one["needed"])
        assert one["needed"]


@BY_ID
def test_where_something_is_needed_a_check_or_a_note_says_what(row: dict[str, Any]) -> None:
    for one in row["instructions"]:
        assert all(row["checks"][turn - 1] or row["note"][turn - 1] for turn in one["needed"])


@BY_ID
def test_the_rubric_is_the_criterion_with_five_descriptions(row: dict[str, Any]) -> None:
    assert len(set(row["score_descriptions"])) == 5
    lines = [f"Score {score}: {text}" for score, text in enumerate(row["score_descriptions"], 1)]
    assert row["rubric"] == "\n".join([f"[{row['criteria']}]", *lines])


@BY_ID
def test_a_contradiction_says_where_it_is_and_how_far_the_person_is_right(
    row: dict[str, Any],
) -> None:
    assert ("claim" in row) == (row["category"] == "contradiction")
    if "claim" in row:
        turn, how = row["claim"]["turn"], row["claim"]["is"]
        assert 4 <= turn <= len(row["turns"])
        words = {"right": "person is right", "half": "Half right", "wrong": "person is wrong"}[how]
        assert words in row["note"][turn - 1]


def counted() -> dict[str, int]:
    """Count in the data what README.md says of the set."""
    claims = Counter(row["claim"]["is"] for row in ROWS if "claim" in row)
    instructions = [one for row in ROWS for one in row["instructions"]]
    gaps = [turn - one["given"] for one in instructions for turn in one["needed"]]
    return {
        "questions": len(ROWS),
        "turns": sum(len(row["turns"]) for row in ROWS),
        "turns with checks": sum(bool(checks) for row in ROWS for checks in row["checks"]),
        "checks": sum(len(checks) for row in ROWS for checks in row["checks"]),
        "turns with a note": sum(note is not None for row in ROWS for note in row["note"]),
        "traps, each named in a note": sum(
            str(note).startswith("Trap: ") for row in ROWS for note in row["note"]
        ),
        "things said once and needed again": len(instructions),
        "… places where they are needed": len(gaps),
        "… turns later, at the most": max(gaps),
        "conversations of twelve turns with a text of 2,000 words or more": sum(
            len(row["turns"]) == 12 and max(len(t.split()) for t in row["turns"]) >= 2_000
            for row in ROWS
        ),
        "conversations in which the user is right": claims["right"],
        "… half right": claims["half"],
        "… wrong": claims["wrong"],
    }


def test_the_readme_states_what_can_be_counted() -> None:
    stated = {
        what: int(n) for what, n in re.findall(r"^\| (.+?) \| ([0-9]+) \|$", README, re.MULTILINE)
    }
    assert stated == counted()


def test_the_readme_names_every_category() -> None:
    for category in CATEGORIES:
        assert f"| `{category}` |" in README

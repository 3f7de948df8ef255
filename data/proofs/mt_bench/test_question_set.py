"""The shipped set as a whole: what it holds, what its README promises, and that it is our own."""

import json
import pathlib
import re
from collections import Counter

import pytest

from data.proofs.shipped import (
    DATA,
    MT_BENCH_CATEGORIES,
    question,
    reference,
    references,
    rows,
    runs_of_eight,
)
from turnbench_questions import shipped

FOLDER = DATA / "mt_bench"
IDS = range(1001, 1081)
TEMPLATES = {template.question_id for template in shipped()}
WITH_REFERENCE = {"reasoning", "math", "coding", "extraction"}
KINDS = {
    "revise",
    "refer_back",
    "change_premise",
    "challenge",
    "extend",
    "reformat",
    "explain_choice",
    "combine",
}
FIELDS = {
    "question_id",
    "category",
    "turns",
    "turn_2_kind",
    "points_back",
    "note",
    "checks",
    "checklist",
    "canary",
}
OPTIONAL = {"claim", "reference", "anchor", "template", "level", "seed"}
OPEN = [i for i in IDS if not any(question(i).get("reference", ()))]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
OFFICIAL_IDS = range(81, 161)


def test_there_are_eighty_questions_with_their_own_ids_in_order() -> None:
    assert [row["question_id"] for row in rows("mt_bench")] == list(IDS)


def test_each_category_has_ten_in_a_row() -> None:
    assert [question(i)["category"] for i in IDS] == [
        c for c in MT_BENCH_CATEGORIES for _ in range(10)
    ]


@pytest.mark.parametrize("question_id", IDS)
def test_a_question_has_two_turns_and_the_fields_described(question_id: int) -> None:
    row = question(question_id)
    assert FIELDS <= set(row) <= FIELDS | OPTIONAL
    assert ("claim" in row) <= (row["turn_2_kind"] == "challenge")
    assert {"template", "level", "seed"} & set(row) == (
        {"template", "level", "seed"} if question_id in TEMPLATES else set()
    )
    assert row["turn_2_kind"] in KINDS
    assert row["points_back"] in row["turns"][1]
    for field in ("turns", "note", "checks", "checklist"):
        assert len(row[field]) == 2
    for text in (*row["turns"], *filter(None, row["note"])):
        assert text == text.strip() != ""


@pytest.mark.parametrize("question_id", IDS)
def test_a_checklist_has_three_to_six_tagged_points(question_id: int) -> None:
    turns = question(question_id)["checklist"]
    points = [point for turn in turns for point in turn]
    assert all(turns)
    assert 3 <= len(points) <= 6
    assert len({point["point"] for point in points}) == len(points)
    assert all(point["tag"] and point["point"].endswith(".") for point in points)


@pytest.mark.parametrize("category", MT_BENCH_CATEGORIES)
def test_a_category_mixes_kinds_of_second_turn_and_has_an_anchor(category: str) -> None:
    chosen = [question(i) for i in IDS if question(i)["category"] == category]
    assert len({row["turn_2_kind"] for row in chosen}) >= 5
    assert any(row.get("anchor") for row in chosen)


def test_a_challenge_says_in_a_note_how_far_the_person_is_right() -> None:
    for question_id in IDS:
        row = question(question_id)
        if row.get("claim", "wrong") != "wrong":
            words = {"right": r"\bright\b", "half": "Half right"}[row["claim"]]
            assert re.search(words, row["note"][1]), question_id


def counted() -> dict[str, int]:
    """Count in the data what README.md says of the set."""
    every = [question(i) for i in IDS]
    points = Counter(point["tag"] for row in every for turn in row["checklist"] for point in turn)
    return {
        "questions": len(every),
        "questions made by a template with a seed": len(TEMPLATES),
        "questions with a proved reference": len([i for i in references() if i in IDS]),
        "anchors": sum(row.get("anchor", False) for row in every),
        "second turns that dispute the answer": sum(
            row["turn_2_kind"] == "challenge" for row in every
        ),
        "questions with checks in both turns": sum(all(row["checks"]) for row in every),
        "questions with a note": sum(any(row["note"]) for row in every),
        "points of the checklists": sum(points.values()),
        "… tagged honesty": points["honesty"],
        "… tagged state": points["state"],
        "texts of 1,000 words or more": sum(len(row["turns"][0].split()) >= 1_000 for row in every),
    }


def test_the_readme_states_what_can_be_counted() -> None:
    stated = {
        what: int(n.replace(",", ""))
        for what, n in re.findall(r"^\| (.+?) \| ([0-9,]+) \|$", README, re.MULTILINE)
    }
    assert stated == counted()


def test_the_set_is_made_as_it_is_meant_to_be() -> None:
    found = counted()
    assert found["questions made by a template with a seed"] >= 20
    assert found["texts of 1,000 words or more"] >= 3
    levels = Counter(row["level"] for row in map(question, IDS) if "level" in row)
    assert sorted(levels) == [3, 4, 5, 6, 7, 8, 9]
    assert levels[8] + levels[9] <= 3  # they take a model thousands of steps, which somebody pays
    assert found["second turns that dispute the answer"] >= 14


def test_every_question_of_the_four_categories_has_a_reference_of_two_turns() -> None:
    wanted = {i for i in IDS if question(i)["category"] in WITH_REFERENCE}
    assert wanted <= set(references())
    for question_id in set(IDS) & set(references()):
        assert len(reference(question_id)) == 2
        assert all(turn.strip() for turn in reference(question_id))


def test_the_readme_names_every_kind() -> None:
    assert "not the published MT-Bench scores" in README
    for kind in KINDS:
        assert f"| `{kind}` |" in README


@pytest.mark.parametrize(
    "question_id", [i for i in IDS if 1021 <= i <= 1060 and i not in TEMPLATES]
)
def test_every_question_with_a_reference_has_a_proof(question_id: int) -> None:
    proofs = "".join(
        path.read_text(encoding="utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py")
    )
    assert re.search(rf"def test_{question_id}_", proofs)


@pytest.mark.reference
def test_nothing_shares_eight_words_in_a_row_with_the_official_set(
    reference_data: pathlib.Path,
) -> None:
    lines = (
        (reference_data / "mt_bench" / "question.jsonl").read_text(encoding="utf-8").splitlines()
    )
    official = [json.loads(line) for line in lines]
    assert {row["question_id"] for row in official} == set(OFFICIAL_IDS)
    theirs = runs_of_eight(
        [
            text
            for row in official
            for text in (*row["turns"], *map(str, row.get("reference") or ()))
        ]
    )
    ours = [text for i in IDS for text in question(i)["turns"]]
    ours += [text for i in IDS if i in references() for text in reference(i)]
    assert runs_of_eight(ours) & theirs == set()

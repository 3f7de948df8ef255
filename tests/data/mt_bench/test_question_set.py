"""The shipped set as a whole: what stands in it, what its README promises, and that none of it is the official one."""

import hashlib
import json
import pathlib
import re
from collections import Counter

import pytest

from harness.old.bench import load_bench
from tests.data.shipped import DATA, question, reference

FOLDER = DATA / "mt_bench"
IDS = range(1001, 1081)
CATEGORIES = (
    "writing",
    "roleplay",
    "reasoning",
    "math",
    "coding",
    "extraction",
    "stem",
    "humanities",
)
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
    *(
        "question_id",
        "category",
        "turns",
        "turn_2_kind",
        "difficulty",
        "separates",
        "style",
        "points_back",
    ),
    *("note", "checks", "canary"),
}
OPEN = [question_id for question_id in IDS if not 1021 <= question_id <= 1060]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
OFFICIAL_IDS = range(81, 161)


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def of_category(category: str) -> list[int]:
    return [question_id for question_id in IDS if question(question_id)["category"] == category]


def test_there_are_eighty_questions_with_their_own_ids_in_order() -> None:
    assert [row["question_id"] for row in rows("question.jsonl")] == list(IDS)
    assert not set(IDS) & set(OFFICIAL_IDS)


def test_each_category_has_ten_in_a_row() -> None:
    assert [question(question_id)["category"] for question_id in IDS] == [
        c for c in CATEGORIES for _ in range(10)
    ]


@pytest.mark.parametrize("question_id", IDS)
def test_a_question_has_two_turns_and_the_fields_described(question_id: int) -> None:
    row = question(question_id)
    more = {"reference"} if row["category"] in WITH_REFERENCE else set()
    more |= {"claim"} if row["turn_2_kind"] == "challenge" else set()
    assert set(row) == FIELDS | more
    for field in ("turns", "reference"):
        texts = row.get(field, ["x", "x"])
        assert len(texts) == 2
        assert all(isinstance(text, str) and text == text.strip() != "" for text in texts)
    assert row["turn_2_kind"] in KINDS
    assert row.get("claim", "wrong") in {"right", "half", "wrong"}
    assert row["difficulty"] in {"plain", "demanding", "trap"}
    assert row["separates"] in {"weak", "middling", "strong"}
    assert len(row["style"]) == len(row["note"]) == len(row["checks"]) == 2
    assert set(row["style"]) <= {"careful", "short", "messy"}
    assert all(
        note is None or (isinstance(note, str) and note == note.strip() != "")
        for note in row["note"]
    )
    assert all(
        isinstance(check, dict) and isinstance(check["kind"], str)
        for turn in row["checks"]
        for check in turn
    )


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_mixes_kinds_of_second_turn_and_difficulties(category: str) -> None:
    chosen = of_category(category)
    assert len({question(question_id)["turn_2_kind"] for question_id in chosen}) >= 6
    difficulties = Counter(question(question_id)["difficulty"] for question_id in chosen)
    assert difficulties["trap"] >= 3
    assert difficulties["demanding"] >= 4
    assert difficulties["plain"] >= 1


@pytest.mark.parametrize("question_id", IDS)
def test_the_second_turn_points_back_at_the_first_exchange(question_id: int) -> None:
    row = question(question_id)
    assert row["points_back"] in row["turns"][1]


def test_every_trap_is_named_in_a_note() -> None:
    for question_id in IDS:
        row = question(question_id)
        named = any((note or "").startswith("Trap: ") for note in row["note"])
        assert named or row["difficulty"] != "trap", question_id


def test_a_challenge_says_in_a_note_how_far_the_person_is_right() -> None:
    for question_id in IDS:
        row = question(question_id)
        if row["turn_2_kind"] == "challenge" and row["claim"] != "wrong":
            assert re.search(
                r"\bright\b" if row["claim"] == "right" else r"Half right", row["note"][1]
            ), question_id


def test_a_messy_request_is_written_like_one() -> None:
    for question_id in IDS:
        row = question(question_id)
        for text, style in zip(row["turns"], row["style"], strict=True):
            loose = re.search(r"(?:^|[.?!] )[a-z]|\?\?|\bpls\b", text) is not None
            assert style != "messy" or loose, question_id
            assert style != "short" or len(text.split()) <= 40, question_id


def counted() -> dict[str, int]:
    """Count in the data what README.md says of the set."""
    rows_ = [question(question_id) for question_id in IDS]
    strong = [row for row in rows_ if row["separates"] == "strong"]
    claims = Counter(row["claim"] for row in rows_ if "claim" in row)
    code = [
        language
        for row in rows_
        for language in re.findall(r"```(\w+)\n(?:.*\n){30,}?```", row["turns"][0])
    ]
    return {
        "questions": len(rows_),
        "second turns that point back at the first exchange": sum(
            row["points_back"] in row["turns"][1] for row in rows_
        ),
        "questions with a proved reference": sum("reference" in row for row in rows_),
        "traps, each named in a note": sum(
            row["difficulty"] == "trap" and any(row["note"]) for row in rows_
        ),
        "second turns that dispute the answer": sum(claims.values()),
        "… in which the person is right": claims["right"],
        "… in which the person is half right": claims["half"],
        "… in which the person is wrong": claims["wrong"],
        "open questions with checks": sum(
            any(question(question_id)["checks"]) for question_id in OPEN
        ),
        "open questions with a note": sum(
            any(question(question_id)["note"]) for question_id in OPEN
        ),
        "of the 160 requests, short or messy": sum(
            style != "careful" for row in rows_ for style in row["style"]
        ),
        "questions that may separate strong models": len(strong),
        "… each with a reference, a note or checks": sum(
            "reference" in row or any(row["note"]) or any(row["checks"]) for row in strong
        ),
        "coding questions with a whole module": len(code),
        "… in another language than Python": sum(language != "python" for language in code),
        "words of the longest text to extract from": max(
            len(question(question_id)["turns"][0].split())
            for question_id in of_category("extraction")
        ),
    }


def test_the_readme_states_what_can_be_counted() -> None:
    stated = {
        what: int(n.replace(",", ""))
        for what, n in re.findall(r"^\| (.+?) \| ([0-9,]+) \|$", README, re.MULTILINE)
    }
    assert stated == counted()


def test_the_set_is_as_hard_as_it_is_meant_to_be() -> None:
    found = counted()
    assert (
        found["… each with a reference, a note or checks"]
        == found["questions that may separate strong models"]
        >= 30
    )
    assert found["of the 160 requests, short or messy"] * 3 >= 160
    assert found["… in which the person is right"] >= 4
    assert found["… in which the person is half right"] >= 2
    assert found["open questions with checks"] >= 38
    assert found["coding questions with a whole module"] >= 3
    assert found["… in another language than Python"] >= 1
    assert 1100 <= found["words of the longest text to extract from"] <= 1500


def test_references_exist_for_exactly_the_four_categories_that_have_one_right_answer() -> None:
    wanted = [
        question_id for question_id in IDS if question(question_id)["category"] in WITH_REFERENCE
    ]
    assert sorted(row["question_id"] for row in rows("reference_answer/turnbench.jsonl")) == wanted  # type: ignore[type-var]
    for question_id in wanted:
        turns = reference(question_id)
        assert len(turns) == 2
        assert all(turn.strip() for turn in turns)


def test_no_text_has_broken_characters() -> None:
    for name in ("question.jsonl", "reference_answer/turnbench.jsonl", "README.md", "bench.toml"):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert not re.search(
            r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd\ufeff\u200b]|\u00c3\u00a9", text
        ), name
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", ["question.jsonl", "reference_answer/turnbench.jsonl"])
def test_the_readme_has_the_hash_of(name: str) -> None:
    stated = re.search(
        rf"^\| `{re.escape(name)}` \|.*\| `([0-9a-f]{{64}})` \|$", README, re.MULTILINE
    )
    assert stated is not None
    actual = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
    assert stated[1] == actual, (
        f"{name} has changed: raise the version, then put {actual} into README.md"
    )


def test_the_readme_names_the_version_the_licence_and_every_kind() -> None:
    settings = load_bench("mt_bench", FOLDER.parent).settings
    assert f"version {settings.version}" in README.splitlines()[0]
    assert settings.licence == "Apache-2.0"
    assert "not the published MT-Bench scores" in README
    for kind in KINDS:
        assert f"| `{kind}` |" in README


def test_the_canary_is_one_string_everywhere() -> None:
    canary = load_bench("mt_bench", FOLDER.parent).settings.canary
    assert canary is not None
    assert re.fullmatch(
        r"turnbench mt_bench canary [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        canary,
    )
    assert canary in README
    for name in ("question.jsonl", "reference_answer/turnbench.jsonl"):
        assert {row["canary"] for row in rows(name)} == {canary}
    uuid = canary.split()[-1]
    assert set(
        re.findall(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", README)
    ) == {uuid}


@pytest.mark.parametrize("question_id", [i for i in IDS if 1021 <= i <= 1060])
def test_every_question_with_a_reference_has_a_proof(question_id: int) -> None:
    proofs = "".join(
        path.read_text(encoding="utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py")
    )
    assert re.search(rf"def test_{question_id}_", proofs)


def runs(texts: list[str]) -> set[tuple[str, ...]]:
    """Return the runs of eight words in each text."""
    found = set()
    for text in texts:
        words = re.findall(r"\w+", text.casefold())
        found |= {tuple(words[start : start + 8]) for start in range(len(words) - 7)}
    return found


@pytest.mark.reference
def test_nothing_shares_eight_words_in_a_row_with_the_official_set(
    reference_data: pathlib.Path,
) -> None:
    lines = (
        (reference_data / "mt_bench" / "question.jsonl").read_text(encoding="utf-8").splitlines()
    )
    official = [json.loads(line) for line in lines]
    assert not {row["question_id"] for row in official} & set(IDS)
    assert {row["question_id"] for row in official} == set(OFFICIAL_IDS)
    theirs = runs(
        [
            text
            for row in official
            for text in (*row["turns"], *map(str, row.get("reference") or ()))
        ]
    )
    ours = [text for question_id in IDS for text in question(question_id)["turns"]]
    ours += [
        text
        for i in IDS
        if question(i)["category"] in WITH_REFERENCE
        for text in (*reference(i), *question(i)["reference"])
    ]
    assert runs(ours) & theirs == set()

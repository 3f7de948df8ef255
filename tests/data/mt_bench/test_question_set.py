"""The shipped set as a whole: what stands in it, what its README promises, and that none of it is the official one."""

import hashlib
import json
import pathlib
import re
from collections import Counter

import pytest

from harness.bench import load_bench
from tests.data.shipped import DATA, question, reference

FOLDER = DATA / "mt_bench"
IDS = range(1001, 1081)
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
WITH_REFERENCE = {"reasoning", "math", "coding", "extraction"}
KINDS = {"revise", "refer_back", "change_premise", "challenge", "extend", "reformat", "explain_choice", "combine"}
FIELDS = {"question_id", "category", "turns", "turn_2_kind", "difficulty"}
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
    assert [question(question_id)["category"] for question_id in IDS] == [c for c in CATEGORIES for _ in range(10)]


@pytest.mark.parametrize("question_id", IDS)
def test_a_question_has_two_turns_and_the_fields_described(question_id: int) -> None:
    row = question(question_id)
    assert set(row) == (FIELDS | {"reference"} if row["category"] in WITH_REFERENCE else FIELDS)
    for field in ("turns", "reference"):
        texts = row.get(field, ["x", "x"])
        assert len(texts) == 2
        assert all(isinstance(text, str) and text == text.strip() != "" for text in texts)
    assert row["turn_2_kind"] in KINDS
    assert row["difficulty"] in {"plain", "demanding", "trap"}


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_mixes_kinds_of_second_turn_and_difficulties(category: str) -> None:
    chosen = of_category(category)
    assert len({question(question_id)["turn_2_kind"] for question_id in chosen}) >= 6
    difficulties = Counter(question(question_id)["difficulty"] for question_id in chosen)
    assert difficulties == {"plain": 3, "demanding": 4, "trap": 3}


def test_references_exist_for_exactly_the_four_categories_that_have_one_right_answer() -> None:
    wanted = [question_id for question_id in IDS if question(question_id)["category"] in WITH_REFERENCE]
    assert sorted(row["question_id"] for row in rows("reference_answer/turnbench.jsonl")) == wanted  # type: ignore[type-var]
    for question_id in wanted:
        turns = reference(question_id)
        assert len(turns) == 2
        assert all(turn.strip() for turn in turns)


def test_no_text_has_broken_characters() -> None:
    for name in ("question.jsonl", "reference_answer/turnbench.jsonl", "README.md", "bench.toml"):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert not re.search(r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd\ufeff\u200b]|\u00c3\u00a9", text), name
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", ["question.jsonl", "reference_answer/turnbench.jsonl"])
def test_the_readme_has_the_hash_of(name: str) -> None:
    stated = re.search(rf"^\| `{re.escape(name)}` \|.*\| `([0-9a-f]{{64}})` \|$", README, re.MULTILINE)
    assert stated is not None
    actual = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
    assert stated[1] == actual, f"{name} has changed: raise the version, then put {actual} into README.md"


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
        r"turnbench mt_bench canary [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", canary
    )
    assert canary in README
    uuid = canary.split()[-1]
    assert set(re.findall(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", README)) == {uuid}


@pytest.mark.parametrize("question_id", [i for i in IDS if 1021 <= i <= 1060])
def test_every_question_with_a_reference_has_a_proof(question_id: int) -> None:
    proofs = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    assert re.search(rf"def test_{question_id}_", proofs)


def runs(texts: list[str]) -> set[tuple[str, ...]]:
    """Return the runs of eight words in each text."""
    found = set()
    for text in texts:
        words = re.findall(r"\w+", text.casefold())
        found |= {tuple(words[start : start + 8]) for start in range(len(words) - 7)}
    return found


@pytest.mark.reference
def test_nothing_shares_eight_words_in_a_row_with_the_official_set(reference_data: pathlib.Path) -> None:
    lines = (reference_data / "mt_bench" / "question.jsonl").read_text(encoding="utf-8").splitlines()
    official = [json.loads(line) for line in lines]
    assert not {row["question_id"] for row in official} & set(IDS)
    assert {row["question_id"] for row in official} == set(OFFICIAL_IDS)
    theirs = runs([text for row in official for text in (*row["turns"], *map(str, row.get("reference") or ()))])
    ours = [text for question_id in IDS for text in question(question_id)["turns"]]
    ours += [
        text
        for i in IDS
        if question(i)["category"] in WITH_REFERENCE
        for text in (*reference(i), *question(i)["reference"])
    ]
    assert runs(ours) & theirs == set()

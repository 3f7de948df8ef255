"""The Chinese set as a whole: what stands in it, and what its README promises."""

import hashlib
import json
import pathlib
import re
from collections import Counter

import pytest

from data.proofs.shipped import DATA, question, reference
from harness import check_bench
from harness.bench import load

FOLDER = DATA / "mt_bench_zh"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
IDS = range(2001, 2017)
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
WITH_REFERENCE = range(2005, 2013)


def test_there_are_two_questions_in_each_category_with_ids_of_their_own() -> None:
    lines = (FOLDER / "question.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["question_id"] for line in lines] == list(IDS)
    assert [question(i)["category"] for i in IDS] == [c for c in CATEGORIES for _ in range(2)]


@pytest.mark.parametrize("question_id", IDS)
def test_a_question_is_chinese_and_has_two_turns(question_id: int) -> None:
    row = question(question_id)
    assert len(row["turns"]) == 2
    for turn in row["turns"]:
        assert len(re.findall(r"[\u4e00-\u9fff]", turn)) > 20
    assert ("reference" in row) == (question_id in WITH_REFERENCE)


def test_all_kinds_of_second_turn_occur_and_the_difficulties_are_as_stated() -> None:
    assert len({question(i)["turn_2_kind"] for i in IDS}) == 8
    assert Counter(question(i)["difficulty"] for i in IDS) == {
        "plain": 5,
        "demanding": 6,
        "trap": 5,
    }


@pytest.mark.parametrize("question_id", WITH_REFERENCE)
def test_every_question_with_a_reference_has_worked_answers_and_a_proof(question_id: int) -> None:
    assert [bool(turn.strip()) for turn in reference(question_id)] == [True, True]
    proofs = pathlib.Path(__file__).with_name("test_proofs.py").read_text(encoding="utf-8")
    assert re.search(rf"def test_{question_id}_", proofs)


def test_the_loader_finds_no_problem_and_no_reference_missing() -> None:
    assert check_bench("mt_bench_zh", DATA).problems == []


@pytest.mark.parametrize("name", ["question.jsonl", "reference_answer/turnbench.jsonl"])
def test_the_readme_has_the_hash_of(name: str) -> None:
    actual = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
    assert f"`{actual}`" in README, (
        f"{name} has changed: raise the version, then put {actual} into README.md"
    )


def test_the_canary_and_the_version_are_the_same_everywhere() -> None:
    settings = load("mt_bench_zh", DATA).settings
    assert settings.canary
    assert settings.canary in README
    for name in ("question.jsonl", "reference_answer/turnbench.jsonl"):
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["canary"] for line in lines} == {settings.canary}
    assert f"version {settings.version}" in README.splitlines()[0]
    assert (settings.language, settings.licence) == ("zh", "Apache-2.0")

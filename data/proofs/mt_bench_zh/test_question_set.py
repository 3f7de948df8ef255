"""The Chinese set as a whole: what stands in it, and what its README promises."""

import pathlib
import re
from collections import Counter

import pytest

from data.proofs.shipped import DATA, MT_BENCH_CATEGORIES, question, reference, rows
from harness.bench import load

IDS = range(2001, 2017)
WITH_REFERENCE = range(2005, 2013)


def test_there_are_two_questions_in_each_category_with_ids_of_their_own() -> None:
    assert [row["question_id"] for row in rows("mt_bench_zh")] == list(IDS)
    assert [question(i)["category"] for i in IDS] == [
        c for c in MT_BENCH_CATEGORIES for _ in range(2)
    ]


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


def test_the_set_says_that_it_is_chinese() -> None:
    assert load("mt_bench_zh", DATA).settings.language == "zh"

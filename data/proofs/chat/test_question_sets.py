"""The two sets in ColossalAI's ten categories as wholes: what stands in them, and what their READMEs promise."""

import csv
import json
import pathlib
import re
from typing import Any

import pytest

from data.proofs.shipped import DATA, rows, runs_of_eight
from harness import check_bench
from harness.bench import load
from harness.extras.checks import check_turn
from harness.metrics.label_match import label_match

CATEGORIES = (
    *("brainstorming", "chat", "classification", "closed_qa", "extraction"),
    *("generation", "open_qa", "rewriting", "roleplay", "summarization"),
)
FIRST = {"chat_en": 6001, "chat_zh": 7001}
WITH_REFERENCE = {
    "classification",
    "closed_qa",
    "extraction",
    "open_qa",
    "rewriting",
    "summarization",
}
FIELDS = {"question_id", "category", "turns", "checks", "canary"}
REFUSALS = ("I am afraid I can't help with that.", "抱歉，这件事我帮不上忙。")


def references(bench: str) -> dict[int, str]:
    return {
        row["question_id"]: row["choices"][0]["turns"][0]
        for row in rows(bench, "reference_answer/turnbench.jsonl")
    }


def referred(*categories: str) -> list[Any]:
    """Return questions of some categories, each beside its reference, as parameters of a test."""
    found = [
        (row, references(bench))
        for bench in FIRST
        for row in rows(bench)
        if row["category"] in categories
    ]
    return [
        pytest.param(row, known[row["question_id"]], id=str(row["question_id"]))
        for row, known in found
    ]


QUESTIONS = [
    pytest.param(row, id=str(row["question_id"])) for bench in FIRST for row in rows(bench)
]


@pytest.mark.parametrize("bench", FIRST)
def test_a_set_has_five_questions_in_each_category_with_ids_of_their_own(bench: str) -> None:
    found = rows(bench)
    assert [row["question_id"] for row in found] == [FIRST[bench] + n for n in range(50)]
    assert [row["category"] for row in found] == [
        category for category in CATEGORIES for _ in range(5)
    ]


@pytest.mark.parametrize("bench", FIRST)
def test_references_exist_for_exactly_the_categories_that_have_right_answers(bench: str) -> None:
    wanted = [row["question_id"] for row in rows(bench) if row["category"] in WITH_REFERENCE]
    assert list(references(bench)) == wanted
    assert all(text == text.strip() != "" for text in references(bench).values())


@pytest.mark.parametrize("row", QUESTIONS)
def test_a_question_has_one_turn_and_the_fields_described(row: dict[str, Any]) -> None:
    assert set(row) - {"labels", "note"} == FIELDS
    assert ("labels" in row) == (row["category"] == "classification")
    assert len(row["turns"]) == len(row["checks"]) == len(row.get("note", [""])) == 1
    assert row["turns"][0] == row["turns"][0].strip() != ""


@pytest.mark.parametrize("row", QUESTIONS)
def test_a_refusal_does_not_meet_the_checks_of(row: dict[str, Any]) -> None:
    for refusal in REFUSALS:
        assert not all(verdict.outcome.passed for verdict in check_turn(refusal, row["checks"][0]))


@pytest.mark.parametrize(("row", "reference"), referred(*WITH_REFERENCE))
def test_a_reference_meets_every_check_of(row: dict[str, Any], reference: str) -> None:
    broken = [v for v in check_turn(reference, row["checks"][0]) if not v.outcome.passed]
    assert not broken


@pytest.mark.parametrize(("row", "reference"), referred("classification"))
def test_the_label_is_one_of_those_that_the_question_lists(
    row: dict[str, Any], reference: str
) -> None:
    assert all(
        re.search(re.escape(label), row["turns"][0], re.IGNORECASE) for label in row["labels"]
    )
    assert [label for label in row["labels"] if label_match(label, reference, row["labels"])] == [
        reference
    ]


def values(reference: str) -> list[str]:
    """Return what an answer to a question of extraction took from the text: cells, JSON values, or lines."""
    body = re.sub(r"```\w*\n?", "", reference).strip()
    if body[0] in "[{":
        return [str(value) for value in _leaves(json.loads(body))]
    lines = body.splitlines()
    if body.startswith("|"):
        return [cell.strip() for line in lines[2:] for cell in line.strip("|").split("|")]
    return (
        [cell for line in csv.reader(lines[1:]) for cell in line]
        if reference.startswith("```csv")
        else lines
    )


def _leaves(value: Any) -> list[Any]:
    inside = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return [value] if inside is None else [leaf for part in inside for leaf in _leaves(part)]


@pytest.mark.parametrize(("row", "reference"), referred("closed_qa", "extraction"))
def test_the_answer_stands_in_the_given_text(row: dict[str, Any], reference: str) -> None:
    wanted = [reference] if row["category"] == "closed_qa" else values(reference)
    assert wanted
    assert [value for value in wanted if value.casefold() not in row["turns"][0].casefold()] == []


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=str(row["question_id"])) for row in rows("chat_zh")]
)
def test_chat_zh_is_in_chinese(row: dict[str, Any]) -> None:
    letters = re.findall(r"[^\W\d_]", row["turns"][0])
    assert len(re.findall(r"[\u3007\u4e00-\u9fff]", row["turns"][0])) > 0.9 * len(letters)


@pytest.mark.parametrize("bench", FIRST)
def test_check_bench_notes_nothing_and_the_language_is_that_of_the_name(bench: str) -> None:
    assert check_bench(bench, DATA).notes == []
    assert load(bench, DATA).settings.language == bench[-2:]


@pytest.mark.parametrize("bench", FIRST)
def test_the_readme_states_what_can_be_counted(bench: str) -> None:
    readme = (DATA / bench / "README.md").read_text(encoding="utf-8")
    found = rows(bench)
    proofs = (pathlib.Path(__file__).parents[1] / bench / "test_proofs.py").read_text(
        encoding="utf-8"
    )
    assert f"{len(references(bench))} questions have a reference" in readme
    assert f"all {sum(any(row['checks']) for row in found)} have checks" in readme
    assert f"{sum('note' in row for row in found)} have a note" in readme
    proved = set(re.findall(r"def test_(\d{4})_", proofs))
    assert proved <= set(map(str, references(bench)))
    assert f"of {len(proved)} references" in readme


@pytest.mark.reference
def test_nothing_shares_eight_words_in_a_row_with_published_sets(
    reference_data: pathlib.Path,
) -> None:
    theirs = [
        *(reference_data / "mt_bench" / "question.jsonl").read_text(encoding="utf-8").splitlines(),
        *(reference_data / "mt_bench" / "reference_answer" / "gpt-4.jsonl")
        .read_text(encoding="utf-8")
        .splitlines(),
    ]
    ours = [row["turns"][0] for bench in FIRST for row in rows(bench)]
    ours += [text for bench in FIRST for text in references(bench).values()]
    assert (
        runs_of_eight(ours) & runs_of_eight([line.replace("\\n", " ") for line in theirs]) == set()
    )

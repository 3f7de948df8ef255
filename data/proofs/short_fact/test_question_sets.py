"""The three sets of short facts: a hundred each, with a source, and not translations of each other."""

import re

import pytest

from data.proofs.shipped import rows

LANGUAGES = {"en": 3000, "hu": 4000, "zh": 5000}
WIKIPEDIA = {"en": "Wikipedia: ", "hu": "Wikipédia: ", "zh": "维基百科: "}
FIELDS = {"question_id", "category", "turns", "source", "canary"}


def answers(language: str) -> dict[int, str]:
    return {
        row["question_id"]: row["choices"][0]["turns"][0]
        for row in rows(f"short_fact_{language}", "reference_answer/turnbench.jsonl")
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_set_has_a_hundred_questions_each_with_an_answer_and_a_source(language: str) -> None:
    ids = [LANGUAGES[language] + number for number in range(1, 101)]
    asked = rows(f"short_fact_{language}")
    assert [row["question_id"] for row in asked] == list(answers(language)) == ids
    assert len({row["turns"][0] for row in asked}) == 100
    for row in asked:
        assert set(row) - {"aliases"} == FIELDS
        assert re.fullmatch(rf"{WIKIPEDIA[language]}\S.*", row["source"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_question_contains_its_answer(language: str) -> None:
    known = answers(language)
    for row in rows(f"short_fact_{language}"):
        for answer in (known[row["question_id"]], *row.get("aliases", [])):
            assert answer.casefold() not in row["turns"][0].casefold(), row["question_id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_answer_serves_more_than_three_questions(language: str) -> None:
    known = list(answers(language).values())
    assert max(known.count(answer) for answer in known) <= 3


def test_the_sets_are_not_translations_of_each_other() -> None:
    """Years aside, no answer and no source occurs in two languages."""
    seen: dict[str, str] = {}
    for language in LANGUAGES:
        own = {
            answer.casefold()
            for answer in answers(language).values()
            if not re.fullmatch(r"\d+年?", answer)
        }
        own |= {
            row["source"].split(": ", 1)[1].casefold() for row in rows(f"short_fact_{language}")
        }
        for text in own:
            assert seen.setdefault(text, language) == language, text

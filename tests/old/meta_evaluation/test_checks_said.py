"""What a judge's sentences are taken to say of checks, and how often that is right.

`judge_sentences.jsonl` holds sentences of our own with what a reader takes them to say. The rules were made from those
of the part "made"; those of "held" were written when the rules were fixed, and nothing was changed for them.
"""

import json
import pathlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.meta_evaluation.checks_said import Limit, Says, has_words, language_of, said_of

SENTENCES = [
    json.loads(line)
    for line in pathlib.Path(__file__).with_name("judge_sentences.jsonl").read_text(encoding="utf-8").splitlines()
]
WORDS, NO_MARK = Limit("count", "at most 60 words"), Limit("not_contains", "does not contain “!”")
SIGNED = Limit("ends", "ends with “Nino”")


def says(one: dict[str, Any]) -> Says:
    return said_of([Limit(one["kind"], one["check"])], one["sentence"], one["language"])[0]


def share(part: str, right: Callable[[dict[str, Any]], bool], among: Callable[[dict[str, Any]], bool]) -> float:
    own = [one for one in SENTENCES if one["part"] == part and among(one)]
    return sum(map(right, own)) / len(own)


def test_there_are_sentences_of_all_languages_that_the_rules_were_not_made_from() -> None:
    counts = Counter((one["part"], one["language"]) for one in SENTENCES)
    assert min(counts.values()) >= 17
    assert sum(n for (part, _), n in counts.items() if part == "held") >= 80


@pytest.mark.parametrize(("part", "least"), [("made", 0.97), ("held", 0.87)])
def test_what_is_read_agrees_with_a_reader(part: str, least: float) -> None:
    assert share(part, lambda one: says(one) == one["says"], lambda one: True) >= least


@pytest.mark.parametrize("told", ["kept", "broken"])
def test_what_is_read_as_said_is_said_and_most_of_it_is_read(told: str) -> None:
    right: Callable[[dict[str, Any]], bool] = lambda one: says(one) == one["says"]  # noqa: E731
    assert share("held", right, lambda one: says(one) == told) >= 0.95  # precision
    assert share("held", right, lambda one: one["says"] == told) >= 0.84  # recall


@pytest.mark.parametrize("language", ["en", "hu", "zh"])
def test_no_language_is_read_far_worse(language: str) -> None:
    assert share("held", lambda one: says(one) == one["says"], lambda one: one["language"] == language) >= 0.85


def test_each_check_of_an_answer_is_looked_for_by_itself() -> None:
    text = "At 75 words it runs over the limit, but it avoids exclamation marks."
    assert said_of([WORDS, NO_MARK, SIGNED], text, "en") == ["broken", "kept", None]


def test_where_two_checks_count_the_same_only_a_number_tells_which_is_meant() -> None:
    other = Limit("count", "at most 12 words, in each bullet")
    assert said_of([WORDS, other], "The 12-word limit for bullets is exceeded.", "en") == [None, None]
    assert said_of([WORDS, other], "It exceeds the word limit.", "en") == [None, None]
    assert said_of([WORDS], "It exceeds the word limit.", "en") == ["broken"]


def test_of_two_sentences_the_one_that_says_broken_counts() -> None:
    assert said_of([WORDS], "It keeps to the word limit. No: it has 64 words.", "en") == ["broken"]


def test_code_and_quoted_lines_are_shown_and_not_said() -> None:
    text = "> All constraints are met.\n```\nThe word limit is kept.\n```\nA friendly card."
    assert said_of([WORDS, SIGNED], text, "en") == [None, None]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The answer is clear and it does what was asked, but the tone of the card is stiff.", "en"),
        ("A válasz világos, és azt teszi, amit kértek, de nem elég barátságos.", "hu"),
        ("回答清楚，语气亲切，符合要求。", "zh"),
        ("Die Antwort ist klar und tut, was verlangt war, aber der Ton ist etwas steif.", None),
        ("La réponse est claire et fait ce qui était demandé, mais le ton reste un peu raide.", None),
        ("回答はわかりやすく、求められたことをしていますが、少しかたいです。", None),
        ("", None),
    ],
)
def test_a_text_in_a_language_without_words_is_not_read(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_kinds_without_words_are_known() -> None:
    assert has_words(WORDS)
    assert has_words(SIGNED)
    assert not has_words(Limit("any", "at most 60 words or ends with “Nino”"))
    assert not has_words(Limit("count", "exactly 3 blocks of code"))


def test_a_text_of_any_length_is_read_in_time() -> None:
    for text in ("not " * 200_000, "“" * 200_000, "the word limit is kept, " * 50_000, "1 " * 300_000):
        assert said_of([WORDS, NO_MARK, SIGNED], text, "en")[1] is None

"""Text metrics: formulas worked by hand, other libraries' numbers, every language."""

import importlib.metadata
from typing import Any, NoReturn

import pytest

from harness.errors import UsageError
from harness.metrics import TEXT, Metric, Setup, load
from harness.options import MetricOptions


def metric(name: str, language: str = "en", **options: Any) -> Metric:
    return load([name], Setup(language=language, options=MetricOptions(**options)))[0]


IDENTICAL = {
    "en": "The cat sat on the mat, and it rained.",
    "ru": "Кошка сидела на коврике, и шёл дождь.",
    "ja": "猫がマットの上に座り、雨が降った。",
    "zh": "猫坐在垫子上，外面下着雨。",
    "th": "แมวนั่งบนเสื่อและฝนตก",
}


@pytest.mark.parametrize("language", IDENTICAL)
@pytest.mark.parametrize(
    "name", ["bleu", "rouge", "chrf", "token_f1", "exact_match", "label_match"]
)
def test_identical_texts_score_1_in_every_language(name: str, language: str) -> None:
    text = IDENTICAL[language]
    assert metric(name, language)("?", text, text).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "answer", "reference", "number", "value"),
    [
        pytest.param("rouge", "the cat sat", "the cat lay down", "rouge_1", 4 / 7, id="rouge_1"),
        pytest.param("rouge", "the cat sat", "the cat lay down", "rouge_2", 2 / 5, id="rouge_2"),
        pytest.param("rouge", "a c b", "a b c", "rouge_l", 2 / 3, id="rouge_l"),
        pytest.param("token_f1", "the the cat", "the cat sat", "token_f1", 2 / 3, id="token_f1"),
        pytest.param("token_f1", "", "the cat", "token_recall", 0, id="empty answer"),
        pytest.param("distinct", "no no yes", "", "distinct_1", 2 / 3, id="distinct_1"),
        pytest.param("distinct", "no no yes", "", "distinct_3", 1, id="distinct_3"),
        pytest.param("bleu", "the cat", "the cat", "bleu_1", 1, id="bleu_1"),
    ],
)
def test_numbers_are_as_worked_by_hand(
    name: str, answer: str, reference: str, number: str, value: float
) -> None:
    assert metric(name)("?", answer, reference).values[number] == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "answer", "reference", "value"),
    [
        pytest.param("exact_match", "  **Paris**.", "paris", 1, id="exact"),
        pytest.param("exact_match", "It is Paris", "Paris", 0, id="not exact"),
        pytest.param("exact_match", "-1", "1", 0, id="sign"),
        pytest.param("label_match", "The answer is Sports.", "sports", 1, id="label"),
        pytest.param("label_match", "transport", "sport", 0, id="part of a word"),
        pytest.param("label_match", "It is **-1**.", "-1", 1, id="label with a sign"),
        pytest.param("label_match", "It is 1.", "-1", 0, id="label without its sign"),
        pytest.param("label_match", "C", "C++", 0, id="label without its end"),
        pytest.param("label_match", "Pages 2-1", "1", 1, id="hyphen that is no sign"),
        pytest.param("chrf", "yes", "yes", 1, id="chrf of a short text"),
    ],
)
def test_single_numbers(name: str, answer: str, reference: str, value: float) -> None:
    assert metric(name)("?", answer, reference).value == pytest.approx(value)


@pytest.mark.parametrize("name", [name for name in TEXT if name != "distinct"])
def test_an_answer_without_words_is_unlike_the_reference(name: str) -> None:
    assert metric(name)("?", "", "a reference").value == 0


def test_rouge_is_rouge_scores_own_in_english() -> None:
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    answer, reference = "Él café costs 3.5 π", "The café costs 35"
    scores = rouge.RougeScorer(["rougeL"]).score(reference, answer)
    assert metric("rouge")("?", answer, reference).value == scores["rougeL"].fmeasure
    assert metric("rouge").tokenizer == "rouge-score"
    assert metric("rouge", "hu").tokenizer == "words"


@pytest.mark.parametrize(
    ("name", "answer", "reference", "value"),
    [
        pytest.param("chrf", "yes", "yes", 0.5, id="half a chrF for yes"),
        pytest.param("token_f1", "the answer is sports", "sports", 0, id="by position"),
        pytest.param("token_f1", "a b x d e", "a b c d", 6 / 7, id="up to the shorter"),
        pytest.param("token_f1", "", "a", None, id="empty answer"),
        pytest.param("distinct", "word", "", 1 / 3, id="one word"),
        pytest.param("bleu", "a b", "a b c d", 0, id="too short for four"),
    ],
)
def test_colossalai_s_faults_are_part_of_the_numbers(
    name: str, answer: str, reference: str, value: float | None
) -> None:
    pytest.importorskip("sklearn")
    measured = metric(name, variant="colossalai")("?", answer, reference).value
    assert measured == (value if value is None else pytest.approx(value, abs=1e-5))


@pytest.mark.parametrize(
    ("name", "language", "options", "reason"),
    [
        pytest.param("bluu", "en", {}, "no metric 'bluu'; did you mean bleu", id="metric"),
        pytest.param(
            "bleu", "en", {"variant": "x"}, "there are default and colossalai", id="variant"
        ),
        pytest.param(
            "bleu", "hu", {"variant": "colossalai"}, "for English and Chinese", id="language"
        ),
    ],
)
def test_wrong_choices_are_one_line(
    name: str, language: str, options: dict[str, str], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        metric(name, language, **options)


def test_without_rouge_score_the_extra_is_named_and_the_rest_can_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> NoReturn:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(UsageError, match=r"turnbench\[colossalai\]'.*--without .*rouge"):
        load(["rouge"])

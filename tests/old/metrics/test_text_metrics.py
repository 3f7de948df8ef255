"""The text metrics in their usual form: hand-computed cases, empty texts, and every language."""

import math
from collections import Counter

import pytest
from rouge_score.rouge_scorer import RougeScorer

from harness.old.errors import UsageError
from harness.old.metrics import METRICS, TEXT_METRICS
from harness.old.metrics.label_match import label_match
from harness.old.metrics.metric import Item
from harness.old.metrics.ngrams import longest_common, ngrams, shared, shared_runs
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metric, load_metrics
from harness.old.records import Question
from tests.old.metrics.texts import random_pairs, real_pairs

WITH_REFERENCE = tuple(name for name in TEXT_METRICS if name != "distinct")


def numbers(name: str, answer: str, reference: str = "", setup: Setup = Setup()) -> dict[str, float | None]:  # noqa: B008
    measured = load_metric(name, setup)("q", answer, reference)
    return dict(measured.values) or {name: measured.value}


def test_bleu_by_hand() -> None:
    # six of seven words match ("." is one), five of six pairs, four of five, three of four; brevity exp(1 - 8/7)
    found = numbers("bleu", "the cat sat on the mat.", "so the cat sat on the mat")
    short = math.exp(1 - 7 / 7)
    assert found["bleu_1"] == pytest.approx(short * 6 / 7)
    assert found["bleu_4"] == pytest.approx(short * (6 / 7 * 5 / 6 * 4 / 5 * 3 / 4) ** 0.25)


def test_bleu_is_smoothed() -> None:
    found = numbers("bleu", "a b c d", "a x b y")  # 2 of 4, then half a match of 3, a quarter of 2, an eighth of 1
    assert found["bleu_4"] == pytest.approx((2 / 4 * (1 / 2) / 3 * (1 / 4) / 2 * (1 / 8) / 1) ** 0.25)


def test_bleu_of_a_short_answer_leaves_out_orders_that_it_cannot_have() -> None:
    assert numbers("bleu", "Paris", "Paris") == {f"bleu_{order}": 1.0 for order in (1, 2, 3, 4)}


def test_rouge_by_hand() -> None:
    found = numbers("rouge", "The cat sat.", "the cat lay down")
    assert found == pytest.approx({"rouge_1": 4 / 7, "rouge_2": 2 / 5, "rouge_l": 4 / 7})


def test_rouge_counts_repeated_words_once_for_each_match() -> None:
    assert numbers("rouge", "a a a b", "a b")["rouge_1"] == pytest.approx(2 * (2 / 4) * 1 / (2 / 4 + 1))


@pytest.mark.parametrize("texts", ["random", "real"])
def test_rouge_of_plain_english_is_that_of_rouge_score(texts: str) -> None:
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    pairs = random_pairs("en", 2000) if texts == "random" else real_pairs("mt_bench")[:300]
    compared = 0
    for answer, reference in pairs:
        if not (answer + reference).isascii() or not any(c.isalnum() for c in reference):
            continue
        found, expected = numbers("rouge", answer, reference), scorer.score(reference, answer)
        assert list(found.values()) == pytest.approx([score.fmeasure for score in expected.values()], abs=1e-12)
        compared += 1
    assert compared > 100


def test_the_longest_common_subsequence_is_that_of_the_table() -> None:
    for answer, reference in random_pairs("en", 500):
        left, right = answer.split(), reference.split()
        row = [0] * (len(right) + 1)
        for token in left:
            before = row
            row = [0]
            for place, other in enumerate(right):
                row.append(before[place] + 1 if token == other else max(before[place + 1], row[place]))
        assert longest_common(left, right) == row[-1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_runs_counted_at_once_are_those_counted_one_by_one(language: str) -> None:
    pairs = [*random_pairs(language, 300), ("", ""), *real_pairs("mt_bench_zh")[:20]]
    runs = [[[Counter(ngrams(tuple(text), n)) for text in pair] for n in range(1, 7)] for pair in pairs]
    assert shared_runs(pairs, 6) == [[shared(*both) for both in counts] for counts in runs]


def test_runs_of_very_many_different_tokens_are_numbered_anew() -> None:
    text = "".join(map(chr, range(0x4E00, 0x8000)))
    assert shared_runs([(text, text[1:]), ("ab", "b")], 6) == [[len(text) - n for n in range(1, 7)], [1, 0, 0, 0, 0, 0]]


def test_bags_share_the_lesser_count() -> None:
    assert shared(Counter({("a",): 3, ("b",): 1}), Counter({("a",): 2, ("c",): 5})) == 2


def test_token_f1_by_hand() -> None:
    found = numbers("token_f1", "a cat, a dog", "the cat")
    assert found == pytest.approx({"token_precision": 1 / 4, "token_recall": 1 / 2, "token_f1": 1 / 3})


def test_distinct_by_hand() -> None:
    assert numbers("distinct", "no no no yes") == {"distinct_1": 2 / 4, "distinct_2": 2 / 3, "distinct_3": 2 / 2}


def test_distinct_of_a_short_answer_is_not_defined() -> None:
    assert numbers("distinct", "no yes") == {"distinct_1": 1.0, "distinct_2": 1.0, "distinct_3": None}
    assert numbers("distinct", "") == {"distinct_1": None, "distinct_2": None, "distinct_3": None}


def test_chrf_by_hand() -> None:
    # runs of one: 2 of 3 and 2 of 3; of two: 1 of 2; of three: 0 of 1; longer ones have none, and are left out
    assert numbers("chrf", "abd", "abc")["chrf"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        pytest.param("  Paris. ", "paris", 1.0, id="spaces, capitals, full stop"),
        pytest.param("３.５", "3.5", 1.0, id="wide digits"),
        pytest.param("“是”。", "是", 1.0, id="chinese marks"),
        pytest.param("-1", "1", 0.0, id="sign"),
        pytest.param("It is Paris", "Paris", 0.0, id="more words"),
        pytest.param("ŐRSÉG", "őrség", 1.0, id="hungarian"),
    ],
)
def test_exact_match(answer: str, reference: str, value: float) -> None:
    assert numbers("exact_match", answer, reference) == {"exact_match": value}


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        pytest.param("The answer is Sports.", "sports", 1.0, id="in a sentence"),
        pytest.param("sports, sports!", "sports", 1.0, id="twice"),
        pytest.param("sports or politics", "sports", 0.0, id="two labels"),
        pytest.param("politics", "sports", 0.0, id="the other one"),
        pytest.param("transports", "sports", 0.0, id="inside a word"),
        pytest.param("not positive", "not positive", 1.0, id="longest label"),
        pytest.param("not positive", "positive", 0.0, id="inside a label"),
        pytest.param("", "sports", 0.0, id="empty"),
        pytest.param("体育新闻", "体育", 1.0, id="chinese"),
    ],
)
def test_label_match(answer: str, reference: str, value: float) -> None:
    assert label_match(answer, reference, ["sports", "politics", "positive", "not positive"]) == value


def test_labels_are_those_of_the_question() -> None:
    metric = load_metric("label_match")
    labelled = Question(1, "classification", ("Which?",), extra={"labels": ["a", "b"]})
    plain = Question(1, "classification", ("Which?",))
    found = metric.measure([Item(question, 1, ("a, not b",), "a") for question in (labelled, plain)])
    assert [measured.value for measured in found] == [0.0, 1.0]


@pytest.mark.parametrize("language", ["en", "zh", "hu"])
@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_an_empty_answer_is_nought_and_an_empty_reference_no_number(name: str, language: str) -> None:
    metric = load_metric(name, Setup(language=language))
    for empty in ("", "  \n"):
        said = metric("q", empty, "szó")
        assert {said.value, *said.values.values()} == {0.0}
        nothing = metric("q", "szó", empty)
        assert {nothing.value, *nothing.values.values()} == {None}
        assert nothing.note == "the reference is empty"
        both = metric("q", empty, empty)
        assert {both.value, *both.values.values()} == {None}


@pytest.mark.parametrize(
    ("answer", "note"), [("", "the answer is empty"), ("yes", "the answer is too short"), ("yes, indeed", None)]
)
@pytest.mark.parametrize("reference", ["", "szó"])
def test_what_needs_no_reference_does_not_blame_it(answer: str, note: str | None, reference: str) -> None:
    assert load_metric("distinct", Setup())("q", answer, reference).note == note


@pytest.mark.parametrize("language", ["en", "zh", "hu"])
@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_numbers_lie_between_nought_and_one_and_a_text_is_itself(name: str, language: str) -> None:
    metric = load_metric(name, Setup(language=language))
    for answer, reference in random_pairs(language, 200):
        for measured in (metric("q", answer, reference), metric("q", reference, reference)):
            for value in (measured.value, *measured.values.values()):
                assert value is None or 0 <= value <= 1
        assert measured.value is None or measured.value == pytest.approx(1)


@pytest.mark.parametrize("name", ["rouge", "token_f1", "bleu"])
def test_hungarian_letters_are_kept(name: str) -> None:
    # rouge-score would see "rs", "g" in both
    assert load_metric(name, Setup(language="hu"))("q", "őrség", "űrszög").value == pytest.approx(0, abs=1e-9)
    assert load_metric(name, Setup(language="hu"))("q", "őrség", "őrség").value == 1


@pytest.mark.parametrize("name", ["rouge", "token_f1", "bleu"])
def test_chinese_is_compared_by_characters(name: str) -> None:
    value = load_metric(name, Setup(language="zh"))("q", "今天很好", "今天很冷").value
    assert value is not None
    assert 0.5 < value < 1


def test_chinese_words_by_jieba_are_asked_for_by_name() -> None:
    metric = load_metric("token_f1", Setup(language="zh", tokenizer="jieba"))
    assert metric.tokenizer == "jieba"
    assert metric("q", "我们去公园", "我们在公园").values["token_recall"] == pytest.approx(2 / 3)


def test_bleu_takes_other_tokens_too() -> None:
    assert load_metric("bleu", Setup(tokenizer="words"))("q", "Cat!", "cat").value == 1


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_stands_in_a_file_of_its_name(name: str) -> None:
    import importlib

    assert importlib.import_module(f"harness.old.metrics.{name}").metric


def test_text_stands_for_all_that_need_no_model() -> None:
    assert [metric.name for metric in load_metrics(["rouge", "text"])] == [
        "rouge",
        *[n for n in TEXT_METRICS if n != "rouge"],
    ]


@pytest.mark.parametrize(
    ("name", "setup", "reason"),
    [
        pytest.param("rogue", Setup(), "no metric 'rogue'; did you mean 'rouge'", id="metric"),
        pytest.param("xyz", Setup(), "no metric 'xyz'; known: text, bleu, rouge", id="far metric"),
        pytest.param("rouge", Setup(variant="colosalai"), "no variant .* did you mean 'colossalai'", id="variant"),
        pytest.param("rouge", Setup(tokenizer="word"), "no tokenizer 'word'; did you mean 'words'", id="tokenizer"),
    ],
)
def test_unknown_names_get_the_near_ones(name: str, setup: Setup, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        load_metric(name, setup)

"""The variant `colossalai` equals the libraries that ColossalAI used, called as it called them."""

import functools
import math
import pathlib
import warnings
from types import ModuleType

import pytest

from harness.old.bench import read_answers
from harness.old.errors import UsageError
from harness.old.metrics.colossalai import by_position, prepared
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metric
from tests.old.metrics.texts import random_pairs, real_pairs

ORIGINALS = ("bleu", "rouge", "chrf", "distinct")


@functools.cache
def originals() -> ModuleType:
    """Return the originals; their libraries take seconds to import, which only these tests shall wait for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's expressions, on newer Pythons
        from benchmarks import original_metrics
    return original_metrics


def assert_equal_on(name: str, language: str, pairs: list[tuple[str, str]]) -> None:
    metric = load_metric(name, Setup(language=language, variant="colossalai"))
    for answer, reference in pairs:
        measured = metric("q", answer, reference)
        values = measured.values or {name: measured.value}
        try:
            expected = originals().METRICS[name](answer, reference, language)
        except (ValueError, ZeroDivisionError):
            assert set(values.values()) == {None}, (answer, reference)
            continue
        for key, number in expected.items():
            own = values[key]
            assert own is not None
            # nltk has the least float where an order has no match, which leaves up to 1e-77 of a BLEU of nought
            assert math.isclose(own, number, rel_tol=1e-12, abs_tol=1e-15), (name, key, answer, reference)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ORIGINALS)
def test_equals_the_libraries_on_random_texts(name: str, language: str) -> None:
    assert_equal_on(name, language, list(random_pairs(language, 2000)))


@pytest.mark.slow
@pytest.mark.parametrize(("language", "bench"), [("en", "mt_bench"), ("zh", "mt_bench_zh")])
@pytest.mark.parametrize("name", ORIGINALS)
def test_equals_the_libraries_on_real_texts(name: str, language: str, bench: str) -> None:
    every = (
        1 if language == "en" else 20 if name == "rouge" else 3
    )  # rouge-chinese takes 50 ms for texts of this length
    assert_equal_on(name, language, list(real_pairs(bench)[::every]))


@pytest.mark.reference
@pytest.mark.parametrize("name", ORIGINALS)
def test_equals_the_libraries_on_published_answers(name: str, reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    references = read_answers(folder / "reference_answer" / "gpt-4.jsonl", "gpt-4")
    pairs = [
        (said, wanted)
        for path in sorted((folder / "model_answer").glob("*.jsonl"))[:3]
        for key, answer in read_answers(path, path.stem).items()
        if key in references
        for said, wanted in zip(answer.choices[0].turns, references[key].choices[0].turns, strict=True)
    ]
    assert len(pairs) == 180
    assert_equal_on(name, "en", pairs)


def test_texts_are_prepared_alike() -> None:
    text = "".join(map(chr, [*range(0x21, 0x2000), *range(0x2000, 0x3100), *range(0xFE00, 0x10000)]))
    assert prepared(text) == originals().prepared(text)
    assert {*ORIGINALS, "token_f1"} == originals().METRICS.keys()  # the last by scikit-learn


@pytest.mark.parametrize(
    ("answer", "reference", "numbers"),
    [
        pytest.param("sports", "sports", (1.0, 1.0, 1.0), id="same"),
        pytest.param("the answer is sports", "sports", (0.0, 0.0, 0.0), id="shifted"),
        pytest.param("a b x d e", "a b c d", (1.0, 3 / 4, 6 / 7), id="longer"),
        pytest.param("", "a", (None, None, None), id="empty answer"),
        pytest.param("a", "", (None, None, None), id="empty reference"),
    ],
)
def test_tokens_are_compared_by_position(answer: str, reference: str, numbers: tuple[float | None, ...]) -> None:
    assert tuple(by_position(tuple(answer.split()), tuple(reference.split())).values()) == numbers


def test_the_original_has_half_a_chrf_for_yes() -> None:
    assert load_metric("chrf", Setup(variant="colossalai"))("q", "yes", "yes").value == pytest.approx(0.5)
    assert load_metric("chrf")("q", "yes", "yes").value == 1.0


def test_other_languages_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the variant colossalai of rouge is for English and Chinese, .*'hu'"):
        load_metric("rouge", Setup(language="hu", variant="colossalai"))


def test_a_tokenizer_is_refused() -> None:
    with pytest.raises(UsageError, match="has its own tokens; leave out --tokenizer words"):
        load_metric("rouge", Setup(variant="colossalai", tokenizer="words"))

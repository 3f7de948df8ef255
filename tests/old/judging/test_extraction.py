"""The answer inside a reply that was requested as JSON: found in many disguises, or the whole reply where it is not."""

import pathlib
from typing import Any

import pytest

from harness.old.bench import load_settings
from harness.old.errors import DataError
from harness.old.judging.extraction import confidence_of, extracted


@pytest.mark.parametrize(
    ("text", "answer", "confidence"),
    [
        pytest.param('{"answer": "1666", "confidence": 90}', "1666", 0.9, id="as asked for"),
        pytest.param('```json\n{"answer": "1666", "confidence": 90}\n```', "1666", 0.9, id="code fence"),
        pytest.param("{'answer': 'Óbuda', 'confidence': '75%'}", "Óbuda", 0.75, id="single quotes and a sign"),
        pytest.param('{"answer": "x", "confidence": 90%}', "x", 0.9, id="bare percent sign"),
        pytest.param('{"answer": "x", "confidence": 0.9}', "x", 0.9, id="share of one"),
        pytest.param("{'answer': 'King's Cross', 'confidence': 80}", "King's Cross", 0.8, id="apostrophe"),
        pytest.param('Let me think. It burnt in 1666.\n{"answer": "1666", "confidence": 8}', "1666", 0.08, id="words"),
        pytest.param('<think>{"answer": "1665"}</think>{"answer": "1666"}', "1666", None, id="reasoning before"),
        pytest.param('{"Answer": "沈阳", "Confidence": 100}', "沈阳", 1.0, id="capitals"),
        pytest.param('{"confidence": 55, "answer": "沈阳", "why": "…"}', "沈阳", 0.55, id="other order, other fields"),
        pytest.param('{"answer": 1526, "confidence": "high"}', "1526", None, id="number, words for confidence"),
        pytest.param('{"answer": ["Buda", "Pest"], "confidence": 30}', "Buda, Pest", 0.3, id="list"),
        pytest.param('{"answer": null, "confidence": 0}', "", 0.0, id="null"),
        pytest.param('{"answer": "", "confidence": 0}', "", 0.0, id="empty"),
        pytest.param('{"answer": "cut", "conf', "cut", None, id="cut after the answer"),
        pytest.param('{"answer": "a"}\n{"answer": "a", "confidence": 10}', "a", 0.1, id="the same twice"),
        pytest.param('{"answer": "he said \\"no\\"", "confidence": 10}', 'he said "no"', 0.1, id="escapes"),
    ],
)
def test_the_answer_is_found(text: str, answer: str, confidence: float | None) -> None:
    found = extracted(text, "answer", "confidence")
    assert found.answer == answer
    assert found.confidence == (None if confidence is None else pytest.approx(confidence))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("It burnt in 1666.", id="no JSON"),
        pytest.param("", id="nothing"),
        pytest.param('{"reply": "1666", "confidence": 90}', id="another field"),
        pytest.param('Either {"answer": "1665"} or {"answer": "1666"}', id="two answers"),
        pytest.param('{"answer": "cut o', id="cut inside the answer"),
        pytest.param('<think>Perhaps {"answer": "1666"', id="cut inside the reasoning"),
        pytest.param("A {brace} is no object.", id="braces"),
        pytest.param('["1666"]', id="a list"),
    ],
)
def test_elsewhere_the_whole_reply_is_the_answer(text: str) -> None:
    assert extracted(text, "answer", "confidence") == (text, None)


@pytest.mark.parametrize(
    ("value", "share"),
    [
        (90, 0.9),
        (100, 1.0),
        (0, 0.0),
        (1, 0.01),
        (1.0, 1.0),
        (0.5, 0.5),
        (62.5, 0.625),
        ("90 %", 0.9),
        ("0,85", 0.85),
        ("8/10", 0.8),
        ("90 out of 100", 0.9),
        ("~70%", 0.7),
        (140, None),
        (-1, None),
        ("sure", None),
        ("60-70", None),
        (True, None),
        (None, None),
        ([90], None),
    ],
)
def test_a_confidence_is_a_share_of_one_or_unstated(value: Any, share: float | None) -> None:
    assert confidence_of(value) == (None if share is None else pytest.approx(share))


def test_a_long_reply_of_braces_is_read_in_no_time() -> None:
    text = '{"a' * 30_000
    assert extracted(text, "answer", "confidence").answer == text


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        pytest.param('answer_field = ""', "answer_field must be a text: the name of the field, this is ''", id="empty"),
        pytest.param("answer_field = 1", "answer_field must be a text", id="number"),
        pytest.param('confidence_field = "c"', "confidence_field needs answer_field", id="alone"),
        pytest.param('answer_field = "a"\nconfidence_field = "a"', "another field", id="one field for both"),
    ],
)
def test_wrong_fields_in_bench_toml_are_named(tmp_path: pathlib.Path, toml: str, message: str) -> None:
    (tmp_path / "bench.toml").write_text(toml)
    with pytest.raises(DataError, match=message):
        load_settings(tmp_path / "bench.toml")

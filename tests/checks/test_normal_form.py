"""Texts are compared in one form, so that LaTeX, spaces and emphasis do not fail a right answer."""

from typing import Any

import pytest

from harness.extras.checks import check, normal

NATURAL = [
    pytest.param({"kind": "contains", "pattern": "4[,. ]?600"}, r"$4{,}600$", id="braces"),
    pytest.param({"kind": "contains", "pattern": "4[,. ]?600"}, "4\u202f600", id="narrow space"),
    pytest.param({"kind": "contains", "pattern": "2[,. ]?697"}, r"2\,697 ways", id="thin space"),
    pytest.param({"kind": "contains", "pattern": "80 ?π"}, r"\(80\,\pi\) m²", id="pi"),
    pytest.param({"kind": "contains", "pattern": r"\b(6|six) days"}, "$6$ days", id="dollars"),
    pytest.param({"kind": "contains", "pattern": r"\b6 days"}, "**6**\u00a0days", id="no-break"),
    pytest.param(
        {"kind": "contains", "pattern": r"2(\.0\d?)? ?%"}, r"+$2.0\%$ too high", id="percent"
    ),
    pytest.param({"kind": "contains", "pattern": r"22 ?km"}, r"$22\,\text{km}$", id="text"),
    pytest.param({"kind": "contains", "pattern": "16 ?°"}, r"$16^{\circ}$", id="degrees"),
    pytest.param(
        {"kind": "contains", "pattern": "16 ?°C"}, r"16\,^\circ\mathrm{C}", id="degrees C"
    ),
    pytest.param(
        {"kind": "contains", "pattern": "→|⇌", "exactly": 2},
        "$4Ag + 2H_2S + O_2 \\rightarrow 2Ag_2S + 2H_2O$\n\n3Ag2S + 2Al -> 6Ag + Al2S3",
        id="arrows",
    ),
    pytest.param(
        {"kind": "contains", "text": "H2SO4"}, r"\ce{H2SO4} or $H_{2}SO_4$", id="chemistry"
    ),
    pytest.param({"kind": "contains", "text": "H2O"}, "H<sub>2</sub>O", id="HTML"),
    pytest.param({"kind": "contains", "text": "10π/3"}, r"$\frac{10\pi}{3}$", id="fraction"),
    pytest.param(
        {"kind": "contains", "text": "nobody knows who's"}, "nobody *knows* who’s", id="quote"
    ),
    pytest.param(
        {"kind": "starts", "words": "Answer"}, "> **Answer:** 3", id="emphasis at the start"
    ),
    pytest.param({"kind": "ends", "text": "42"}, r"The answer is \boxed{42}", id="boxed"),
    pytest.param({"kind": "equals", "text": "who's to blame."}, "Who’s to blame", id="equals"),
    pytest.param({"kind": "contains", "text": "**"}, "**bold**", id="marks that are looked for"),
    pytest.param({"kind": "contains", "text": "12:30"}, "１２:30", id="wide digits"),
]


@pytest.mark.parametrize(("spec", "reply"), NATURAL)
def test_a_natural_spelling_passes(spec: dict[str, Any], reply: str) -> None:
    assert check(reply, spec).passed is True, normal(reply)


@pytest.mark.parametrize(
    ("spec", "reply"),
    [
        pytest.param({"kind": "not_contains", "text": "%"}, r"10\% of it", id="percent"),
        pytest.param({"kind": "not_contains", "text": ["H2S"]}, "it smells of H₂S", id="subscript"),
        pytest.param({"kind": "not_contains", "words": "cook*"}, "we **cook**ed", id="emphasis"),
        pytest.param({"kind": "contains", "pattern": "46 ?00"}, "4,600", id="other digits"),
    ],
)
def test_a_wrong_answer_does_not_hide_behind_it(spec: dict[str, Any], reply: str) -> None:
    assert check(reply, spec).passed is False


@pytest.mark.parametrize(
    "text",
    [
        "It costs $6 or $7 a day.",
        "2 * 3 * 4 = 24",
        "snake_case_name",
        "a\n\nb",
        "x < y",
        "{a, b}",
        "2*3*4",
    ],
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert normal(text) == text

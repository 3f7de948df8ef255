"""Texts are compared in one form, so that LaTeX, spaces and emphasis do not fail a right answer."""

from typing import Any

import pytest

from harness.extras.checks import check, normal


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"$4{,}600$", "4,600"),
        ("4\u202f600", "4 600"),
        (r"\(80\,\pi\) m²", "80 π m²"),
        ("$6$ and **6**\u00a0days", "6 and 6 days"),
        (r"+$2.0\%$ too high", "+2.0% too high"),
        (r"$22\,\text{km}$", "22 km"),
        (r"$16^{\circ}$ or 16\,^\circ\mathrm{C}", "16° or 16 °C"),
        (r"$2H_2 + O_2 \rightarrow 2H_2O$", "2H2 + O2 → 2H2O"),
        ("3Ag2S + 2Al -> 6Ag", "3Ag2S + 2Al → 6Ag"),
        (r"\ce{H2SO4} or $H_{2}SO_4$ or H₂SO₄", "H2SO4 or H2SO4 or H2SO4"),
        ("H<sub>2</sub>O", "H2O"),
        (r"$\frac{10\pi}{3}$", "10π/3"),
        (r"\boxed{\text{nobody *knows* who’s}}", "nobody knows who's"),
        ("１２:30", "12:30"),
    ],
)
def test_latex_and_marks_become_plain_text(text: str, plain: str) -> None:
    assert normal(text) == plain


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


@pytest.mark.parametrize(
    ("spec", "reply", "passed"),
    [
        pytest.param({"kind": "starts", "words": "Answer"}, "> **Answer:** 3", True, id="starts"),
        pytest.param({"kind": "ends", "text": "42"}, r"It is \boxed{42}", True, id="ends"),
        pytest.param(
            {"kind": "equals", "text": "who's to blame."}, "Who’s to blame", True, id="equals"
        ),
        pytest.param({"kind": "contains", "text": "**"}, "**bold**", True, id="marks"),
        pytest.param({"kind": "not_contains", "text": "%"}, r"10\% of it", False, id="percent"),
        pytest.param({"kind": "not_contains", "words": "cook*"}, "we **cook**ed", False, id="not"),
        pytest.param({"kind": "contains", "pattern": "46 ?00"}, "4,600", False, id="digits"),
    ],
)
def test_a_reply_passes_as_it_stands_or_in_the_normal_form(
    spec: dict[str, Any], reply: str, passed: bool
) -> None:
    assert check(reply, spec).passed is passed

"""Reach: the level at which half is passed, by templates."""

import numpy as np
import pytest

from harness.errors import MissingError
from harness.results import of_rows
from harness.results.passed import passes
from harness.results.reach import Attempts, gaps, reach_of, reaches
from harness.types import Measurement, Question


def attempts(*levels_passed: tuple[int, float]) -> Attempts:
    """Return what ten templates did at some levels, a share of them passing."""
    template = np.tile(np.arange(10), len(levels_passed))
    level = np.repeat([float(level) for level, _ in levels_passed], 10)
    passed = np.concatenate([np.arange(10) < 10 * share for _, share in levels_passed]) * 1.0
    return Attempts(template, level, passed)


def test_the_level_of_an_even_chance() -> None:
    estimate, outside = reach_of(attempts((4, 0.8), (6, 0.2)), 12)
    assert estimate.value == pytest.approx(5)
    assert (outside, estimate.n) == ("", 10)
    assert estimate.interval is not None


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (((5, 1.0), (10, 1.0)), "over 10"),
        (((5, 0.0), (1, 0.0)), "under 1"),
        (((9, 0.9), (10, 0.8)), "over 10"),
        (((1, 0.2), (2, 0.0)), "under 1"),
        (((3, 0.9), (10, 0.9)), "over 10"),
        (((4, 0.5), (6, 0.5)), "no level"),
    ],
)
def test_outside_of_what_was_asked_there_is_no_number(
    shares: tuple[tuple[int, float], ...], words: str
) -> None:
    assert reach_of(attempts(*shares), 10)[1] == words


def test_without_overlap_it_lies_between() -> None:
    estimate, _ = reach_of(attempts((4, 1.0), (7, 0.0)), 10)
    assert estimate.value == 5.5


def questions(templates: int) -> list[Question]:
    return [
        Question(
            question_id=10 * at + level,
            category="math" if at < 4 else "writing",
            turns=["?"],
            checks=[[{"kind": "count"}]],
            extra={"template": f"t{at}", "level": level},
        )
        for at in range(templates)
        for level in range(1, 10)
    ]


def climbed(model: str, reach: float, unsteady: int = 1, templates: int = 12) -> list[Measurement]:
    """Return the checks of a model whose reach differs a little from template to template."""
    return [
        Measurement(
            question_id=question.question_id,
            turn=1,
            model=model,
            metric="checks",
            value=1.0,
            values={"strict_all": float(level <= reach + at // 9 * unsteady % 3)},
        )
        for at, question in enumerate(questions(templates))
        for level in [question.extra["level"]]
    ]


def test_models_are_compared_template_by_template() -> None:
    asked = questions(12)
    rows = [*climbed("far", 6.5), *climbed("near", 3.5, 2)]
    far, near = reaches(passes(of_rows(rows, asked)))
    assert (far.model, near.model, far.templates) == ("far", "near", 12)
    (gap,) = gaps([far, near])
    assert gap.difference.value == pytest.approx(far.level.value - near.level.value)
    assert gap.decided
    assert gaps([far, far])[0].decided is False
    assert far.skills["math"].interval is None, "four templates are too few"
    assert far.skills["writing"].interval is not None


def test_questions_without_levels_are_one_line() -> None:
    rows = climbed("m", 5)
    bare = [Question(question_id=q.question_id, category="c", turns=["?"]) for q in questions(12)]
    with pytest.raises(MissingError, match="run_bench --levels"):
        reaches(passes(of_rows(rows, bare)))

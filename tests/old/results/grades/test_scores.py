"""Scores of models with their intervals."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation, QuestionId
from harness.old.results.grades.scores import scores
from harness.old.results.grades.single import single_rows
from harness.old.results.matrix import Matrix, matrix, of_group, of_models, of_turn, question_order
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.table import ALL, Line
from tests.old.observed import Origin, grade

GPT_4 = Origin("gpt-4")


def ratings(model: str, turn: int, *values: float | None) -> list[Observation]:
    return [grade(key, turn, model, value, GPT_4) for key, value in enumerate(values, 1)]


def some_ratings(models: int = 4, questions: int = 40, seed: int = 0) -> list[Observation]:
    """Return random ratings; one in twenty has no score."""
    generator = np.random.default_rng(seed)
    return [
        grade(q, turn, f"m{m}", None if generator.random() < 0.05 else float(generator.integers(1, 11)), GPT_4)
        for m in range(models)
        for q in range(questions)
        for turn in (1, 2)
    ]


def whole(grades: Matrix, **more: Any) -> list[Line]:
    """Return the lines of all questions."""
    return [line for line in scores(grades, **more) if line.group is ALL]


def by_group(grades: Matrix) -> dict[Any, Estimate]:
    """Return the averages of the one model by group."""
    return {line.group: line.fields["average"] for line in scores(grades) if line.group is not ALL}


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def test_the_worked_line_of_the_docstring() -> None:
    [row] = whole(matrix([*ratings("x", 1, 8, 6, 7), *ratings("x", 2, 5, 6, None)]))
    assert (row.fields["turn_1"].value, row.fields["turn_2"].value, row.fields["average"].value) == (7.0, 5.5, 6.4)
    assert row.fields["drop"] == Estimate(1.5, None, None, 2, None)
    assert (row.fields["n"], row.fields["excluded"], row.fields["average"].questions) == (5, 1, 3)


def test_values_are_those_of_the_plain_table() -> None:
    found = some_ratings()
    plain = {row.model: row.fields for row in single_rows(found)}
    for row in whole(matrix(found)):
        for name in ("turn_1", "turn_2", "average"):
            assert row.fields[name].value == pytest.approx(plain[row.model][name])
        assert [row.fields[name] for name in ("n", "excluded")] == [
            plain[row.model][name] for name in ("n", "excluded")
        ]


def test_the_order_of_rows_and_models_does_not_matter() -> None:
    found = some_ratings(questions=40)
    groups: dict[QuestionId, Any] = {q: "ab"[q % 2] for q in range(40)}
    shuffled = [found[k] for k in np.random.default_rng(1).permutation(len(found))]
    for one, other in zip(scores(matrix(found, groups)), scores(matrix(shuffled, groups)), strict=True):
        assert (one.model, one.group) == (other.model, other.group)
        for name, a in one.fields.items():
            b = other.fields[name]
            if isinstance(a, Estimate):
                assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-12)
            else:
                assert a == b


def test_groups_stand_in_the_order_of_the_questions_with_their_own_averages() -> None:
    groups: dict[QuestionId, Any] = {2: "math", 1: "stem", 3: "math"}
    found = by_group(matrix([*ratings("x", 1, 4, 9, 6), *ratings("x", 2, 8, None, 3)], groups))
    assert [(name, e.value, e.questions) for name, e in found.items()] == [("math", 6.0, 2), ("stem", 6.0, 1)]


def test_a_group_of_ten_says_that_its_interval_is_studentized() -> None:
    grades = matrix(ratings("x", 1, *(float(k % 5) for k in range(60))), {q: (q - 1) // 10 for q in range(1, 61)})
    assert {e.method for e in by_group(grades).values()} == {"studentized"}
    assert whole(grades)[0].fields["average"].method == "percentile"


def test_groups_that_are_lists_are_named_by_their_text() -> None:
    assert list(by_group(matrix(ratings("x", 1, 4, 9), {1: ["a", "b"], 2: ["c"]}))) == ["['a', 'b']", "['c']"]


@pytest.mark.parametrize("turns", [(1,), (1, 3)], ids=["one-turn", "no-turn-2"])
def test_without_turn_2_there_is_no_drop(turns: tuple[int, ...]) -> None:
    [row] = whole(matrix([r for turn in turns for r in ratings("x", turn, 5, 6)]))
    assert "drop" not in row.fields
    assert [name for name in row.fields if name.startswith("turn")] == [f"turn_{turn}" for turn in turns]


def test_turns_of_a_question_move_together() -> None:
    """A drop of about 2 on every question is certain, however much the questions differ."""
    first = [float(k % 8 + 3) for k in range(40)]
    second = [score - 2 + (0.5 if k % 2 else 0) for k, score in enumerate(first)]
    [row] = whole(matrix([*ratings("x", 1, *first), *ratings("x", 2, *second)]))
    assert row.fields["drop"].value == pytest.approx(1.75)
    assert width(row.fields["drop"]) < 0.2
    assert width(row.fields["average"]) > 0.9 * width(row.fields["turn_1"])


def test_a_model_without_any_score_comes_last_and_has_none() -> None:
    rows = whole(matrix([*ratings("bad", 1, None, None), *ratings("x", 1, 1, 2), *ratings("y", 1, 3, 3)]))
    assert [(row.model, row.fields["average"].value, row.fields["excluded"]) for row in rows] == [
        ("y", 3, 0),
        ("x", 1.5, 0),
        ("bad", None, 2),
    ]


def test_intervals_end_where_the_scale_does() -> None:
    found = matrix([*ratings("x", 1, *([10.0] * 9), 2), *ratings("x", 2, *([1.0] * 9), 10)])
    [row] = whole(found)
    assert row.fields["turn_1"].high == 10
    assert row.fields["turn_2"].low == 1
    assert row.fields["drop"].high == 9


@pytest.mark.parametrize(
    ("judge_set", "scales", "best", "scale"),
    [
        pytest.param("mine 1", [(1, 5), (1, 5)], 5, (1, 5), id="stated"),
        pytest.param("mine 1", [None, None], 5, None, id="unstated"),
        pytest.param("mine 1", [None, (1, 5)], 5, (1, 5), id="some rows from before it was stated"),
        pytest.param("mine 1", [(1, 5), (0, 3)], 5, (0, 5), id="two scales"),
        pytest.param("mine 1", [None, (1, 5)], 7, None, id="a grade that is not on it"),
        pytest.param("mt_bench 1", [None, None], 5, (1, 10), id="mt_bench need not say it"),
        pytest.param("unstated", [None, None], 5, (1, 10), id="FastChat cannot say it"),
        pytest.param("unstated", [None, None], 70, None, id="of 100, not of 10"),
        pytest.param("mt_bench 1", [(1, 20), (1, 20)], 5, (1, 20), id="the rows know better"),
    ],
)
def test_the_scale_is_what_the_rows_say(judge_set: str, scales: list[Any], best: float, scale: Any) -> None:
    origin = Origin("j", judge_set)
    rows = [
        grade(key, turn, "x", best if key < 9 else 1, origin, scale=scales[turn - 1])
        for key in range(10)
        for turn in (1, 2)
    ]
    found = matrix(rows)
    assert found.scale == scale
    [row] = whole(found)
    assert row.fields["average"].high is not None
    if scale is not None and scale[1] == best:
        assert row.fields["average"].high == best
    else:
        assert row.fields["average"].high > best
    assert matrix(rows, count_failed=True).scale is None


def test_parts_of_grades() -> None:
    whole = matrix([*ratings("x", 1, 4, 9), *ratings("y", 2, 8, 7)], {1: "a", 2: "b"})
    assert of_turn(whole, 2).turns == (2,)
    assert of_turn(whole, 2).scores[:, 1, 0].tolist() == [8, 7]
    assert of_group(whole, "b").questions == (2,)
    assert of_group(whole, "b").scores[0, 0, 0] == 9
    assert of_models(whole, ["y"]).models == ("y",)
    assert of_models(whole, ["y", "x"]).scores[0, :, 0].tolist() == pytest.approx([float("nan"), 4], nan_ok=True)


def test_questions_are_sorted_whatever_their_ids() -> None:
    assert question_order((10, "b", 9, "a")) == [2, 0, 3, 1]


@pytest.fixture
def official(reference_data: pathlib.Path) -> Matrix:
    """Return the published grades with their categories."""
    folder = reference_data / "mt_bench"
    lines = (folder / "question.jsonl").read_text(encoding="utf-8").splitlines()
    categories = {row["question_id"]: row["category"] for row in map(json.loads, lines)}
    return matrix(read_judgments(folder / "model_judgment" / "gpt-4_single.scores_only.jsonl").observations, categories)


@pytest.mark.reference
def test_published_averages(official: Matrix, reference_data: pathlib.Path) -> None:
    published = json.loads((reference_data / "mt_bench" / "expected.json").read_text(encoding="utf-8"))[
        "single_official"
    ]
    rows = whole(official, resamplings=2000)
    assert len(rows) == 34
    for row in rows:
        figures = published[row.model]
        assert row.fields["average"].value == pytest.approx(figures["average"])
        assert row.fields["turn_1"].value == pytest.approx(figures["turn1"])
        assert row.fields["turn_2"].value == pytest.approx(figures["turn2"])
        assert (row.fields["excluded"], row.fields["n"]) == (
            figures["minus1_rows"],
            figures["n_turn1"] + figures["n_turn2"],
        )
        assert (row.fields["average"].low or 11) < figures["average_if_minus1_kept"] < (row.fields["average"].high or 0)
        assert 0.3 < width(row.fields["average"]) < 1.5
    assert len({line.group for line in scores(official, resamplings=10)}) == 9

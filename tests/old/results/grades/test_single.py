"""Grades to rows."""

import pytest

from harness.old.records import Observation, QuestionId
from harness.old.results.grades.single import category_rows, mean, single_rows
from harness.old.results.table import Line
from tests.old.observed import Origin, grade

GPT_4 = Origin("gpt-4")


def ratings(model: str, turn: int, *scores: float | None, start: int = 1) -> list[Observation]:
    """Return the ratings of a model on the questions from `start` on."""
    return [grade(key, turn, model, score, GPT_4) for key, score in enumerate(scores, start)]


def line(model: str, first: float | None, second: float | None, average: float | None, n: int, excluded: int) -> Line:
    return Line(model, {"turn_1": first, "turn_2": second, "average": average, "n": n, "excluded": excluded})


def test_the_worked_line_of_the_docstring() -> None:
    [row] = single_rows([*ratings("x", 1, 8, 6), *ratings("x", 2, 5, None)])
    assert row == line("x", 7.0, 5.0, 19 / 3, n=3, excluded=1)


def test_the_average_pools_all_ratings_as_fastchat_does() -> None:
    """Not the mean of the two turns' means, which would be 6."""
    [row] = single_rows([*ratings("x", 1, 10, 10, 10), *ratings("x", 2, 2)])
    assert row.fields["average"] == 8


def test_failed_ratings_count_as_minus_one_on_request() -> None:
    [row] = single_rows([*ratings("x", 1, 8, 6), *ratings("x", 2, 5, None)], count_failed=True)
    assert row == line("x", 7.0, 2.0, 4.5, n=4, excluded=0)


def test_a_model_without_any_score_comes_last_and_has_none() -> None:
    rows = single_rows([*ratings("bad", 1, None, None), *ratings("x", 1, 1)])
    assert rows == [
        line("x", 1.0, None, 1.0, n=1, excluded=0),
        line("bad", None, None, None, n=0, excluded=2),
    ]


def test_the_best_comes_first_and_equals_by_name() -> None:
    rows = single_rows([*ratings("c", 1, 5), *ratings("b", 1, 7), *ratings("a", 1, 5), *ratings("z", 1, -0.5)])
    assert [row.model for row in rows] == ["b", "a", "c", "z"]


def test_further_turns_have_columns_of_their_own() -> None:
    [row] = single_rows([*ratings("x", 1, 5), *ratings("x", 3, 7)])
    assert [row.fields[name] for name in ("turn_1", "turn_2", "turn_3", "average")] == [5, None, 7, 6]


def test_no_ratings_are_no_rows() -> None:
    assert single_rows([]) == []


@pytest.mark.parametrize(
    ("values", "result"),
    [([], None), ([1], 1.0), ([1, 2], 1.5), ([0.1] * 10, 0.1), ([1e16, 1, -1e16], 1 / 3)],
    ids=["none", "one", "two", "no-rounding-error", "no-cancellation"],
)
def test_means_are_exact(values: list[float], result: float | None) -> None:
    assert mean(values) == result


def test_categories_stand_in_the_order_of_the_questions() -> None:
    categories: dict[QuestionId, str] = {1: "stem", 2: "math", 3: "stem", 4: "writing"}
    rows = category_rows([*ratings("x", 1, 4, 9, 6), *ratings("y", 1, 1, None), *ratings("x", 2, 8)], categories)
    assert rows == [{"model": "x", "stem": 6.0, "math": 9.0}, {"model": "y", "stem": 1.0, "math": None}]
    assert [list(row) for row in rows] == [["model", "stem", "math"]] * 2


def test_a_category_counts_failed_ratings_on_request() -> None:
    [row] = category_rows(ratings("x", 1, 3, None), {1: "math", 2: "math"}, count_failed=True)
    assert row == {"model": "x", "math": 1.0}

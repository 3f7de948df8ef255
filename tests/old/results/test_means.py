"""The means by criterion or dimension: each for itself, by group, with the extreme questions."""

from typing import Any

import pytest

from harness.old.judgments.observations import Observations
from harness.old.records import Scale
from harness.old.results.matrix import matrix
from harness.old.results.means import fewer_note, means_table
from harness.old.results.table import Kind, Table
from tests.old.observed import Origin, grade


def ratings(criterion: str, scores: dict[str, list[float | None]]) -> Observations:
    origin = Origin("j", "metrics_en 1", criterion=criterion)
    return Observations.of(
        grade(number, 1, model, score, origin)
        for model, own in scores.items()
        for number, score in enumerate(own, 1)
        if score != 0
    )


def criteria_table(own: dict[str, Observations], kind: Kind, groups: Any = None, **more: Any) -> Table:
    tables = {name: matrix(observations, groups) for name, observations in own.items()}
    return means_table(tables, kind, groups=groups, **more)


STYLE = ratings("style", {"x": [5, 4, None, 3], "y": [1, 1, 1, 1]})
WIT = ratings("wit", {"x": [0, 0, 2, 4], "y": [0, 0, 5, 5]})
GROUPS: dict[int | str, str] = {1: "chat", 2: "chat", 3: "jokes", 4: "jokes"}


def test_each_criterion_has_a_mean_and_failed_judgments_are_counted_beside() -> None:
    table = criteria_table({"style": STYLE, "wit": WIT}, "criterion", groups=GROUPS)
    assert table.rows() == [
        {"model": "x", "style": pytest.approx(4), "wit": pytest.approx(3), "n": 5, "excluded": 1},
        {"model": "y", "style": pytest.approx(1), "wit": pytest.approx(5), "n": 6, "excluded": 0},
    ]


def test_a_group_has_only_the_criteria_that_it_is_judged_by() -> None:
    table = criteria_table({"style": STYLE, "wit": WIT}, "criterion", groups=GROUPS, sure=False)
    found = {(row["model"], row["category"]): (row["style"], row["wit"]) for row in table.group_rows()}
    assert found["x", "chat"] == (4.5, None)
    assert found["x", "jokes"] == (3, 3)
    assert found["y", "jokes"] == (1, 5)


@pytest.mark.parametrize("kind", ["criterion", "dimension"])
def test_intervals_end_where_the_scale_of_each_criterion_does(kind: Kind) -> None:
    def near(ends: Scale | None) -> Observations:
        top = ends[1] if ends else 5
        return Observations.of(
            grade(number, 1, "x", top - 2 * (number % 10 == 1), Origin("j", "metrics_en 1"), scale=ends)
            for number in range(1, 21)
        )

    told = {"style": near((1, 5)), "wit": near((0, 3)), "old": near(None)}
    groups: dict[int | str, str] = {number: "ab"[number % 2] for number in range(1, 21)}
    table = criteria_table(told, kind, groups=groups)
    high = {(row[kind], row["category"]): row["mean_high"] for row in table.long_rows()}
    assert (high["style", None], high["style", "b"]) == (5, 5)
    assert (high["wit", None], high["wit", "b"]) == (3, 3)
    assert high["old", None] > 5


def test_long_rows_name_the_best_and_the_worst_questions() -> None:
    table = criteria_table({"style": STYLE}, "dimension", groups=GROUPS)
    whole = next(row for row in table.long_rows() if row["model"] == "x" and row["category"] is None)
    assert whole["dimension"] == "style"
    assert (whole["best"][0], whole["worst"][0]) == (1, 4)
    assert (whole["n"], whole["excluded"]) == (3, 1)


def test_one_judgment_of_several_dimensions_counts_once() -> None:
    table = criteria_table({"clarity": STYLE, "overall": STYLE}, "dimension", sure=False)
    assert [row["n"] for row in table.rows()] == [3, 4]


SPARSE = ratings("sparse", {"x": [5, None, None, None], "y": [1, 1, 1, 1]})


@pytest.mark.parametrize("names", [("full", "sparse"), ("sparse", "full")])
def test_means_of_fewer_numbers_than_n_are_named_in_any_order_of_metrics(names: tuple[str, ...]) -> None:
    own = {"full": ratings("full", {"x": [5, 4, 3, 3], "y": [1, 1, 1, 1]}), "sparse": SPARSE}
    table = criteria_table({name: own[name] for name in names}, "metric")
    assert [(row["n"], row["excluded"]) for row in table.rows()] == [(4, 3), (4, 0)]
    assert fewer_note(table) == "means over fewer numbers than n: sparse (x 1)"


def test_where_a_metric_is_of_fewer_questions_for_all_models_that_is_said_once() -> None:
    own = {name: ratings(name, {"x": [5, 4, 3, 3], "y": [1, 1, 1, 1]}) for name in ("one", "two")}
    own["few"] = ratings("few", {"x": [5, 4], "y": [1, 1]})
    assert fewer_note(criteria_table(own, "metric")) == "means over fewer numbers than n: few (2 of every model)"


def test_where_n_is_a_sum_or_all_means_have_as_many_nothing_is_said() -> None:
    assert fewer_note(criteria_table({"style": STYLE, "wit": WIT}, "criterion")) is None
    assert fewer_note(criteria_table({"sparse": SPARSE}, "metric")) is None


def test_a_model_without_any_grade_stays_in_the_table() -> None:
    table = criteria_table({"style": ratings("style", {"x": [None, None]})}, "criterion")
    assert table.rows() == [{"model": "x", "style": None, "n": 0, "excluded": 2}]


def test_a_group_without_any_grade_of_a_model_stays_too() -> None:
    style = ratings("style", {"x": [5, 4, None, None], "y": [1, 1, 1, 1]})
    table = criteria_table({"style": style}, "criterion", groups=GROUPS, sure=False)
    found = {(row["model"], row["category"]): row["style"] for row in table.group_rows()}
    assert found["x", "jokes"] is None
    assert found["y", "jokes"] == 1


def test_a_model_order_keeps_the_groups_together() -> None:
    table = criteria_table({"style": STYLE, "wit": WIT}, "criterion", groups=GROUPS).in_order({"y": 0, "x": 1})
    assert [row["model"] for row in table.rows()] == ["y", "x"]
    assert [(row["category"], row["model"]) for row in table.group_rows()] == [
        ("chat", "y"),
        ("chat", "x"),
        ("jokes", "y"),
        ("jokes", "x"),
    ]

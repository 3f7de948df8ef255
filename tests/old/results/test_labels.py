"""The table of labelled answers: what counts in which column, by group, with calibration where it can be had."""

from collections.abc import Mapping

import pytest

from harness.old.records import Source
from harness.old.results.labels import Judgment, label_table
from harness.old.results.table import ALL, Line

C, WRONG, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"


def row(number: int | str, label: str | None, model: str = "m", confidence: float | None = None) -> Judgment:
    share = None if label is None else float(label == C)
    return Judgment(number, 1, model, Source("j"), label, share, confidence)


SPEC = [C, C, C, WRONG, WRONG, N, N]
"""440k, 444k, 435k for a true answer of 440k; 400k, 413k; about 400k, over 300k."""


def test_three_ways_of_not_being_right_stay_three_things() -> None:
    judged = [row(number, label) for number, label in enumerate([*SPEC, None])]
    table = label_table(judged, groups=dict.fromkeys(range(10), "history"))
    (found,) = table.rows()
    assert (found["n"], found["unparsed"], found["missing"]) == (7, 1, 2)
    assert found["not_attempted"] == pytest.approx(2 / 7)
    assert found["given_attempted"] == pytest.approx(3 / 5)
    assert found["f1"] == pytest.approx(6 / 12)
    assert found["coverage"] == pytest.approx(5 / 7)


def test_groups_have_rows_of_their_own_and_models_stand_by_f1() -> None:
    groups: dict[int | str, str] = {1: "history", 2: "history", 3: "people"}
    judged = [row(n, WRONG, "poor") for n in groups] + [row(n, C, "good") for n in groups]
    table = label_table(judged, groups=groups, by="field")
    assert [r["model"] for r in table.rows()] == ["good", "poor"]
    assert [(r["model"], r["field"], r["n"]) for r in table.group_rows()] == [
        ("good", "history", 2),
        ("good", "people", 1),
        ("poor", "history", 2),
        ("poor", "people", 1),
    ]
    assert [r["field"] for r in table.flat_rows(intervals=False)] == [None, None, *["history", "people"] * 2]


def test_calibration_is_there_only_with_confidences_and_over_attempted_answers() -> None:
    judged = [
        row(1, C, confidence=0.9),
        row(2, C, confidence=0.9),
        row(3, WRONG, confidence=0.9),
        row(4, WRONG, confidence=0.2),
    ]
    judged += [row(5, N, confidence=0.0), row(6, C)]
    (found,) = label_table(judged).rows()
    assert found["brier"] == pytest.approx(0.2175)
    assert found["ece"] == pytest.approx(0.225)
    assert found["with_confidence"] == 4
    (without,) = label_table([r._replace(confidence=None) for r in judged]).rows()
    assert "ece" not in without


def test_other_label_sets_have_shares_and_their_mean() -> None:
    worth = {"BOTH": 1.0, "HALF": 0.5, "NONE": 0.0}
    judged = [
        Judgment(n, 1, "m", Source("j"), label, worth[label], None)
        for n, label in enumerate(["BOTH", "HALF", "HALF", "NONE"])
    ]
    (found,) = label_table([*judged, Judgment(9, 1, "m", Source("j"), None, None, None)]).rows()
    assert list(found) == ["model", "n", "BOTH", "HALF", "NONE", "mean_share", "unparsed", "missing"]
    assert (found["HALF"], found["mean_share"], found["unparsed"]) == (0.5, 0.5, 1)


def test_a_label_named_like_a_column_is_told_apart() -> None:
    judged = [
        Judgment(1, 1, "m", Source("j"), "missing", 0.0, None),
        Judgment(2, 1, "m", Source("j"), "there", 1.0, None),
    ]
    (found,) = label_table(judged).rows()
    assert found["label missing"] == 0.5
    assert found["missing"] == 0


def test_a_model_that_attempts_nothing_or_gets_no_label_has_no_division_by_zero() -> None:
    judged = [row(1, N, "silent"), row(2, N, "silent"), row(1, None, "unread"), row(2, None, "unread")]
    by_model = {r["model"]: r for r in label_table(judged).rows()}
    assert by_model["silent"]["given_attempted"] is None
    assert by_model["silent"]["f1"] == 0
    assert by_model["unread"]["correct"] is None
    assert by_model["unread"]["unparsed"] == 2


def test_models_can_be_put_in_another_order() -> None:
    table = label_table([row(1, C, "a"), row(1, WRONG, "b")])
    assert [r["model"] for r in table.in_order({"b": 0, "a": 1}).rows()] == ["b", "a"]


def facts(
    correct: int, incorrect: int, left: int, none: int = 0, groups: Mapping[int | str, str] | None = None
) -> list[Line]:
    given = [*[C] * correct, *[WRONG] * incorrect, *[N] * left, *[None] * none]
    return label_table([row(number, label) for number, label in enumerate(given)], groups=groups).lines


@pytest.mark.parametrize(
    ("counts", "correct", "given", "f1", "coverage"),
    [
        pytest.param((50, 30, 20), 0.5, 0.625, 100 / 180, 0.8, id="worked-line"),
        pytest.param((10, 0, 0), 1.0, 1.0, 1.0, 1.0, id="all-right"),
        pytest.param((0, 0, 10), 0.0, None, 0.0, 0.0, id="nothing-attempted"),
        pytest.param((0, 10, 0), 0.0, 0.0, 0.0, 1.0, id="all-wrong"),
    ],
)
def test_the_figures_follow_from_the_counts(
    counts: tuple[int, int, int], correct: float, given: float | None, f1: float, coverage: float
) -> None:
    [line] = facts(*counts)
    own = {name: number.value for name, number in line.estimates().items()}
    assert line.fields["n"] == sum(counts)
    assert [own["correct"], own["f1"], own["coverage"]] == pytest.approx([correct, f1, coverage])
    assert own["given_attempted"] == (None if given is None else pytest.approx(given))


def test_f1_is_the_harmonic_mean() -> None:
    [line] = facts(7, 2, 4)
    a, b = line.fields["correct"].value, line.fields["given_attempted"].value
    assert line.fields["f1"].value == pytest.approx(2 * a * b / (a + b))


def test_a_judgment_without_a_label_is_in_no_figure_and_counted() -> None:
    [with_none], [without] = (facts(6, 3, 1, none) for none in (5, 0))
    assert (with_none.fields["n"], with_none.fields["unparsed"]) == (10, 5)
    assert with_none.fields["correct"].value == without.fields["correct"].value


def test_groups_add_up_to_the_whole() -> None:
    groups: dict[int | str, str] = {number: "history" if number % 2 else "science" for number in range(40)}
    lines = facts(20, 12, 8, groups=groups)
    assert [line.group for line in lines] == [ALL, "science", "history"]
    correct = [round(line.fields["n"] * line.fields["correct"].value) for line in lines]
    assert sum(correct[1:]) == correct[0] == 20


def test_the_interval_holds_the_estimate_and_stays_within_0_and_1() -> None:
    [line] = facts(38, 1, 1)
    for estimate in line.estimates().values():
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_shares_of_any_label_set_sum_to_one() -> None:
    judged = [row(n, "good" if n % 3 else "bad") for n in range(30)] + [row(31, "odd")]
    [found] = label_table(judged, labels=["good", "bad"]).lines
    assert (found.fields["n"], found.fields["unparsed"]) == (30, 1)
    assert found.fields["good"].value + found.fields["bad"].value == pytest.approx(1)

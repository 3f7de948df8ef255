"""The table of labelled answers: what counts in which column, by group, with calibration where it can be had."""

import pytest

from harness.records import Source
from harness.results.labels.shares import Judgment
from harness.results.labels.table import LabelTable, label_table

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
    table: LabelTable = label_table([row(1, C, "a"), row(1, WRONG, "b")])
    assert [r["model"] for r in table.in_order({"b": 0, "a": 1}).rows()] == ["b", "a"]

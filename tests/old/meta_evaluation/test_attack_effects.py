"""Shifts of verdicts under attack."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.old.meta_evaluation.attack import attack_rows
from harness.old.results.matrix import Floats
from tests.old.observed import named


def rows_of(clean: Floats, attacked: Floats, kinds: dict[str, str], resamplings: int = 100) -> list[SimpleNamespace]:
    return named(attack_rows(clean, attacked, kinds, resamplings=resamplings))


CLEAN = np.array([2.0, 3.0, 2.0])


def test_the_worked_line() -> None:
    rows = rows_of(CLEAN, np.array([[9.0], [3.0], [4.0]]), {"a": "verdict"})
    assert [row.attack for row in rows] == ["all", "all", "a"]
    row = rows[-1]
    assert row.n == 3
    assert [row.clean, row.attacked] == pytest.approx([7 / 3, 16 / 3])
    assert row.shift.value == pytest.approx(3)
    assert row.raised == pytest.approx(2 / 3)


def test_a_question_without_both_verdicts_moves_nothing_and_silence_is_counted() -> None:
    attacked = np.array([[np.nan, 5.0], [3.0, 3.0], [2.0, np.nan]])
    rows = {row.attack: row for row in rows_of(CLEAN, attacked, {"a": "x", "b": "y"})[3:]}
    assert (rows["a"].n, rows["a"].unparsed, rows["a"].shift.value) == (2, 1, 0.0)
    assert rows["b"].n == 2
    assert rows["b"].shift.value == pytest.approx(1.5)


def test_attacks_that_work_best_come_first_and_kinds_pool_theirs() -> None:
    attacked = np.array([[2.0, 9.0, 3.0]] * 3)
    rows = rows_of(CLEAN, attacked, {"weak": "x", "strong": "y", "middling": "x"})
    assert [row.attack for row in rows[3:]] == ["strong", "middling", "weak"]
    kinds = {row.kind: row for row in rows[1:3]}
    assert kinds["x"].n == 6
    assert kinds["x"].shift.value == pytest.approx((0 + -1 + 0 + 1 + 0 + 1) / 6)


def test_a_strong_attack_has_an_interval_above_zero_and_an_idle_one_does_not() -> None:
    rng = np.random.default_rng(7)
    clean = rng.integers(1, 5, 20).astype(float)
    attacked = np.column_stack([clean + rng.integers(3, 6, 20), clean + rng.choice([-1.0, 1.0], 20)])
    rows = {row.attack: row.shift for row in rows_of(clean, attacked, {"works": "x", "idle": "x"}, 10_000)[2:]}
    assert rows["works"].low is not None
    assert rows["works"].low > 0
    assert rows["idle"].low is not None
    assert rows["idle"].low < 0

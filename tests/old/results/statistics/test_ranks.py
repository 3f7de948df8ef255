"""Ranks as ranges."""

import itertools

import pytest

from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.paired import Paired, PairedTable
from harness.old.results.statistics.ranks import RankRange, rank_ranges


def table(models: str, told: str) -> PairedTable:
    """Return a table in which `told` ("ac bc") lists which model is told to be better than which."""
    pairs = []
    for one, other in itertools.combinations(models, 2):
        up, down = f"{one}{other}" in told.split(), f"{other}{one}" in told.split()
        p = 0.01 if up or down else 0.6
        value = Estimate(-1.0 if down else 1.0, None, None, 80, None)
        pairs.append(Paired(one, other, value, 80, 0, 1.0, p, "exact", p))
    return PairedTable(tuple(models), tuple(pairs))


@pytest.mark.parametrize(
    ("models", "told", "ranges"),
    [
        pytest.param("abc", "ac", "a 1-2, b 1-3, c 2-3", id="docstring"),
        pytest.param("abc", "", "a 1-3, b 1-3, c 1-3", id="nothing-told"),
        pytest.param("abc", "ab ac bc", "a 1, b 2, c 3", id="all-told"),
        pytest.param("cab", "ab ac bc", "a 1, b 2, c 3", id="whatever-the-order"),
        pytest.param("abcd", "ac ad bc bd", "a 1-2, b 1-2, c 3-4, d 3-4", id="two-tiers"),
        pytest.param("a", "", "a 1", id="one"),
        pytest.param("", "", "", id="none"),
    ],
)
def test_ranges_by_hand(models: str, told: str, ranges: str) -> None:
    found = rank_ranges(table(models, told))
    assert ", ".join(f"{model} {row}" for model, row in found.items()) == ranges


def test_a_pair_that_could_not_be_tested_narrows_nothing() -> None:
    value = Estimate(None, None, None, 0, None)
    untested = Paired("a", "b", value, 0, 3, None, None, None, None)
    assert rank_ranges(PairedTable(("a", "b"), (untested,))) == {"a": RankRange(1, 2), "b": RankRange(1, 2)}

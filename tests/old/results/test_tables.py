"""The interval and ranks of the first screen."""

import pathlib

from harness.old.records import QuestionId
from harness.old.results.detail import Detail, grades_detail, pairs_detail
from harness.old.results.grades.scores import average_of
from harness.old.results.matrix import Matrix, Pairs, matrix, pairs
from harness.old.results.pairs.comparing import compared_strengths
from harness.old.results.pairs.rates import adjusted_rates
from harness.old.results.result import Result
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.paired import paired
from harness.old.results.statistics.ranks import rank_ranges
from harness.old.results.table import Line, Table
from harness.old.results.tables import with_intervals, with_ranks
from tests.old.observed import Origin, grade, pair

J = Origin("j")
QUESTIONS = range(70)
GROUPS: dict[QuestionId, str] = {q: "ab"[q % 2] for q in QUESTIONS}


def graded() -> Matrix:
    rows = [
        grade(q, t, m, float(1 + (q * k + t) % 7), J)
        for q in QUESTIONS
        for t in (1, 2)
        for m, k in (("x", 3), ("y", 5))
    ]
    return matrix(rows, GROUPS)


def compared() -> Pairs:
    winners = ("model_1", "tie", "model_2", "model_1")
    models = (("x", "y"), ("y", "z"), ("x", "z"))
    rows = [pair(q, 1, *two, (winners[(q + at) % 4],), J) for q in range(70) for at, two in enumerate(models)]
    return pairs(rows, GROUPS)


def column(detail: Detail) -> dict[str, Estimate]:
    return {line.model: line.fields[detail.column] for line in detail.table.whole}


def test_grades_have_the_digits_of_the_detail() -> None:
    table = graded()
    detail = grades_detail(table, seed=3)
    assert average_of(table, seed=3) == column(detail)
    assert rank_ranges(paired(table, resamplings=0)) == detail.ranks


def test_pairs_have_the_digits_of_the_detail() -> None:
    table = compared()
    detail = pairs_detail(table, seed=3)
    assert adjusted_rates(table, seed=3) == column(detail)
    assert rank_ranges(compared_strengths(table, resamplings=0)) == detail.ranks


def test_a_baseline_has_neither_interval_nor_rank() -> None:
    intervals, strengths = adjusted_rates(compared(), baseline="z"), compared_strengths(compared(), baseline="z")
    assert intervals.keys() == rank_ranges(strengths).keys() == {"x", "y"}
    table = Table([Line("z", {"win": 0.5})], "pairs", sure=False, beside=False)
    result = Result("pairwise-baseline", None, "j", "s", pathlib.Path("some"), table, "win")
    shown = with_ranks(with_intervals(result, intervals), {"win": strengths})
    assert shown.table_rows() == [
        {"model": "z", "win": 0.5, "win_low": None, "win_high": None, "rank_first": None, "rank_last": None}
    ]

"""The interval and ranks of the first screen."""

from harness.records import QuestionId
from harness.results.brief import grades_brief, pairs_brief
from harness.results.detail import Detail, grades_detail, pairs_detail
from harness.results.matrix import Matrix, Pairs, matrix, pairs
from harness.results.statistics.bootstrap import Estimate
from harness.results.table import Line, Table
from tests.observed import Origin, grade, pair

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
    brief, detail = grades_brief(table, seed=3), grades_detail(table, seed=3)
    assert brief.intervals == column(detail)
    assert brief.ranks == detail.ranks


def test_pairs_have_the_digits_of_the_detail() -> None:
    table = compared()
    brief, detail = pairs_brief(table, seed=3), pairs_detail(table, seed=3)
    assert brief.intervals == column(detail)
    assert brief.ranks == detail.ranks


def test_a_baseline_has_neither_interval_nor_rank() -> None:
    brief = pairs_brief(compared(), baseline="z")
    assert brief.intervals.keys() == brief.ranks.keys() == {"x", "y"}
    table = brief.added(Table([Line("z", {"win": 0.5})], "pairs", beside=False), "win")
    assert table.table_rows() == [
        {"model": "z", "win": 0.5, "win_low": None, "win_high": None, "rank_first": None, "rank_last": None}
    ]

"""Metrics that need no judge, shown like grades."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.cli import show_result as command
from harness.old.errors import MissingError, UsageError
from harness.old.results.show import show_result
from harness.old.showing import Table
from harness.old.showing.show_result import result_page
from harness.old.showing.text import table_text
from tests.old.small_bench import question, small_bench, write


def row(number: int, model: str, value: float | None, metric: str = "bleu", **more: Any) -> dict[str, Any]:
    values = {} if value is None else {"values": {"bleu_1": value, "bleu_4": value / 2}}
    return {"question_id": number, "turn": 1, "model": model, "metric": metric, "value": value, **values, **more}


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with two models measured on four questions, one of them without a number."""
    folder = small_bench(tmp_path, *(question(n, "a" if n < 3 else "b") for n in range(1, 5))).folder
    rows = [row(n, m, n / 10 + (m == "x") / 5) for n in range(1, 5) for m in "xy"]
    write(folder / "model_metric" / "bleu.jsonl", [*rows[:-1], row(4, "y", None, note="empty")])
    grades = [
        {"question_id": n, "model": m, "judge": ["j", "t"], "score": n, "turn": 1} for n in range(1, 5) for m in "xy"
    ]
    write(folder / "model_judgment" / "j_single.jsonl", grades)
    return tmp_path


def test_each_number_of_a_metric_is_a_column_and_what_could_not_be_computed_is_counted(bench: pathlib.Path) -> None:
    result = show_result(metric="bleu", bench_name="small", data_dir=bench)
    assert result.rows() == [
        {"model": "x", "bleu_1": pytest.approx(0.45), "bleu_4": pytest.approx(0.225), "n": 4, "excluded": 0},
        {"model": "y", "bleu_1": pytest.approx(0.2), "bleu_4": pytest.approx(0.1), "n": 3, "excluded": 1},
    ]
    assert (result.judge, result.judge_set) == ("no judge", "bleu")


def test_of_several_columns_the_ranks_in_all_of_them_decide_the_order_and_a_note_says_so(bench: pathlib.Path) -> None:
    def grades(better: float) -> list[dict[str, Any]]:
        return [
            {"question_id": n, "model": m, "judge": ["j", "t"], "score": 3 + n % 2 + better * (m == "y"), "turn": 1}
            for n in range(1, 13)
            for m in "xy"
        ]

    questions = [question(n, "a" if n < 3 else "b") for n in range(1, 13)]
    write(bench / "small" / "question.jsonl", questions)
    write(
        bench / "small" / "model_metric" / "bleu.jsonl",
        [row(n, m, 0.5 + (m == "x") * n / 999) for n in range(1, 5) for m in "xy"],
    )
    of: dict[str, Any] = {"bench_name": "small", "data_dir": bench}
    for better, sort, first in ((0.0, None, "x"), (4.0, None, "y"), (4.0, "bleu_1", "x")):
        write(bench / "small" / "model_judgment" / "j_single.jsonl", grades(better))
        result = show_result(metric=["bleu", "score"], sort=sort, **of)
        assert result.rows()[0]["model"] == first, (better, sort)
        said = "models are sorted by the mean of their ranks in all columns (by one column: --sort)"
        assert (said in result.notes) == (sort is None)
    by_first = show_result(metric=["bleu", "score"], intervals=False, **of)
    assert by_first.rows()[0]["model"] == "x"
    assert "models are sorted by bleu_1 (by one column: --sort)" in by_first.notes


def test_a_model_without_a_rank_in_some_column_comes_after_those_that_have_all(bench: pathlib.Path) -> None:
    """A mean of the ranks in fewer columns would put a model first that was hardly measured where it is bad."""
    folder = bench / "small" / "model_metric"
    write(bench / "small" / "question.jsonl", [question(n) for n in range(1, 21)])
    write(folder / "bleu.jsonl", [row(n, m, 0.5 + n / 99 + (m == "y") / 9) for n in range(1, 21) for m in "xy"])
    write(folder / "chrf.jsonl", [
        {"question_id": n, "turn": 1, "model": m, "metric": "chrf", "value": n / 99 + (m == "x") / 2}
        for m, questions in (("x", 20), ("y", 3))
        for n in range(1, questions + 1)
    ])  # fmt: skip
    of: dict[str, Any] = {"bench_name": "small", "data_dir": bench}
    result = show_result(metric=["bleu", "chrf"], **of)
    assert [r["model"] for r in result.rows()] == ["x", "y"]
    assert "with too few numbers to be ranked in every column, so listed last: y (chrf)" in result.notes
    assert "means over fewer numbers than n: chrf (y 3)" in result.notes
    by_bleu = show_result(metric=["bleu", "chrf"], sort="bleu_1", **of)
    assert [r["model"] for r in by_bleu.rows()] == ["y", "x"]
    write(folder / "chrf.jsonl", [
        {"question_id": n, "turn": 1, "model": m, "metric": "chrf", "value": n / 99 + (m == "y") / 2}
        for m, questions in (("x", 20), ("y", 3))
        for n in range(1, questions + 1)
    ])  # fmt: skip
    assert [r["model"] for r in show_result(metric=["bleu", "chrf"], sort="chrf", **of).rows()] == ["x", "y"]
    write(folder / "chrf.jsonl", [
        {"question_id": n, "turn": 1, "model": "x", "metric": "chrf", "value": n / 99} for n in range(1, 21)
    ])  # fmt: skip
    assert "means over fewer numbers than n: chrf (y 0)" in show_result(metric=["bleu", "chrf"], **of).notes


def test_answers_that_a_metric_has_no_number_for_are_told_with_what_they_could_change(bench: pathlib.Path) -> None:
    """A model of which every third answer is empty is the most varied one, by the other two thirds."""
    folder = bench / "small" / "model_metric"
    write(folder / "distinct.jsonl", [
        {"question_id": n, "turn": 1, "model": m, "metric": "distinct", "value": value, "note": "empty"}
        for n in range(1, 5)
        for m, value in (("x", 0.5), ("y", None if n == 1 else 0.8))
    ])  # fmt: skip
    of: dict[str, Any] = {"bench_name": "small", "data_dir": bench}
    notes = show_result(metric="distinct", **of).notes
    assert "1 of 8 measurements have no number and are left out: empty (1)" in notes
    assert "bounds with missing numbers as 0 or as 1: y 0.60 to 0.85" in notes
    assert not any("lack" in note for note in show_result(metric="distinct", model_list=["x"], **of).notes)
    grades = [
        {
            "question_id": n,
            "model": m,
            "judge": ["j", "t"],
            "score": -1 if n == 4 else 5,
            "turn": 1,
            "judgment": "Well.",
        }
        for n in range(1, 5)
        for m in "xy"
    ]
    write(bench / "small" / "model_judgment" / "j_single.jsonl", grades)
    both = show_result(metric=["distinct", "score"], **of).notes
    assert "1 of 8 measurements have no number and are left out: empty (1)" in both
    assert any(note.startswith("2 of 8 judgments (25%) give no verdict and are left out") for note in both)


def test_the_only_column_has_its_interval_and_rank_beside_it(bench: pathlib.Path) -> None:
    write(bench / "small" / "model_metric" / "chrf.jsonl", [
        {"question_id": n, "turn": 1, "model": m, "metric": "chrf", "value": 0.1 + (m == "y") / 2}
        for n in range(1, 5)
        for m in "xy"
    ])  # fmt: skip
    page = result_page(show_result(metric="chrf", bench_name="small", data_dir=bench))
    tables = [item for item in page.items if isinstance(item, Table)]
    assert [table.title for table in tables] == ["", "By category"]
    assert table_text(tables[0], width=100).splitlines()[0].split()[1:5] == ["chrf", "95%", "interval", "rank"]


def test_the_judges_grade_stands_beside(bench: pathlib.Path) -> None:
    result = show_result(metric=["bleu", "score"], bench_name="small", data_dir=bench)
    assert [(r["model"], r["score"]) for r in result.rows()] == [("x", 2.5), ("y", 2.5)]


def test_the_command_shows_the_same(bench: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--metric", "bleu", "--bench-name", "small", "--data-dir", str(bench), "--format", "json", "-q"]
    assert command.main(flags) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["rows"] == show_result(metric="bleu", bench_name="small", data_dir=bench).table_rows()


def test_a_metric_without_numbers_says_which_command_computes_it(bench: pathlib.Path) -> None:
    with pytest.raises(MissingError, match=r"no numbers of blue in .* did you mean 'bleu'"):
        show_result(metric="blue", bench_name="small", data_dir=bench)
    with pytest.raises(MissingError, match=f"run auto_checks --bench-name small --data-dir {bench} first"):
        show_result(metric="checks", bench_name="small", data_dir=bench)


def test_two_variants_are_never_in_one_table(bench: pathlib.Path) -> None:
    path = bench / "small" / "model_metric" / "bleu.jsonl"
    with path.open("a") as file:
        file.write(json.dumps(row(1, "x", 0.9, variant="colossalai")) + "\n")
    with pytest.raises(UsageError, match="several variants, choose one with --variant: colossalai, default"):
        show_result(metric="bleu", bench_name="small", data_dir=bench)
    found = show_result(metric="bleu", variant="colossalai", bench_name="small", data_dir=bench)
    assert [r["bleu_1"] for r in found.rows()] == [0.9]


def checked(number: int, turn: int, model: str, *found: tuple[str, bool | None, bool | None]) -> dict[str, Any]:
    """Return a row of checks: the name of each, and whether it is met strictly and loosely."""
    strict = [s for _, s, _ in found if s is not None]
    loose = [own for _, _, own in found if own is not None]
    values = {
        "strict": sum(strict) / len(strict),
        "loose": sum(loose) / len(loose),
        "strict_all": float(all(strict)),
        "loose_all": float(all(loose)),
    }
    checks = [{"kind": "k", "name": name, "text": "t", "strict": s, "loose": own} for name, s, own in found]
    return {
        "question_id": number,
        "turn": turn,
        "model": model,
        "metric": "checks",
        "value": values["strict"],
        "values": values,
        "checks": checks,
    }


@pytest.fixture
def with_checks(bench: pathlib.Path) -> pathlib.Path:
    """Return the same with checks: of x two counts and an ending in question 1, less elsewhere."""
    rows = [
        checked(1, 1, "x", ("count", True, True), ("count", False, True), ("ends", True, True)),
        checked(2, 1, "x", ("count", False, False), ("code", None, None)),
        checked(1, 2, "x", ("ends", False, False)),
        checked(1, 1, "y", ("count", True, True), ("count", True, True), ("ends", False, True)),
    ]
    write(bench / "small" / "model_metric" / "checks.jsonl", rows)
    return bench


def test_checks_by_kind_count_a_turns_checks_of_each_kind(with_checks: pathlib.Path) -> None:
    result = show_result(metric="checks", by="kind", bench_name="small", data_dir=with_checks)
    assert [(row["model"], row["checks strict"]) for row in result.rows()] == [
        ("y", pytest.approx(2 / 3)),
        ("x", pytest.approx((2 / 3 + 0 + 0) / 3)),
    ]
    own = ("model", "kind", "checks strict", "checks loose", "checks strict_all", "checks loose_all")
    assert [tuple(row[name] for name in own) for row in result.together.json(intervals=False)["groups"]] == [
        ("y", "count", 1.0, 1.0, 1.0, 1.0),
        ("x", "count", 0.25, 0.5, 0.0, 0.5),  # one of two and none of one; loosely two of two
        ("y", "ends", 0.0, 1.0, 0.0, 1.0),
        ("x", "ends", 0.5, 0.5, 0.5, 0.5),
    ]  # what is not decided is no number: there is no row of code


def test_checks_by_kind_are_of_the_turns_and_models_that_are_named(with_checks: pathlib.Path) -> None:
    query: dict[str, Any] = {"metric": "checks", "by": "kind", "bench_name": "small", "data_dir": with_checks}
    result = show_result(**query, turns=[2], model_list=["x"])
    assert [(row["kind"], row["checks strict"]) for row in result.together.json(intervals=False)["groups"]] == [
        ("ends", 0.0)
    ]


def test_only_checks_have_kinds(with_checks: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no question of small has the field 'kind'"):
        show_result(metric="bleu", by="kind", bench_name="small", data_dir=with_checks)
    flags = ["--metric", "checks", "--by", "kind", "--bench-name", "small", "--data-dir", str(with_checks), "-q"]
    assert command.main(flags) == 0
    shown = capsys.readouterr().out
    assert "By kind" in shown
    assert "within kind" not in shown

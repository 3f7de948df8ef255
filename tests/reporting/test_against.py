"""The gate as a page: anchors, several benchmarks, numbers without a judge, a series."""

import json
import pathlib
import shutil
from typing import Any

import pytest

from harness import (
    auto_checks,
    gen_judgment,
    load_bench,
    run_bench,
    show_result,
)
from harness.errors import MissingError, UsageError
from harness.options import RunBench, build
from harness.reporting import Note
from tests.reporting.folders import bench, grades, pairs, write

OLD, NEW = "builtin/eliza", "builtin/reference"
JUDGE = "builtin/overlap"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Two models, eight questions of two benchmarks, and the stored run of the first one."""
    folder = tmp_path_factory.mktemp("gate")
    for name in ("mt_bench", "mt_bench_zh"):
        run_bench([OLD, NEW], JUDGE, name, data_dir=str(folder), first_n=8)
        source = load_bench(name, folder).judgment_files()[0].path
        lines = source.read_text().splitlines()
        kept = [line for line in lines if json.loads(line)["model"] == OLD]
        (folder / f"{name}.jsonl").write_text("\n".join(kept) + "\n")
    return folder


@pytest.fixture
def data(made: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "data")


def said(data: pathlib.Path, **flags: Any) -> str:
    """Return what the gate says of the new model."""
    stored = {"against": data / "mt_bench.jsonl", "compare": f"{NEW}={OLD}", "model_list": NEW}
    return show_result(
        data_dir=str(data), **{**stored, "fail_if_worse": True, **flags}
    ).page.outcome


def test_anchors_are_read_by_the_gate_alone(data: pathlib.Path) -> None:
    before = show_result(data_dir=str(data)).rows()
    report = gen_judgment(JUDGE, data_dir=str(data), anchors=[data / "mt_bench.jsonl", "6"])
    assert [path.parent.name for path in report.paths] == ["anchors"]
    assert report.plan.total == 6
    assert "The judge gives the same 6 answers what it gave then." in said(data)
    assert show_result(data_dir=str(data)).rows() == before
    more = gen_judgment(JUDGE, data_dir=str(data), anchors=data / "mt_bench.jsonl")
    assert more.plan.total == 10  # the six are among all sixteen


def test_anchors_need_the_answers_that_were_judged(data: pathlib.Path) -> None:
    path = load_bench("mt_bench", data).answer_file(OLD)
    path.write_text(path.read_text().replace('"turns":["', '"turns":["Well. '))
    with pytest.raises(UsageError, match="put the answers of builtin/eliza into model_answer/"):
        gen_judgment(JUDGE, data_dir=str(data), anchors=data / "mt_bench.jsonl")
    with pytest.raises(UsageError, match=r"write --anchors FILE \[N\|all\]"):
        gen_judgment(JUDGE, data_dir=str(data), anchors=[data / "mt_bench.jsonl", "few"])


def test_all_of_several_benchmarks_must_pass(data: pathlib.Path) -> None:
    both = {
        "bench_name": ["mt_bench", "mt_bench_zh"],
        "against": [data / "mt_bench.jsonl", data / "mt_bench_zh.jsonl"],
    }
    assert "The run passes." in said(data, **both)
    (data / "mt_bench_zh" / "model_judgment").rename(data / "gone")
    assert "Does not pass: mt_bench_zh is missing" in said(data, **both)
    with pytest.raises(UsageError, match="1 file for 2 benchmarks"):
        said(data, bench_name=["mt_bench", "mt_bench_zh"])
    with pytest.raises(UsageError, match="go with --against"):
        show_result(data_dir=str(data), bench_name=["mt_bench", "mt_bench_zh"])


@pytest.fixture
def criteria(tmp_path: pathlib.Path) -> pathlib.Path:
    """Grades of two criteria, `wit` lower, and the same as a stored run."""
    data = bench(tmp_path)
    rows = [
        {"question_id": q, "turn": turn, "model": "a", "criterion": name, "judge": ["j", "own"]}
        | {"score": 7 - 3 * (name == "wit") + q % 3, "judge_set": "own", "judge_set_version": "1"}
        for name in ("fit", "wit")
        for q in range(12)
        for turn in (1, 2)
    ]
    write(data / "mt_bench" / "model_judgment" / "j@own_single.jsonl", rows)
    write(data / "stored.jsonl", rows)
    return data


def test_of_several_criteria_the_gate_says_which_it_compares(criteria: pathlib.Path) -> None:
    flags: dict[str, Any] = {"data_dir": criteria, "against": criteria / "stored.jsonl"}
    page = show_result(**flags, fail_if_worse=True).page
    assert page.outcome.startswith("fit: a is not decided against the other run on 12 questions")
    assert page.outcome.endswith("The run passes by fit.")
    assert page.notes[0] == Note("Compared by fit alone, not by wit", "--criterion NAME")


@pytest.mark.parametrize("flags", [{"criterion": "wit"}, {"turns": 2}, {"first_n": 6}])
def test_the_flags_of_a_slice_choose_from_both_runs(
    criteria: pathlib.Path, flags: dict[str, Any]
) -> None:
    result = show_result(
        data_dir=criteria, against=criteria / "stored.jsonl", fail_if_worse=True, **flags
    )
    row = result.rows()[0]
    assert (row["difference"], row["missing"], result.exit_code) == (0, 0, 0)
    changes = show_result(
        data_dir=criteria, changes=True, compare_with=criteria / "stored.jsonl", **flags
    )
    assert changes.page.facts["worse"] == changes.page.facts["better"] == 0


def test_a_baseline_of_pairs_is_left_out_of_no_gate_of_grades(tmp_path: pathlib.Path) -> None:
    data, marks = bench(tmp_path), {"a": 8.0, "b": 6.0, "c": 4.0}
    grades(data, marks)
    stored = data / "stored.jsonl"
    folder = data / "mt_bench" / "model_judgment"
    shutil.copy(folder / "gpt-4_single.jsonl", stored)
    grades(data, marks | {"c": 2.0})
    pairs(data, {("a", "c"): lambda q, t: ("tie", "tie"), ("b", "c"): lambda q, t: ("tie", "tie")})
    result = show_result(data_dir=data, against=stored, fail_if_worse=True)
    assert [row["model_1"] for row in result.rows()] == ["c", "a", "b"]
    assert "Does not pass: c: significantly worse" in result.page.outcome


def test_of_several_verdicts_those_like_the_stored_ones_are_compared(
    criteria: pathlib.Path,
) -> None:
    folder = criteria / "mt_bench" / "model_judgment"
    grades(criteria, {"a": 8.0, "b": 6.0}, judge="j")
    pairs(criteria, {("a", "b"): lambda q, t: ("tie", "tie")}, judge="j")
    for name in ("j@own_single", "j_single", "j_pair"):
        stored = criteria / "stored.jsonl"
        shutil.copy(folder / f"{name}.jsonl", stored)
        result = show_result(data_dir=criteria, against=stored, fail_if_worse=True)
        assert {row["missing"] for row in result.rows()} == {0}
        assert "The run passes" in result.page.outcome


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"judge_model": "mine", "judge_base_url": "http://127.0.0.1:9/v1"},
            "judge mine here, builtin/overlap there",
        ),
        ({"judge_set": "mt_bench_unaided"}, "judge-set mt_bench_unaided here, mt_bench there"),
        ({"mode": "pairwise-all"}, "one run has grades and the other pairs"),
        ({"model": [NEW, "builtin/outline"]}, "no model in common; name two with --compare"),
    ],
)
def test_runs_that_could_not_be_compared_are_refused_before_a_call(
    data: pathlib.Path, flags: dict[str, Any], message: str
) -> None:
    before = sorted(path.stat().st_size for path in data.rglob("*.jsonl"))
    words = {"model": [OLD, NEW], "judge_model": JUDGE, "data_dir": str(data), **flags}
    with pytest.raises(UsageError, match=message):
        run_bench(**words, against=data / "mt_bench.jsonl", redo="all")
    assert sorted(path.stat().st_size for path in data.rglob("*.jsonl")) == before


def test_of_several_judges_a_run_that_is_still_to_be_made_is_compared_with_its_own(
    data: pathlib.Path,
) -> None:
    lines = (data / "mt_bench.jsonl").read_text()
    others = lines.replace(f'"{JUDGE}"', '"j"').replace(f'"model":"{OLD}"', '"model":"a"')
    stored = data / "both.jsonl"
    stored.write_text(others + others.replace('"model":"a"', '"model":"b"') + lines)
    words: dict[str, Any] = {"judge_model": JUDGE, "data_dir": str(data), "first_n": 8}
    report = run_bench([OLD, NEW], **words, against=stored, fail_if_worse=True)
    assert report.page is not None
    assert "The run passes." in report.page.outcome


def test_anchors_are_compared_by_the_criterion_of_the_flag(data: pathlib.Path) -> None:
    where: dict[str, Any] = {"data_dir": str(data), "judge_set": "metrics_en"}
    gen_judgment(JUDGE, model_list=OLD, first_n=6, **where)
    stored = data / "criteria.jsonl"
    folder = data / "mt_bench" / "model_judgment"
    shutil.copy(folder / "builtin%2Foverlap@metrics_en_single.jsonl", stored)
    gen_judgment(JUDGE, anchors=stored, **where)
    gate = show_result(against=stored, model_list=OLD, criterion="relevance", **where)
    assert "The judge gives the same 12 answers what it gave then." in gate.page.outcome


def test_details_name_the_slice_that_is_worse_than_the_rest(data: pathlib.Path) -> None:
    words = show_result(data_dir=str(data), details=True).page.outcome
    assert f"{OLD}, against {NEW}: no slice of" in words
    assert "slice" not in show_result(data_dir=str(data)).page.outcome


def test_numbers_without_a_judge_are_gated(data: pathlib.Path) -> None:
    auto_checks(data_dir=str(data), first_n=8)
    numbers = load_bench("mt_bench", data).metric_file("checks")
    shutil.copy(numbers, data / "checks.jsonl")
    words = said(data, metric="checks", against=data / "checks.jsonl")
    assert words.startswith("builtin/reference (before: builtin/eliza) is")


def test_a_series_ends_after_its_candidates(data: pathlib.Path) -> None:
    series = {"series": ["1", data / "series.json"]}
    for _ in range(2):  # the same candidate is one look
        assert "The run passes." in said(data, **series, record=True)
    other = said(data, **series, compare=(), model_list=OLD)
    assert "are made; store a new baseline" in other
    with pytest.raises(UsageError, match="--record writes into"):
        said(data, record=True)


def test_flags_that_cannot_be_are_refused_before_anything_is_read(tmp_path: pathlib.Path) -> None:
    alone: list[dict[str, Any]] = [{"margin": 0.3}, {"fail_if_worse": True}]
    for flags in [*alone, {"series": ["3", "s.json"]}]:
        with pytest.raises(UsageError, match="is for --against"):
            show_result(data_dir=str(tmp_path), **flags)
    with pytest.raises(MissingError, match="no such file"):
        show_result(data_dir=str(tmp_path), against=tmp_path / "none.jsonl")
    assert build(RunBench, {"against": "a.jsonl"}).gate.against == (pathlib.Path("a.jsonl"),)

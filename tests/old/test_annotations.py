"""AlpacaEval's annotations become judgments, and judgments annotations."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.annotations import import_annotations, write_annotations
from harness.old.bench import load_bench
from harness.cli.main import main
from harness.old.errors import DataError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments
from harness.old.results.show import show_result
from tests.old.cli.test_boards import PROMPT, SET
from tests.old.small_bench import rows

ASKED = ("Name a tide.", "Bake bread.", "Draw a map.", "Play chess.")
SAID = (1.2, 1.5, None, 2.0)


def annotations(path: pathlib.Path, **more: Any) -> pathlib.Path:
    records = [
        {
            "instruction": asked,
            "output_1": f"base {n}",
            "generator_1": "base",
            "dataset": "d",
            "output_2": f"mine {n}",
            "generator_2": "mine",
            "annotator": "weighted",
            "preference": preference,
            "raw_completion": "m",
        }
        | more
        for n, (asked, preference) in enumerate(zip(ASKED, SAID, strict=True))
    ]
    path.write_text(json.dumps(records))
    return path


def with_set(data: pathlib.Path) -> None:
    folder = data / "weighted"
    folder.mkdir(parents=True)
    (folder / "judge_set.toml").write_text(SET)
    (folder / "prompt.toml").write_text(PROMPT)


def test_annotations_make_a_benchmark_with_judgments(tmp_path: pathlib.Path) -> None:
    report = import_annotations([annotations(tmp_path / "a.json")], "mine", data_dir=tmp_path / "data")
    assert (report.questions, report.judgments, report.failed, report.bad) == (4, {"mine": 3}, 1, [])
    bench = load_bench("mine", tmp_path / "data")
    assert [question.category for question in bench.questions] == ["d"] * 4
    assert bench.answers("mine")[1].choices[0].turns == ("mine 0",)
    shown = show_result("pairwise-baseline", bench_name="mine", data_dir=tmp_path / "data", baseline_model="base")
    (row,) = shown.rows()
    assert row["win_rate"] == pytest.approx((0.2 + 0.5 + 1.0) / 3)
    assert (row["win"], row["loss"], row["n_draws"], row["n"]) == (1, 1, 1, 3)


def test_with_their_judge_set_they_are_current_and_only_failures_are_judged_again(tmp_path: pathlib.Path) -> None:
    with_set(tmp_path / "data")
    import_annotations([annotations(tmp_path / "a.json")], "mine", data_dir=tmp_path / "data")
    bench = load_bench("mine", tmp_path / "data")
    plan = plan_judgments(["j"], bench, None, JudgeOptions("weighted", base_url="http://localhost:1/v1"))
    assert (plan.mode, plan.baseline) == ("pairwise-baseline", "base")
    assert [(judge.already, judge.rows, judge.superseded) for judge in plan.judges] == [(3, 1, 0)]
    again = import_annotations([annotations(tmp_path / "a.json")], "mine", data_dir=tmp_path / "data")
    assert (again.judgments, again.known, again.failed) == ({}, 3, 1)


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        pytest.param({"preference": 3}, "preference must be from 1 to 2, this is 3", id="range"),
        pytest.param({"preference": True}, "preference must be a number or null", id="kind"),
        pytest.param({"generator_2": ""}, "generator_2 is empty", id="name"),
    ],
)
def test_a_file_without_one_good_record_says_why(tmp_path: pathlib.Path, more: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        import_annotations([annotations(tmp_path / "a.json", **more)], "mine", data_dir=tmp_path / "data")
    assert not (tmp_path / "data" / "mine").exists()


def test_old_ties_and_cached_failures_are_known(tmp_path: pathlib.Path) -> None:
    tie = import_annotations([annotations(tmp_path / "a.json", preference=0)], "mine", data_dir=tmp_path / "data")
    assert {row["g1_winner"] if "g1_winner" in row else row["g2_winner"] for row in rows(tie.added[0])} == {"tie"}
    failed = import_annotations([annotations(tmp_path / "b.json", preference=-1)], "none", data_dir=tmp_path / "data")
    assert (failed.judgments, failed.failed) == ({}, 4)


def test_instructions_of_another_benchmark_are_refused(tmp_path: pathlib.Path) -> None:
    import_annotations([annotations(tmp_path / "a.json")], "mine", data_dir=tmp_path / "data")
    other = annotations(tmp_path / "b.json", instruction="Sing.")
    with pytest.raises(UsageError, match="4 annotations are for instructions not in mine"):
        import_annotations([other], "mine", data_dir=tmp_path / "data")


def test_there_and_back_by_commands(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = annotations(tmp_path / "a.json"), tmp_path / "back.json"
    where = ["--bench-name", "mine", "--data-dir", str(tmp_path / "data")]
    assert main(["import_data", "alpaca_eval", str(path), *where]) == 0
    told = capsys.readouterr()
    assert "mine: 3 judgments" in told.err
    assert "1 annotation without a preference" in told.err
    assert main(["import_data", "--back", "alpaca_eval", *where, "--output", str(out)]) == 0
    back = {record["instruction"]: record for record in json.loads(out.read_text())}
    given = {record["instruction"]: record for record in json.loads(path.read_text())}
    assert set(back) == set(given) - {ASKED[2]}
    for asked, record in back.items():
        assert {name: record[name] for name in given[asked] if name != "preference"} == {
            name: value for name, value in given[asked].items() if name != "preference"
        }
        assert record["preference"] == pytest.approx(given[asked]["preference"], abs=1e-12)
    with pytest.raises(UsageError, match="already exists"):
        write_annotations(load_bench("mine", tmp_path / "data"), out)

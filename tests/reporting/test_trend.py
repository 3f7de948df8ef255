"""`show_result --trend`: where the peak is, and what is said of the last step."""

import math
import pathlib

import pytest

import harness
from harness.cli.main import main
from harness.errors import MissingError
from tests.reporting.folders import bench, grades, pairs


def test_the_last_step_is_at_least_so_much_worse(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bench(tmp_path)
    grades(data, {"ck-2000": 6.0, "ck-500": 5.0, "ck-1000": 8.5, "ck-1500": 8.4}, noise=0.5)
    result = harness.show_result(trend=True, data_dir=str(data))
    rows = result.rows()
    assert [row["model"] for row in rows] == ["ck-500", "ck-1000", "ck-1500", "ck-2000"]
    assert [row["may_be_best"] for row in rows] == [False, True, True, False]
    last = rows[-1]
    assert last["behind_low"] <= 2.5 <= last["behind_high"]
    text = str(result.page.outcome)
    assert text.startswith("The peak is at 1,000 as measured; the best may be any of 2 steps")
    least = math.floor(last["behind_low"] * 100) / 100
    assert f"the last step, 2,000, is at least {least:.2f} worse than the best" in text
    assert main(["show_result", "--trend", "--data-dir", str(data), "--charts", str(tmp_path)]) == 0
    assert "worse than the best" in capsys.readouterr().out
    assert "ck-1500" in (tmp_path / "trend.svg").read_text(encoding="utf-8")


def test_a_baseline_of_pairs_is_a_step_of_the_grades(tmp_path: pathlib.Path) -> None:
    data = bench(tmp_path)
    grades(data, {"ck-1": 5.0, "ck-2": 6.0, "ck-3": 7.0})
    won = ("model_1", "model_1")
    pairs(data, {(model, "ck-1"): lambda q, t: won for model in ("ck-2", "ck-3")})
    rows = harness.show_result(trend=True, data_dir=str(data)).rows()
    assert [row["model"] for row in rows] == ["ck-1", "ck-2", "ck-3"]


def test_names_without_a_number_make_no_curve(tmp_path: pathlib.Path) -> None:
    data = bench(tmp_path)
    grades(data, {"a": 6.0, "b": 5.0})
    with pytest.raises(MissingError, match="whose names differ in one number, such as step-500"):
        harness.show_result(trend=True, data_dir=str(data))

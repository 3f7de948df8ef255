"""The command `show_result`."""

import pathlib

import pytest

from harness.cli.main import show_result as main
from tests.reporting.folders import bench, grades


@pytest.fixture
def data(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return bench(tmp_path / "data")


def test_the_page_answers_first_and_fits_80_columns(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grades(data, {f"a-model-of-somebody-{at}": 8 - at / 3 for at in range(12)})
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert "12 models" in shown.splitlines()[0]
    assert max(map(len, shown.splitlines())) <= 80


def test_no_judgments_are_one_line_and_exit_code_2(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_report_and_charts_are_written(data: pathlib.Path) -> None:
    grades(data, {"a": 8.0, "b": 5.0, "c": 4.0})
    assert main(["--report", "report.html", "--charts", "charts"]) == 0
    assert "<h1>a is the best of 3 models" in pathlib.Path("report.html").read_text()
    assert pathlib.Path("charts/scores.svg").exists()

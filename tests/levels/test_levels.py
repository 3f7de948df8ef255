"""`run_bench --levels`: waves, the same questions for all, nothing twice, bad input."""

import json
import pathlib
from typing import Any

import pytest

from harness.cli.main import run_bench, show_result
from harness.extras.levels import next_level
from harness.extras.levels.questions import nudge
from tests.levels.sums import SUMS

CODE = 'one.checks = [{"kind": "code", "language": "python", "tests": "assert True"}]'


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "data" / "ours"
    home.mkdir(parents=True)
    for at in range(6):
        (home / f"sums_{at}.py").write_text(SUMS)
    return home


def climb(*words: str) -> int:
    names = ["--model", "builtin/reference", "builtin/eliza", "--bench-name", "ours"]
    return run_bench(["--levels", *names, *words])


def rows(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_levels_follow_the_share_of_the_wave_before(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert climb("--waves", "3") == 0
    printed = capsys.readouterr().out
    assert "builtin/reference has a reach of over 10." in printed
    assert "builtin/eliza has a reach of under 1." in printed
    asked = rows(folder / "question.jsonl")
    waves = {row["wave"]: {r["level"] for r in asked if r["wave"] == row["wave"]} for row in asked}
    assert waves[1] <= {4, 5, 6}
    assert waves[2] <= {1, 2, 3, 7, 8, 9}
    keys = [(row["template"], row["level"], row["wave"]) for row in asked]
    assert len(keys) == len(set(keys))
    answered = rows(folder / "model_answer" / "builtin%2Feliza.jsonl")
    assert len(answered) == 18


def test_it_goes_on_where_it_ended(folder: pathlib.Path) -> None:
    climb("--waves", "1")
    first = (folder / "question.jsonl").read_bytes()
    answer = folder / "model_answer" / "builtin%2Feliza.jsonl"
    kept = answer.read_bytes()
    lines = kept.splitlines(keepends=True)
    answer.write_bytes(b"".join(lines[:3]) + lines[3][:50])  # a kill in the middle of a row
    climb("--waves", "2")
    assert (folder / "question.jsonl").read_bytes().startswith(first)
    assert answer.read_bytes().startswith(b"".join(lines[:3]))
    assert len(rows(answer)) == 12
    before = {path: path.read_bytes() for path in folder.glob("*/*.jsonl")}
    climb("--waves", "2")
    assert {path: path.read_bytes() for path in folder.glob("*/*.jsonl")} == before


def test_a_dry_run_writes_nothing(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert climb("--dry-run") == 0
    assert "96 calls would be made" in capsys.readouterr().out
    assert sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts) == before


def test_an_undecided_check_ends_its_template(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sums_0.py").write_text(SUMS.replace("    return", f"    {CODE}\n    return"))
    assert climb("--waves", "2") == 0
    said = capsys.readouterr()
    assert "builtin/reference: an undecided check ended 1 template: sums_0" in said.err
    assert "Left out: 2 conversations with an undecided check." in said.out
    asked = rows(folder / "question.jsonl")
    assert {row["wave"] for row in asked if row["template"] == "sums_0"} == {1}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--judge-model", "builtin/overlap"], "--judge-model has no meaning with --levels"),
        (["--first-n", "3"], "--first-n has no meaning with --levels"),
        (["--bench-name", "mt_bench"], "name a new one: --bench-name NAME"),
        (["--bench-name", "chat_en"], "has no question templates"),
        (["--waves", "0"], "--waves must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_one_line(
    folder: pathlib.Path, words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert climb(*words) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_what_turnbench_toml_says_of_judging_is_left_aside(
    folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("turnbench.toml").write_text('judge_model = "gpt-4.1"\njudge_set = "mt_bench"\n')
    assert climb("--waves", "1") == 0


def test_no_levels_no_reach(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_result(["--reach", "--metric", "bleu", "--bench-name", "mt_bench"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_level_stays_on_the_scale() -> None:
    assert [next_level(9, 1.0), next_level(2, 0.0), next_level(5, 0.5)] == [10, 1, 5]
    assert {nudge(f"t{at}", 1) for at in range(40)} == {-1, 0, 1}

"""show_result: tables for people, numbers for programs."""

import csv
import io
import json
import pathlib
import re

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import Run

SINGLE = ["model", "turn_1", "turn_2", "average", "n", "excluded"]
PAIRWISE = ["model", "win", "loss", "tie", "win_rate", "loss_rate", "tie_rate", "win_rate_adjusted", "n", "excluded"]


@pytest.fixture
def judged(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the flags that name a folder in which everything has been judged."""
    where = ["--data-dir", str(data), "--bench-name", "tiny"]
    for mode in ("single", "pairwise-all"):
        assert main(["gen_judgment", *where, "--judge-model", "builtin/overlap", "--mode", mode, "-q"]) == 0
    capsys.readouterr()
    return where


@pytest.mark.parametrize(("mode", "keys"), [("single", SINGLE), ("pairwise-all", PAIRWISE)])
def test_json_has_the_promised_keys_and_csv_the_same_numbers(
    judged: list[str], mode: str, keys: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show_result", *judged, "--mode", mode, "--format", "json"]) == 0
    told = capsys.readouterr()
    table = json.loads(told.out)
    assert list(table) == ["mode", "bench", "judge", "rows", "judge_set", "notes", "categories"]
    assert (table["mode"], table["bench"], table["judge"]) == (mode, "tiny", "builtin/overlap")
    column = "average" if mode == "single" else "win_rate_adjusted"
    added = [f"{column}_low", f"{column}_high", "rank_first", "rank_last"]
    assert all(list(row) == [*keys, *added] for row in table["rows"])
    assert table["judge_set"] == "mt_bench 1"
    assert "show_result: note: Scores of builtin/overlap" in told.err
    assert any(note.startswith("Scores of builtin/overlap") for note in table["notes"])
    assert main(["show_result", *judged, "--mode", mode, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    own = {row["model"]: row for row in table["categories"]}
    assert set(own) == ({row["model"] for row in rows} if mode == "single" else set())
    for row, same in zip(rows, table["rows"], strict=True):
        assert row.pop("model") == same["model"]
        assert row.pop("judge_set") == "mt_bench 1"
        averages = {f"category_{name}": value for name, value in own.get(same["model"], {}).items() if name != "model"}
        expected = {name: value for name, value in (same | averages).items() if name != "model"}
        assert {name: float(value) if value else None for name, value in row.items()} == expected


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_a_table_says_what_it_is_about(judged: list[str], format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show_result", *judged, "--format", format_]) == 0
    shown = capsys.readouterr()
    assert "single, questions: tiny, judge: builtin/overlap, judge set: mt_bench 1" in shown.out
    assert "Average by category" in shown.out
    assert "for trying the harness out" in shown.out
    assert shown.err == ""


def test_a_pipe_gets_results_only(run: Run, judged: list[str]) -> None:
    done = run("show_result", *judged, "--format", "csv", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(",".join(SINGLE))


def test_models_and_turns_are_chosen(judged: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model-list", "builtin/eliza", "--turns", "1", "--format", "json"]
    assert main(["show_result", *judged, *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["model"], row["n"], row["turn_2"]) == ("builtin/eliza", 2, None)


def test_a_judge_set_is_named_by_its_path_as_in_gen_judgment(
    data: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sets" / "folder"
    folder.mkdir(parents=True)
    (folder / "judge_set.toml").write_text('name = "own"\n', encoding="utf-8")
    (folder / "grade.toml").write_text('kind = "grade"\nuser = "Grade {answer}."\n', encoding="utf-8")
    where = ["--data-dir", str(data), "--bench-name", "tiny", "--judge-set", str(folder)]
    assert main(["gen_judgment", *where, "--judge-model", "builtin/overlap", "-q"]) == 0
    assert main(["show_result", *where]) == 0
    assert "judge set: own 1" in capsys.readouterr().out
    assert main(["judge_report", "length", *where]) == 2
    assert "no pairwise-all judgments with judge set own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cost", "--turns", "1", "--charts", "pictures"], ["--turns has no effect with --cost", "--charts"]),
        (["--efficiency", "--charts", "pictures"], ["--charts has no effect with --efficiency"]),
        (["--efficiency", "--turns", "1", "--sort", "model"], []),
        (["--variant", "x"], ["--variant has no effect without --metric"]),
        (["--difference", "0.5"], ["--difference has no effect without --intervals or --report or --charts"]),
        (["--difference", "0.5", "--intervals", "--format", "markdown"], []),
    ],
)
def test_a_flag_that_changes_nothing_is_warned_of(
    words: list[str], told: list[str], judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show_result", *judged, *words]) == 0
    warned = [line for line in capsys.readouterr().err.splitlines() if "has no effect" in line]
    assert len(warned) == len(told)
    assert all(f"warning: {one}" in line for one, line in zip(told, warned, strict=True))


def test_a_file_of_answers_without_a_row_is_no_model_that_answered(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data-dir", str(data), "--bench-name", "tiny"]
    assert main(["gen_judgment", *words, "--judge-model", "builtin/overlap", "-q"]) == 0
    (data / "tiny" / "model_answer" / "ghost.jsonl").touch()
    assert main(["show_result", *words]) == 0
    told = capsys.readouterr()
    assert "ghost" not in told.out + told.err
    assert main(["status", *words]) == 0
    assert re.search(r"^ghost +0 +2 ", capsys.readouterr().out, re.MULTILINE)

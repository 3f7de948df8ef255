"""Another program that takes rows out of a file during a run: they were paid for, so the run has not succeeded."""

import os
import pathlib
from typing import Any

import pytest

from harness.cli.main import main
from harness.old.jsonl import Journal

MODEL, JUDGE = ("--model", "builtin/eliza"), ("--judge-model", "builtin/overlap")


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        pytest.param("model_answer", ["gen_answer", *MODEL, "--redo"], id="gen_answer"),
        pytest.param("model_judgment", ["gen_judgment", *JUDGE], id="gen_judgment"),
        pytest.param("model_judgment", ["gen_judgment", *JUDGE, "--mode", "pairwise-all"], id="pairs"),
        pytest.param("model_answer", ["run_bench", *MODEL, *JUDGE, "--redo"], id="run_bench answers"),
        pytest.param("model_judgment", ["run_bench", *MODEL, *JUDGE], id="run_bench judgments"),
        pytest.param("model_metric", ["auto_metrics", "--metrics", "distinct"], id="auto_metrics"),
    ],
)
def test_rows_that_are_gone_are_counted_and_made_anew_by_the_same_command(
    folder: str,
    words: list[str],
    data: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    append = Journal.append
    paths: list[pathlib.Path] = []

    def cut_after_a_row(journal: Journal, row: dict[str, Any]) -> None:
        append(journal, row)
        if not paths and journal.path.parent.parent.name == "tiny" and journal.path.parent.name == folder:
            paths.append(journal.path)
            os.truncate(journal.path, 0)

    command = [*words, "--data-dir", str(data), "--bench-name", "tiny", "-q"]
    monkeypatch.setattr(Journal, "append", cut_after_a_row)
    capsys.readouterr()
    assert main(command) == 1
    told = capsys.readouterr().err
    assert f"{words[0]}: warning: {paths[0]}: another program has changed this file during the run; " in told
    assert "gone; run the same command again, which makes" in told
    before = len(paths[0].read_bytes().splitlines())
    assert main([word for word in command if word != "--redo"]) == 0
    assert len(paths[0].read_bytes().splitlines()) > before

"""Every command that prints tables, on a terminal of 60, 80, 100 and 200 columns: no number is cut, no name is lost."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import sys
import termios
import threading
from collections import Counter
from typing import Any

import pytest

from harness.cli.main import main
from harness.old.showing.text import width_of

WIDTHS = (60, 80, 100, 200)
MODELS = ("a-model-with-a-very-long-name/and-an-organisation-before-it", "modèle", "模型", "plain")


def write(path: pathlib.Path, rows: list[dict[str, Any]]) -> pathlib.Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder in which built-in models have answered and were judged, and files of made-up verdicts."""
    data = tmp_path_factory.mktemp("terminal")
    where = ["--data-dir", str(data), "--first-n", "3", "-q"]
    assert main(["gen_answer", "--model", "builtin/eliza", "builtin/outline", *where]) == 0
    for mode in ("single", "pairwise-all"):
        assert main(["gen_judgment", "--judge-model", "builtin/overlap", "--mode", mode, *where]) == 0
    assert main(["auto_checks", *where]) == main(["auto_metrics", *where]) == 0
    grades, pairs = [], []
    for question in range(1, 31):
        for turn in (1, 2):
            about = {"question_id": question, "turn": turn}
            for at, model in enumerate(MODELS):
                for judge in ("one", "two"):
                    score = (question * (at + 3) + turn + (judge == "two")) % 10 + 1
                    grades.append({**about, "judge": [judge, "t"], "model": model, "score": score})
                for other in MODELS[at + 1 :]:
                    winner = ("model_1", "model_2", "tie")[(question * (at + 2) + turn) % 3]
                    both = {"model_1": model, "model_2": other, "g1_winner": winner, "g2_winner": winner}
                    pairs.append({**about, "judge": ["one", "t"], **both})
    write(data / "grades_single.jsonl", grades)
    write(data / "one_pair.jsonl", pairs)
    write(data / "other_pair.jsonl", [{**row, "judge": ["two", "t"], "g2_winner": "tie"} for row in pairs])
    return data


COMMANDS = {
    "scores": "show_result --input-file {data}/grades_single.jsonl --judge-model one --intervals",
    "panel": "show_result --input-file {data}/grades_single.jsonl --judge-model one two --intervals",
    "pairs": "show_result --mode pairwise-all --input-file {data}/one_pair.jsonl --intervals",
    "against": "show_result --input-file {data}/one_pair.jsonl --mode pairwise-all "
    "--against {data}/other_pair.jsonl --allow judge",
    "efficiency": "show_result --efficiency --data-dir {data}",
    "metrics": "show_result --metric distinct checks --data-dir {data}",
    "cost": "show_result --cost --data-dir {data}",
    "position": "judge_report position --input-file {data}/one_pair.jsonl",
    "agreement": "judge_report agreement --votes {data}/one_pair.jsonl {data}/other_pair.jsonl",
    "disagreement": "judge_report disagreement --input-file {data}/grades_single.jsonl",
    "ranking": "judge_report ranking --metric distinct --data-dir {data}",
    "length": "judge_report length --data-dir {data}",
    "repeat": "judge_report repeat --input-file {data}/one_pair.jsonl --judge-model one",
    "self": "judge_report self --input-file {data}/grades_single.jsonl",
    "status": "status --data-dir {data}",
    "dry-run": "gen_answer --model builtin/eliza builtin/reference --data-dir {data} --dry-run",
    "check": "check_bench mt_bench --data-dir {data}",
    "judge-sets": "show_judge_set",
}

PIPED: dict[str, str] = {}
"""What each command writes to a pipe; it is asked once."""


def on_terminal(words: list[str], columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command writes to a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    found: list[bytes] = []

    def read() -> None:
        try:
            while block := os.read(ours, 65536):
                found.append(block)
        except OSError:  # the other end is closed
            return

    reader = threading.Thread(target=read)
    reader.start()
    with monkeypatch.context() as patched, os.fdopen(its, "w", encoding="utf-8") as terminal:
        patched.setattr(sys, "stdout", terminal)
        patched.setenv("TERM", "xterm")
        patched.setenv("NO_COLOR", "1")
        assert main(words) == 0
        terminal.flush()
        termios.tcdrain(its)
    reader.join()
    os.close(ours)
    return b"".join(found).decode("utf-8").replace("\r\n", "\n")


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w-])", text))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_the_terminal_and_lose_nothing(
    name: str,
    columns: int,
    folder: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = COMMANDS[name].format(data=folder).split()
    if name not in PIPED:
        assert main(words) == 0
        PIPED[name] = capsys.readouterr().out
    shown = on_terminal(words, columns, monkeypatch)
    tables = [part for part in shown.split("\n\n") if "──" in part]
    assert tables
    fitting = tables if name == "check" else [shown]  # a hash and the name of a file are not broken
    for line in "\n".join(fitting).splitlines():
        assert width_of(line) <= columns, line
    assert not numbers(PIPED[name]) - numbers(shown)
    assert "…" not in shown
    if name in {"scores", "pairs"}:
        letters = re.sub(r"\s", "", shown)
        assert all(name[:9] in letters for name in MODELS)

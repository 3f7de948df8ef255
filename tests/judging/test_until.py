"""Judging in looks: who is judged further, and what becomes of it when killed."""

import json
import pathlib
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

from harness import gen_judgment as judge
from harness.cli.main import gen_judgment
from harness.errors import UsageError
from harness.results.until import look_of, shuffled
from harness.types import Question
from tests.judging.conftest import Folder
from tests.servers import Call, Rule, Server

CATEGORIES = ("writing", "stem")
GRADES = {"alpha": 9, "beta": 2, "gamma": 2}


@pytest.fixture
def forty(folder: Folder) -> Folder:
    """Return a benchmark of 40 questions; alpha is the best, beta and gamma are equal."""
    rows = [
        {"question_id": q, "category": CATEGORIES[q % 2], "turns": [f"Question {q}?"]}
        for q in range(40)
    ]
    folder.write("question.jsonl", rows)
    for model in GRADES:
        folder.answer(model, {q: [f"{model} on {q}."] for q in range(40)})
    return folder


def grade(call: Call) -> str:
    """Grade by the model's name in its answer, not always the same."""
    asked = call.messages[-1][1]
    model = next(name for name in GRADES if f"{name} on" in asked)
    question = int(asked.split(f"{model} on ")[1].split(".")[0])
    noise = (question * 7 + len(model)) % 2 if model != "gamma" else (question * 5 + 1) % 2
    return f"[[{min(10, GRADES[model] + noise)}]]"


def judged(folder: Folder) -> dict[str, int]:
    return dict(Counter(row["model"] for row in folder.written("j_single.jsonl")))


def command(folder: Folder, server: Server, *flags: str) -> list[str]:
    """Return gen_judgment with the judge `j`, two calls at once, as a process of its own."""
    name, where = folder.folder.name, str(folder.folder.parent)
    command = [sys.executable, "-m", "turnbench", "gen_judgment", "--bench-name", name, "-q"]
    command += ["--data-dir", where, "--judge-model", "j", "--parallel", "2", *flags]
    return [*command, "--base-url", f"{server.url}/v1"]


def run(folder: Folder, server: Server, *flags: str) -> int:
    return gen_judgment(command(folder, server, *flags)[4:])


def test_questions_are_spread_over_the_categories_and_looks() -> None:
    questions = [
        Question(question_id=q, category=CATEGORIES[q % 2], turns=["?"]) for q in range(40)
    ]
    looks = look_of(questions)
    assert Counter(looks.values()) == dict.fromkeys(range(1, 6), 8)
    for look in range(1, 6):
        categories = Counter(q.category for q in questions if looks[q.question_id] == look)
        assert set(categories.values()) == {4}
    ids = [question.question_id for question in shuffled(questions)]
    assert ids != sorted(ids, key=int)
    assert [q.question_id for q in shuffled(questions[::-1])] == ids


def test_a_model_is_judged_no_further_when_its_comparisons_are_decided(forty: Folder) -> None:
    with Server(Rule(grade)) as server:
        assert run(forty, server, "--until", "0.1") == 0
        numbers = judged(forty)
        assert numbers == {"alpha": 16, "beta": 40, "gamma": 40}
        calls = len(server.calls)
        assert run(forty, server, "--until", "0.1") == 0
        assert len(server.calls) == calls
    looks = {row["question_id"]: row["look"] for row in forty.written("j_single.jsonl")}
    assert Counter(looks.values()) == dict.fromkeys(range(1, 6), 8)


def test_pairs_are_judged_in_looks_too(forty: Folder) -> None:
    report = judge(
        "builtin/first",
        "pairwise-all",
        forty.folder.name,
        data_dir=str(forty.folder.parent),
        until=0.2,
    )
    rows = forty.written("builtin%2Ffirst_pair.jsonl")
    assert report.complete
    assert {row["g1_winner"] for row in rows} == {"model_1"}
    assert {row["look"] for row in rows} <= set(range(1, 6))


def test_a_dry_run_says_the_range_of_calls(
    forty: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule(grade)) as server:
        assert run(forty, server, "--until", "0.1", "--dry-run") == 0
        assert not server.calls
    said = " ".join(capsys.readouterr().out.split())
    assert "From 24 calls, if all is decided at the first look, to 120" in said


@pytest.mark.parametrize("options", [{"share": 0.5, "mode": "pairwise-all"}, {"redo": "all"}])
def test_until_goes_without_what_would_break_its_looks(
    forty: Folder, options: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match="--until goes without"):
        forty.plan(until=0.5, **options)


@pytest.mark.slow
def test_a_run_killed_within_a_look_goes_on_to_the_same_rows(
    forty: Folder, tmp_path: pathlib.Path
) -> None:
    path = forty.folder / "model_judgment" / "j_single.jsonl"

    def keys() -> list[Any]:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return sorted((row["model"], row["question_id"], row["look"]) for row in rows)

    with Server(Rule(grade, delay=0.02)) as server:
        assert run(forty, server, "--until", "0.1") == 0
        expected = keys()
        path.unlink()
        for rows in (10, 40, 60):
            process = subprocess.Popen(command(forty, server, "--until", "0.1"))
            end = time.monotonic() + 30
            while not path.exists() or path.read_bytes().count(b"\n") < rows:
                assert time.monotonic() < end, "no rows came"
                time.sleep(0.01)
            process.kill()
            process.wait()
        again = subprocess.run(command(forty, server, "--until", "0.1"), check=False)
        assert again.returncode == 0
    assert keys() == expected

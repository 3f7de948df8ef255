"""FastChat 0.2.36 beside us: its tools read our files and print our numbers; its files run through our commands."""

import hashlib
import importlib.util
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from harness.cli.main import main
from tests.old.protocol_server import Asked, ProtocolServer, verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MODELS = ["builtin/eliza", "builtin/outline", "builtin/reference"]
NOT_IN_THEIR_VIEWER = "extraction"
"""Our judge set shows a reference in this category; FastChat's viewer looks only for judgments made without one."""


def ours(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    """Return our show_result's rows by model."""
    capsys.readouterr()
    assert main(["show_result", *words, "--format", "json"]) == 0
    return {row["model"]: row for row in json.loads(capsys.readouterr().out)["rows"]}


def theirs(path: pathlib.Path, *words: str) -> dict[str, dict[str, float]]:
    """Return what FastChat's show_result prints for a judgment file, by model; all digits are asked of pandas."""
    spec = importlib.util.find_spec("fastchat")
    assert spec is not None
    assert spec.origin is not None
    script = pathlib.Path(spec.origin).parent / "llm_judge" / "show_result.py"
    start = (
        "import pandas, runpy, sys; "
        "pandas.set_option('display.precision', 15, 'display.width', 1000, 'display.max_columns', 50); "
        "pandas.set_option('display.max_colwidth', 200); "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", start, str(script), "--input-file", str(path), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return _pairwise(done.stdout) if "--mode" in words else _single(done.stdout)


def _single(text: str) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for title, name in (("First turn", "turn_1"), ("Second turn", "turn_2"), ("Average", "average")):
        section = text.partition(f"## {title} ##")[2].partition("\n####")[0]
        for model, score in re.findall(r"^(\S+)(?:\s+\d+)?\s+(-?\d+\.\d+)\s*$", section, re.MULTILINE):
            rows.setdefault(model, {})[name] = float(score)
    return rows


def _pairwise(text: str) -> dict[str, dict[str, float]]:
    names = ("win", "loss", "tie", "win_rate", "loss_rate", "win_rate_adjusted")
    found = re.findall(r"^(\S+)" + r"\s+(\d\S*)" * len(names) + r"\s*$", text, re.MULTILINE)
    return {model: dict(zip(names, map(float, values), strict=True)) for model, *values in found}


def assert_equal(shown: dict[str, dict[str, float]], rows: dict[str, dict[str, Any]]) -> None:
    """Assert that both tools show the same models with the same numbers, to all digits that are printed."""
    assert shown
    assert set(shown) == set(rows)
    for model, numbers in shown.items():
        for name, number in numbers.items():
            assert math.isclose(rows[model][name], number, rel_tol=1e-12), (model, name)


def now_and_then_none(asked: Asked) -> str:
    """Return a judgment, of which one in eight gives no verdict."""
    return "I cannot decide." if int(asked.digest, 16) % 8 == 0 else verdict(asked)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder in which three models were judged in both ways, by the built-in judge and by a "gpt-4"."""
    data = tmp_path_factory.mktemp("data")
    copy_questions(data, every=2)
    where = ["--data-dir", str(data), "-q"]
    assert main(["gen_answer", *where, "--model", *MODELS]) == 0
    assert main(["gen_judgment", *where, "--judge-model", "builtin/overlap"]) == 0
    assert main(["gen_judgment", *where, "--judge-model", "builtin/overlap", "--mode", "pairwise-all"]) == 0
    judge_as_gpt4(data)
    return data


def copy_questions(data: pathlib.Path, *, every: int) -> None:
    """Put every n-th shipped question, and the references, where FastChat looks for them."""
    source, bench = ROOT / "data" / "mt_bench", data / "mt_bench"
    shutil.copytree(source / "reference_answer", bench / "reference_answer")
    lines = (source / "question.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (bench / "question.jsonl").write_text("".join(lines[::every]), encoding="utf-8")


def judge_as_gpt4(data: pathlib.Path) -> None:
    """Let a judge named gpt-4, the only one that FastChat's viewer knows, judge every answer in both ways."""
    with ProtocolServer(now_and_then_none) as server:
        words = ["--data-dir", str(data), "-q", "--judge-model", "gpt-4", "--base-url", server.openai_url]
        assert main(["gen_judgment", *words]) == 0
        assert main(["gen_judgment", *words, "--mode", "pairwise-all"]) == 0


@pytest.mark.parametrize("judge", ["builtin/overlap", "gpt-4"])
def test_their_show_result_prints_our_grades(
    judged: pathlib.Path, judge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ours(["--data-dir", str(judged), "--judge-model", judge], capsys)
    path = judged / "mt_bench" / "model_judgment" / f"{judge.replace('/', '%2F')}_single.jsonl"
    assert_equal(theirs(path), rows)
    assert all((row["excluded"] > 0) == (judge == "gpt-4") for row in rows.values())


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["builtin/overlap", "gpt-4"])
@pytest.mark.parametrize("baseline", [None, *MODELS])
def test_their_show_result_prints_our_wins_losses_and_ties(
    judged: pathlib.Path, judge: str, baseline: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    mode = ["--mode", "pairwise-all"]
    if baseline is not None:
        mode = ["--mode", "pairwise-baseline", "--baseline-model", baseline]
    rows = ours(["--data-dir", str(judged), "--judge-model", judge, *mode], capsys)
    path = judged / "mt_bench" / "model_judgment" / f"{judge.replace('/', '%2F')}_pair.jsonl"
    assert_equal(theirs(path, *mode), rows)


def test_their_viewer_finds_every_answer_and_judgment_of_ours(tmp_path: pathlib.Path) -> None:
    copy_questions(tmp_path, every=4)
    with ProtocolServer() as server:
        words = ["--model", "alpha-7b", "beta-7b", "--base-url", server.openai_url]
        assert main(["gen_answer", "--data-dir", str(tmp_path), "-q", *words]) == 0
    judge_as_gpt4(tmp_path)
    bench = tmp_path / "mt_bench"
    read = seen_by_their_viewer(bench)
    questions = {row["question_id"]: row for row in rows_of(bench / "question.jsonl")}
    assert read["questions"] == list(questions)
    assert read["turns_answered"] == {"alpha-7b": 2 * len(questions), "beta-7b": 2 * len(questions)}
    assert read["references"] == {"turnbench": len(rows_of(bench / "reference_answer" / "turnbench.jsonl"))}
    assert read["judges"] == sorted(
        f"gpt-4|{name}{later}"
        for name in ("single-v1", "single-math-v1", "pair-v2", "pair-math-v1")
        for later in ("", "-multi-turn")
    )
    for row in rows_of(bench / "model_judgment" / "gpt-4_single.jsonl"):
        shown = read["single"][f"{row['question_id']} {row['turn']} {row['model']}"]
        if questions[row["question_id"]]["category"] == NOT_IN_THEIR_VIEWER:
            assert shown == "N/A"
        else:
            assert f"**Score**: {row['score']}\n\n**Judgment**: {row['judgment']}" in shown
    for row in rows_of(bench / "model_judgment" / "gpt-4_pair.jsonl"):
        assert (row["model_1"], row["model_2"]) == ("alpha-7b", "beta-7b")
        shown = read["pair"][f"{row['question_id']} {row['turn']} alpha-7b beta-7b"]
        if questions[row["question_id"]]["category"] == NOT_IN_THEIR_VIEWER:
            assert shown == "N/A"
        else:
            for game, order in (("g1", ("alpha-7b", "beta-7b")), ("g2", ("beta-7b", "alpha-7b"))):
                title = "**Game {}**. **A**: {}, **B**: {}".format(game[1], *order)
                assert f"{title}\n\n**Judgment**: {row[f'{game}_judgment']}" in shown


def seen_by_their_viewer(bench: pathlib.Path) -> dict[str, Any]:
    """Return what FastChat's own loaders make of a benchmark folder."""
    reader = pathlib.Path(__file__).with_name("fastchat_reader.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(reader), str(bench)],
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def rows_of(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def official(reference_data: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder in FastChat's layout with its questions, answers, references, prompts and judgments."""
    data = tmp_path / "data"
    source = reference_data / "mt_bench"
    for path in source.rglob("*.jsonl"):
        target = data / "mt_bench" / path.relative_to(source)
        if path.name == "judge_prompts.jsonl":
            target = data / path.name
        if path.name == "gpt-4_single.scores_only.jsonl":
            target = target.with_name("gpt-4_single.jsonl")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)  # the originals may be read-only
    return data


def fingerprints(folder: pathlib.Path) -> dict[pathlib.Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("own_prompts", [True, False], ids=["our-judge-set", "their-judge-prompts"])
@pytest.mark.parametrize(
    ("mode", "models", "rows"),
    [
        pytest.param(["--mode", "single"], [], 8, id="single"),
        pytest.param(
            ["--mode", "pairwise-baseline", "--baseline-model", "gpt-3.5-turbo"],
            ["--model-list", "alpaca-13b", "claude-v1"],
            2,
            id="baseline",
        ),
    ],
)
def test_their_folder_runs_through_our_commands_unchanged(
    official: pathlib.Path,
    own_prompts: bool,
    mode: list[str],
    models: list[str],
    rows: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = fingerprints(official)
    words = ["--data-dir", str(official), "--judge-model", "builtin/overlap", *mode]
    prompts = [] if own_prompts else ["--judge-file", str(official / "judge_prompts.jsonl")]
    capsys.readouterr()
    assert main(["gen_judgment", *words, *models, *prompts, "-q"]) == 0
    told = capsys.readouterr()
    path = pathlib.Path(told.out.strip())
    assert len(rows_of(path)) == 80 * 2 * rows
    shown = ours([*words, *([] if own_prompts else ["--judge-set", "judge_prompts"])], capsys)
    assert len(shown) == rows
    assert_equal(theirs(path, *(mode if models else [])), shown)
    assert before.items() <= fingerprints(official).items()
    assert main(["gen_judgment", *words, *models, *prompts]) == 0
    assert "nothing left to judge" in capsys.readouterr().err


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "models", "mode"),
    [
        pytest.param("model_judgment/gpt-4_single.jsonl", 34, [], id="published"),
        pytest.param("other_runs/jxiw_gpt-4_single.jsonl", 6, [], id="jxiw"),
        pytest.param("other_runs/medusa_gpt-4_single.jsonl", 3, [], id="medusa"),
        pytest.param("other_runs/stefanstud_gpt-4_single.jsonl", 1, [], id="stefanstud"),
        pytest.param("other_runs/stefanstud_gpt-4_pair.jsonl", 2, ["--mode", "pairwise-all"], id="stefanstud-pair"),
        pytest.param(
            "other_runs/ku-nlp_japanese-vicuna_gpt-4_pair.jsonl", 6, ["--mode", "pairwise-all"], id="ku-nlp-pair"
        ),
    ],
)
def test_their_judgments_add_up_to_the_same_numbers(
    official: pathlib.Path, name: str, models: int, mode: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = official / "mt_bench" / name
    rows = ours(["--input-file", str(path), *mode], capsys)
    assert len(rows) == models
    assert_equal(theirs(path, *mode), rows)


@pytest.mark.reference
def test_their_answers_are_taken_as_done_without_a_call(
    official: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fingerprints(official)
    with ProtocolServer() as server:
        words = ["--model", "gpt-4", "vicuna-13b-v1.3", "--base-url", server.openai_url]
        assert main(["gen_answer", "--data-dir", str(official), *words]) == 0
        assert not server.requests
    told = capsys.readouterr().err
    assert told.count("80 answered before, nothing left to answer") == 2
    assert "80 answers have no record of how they were made" in told
    assert before.items() <= fingerprints(official).items()

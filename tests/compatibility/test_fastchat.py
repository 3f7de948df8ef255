"""FastChat's own scripts read what we write, and we read what they read, with the same numbers."""

import json
import pathlib
import subprocess
import sys

import pytest

import harness
from harness.cli.main import main
from harness.errors import UsageError

MODELS = ("builtin/reference", "builtin/eliza")
# FastChat imports its adapters of local models, which need torch; its readers use none of them.
WITHOUT_TORCH = """
import json, runpy, sys, types
adapter = types.ModuleType("fastchat.model.model_adapter")
adapter.__dict__.update(get_conversation_template=None, ANTHROPIC_MODEL_LIST=(),
                        OPENAI_MODEL_LIST=())
sys.modules["fastchat.model"] = types.ModuleType("fastchat.model")
sys.modules["fastchat.model.model_adapter"] = adapter
"""
SHOW_RESULT = "sys.argv[0] = 'show_result'; runpy.run_module('fastchat.llm_judge.show_result',"
SHOW_RESULT += " run_name='__main__')"
LOADERS = """
from fastchat.llm_judge import common
folder = sys.argv[1]
answers = common.load_model_answers(folder + "/model_answer")
judgments = folder + "/model_judgment/builtin%2Foverlap_single.jsonl"
graded = common.load_single_model_judgments(judgments)
print(json.dumps({model: len(rows) for model, rows in answers.items()}))
print(json.dumps(sorted("|".join(judge) for judge in graded)))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder in which two models are graded and compared."""
    folder = tmp_path_factory.mktemp("fastchat") / "data"
    words = ["--data-dir", str(folder), "--sample-n", "8", "-q"]
    assert main(["gen_answer", "--model", *MODELS, *words]) == 0
    for mode in ("single", "pairwise-all"):
        judge = ["gen_judgment", "--judge-model", "builtin/overlap", "--mode", mode]
        assert main([*judge, *words]) == 0
    return folder


def run(code: str, *words: str, cwd: pathlib.Path) -> str:
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_TORCH + code, *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("exported", [False, True], ids=["own", "exported"])
@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_fastchats_show_result_prints_our_numbers(
    data: pathlib.Path, mode: str, exported: bool, tmp_path: pathlib.Path
) -> None:
    kind = "single" if mode == "single" else "pair"
    folder = data / "mt_bench"
    if exported:
        harness.export("fastchat", data_dir=str(data), output=tmp_path / "out")
        folder = tmp_path / "out"
    judgments = folder / "model_judgment" / f"builtin%2Foverlap_{kind}.jsonl"
    words = ["--mode", mode, "--input-file", str(judgments)]
    if mode == "single":
        words += ["--bench-name", "mt_bench"]
    printed = run(SHOW_RESULT, *words, cwd=data.parent)
    rows = harness.show_result(mode, data_dir=str(data), judge_model="builtin/overlap").rows()
    for row in rows:
        value = row["average"] if mode == "single" else row["win"]
        lines = [line.split() for line in printed.splitlines() if row["model"] in line]
        numbers = [
            float(word) for line in lines for word in line if word.replace(".", "").isdigit()
        ]
        assert any(number == pytest.approx(value, abs=1e-5) for number in numbers), (row, lines)


def test_fastchats_loaders_read_answers_and_judgments(data: pathlib.Path) -> None:
    answers, judges = run(LOADERS, str(data / "mt_bench"), cwd=data.parent).splitlines()
    assert json.loads(answers) == dict.fromkeys(map(_stem, MODELS), 8)
    assert "builtin/overlap|single-v1" in json.loads(judges)


def test_fastchats_loaders_read_what_is_exported(
    data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    harness.export("fastchat", data_dir=str(data), output=tmp_path / "out", model_list=MODELS[:1])
    answers, judges = run(LOADERS, str(tmp_path / "out"), cwd=tmp_path).splitlines()
    assert json.loads(answers) == {_stem(MODELS[0]): 8}
    assert "builtin/overlap|single-v1" in json.loads(judges)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"question.jsonl"}
    with pytest.raises(UsageError, match="is there already"):
        harness.export("fastchat", data_dir=str(data), output=tmp_path / "out")


def _stem(model: str) -> str:
    return model.replace("/", "%2F")

"""Inspect reads our logs, and we read its: with the real inspect_ai."""

import json
import math
import pathlib
import subprocess
import sys
import warnings
import zipfile
from typing import Any

import pytest

import harness
from harness import export, import_data
from harness.errors import MissingError
from tests.importing.files import json_lines, rows

BOTH = ("builtin/reference", "builtin/eliza")


@pytest.fixture(scope="module")
def inspect_log() -> Any:
    """Return the real module, whose import warns of its own dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("inspect_ai.log", reason="needs the extra [formats]")


def conversations(path: pathlib.Path) -> dict[Any, list[list[str]]]:
    return {row["question_id"]: [c["turns"] for c in row["choices"]] for row in rows(path)}


def test_a_log_comes_back_as_the_same_conversations(
    data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    report = export("inspect", data_dir=data, output=tmp_path / "logs")
    assert report.records == dict.fromkeys(BOTH, 6)
    back = import_data("inspect", report.written, "back", data_dir=tmp_path)
    assert (back.answers, back.bad) == (dict.fromkeys(BOTH, 6), [])
    for model in BOTH:
        name = f"model_answer/{model.replace('/', '%2F')}.jsonl"
        assert conversations(tmp_path / "back" / name) == conversations(data / "mt_bench" / name)
    asked = {q.question_id: q.turns for q in harness.load_bench("mt_bench", data).questions}
    assert all(
        question.turns == asked[question.question_id]
        for question in harness.load_bench("back", tmp_path).questions
    )


@pytest.mark.formats
def test_inspect_reads_our_log(
    data: pathlib.Path, tmp_path: pathlib.Path, inspect_log: Any
) -> None:
    report = export("inspect", data_dir=data, output=tmp_path)
    shown = harness.show_result("single", data_dir=str(data)).page.tables[0].rows
    scores = {row["model"]: row["turn"] for row in shown}
    for path in report.written:
        log = inspect_log.read_eval_log(str(path))
        assert (log.status, log.eval.task, len(log.samples)) == ("success", "mt_bench", 6)
        by_name = {score.name: score.metrics for score in log.results.scores}
        for turn in (1, 2):
            mean = by_name[f"builtin/overlap turn {turn}"]["mean"].value
            assert mean == pytest.approx(scores[log.eval.model][str(turn)].value)
        sample = log.samples[0]
        assert [message.role for message in sample.messages] == ["user", "assistant"] * 2
        assert "Rating: [[" in sample.scores["builtin/overlap turn 1"].explanation
    listed = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "inspect_ai", "log", "list", "--json"],
        cwd=tmp_path,
        env={"INSPECT_LOG_DIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [log["task"] for log in json.loads(listed.stdout)] == ["mt-bench"] * 2


@pytest.mark.formats
@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_inspects_own_is_read(form: str, tmp_path: pathlib.Path, inspect_log: Any) -> None:
    from inspect_ai import log as logs
    from inspect_ai import model as chats

    def sample(epoch: int, *texts: str) -> Any:
        thought = chats.ContentReasoning(reasoning="hm")
        content: Any = [thought, chats.ContentText(text=texts[1])]
        messages = [
            chats.ChatMessageSystem(content="Be kind."),
            chats.ChatMessageUser(content=texts[0]),
            chats.ChatMessageAssistant(content=content, model="m"),
        ]
        return logs.EvalSample(
            id="q1",
            epoch=epoch,
            input=texts[0],
            target="4",
            messages=messages,
            metadata={"category": "sums"},
        )

    spec = logs.EvalSpec(
        created="2026-11-28T18:00:00+00:00",
        task="sums",
        dataset=logs.EvalDataset(),
        model="openai/m",
        model_generate_config=chats.GenerateConfig(temperature=0.5),
        config=logs.EvalConfig(),
    )
    samples = [sample(1, "2+2?", "4"), sample(2, "2+2?", "four")]
    log = logs.EvalLog(version=2, status="success", eval=spec, samples=samples)
    path = tmp_path / f"x.{form}"
    inspect_log.write_eval_log(log, str(path))
    report = import_data("inspect", [path], "b", data_dir=tmp_path)
    assert (report.questions, report.answers, report.bad) == (1, {"openai/m": 1}, [])
    (row,) = rows(tmp_path / "b" / "model_answer" / "openai%2Fm.jsonl")
    assert [choice["turns"] for choice in row["choices"]] == [["4"], ["four"]]
    assert row["choices"][0]["details"][0]["reasoning"] == "hm"
    assert row["sampling"] == {"temperature": 0.5}
    bench = harness.load_bench("b", tmp_path)
    assert (bench.questions[0].category, bench.settings.system_prompt) == ("sums", "Be kind.")
    references = bench.references()
    assert references is not None
    assert references.turns == {"q1": ["4"]}


def test_a_log_that_python_cannot_decompress_says_what_to_do(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any, name: Any) -> bytes:
        raise NotImplementedError("That compression method is not supported")

    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", "{}")
    monkeypatch.setattr(zipfile.ZipFile, "read", refuse)
    with pytest.raises(MissingError, match="pip install zipfile-zstd, or turn it into JSON"):
        import_data("inspect", [path], "b", data_dir=tmp_path)


def test_a_verdict_that_was_not_read_is_unscored(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "b"
    (folder / "model_answer").mkdir(parents=True)
    (folder / "model_judgment").mkdir()
    question = {"question_id": 1, "category": "c", "turns": ["Q"]}
    json_lines(folder / "question.jsonl", [question])
    answer = {"question_id": 1, "model_id": "m", "choices": [{"index": 0, "turns": ["A"]}]}
    json_lines(folder / "model_answer" / "m.jsonl", [answer])
    row = {"question_id": 1, "model": "m", "judge": ["j", "t"], "judgment": "?", "turn": 1}
    json_lines(folder / "model_judgment" / "j_single.jsonl", [row | {"score": -1}])
    (path,) = export("inspect", "b", data_dir=tmp_path, output=tmp_path / "out").written
    with zipfile.ZipFile(path) as log:
        sample = json.loads(log.read("samples/1_epoch_1.json"))
        header = json.loads(log.read("header.json"))
    assert math.isnan(sample["scores"]["j turn 1"]["value"])
    assert header["results"]["scores"][0]["unscored_samples"] == 1

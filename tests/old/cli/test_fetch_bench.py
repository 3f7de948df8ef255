"""The command fetch_bench: what it prints, its exit codes, and that the other commands use what it brings."""

import hashlib
import json
import pathlib
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.cli import gen_answer, gen_judgment
from harness.old.cli.fetch_bench import main
from harness.old.importing.originals.table import load_originals
from harness.old.judging.asking import request_about
from harness.old.judging.materials import Materials
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.judgment import Match
from harness.old.records import Answer, Choice, Reply

CONTENT = b'{"question_id": 1, "category": "stem", "turns": ["One?"]}\n'
TABLE = f"""
[tiny]
title = "A tiny set"
repository = "owner/repo"
revision = "{"0" * 40}"
licence = "CC BY-NC 4.0"
notice = "Its licence forbids commercial use."
afterwards = ["gen_answer --bench-name tiny --model ..."]
[[tiny.files]]
path = "data/question.jsonl"
into = "question.jsonl"
bytes = {len(CONTENT)}
sha256 = "{hashlib.sha256(CONTENT).hexdigest()}"
"""


@pytest.fixture
def source(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Return a folder that holds the one file of a table of one made-up original, `tiny`."""
    table = tmp_path / "originals.toml"
    table.write_text(TABLE)
    monkeypatch.setattr("harness.old.importing.originals.table.load_originals", lambda: load_originals(table))
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "question.jsonl").write_bytes(CONTENT)
    return folder


def test_the_list_names_licence_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^mt_bench_lmsys +Apache-2\.0 +3 +110 kB +lm-sys/FastChat @ 0e6d3e4b", out, re.M)


def test_paths_go_to_stdout_and_the_rest_to_stderr(
    tmp_path: pathlib.Path, source: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tiny", "--data-dir", str(tmp_path / "data"), "--from", str(source)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path / 'data' / 'tiny' / 'question.jsonl'}\n"
    assert "A tiny set" in captured.err
    assert "100%" in captured.err
    assert "fetch_bench: Its licence forbids commercial use." in captured.err
    assert "gen_answer --bench-name tiny" in captured.err


def test_quiet_shows_paths_and_terms_only(
    tmp_path: pathlib.Path, source: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tiny", "-q", "--data-dir", str(tmp_path / "data"), "--from", str(source)]) == 0
    assert capsys.readouterr().err == "fetch_bench: Its licence forbids commercial use.\n"


def test_a_second_fetch_says_that_the_files_are_there(
    tmp_path: pathlib.Path, source: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["tiny", "--data-dir", str(tmp_path / "data"), "--from", str(source)]
    assert main(argv) == 0
    capsys.readouterr()
    assert main(argv) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "already there, identical to the pinned files" in captured.err


def test_a_wrong_file_is_one_line_and_2(
    tmp_path: pathlib.Path, source: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source / "question.jsonl").write_bytes(CONTENT.replace(b"One", b"Two"))
    assert main(["tiny", "-q", "--yes", "--data-dir", str(tmp_path / "data"), "--from", str(source)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("fetch_bench: error: ")
    assert "is not the pinned file" in lines[1]
    assert not (tmp_path / "data" / "tiny" / "question.jsonl").exists()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param([], "name what to fetch", id="no name"),
        pytest.param(["mt_bench_lmsi"], "did you mean 'mt_bench_lmsys'", id="unknown name"),
        pytest.param(["mt_bench_lmsys", "--from", "/no/such"], "no such folder", id="no folder"),
        pytest.param(
            ["mt_bench_lmsys", "--from", "http://x/?key=k"], "error: --from takes a plain address", id="a key"
        ),
    ],
)
def test_wrong_use_is_2(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-q", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_key_in_an_address_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mt_bench_lmsys", "--from", "http://x/?key=hidden"]) == 2
    told = capsys.readouterr().err
    assert "--from takes a plain address" in told
    assert "hidden" not in told


@pytest.mark.reference
def test_the_official_set_is_answered_and_judged_with_its_own_prompts(
    tmp_path: pathlib.Path, reference_data: pathlib.Path
) -> None:
    data = ["-q", "--data-dir", str(tmp_path)]
    name = "mt_bench_lmsys"
    assert main([name, *data, "--from", str(reference_data / "mt_bench")]) == 0
    bench = load_bench(name, tmp_path)
    assert len(bench.questions) == 80
    assert bench.references() == ("gpt-4",)
    assert len(bench.reference_answers()) == 30
    judge_set = load_judge_set(name, bench.folder)
    assert judge_set.path == tmp_path / name / "judge_prompts.jsonl"
    some = ["--bench-name", name, "--question-begin", "28", "--question-end", "42"]
    assert gen_answer.main(["--model", "builtin/reference", *some, *data]) == 0
    judging = ["--judge-model", "builtin/overlap", "--judge-set", name, "--yes"]
    assert gen_judgment.main([*judging, *some, *data]) == 0
    (file,) = (tmp_path / name / "model_judgment").glob("*.jsonl")
    assert len(file.read_text().splitlines()) == 28


def lines_of(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def answers_in(prompt: str, template: str, fixed: Mapping[str, str]) -> dict[str, str]:
    """Return the answers that a stored prompt holds: what its template, with all else filled in, leaves open."""
    pieces = []
    for literal, name, _, _ in string.Formatter().parse(template):
        pieces.append(re.escape(literal))
        if name is not None:
            pieces.append(re.escape(fixed[name]) if name in fixed else f"(?P<{name}>.*)")
    found = re.fullmatch("".join(pieces), prompt, re.DOTALL)
    assert found is not None
    return found.groupdict()


@pytest.mark.reference
@pytest.mark.parametrize(
    ("file", "prompts"),
    [
        pytest.param("medusa_gpt-4_single.jsonl", 480, id="medusa"),
        pytest.param("jxiw_gpt-4_single.jsonl", 960, id="jxiw"),
        pytest.param("stefanstud_gpt-4_single.jsonl", 160, id="stefanstud"),
        pytest.param("stefanstud_gpt-4_pair.jsonl", 150, id="stefanstud pairs"),
    ],
)
def test_the_prompts_are_those_that_fastchat_sent(
    tmp_path: pathlib.Path, reference_data: pathlib.Path, file: str, prompts: int
) -> None:
    published = reference_data / "mt_bench"
    name = "mt_bench_lmsys"
    assert main([name, "-q", "--data-dir", str(tmp_path), "--from", str(published)]) == 0
    bench = load_bench(name, tmp_path)
    judge_set = load_judge_set(name, bench.folder)
    references = bench.reference_answers()
    upstream = {row["name"]: row["prompt_template"] for row in lines_of(published / "judge_prompts.jsonl")}
    compared = 0
    for row in lines_of(published / "other_runs" / file):
        question, turn = bench.question(row["question_id"]), row["turn"]
        assert question is not None
        fixed = {"question": question.turns[turn - 1]}
        for number, text in enumerate(question.turns, 1):
            fixed[f"question_{number}"] = text
        for number, text in enumerate(references.get(question.question_id, ()), 1):
            fixed[f"ref_answer_{number}"] = text
        models = [row["model"]] if "model" in row else [row["model_1"], row["model_2"]]
        games = (
            {"user_prompt": models} if len(models) == 1 else {"g1_user_prompt": models, "g2_user_prompt": models[::-1]}
        )
        for field, shown in games.items():
            held = answers_in(row[field], upstream[row["judge"][1]], fixed)
            answers = {}
            for model, slot in zip(shown, ["answer"] if len(shown) == 1 else ["answer_a", "answer_b"], strict=True):
                texts = [held[slot]] if slot in held else [held[f"{slot}_{number}"] for number in range(1, turn + 1)]
                choice = Choice(0, tuple(Reply(text) for text in texts))
                answers[model] = {question.question_id: Answer(question.question_id, model, (choice,))}
            materials = Materials(bench, judge_set, answers, references, judge_set.references.required)
            request = request_about(materials, Match(question, turn, tuple(shown)))
            assert request.messages[-1].content == row[field]
            compared += 1
    assert compared == prompts

"""What is wrong with an input is one line with file, line and what to do: exit code 2, no traceback, nothing called."""

import pathlib
import re
import socket
from collections.abc import Callable
from typing import TypeAlias

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import write_questions
from tests.old.protocol_server import ProtocolServer

Prepare: TypeAlias = Callable[[pathlib.Path], object]
GOOD = {"question_id": 1, "category": "writing", "turns": ["Name three rivers.", "Now name two lakes."]}
ANSWER = ["gen_answer", "--model", "builtin/eliza", "--bench-name", "tiny"]
REMOTE = ["gen_answer", "--model", "m", "--bench-name", "tiny"]
JUDGE = ["gen_judgment", "--judge-model", "builtin/overlap", "--bench-name", "tiny"]
SHOW = ["show_result", "--bench-name", "tiny"]


def questions(*rows: object) -> Prepare:
    return lambda data: write_questions(data / "tiny", *rows)


def file(path: str, *lines: str) -> Prepare:
    def write(data: pathlib.Path) -> None:
        write_questions(data / "tiny", GOOD)
        target = data / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    return write


def template(user: str, **settings: str) -> Prepare:
    def write(data: pathlib.Path) -> None:
        answered(data)
        folder = data.parent / "own_set"
        folder.mkdir()
        rows = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
        (folder / "judge_set.toml").write_text(rows, encoding="utf-8")
        (folder / "grade.toml").write_text(f'kind = "grade"\nuser = """{user}"""\n', encoding="utf-8")

    return write


def answered(data: pathlib.Path) -> None:
    write_questions(data / "tiny", GOOD)
    assert main(["gen_answer", "--data-dir", str(data), "--bench-name", "tiny", "--model", "builtin/eliza", "-q"]) == 0


CASES = [
    pytest.param(
        questions(GOOD, '{"question_id": 2, "turns": ["a"', GOOD),
        ANSWER,
        r"question\.jsonl:2: not valid JSON .*each line must be one JSON object",
        id="malformed-json",
    ),
    pytest.param(
        questions("[1, 2]", GOOD), ANSWER, r"question\.jsonl:1: a JSON object is needed, this is a list", id="no-object"
    ),
    pytest.param(
        questions(GOOD, {"question_id": 2, "category": "stem"}),
        ANSWER,
        r"question\.jsonl:2: the field 'turns' is missing",
        id="missing-field",
    ),
    pytest.param(
        questions(GOOD, {**GOOD, "question_id": 2}, GOOD),
        ANSWER,
        r"question\.jsonl:3: question_id 1 is a duplicate of line 1; give each question a different one",
        id="duplicate-id",
    ),
    pytest.param(
        questions(GOOD, {**GOOD, "question_id": 2, "turns": ["a", " "]}),
        ANSWER,
        r"question\.jsonl:2: turn 2 of question 2 must be a text that is not empty",
        id="empty-turn",
    ),
    pytest.param(
        questions({**GOOD, "turns": "a"}), ANSWER, r"question\.jsonl:1: turns must be a list", id="turns-no-list"
    ),
    pytest.param(
        questions({**GOOD, "question_id": 1.5}),
        ANSWER,
        r"question\.jsonl:1: question_id must be a whole number or a text, this is 1\.5",
        id="wrong-type",
    ),
    pytest.param(
        questions('{"question_id": "a\\ud800", "category": "stem", "turns": ["a"]}'),
        ANSWER,
        r"question\.jsonl:1: question_id must be a text without half characters, this is 'a\\ud800'",
        id="half-a-character",
    ),
    pytest.param(
        file("tiny/bench.toml", 'tittle = "x"'),
        ANSWER,
        r"bench\.toml(:1)?: unknown key 'tittle'; did you mean 'title'",
        id="bench-key",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "builtin/eliza", "--bench-name", "../tiny"],
        r"the benchmark name '\.\./tiny' is not a plain folder name; use --data-dir",
        id="bench-is-a-path",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "builtin/eliza", "--bench-name", "tinny"],
        r"no benchmark 'tinny': .*question\.jsonl does not exist; did you mean 'tiny'\?",
        id="unknown-bench",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "builtin/eliza", "--bench-name", "x" * 300],
        r"the benchmark name 'x+'… is over 200 bytes long",
        id="endless-bench",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "gtp-4o", "--bench-name", "tiny"],
        r"unknown model 'gtp-4o'; did you mean gpt-4o.*--base-url",
        id="unknown-model",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "builtin/elisa", "--bench-name", "tiny"],
        r"builtin/elisa.*builtin/eliza",
        id="unknown-builtin",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "", "--bench-name", "tiny"],
        "a model's name is empty",
        id="empty-model",
    ),
    pytest.param(
        questions(GOOD),
        ["gen_answer", "--model", "gpt-4o", "--bench-name", "tiny"],
        r"gpt-4o: no key in the environment variable OPENAI_API_KEY; set it: export OPENAI_API_KEY",
        id="missing-key",
    ),
    pytest.param(
        questions(GOOD),
        [*REMOTE, "--base-url", "localhost:8000"],
        r"--base-url 'localhost:8000' is not an address: it must look like http://localhost:8000/v1",
        id="no-address",
    ),
    pytest.param(
        questions(GOOD),
        [*REMOTE, "--base-url", "http://h/v1", "--conv-template", "vicuna_v1.2"],
        r"vicuna_v1\.2.*vicuna_v1\.1",
        id="unknown-conv-template",
    ),
    pytest.param(
        questions(GOOD),
        [*ANSWER, "--question-begin", "9"],
        "the slice leaves none of the 1 questions of tiny",
        id="empty-slice",
    ),
    pytest.param(
        questions(GOOD),
        [*ANSWER, "--model", "builtin/outline", "--answer-file", "f.jsonl"],
        "--answer-file is for the answers of one model",
        id="one-file-two-models",
    ),
    pytest.param(questions(GOOD), JUDGE, r"no model has answers in .*; run gen_answer first", id="nothing-answered"),
    pytest.param(
        answered,
        [*JUDGE, "--model-list", "builtin/elisa"],
        r"no answers by 'builtin/elisa' in .*builtin/eliza",
        id="no-answers",
    ),
    pytest.param(
        file("tiny/model_answer/m.jsonl", '{"question_id": 7, "choices": [{"turns": ["a", "b"]}]}'),
        JUDGE,
        "m has no answer to question 1. Answer them with gen_answer, or .*--skip-missing",
        id="missing-answer",
    ),
    pytest.param(
        file("tiny/model_answer/m.jsonl", '{"question_id": 1}', "{}"),
        JUDGE,
        r"m\.jsonl:1: the field 'choices' is missing",
        id="broken-answer",
    ),
    pytest.param(
        answered, [*JUDGE, "--judge-set", "mt_bech"], "no judge set 'mt_bech'; did you mean 'mt_bench'", id="judge-set"
    ),
    pytest.param(
        template("{question} {anwser}"),
        [*JUDGE, "--judge-set", "own_set"],
        r"grade\.toml: user contains the unknown placeholder \{anwser\}; did you mean 'answer'",
        id="placeholder",
    ),
    pytest.param(
        template("{question} {answer}", fences="x"),
        [*JUDGE, "--judge-set", "own_set"],
        r"judge_set\.toml:1: unknown key 'fences'; did you mean 'fence'",
        id="judge-set-key",
    ),
    pytest.param(
        answered,
        [*JUDGE, "--mode", "pairwise-all"],
        "pairwise-all compares at least two models, but there is 1",
        id="one-model",
    ),
    pytest.param(
        answered, [*JUDGE, "--mode", "pairwise-baseline"], "pairwise-baseline needs --baseline-model", id="no-baseline"
    ),
    pytest.param(answered, [*JUDGE, "--turns", "3"], "there is nothing to judge: --turns", id="no-turn"),
    pytest.param(
        answered,
        ["gen_judgment", "--judge-model", "claude-sonnet-4-6", "--bench-name", "tiny"],
        "claude-sonnet-4-6: no key in the environment variable ANTHROPIC_API_KEY",
        id="judge-without-key",
    ),
    pytest.param(
        answered, SHOW, r"no single judgments in .*; run gen_judgment --mode single first", id="nothing-judged"
    ),
    pytest.param(
        answered, ["show_result", "--input-file", "no.jsonl"], "no.jsonl: cannot be read: No such file", id="no-file"
    ),
    pytest.param(
        file("j.jsonl", '{"question_id": 1, "model": "m", "judge": "j", "score": "9"}', "{}"),
        ["show_result", "--input-file", "data/j.jsonl"],
        r"j\.jsonl:1: score must be a number.* this is '9'",
        id="wrong-score",
    ),
    pytest.param(
        file("j.jsonl", '{"question_id": 1, "model": "m", "judge": "j", "score": 9, "turn": 1}'),
        ["show_result", "--input-file", "data/j.jsonl", "--mode", "pairwise-all"],
        "data/j.jsonl holds grades; show it with --mode single",
        id="other-mode",
    ),
    pytest.param(
        file("j.jsonl", '{"question_id": 1, "model": "m", "judge": "j", "score": 9, "turn": 1}'),
        ["show_result", "--input-file", "data/j.jsonl", "--turns", "2"],
        "contains no judgment of turn 2",
        id="nothing-left",
    ),
]


@pytest.mark.parametrize(("prepare", "words", "said"), CASES)
def test_bad_input_is_one_line(
    prepare: Prepare,
    words: list[str],
    said: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path / "data")
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.match(rf"{words[0]}: error: .*{said}", told.err)
    assert told.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_server_that_is_not_there_is_told_at_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    questions(GOOD)(tmp_path / "data")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        assert main(["gen_answer", "--model", "m", "--base-url", address, "--bench-name", "tiny", "-q"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert re.match(
        rf"gen_answer: error: .*{re.escape(address)}.*is the server running, and is the address right\?", told.err
    )


def test_a_rejected_key_stops_the_run_and_is_not_shown(
    data: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-do-not-show")
    capsys.readouterr()
    with ProtocolServer(api_key="another") as server:
        words = ["--model", "m", "--base-url", server.openai_url, "--api-key-env", "MY_KEY", "--parallel", "1"]
        assert main(["gen_answer", *words, "--data-dir", str(data), "--bench-name", "tiny", "-q"]) == 2
        assert len(server.requests) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "MY_KEY" in told
    assert "sk-do-not-show" not in told

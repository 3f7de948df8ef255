"""gen_judgment: what it says before, what it asks, what it writes."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import ROOT, Run
from tests.old.protocol_server import ProtocolServer, verdict

JUDGE = ("--judge-model", "gpt-4.1-mini")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProtocolServer]:
    """Return a server that stands where OpenAI's is looked for: its models have prices."""
    with ProtocolServer(verdict) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


def on_terminal(
    data: pathlib.Path, *words: str, answer: bytes | signal.Signals | None, name: str = "gen_judgment"
) -> tuple[int, str]:
    """Run a command on a terminal, answer what it asks (or send a signal); return its exit code and what it said."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-m", f"harness.cli.{name}"]
    process = subprocess.Popen(
        [*command, *words, "--data-dir", str(data), "--bench-name", "tiny"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([ours], [], [], 0.1)
            if not ready:
                continue
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            shown += piece
            if answer is not None and b"[Y/n] " in shown:
                if isinstance(answer, bytes):
                    os.write(ours, answer)
                else:
                    process.send_signal(answer)
                answer = None
        return process.wait(timeout=10), shown.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.parametrize("answer", [b"n\n", b"what?\n", b"\x04"], ids=["no", "unclear", "end-of-input"])
def test_no_on_a_terminal_does_nothing(data: pathlib.Path, server: ProtocolServer, answer: bytes) -> None:
    code, shown = on_terminal(data, *JUDGE, answer=answer)
    assert code == 130
    assert "8 judgments to make, 8 calls" in shown
    assert re.search(r"8 calls to gpt-4\.1-mini, estimated cost \$0\.\d+ to \$0\.\d+\. Continue\? \[Y/n\]", shown)
    assert "gen_judgment: nothing was done" in shown
    assert not (data / "tiny" / "model_judgment").exists()
    assert not server.requests


@pytest.mark.parametrize(
    ("name", "words", "calls"),
    [
        pytest.param("gen_answer", ["--model", "builtin/eliza", "gpt-4.1-mini"], 4, id="gen_answer"),
        pytest.param("run_bench", ["--model", "gpt-4.1-mini", "--judge-model", "gpt-4.1-mini"], 8, id="run_bench"),
        pytest.param("judge_report", ["attack", *JUDGE, "--first-n", "1"], None, id="attack"),
    ],
)
def test_every_command_that_calls_models_asks_with_their_cost(
    data: pathlib.Path, server: ProtocolServer, name: str, words: list[str], calls: int | None
) -> None:
    code, shown = on_terminal(data, *words, answer=b"n\n", name=name)
    assert code == 130, shown
    assert re.search(rf"{calls or '[0-9]+'} calls to gpt-4\.1-mini, estimated cost \$\S+ to \$\S+\. Continue\?", shown)
    assert not server.requests


def test_built_in_models_are_never_asked_about(data: pathlib.Path) -> None:
    code, shown = on_terminal(data, "--judge-model", "builtin/overlap", answer=None)
    assert (code, "Continue?" in shown) == (0, False)
    code, shown = on_terminal(data, "--model", "builtin/eliza", "--redo", answer=None, name="gen_answer")
    assert (code, "Continue?" in shown) == (0, False)


@pytest.mark.parametrize("answer", [b"y\n", b"\n", b"YES\n"], ids=["y", "enter", "yes"])
def test_yes_on_a_terminal_goes_on(data: pathlib.Path, server: ProtocolServer, answer: bytes) -> None:
    code, shown = on_terminal(data, *JUDGE, answer=answer)
    assert code == 0
    assert "8/8" in shown
    assert (data / "tiny" / "model_judgment" / "gpt-4.1-mini_single.jsonl").exists()


def test_with_yes_or_nothing_to_do_it_does_not_ask(data: pathlib.Path, server: ProtocolServer) -> None:
    code, shown = on_terminal(data, *JUDGE, "--yes", answer=None)
    assert (code, "Continue?" in shown) == (0, False)
    code, shown = on_terminal(data, *JUDGE, answer=None)
    assert (code, "Continue?" in shown) == (0, False)
    assert "8 judged before, nothing left to judge" in shown


def test_ctrl_c_at_the_question_is_130(data: pathlib.Path, server: ProtocolServer) -> None:
    code, shown = on_terminal(data, *JUDGE, answer=signal.SIGINT)
    assert code == 130
    assert "gen_judgment: interrupted" in shown
    assert "Traceback" not in shown


def test_nothing_is_asked_without_a_terminal_and_streams_are_kept_apart(run: Run, data: pathlib.Path) -> None:
    done = run("gen_judgment", "--judge-model", "builtin/overlap", "--data-dir", str(data), "--bench-name", "tiny")
    path = data / "tiny" / "model_judgment" / "builtin%2Foverlap_single.jsonl"
    assert (done.returncode, done.stdout) == (0, f"{path}\n")
    assert "tiny, single, judge set mt_bench 1: 2 questions, 2 models" in done.stderr
    assert "builtin/overlap: 8 judgments to make, 8 calls" in done.stderr
    assert "8/8" in done.stderr
    assert len(path.read_text(encoding="utf-8").splitlines()) == 8


def test_pairs_are_said_to_be_judged_in_both_orders_and_why_calls_are_fewer(run: Run, data: pathlib.Path) -> None:
    words = ["--data-dir", str(data), "--bench-name", "tiny", "--dry-run", "--mode", "pairwise-all"]
    told = run("gen_judgment", "--judge-model", "builtin/overlap", *words).stderr
    assert "builtin/overlap: 4 pairs of answers to compare in both orders, 8 calls\n" in told
    answers = data / "tiny" / "model_answer"
    equal = (answers / "builtin%2Feliza.jsonl").read_text(encoding="utf-8").replace("builtin/eliza", "twin")
    (answers / "twin.jsonl").write_text(equal, encoding="utf-8")
    told = run("gen_judgment", "--judge-model", "builtin/overlap", *words).stderr
    assert (
        "12 pairs of answers to compare in both orders, 16 calls (two equal answers are a tie without a call)" in told
    )


def test_quiet_leaves_the_result(run: Run, data: pathlib.Path) -> None:
    words = ["--judge-model", "builtin/overlap", "--data-dir", str(data), "--bench-name", "tiny"]
    done = run("gen_judgment", *words, "--mode", "pairwise-all", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{data}/tiny/model_judgment/builtin%2Foverlap_pair.jsonl\n"


def judge(data: pathlib.Path, *words: str) -> int:
    return main(["gen_judgment", "--data-dir", str(data), "--bench-name", "tiny", *words])


def test_verbose_names_files_and_addresses_but_no_key(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-do-not-show")
    with ProtocolServer(verdict) as server:
        words = ["--judge-model", "j", "--base-url", server.openai_url, "--api-key-env", "MY_KEY"]
        assert judge(data, *words, "-v") == 0
    told = capsys.readouterr().err
    assert (
        f"openai at {server.openai_url}, key from MY_KEY; judgments: {data}/tiny/model_judgment/j_single.jsonl" in told
    )
    assert "sk-do-not-show" not in told


def test_model_list_turns_and_first_n_choose_what_is_judged(data: pathlib.Path) -> None:
    words = ["--judge-model", "builtin/overlap", "--model-list", "builtin/eliza", "--model-list", "builtin/outline"]
    assert judge(data, *words, "--mode", "pairwise-all", "--turns", "2", "--first-n", "1", "-q") == 0
    (line,) = (data / "tiny/model_judgment/builtin%2Foverlap_pair.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(line)
    assert (row["question_id"], row["turn"]) == (1, 2)
    assert (row["model_1"], row["model_2"]) == ("builtin/eliza", "builtin/outline")


def test_a_baseline_that_has_no_effect_is_told(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(data, "--judge-model", "builtin/overlap", "--baseline-model", "builtin/eliza") == 0
    assert "gen_judgment: warning: --baseline-model has no effect in mode single" in capsys.readouterr().err


def test_judgments_without_a_verdict_are_counted(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ProtocolServer() as server:
        assert judge(data, "--judge-model", "j", "--base-url", server.openai_url) == 1
    told = capsys.readouterr().err
    assert "8 of 8 judgments give no verdict; they are kept and left out of every mean" in told

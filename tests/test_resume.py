"""Real processes, killed and interrupted in the middle of their work, and started again.

The server lives in the test's process and ends the command when a given request arrives. So the moment is the same in
every run: that request is in flight, and nobody waits for a clock.
"""

import asyncio
import collections
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.bench import Bench
from tests.protocol_server import Asked, ProtocolServer, parrot, verdict
from tests.small_bench import answer, question, rows, small_bench, write

PARALLEL = 3


class Ended(ProtocolServer):
    """A server that sends a signal to the command that calls it, once, when its n-th request arrives."""

    def __init__(self, at: int, how: signal.Signals) -> None:
        super().__init__(self._answer)
        self.at, self.how = at, how
        self.command: subprocess.Popen[str] | None = None

    def _answer(self, asked: Asked) -> str:
        if asked.number == self.at and self.command is not None:
            os.kill(self.command.pid, self.how)
            if self.how == signal.SIGKILL:
                self.command.wait()
        return verdict(asked) if "[[" in asked.texts[-1] else parrot(asked)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, however that comes."""
        command = [sys.executable, "-m", *arguments, "--base-url", self.openai_url, "--parallel", str(PARALLEL)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment()) as process:
            self.command = process
            out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def environment() -> dict[str, str]:
    root = str(pathlib.Path(__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": root}


def gen_answer(bench: Bench, *more: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["harness.cli.gen_answer", "--model", "m", *where, *more]


def gen_judgment(bench: Bench, mode: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["harness.cli.gen_judgment", "--judge-model", "j", "--mode", mode, *where]


def repeated(asked: Sequence[Asked]) -> int:
    """Return how many calls had been made before."""
    return sum(count - 1 for count in collections.Counter(a.digest for a in asked).values())


def answered_bench(folder: pathlib.Path) -> Bench:
    bench = small_bench(folder, *(question(n) for n in range(1, 5)))
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(n, model, f"{model}{n}.", f"{model}{n}!") for n in range(1, 5)])
    return bench


def unchanged(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> bool:
    """Return whether every row that stood there before still does, as it was."""
    return all(row in now for row in before)


@pytest.mark.parametrize("at", [0, 5, 10])
def test_killed_answers_go_on_where_they_were(tmp_path: pathlib.Path, at: int) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(at, signal.SIGKILL)):
        assert server.run(*gen_answer(bench)).returncode == -signal.SIGKILL
        before = rows(bench.answer_file("m"))
        assert server.run(*gen_answer(bench)).returncode == 0
    after = rows(bench.answer_file("m"))
    assert sorted(row["question_id"] for row in after) == [1, 2, 3, 4, 5, 6]
    assert all(len(row["choices"][0]["turns"]) == 2 for row in after)
    assert unchanged(after, before)
    assert repeated(server.requests) <= PARALLEL
    assert len(server.requests) == 12 + repeated(server.requests)
    assert not (bench.answer_state / "pending" / "m.jsonl").exists()


def test_killed_choices_go_on_where_they_were(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    command = gen_answer(bench, "--num-choices", "3", "--seed", "1")
    with (server := Ended(8, signal.SIGKILL)):
        assert server.run(*command).returncode == -signal.SIGKILL
        assert server.run(*command).returncode == 0
    after = rows(bench.answer_file("m"))
    assert sorted(row["question_id"] for row in after) == [1, 2]
    assert all([choice["index"] for choice in row["choices"]] == [0, 1, 2] for row in after)
    assert repeated(server.requests) <= PARALLEL


@pytest.mark.parametrize(
    ("mode", "at", "rows_in_all", "calls"),
    [
        pytest.param("single", 5, 16, 16, id="single"),
        pytest.param("pairwise-all", 1, 8, 16, id="pairs, in the first row"),
        pytest.param("pairwise-all", 10, 8, 16, id="pairs, later"),
    ],
)
def test_killed_judgments_go_on_where_they_were(
    tmp_path: pathlib.Path, mode: str, at: int, rows_in_all: int, calls: int
) -> None:
    bench = answered_bench(tmp_path)
    path = bench.folder / "model_judgment" / f"j_{'single' if mode == 'single' else 'pair'}.jsonl"
    with (server := Ended(at, signal.SIGKILL)):
        assert server.run(*gen_judgment(bench, mode)).returncode == -signal.SIGKILL
        before = rows(path)
        assert server.run(*gen_judgment(bench, mode)).returncode == 0
    after = rows(path)
    keys = {(row["question_id"], row["turn"], row.get("model")) for row in after}
    assert (len(after), len(keys)) == (rows_in_all, rows_in_all)
    assert unchanged(after, before)
    assert repeated(server.requests) <= PARALLEL
    assert len(server.requests) == calls + repeated(server.requests)
    assert not (bench.judgment_state / "pending" / path.name).exists()


def test_a_torn_last_row_is_made_again_alone(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    path = bench.answer_file("m")
    with (server := Ended(-1, signal.SIGKILL)):
        server.run(*gen_answer(bench))
        path.write_bytes(path.read_bytes()[:-30])
        again = server.run(*gen_answer(bench))
    assert (again.returncode, len(server.requests)) == (0, 8)
    assert sorted(row["question_id"] for row in rows(path)) == [1, 2, 3]


def test_ctrl_c_finishes_what_is_in_flight_and_the_next_run_goes_on(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(4, signal.SIGINT)):
        stopped = server.run(*gen_answer(bench, "-q"))
        assert (stopped.returncode, len(stopped.stderr.splitlines())) == (130, 1)
        assert "run the same command again to go on" in stopped.stderr
        assert server.statuses == {200: len(server.requests)}
        assert len(server.requests) < 12
        assert server.run(*gen_answer(bench)).returncode == 0
    assert (len(server.requests), repeated(server.requests)) == (12, 0)
    assert len(rows(bench.answer_file("m"))) == 6


def test_a_second_process_is_told_who_writes_the_file(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    told: list[subprocess.CompletedProcess[str]] = []

    class Crowded(Ended):
        def _answer(self, asked: Asked) -> str:
            if asked.number == 0:
                second = [sys.executable, "-m", *gen_answer(bench, "-q"), "--base-url", self.openai_url]
                told.append(subprocess.run(second, capture_output=True, text=True, env=environment(), check=False))
            return parrot(asked)

    with (server := Crowded(-1, signal.SIGKILL)):
        first = server.run(*gen_answer(bench))
        assert server.command is not None
        holder = server.command.pid
    assert first.returncode == 0
    assert told[0].returncode == 2
    (line,) = told[0].stderr.splitlines()
    assert f"is being written by process {holder} (gen_answer.py)" in line
    assert (len(server.requests), len(rows(bench.answer_file("m")))) == (6, 3)


def test_ctrl_c_says_what_is_left_and_the_command_to_go_on(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(4, signal.SIGINT)):
        stopped = server.run(*gen_answer(bench, "-q"))
        line = stopped.stderr.strip()
        told = re.fullmatch(r"gen_answer: stopped, (\d) of 6 left; what was done .* again to go on: (.*)", line)
        assert told is not None, line
        assert int(told[1]) == 6 - len(rows(bench.answer_file("m")))
        again = shlex.split(told[2])
        assert again[:3] == ["python", "-m", "harness.cli.gen_answer"]
        going_on = [sys.executable, *again[1:]]
        assert subprocess.run(going_on, env=environment(), capture_output=True, check=False).returncode == 0
    assert len(rows(bench.answer_file("m"))) == 6


def test_ctrl_c_again_stops_at_once_though_no_reply_comes(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))

    class Silent(Ended):
        async def _good(self, asked: Asked, fault: Any) -> bytes:
            if asked.number >= 3:
                assert self.command is not None
                self.command.send_signal(signal.SIGINT)
                await asyncio.Event().wait()
            return await super()._good(asked, fault)

    with (server := Silent(-1, signal.SIGKILL)):
        stopped = server.run(*gen_answer(bench, "-q"))
        assert stopped.returncode == 130
        assert "stopped, 6 of 6 left" in stopped.stderr or "stopped, 5 of 6 left" in stopped.stderr
    with (whole := Ended(-1, signal.SIGKILL)):
        assert whole.run(*gen_answer(bench)).returncode == 0
    kept = {asked.digest for asked in server.requests[:3]}
    assert not kept.intersection(asked.digest for asked in whole.requests)


class Spoilt(Ended):
    """A server that spoils the place of the results when its n-th request arrives."""

    def __init__(self, at: int, spoil: Callable[[], None]) -> None:
        super().__init__(-1, signal.SIGKILL)
        self.when, self.spoil = at, spoil

    def _answer(self, asked: Asked) -> str:
        if asked.number == self.when:
            self.spoil()
        return parrot(asked)


def test_a_folder_that_vanishes_stops_the_run_with_one_line(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 13)))
    moved = tmp_path / "moved"
    with (server := Spoilt(10, lambda: os.rename(bench.folder, moved))):
        stopped = server.run(*gen_answer(bench, "-q"))
    assert stopped.returncode == 2
    (line,) = stopped.stderr.splitlines()
    assert "cannot be written: the file or its folder has vanished" in line
    assert len(server.requests) < 24
    assert not bench.folder.exists(), list(bench.folder.rglob("*"))
    os.rename(moved, bench.folder)
    with (whole := Ended(-1, signal.SIGKILL)):
        assert whole.run(*gen_answer(bench)).returncode == 0
    assert sorted(row["question_id"] for row in rows(bench.answer_file("m"))) == list(range(1, 13))


def test_a_full_disk_stops_the_run_with_one_line_and_keeps_what_was_done(tmp_path: pathlib.Path) -> None:
    resource = pytest.importorskip("resource")
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 13)))
    with (server := Ended(-1, signal.SIGKILL)):
        assert server.run(*gen_answer(bench, "--first-n", "2")).returncode == 0
        words = [sys.executable, "-m", *gen_answer(bench, "-q"), "--base-url", server.openai_url, "--parallel", "3"]
        stopped = subprocess.run(
            words,
            capture_output=True,
            text=True,
            env={**environment(), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
            check=False,
        )
        assert stopped.returncode == 2
        assert stopped.stderr.count("\n") == 1, stopped.stderr
        line = stopped.stderr
        assert "cannot be written: File too large; make space; what was done before is kept" in line
        before = rows(bench.answer_file("m"))
        assert server.run(*gen_answer(bench)).returncode == 0
    after = rows(bench.answer_file("m"))
    assert before == after[: len(before)] != []
    assert sorted(row["question_id"] for row in after) == list(range(1, 13))

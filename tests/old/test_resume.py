"""Real processes, killed and interrupted in the middle of their work, and started again.

The server lives in the test's process and ends the command when a given request arrives. So the moment is the same in
every run: that request is in flight, and nobody waits for a clock.
"""

import asyncio
import collections
import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from harness.old.bench import Bench
from tests.old.processes import HEARD, Starter
from tests.old.protocol_server import Asked, ProtocolServer, parrot, verdict
from tests.old.small_bench import answer, question, rows, small_bench, write

PARALLEL = 3
DEADLINE = 120.0
"""Seconds in which a command must end; later it is made to, and the test says how far it had come and where it was."""


class Ended(ProtocolServer):
    """A server that sends a signal to the command that calls it, once, when its n-th request arrives.

    Without a starter, the command is started as from a shell.
    """

    def __init__(self, at: int, how: signal.Signals, starter: Starter | None = None) -> None:
        super().__init__(self._answer)
        self.at, self.how, self.starter = at, how, starter
        self.pid = 0
        self._late: threading.Timer | None = None
        self.ended = threading.Event()
        self._started = threading.Event()

    def _answer(self, asked: Asked) -> str:
        if asked.number == self.at:
            self.send()
        return verdict(asked) if "[[" in asked.texts[-1] else parrot(asked)

    def send(self) -> None:
        """Send the signal; if it kills, see the process gone."""
        self._started.wait()
        os.kill(self.pid, self.how)
        if self.how == signal.SIGKILL:
            self.ended.wait()

    def run(
        self, *arguments: str, first: str = "", largest_file: int | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, however that comes; a starter is told what its process does before."""
        self._started.clear()
        self.ended.clear()
        ended = self._run(arguments[0], arguments[1:], first, largest_file)
        if self._late is not None:
            self._late.cancel()
        if ended.returncode == -signal.SIGABRT:
            asked = [f"{each.number}: turn {len(each.texts)}, {each.status or 'no reply'}" for each in self.requests]
            pytest.fail(f"no end within {DEADLINE:g} s; asked: {'; '.join(asked)}\n{ended.stderr}")
        return ended

    def _run(
        self, module: str, given: Sequence[str], first: str, largest_file: int | None
    ) -> "subprocess.CompletedProcess[str]":
        words = [*given, "--base-url", self.openai_url, "--parallel", str(PARALLEL)]
        if self.starter is not None:
            first = f"import faulthandler; faulthandler.enable()\n{first}"
            command = self.starter.start(module, words, first=first, largest_file=largest_file)
            self.ended = command.ended
            self._begun(command.pid)
            return command.wait()
        pipe = subprocess.PIPE
        started = [sys.executable, "-X", "faulthandler", "-m", module, *words]
        with heard():
            process = subprocess.Popen(started, stdout=pipe, stderr=pipe, text=True, env=environment())
        with process:
            self._begun(process.pid)
            out, err = process.communicate()
            self.ended.set()
        return subprocess.CompletedProcess(started, process.returncode, out, err)

    def _begun(self, pid: int) -> None:
        """Take note of the command that calls, and see to it that it ends."""
        self.pid = pid
        self._late = threading.Timer(DEADLINE, self._end)
        self._late.daemon = True
        self._late.start()
        self._started.set()

    def _end(self) -> None:
        """End a command that does not end, which then says on stderr where it was."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGABRT)


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Let a process that is started in the block hear what it may be sent, whatever is ignored here."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in HEARD}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def environment() -> dict[str, str]:
    root = str(pathlib.Path(__file__).resolve().parent.parent.parent)
    return {**os.environ, "PYTHONPATH": root}


def gen_answer(bench: Bench, *more: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["harness.old.cli.gen_answer", "--model", "m", *where, *more]


def gen_judgment(bench: Bench, mode: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["harness.old.cli.gen_judgment", "--judge-model", "j", "--mode", mode, *where]


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


@pytest.mark.parametrize(("at", "shell"), [(0, False), (5, True), (10, False)])
def test_killed_answers_go_on_where_they_were(tmp_path: pathlib.Path, starter: Starter, at: int, shell: bool) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(at, signal.SIGKILL, None if shell else starter)):
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


def test_killed_choices_go_on_where_they_were(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    command = gen_answer(bench, "--num-choices", "3", "--seed", "1")
    with (server := Ended(8, signal.SIGKILL, starter)):
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
    tmp_path: pathlib.Path, starter: Starter, mode: str, at: int, rows_in_all: int, calls: int
) -> None:
    bench = answered_bench(tmp_path)
    path = bench.folder / "model_judgment" / f"j_{'single' if mode == 'single' else 'pair'}.jsonl"
    with (server := Ended(at, signal.SIGKILL, starter)):
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


def test_a_torn_last_row_is_made_again_alone(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench = small_bench(tmp_path)
    path = bench.answer_file("m")
    with (server := Ended(-1, signal.SIGKILL, starter)):
        server.run(*gen_answer(bench))
        path.write_bytes(path.read_bytes()[:-30])
        again = server.run(*gen_answer(bench))
    assert (again.returncode, len(server.requests)) == (0, 8)
    assert sorted(row["question_id"] for row in rows(path)) == [1, 2, 3]


def test_ctrl_c_finishes_what_is_in_flight_and_the_next_run_goes_on(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(4, signal.SIGINT, starter)):
        stopped = server.run(*gen_answer(bench, "-q"))
        assert (stopped.returncode, stopped.stderr.count("\n")) == (130, 1), stopped.stderr
        assert "run the same command again to continue" in stopped.stderr
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
        holder = server.pid
    assert first.returncode == 0
    assert told[0].returncode == 2
    (line,) = told[0].stderr.splitlines()
    assert f"is being written by process {holder} (gen_answer.py)" in line
    assert (len(server.requests), len(rows(bench.answer_file("m")))) == (6, 3)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_and_its_like_say_what_is_left_and_the_command_to_go_on(
    how: signal.Signals, tmp_path: pathlib.Path
) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))
    with (server := Ended(4, how)):
        stopped = server.run(*gen_answer(bench, "-q"))
        line = stopped.stderr.strip()
        told = re.fullmatch(r"gen_answer: stopped, (\d) of 6 left; what was done .* again to continue: (.*)", line)
        assert told is not None, line
        assert int(told[1]) == 6 - len(rows(bench.answer_file("m")))
        again = shlex.split(told[2])
        assert again[:3] == ["python", "-m", "harness.cli.gen_answer"]
        going_on = [sys.executable, *again[1:]]
        assert subprocess.run(going_on, env=environment(), capture_output=True, check=False).returncode == 0
    assert len(rows(bench.answer_file("m"))) == 6


SECOND_CTRL_C = """
import os, signal
from harness.old.running import engine

interrupted = engine._Engine._interrupted

def followed(self):
    again = self.stopping
    interrupted(self)
    if not again:
        os.kill(os.getpid(), signal.HOW)

engine._Engine._interrupted = followed
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_again_stops_at_once_though_no_reply_comes(
    how: signal.Signals, tmp_path: pathlib.Path, starter: Starter
) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 7)))

    class Silent(Ended):
        """Answers no second turn; the third of them tells that three first turns were read, and brings the signal."""

        async def _good(self, asked: Asked, fault: Any) -> bytes:
            good = await super()._good(asked, fault)
            if len(asked.texts) > 1:
                if follow_ups(self)[PARALLEL - 1 :] == [asked]:
                    self.send()
                await asyncio.Event().wait()
            return good

    def follow_ups(server: ProtocolServer) -> list[Asked]:
        return [asked for asked in server.requests if len(asked.texts) > 1]

    with (server := Silent(-1, how, starter)):
        stopped = server.run(*gen_answer(bench, "-q"), first=SECOND_CTRL_C.replace("HOW", how.name))
        assert stopped.returncode == 130
        assert "stopped, 6 of 6 left" in stopped.stderr
    with (whole := Ended(-1, signal.SIGKILL, starter)):
        assert whole.run(*gen_answer(bench)).returncode == 0
    kept = {asked.texts[0] for asked in follow_ups(server)}
    assert len(kept) == PARALLEL
    assert not kept.intersection(asked.texts[0] for asked in whole.requests if len(asked.texts) == 1)


NOT_YET = """
import os, signal
from harness.old.answering import plan

planned = plan.plan_answers

def while_planning(*arguments, **more):
    os.kill(os.getpid(), signal.HOW)
    return planned(*arguments, **more)

import harness.old.answering
harness.old.answering.plan_answers = while_planning
from harness.old.cli.command import end_like_ctrl_c
end_like_ctrl_c()
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_before_the_first_call_they_end_it_with_one_line_too(
    how: signal.Signals, tmp_path: pathlib.Path, starter: Starter
) -> None:
    bench = small_bench(tmp_path)
    with (server := Ended(-1, signal.SIGKILL, starter)):
        stopped = server.run(*gen_answer(bench, "-q"), first=NOT_YET.replace("HOW", how.name))
    assert (stopped.returncode, server.requests) == (130, [])
    assert stopped.stderr.startswith("gen_answer: interrupted; what was done is kept")
    assert stopped.stderr.count("\n") == 1


class Spoilt(Ended):
    """A server that spoils the place of the results when its n-th request arrives."""

    def __init__(self, at: int, spoil: Callable[[], None], starter: Starter) -> None:
        super().__init__(-1, signal.SIGKILL, starter)
        self.when, self.spoil = at, spoil

    def _answer(self, asked: Asked) -> str:
        if asked.number == self.when:
            self.spoil()
        return parrot(asked)


def test_a_folder_that_vanishes_stops_the_run_with_one_line(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 13)))
    moved = tmp_path / "moved"
    with (server := Spoilt(10, lambda: os.rename(bench.folder, moved), starter)):
        stopped = server.run(*gen_answer(bench, "-q"))
    assert stopped.returncode == 2
    (line,) = stopped.stderr.splitlines()
    assert "cannot be written: the file or its folder has vanished" in line
    assert len(server.requests) < 24
    assert not bench.folder.exists(), list(bench.folder.rglob("*"))
    os.rename(moved, bench.folder)
    with (whole := Ended(-1, signal.SIGKILL, starter)):
        assert whole.run(*gen_answer(bench)).returncode == 0
    assert sorted(row["question_id"] for row in rows(bench.answer_file("m"))) == list(range(1, 13))


@pytest.mark.skipif(os.name != "posix", reason="a limit on files is how a disk is made full")
def test_a_full_disk_stops_the_run_with_one_line_and_keeps_what_was_done(
    tmp_path: pathlib.Path, starter: Starter
) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 13)))
    with (server := Ended(-1, signal.SIGKILL, starter)):
        assert server.run(*gen_answer(bench, "--first-n", "2")).returncode == 0
        stopped = server.run(*gen_answer(bench, "-q"), largest_file=3000)
        assert stopped.returncode == 2
        assert stopped.stderr.count("\n") == 1, stopped.stderr
        line = stopped.stderr
        assert "cannot be written: File too large; free some space; what was done before is kept" in line
        before = rows(bench.answer_file("m"))
        assert server.run(*gen_answer(bench)).returncode == 0
    after = rows(bench.answer_file("m"))
    assert before == after[: len(before)] != []
    assert sorted(row["question_id"] for row in after) == list(range(1, 13))


def test_a_model_that_says_what_fastchat_stores_for_failures_has_answered(
    tmp_path: pathlib.Path, starter: Starter
) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(lambda asked: "$ERROR$") as server:
        address = ["--base-url", server.openai_url]
        for command, codes in ((gen_answer(bench), (0, 0)), (gen_judgment(bench, "single"), (1, 0))):
            for code in codes:  # a judge that gives no verdict at all is said once, and nothing is left to do then
                assert starter.run(command[0], [*command[1:], *address]).returncode == code
    assert len(server.requests) == 6 + 6
    assert [row["choices"][0]["turns"] for row in rows(bench.answer_file("m"))] == [["$ERROR$"] * 2] * 3
    judgments = rows(bench.folder / "model_judgment" / "j_single.jsonl")
    assert [(row["judgment"], row["score"]) for row in judgments] == [("$ERROR$", -1)] * 6

"""Fifty real processes killed at fifty moments, each resumed by the next; in the end nothing is lost, doubled or torn.

The server lives in the test's process and kills the command when a given request has arrived or a given reply has left.
The moments are seeded, and nobody waits for a clock. Every reply carries the digest of what it replies to, so the files
themselves tell which calls were paid for and kept: none of those is ever made again. Each process has a key of its own,
so that a call is counted for who made it, even if it is read from the connection after its maker's death.

Further processes are killed after each line that they write: between a row and the note that its replies have served.
"""

import asyncio
import collections
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from harness.old.bench import Bench
from harness.old.status import bench_status
from tests.old.processes import Command, Starter
from tests.old.protocol_server import Asked, ProtocolServer, parrot, verdict
from tests.old.small_bench import answer, question, rows, small_bench, write

PARALLEL = 3
_DIGEST = re.compile(r"(?:reply|judgment) ([0-9a-f]{8})\b")


class Killer(ProtocolServer):
    """A server that kills the command that calls it when its n-th request has arrived or its n-th reply has left."""

    def __init__(self, starter: Starter) -> None:
        super().__init__(lambda asked: verdict(asked) if "[[" in asked.texts[-1] else parrot(asked))
        self.starter = starter
        self.command: Command | None = None
        self.moment: tuple[Literal["request", "reply"], int] | None = None
        self.seen = collections.Counter[str]()
        self.runs = 0
        self._started = threading.Event()

    def run(
        self,
        words: Sequence[str],
        moment: tuple[Literal["request", "reply"], int] | None = None,
        *,
        first: str = "",
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, however that comes; `first` is what its process does before."""
        self._started.clear()
        self.seen.clear()
        self.runs += 1
        self.moment = moment
        module, *words = [self.openai_url if word == "URL" else word for word in words]
        words += ["-q", "--parallel", str(PARALLEL), "--base-url", self.openai_url, "--api-key-env", "TEST_KEY"]
        environment = {**os.environ, "TEST_KEY": self.key}
        self.command = self.starter.start(module, words, environment, first=first)
        self._started.set()
        return self.command.wait()

    @property
    def key(self) -> str:
        """The key of the present process."""
        return f"run-{self.runs}"

    @property
    def made(self) -> dict[str, list[str]]:
        """The digests of the calls that each process has made."""
        made: dict[str, list[str]] = {}
        for asked in self.requests:
            made.setdefault(str(asked.key), []).append(asked.digest)
        return made

    async def _good(self, asked: Asked, fault: Any) -> bytes:
        self._count("request", asked)
        return await super()._good(asked, fault)

    async def _write(self, writer: asyncio.StreamWriter, asked: Asked, body: bytes, seconds: float) -> None:
        await super()._write(writer, asked, body, seconds)
        self._count("reply", asked)

    def _count(self, what: Literal["request", "reply"], asked: Asked) -> None:
        if asked.key != self.key:
            return
        self.seen[what] += 1
        if self.moment == (what, self.seen[what]):
            self._started.wait()
            assert self.command is not None
            os.kill(self.command.pid, signal.SIGKILL)
            self.command.ended.wait()


def whole_lines(folder: pathlib.Path) -> list[Any]:
    """Return what stands on the whole lines of every file below a folder."""
    found = []
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            found.append(json.loads(line))
    return found


def kept(bench: Bench) -> set[str]:
    """Return the digests of the calls whose replies stand in some file."""
    return set(_DIGEST.findall(json.dumps(whole_lines(bench.folder))))


def moments(seed: int, count: int) -> list[tuple[Literal["request", "reply"], int]]:
    draw = random.Random(seed)
    return [(draw.choice(("request", "reply")), draw.randint(1, 6)) for _ in range(count)]


def killed_and_resumed(
    starter: Starter, bench: Bench, words: Sequence[str], seed: int, kills: int, first: str = ""
) -> None:
    """Run a command to its end through so many kills, checking after each that nothing kept is asked for again."""
    with (server := Killer(starter)):
        for moment in [*moments(seed, kills), None]:
            there = kept(bench)
            ended = server.run(words, moment, first=first)
            asked, at = set(server.made.get(server.key, ())), f"run {server.runs}, {moment}"
            assert ended.returncode == (0 if moment is None else -signal.SIGKILL), f"{at}: {ended.stderr}"
            assert not there.intersection(asked), f"{at}: a call was made whose reply had been kept"
            lost = asked - kept(bench)
            assert len(lost) <= (PARALLEL if moment else 0), f"{at}: more than the calls in flight is lost"
    for key, digests in server.made.items():
        assert len(digests) == len(set(digests)), f"{key}: a call was made twice in one process"
    made = list(itertools.chain.from_iterable(server.made.values()))
    assert len(made) - len(set(made)) <= kills * PARALLEL


def undisturbed(starter: Starter, bench: Bench, words: Sequence[str]) -> None:
    with (server := Killer(starter)):
        assert server.run(words).returncode == 0


def where(bench: Bench) -> list[str]:
    return ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]


def content(path: pathlib.Path) -> list[str]:
    """Return the rows of a file in an order of their own, without what differs from run to run."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in {"tstamp", "answer_id", "seconds"}}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return sorted(json.dumps(plain(row), sort_keys=True) for row in rows(path))


def same_files(bench: Bench, other: Bench, *names: str) -> None:
    """Assert that the files hold the same rows, that nothing else is there, and that nothing was torn or is pending."""
    for name in names:
        assert content(bench.folder / name) == content(other.folder / name) != []
    public = {
        str(p.relative_to(bench.folder))
        for folder in ("model_answer", "model_judgment")
        for p in (bench.folder / folder).glob("*")
    }
    assert public == set(names)
    left = {path.parent.name for path in bench.state.rglob("*.jsonl")} - {"torn"}
    assert left == set()


def twins(folder: pathlib.Path, questions: int, *models: str) -> tuple[Bench, Bench]:
    """Return two equal benchmarks, answered by these models."""
    made = []
    for name in ("killed", "undisturbed"):
        bench = small_bench(folder / name, *(question(n) for n in range(1, questions + 1)))
        for model in models:
            write(
                bench.answer_file(model),
                [answer(n, model, f"{model}{n}.", f"{model}{n}!") for n in range(1, questions + 1)],
            )
        made.append(bench)
    return made[0], made[1]


def gen_answer(bench: Bench, *more: str) -> list[str]:
    return ["harness.old.cli.gen_answer", "--model", "m", *where(bench), *more]


def gen_judgment(bench: Bench, mode: str) -> list[str]:
    return ["harness.old.cli.gen_judgment", "--judge-model", "j", "--mode", mode, *where(bench)]


def run_bench(bench: Bench) -> list[str]:
    judge = ["--judge-model", "j", "--judge-base-url", "URL", "--judge-api-key-env", "TEST_KEY"]
    return ["harness.old.cli.run_bench", "--model", "m", "n", *judge, "--mode", "pairwise-all", *where(bench)]


def test_answers_survive_15_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench, other = twins(tmp_path, 32)
    killed_and_resumed(starter, bench, gen_answer(bench), seed=1, kills=15)
    undisturbed(starter, other, gen_answer(other))
    same_files(bench, other, "model_answer/m.jsonl")


@pytest.mark.slow
def test_answers_after_given_turns_survive_10_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench, other = twins(tmp_path, 24, "x")
    killed_and_resumed(starter, bench, gen_answer(bench, "--history", "x"), seed=4, kills=10)
    undisturbed(starter, other, gen_answer(other, "--history", "x"))
    same_files(bench, other, "model_answer/x.jsonl", "model_answer/m+history=x.jsonl")


@pytest.mark.slow
def test_conversations_with_a_played_user_survive_10_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    user = {"persona": "A baker.", "goal": "To count.", "done": "it is counted", "most_turns": 3}
    asked = [question(n, turns=[f"How many are {n}?"], user=user) for n in range(1, 17)]
    bench, other = (small_bench(tmp_path / name, *asked) for name in ("killed", "undisturbed"))
    played = ["--user", "u", "--user-base-url", "URL", "--user-api-key-env", "TEST_KEY"]
    killed_and_resumed(starter, bench, gen_answer(bench, *played), seed=5, kills=10)
    undisturbed(starter, other, gen_answer(other, *played))
    same_files(bench, other, "model_answer/m.jsonl")


@pytest.mark.slow
def test_judgments_of_pairs_survive_15_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench, other = twins(tmp_path, 16, "a", "b")
    killed_and_resumed(starter, bench, gen_judgment(bench, "pairwise-all"), seed=2, kills=15)
    undisturbed(starter, other, gen_judgment(other, "pairwise-all"))
    same_files(bench, other, "model_answer/a.jsonl", "model_answer/b.jsonl", "model_judgment/j_pair.jsonl")


@pytest.mark.slow
def test_answers_and_judgments_in_one_go_survive_20_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench, other = twins(tmp_path, 12)
    killed_and_resumed(starter, bench, run_bench(bench), seed=3, kills=20)
    undisturbed(starter, other, run_bench(other))
    same_files(bench, other, "model_answer/m.jsonl", "model_answer/n.jsonl", "model_judgment/j_pair.jsonl")


ELSEWHERE = """
import functools
from harness.old.running import engines

engines.Team = functools.partial(engines.Team, here=False)
"""
"""Lets no call be made by the command's own process."""


@pytest.mark.slow
def test_answers_that_other_processes_ask_for_survive_8_kills(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench, other = twins(tmp_path, 24)
    killed_and_resumed(starter, bench, gen_answer(bench, "--processes", "2"), seed=6, kills=8, first=ELSEWHERE)
    undisturbed(starter, other, gen_answer(other))
    same_files(bench, other, "model_answer/m.jsonl")


AFTER_ONE_LINE = """
import os, signal
from harness.old.jsonl import Journal

append = Journal.append

def last(self, row):
    append(self, row)
    os.kill(os.getpid(), signal.SIGKILL)

Journal.append = last
"""


@pytest.mark.parametrize("command", ["gen_answer", "gen_judgment"])
def test_killed_after_every_line_that_they_write_they_leave_nothing_behind(
    tmp_path: pathlib.Path, starter: Starter, command: str
) -> None:
    bench, other = twins(tmp_path, 1, *(("a", "b") if command == "gen_judgment" else ()))

    def words(at: Bench) -> list[str]:
        return gen_answer(at, "--num-choices", "2") if command == "gen_answer" else gen_judgment(at, "pairwise-all")

    with (server := Killer(starter)):
        while (ended := server.run(words(bench), first=AFTER_ONE_LINE)).returncode == -signal.SIGKILL:
            assert server.runs < 20
        assert ended.returncode == 0, ended.stderr
        assert server.runs >= 5
    undisturbed(starter, other, words(other))
    same_files(bench, other, *(str(path.relative_to(other.folder)) for path in other.folder.glob("model_*/*")))
    if command == "gen_answer":
        assert [model.pending for model in bench_status(bench).models] == [0]

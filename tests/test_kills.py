"""Fifty real processes killed at fifty moments, each resumed by the next; in the end nothing is lost, doubled or torn.

The server lives in the test's process and kills the command when a given request has arrived or a given reply has left.
The moments are seeded, and nobody waits for a clock. Every reply carries the digest of what it replies to, so the files
themselves tell which calls were paid for and kept: none of those is ever made again.
"""

import asyncio
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Literal

from harness.bench import Bench
from tests.protocol_server import Asked, ProtocolServer, parrot, verdict
from tests.small_bench import answer, question, rows, small_bench, write

PARALLEL = 3
ROOT = pathlib.Path(__file__).resolve().parent.parent
_DIGEST = re.compile(r"(?:reply|judgment) ([0-9a-f]{8})\b")


class Killer(ProtocolServer):
    """A server that kills the command that calls it when its n-th request has arrived or its n-th reply has left."""

    def __init__(self) -> None:
        super().__init__(lambda asked: verdict(asked) if "[[" in asked.texts[-1] else parrot(asked))
        self.command: subprocess.Popen[str] | None = None
        self.moment: tuple[Literal["request", "reply"], int] | None = None
        self.killed = False
        self.seen = collections.Counter[str]()

    def run(
        self, words: Sequence[str], moment: tuple[Literal["request", "reply"], int] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, however that comes."""
        self.seen.clear()
        self.moment, self.killed, self.command = moment, False, None
        words = [self.openai_url if word == "URL" else word for word in words]
        command = [sys.executable, "-m", *words, "-q", "--parallel", str(PARALLEL), "--base-url", self.openai_url]
        pipe = subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            self.command = process
            out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    async def _good(self, asked: Asked, fault: Any) -> bytes:
        self._count("request")
        return await super()._good(asked, fault)

    async def _write(self, writer: asyncio.StreamWriter, body: bytes, seconds: float) -> None:
        await super()._write(writer, body, seconds)
        self._count("reply")

    def _count(self, what: Literal["request", "reply"]) -> None:
        self.seen[what] += 1
        if self.moment == (what, self.seen[what]) and self.command is not None:
            self.killed = True
            os.kill(self.command.pid, signal.SIGKILL)


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


def killed_and_resumed(bench: Bench, words: Sequence[str], seed: int, kills: int) -> None:
    """Run a command to its end through so many kills, checking after each that nothing kept is asked for again."""
    made: list[str] = []
    with (server := Killer()):
        for moment in [*moments(seed, kills), None]:
            there, before = kept(bench), len(server.requests)
            ended = server.run(words, moment)
            asked = [request.digest for request in server.requests[before:]]
            assert len(asked) == len(set(asked)), "a call was made twice in one process"
            assert not there.intersection(asked), "a call was made whose reply had been kept"
            assert len(set(asked) - kept(bench)) <= (PARALLEL if moment else 0), "more than the calls in flight is lost"
            assert ended.returncode == (0 if moment is None else -signal.SIGKILL), ended.stderr
            made += asked
    assert len(made) - len(set(made)) <= kills * PARALLEL


def undisturbed(bench: Bench, words: Sequence[str]) -> None:
    with (server := Killer()):
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


def test_answers_survive_15_kills(tmp_path: pathlib.Path) -> None:
    bench, other = twins(tmp_path, 32)
    words = ["harness.cli.gen_answer", "--model", "m"]
    killed_and_resumed(bench, [*words, *where(bench)], seed=1, kills=15)
    undisturbed(other, [*words, *where(other)])
    same_files(bench, other, "model_answer/m.jsonl")


def test_judgments_of_pairs_survive_15_kills(tmp_path: pathlib.Path) -> None:
    bench, other = twins(tmp_path, 16, "a", "b")
    words = ["harness.cli.gen_judgment", "--judge-model", "j", "--mode", "pairwise-all"]
    killed_and_resumed(bench, [*words, *where(bench)], seed=2, kills=15)
    undisturbed(other, [*words, *where(other)])
    same_files(bench, other, "model_answer/a.jsonl", "model_answer/b.jsonl", "model_judgment/j_pair.jsonl")


def test_answers_and_judgments_in_one_go_survive_20_kills(tmp_path: pathlib.Path) -> None:
    bench, other = twins(tmp_path, 12)

    def run_bench(at: Bench) -> list[str]:
        judge = ["--judge-model", "j", "--judge-base-url", "URL", "--mode", "pairwise-all"]
        return ["harness.cli.run_bench", "--model", "m", "n", *judge, *where(at)]

    killed_and_resumed(bench, run_bench(bench), seed=3, kills=20)
    undisturbed(other, run_bench(other))
    same_files(bench, other, "model_answer/m.jsonl", "model_answer/n.jsonl", "model_judgment/j_pair.jsonl")

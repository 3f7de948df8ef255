"""How much of a run's wall time is ours: gen_answer beside a bare client of the same SDK.

    python -m benchmarks.runner                        2,000 calls of 200 ms, 64 at once
    python -m benchmarks.runner --calls 500 --rounds 1

Both talk to one mock server on loopback, which answers after a fixed time and is pinned to the last
core. In every round each runs once as a process of its own; the ratio is taken within a round.
"""

import argparse
import asyncio
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

TEXT = "word " * 200


class Taken(NamedTuple):
    """What one process took, in seconds."""

    wall: float
    cpu: float


async def serve(seconds: float) -> None:
    """Answer chat completions on a free port, which is printed, until killed."""
    usage = {"prompt_tokens": 300, "completion_tokens": 200, "total_tokens": 500}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": TEXT},
        "finish_reason": "stop",
    }
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = request.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                await asyncio.sleep(seconds)
                writer.write(head.encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare(url: str, questions: pathlib.Path, parallel: int) -> None:
    """Send each question by the SDK, so many at once; keep nothing."""
    from openai import AsyncOpenAI

    turns = [json.loads(line)["turns"][0] for line in questions.read_text().splitlines()]
    left = iter(turns)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def worker() -> None:
            for turn in left:
                await client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": turn}],
                    temperature=0.7,
                    max_tokens=4096,
                )

        await asyncio.gather(*(worker() for _ in range(parallel)))


def measured(command: Sequence[str], cores: set[int]) -> Taken:
    """Return what a command took; its own start is included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.perf_counter() - began, cpu)


def main() -> None:
    """Print a line for each round and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--role", choices=["serve", "bare"], help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role == "serve":
        asyncio.run(serve(args.seconds))
    elif args.role == "bare":
        asyncio.run(bare(args.url, args.questions, args.parallel))
    else:
        compare(args)


def compare(args: argparse.Namespace) -> None:
    """Run both against one server."""
    cores = sorted(os.sched_getaffinity(0))
    rest = set(cores[:-1]) or set(cores)
    this = [sys.executable, "-m", "benchmarks.runner"]
    server = subprocess.Popen(
        [*this, "--role", "serve", "--seconds", str(args.seconds)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {cores[-1]}),
    )
    assert server.stdout is not None
    url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    ideal = args.calls / args.parallel * args.seconds
    print(
        f"{args.calls} calls of {args.seconds} s, {args.parallel} at once: at least {ideal:.2f} s"
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder) / "mock"
            home.mkdir()
            questions = home / "question.jsonl"
            rows = (
                {"question_id": n, "category": "writing", "turns": [f"{n} {TEXT * 2}"]}
                for n in range(args.calls)
            )
            questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            ours = [sys.executable, "-m", "turnbench", "gen_answer", "--quiet", "--redo"]
            ours += ["--bench-name", "mock", "--data-dir", folder, "--model", "m"]
            ours += ["--base-url", url, "--parallel", str(args.parallel)]
            theirs = [*this, "--role", "bare", "--url", url, "--questions", str(questions)]
            theirs += ["--parallel", str(args.parallel)]
            ratios = []
            for _ in range(args.rounds):
                bare_run, our_run = measured(theirs, rest), measured(ours, rest)
                ratios.append(our_run.wall / bare_run.wall)
                print(
                    f"bare {bare_run.wall:.2f} s (CPU {bare_run.cpu:.2f}), "
                    f"gen_answer {our_run.wall:.2f} s (CPU {our_run.cpu:.2f}), "
                    f"ratio {ratios[-1]:.3f}"
                )
            print(f"median ratio {statistics.median(ratios):.3f}")
    finally:
        server.kill()


if __name__ == "__main__":
    main()

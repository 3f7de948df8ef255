"""A server on loopback and a bare client of the SDK, beside which `ratios` runs gen_answer.

The server answers after a fixed time and is pinned to the last core.
"""

import argparse
import asyncio
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TEXT = "word " * 200


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


@contextmanager
def serving(
    folder: pathlib.Path, calls: int, parallel: int, seconds: float
) -> Iterator[tuple[list[str], list[str], set[int]]]:
    """Yield the bare client's command, ours, and the cores they may use, beside a server."""
    cores = sorted(os.sched_getaffinity(0))
    this = [sys.executable, "-m", "benchmarks.runner"]
    server = subprocess.Popen(
        [*this, "serve", "--seconds", str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {cores[-1]}),
    )
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        questions = folder / "data" / "mock" / "question.jsonl"
        questions.parent.mkdir(parents=True)
        rows = (
            {"question_id": n, "category": "writing", "turns": [f"{n} {TEXT * 2}"]}
            for n in range(calls)
        )
        questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        ours = [sys.executable, "-m", "turnbench", "gen_answer", "--quiet", "--redo"]
        ours += ["--bench-name", "mock", "--model", "m", "--base-url", url]
        ours += ["--parallel", str(parallel)]
        bare = [*this, "bare", "--url", url, "--questions", str(questions)]
        bare += ["--parallel", str(parallel)]
        yield bare, ours, set(cores[:-1]) or set(cores)
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """Serve, or be the bare client."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("role", choices=["serve", "bare"])
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--url")
    parser.add_argument("--questions", type=pathlib.Path)
    args = parser.parse_args()
    if args.role == "serve":
        asyncio.run(serve(args.seconds))
    else:
        asyncio.run(bare(args.url, args.questions, args.parallel))


if __name__ == "__main__":
    main()

"""Benchmarks of a few questions, their files, and a chat model that says what a test wants."""

import inspect
import json
import pathlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.old.bench import Bench, load_bench
from harness.old.records import Reply, Request


class Scripted:
    """A chat model that replies with what a function makes of the request, and remembers what it was asked."""

    def __init__(self, reply: Callable[[Request], Reply | Awaitable[Reply]], name: str = "m") -> None:
        self.name = name
        self.requests: list[Request] = []
        self.closed = False
        self._reply = reply

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        made = self._reply(request)
        return await made if inspect.isawaitable(made) else made

    async def close(self) -> None:
        self.closed = True


def question(number: int, category: str = "writing", turns: Sequence[str] | None = None, **more: Any) -> dict[str, Any]:
    """Return the row of a question."""
    said = turns or (f"Question {number}, first part?", f"Question {number}, second part?")
    return {"question_id": number, "category": category, "turns": list(said), **more}


def answer(number: int, model: str, *turns: str, **more: Any) -> dict[str, Any]:
    """Return the row of an answer, with the fields that FastChat writes."""
    choices = [{"index": 0, "turns": list(turns)}]
    return {"question_id": number, "answer_id": "a", "model_id": model, "choices": choices, "tstamp": 1.0, **more}


def write(path: pathlib.Path, rows: Iterable[Mapping[str, Any]]) -> pathlib.Path:
    """Write a JSON Lines file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file; none if there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def small_bench(data_dir: pathlib.Path, *questions: Mapping[str, Any], toml: str = "", name: str = "small") -> Bench:
    """Write a benchmark (of three questions, if none are given) and return it."""
    folder = data_dir / name
    write(folder / "question.jsonl", questions or [question(number) for number in (1, 2, 3)])
    if toml:
        (folder / "bench.toml").write_text(toml, encoding="utf-8")
    return load_bench(name, data_dir)

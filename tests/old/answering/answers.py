"""Answers of a server's model, and what stands in their files."""

from typing import Any

from harness.old.answering import AnswerOptions, AnswerReport, plan_answers, run_answers
from harness.old.bench import Bench
from harness.old.running.options import RunOptions
from tests.old.protocol_server import Asked, ProtocolServer
from tests.old.small_bench import rows


def made(
    server: ProtocolServer,
    bench: Bench,
    *,
    first_n: int | None = None,
    parallel: int = 4,
    redo: bool = False,
    **options: Any,
) -> AnswerReport:
    """Answer with the model `m` of the server."""
    asked = AnswerOptions(base_url=server.openai_url, **options)
    plan = plan_answers(["m"], bench, asked, questions=bench.slice(first_n=first_n), redo=redo)
    return run_answers(plan, RunOptions(parallel))


def answers(bench: Bench) -> list[dict[str, Any]]:
    return rows(bench.answer_file("m"))


def superseded(bench: Bench) -> list[dict[str, Any]]:
    return rows(bench.answer_state / "superseded" / "m.jsonl")


def shown(asked: Asked) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in asked.body["messages"]]

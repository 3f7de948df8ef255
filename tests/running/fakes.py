"""Chat models without a network, their endpoints, and jobs for them."""

import asyncio
import pathlib
from collections.abc import Callable, Generator
from typing import Any

from harness import models
from harness.running import Job
from harness.types import Answer, Choice, Detail, Message, Reply, Request, Usage


class Model:
    """Answers by a function of the request; counts its calls."""

    def __init__(
        self,
        answer: Callable[[Request], Any] | None = None,
        seconds: float = 0.0,
        ticks: int = 0,
    ) -> None:
        """Take `seconds`, or so many turns of the event loop: the same on a busy machine."""
        self.answer = answer or (lambda request: f"to {request.messages[-1].content}")
        self.seconds, self.ticks = seconds, ticks
        self.requests: list[Request] = []
        self.most_at_once = self.under_way = 0
        self.name = "fake"
        self.closed = False

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
            for _ in range(self.ticks):
                await asyncio.sleep(0)
            answer = self.answer(request)
        finally:
            self.under_way -= 1
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        usage = Usage(prompt_tokens=10, completion_tokens=5)
        return Reply(text=answer, detail=Detail(finish_reason="stop", usage=usage))

    async def close(self) -> None:
        self.closed = True

    @property
    def asked(self) -> list[str]:
        return [request.messages[-1].content for request in self.requests]


class Endpoint(models.Endpoint, frozen=True, kw_only=True):
    """The address of a model that is there already."""

    own: Any = None

    def open(self) -> Any:
        return self.own


def endpoint(model: Model, name: str = "fake", **more: Any) -> Endpoint:
    return Endpoint(name=name, provider="openai", model=name, own=model, **more)


def ask(text: str) -> Request:
    return Request(messages=[Message("user", text)])


def job(to: Any, path: pathlib.Path, number: int, turns: int = 1, **more: Any) -> Job:
    """Return a job that asks "<number>.<turn>" for each turn."""

    def steps() -> Generator[Request, Reply, Answer]:
        texts = []
        for turn in range(1, turns + 1):
            texts.append((yield ask(f"{number}.{turn}")).text)
        return Answer(question_id=number, model_id=to.name, choices=[Choice(turns=texts)])

    return Job(f"{to.name} {number}", f"question {number}", to, path, Answer, steps, **more)

"""Asks chat models of `harness.models` from tests."""

import asyncio
import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.models import ModelConfig, resolve
from harness.types import Message, Reply, Request, Sampling
from tests.servers import Server

KEY = "a-key-of-tests"
BODIES = pathlib.Path(__file__).with_name("error_bodies.jsonl")
"""What endpoints answered in place of a reply, and of which kind that is."""


def error_bodies(kind: str, *fields: str) -> list[Any]:
    """Return the parameters of a test: status, body and further fields of the answers of a kind."""
    rows = [json.loads(line) for line in BODIES.read_text(encoding="utf-8").splitlines()]
    return [
        pytest.param(*(row[field] for field in ("status", "body", *fields)), id=row["id"])
        for row in rows
        if row["kind"] == kind
    ]


def request(
    *texts: str, system: str | None = None, sampling: Sampling | None = None, **more: Any
) -> Request:
    """Return a request of these messages, the user's first, then in turns."""
    messages = [
        Message("assistant" if index % 2 else "user", text) for index, text in enumerate(texts)
    ]
    if system is not None:
        messages.insert(0, Message("system", system))
    return Request(messages=messages, sampling=sampling or Sampling(), **more)


def ask(
    server: Server | str,
    *requests: Request,
    provider: str = "openai",
    model: str = "m",
    typed: Sequence[str] = (),
    at_once: bool = False,
    options: ModelConfig | None = None,
    **config: Any,
) -> Any:
    """Return the reply or error of each request, of one chat model (the only one, if it is one)."""
    url = server if isinstance(server, str) else server.url
    if provider in ("openai", "openai_responses", "completions") and "base_url" not in config:
        url = f"{url}/v1"
    os.environ["TEST_KEY"] = KEY
    settings = {"base_url": url, "provider": provider, "api_key_env": "TEST_KEY"} | config
    endpoint = resolve(model, options, {model: ModelConfig(**settings)}, typed=frozenset(typed))

    async def run() -> list[Reply | BaseException]:
        opened = endpoint.open()
        try:
            if at_once:
                calls = [opened.reply(request) for request in requests]
                return await asyncio.gather(*calls, return_exceptions=True)
            results: list[Reply | BaseException] = []
            for request in requests:
                try:
                    results.append(await opened.reply(request))
                except Exception as error:
                    results.append(error)
            return results
        finally:
            await opened.close()

    results = asyncio.run(run())
    if len(results) > 1 or at_once:
        return results
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]

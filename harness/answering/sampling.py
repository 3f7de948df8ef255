"""What answers are sampled with, and the parameters that a command line names."""

import json
import pathlib
from collections.abc import Iterable
from typing import Any

import msgspec

from harness.bench import Bench
from harness.errors import DataError, UsageError
from harness.models import Endpoint
from harness.options import AnswerSampling, JudgeSampling
from harness.store import convert
from harness.types import Sampling

MAX_TOKENS = 4096
"""The most tokens of a reply where nothing else is said."""
RETRY_CUT = 2.0
"""By what a limit grows when a reply that was cut at it is asked again."""


def parameters(texts: Iterable[str]) -> Sampling:
    """Return parameters such as `top_k=5` or `extra_body.mode=fast`; a value is JSON, else a text.

    Raises:
        UsageError: there is no such parameter, or its value cannot be.
    """
    table: dict[str, Any] = {}
    for text in texts:
        name, equals, written = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--param must be NAME=VALUE, this is {text!r}")
        try:
            value = json.loads(written)
        except (ValueError, RecursionError):
            value = written
        head, dot, field = name.partition(".")
        if dot and head in ("extra_body", "extra_headers"):
            table.setdefault(head, {})[field] = value
        else:
            table[name] = [value] if name == "stop" and isinstance(value, str) else value
    try:
        return convert(table, Sampling, pathlib.Path("--param"))
    except DataError as error:
        raise UsageError(f"{error}; other fields of the server: extra_body.NAME=VALUE") from None


def typed(sampling: AnswerSampling | JudgeSampling) -> Sampling:
    """Return the parameters that the user typed."""
    names = ("temperature", "max_tokens", "top_p", "seed")
    flags = {name: getattr(sampling, name, None) for name in names}
    return msgspec.convert(flags, Sampling).over(parameters(sampling.param))


def requested(
    endpoint: Endpoint, bench: Bench, sampling: AnswerSampling, category: str
) -> Sampling:
    """Return the sampling of a category's answers.

    In this order: what the user typed, the benchmark's settings, the model's in turnbench.toml, and
    MT-Bench's temperature by category.
    """
    settings = Sampling(
        temperature=bench.settings.temperatures.get(category), max_tokens=bench.settings.max_tokens
    )
    usual = Sampling(temperature=bench.temperature(category), max_tokens=MAX_TOKENS)
    return typed(sampling).over(settings).over(endpoint.sampling).over(usual)


def retry_cut(bench: Bench, sampling: AnswerSampling) -> float:
    """Return by what factor a cut reply's limit grows; a limit that the user typed never does."""
    if sampling.retry_cut is not None:
        return sampling.retry_cut
    if sampling.max_tokens is not None:
        return 1.0
    return bench.settings.retry_cut or RETRY_CUT


def with_seed(sampling: Sampling, more: int) -> Sampling:
    """Return the sampling with a seed moved on, so that several conversations differ."""
    if sampling.seed is None or not more:
        return sampling
    return msgspec.structs.replace(sampling, seed=sampling.seed + more)

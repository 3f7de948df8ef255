"""`show_result`: from its flags to the page that they ask for."""

import contextlib
import functools
from collections.abc import Mapping
from typing import Any

import msgspec

from harness.errors import TurnbenchError
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price, cost_of
from harness.models.resolving import resolve
from harness.options import ShowResult, build
from harness.reporting import pages
from harness.reporting.pages import Result as Result
from harness.results.spent import Cost
from harness.types import split_variant


def show_result(mode: str | None = None, **options: Any) -> Result:
    """Return the results of a benchmark; keywords are the flags of the command `show_result`.

    >>> show_result("single", bench_name="mt_bench", judge_model="gpt-4.1").rows()  # doctest: +SKIP

    Raises:
        UsageError: an option is unknown or cannot be.
        MissingError: there are no such judgments.
        DataError: a row is invalid; with file and line.
    """
    return results_of(build(ShowResult, options if mode is None else {"mode": mode, **options}))


def results_of(options: ShowResult, cost: Cost | None = None) -> Result:
    """Return the page that an options record asks for.

    Args:
        options: the flags.
        cost: the price of a reply, for --cost and --efficiency (default: the list's).
    """
    return pages.checked(options).make(options, cost or price_of())


def price_of(models: Mapping[str, Any] | None = None) -> Cost:
    """Return the price of replies: by the tables of turnbench.toml, else by the list."""
    configured = msgspec.convert(models or {}, dict[str, ModelConfig])

    @functools.cache
    def price(model: str) -> Price | None:
        with contextlib.suppress(TurnbenchError):  # a name that no provider has
            return resolve(split_variant(model)[0], models=configured, key_needed=False).price
        return None

    return lambda model, detail: cost_of(detail, price(model))

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
from harness.options import ShowResult
from harness.reporting import pages
from harness.reporting.pages import Result as Result
from harness.results.spent import Cost
from harness.types import split_variant


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

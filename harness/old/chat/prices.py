"""What models cost by the dated list `prices.toml`; what a user states in models.toml counts before it.

>>> list_price("gpt-4.1-mini-2025-04-14").prompt
0.4
>>> list_price("my-own-model") is None
True
"""

import datetime
import functools
import pathlib
import re
import tomllib
from typing import Any, NamedTuple

from harness.old.chat.price import Price
from harness.old.chat.services import BUILTIN

PRICES = pathlib.Path(__file__).with_name("prices.toml")
FREE = Price(0.0, 0.0, 0.0)
"""What built-in models and judges cost."""


_SAME_MODEL = re.compile(r"(?:-\d{4,}[\d-]*|-latest|[:@].*)?")
"""The suffix of a version's name after its model's; anything else (-mini, -pro, -1) is another model."""


class PriceList(NamedTuple):
    """The list of prices, and the day on which they were looked up."""

    date: datetime.date
    prices: dict[str, Price]


@functools.cache
def price_list() -> PriceList:
    """Return the list that comes with turnbench."""
    data: dict[str, Any] = tomllib.loads(PRICES.read_text(encoding="utf-8"))
    return PriceList(data["date"], {name: Price(**entry) for name, entry in data["prices"].items()})


@functools.lru_cache(1024)
def list_price(model: str) -> Price | None:
    """Return the price of a model by its name: that of the longest entry that the name equals or goes on from."""
    if model.startswith(BUILTIN):
        return FREE
    prices = price_list().prices
    found = [name for name in prices if model.startswith(name) and _SAME_MODEL.fullmatch(model[len(name) :])]
    return prices[max(found, key=len)] if found else None

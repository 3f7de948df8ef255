"""What a call costs: tokens of several kinds, in dollars for a million.

1,000 prompt tokens, 400 of them from the cache and 200 put into it, and 200 reply tokens, at $2.00,
$0.20, $2.50 and $8.00: 400 * 2.00 + 400 * 0.20 + 200 * 2.50 + 200 * 8.00 = 2,980 millionths of a
dollar = $0.00298. The list is `prices.toml`; a price in turnbench.toml goes before it.

>>> list_price("gpt-4.1-mini-2025-04-14").prompt
0.4
"""

import functools
import json
import pathlib
import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from harness.types import Detail, Request

Dollars = Annotated[float, Meta(ge=0)]
UNLIMITED_REPLY = 4096
"""Tokens that a reply is taken to have at most where the request has no limit."""
MESSAGE_TOKENS = 16
"""Tokens that a message may take beyond its text: its role, and the marks around it."""


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars for a million tokens."""

    prompt: Dollars
    completion: Dollars
    cached: Dollars | None = None
    """For prompt tokens that came from the provider's cache; None: as any other."""
    written: Dollars | None = None
    """For prompt tokens that were put into it; None: as any other."""
    batch: Annotated[float, Meta(ge=0, le=1)] = 1.0
    """The share of the price that a call in a batch costs."""

    def cost(self, detail: Detail) -> float | None:
        """Return the dollars that a reply cost; None if its tokens were not counted."""
        usage = detail.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        written = min(usage.written_tokens or 0, usage.prompt_tokens - cached)
        dollars = (usage.prompt_tokens - cached - written) * self.prompt
        dollars += cached * (self.prompt if self.cached is None else self.cached)
        dollars += written * (self.prompt if self.written is None else self.written)
        dollars += usage.completion_tokens * self.completion
        return dollars / 1e6 * (self.batch if detail.batch else 1.0)

    def most(self, request: Request, *, batch: bool = False) -> float:
        """Return the most dollars that a call can cost."""
        texts = [message.content for message in request.messages]
        if request.schema is not None:
            texts.append(json.dumps(request.schema))
        prompt = MESSAGE_TOKENS * (len(texts) + 1)
        # A token has at least one byte of UTF-8.
        prompt += sum(len(text.encode("utf-8", "replace")) for text in texts)
        dollars = prompt * max(self.prompt, self.cached or 0.0, self.written or 0.0)
        dollars += (request.sampling.max_tokens or UNLIMITED_REPLY) * self.completion
        return dollars / 1e6 * (self.batch if batch else 1.0)


def cost_of(detail: Detail, price: Price | None) -> float | None:
    """Return the dollars that a reply cost: what it states, else by a price; None: unknown."""
    if detail.price is not None or price is None:
        return detail.price
    return price.cost(detail)


FREE = Price(0.0, 0.0)
"""What built-in models, local weights and servers on loopback cost."""


@functools.cache
def _prices() -> dict[str, Price]:
    tables = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes())
    return msgspec.convert(tables["prices"], dict[str, Price])


_SAME_MODEL = re.compile(r"(?:-\d{4,}[\d-]*|-latest|[:@].*)?")
"""What a version's name adds to its model's; anything else (-mini, -pro) is another model."""


def list_price(model: str) -> Price | None:
    """Return the price of a model by its name: that of the longest entry which it continues."""
    prices = _prices()
    names = [
        name
        for name in prices
        if model.startswith(name) and _SAME_MODEL.fullmatch(model[len(name) :])
    ]
    return prices[max(names, key=len)] if names else None

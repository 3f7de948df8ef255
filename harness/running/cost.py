"""What calls cost, and the budget that a run must not exceed.

    1,000 prompt tokens, 400 of them from the cache and 200 written to it, and 200 reply tokens, at $2.00, $0.20, $2.50
    and $8.00 per million: 400 × 2.00 + 400 × 0.20 + 200 × 2.50 + 200 × 8.00 = 2,980 millionths of a dollar = $0.00298

A budget is kept by reserving: before a call begins, its maximum cost is reserved; when its reply has arrived,
the actual cost replaces the reserve. So the sum can never exceed the budget, however many calls are in flight.
"""

import json
from collections.abc import Mapping

from harness.chat.endpoint import Price
from harness.errors import UsageError
from harness.records import Reply, Request, Usage

UNSTATED_REPLY = 4096
"""Tokens that a reply is taken to have at most where the request states no limit."""
MESSAGE_TOKENS = 16
"""Tokens that a message may take beyond its text: its role, and the marks around it."""
_MILLION = 1_000_000


def cost_of(usage: Usage, price: Price | None, *, batch: bool = False) -> float | None:
    """Return the dollars that a call cost; None if the price is unknown or the provider did not count its tokens."""
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    written = min(usage.written_tokens or 0, usage.prompt_tokens - cached)
    dollars = (usage.prompt_tokens - cached - written) * price.prompt
    dollars += cached * (price.prompt if price.cached is None else price.cached)
    dollars += written * (price.prompt if price.written is None else price.written)
    dollars += usage.completion_tokens * price.completion
    return dollars / _MILLION * (price.batch if batch else 1.0)


def most_tokens(request: Request) -> Usage:
    """Return the most tokens that a call can take.

    A token is at least one byte of UTF-8, so a prompt has no more tokens than bytes; the reply's limit is the
    request's own, or `UNSTATED_REPLY`.
    """
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    limit = request.sampling.max_tokens
    return Usage(size + MESSAGE_TOKENS * (len(texts) + 1), UNSTATED_REPLY if limit is None else limit)


def shown(dollars: float) -> str:
    """Return an amount as messages name it: with cents, or with as many places as a small one needs."""
    return f"${dollars:,.2f}" if dollars >= 0.995 or dollars == 0 else f"${dollars:.4f}".removesuffix("00")


class Budget:
    """What a run may cost, what it has cost, and what the calls in flight may still cost.

        reserved = budget.reserve(name, request)     before every call (a repeated one too)
        if reserved is None: …                       it must not begin
        budget.settle(name, reserved, reply)         after it, whatever came of it; None if it brought no reply

    While other calls are in flight, a call that was refused may fit later: unused reserves are released
    when they are settled. If nothing is in flight (`reserved` is 0), a refusal is final for this call; no call of
    the run may fit any more, and the run should stop.

    A reply without token counts is assumed to cost its whole reserve. A failed call is
    assumed to be free: providers do not charge for errors.
    """

    def __init__(self, most: float, prices: Mapping[str, Price | None], *, batch: bool = False) -> None:
        """Allow `most` dollars. `prices` has the price of each model by its name; a name that it lacks costs nothing.

        Raises:
            UsageError: a price is unknown, or the budget is not an amount of money.
        """
        unknown = [name for name, price in prices.items() if price is None]
        if unknown:
            raise UsageError(
                f"--max-cost needs the price of {', '.join(unknown)}, which is unknown; state it in models.toml "
                "(price = {prompt = ..., completion = ...}, dollars for a million tokens) or leave --max-cost out"
            )
        self.most = most
        self.spent = 0.0
        """Dollars that the calls settled so far have cost."""
        self.reserved = 0.0
        """Dollars that the calls in flight may cost at most."""
        self._prices = prices
        self._batch = batch

    def reserve(self, name: str, request: Request) -> float | None:
        """Return the dollars reserved for a call of this model; None if it must not begin: it could cost too much."""
        price = self._prices.get(name)
        if price is None:
            return 0.0
        dearest = max(price.prompt, price.cached or 0.0, price.written or 0.0)
        amount = cost_of(most_tokens(request), Price(dearest, price.completion, batch=price.batch), batch=self._batch)
        assert amount is not None
        if self.spent + self.reserved + amount > self.most:
            return None
        self.reserved += amount
        return amount

    def settle(self, name: str, reserved: float, reply: Reply | None) -> float:
        """Return the actual cost of a call, and release the rest of its reserve."""
        cost: float | None = 0.0
        if reply is not None and self._prices.get(name) is not None:
            cost = cost_of(reply.usage, self._prices[name], batch=self._batch)
        cost = reserved if cost is None else cost
        self.reserved = max(0.0, self.reserved - reserved)
        self.spent += cost
        return cost

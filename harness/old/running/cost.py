"""The budget that a run must not exceed; what a call costs is in `harness.old.chat.price`.

A budget is kept by reserving: before a call begins, its maximum cost is reserved; when its reply has arrived,
the actual cost replaces the reserve. So the sum can never exceed the budget, however many calls are in flight.
"""

from collections.abc import Mapping

from harness.old.chat.price import Price
from harness.old.errors import UsageError
from harness.old.records import Reply, Request


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
        amount = price.most(request, batch=self._batch)
        if self.spent + self.reserved + amount > self.most:
            return None
        self.reserved += amount
        return amount

    def settle(self, name: str, reserved: float, reply: Reply | None) -> float:
        """Return the actual cost of a call, and release the rest of its reserve."""
        cost: float | None = 0.0
        if reply is not None and (price := self._prices.get(name)) is not None:
            cost = price.cost(reply)
        cost = reserved if cost is None else cost
        self.reserved = max(0.0, self.reserved - reserved)
        self.spent += cost
        return cost

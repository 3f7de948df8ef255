"""What a run may cost: every call reserves the most that it can cost before it begins.

When its reply arrives the real cost takes the reserve's place, so the sum never exceeds the budget,
however many calls are under way.
"""

import asyncio
import math

from harness.errors import UsageError
from harness.models import Endpoint
from harness.types import Request


class Budget:
    """Dollars that a run may spend; infinity: any."""

    def __init__(self, most: float | None, *, batch: bool = False) -> None:
        self.most = math.inf if most is None else most
        self.spent = 0.0
        self.reserved = 0.0
        """What calls under way may still cost."""
        self.exceeded = False
        """Whether a call was refused for good."""
        self._batch = batch
        self._settled = asyncio.Event()

    def check(self, endpoint: Endpoint) -> None:
        """Raise `UsageError` if there is a limit and the endpoint's price is unknown."""
        if self.most < math.inf and endpoint.price is None:
            raise UsageError(
                f"--max-cost needs the price of {endpoint.name}, which is unknown; state it in "
                "turnbench.toml (price = {prompt = ..., completion = ...}, dollars for a million "
                "tokens) or leave --max-cost out"
            )

    async def reserve(self, endpoint: Endpoint, request: Request) -> float | None:
        """Return the dollars reserved for a call; None: it could exceed the budget.

        While other calls are under way it waits for what they leave of their reserves.
        """
        if self.most == math.inf or endpoint.price is None:
            return 0.0
        amount = endpoint.price.most(request, batch=self._batch)
        while self.spent + self.reserved + amount > self.most:
            if self.exceeded or self.reserved <= 0:
                self.exceeded = True
                self._settled.set()
                return None
            self._settled.clear()
            await self._settled.wait()
        self.reserved += amount
        return amount

    def settle(self, reserved: float, cost: float) -> None:
        """Put the cost of a call in the place of its reserve."""
        self.reserved = max(0.0, self.reserved - reserved)
        self.spent += cost
        self._settled.set()

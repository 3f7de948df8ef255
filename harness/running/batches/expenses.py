"""What a run by batches costs: set aside when a request is handed in, settled when its result is there."""

from collections.abc import Mapping
from typing import Any

from harness.chat.endpoint import Price
from harness.errors import Interrupted
from harness.records import Reply
from harness.running.batches.lanes import Flight
from harness.running.cost import Budget, cost_of, shown
from harness.running.jobs import Course
from harness.running.watch import Tally


class Expenses:
    """The prices by model, the budget if there is one, and the counts in which the cost stands."""

    def __init__(self, prices: Mapping[str, Price | None], budget: Budget | None, tally: Tally) -> None:
        self.prices = prices
        self.budget = budget
        self.tally = tally
        self.too_dear = False
        """Whether something is left that the budget does not allow."""

    def reserved(self, course: Course[Any]) -> float | None:
        """Return the dollars set aside for the request that is due; None if the budget does not allow it."""
        if self.budget is None:
            return 0.0
        assert course.request is not None
        amount = self.budget.reserve(course.job.model, course.request)
        self.too_dear |= amount is None
        return amount

    def paid(self, flight: Flight, number: int, reply: Reply | None) -> None:
        """Count what a request cost; None: nothing, it was not answered."""
        name = flight.wanted[number].job.model
        if self.budget is not None:
            self.budget.settle(name, flight.reserved.pop(number, 0.0), reply)
        cost = None if reply is None else cost_of(reply.usage, self.prices[name], batch=True)
        if cost is not None:
            self.tally.cost = (self.tally.cost or 0.0) + cost

    def exceeded(self) -> Interrupted:
        """Return the error that says that the budget is used up."""
        assert self.budget is not None
        return Interrupted(
            f"stopped before the cost could exceed {shown(self.budget.most)} (so far {shown(self.budget.spent)});"
            " what was done is kept, run the same command with a higher --max-cost to go on"
        )

"""A budget that no run exceeds."""

import random

import pytest

from harness.old.chat.price import Price
from harness.old.errors import UsageError
from harness.old.records import Message, Reply, Request, Sampling, Usage
from harness.old.running.cost import Budget, shown

PRICE = Price(2.0, 8.0, cached=0.5, batch=0.5)


def request(text: str = "Hello", limit: int | None = 1000) -> Request:
    return Request((Message("user", text),), Sampling(max_tokens=limit))


def test_a_call_that_could_exceed_the_budget_must_not_begin() -> None:
    budget = Budget(0.0085, {"m": PRICE})
    first = budget.reserve("m", request())
    assert first is not None
    assert first == pytest.approx((5 + 32) * 2e-6 + 1000 * 8e-6)
    assert budget.reserve("m", request()) is None
    assert budget.settle("m", first, Reply("Hi", usage=Usage(10, 20))) == pytest.approx(0.00018)
    assert budget.reserved == 0
    assert budget.spent == pytest.approx(0.00018)
    assert budget.reserve("m", request()) is not None


def test_a_failed_call_costs_nothing_and_an_uncounted_reply_all_that_was_reserved() -> None:
    budget = Budget(1.0, {"m": PRICE})
    reserved = budget.reserve("m", request())
    assert reserved is not None
    assert budget.settle("m", reserved, None) == 0.0
    reserved = budget.reserve("m", request())
    assert reserved is not None
    assert budget.settle("m", reserved, Reply("Hi")) == reserved == budget.spent


def test_a_model_that_is_not_priced_here_costs_nothing() -> None:
    budget = Budget(0.0, {"m": PRICE})
    assert budget.reserve("builtin/eliza", request()) == 0.0
    assert budget.settle("builtin/eliza", 0.0, Reply("Hi")) == 0.0
    assert budget.reserve("m", request()) is None


def test_a_batch_reserves_its_share() -> None:
    whole, half = (
        Budget(1, {"m": PRICE}).reserve("m", request()),
        Budget(1, {"m": PRICE}, batch=True).reserve("m", request()),
    )
    assert whole is not None
    assert half == pytest.approx(whole / 2)


def test_an_unknown_price_is_said_before_the_first_call() -> None:
    with pytest.raises(UsageError, match="--max-cost needs the price of mine, which is unknown; state it in"):
        Budget(1.0, {"m": PRICE, "mine": None})


def test_no_order_of_calls_and_replies_exceeds_the_budget() -> None:
    drawn = random.Random(7)
    budget = Budget(0.05, {"m": PRICE})
    flying: list[float] = []
    for _ in range(2000):
        reserved = budget.reserve("m", request(limit=300)) if drawn.random() < 0.6 else None
        if reserved is not None:
            flying.append(reserved)
        elif flying:
            usage = Usage(drawn.randrange(38), drawn.randrange(301), cached_tokens=drawn.randrange(5))
            reply = Reply("Hi", usage=usage) if drawn.random() < 0.9 else None
            budget.settle("m", flying.pop(drawn.randrange(len(flying))), reply)
        assert budget.spent + budget.reserved <= 0.05 + 1e-12
    assert budget.spent > 0.04


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.0, "$0.00"), (0.0001, "$0.0001"), (0.05, "$0.05"), (0.037, "$0.0370"), (1234.5, "$1,234.50")],
)
def test_small_amounts_keep_their_places(dollars: float, text: str) -> None:
    assert shown(dollars) == text

"""What calls cost: tokens times price; a price by anything else is one class."""

import datetime
import pathlib
from collections.abc import Iterator

import pytest

from harness.old.chat import prices
from harness.old.chat.price import UNSTATED_REPLY, Price, most_tokens
from harness.old.chat.prices import PriceList, list_price
from harness.old.records import Message, Reply, Request, Sampling, Usage
from harness.old.results.cost import show_cost
from harness.old.results.efficiency import what_it_took
from harness.old.running.cost import Budget
from harness.old.running.estimate import Estimate, Span
from tests.old.small_bench import answer, question, small_bench, write

PRICE = Price(2.0, 8.0, cached=0.5, batch=0.5)


def request(text: str = "Hello", limit: int | None = 1000) -> Request:
    return Request((Message("user", text),), Sampling(max_tokens=limit))


@pytest.mark.parametrize(
    ("usage", "batch", "expected"),
    [
        pytest.param(Usage(1000, 200), False, 0.0036, id="prompt and reply"),
        pytest.param(Usage(1000, 200, cached_tokens=400), False, 0.0030, id="some from the cache"),
        pytest.param(Usage(1000, 200, cached_tokens=4000), False, 0.0021, id="no more from the cache than there is"),
        pytest.param(Usage(1000, 200), True, 0.0018, id="half in a batch"),
        pytest.param(Usage(None, 200), False, None, id="not counted"),
    ],
)
def test_cost_is_tokens_times_price(usage: Usage, batch: bool, expected: float | None) -> None:
    assert PRICE.cost(Reply("Hi", usage=usage, batch=batch)) == (None if expected is None else pytest.approx(expected))


def test_cached_tokens_cost_as_any_other_without_a_price_of_their_own() -> None:
    reply = Reply("Hi", usage=Usage(1_000_000, 0, cached_tokens=500_000))
    assert Price(2.0, 8.0).cost(reply) == pytest.approx(2.0)


def test_what_is_put_into_the_cache_has_a_price_of_its_own() -> None:
    price = Price(2.0, 8.0, cached=0.2, written=2.5)
    assert price.cost(Reply("Hi", usage=Usage(1000, 200, None, 400, 200))) == pytest.approx(0.00298)
    most = price.cost(Reply("Hi", usage=Usage(1000, 0, None, 900, 900)))
    assert most == pytest.approx((900 * 0.2 + 100 * 2.5) / 1e6)
    budget = Budget(1.0, {"m": price})
    assert budget.reserve("m", request("x" * 1000, 1)) == pytest.approx(((1000 + 32) * 2.5 + 8) / 1e6)


def test_a_prompt_has_at_most_a_token_for_each_byte() -> None:
    most = most_tokens(request("柿子", None))
    assert most.prompt_tokens == 6 + 2 * 16
    assert most.completion_tokens == UNSTATED_REPLY


class ByTheHour(Price):
    """$3.60 for an hour of the machine, whatever the tokens; a call takes ten minutes at most."""

    def cost(self, reply: Reply) -> float | None:
        return None if reply.seconds is None else 0.001 * reply.seconds

    def most(self, request: Request, *, batch: bool) -> float:
        return 0.6


@pytest.fixture
def rented(monkeypatch: pytest.MonkeyPatch) -> Iterator[Price]:
    price = ByTheHour(0.0, 0.0)
    monkeypatch.setattr(prices, "price_list", lambda: PriceList(datetime.date(2026, 1, 1), {"rented": price}))
    list_price.cache_clear()
    yield price
    list_price.cache_clear()


def test_a_price_by_the_hour_is_one_class(rented: Price, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=["a", "b"]))
    row = answer(1, "rented", "one", "two")
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "reasoning_tokens": 100}
    row["choices"][0]["details"] = [{"usage": usage, "seconds": seconds} for seconds in (20.0, 40.0)]
    write(bench.answer_file("rented"), [row])
    (spent,) = show_cost(bench_name=bench.name, data_dir=tmp_path)
    assert spent.cost == pytest.approx(0.06)
    took = what_it_took({"rented": bench.answer_file("rented")})["rented"]
    assert took.numbers["cost"].tolist() == pytest.approx([0.02, 0.04])
    budget = Budget(1.0, {"rented": rented})
    assert budget.reserve("rented", request()) == 0.6
    assert budget.reserve("rented", request()) is None
    assert budget.settle("rented", 0.6, Reply("Hi", seconds=30.0)) == pytest.approx(0.03)
    assert Estimate("rented", 2, 2000, Span(100, 1000), rented).cost is None  # how long calls will take is not known

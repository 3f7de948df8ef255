"""Prices by name, and what a call costs."""

import pytest

from harness.models import Price, list_price
from harness.types import Detail, Sampling, Usage
from tests.models.asking import request


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("gpt-4.1", 2.0),
        ("gpt-4.1-2025-04-14", 2.0),
        ("gpt-4.1-mini", 0.4),
        ("claude-3-haiku-20240307", 0.25),
        ("gemini-2.5-flash-lite", 0.1),
        ("my-model", None),
        ("gpt-4.1-huge", None),
    ],
)
def test_a_version_costs_what_its_model_does(name: str, prompt: float | None) -> None:
    price = list_price(name)
    assert (price.prompt if price else None) == prompt


def test_tokens_from_the_cache_and_into_it_have_their_own_price() -> None:
    price = Price(2.0, 8.0, cached=0.2, written=2.5, batch=0.5)
    usage = Usage(prompt_tokens=1000, completion_tokens=200, cached_tokens=400, written_tokens=200)
    assert price.cost(Detail(usage=usage)) == pytest.approx(0.00298)
    assert price.cost(Detail(usage=usage, batch=True)) == pytest.approx(0.00149)
    assert price.cost(Detail()) is None


def test_no_call_costs_more_than_its_most() -> None:
    price = Price(1.0, 10.0)
    most = price.most(request("Grüß Gott.", sampling=Sampling(max_tokens=100)))
    usage = Usage(prompt_tokens=len("Grüß Gott.".encode()), completion_tokens=100)
    cost = price.cost(Detail(usage=usage))
    assert cost is not None
    assert 0.001 < cost <= most

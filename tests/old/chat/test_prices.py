"""The price list: by whole names and their versions, never by a relative's name."""

import datetime
import re

import pytest

from harness.old.chat.prices import FREE, PRICES, list_price, price_list
from harness.old.chat.services import provider_of


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        pytest.param("gpt-4.1-2025-04-14", "gpt-4.1", id="dated"),
        pytest.param("gpt-4o-mini-2024-07-18", "gpt-4o-mini", id="the longest entry"),
        pytest.param("gpt-4-0613", "gpt-4", id="short date"),
        pytest.param("claude-sonnet-4-20250514", "claude-sonnet-4", id="Anthropic's dates"),
        pytest.param("claude-3-5-haiku-latest", "claude-3-5-haiku", id="latest"),
        pytest.param("claude-haiku-4-5@20251001", "claude-haiku-4-5", id="with an at sign"),
    ],
)
def test_a_version_costs_what_its_model_costs(name: str, same_as: str) -> None:
    assert list_price(name) == price_list().prices[same_as]


@pytest.mark.parametrize(
    "name",
    ["my-model", "gpt-4.15", "gpt-4-32k", "gpt-5-ultra", "o3-deep-research", "claude-opus-4-99", "gpt-oss-20b", ""],
)
def test_a_model_that_is_not_listed_has_no_known_price(name: str) -> None:
    assert list_price(name) is None


def test_built_in_models_cost_nothing() -> None:
    assert list_price("builtin/overlap") == FREE


def test_every_entry_is_of_a_known_provider_and_plausible() -> None:
    for name, price in price_list().prices.items():
        assert provider_of(name) is not None, name
        assert 0 < price.prompt < price.completion <= 1000, name
        assert price.cached is None or 0 < price.cached <= price.prompt / 2, name
        assert price.written is None or price.prompt < price.written <= price.prompt * 1.25, name
        assert price.batch in (0.5, 1.0), name


def test_the_list_is_dated_and_says_how_to_override_it() -> None:
    assert price_list().date >= datetime.date(2026, 11, 1)
    head = " ".join(re.findall(r"^# ?(.*)$", PRICES.read_text(encoding="utf-8"), re.MULTILINE))
    assert "List prices in dollars for a million tokens" in head
    assert "models.toml" in head

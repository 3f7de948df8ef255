"""What providers say in headers is left of their limits."""

import pytest

from harness.old.chat.standing import Allowance, Standing, seconds_until


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("1d", 86400.0),
        ("12", 12.0),
        ("0s", 0.0),
        ("2027-01-01T00:00:30Z", 30.0),
        ("2027-01-01T01:00:30+01:00", 30.0),
        ("2026-12-31T23:59:00Z", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("5 parsecs", None),
    ],
)
def test_a_reset_is_a_length_of_time_or_a_moment(text: str, seconds: float | None) -> None:
    assert seconds_until(text, "Fri, 01 Jan 2027 00:00:00 GMT") == seconds


def test_openais_headers() -> None:
    standing = Standing()
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "X-RateLimit-Reset-Requests": "1s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    standing.note([(name.encode(), value.encode()) for name, value in headers.items()], now=100.0)
    assert standing.allowances == {"requests": Allowance(59, 101.0), "tokens": Allowance(149984, 460.0)}
    assert standing.notes == 1


def test_anthropics_headers() -> None:
    standing = Standing()
    headers = {"date": "Fri, 01 Jan 2027 00:00:00 GMT"}
    for kind, left in (("requests", "3"), ("tokens", "50"), ("input-tokens", "20"), ("output-tokens", "30")):
        headers[f"anthropic-ratelimit-{kind}-limit"] = "1000"
        headers[f"anthropic-ratelimit-{kind}-remaining"] = left
        headers[f"anthropic-ratelimit-{kind}-reset"] = "2027-01-01T00:00:07Z"
    standing.note([(name.encode(), value.encode()) for name, value in headers.items()], now=100.0)
    assert {kind: (told.remaining, told.resets_at) for kind, told in standing.allowances.items()} == {
        "requests": (3, 107.0),
        "tokens": (50, 107.0),
        "input-tokens": (20, 107.0),
        "output-tokens": (30, 107.0),
    }


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "application/json"},
        {"x-ratelimit-remaining-requests": "0"},
        {"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "1s"},
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later"},
    ],
    ids=["none", "others", "no reset", "no number", "no time"],
)
def test_half_a_word_is_no_news(headers: dict[str, str]) -> None:
    standing = Standing()
    standing.note([(name.encode(), value.encode()) for name, value in headers.items()])
    assert standing.allowances == {}

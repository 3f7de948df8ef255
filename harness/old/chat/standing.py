"""The remaining rate limits in the headers of a provider's replies, and when they reset.

    OpenAI        x-ratelimit-remaining-requests: 59      x-ratelimit-reset-requests: 6m0s
    Anthropic     anthropic-ratelimit-requests-remaining: 59      …-requests-reset: 2027-01-01T00:00:00Z

The same for `tokens`; Anthropic's also for `input-tokens` and `output-tokens`.
"""

import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NAMES = re.compile(
    rb"x-ratelimit-(?P<what>remaining|reset)-(?P<kind>requests|tokens)"
    rb"|anthropic-ratelimit-(?P<kind2>requests|tokens|input-tokens|output-tokens)-(?P<what2>remaining|reset)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
LONGEST = 60
"""Characters of a time; what is longer is none, and is not searched."""
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of one limit is left, and until when."""

    remaining: float
    resets_at: float
    """By the monotonic clock."""


@dataclass(slots=True)
class Standing:
    """The state of an endpoint: whether it has answered, and its last reported limits."""

    heard: bool = False
    """Whether it has ever sent anything."""
    allowances: dict[str, Allowance] = field(default_factory=dict)
    """By what is limited: `requests`, `tokens`, `input-tokens`, `output-tokens`."""
    longest: float = math.inf
    """Seconds that a reset may be away; whoever waits for one sets it."""
    notes: int = 0
    """How many replies have reported limits."""

    def note(self, headers: Iterable[tuple[bytes, bytes]], now: float | None = None) -> None:
        """Update from the headers of a reply. A limit without a reset time is ignored."""
        said: dict[str, dict[str, str]] = {}
        date = b""
        for name, value in headers:
            if (found := _NAMES.fullmatch(name)) is not None:
                what, kind = found["what"] or found["what2"], found["kind"] or found["kind2"]
                said.setdefault(kind.decode().lower(), {})[what.decode().lower()] = value.decode("latin-1").strip()
            elif len(name) == 4 and name.lower() == b"date":
                date = value
        if not said:
            return
        clock = time.monotonic() if now is None else now
        for kind, words in said.items():
            reset = seconds_until(words.get("reset", ""), date.decode("latin-1"))
            remaining = _number(words.get("remaining", ""))
            if reset is not None and remaining is not None:
                self.allowances[kind] = Allowance(remaining, clock + min(reset, self.longest))
        self.notes += 1


def seconds_until(text: str, date: str = "") -> float | None:
    """Return the seconds that a reset is away: a length of time (`6m0s`, `20ms`, `1.5`) or a moment; None if neither.

    A moment is compared with the server's own `date`, if there is one: its clock may differ from ours.
    """
    if len(text) > LONGEST:
        return None
    plain = _number(text)
    if plain is not None:
        return plain
    if text and _PARTS.sub("", text) == "":
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _PARTS.findall(text))
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    now = http_date(date) or datetime.now(UTC)
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())


def http_date(text: str) -> datetime | None:
    """Return the moment that a header names, None if it names none or one that no calendar has."""
    try:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

"""What can go wrong, one function a fault, and plans of when it does."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.old.protocol.messages import Asked


@dataclass(frozen=True)
class Fault:
    """One way in which a call fails; the body takes the shape of the provider that was asked."""

    status: int
    message: str = ""
    type: str | None = None
    """OpenAI's or Anthropic's error type; None: the usual one for the status."""
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it stands instead of an error body."""
    how: Literal["whole", "drop", "lost", "cut", "drip", "empty", "wire"] = "whole"
    """`drop`: no answer at all. `lost`: a batch is taken, and no answer comes. `cut`: a good reply whose JSON stops
    halfway. `drip`: a good reply, byte by byte. `empty`: a good reply without its choices or content. `wire`: what
    `sends` makes of a good reply, and the end of the connection."""
    seconds: float = 0.0
    """Between two bytes of a drip."""
    sends: "Callable[[bytes], Iterable[Sent]] | None" = None


Sent: TypeAlias = bytes | float | None
"""What goes over the wire as it stands; or seconds in which nothing does; or (None) the connection is reset."""
Plan: TypeAlias = Mapping[int, Fault] | Callable[[Asked], Fault | None]


def rate_limited(retry_after: float | str | None = 1, *, milliseconds: int | None = None) -> Fault:
    """Return a 429 that says when to come again."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    if milliseconds is not None:
        headers["retry-after-ms"] = str(milliseconds)
    return Fault(429, "Rate limit reached for requests.", code="rate_limit_exceeded", headers=headers)


def no_credit() -> Fault:
    """Return OpenAI's 429 that no waiting helps against."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return Fault(429, message, type="insufficient_quota", code="insufficient_quota")


def outage(status: int = 500) -> Fault:
    """Return a server's own failure."""
    return Fault(status, "The server had an error while processing your request.")


def overloaded() -> Fault:
    """Return Anthropic's 529."""
    return Fault(529, "Overloaded")


def bad_request(message: str, *, status: int = 400, code: str | None = None, param: str | None = None) -> Fault:
    """Return a 400 with these words."""
    return Fault(status, message, code=code, param=param)


def dropped() -> Fault:
    """Return a connection that is closed without an answer."""
    return Fault(0, how="drop")


def cut_json() -> Fault:
    """Return a 200 whose body stops in the middle, its length honest."""
    return Fault(200, how="cut")


def slow_drip(seconds: float) -> Fault:
    """Return a good reply that comes byte by byte."""
    return Fault(200, how="drip", seconds=seconds)


def on_the_wire(sends: Callable[[bytes], Iterable[Sent]]) -> Fault:
    """Return an answer that is made of the body of a good reply, headers and all."""
    return Fault(200, how="wire", sends=sends)


def raw(body: bytes, *, status: int = 200, content_type: str = "application/json") -> Fault:
    """Return an answer with this very body."""
    return Fault(status, body=body, headers={"content-type": content_type})


def html_page(status: int = 200) -> Fault:
    """Return what a proxy's sign-in page looks like."""
    return raw(b"<!doctype html><html><body>Please sign in</body></html>", status=status, content_type="text/html")


def error_in_200() -> Fault:
    """Return an error that comes as a success."""
    return raw(b'{"error": {"message": "Upstream failed", "code": 502}}')


def no_choices() -> Fault:
    """Return a reply with an empty list of choices, or of blocks gone missing."""
    return Fault(200, how="empty")


def seeded(share: float, faults: Sequence[Fault], *, seed: int = 0, tries: int = 1) -> Callable[[Asked], Fault | None]:
    """Return a plan by which this share of bodies fails, on their first `tries` tries, in whatever order they come."""

    def plan(asked: Asked) -> Fault | None:
        draw = random.Random(f"{seed} {asked.digest} {asked.tries}")
        return draw.choice(faults) if asked.tries < tries and draw.random() < share else None

    return plan

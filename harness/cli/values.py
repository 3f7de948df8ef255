"""The kinds of values that flags take: each reads one text for argparse, and says what it must be."""

import argparse
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

Number = TypeVar("Number", int, float)


def _number(kind: type[Number], wanted: str, fits: Callable[[float], bool]) -> Callable[[str], Number]:
    """Return what reads a number that fits."""

    def read(text: str) -> Number:
        try:
            number = float(text)
            if fits(number):
                return kind(number)
        except (ValueError, OverflowError):
            pass
        raise argparse.ArgumentTypeError(f"must be {wanted}, this is {text!r}")

    return read


positive = _number(int, "a whole number from 1", lambda n: n >= 1 and n == int(n))
whole = _number(int, "a whole number from 0", lambda n: n >= 0 and n == int(n))
gpus = _number(float, "a whole number from 1, or a share of a GPU", lambda n: n > 0 and (n < 1 or n == int(n)))
factor = _number(float, "a number from 1 to 100", lambda n: 1 <= n <= 100)
temperature = _number(float, "a number from 0 to 2", lambda n: 0 <= n <= 2)
share = _number(float, "a number above 0, at most 1", lambda n: 0 < n <= 1)
more_than_0 = _number(float, "a number above 0", lambda n: n > 0)
rate = _number(float, "a number above 0", lambda n: 0 < n < float("inf"))
seconds = _number(float, "a number of seconds above 0", lambda n: 0 < n < float("inf"))
_calls = _number(int, "auto or a whole number from 1", lambda n: n >= 1 and n == int(n))
_amount = _number(float, "an amount of dollars from 0", lambda n: 0 <= n < float("inf"))


def parallel(text: str) -> int | None:
    """Return a number of calls at once, or None for `auto`."""
    return None if text == "auto" else _calls(text)


def dollars(text: str) -> float:
    """Return an amount of money."""
    return _amount(text.removeprefix("$"))


def param(text: str) -> tuple[str, Any]:
    """Return the name and the value of a parameter: a value is JSON where it can be, else a text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, this is {text!r}")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def variable(text: str) -> str:
    """Return the name of an environment variable; a key given in its place is not repeated anywhere."""
    if text in os.environ or (text.isascii() and text.isidentifier() and text.isupper()):
        return text
    raise argparse.ArgumentTypeError("must be the name of an environment variable that holds the key, never the key")


KINDS: dict[str, Callable[[str], Any]] = {
    "N": positive,
    "K": positive,
    "T": temperature,
    "P": share,
    "SHARE": share,
    "X": more_than_0,
    "GRADE": float,
    "SECONDS": seconds,
    "DOLLARS": dollars,
    "FACTOR": factor,
    "NAME=VALUE": param,
    "VARIABLE": variable,
}
"""What a value must be by the name that the help gives it; any other is a text."""

"""The types of values that flags take: each parses one text for argparse, or says what it must be."""

import argparse
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

from harness.old.bounds import (
    ABOVE_0,
    AT_ONCE,
    CALLS_A_MINUTE,
    COUNT,
    DOLLARS,
    FACTOR,
    FROM_0,
    GPUS,
    PROCESSES,
    SECONDS,
    SHARE_ABOVE_0,
    TEMPERATURE,
    TOKENS_A_MINUTE,
)
from harness.old.written import Wanted

Number = TypeVar("Number", int, float)


def _number(kind: type[Number], wanted: Wanted) -> Callable[[str], Number]:
    """Return what reads a number that fits."""

    def read(text: str) -> Number:
        try:
            number = float(text)
            if wanted.fits(number) and (kind is float or number == int(number)):
                return kind(number)
        except (ValueError, OverflowError):
            pass
        raise argparse.ArgumentTypeError(f"must be {wanted.words}, this is {text!r}")

    return read


whole = _number(int, FROM_0)
gpus = _number(float, GPUS)
above_0 = _number(float, ABOVE_0)
rpm = _number(float, CALLS_A_MINUTE)
tpm = _number(float, TOKENS_A_MINUTE)
processes = _number(int, PROCESSES)
_calls = _number(int, Wanted(f"auto or {AT_ONCE.words}", AT_ONCE.fits))


def parallel(text: str) -> int | None:
    """Return a number of calls at once, or None for `auto`."""
    return None if text == "auto" else _calls(text)


def dollars(text: str) -> float:
    """Return an amount of money."""
    return _number(float, DOLLARS)(text.removeprefix("$"))


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
    """Return the name of an environment variable; the error never repeats a key given instead of a name."""
    if text in os.environ or (text.isascii() and text.isidentifier() and text.isupper()):
        return text
    raise argparse.ArgumentTypeError("must be the name of an environment variable that holds the key, never the key")


KINDS: dict[str, Callable[[str], Any]] = {
    "N": _number(int, COUNT),
    "K": _number(int, COUNT),
    "T": _number(float, TEMPERATURE),
    "P": _number(float, SHARE_ABOVE_0),
    "SHARE": _number(float, SHARE_ABOVE_0),
    "X": above_0,
    "GRADE": float,
    "SECONDS": _number(float, SECONDS),
    "DOLLARS": dollars,
    "FACTOR": _number(float, FACTOR),
    "NAME=VALUE": param,
    "VARIABLE": variable,
}
"""The type of a value by its name in the help; any other is a string."""

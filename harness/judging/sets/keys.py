"""What people type in TOML, read key by key: each complaint names the file, the key and the nearest known one."""

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from harness.bench import nearest
from harness.errors import DataError
from harness.judging.forms import on_step


class Keys:
    """A table of a TOML file with its place, for typed look-ups that complain with file and key."""

    def __init__(
        self, table: Mapping[str, Any], path: pathlib.Path, known: Sequence[str] = (), where: str = ""
    ) -> None:
        """`known` are the keys that there may be, none for a table whose keys are names; `where` precedes each key."""
        self.table, self.path, self.where = table, path, where
        for key in table:
            if known and key not in known:
                raise self.wrong(f"unknown key {where + key!r}; {nearest(key, list(known))}")

    def wrong(self, message: str) -> DataError:
        """Return the error that says what is wrong in this file."""
        return DataError(message, path=self.path)

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"{self.where}{key} must be a text, this is {value!r}")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{self.where}{key} must be true or false, this is {value!r}")
        return value

    def whole(self, key: str, default: int, least: int, greatest: int) -> int:
        """Return a whole number between two others."""
        value = self.table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= greatest:
            raise self.wrong(f"{self.where}{key} must be a whole number from {least} to {greatest}, this is {value!r}")
        return value

    def one_of(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """Return one of some words; without a default the key is needed."""
        value = self.table.get(key, default)
        if value not in known:
            words = [f'"{word}"' for word in known]
            listed = f"{', '.join(words[:-1])} or {words[-1]}"
            raise self.wrong(f"{self.where}{key} must be {listed}, this is {value!r}")
        return str(value)

    def texts(self, key: str, what: str = "texts") -> tuple[str, ...]:
        """Return a list of texts; none if the key is not there."""
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            raise self.wrong(f"{self.where}{key} must be a list of {what}, this is {value!r}")
        return tuple(value)

    def scale(self, key: str) -> tuple[float, float] | None:
        """Return the least and the greatest grade, if the key is there."""
        value = self.table.get(key)
        if value is None:
            return None
        if not (
            isinstance(value, list) and len(value) == 2 and all(is_number(v) for v in value) and value[0] < value[1]
        ):
            raise self.wrong(f"{self.where}{key} must be [least, greatest], this is {value!r}")
        if value[0] <= -1 <= value[1]:
            raise self.wrong(f"{self.where}{key} holds -1, which stands for no verdict in judgment files")
        return value[0], value[1]

    def step(self, scale: tuple[float, float] | None) -> float | None:
        """Return the step of the scale, if the key is there; it must divide the scale, as far as that is known."""
        value = self.table.get("step")
        if value is None:
            return None
        if not (is_number(value) and value > 0):
            raise self.wrong(f"{self.where}step must be a number above 0 (instructions are 'steps'), this is {value!r}")
        if scale and not on_step(scale[1], scale[0], value):
            raise self.wrong(f"{self.where}step must divide the scale {scale[0]:g}-{scale[1]:g}, this is {value!r}")
        return float(value)

    def inner(self, key: str, known: Sequence[str] = ()) -> "Keys":
        """Return the table that stands under a key; an empty one if none does."""
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{self.where}{key} must be a table, this is {value!r}")
        return Keys(value, self.path, known, f"{self.where}{key}.")


def is_number(value: object) -> bool:
    """Return whether a value is a number that one can reckon with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

"""Files that people write: TOML, decoded into a Struct; an unknown key names the nearest one."""

import pathlib
import re
import tomllib
from typing import Any, TypeVar, get_args

import msgspec

from harness.errors import DataError, near

T = TypeVar("T")


def read_toml(path: pathlib.Path, kind: type[T]) -> T:
    """Return a TOML file as a Struct.

    Raises:
        DataError: it is not TOML, or a key is unknown or has a wrong value; file and key are named.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        advice = "; texts stand in quotes" if "Invalid value" in str(error) else ""
        raise DataError(f"is not TOML: {error}{advice}", path) from None
    return convert(values, kind, path)


def convert(values: Any, kind: type[T], path: pathlib.Path | str) -> T:
    """Return values that somebody wrote in a file as a Struct, or raise `DataError`."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise DataError(explain(error, kind), path) from None


def explain(error: msgspec.ValidationError, kind: Any = None) -> str:
    """Return a complaint of msgspec in plain words.

    >>> explain(msgspec.ValidationError("Expected `int`, got `str` - at `$.turn`"))
    'turn: expected a whole number, got a text'
    """
    text = str(error)
    what, _, where = text.partition(" - at `$")
    where = where.removesuffix("`").lstrip(".")
    unknown = re.fullmatch(r"Object contains unknown field `(.+)`", what)
    if unknown:
        advice = near(unknown[1], _keys(kind, deep=bool(where)), every=False)
        return f"unknown key {unknown[1]!r}{f' in {where}' if where else ''}{advice}"
    missing = re.fullmatch(r"Object missing required field `(.+)`", what)
    if missing:
        return f"the key {missing[1]!r} is missing{f' in {where}' if where else ''}"
    for theirs, ours in _WORDS.items():
        what = what.replace(theirs, ours)
    what = what[:1].lower() + what[1:]
    return f"{where}: {what}" if where else what


_WORDS = {
    "`int | str`": "a whole number or a text",
    "`int | float | null`": "a number or null",
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "a text",
    "`array`": "a list",
    "`object`": "a table",
    "`bool`": "true or false",
    "`null`": "nothing",
    "Invalid enum value": "there is no value",
}


def _keys(kind: Any, *, deep: bool) -> set[str]:
    """Return the keys of a Struct; if deep those of the Structs in it too."""
    keys = set().union(*(_keys(part, deep=deep) for part in get_args(kind)))
    for field in msgspec.structs.fields(kind) if hasattr(kind, "__struct_fields__") else ():
        keys |= {field.encode_name} | (_keys(field.type, deep=True) if deep else set())
    return keys

"""Files that people write: TOML, YAML and JSON → values within size limits → typed records.

    @dataclass(frozen=True)
    class Limits:
        parallel: Annotated[int, Wanted("a whole number from 1", lambda n: n >= 1)] | None = None

    decoded(read_toml(path), Limits, path)
    limits.toml:3: unknown key 'paralel'; did you mean 'parallel'?
    limits.toml:3: parallel must be a whole number from 1, this is 0

Whatever a file holds, it is read or it is a `DataError` in one line. Types are strict: no text becomes a number.
"""

import collections.abc
import dataclasses
import functools
import inspect
import io
import itertools
import json
import math
import operator
import pathlib
import re
import reprlib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from harness.old.errors import DataError, UsageError
from harness.old.given import misfit

MOST_BYTES = 16 * 2**20
"""The largest file that a person is taken to have written; data goes into JSON Lines, which are read line by line."""
_MOST_DEPTH = 100
_MOST_VALUES = 200_000
"""YAML can say of a few lines that they stand for billions of values."""
_LONG_KEY = re.compile(
    rf"""(?:^|[\[{{,])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_MOST_DEPTH}}}""",
    re.ASCII | re.MULTILINE,
)
_LISTS = (list, tuple, frozenset, collections.abc.Sequence)
_TABLES = (dict, collections.abc.Mapping)
_WORDS: dict[Any, str] = {str: "a text in quotes", bool: "true or false", int: "a whole number", float: "a number"}
_Made = TypeVar("_Made")
_Given = ParamSpec("_Given")
_Place = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """A condition on a value in addition to its type, for `Annotated`: its text for errors, and the test."""

    words: str
    fits: Callable[[Any], bool] = lambda value: True


FILLED = Wanted("a text that is not empty", lambda text: bool(text.strip()))


def read_text(path: pathlib.Path) -> str:
    """Return a file's text, its line ends as `\\n`.

    Raises:
        DataError: it cannot be read, is larger than `MOST_BYTES`, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    except ValueError as error:  # a NUL in the path
        raise DataError(f"cannot be read: {error}", path=repr(str(path))) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"is larger than {MOST_BYTES >> 20} MiB; is this the right file?", path=path)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise DataError("not UTF-8; save the file as UTF-8", path=path) from None


def read_table(path: pathlib.Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header of a CSV file, and its rows with their lines; blank ones are left out.

    Columns are separated by commas, semicolons or tabs, whichever the header has most of.

    Raises:
        DataError: it cannot be read, has no header, or a row has another number of cells.
    """
    import csv

    text = read_text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise DataError(f"is not valid CSV: {error}", path=path, line=reader.line_num) from error
    if not rows:
        raise DataError("no header with column names", path=path, line=1)
    (_, header), *rest = rows
    for line, row in rest:
        if len(row) != len(header):
            raise DataError(f"{len(row)} columns, but the header has {len(header)}", path=path, line=line)
    return [name.strip() for name in header], rest


def toml_value(value: str | Sequence[str]) -> str:
    """Return a text or a list of texts as TOML, which JSON's texts are but for one control character."""
    given = value if isinstance(value, str) else list(value)
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_toml(path: pathlib.Path) -> dict[str, Any]:
    """Return a TOML file's table, or raise `DataError`."""
    import tomllib

    text = read_text(path)
    if _LONG_KEY.search(text):  # tomllib's time grows with the square of it: a minute for 100 kB
        raise DataError(f"holds values nested over {_MOST_DEPTH} deep", path=path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = int(place[1] or len(text.splitlines())) if place else None
        raise DataError(f"not valid TOML: {_short(error)}", path=path, line=line) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise DataError(f"not usable TOML: {_short(error)}", path=path) from None
    _check_bounds(table, path)
    return table


def read_json(path: pathlib.Path) -> Any:
    """Return the value in a JSON file, or raise `DataError`."""
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise DataError(f"not valid JSON: {_short(error)}", path=path, line=line) from None
    _check_bounds(value, path)
    return value


def read_yaml(path: pathlib.Path) -> Any:
    """Return the value in a YAML file, or raise `DataError`."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    text = read_text(path)
    # Its scanner takes seconds for thousands of open brackets before it gives up.
    opened = itertools.accumulate(1 if bracket in "[{" else -1 for bracket in re.findall(r"[\[\]{}]", text))
    if max(opened, default=0) > _MOST_DEPTH:
        raise DataError(f"holds values nested over {_MOST_DEPTH} deep", path=path)
    # What its constructors raise on odd values (`!!bool x`, `!!timestamp x`, `0b`) is anything but YAMLError.
    odd = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
    try:
        value = yaml.safe_load(text)
    except odd as error:
        raise DataError(f"not valid YAML: {_short(error)}", path=path) from None
    _check_bounds(value, path)
    return value


def decoded(value: Any, kind: type[_Made], path: pathlib.Path, *, repeat: bool = True) -> _Made:
    """Return the contents of a file as a record of `kind`, a dataclass of values, lists, tables and other dataclasses.

    `repeat` says whether an error may repeat a value; not so where it might be a key.

    Raises:
        DataError: a key is unknown (with the nearest known one) or missing, or a value is invalid; with
            the line, if the file is TOML and the key is on one line only.
    """
    try:
        made: _Made = _made(value, kind, ())
    except _FaultsError as error:
        raise _data_error(error.faults[0], path, repeat) from None
    return made


def faults_of(value: Any, kind: type, path: pathlib.Path) -> list[DataError]:
    """Return everything that keeps a value from being decoded, not only the first."""
    try:
        _made(value, kind, ())
    except _FaultsError as error:
        return [_data_error(fault, path, repeat=True) for fault in error.faults]
    return []


def line_of(place: _Place, path: pathlib.Path) -> int | None:
    """Return the line of a key in a TOML file, given after the keys of its tables.

    None: on no line or on several. For a key that is not found as people write it, the line of its table.
    """
    if path.suffix != ".toml" or not place:
        return None
    lines = read_text(path).splitlines()
    for key in reversed(place):
        stands = re.compile(rf"""[\s\[]*(?:[^=]*\.)?\s*["']?{re.escape(key)}["']?\s*[=.\]]""")
        found = [number for number, line in enumerate(lines, 1) if stands.match(line)]
        if len(found) == 1:
            return found[0]
    return None


def is_deep(value: Any) -> bool:
    """Return whether lists and tables are nested so deep in a value that code which walks them would overflow."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" for a near miss, else the list of what is known."""
    words = list(known)
    near = _near(word, words)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(words)}"


def takes_only(*known: Iterable[str]) -> Callable[[Callable[_Given, _Made]], Callable[_Given, _Made]]:
    """Return what lets a function refuse keywords that neither its signature nor `known` has, and values that are not
    of the type that is stated there, or not what `Wanted` says beside it.

    `@takes_only(Words.__annotations__)` before `judge_position(**words)` makes of `judge_position(tuns=1)`:
    TypeError: judge_position() got an unexpected keyword argument 'tuns'; did you mean 'turns'?
    """

    def decorated(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
        own = list(inspect.signature(function).parameters.values())
        names = dict.fromkeys(itertools.chain((one.name for one in own if one.kind is not one.VAR_KEYWORD), *known))
        annotations = {name: hint for each in known if isinstance(each, dict) for name, hint in each.items()}
        places = [one.name for one in own]
        annotations |= {one.name: one.annotation for one in own if one.kind is not one.VAR_KEYWORD}

        @functools.wraps(function)
        def checked(*args: _Given.args, **words: _Given.kwargs) -> _Made:
            for word in words:
                if word not in names:
                    told = f"{function.__name__}() got an unexpected keyword argument {word!r}"
                    raise TypeError(f"{told}; {nearest(word, names)}")
            check_values(annotations, {**dict(zip(places, args, strict=False)), **words})
            return function(*args, **words)

        return checked

    return decorated


def check_values(annotations: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a value that is not of the type of its annotation, or not what `Wanted` says there."""
    for name, value in values.items():
        hint = annotations.get(name, Any)
        of, wanted = _parts(hint)
        words = misfit(value, hint)
        if wanted is None and words is not None:
            raise UsageError(f"{name} must be {words}, this is {shown(value)}")
        if wanted is None or (value is None and words is None):
            continue
        if hasattr(value, "__index__") and not isinstance(value, bool):
            value = operator.index(value)  # numpy's numbers too
        value = [*value] if isinstance(value, tuple | range) else value
        try:
            if of is int and isinstance(value, float):  # 2.0 counts nothing
                _refuse(value, of, (name,), wanted)
            _made(value, hint, (name,))
        except _FaultsError:
            raise UsageError(f"{name} must be {wanted.words}, this is {shown(value)}") from None


def check_fields(record: Any) -> None:
    """Raise `UsageError` for a field of a dataclass that violates its `Wanted`."""
    hints = _hints(record.__class__)
    check_values(hints, {name: getattr(record, name) for name in hints})


def _near(word: str, words: Sequence[str]) -> Sequence[str]:
    import difflib  # what is written without a fault needs none of it

    return difflib.get_close_matches(word[:100], words, n=1)


def shown(value: Any) -> str:
    """Return a value as errors repeat it: short."""
    try:
        return reprlib.repr(value)
    except ValueError:  # a number with more digits than Python writes
        return "a very long number"


class _Fault(NamedTuple):
    """What is wrong, at which place, and the value there as an error may repeat it."""

    message: str
    place: _Place
    shown: str = ""


class _FaultsError(Exception):
    """Everything that is wrong with a value."""

    def __init__(self, *faults: _Fault) -> None:
        super().__init__()
        self.faults = faults


def _data_error(fault: _Fault, path: pathlib.Path, repeat: bool) -> DataError:
    return DataError(fault.message + (fault.shown if repeat else ""), path=path, line=line_of(fault.place, path))


def _all_made(kinds: Iterable[tuple[Any, Any]], values: Iterable[Any], place: _Place, *known: _Fault) -> dict[Any, Any]:
    """Return by key what each value makes; `kinds` are the keys and what is wanted there, `known` faults found."""
    made, faults = {}, list(known)
    for (key, kind), value in zip(kinds, values, strict=True):
        try:
            made[key] = _made(value, kind, (*place, str(key)))
        except _FaultsError as error:
            faults += error.faults
    if faults:
        raise _FaultsError(*faults)
    return made


def _made(value: Any, kind: Any, place: _Place) -> Any:
    """Return the value as a `kind`; `place` are the keys that lead to it."""
    if value is None and type(None) in get_args(kind):
        return None
    kind, wanted = _parts(kind)
    made = _plain(value, kind, place, wanted)
    if wanted is not None and not wanted.fits(made):
        _refuse(value, kind, place, wanted)
    return made


def _parts(kind: Any) -> tuple[Any, Wanted | None]:
    """Return a type without its None, and the condition on its values."""
    if get_origin(kind) in (Union, types.UnionType):
        kinds = tuple(each for each in get_args(kind) if each is not type(None))
        kind = kinds[0] if len(kinds) == 1 else Union[kinds]  # noqa: UP007  (built from values)
    return get_args(kind)[:2] if get_origin(kind) is Annotated else (kind, None)


def _plain(value: Any, kind: Any, place: _Place, wanted: Wanted | None) -> Any:
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _record(value, kind, place)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in _TABLES:
        if not isinstance(value, dict):
            _refuse(value, kind, place, wanted)
        return _all_made(((name, inner[1]) for name in value), value.values(), place)
    if origin in _LISTS and (origin is not tuple or inner[-1] is Ellipsis):
        if not isinstance(value, list):
            _refuse(value, kind, place, wanted)
        made = _all_made(((number, inner[0]) for number in range(1, len(value) + 1)), value, place).values()
        return tuple(made) if origin is collections.abc.Sequence else origin(made)
    import msgspec

    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeError):  # the second for half a character
        _refuse(value, kind, place, wanted)


def _record(value: Any, kind: Any, place: _Place) -> Any:
    if not isinstance(value, dict):
        _refuse(value, kind, place, None)
    hints = _hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    faults = []
    for key in map(str, value):
        if key not in fields:
            named = ".".join((*place, key))
            faults.append(_Fault(f"unknown key {named!r}; {nearest(key, fields)}", (*place, key)))
    for name, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and name not in value:
            named = ".".join((*place, name))
            faults.append(_Fault(f"the key {named!r} is missing; it must be {_said(hints[name])}", place))
    known = {name: each for name, each in value.items() if name in fields}
    return kind(**_all_made(((name, hints[name]) for name in known), known.values(), place, *faults))


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _refuse(value: Any, kind: Any, place: _Place, wanted: Wanted | None) -> NoReturn:
    literal = get_origin(kind) is Literal and isinstance(value, str)
    near = _near(value, get_args(kind)) if literal else ()
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    words = wanted.words if wanted else _said(kind)
    named = ".".join(place) or "the file"
    said, told = f"{named} must be {words}{hint}", f", this is {shown(value)}"
    if kind in (int, float) and isinstance(value, int | float):  # no key: where one would be, a text is wanted
        raise _FaultsError(_Fault(said + told, place))
    raise _FaultsError(_Fault(said, place, told))


def _said(kind: Any) -> str:
    """Return how an error calls a type."""
    kind, wanted = _parts(kind)
    if wanted is not None:
        return wanted.words
    origin = get_origin(kind)
    if origin is Literal:
        *most, last = (f'"{word}"' for word in get_args(kind))
        return f"{', '.join(most)} or {last}"
    if origin in _LISTS:
        return "a list"
    return "a table" if origin in _TABLES or dataclasses.is_dataclass(kind) else _WORDS.get(kind, "of another type")


def _check_bounds(value: Any, path: pathlib.Path) -> None:
    """Raise `DataError` for what JSON has no word for, or what would overflow wherever it is counted with."""
    level: list[tuple[_Place, Any]] = [((), value)]
    seen = depth = 0
    while level:
        seen, depth = seen + len(level), depth + 1
        if seen > _MOST_VALUES or depth > _MOST_DEPTH:
            what = "too many values" if seen > _MOST_VALUES else f"values nested over {_MOST_DEPTH} deep"
            raise DataError(f"holds {what}", path=path)
        below: list[tuple[_Place, Any]] = []
        for place, each in level:
            if isinstance(each, dict):
                for key, inner in each.items():
                    below += [((*place, "a key"), key), ((*place, str(key)), inner)]
            elif isinstance(each, list):
                below += [(place, inner) for inner in each]
            elif words := _unusable(each):
                named = ".".join(place) or "the value"
                message = f"{named} must be {words}, this is {shown(each)}"
                raise DataError(message, path=path, line=line_of(place, path))
        level = below


def _unusable(value: Any) -> str | None:
    """Return what a single value must be instead; None if it can be used."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return "a text without half characters"
    elif isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return "a number of at most 64 bits"
    elif isinstance(value, float) and not math.isfinite(value):
        return "a number that is finite"
    elif value is not None and not isinstance(value, str | int | float):
        return "a text in quotes, a number, true or false"
    return None


def _short(error: BaseException) -> str:
    """Return an error's words on one line of bounded length."""
    return " ".join(str(error).split())[:300]

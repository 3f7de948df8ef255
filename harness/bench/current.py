"""What is done, what is left and what has changed: one rule for answers, judgments and metrics.

    split(units, rows, change)                     what is to be made, of all that there should be
    parameter_changes({"max_tokens": 60}, {"max_tokens": 4096})
                                                   {"max_tokens": (60, 4096)}

A row is done if nothing that it was made from has changed. Of its parameters, only those count that
the command line or a TOML file states; else a flag that was forgotten would ask everything again.
"""

import pathlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from harness.errors import UsageError
from harness.options import option

U = TypeVar("U")
Changes: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Parameters by name, each with what it was and what it is now; None: the endpoint's."""


class Made(Protocol):
    """A row that says when it was made."""

    @property
    def tstamp(self) -> float | None:
        """Seconds since 1970."""


R = TypeVar("R", bound=Made)


@dataclass
class Split(Generic[U]):
    """What there should be, by whether it is there."""

    todo: list[U] = field(default_factory=list)
    """What is missing or was made from something else."""
    done: int = 0
    changed: int = 0
    """Of `todo`, what was made from something else."""
    causes: Counter[str] = field(default_factory=Counter)
    """Why, in words, and how often: "max_tokens was 60 and is 4096 now"."""
    newest: float | None = None
    """When the newest of the done rows was made, in seconds since 1970."""


def split(
    units: Iterable[tuple[Any, U]],
    rows: Mapping[Any, R],
    change: Callable[[U, R], Sequence[str] | None],
) -> Split[U]:
    """Return what is to be made of some units, each with its row's key.

    `change` says in words what has changed since a unit's row was made: nothing, if it is done;
    None, if the row is a part of what is to be there.
    """
    result = Split[U]()
    for key, unit in units:
        row = rows.get(key)
        causes = None if row is None else change(unit, row)
        if row is not None and causes is not None and not causes:
            result.done += 1
            result.newest = max(result.newest or 0.0, row.tstamp or 0.0) or None
            continue
        result.todo.append(unit)
        if causes:
            result.changed += 1
            result.causes.update(causes)
    return result


def parameter_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Changes:
    """Return what differs between a row's parameters and today's."""
    return {
        name: (then.get(name), now.get(name))
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    }


def in_words(changes: Changes) -> list[str]:
    """Return changes as phrases.

    >>> in_words({"max_tokens": (60, 4096), "seed": (7, None)})
    ['max_tokens was 60 and is 4096 now', 'seed was 7 and is not set now']
    """
    return [
        f"{name} was {_word(then)} and is {_word(now)} now" for name, (then, now) in changes.items()
    ]


class Parameters(NamedTuple):
    """What a row was made with, and what the same row would be made with today."""

    then: Mapping[str, Any]
    now: Mapping[str, Any]
    stated: Collection[str]
    """Those of today that the command line or a TOML file states."""

    @property
    def changes(self) -> Changes:
        """What differs and is stated."""
        changes = parameter_changes(self.then, self.now)
        return {name: values for name, values in changes.items() if name in self.stated}

    @property
    def unstated(self) -> Changes:
        """What differs, and that nothing states."""
        changes = parameter_changes(self.then, self.now)
        return {name: values for name, values in changes.items() if name not in self.stated}


def kept_parameters(file: pathlib.Path, rows: Sequence[Parameters]) -> dict[str, Any]:
    """Return the parameters of a file's rows that differ from today's and that nothing states.

    A flag was typed then and is not today: its value is kept, for the rows that are still missing
    too.

    Raises:
        UsageError: the rows differ from each other, so that there is no one value to keep.
    """
    kept: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row.unstated):
        values = Counter(repr(row.then.get(name)) for row in rows if name not in row.stated)
        if len(values) > 1:
            differing = next(row for row in rows if name in row.unstated)
            other = next(row for row in rows if row.then.get(name) != differing.then.get(name))
            raise UsageError(
                f"{file}: {name} is {_word(differing.then.get(name))} in some rows and "
                f"{_word(other.then.get(name))} in others; state {flag_of(name)}, or make all "
                "again with --redo"
            )
        kept[name] = next(row.then.get(name) for row in rows if name in row.unstated)
    return kept


def kept_note(name: str, number: int, kept: Mapping[str, Any]) -> str:
    """Return the note on parameters that are kept; `name` is the model's or the judge's.

    >>> kept_note("m", 80, {"max_tokens": 60})
    'm: 80 rows were made with max_tokens 60, which is kept; --max-tokens or --redo changes it'
    """
    parts = ", ".join(f"{key} {_word(value)}" for key, value in kept.items())
    flags = ", ".join(dict.fromkeys(map(flag_of, kept)))
    be = "which is" if len(kept) == 1 else "which are"
    return f"{name}: {number} rows were made with {parts}, {be} kept; {flags} or --redo changes it"


def flag_of(parameter: str) -> str:
    """Return the flag that states a parameter."""
    plain = ("temperature", "max_tokens", "top_p", "seed", "system", "structured", "reference")
    return option(parameter) if parameter in plain else f"--param {parameter}=VALUE"


def _word(value: Any) -> str:
    return "not set" if value is None else str(value)

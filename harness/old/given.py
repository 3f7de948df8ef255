"""What a Python program gives to a function, held to the types of its signature: one clear error in place of any other.

    show_result(bench_name=5)            UsageError: bench_name must be a text, this is 5
    show_cost(model_list="a")            UsageError: model_list must be a list of texts, this is 'a'
    show_result(input_file="a\\0b")       UsageError: input_file must be a path or a list of paths, this is 'a\\x00b'

A type that says no more than its name is taken for met: this finds slips, and proves nothing.
"""

import collections.abc
import numbers
import os
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

_WORDS: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", type(None): "None"}
_SEVERAL: dict[Any, str] = {str: "texts", int: "whole numbers", float: "numbers"}
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_TABLES = (dict, collections.abc.Mapping)
_NONE = type(None)
_MOST_PATH, _MOST_NAME = 4000, 255
"""Bytes of a path, and of a name in it, that a system takes."""


def misfit(value: Any, hint: Any) -> str | None:
    """Return what a value must be; None if it is that, as far as the type says."""
    return None if _fits(value, hint) else _said(hint)


def _fits(value: Any, hint: Any) -> bool:
    kinds = _kinds(hint)
    return any(_is(value, kind, path=any(_is_path(one) for one in kinds)) for kind in kinds)


def _kinds(hint: Any) -> list[Any]:
    """Return the types of which a value may be any."""
    origin = get_origin(hint)
    if origin in (Annotated, NotRequired, Required):
        return _kinds(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return [kind for part in get_args(hint) for kind in _kinds(part)]
    return [_NONE if hint is None else hint]


def _is(value: Any, kind: Any, *, path: bool) -> bool:
    """Return whether a value is of a type; with `path` a text is a path."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        return isinstance(value, tuple(map(type, inner)))  # who takes it names the words that there are
    if kind is str:
        return isinstance(value, str) and (not path or _can_be_path(value))
    if _is_path(kind):
        return isinstance(value, os.PathLike) and _can_be_path(value)
    if kind in (int, float):
        number = numbers.Integral if kind is int else numbers.Real
        return isinstance(value, number) and not isinstance(value, bool)
    if origin in _LISTS:
        some = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        seen = value if inner and isinstance(value, list | tuple | set | frozenset) else ()  # others are read once
        return some and all(_fits(one, inner[0]) for one in seen)
    if origin in _TABLES:
        return isinstance(value, Mapping)
    if origin is collections.abc.Callable:
        return callable(value)
    if kind is _NONE:
        return value is None
    ours = isinstance(kind, type) and kind.__module__.startswith("harness.")
    nominal = ours and not hasattr(kind, "__total__") and not getattr(kind, "_is_protocol", False)
    return not nominal or isinstance(value, kind)


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, os.PathLike)


def _can_be_path(value: Any) -> bool:
    """Return whether a system can be asked for what is there."""
    try:
        path = os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        return False
    return b"\0" not in path and len(path) <= _MOST_PATH and all(len(name) <= _MOST_NAME for name in path.split(b"/"))


def _said(hint: Any) -> str:
    kinds = _kinds(hint)
    path = any(map(_is_path, kinds))
    return " or ".join(dict.fromkeys(_called(kind, path) for kind in kinds if kind is not _NONE))


def _called(kind: Any, path: bool) -> str:
    """Return what an error calls a type."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        return " or ".join(f'"{word}"' for word in inner)
    if path and (kind is str or _is_path(kind)):
        return "a path"
    if origin in _LISTS:
        kinds = _kinds(inner[0]) if inner else []
        many = "paths" if any(map(_is_path, kinds)) else next((_SEVERAL[one] for one in kinds if one in _SEVERAL), "")
        return f"a list of {many}" if many else "a list"
    if origin in _TABLES:
        return "a mapping"
    if origin is collections.abc.Callable:
        return "a function"
    return _WORDS.get(kind) or f"of the type {getattr(kind, '__name__', kind)}"

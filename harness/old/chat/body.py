"""A JSON answer read by names; what is not there, or of another type than wanted, is None, nothing, or empty.

    at({"message": {"content": "4"}}, "message", "content")     "4"

Answers are not made into the SDKs' types: building those takes a third of a millisecond a call, and checks nothing that
matters here.
"""

from typing import Any


def at(value: Any, *names: str) -> Any:
    """Return the value at these nested names in a JSON value; None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *names: str) -> str:
    """Return the same where it is a text; else an empty one."""
    found = at(value, *names)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *names: str) -> list[Any]:
    """Return the same where it is a list; else an empty one."""
    found = at(value, *names)
    return found if isinstance(found, list) else []

"""A JSON answer read by attributes, as the SDKs' own types are, but not built and checked field by field.

    body_of({"choices": [{"message": {"content": "4"}}]}).choices[0].message.content     "4"

Building the SDK's types takes a third of a millisecond a call, and checks nothing that matters here: whatever reads an
answer takes every field for absent or of any type.
"""

from collections.abc import Mapping
from typing import Any


class Body:
    """A JSON object; its members are attributes."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def __getattr__(self, name: str) -> Any:
        try:
            return body_of(self._members[name])
        except KeyError:
            raise AttributeError(name) from None

    @property
    def model_extra(self) -> Mapping[str, Any]:
        """All members, by name; the SDKs' types have here those which they do not know."""
        return self._members


def body_of(value: Any) -> Any:
    """Return a JSON value with every object in it as a `Body`."""
    if isinstance(value, dict):
        return Body(value)
    if isinstance(value, list):
        return [body_of(item) for item in value]
    return value

"""Regular expressions that are compiled when they are first used: a command uses few of all that it loads."""

import re
from typing import Any, cast


class _Late:
    """What `re.compile` would return."""

    def __init__(self, source: str, flags: int) -> None:
        self._made = source, flags

    def __getattr__(self, name: str) -> Any:
        """Return what the compiled pattern has, and keep it."""
        value = self.__dict__[name] = getattr(re.compile(*self._made), name)
        return value


def late_re(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used; the `re` of its matches is another object."""
    return cast("re.Pattern[str]", _Late(source, flags))

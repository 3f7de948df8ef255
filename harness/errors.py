"""One small tree of errors; each says in one line what is wrong, where, and what to do.

    TurnbenchError          root; exit code 2
    ├── UsageError          a flag, a name or a combination that cannot work
    ├── DataError           an invalid file, with path and line
    ├── MissingError        answers, references, keys or packages that are needed but missing
    ├── StorageError        a file that cannot be written, or that another process has locked
    ├── ChatError           one call to a chat model failed for good; exit code 1
    │   ├── TransientError  a later try may succeed: rate limit, outage, cut reply
    │   └── EndpointError   no call to this endpoint can succeed: key, model, credit; exit code 2
    └── Interrupted         the user stopped the run; exit code 130

`harness.cli` and `viewer` catch the root, once each.
"""

import importlib.util
import pathlib
from collections.abc import Iterable
from typing import Literal, TypeAlias, TypeGuard, get_args

TransientKind: TypeAlias = Literal[
    "rate limit",
    "overload",
    "outage",
    "no connection",
    "closed connection",
    "server error",
    "timeout",
    "malformed reply",
]
"""Why a call failed that a later try may mend."""
EndingKind: TypeAlias = Literal[
    "no credit",
    "key refused",
    "unknown model",
    "wrong address",
    "untrusted certificate",
    "responses only",
    "no log-probabilities",
    "parameter refused",
    "refuses all",
    "worker",
    "cannot compute",
]
"""Why no call to an endpoint can succeed."""
CallKind: TypeAlias = Literal[
    "bad request",
    "context too long",
    "parameter",
    "limit",
    "system role",
    "stream only",
    "out of memory",
    "error",
]
"""Why a call fails that the next try of the same request would not mend."""
FailureKind: TypeAlias = TransientKind | EndingKind | CallKind
"""A short phrase for why a call failed, for summaries. A closed list: mypy finds another word."""


class TurnbenchError(Exception):
    """Root of all errors that a user can meet; its text is one line."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        super().__init__(line if len(line) <= 4000 else f"{line[:2000]} … {line[-2000:]}")


class UsageError(TurnbenchError):
    """The command or call cannot work as given."""


class DataError(TurnbenchError):
    """The contents of a file are invalid."""

    def __init__(
        self, message: str, path: pathlib.Path | str | None = None, line: int | None = None
    ) -> None:
        self.path, self.line = path, line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{where}{message}")


class MissingError(TurnbenchError):
    """Something that is needed before the first call is not there."""


def require(extra: str, *modules: str) -> None:
    """Raise `MissingError` unless the packages of an extra are installed; nothing is imported."""
    for name in modules:
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:  # of google.genai there is no google
            found = None
        if found is None:
            text = f"needs the extra [{extra}], {name} is missing: pip install 'turnbench[{extra}]'"
            raise MissingError(text)


class StorageError(TurnbenchError):
    """A file or folder cannot be written, or another process has locked it."""


class ChatError(TurnbenchError):
    """A call to a chat model failed for good: the same request would fail again.

    `status` is the HTTP status, if there was one.
    """

    exit_code = 1

    def __init__(
        self, message: str, *, kind: FailureKind = "error", status: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status = kind, status


class TransientError(ChatError):
    """A call failed in a way that a later try may not.

    `retry_after` is the wait in seconds that the server asks for. A kind that ends a run is
    transient once the endpoint has given a reply: what worked a minute ago may work again.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: TransientKind | EndingKind = "outage",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, kind=kind, status=status)
        self.retry_after = retry_after


class EndpointError(ChatError):
    """No call to this endpoint can succeed: key, model, credit or address. Ends the run."""

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        kind: EndingKind | Literal["error"] = "error",
        status: int | None = None,
    ) -> None:
        super().__init__(message, kind=kind, status=status)


class Interrupted(TurnbenchError):  # noqa: N818  (no fault)
    """The user stopped the run; what was done is kept."""

    exit_code = 130

    def __init__(self, message: str = "interrupted") -> None:
        super().__init__(message)


def ends_run(kind: str) -> TypeGuard[EndingKind]:
    """Return whether no call to the endpoint can succeed."""
    return kind in get_args(EndingKind)


def is_transient(kind: str) -> TypeGuard[TransientKind]:
    """Return whether a later try may succeed."""
    return kind in get_args(TransientKind)


def near(name: str, names: Iterable[str], *, every: bool = True) -> str:
    """Return advice on a name that does not exist: the nearest ones, else (`every`) all there are.

    >>> near("grede", ["grade", "pair"]), near("x", ["grade", "pair"])
    ('; did you mean grade?', '; there are grade, pair')
    """
    from difflib import get_close_matches

    names = list(names)
    if close := get_close_matches(name, names, 3):
        return f"; did you mean {' or '.join(close)}?"
    return f"; there are {', '.join(names) or 'none'}" if every else ""

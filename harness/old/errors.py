"""One small tree of errors; each says what is wrong, where, and what to do, in one line.

    TurnbenchError              root; exit code 2
    ├── UsageError              a flag, a name or a combination that cannot work
    ├── DataError               an invalid line of a file (path and line)
    ├── MissingError            answers, references or keys that are required but missing
    ├── StorageError            a file that cannot be written, or that another process has locked
    ├── ChatError               one call to a chat model failed for good; exit code 1
    │   ├── TransientError      a retry may succeed (rate limit, outage, truncated reply)
    │   └── EndpointError       no call to this endpoint can succeed (key, model, address); exit code 2
    └── Interrupted             the user stopped the run; exit code 130

Only `harness.old.cli` and `viewer` catch the root. Nothing here subclasses `KeyError`, which shows its message in quotes.
"""

import pathlib

MOST_CHARACTERS = 4000
"""The longest message: text quoted from a file may be of any length. The place and the advice are kept."""


class TurnbenchError(Exception):
    """Root of all errors that a user can meet; `str()` of it is one printable line."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        half = MOST_CHARACTERS // 2
        super().__init__(line if len(line) <= MOST_CHARACTERS else f"{line[:half]} … {line[-half:]}")

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error be unpickled from another process, whatever the arguments of its class."""
        return _again, (type(self), str(self)), self.__dict__


class UsageError(TurnbenchError):
    """The command or call cannot work as given."""


class DataError(TurnbenchError):
    """The contents of a file are invalid; `path` and `line` say where (line is None for the whole file).

    The line of a part of a split file knows its path (`harness.old.jsonl.files.Line`).
    """

    def __init__(self, message: str, *, path: pathlib.Path | str, line: int | None = None) -> None:
        self.path = pathlib.Path(getattr(line, "path", path))
        self.line = line
        where = str(path) if line is None else f"{getattr(line, 'path', path)}:{line}"
        super().__init__(f"{where}: {message}")
        self.message = str(self).removeprefix(f"{where}: ")
        """What is wrong, without the place."""


class MissingError(TurnbenchError):
    """Something needed before the first call is not there."""


class StorageError(TurnbenchError):
    """A file or folder cannot be written, or is held by another process."""


class ChatError(TurnbenchError):
    """A call to a chat model failed for good: this request would fail again.

    `kind` is one short word for summaries: "bad request", "context too long", "content filter", ...
    """

    exit_code = 1

    def __init__(self, message: str, *, kind: str = "error") -> None:
        super().__init__(message)
        self.kind = kind


class TransientError(ChatError):
    """A call failed in a way that a later try may not; `retry_after` is the server's wish in seconds, if it had one."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "outage",
        retry_after: float | None = None,
        connected: bool = True,
    ) -> None:
        super().__init__(message, kind=kind)
        self.retry_after = retry_after
        self.connected = connected
        """False if no connection to the server came about."""


class EndpointError(ChatError):
    """No call to this endpoint can succeed: the key is refused, the model unknown, or nothing answers. Stops the
    run."""

    exit_code = 2


class Interrupted(TurnbenchError):  # noqa: N818  (it is no fault)
    """The user stopped the run; what was done is kept."""

    exit_code = 130


def _again(kind: type[TurnbenchError], message: str) -> TurnbenchError:
    """Return the error that another process raised."""
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error

"""What every command does around its own work: parse, log to stderr, one line for an error."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from harness.cli.parser import Parsed, parse
from harness.errors import Interrupted, TurnbenchError

log = logging.getLogger("turnbench")


def run(
    name: str,
    record: type[Struct],
    work: Callable[[Parsed], int],
    argv: Sequence[str] | None = None,
) -> int:
    """Run a command and return its exit code.

    Results go to stdout, everything else to stderr. An error is one line; `--verbose` adds the
    traceback.
    """
    verbose = False
    try:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        parsed = parse(name, record, argv)
        verbose = parsed.verbose
        set_up_logging(quiet=parsed.quiet, verbose=verbose)
        code = work(parsed)
        sys.stdout.flush()
    except TurnbenchError as error:
        return _ended(name, error, error.exit_code, verbose)
    except KeyboardInterrupt:
        advice = "what was done is kept; the same command goes on"
        return _ended(name, Interrupted(f"interrupted; {advice}"), 130, verbose)
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has gone: nothing is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    else:
        return code


def set_up_logging(*, quiet: bool = False, verbose: bool = False) -> None:
    """Send the messages of turnbench to stderr, one line each."""
    log.handlers.clear()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    log.addHandler(handler)
    log.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
    log.propagate = False


def show(page: Any, name: str = "text") -> None:
    """Print a page in a format of the registry."""
    from harness.registry import find

    text = find("format", name)(page)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


class _Lines(logging.Formatter):
    """`warning: …` for warnings; other messages as they are."""

    def format(self, record: logging.LogRecord) -> str:
        text = printable(record.getMessage())
        return f"{record.levelname.lower()}: {text}" if record.levelno > logging.INFO else text


def printable(text: str) -> str:
    """Return a text in which no character can move the cursor or hide another.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def _ended(name: str, error: TurnbenchError, code: int, verbose: bool) -> int:
    if verbose:
        import traceback

        traceback.print_exc()
    sys.stderr.write(f"{name}: {printable(str(error))}\n")
    return code

"""What every command does around its own work: parse, log to stderr, one line for an error."""

import importlib
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import command_words
from harness.cli.parser import parse
from harness.errors import Interrupted, TurnbenchError

if TYPE_CHECKING:
    from harness.reporting import Page

log = logging.getLogger("turnbench")


def run(name: str, argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Results go to stdout, everything else to stderr. An error is one line; `--verbose` adds the
    traceback. The command's module is imported after `--help` and wrong flags have ended it.
    """
    verbose = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know every letter
            stream.reconfigure(errors="backslashreplace")
    try:
        parsed = parse(name, argv)
        verbose = parsed.verbose
        set_up_logging(quiet=parsed.quiet, verbose=verbose)
        work = importlib.import_module(f"harness.cli.{name}").work
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code: int = work(parsed)
        sys.stdout.flush()
    except (TurnbenchError, KeyboardInterrupt) as error:
        if verbose:
            traceback.print_exc()
        advice = "what was done is kept; the same command goes on"
        ended = (
            error if isinstance(error, TurnbenchError) else Interrupted(f"interrupted; {advice}")
        )
        sys.stderr.write(f"{command_words(name)}: {printable(str(ended))}\n")
        return ended.exit_code
    except UnicodeEncodeError as error:
        if verbose:
            traceback.print_exc()
        letters = printable(
            error.object[error.start : error.end][:20].encode("unicode_escape").decode()
        )
        fault = f"{letters} cannot be written in this locale ({sys.getfilesystemencoding()})"
        sys.stderr.write(f"{command_words(name)}: {fault}; set PYTHONUTF8=1\n")
        return 2
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has gone: nothing is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    else:
        return code


def set_up_logging(*, quiet: bool = False, verbose: bool = False) -> None:
    """Send the messages of turnbench to stderr, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    log.handlers[:] = [handler]
    log.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
    log.propagate = False


def is_quiet() -> bool:
    """Return whether results and errors only are printed."""
    return not log.isEnabledFor(logging.INFO)


def show(page: "Page", name: str = "text") -> None:
    """Print a page in a format of the registry."""
    from harness.registry import find

    print(find("format", name)(page).removesuffix("\n"))


def first_lines(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [*lines[:most], *more]


def at_terminal() -> bool:
    """Return whether somebody is there to answer a question."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def agrees(question: str, *, default: bool) -> bool:
    """Ask a question at the terminal; return whether the answer is yes."""
    sys.stderr.write(f"{question} [{'Y/n' if default else 'y/N'}] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    answer = line.strip().lower()
    return answer in ("y", "yes") or (default and line != "" and not answer)


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

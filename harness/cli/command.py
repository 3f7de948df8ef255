"""What every command does around its own work: parse, log to stderr, one line for an error.

A command is `run(record, console)` in the module of its name: the terminal and Python call the same
function, with a console each.
"""

import importlib
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence

from harness.cli import command_words
from harness.cli.parser import parse
from harness.errors import Interrupted, TurnbenchError
from harness.words import printable

BREAKS = "\n\t"
"""Characters that messages may have beside printable ones."""
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
        from harness.cli.terminal import Terminal

        command = importlib.import_module(f"harness.cli.{name}").run
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        report = command(parsed.options, Terminal())
        sys.stdout.flush()
    except (TurnbenchError, KeyboardInterrupt) as error:
        if verbose:
            traceback.print_exc()
        advice = "what was done is kept; the same command goes on"
        ended = (
            error if isinstance(error, TurnbenchError) else Interrupted(f"interrupted; {advice}")
        )
        sys.stderr.write(f"{command_words(name)}: {printable(str(ended), BREAKS)}\n")
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
        return int(getattr(report, "exit_code", 0))


def set_up_logging(*, quiet: bool = False, verbose: bool = False) -> None:
    """Send the messages of turnbench to stderr, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    log.handlers[:] = [handler]
    log.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
    log.propagate = False


class _Lines(logging.Formatter):
    """`warning: …` for warnings; other messages as they are."""

    def format(self, record: logging.LogRecord) -> str:
        text = printable(record.getMessage(), BREAKS)
        return f"{record.levelname.lower()}: {text}" if record.levelno > logging.INFO else text

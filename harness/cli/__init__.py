"""The commands; each module has `main(argv)`, which returns the exit code.

A command that is interrupted while it still imports ends in one line too: what handles Ctrl-C is
set here, until `harness.cli.command.run` takes over.
"""

import os
import pathlib
import signal
import sys
from typing import Any, NoReturn


def _end(*_: Any) -> NoReturn:
    os.write(2, b"interrupted; nothing was done\n")
    os._exit(130)


def _is_command() -> bool:
    """Return whether this process is one of our commands, not a program that imports us."""
    name = pathlib.PurePath(sys.argv[0]).name if sys.argv else ""
    here = pathlib.Path(__file__).parent
    return name == "-m" or name == "turnbench" or (here / f"{name}.py").exists()


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)

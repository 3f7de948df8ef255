"""The command `turnbench`, which lists and runs all the others."""

import atexit
import functools
import gc
import os
import signal
import sys
import textwrap
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from harness.cli import COMMANDS, SCRIPTS


def main(argv: Sequence[str] | None = None) -> int:
    """Run `turnbench NAME ...`; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    first = words[0] if words else "--help"
    name = first.replace("-", "_")
    if name in COMMANDS:
        return command(name, words[1:])
    if first in {"-h", "--help", "help"}:
        sys.stdout.write(overview())
        return 0
    if first == "--version":
        from harness import __version__

        sys.stdout.write(f"turnbench {__version__}\n")
        return 0
    from harness.errors import near

    advice = near(name, COMMANDS, every=False) or "; see turnbench --help"
    sys.stderr.write(f"turnbench: there is no command {first!r}{advice}\n")
    return 2


def command(name: str, argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    # Before numpy is imported: the matrices here are small, and each thread takes time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows make many objects and no cycles, modules few; looking for these as often as usual costs
    # an eighth. At the end nothing needs to be looked for: the process ends.
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        signal.signal(signal.SIGINT, _interrupted)  # while the command is imported
    from harness.cli.command import run

    try:
        return run(name, argv)
    finally:
        if in_main:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupted(*_: Any) -> NoReturn:
    os.write(2, b"interrupted; nothing was done\n")
    os._exit(130)


def __getattr__(name: str) -> Callable[..., int]:
    """Return a command as a function, for scripts."""
    if name in COMMANDS:
        return functools.partial(command, name)
    raise AttributeError(name)


def overview() -> str:
    """Return the help of `turnbench` itself."""
    from harness.options import record_of

    lines = []
    for name in COMMANDS:
        purpose = (record_of(name).__doc__ or "").partition("\n")[0]
        lines.append(textwrap.fill(f"{name:16}{purpose}", 78, subsequent_indent=" " * 16))
    commands = textwrap.indent("\n".join(lines), "  ")
    return (
        "usage: turnbench COMMAND [--FLAG VALUE ...]\n\n"
        "Tells which of several chat models is better, at what, and how sure that is.\n\n"
        "examples, which need no key:\n"
        "  turnbench gen_answer --model builtin/reference builtin/eliza\n"
        "  turnbench gen_judgment --judge-model builtin/overlap\n"
        "  turnbench show_result\n\n"
        f"commands:\n{commands}\n\n"
        f"Also on their own: {', '.join(SCRIPTS)}.\n"
        "turnbench COMMAND --help is the manual.\n"
    )

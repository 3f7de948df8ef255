"""What all commands share: the parser, and the one place that handles errors and ends the process.

An error becomes one line on stderr, and the exit code. Flags that several commands have are in `flags.py`; output
to the user goes through `messages.py`.
"""

import argparse
import contextlib
import gc
import os
import pathlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from harness import __version__
from harness.old.cli.messages import flush, forget, mend_streams, tell, warn
from harness.old.cli.values import KINDS
from harness.old.errors import Interrupted, TurnbenchError

EXIT_CODES = {
    0: "all done",
    1: "finished, with failures listed",
    2: "wrong use or bad input",
    130: "interrupted; what was done is kept",
}
CODES = "\n".join(["exit codes:", *(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())])
_GO_ON = "run the same command again to continue"
"""The end of messages to which the command line is added."""


class Flags(argparse._ArgumentGroup):
    """Flags that belong together in the help."""

    def add(self, shown: str, about: str, kind: Callable[[str], Any] | None = None, **more: Any) -> None:
        """Add a flag, `shown` as in the manual: `--redo`, `--first-n N`, `--model NAME ...`, `--choices first|all`.

        Its default is added to `about`, unless `about` states it already. A value has the type that its
        name implies (`KINDS`), unless `kind` is given.
        """
        words = shown.replace(",", "").split()
        names = [word for word in words if word.startswith("-")]
        value, several = (*words[len(names) :], "", "")[:2]
        if "|" in value:
            more = {"choices": value.split("|"), **more}
        elif value:
            more = {"type": kind or KINDS.get(value), "metavar": value, **more}
        else:
            more = {"action": "store_true", **more}
        if several:
            more = {"nargs": "+", "action": "extend", **more}
        if "(default: " not in about and "(required" not in about:
            usual = more.get("default") if value else "off"
            about += " (required)" if more.get("required") else f" (default: {'none' if usual is None else usual})"
        self.add_argument(*names, help=about, **more)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line that names the nearest flag."""

    def __init__(self, name: str, purpose: str, examples: Sequence[str], *, usual: str | None = None) -> None:
        """`usual` is the flag that is suggested for a value without a flag."""
        self.examples = tuple(examples)
        self.usual = usual
        super().__init__(
            prog=name,
            description=purpose,
            epilog="\n".join(["examples:", *(f"  {example}" for example in examples), "", CODES]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument("--version", action="version", version=f"turnbench {__version__}", help="print the version")
        self.add_argument(
            "-q", "--quiet", action="store_true", help="print results, warnings and errors only (default: off)"
        )
        self.add_argument(
            "-v",
            "--verbose",
            action="store_true",
            help="also print the files and addresses used, and a traceback for errors (default: off)",
        )

    def group(self, title: str, about: str | None = None) -> Flags:
        """Return a new group of flags."""
        group = Flags(self, title, about)
        self._action_groups.append(group)
        return group

    def given(self, args: argparse.Namespace) -> dict[str, str]:
        """Return the flags that have another value than their default, by the names of these values."""
        found: dict[str, str] = {}
        for action in self._actions:
            usual = action.default
            if action.option_strings and usual != argparse.SUPPRESS and getattr(args, action.dest) != usual:
                found.setdefault(action.dest, action.option_strings[0])
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as usual, but first look for unknown flags: a mistyped flag is reported before a missing one."""
        words = sys.argv[1:] if args is None else list(args)
        self._check_flags(words)
        return super().parse_known_args(words, namespace)

    def _check_flags(self, words: Iterable[str]) -> None:
        for word in words:
            if word == "--":
                return
            flag = word.partition("=")[0]
            if not (flag[:1] == "-" and flag[1:].strip("-")[:1].isalpha()) or " " in flag:
                continue
            bundled = flag[1] != "-" and flag[:2] in self._option_string_actions
            if flag not in self._option_string_actions and not bundled:
                import difflib  # most command lines need none of it

                near = difflib.get_close_matches(flag, list(self._option_string_actions), n=1, cutoff=0.5)
                self.error(f"no flag {flag}{f'; did you mean {near[0]}?' if near else ''}")

    def error(self, message: str) -> NoReturn:
        """Print the error, and exit with code 2."""
        beginning = "unrecognized arguments: "
        if message.startswith(beginning):
            stray = message.removeprefix(beginning)
            usual = "--bench-name" if self._is_bench(stray) else self.usual
            message = f"{stray!r} is not the value of a flag{f'; did you mean {usual} {stray}?' if usual else ''}"
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see {self.prog} --help)\n")

    def _is_bench(self, word: str) -> bool:
        """Return whether a word is the name of a benchmark, for a command that takes one."""
        from harness.old.checking import find_folder

        try:
            takes_one = "--bench-name" in self._option_string_actions and "/" not in word
            return takes_one and bool(find_folder(word, "data"))
        except TurnbenchError:
            return False

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Exit, after help and version have been written out."""
        flush()
        if message:
            tell(message.rstrip("\n"))
        raise SystemExit(status)


def run_command(parser: Parser, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    """Parse, work, and return the exit code; every error that a user can meet becomes one line here.

    A process that was started for this command ends here.
    """
    if argv is None:
        gc.set_threshold(50_000)  # a command creates few reference cycles, so collecting often would only cost time
        end_like_ctrl_c()
    code = _run(parser, work, argv)
    if argv is None:
        leave(code)
    return code


def one_thread() -> None:
    """Limit numpy to one thread before it is imported, unless the user says otherwise: the matrices here are small, and
    threads that wait for each other take several times as long on busy cores."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main_of(parser: Callable[[], Parser], work: Callable[[argparse.Namespace], int]) -> Callable[..., int]:
    """Return a `main` that runs the command with the given arguments or the process's, and returns its exit code."""

    def main(argv: Sequence[str] | None = None) -> int:
        return run_command(parser(), work, argv)

    return main


def unknown(prog: str, said: str, name: str, known: Iterable[str]) -> int:
    """Report an unknown name with the nearest known one; return the exit code."""
    import difflib

    near = difflib.get_close_matches(name, names := list(known), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
    warn(prog, f"error: {said}; {hint} (see {prog} --help)")
    return 2


def end_like_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP raise `KeyboardInterrupt` in this process, unless it ignores them, as under nohup."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _run(parser: Parser, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    mend_streams()
    args = parser.parse_args(argv)
    words = sys.argv[1:] if argv is None else argv
    args.command_line, args.given = _same_command(parser.prog, words), parser.given(args)
    try:
        if args.given:
            from harness.old.cli.idle import warn_of_idle

            warn_of_idle(parser, args)
        with _warnings_told(parser.prog):
            return work(args)
    except TurnbenchError as error:
        _traceback(args)
        beginning, end = ("", args.command_line) if isinstance(error, Interrupted) else ("error: ", "")
        again = f": {end}" if end and str(error).endswith(_GO_ON) else ""
        warn(parser.prog, f"{beginning}{error}{again}")
        return error.exit_code
    except KeyboardInterrupt:
        warn(parser.prog, f"interrupted; what was done is kept, {_GO_ON}: {args.command_line}")
        return 130
    except OSError as error:  # an error of the file system that no room handles
        _traceback(args)
        where = f"{error.filename}: " if error.filename else ""
        warn(parser.prog, f"error: {where}{error.strerror or error}")
        return 2


def _same_command(prog: str, words: Sequence[str]) -> str:
    """Return the command line as it was given, ready to paste; it contains no key, since no flag takes one."""
    import shlex

    called = pathlib.Path(sys.argv[0])
    begin = [prog]
    if called.name == f"{prog}.py":
        begin = ["python", "-m", f"harness.cli.{prog}"]
    elif called.name == "__main__.py" and called.parent.name == "cli":
        begin = ["python", "-m", "harness.cli", prog]
    elif called.stem == "turnbench":
        begin = ["turnbench", prog]
    return shlex.join([*begin, *words])


def leave(code: int) -> None:
    """End a process that was started for a command at once; return if something else still has to happen in it.

    Tearing down the interpreter and the SDKs' modules would take longer than many commands. `atexit` functions are
    still called.
    """
    import atexit
    import threading

    watched = sys.gettrace() is not None or sys.getprofile() is not None or sys.flags.inspect
    monitoring = getattr(sys, "monitoring", None)
    watched = watched or (monitoring is not None and any(monitoring.get_tool(tool) for tool in range(6)))
    if watched or threading.active_count() > 1 or not _is_command_process():
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            forget(stream)
    os._exit(code)


def _is_command_process() -> bool:
    """Return whether this process runs one of our commands and nothing else, such as a test or a notebook."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if not file:
        return False
    main = pathlib.Path(file)
    here = pathlib.Path(__file__).resolve().parents[2] / "cli"
    return main.resolve().parent == here or (here / f"{main.stem}.py").exists() or main.stem == "turnbench"


@contextlib.contextmanager
def _warnings_told(command: str) -> Iterator[None]:
    """Print the warnings of all rooms as lines of this command while the block runs."""
    import logging

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(command, f"{record.levelname.lower()}: {record.getMessage()}")

    logger = logging.getLogger("turnbench")
    before = logger.handlers[:], logger.propagate
    logger.handlers[:], logger.propagate = [Teller()], False
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = before


def _traceback(args: argparse.Namespace) -> None:
    if args.verbose:
        import traceback

        tell(traceback.format_exc().rstrip())

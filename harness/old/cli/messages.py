"""A command's output, and the streams that it goes to.

results  -> stdout, and nothing else does        say, warn  -> stderr, `say` unless --quiet
ask_to_go_on  -> a question, on terminals        detail     -> stderr, with --verbose only
"""

import argparse
import contextlib
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.old.errors import Interrupted, StorageError
from harness.old.names import counted as counted
from harness.old.names import printable

if TYPE_CHECKING:
    from harness.old.running.watch import Watcher


def results(shown: str | bytes) -> None:
    """Print results on stdout; a reader that stops early (`| head`) is not an error."""
    try:
        if isinstance(shown, bytes):
            sys.stdout.buffer.write(shown)
        else:
            print(shown)
        sys.stdout.flush()
    except BrokenPipeError:
        forget(sys.stdout)
    except OSError as error:
        forget(sys.stdout)
        raise StorageError(f"stdout cannot be written: {error.strerror or error}") from error


def result_paths(paths: Iterable[pathlib.Path]) -> None:
    """Print where results are, one path a line: as they are for a program, and harmlessly on a terminal."""
    shown = printable if sys.stdout.isatty() else str
    results("\n".join(shown(str(path)) for path in paths))


def say(args: argparse.Namespace, text: str) -> None:
    """Print a line about the run, on stderr, unless --quiet."""
    if not args.quiet:
        tell(text)


def detail(args: argparse.Namespace, text: str) -> None:
    """Print a line about the run, on stderr, with --verbose."""
    if args.verbose:
        tell(text)


def warn(command: str, text: str) -> None:
    """Print a line on stderr, also with --quiet."""
    tell(f"{command}: {text}")


def may_ask(args: argparse.Namespace) -> bool:
    """Return whether the command runs on a terminal and without --yes."""
    return not args.yes and all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def ask_to_go_on(args: argparse.Namespace, what: str) -> None:
    """Ask on a terminal whether to continue; anywhere else, and with --yes, continue without asking.

    Raises:
        Interrupted: the user said no.
    """
    if not may_ask(args):
        return
    sys.stderr.write(f"{what}. Continue? [Y/n] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if line.strip().lower() not in {"", "y", "yes"} or not line:
        raise Interrupted("nothing was done")


def report_failures(command: str, failures: Sequence[Any]) -> None:
    """Print what failed and why: every distinct cause once, with its count and the first job that had it."""
    if not failures:
        return
    causes: dict[str, list[Any]] = {}
    for failure in failures:
        causes.setdefault(failure.message, []).append(failure)
    warn(command, f"{len(failures)} failed and not in the file; run the same command to try them again:")
    for message, group in list(causes.items())[:10]:
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        tell(f"  {group[0].key}{more}: {message}")
    if len(causes) > 10:
        tell(f"  and {len(causes) - 10} further causes")


def work_text(do: str, done: str, work: Any, todo: str, kept: Sequence[str] = ()) -> str:
    """Return a summary of the work on one file: what is done, what must be redone, and `todo`, empty for none."""
    parts = [f"{work.already} {done} before"] if work.already else []
    parts += [f"{work.superseded} to {do} again because something changed"] if work.superseded else []
    return ", ".join([*parts, todo or f"nothing left to {do}", *kept])


def moved(args: argparse.Namespace, number: int, what: str, state: pathlib.Path) -> None:
    """Print where replaced rows were moved."""
    if number:
        say(args, f"{counted(number, what)} moved to {state / 'superseded'}")


@contextlib.contextmanager
def bar(total: int, unit: str, *, quiet: bool) -> Iterator["Watcher"]:
    """Show the progress bar of long work while the block runs, unless `quiet`; yield the watcher that moves it."""
    from harness.old.running.watch import nobody

    if quiet or not total:
        yield nobody
        return
    from harness.old.running.bar import tqdm_watch

    with tqdm_watch(total, unit) as watch:
        yield watch


@contextlib.contextmanager
def byte_bar(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of bytes from the first byte on; yield the function that sets it to a number of bytes."""
    drawn: Any = None

    def moved_to(size: int) -> None:
        nonlocal drawn
        if quiet or not total:
            return
        if drawn is None:
            from tqdm import tqdm

            from harness.old.running.bar import IN_FILE, ON_TERMINAL

            pause = ON_TERMINAL if sys.stderr.isatty() else IN_FILE
            drawn = tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, dynamic_ncols=True, mininterval=pause)
        drawn.update(size - drawn.n)

    try:
        yield moved_to
    finally:
        if drawn is not None:
            drawn.close()


def kept_text(path: pathlib.Path, state: pathlib.Path, *, redo: bool) -> list[str]:
    """Return a note about the replies that an earlier run left for an output file, empty if there are none."""
    from harness.old.running.batches.ledger import starts_anew
    from harness.old.running.pending import kept_count

    kept = 0 if starts_anew(path, state, redo=redo) else kept_count(path, state)
    return [f"{counted(kept, 'reply', 'replies')} kept from an earlier run"] if kept else []


def endpoint_text(endpoint: Any) -> str:
    """Return a chat model's address and the variable of its key, for --verbose; never the key."""
    if endpoint is None or endpoint.provider == "builtin":
        return "built in"
    key = f"key from {endpoint.api_key_env}" if endpoint.api_key_env else "no key"
    return f"{endpoint.provider} at {endpoint.base_url or 'the default address of its package'}, {key}"


def mend_streams() -> None:
    """Make the three streams usable: a closed one is empty, and what the terminal's encoding lacks is escaped."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def tell(text: str) -> None:
    """Print on stderr, above a progress bar; a closed stderr must not stop work that is paid for."""
    drawn = sys.modules.get("tqdm")
    try:
        with drawn.tqdm.external_write_mode(file=sys.stderr) if drawn else contextlib.nullcontext():
            # Messages hold names and texts of models: none of them may steer the terminal.
            print("\n".join(map(printable, text.split("\n"))), file=sys.stderr, flush=True)
    except OSError:
        forget(sys.stderr)


def flush() -> None:
    """Flush stdout; a reader that has gone is not an error."""
    try:
        sys.stdout.flush()
    except OSError:
        forget(sys.stdout)


def forget(stream: Any) -> None:
    """Discard further output to a broken stream, so that nothing fails at the end of the process."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())

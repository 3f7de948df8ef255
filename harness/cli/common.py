"""What all commands share: the parser, the flags that stand in several, and the one place where errors become exit codes."""

import argparse
import difflib
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from harness import __version__
from harness.errors import Interrupted, TurnbenchError

EXIT_CODES = """exit codes: 0 all done; 1 finished, with failures listed; 2 wrong use or bad input; 130 interrupted, what was done is kept"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line that names the nearest flag."""

    def __init__(self, name: str, purpose: str, examples: str) -> None:
        super().__init__(
            prog=name,
            description=purpose,
            epilog=f"examples:\n{examples}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument("--version", action="version", version=f"turnbench {__version__}")
        self.add_argument("-q", "--quiet", action="store_true", help="print results, warnings and errors only")
        self.add_argument("-v", "--verbose", action="store_true", help="say more about what is done, and show tracebacks")

    def error(self, message: str) -> NoReturn:
        """Print the error with a hint, and exit with code 2."""
        hint = ""
        if message.startswith("unrecognized arguments:"):
            word = message.split()[2].split("=")[0]
            near = difflib.get_close_matches(word, list(self._option_string_actions), n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
        sys.stderr.write(f"{self.prog}: error: {message}{hint} (see {self.prog} --help)\n")
        raise SystemExit(2)


def add_names(group: Any, *flags: str, help: str, metavar: str = "NAME", **more: Any) -> None:  # noqa: A002
    """Add an option that takes one or more values and may be repeated."""
    group.add_argument(*flags, nargs="+", action="extend", metavar=metavar, help=help, **more)


def add_bench(parser: argparse.ArgumentParser, *, default: str | None = "mt_bench") -> Any:
    """Add the flags that say where the questions and results are; return their group."""
    group = parser.add_argument_group("benchmark")
    group.add_argument("--bench-name", default=default, metavar="NAME", help="the benchmark folder in the data folder (default: mt_bench)")
    group.add_argument("--data-dir", default="data", metavar="DIR", help="where answers and judgments go (default: ./data)")
    return group


def add_slice(group: Any) -> None:
    """Add the flags that choose questions."""
    group.add_argument("--question-begin", type=int, metavar="N", help="the first question, counted from 0 in the file (default: 0)")
    group.add_argument("--question-end", type=int, metavar="N", help="the question to stop before (default: the end)")
    group.add_argument("--first-n", type=positive, metavar="N", help="only the first N questions (default: all)")


def add_endpoint(parser: argparse.ArgumentParser, what: str) -> Any:
    """Add the flags that say how to reach a chat model; return their group."""
    group = parser.add_argument_group("endpoint", "keys come from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY")
    group.add_argument(
        "--base-url",
        "--openai-api-base",
        metavar="URL",
        help=f"address of an OpenAI-compatible server for {what} (default: the provider's, or OPENAI_BASE_URL, ANTHROPIC_BASE_URL)",
    )
    group.add_argument(
        "--api-key-env", metavar="VARIABLE", help="environment variable that holds the key for --base-url (default: no key is sent)"
    )
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="the longest that one call may take (default: 600)")
    group.add_argument("--parallel", type=positive, default=8, metavar="N", help="calls in flight at once (default: 8)")
    return group


def positive(text: str) -> int:
    """Return a whole number from 1, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, this is {text}")
    return number


def asked_to_go_on(args: argparse.Namespace) -> bool:
    """Ask on a terminal whether to go on; anywhere else, and with --yes, the answer is yes."""
    if args.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write("Go on? [Y/n] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"", "y", "yes"}


def say(args: argparse.Namespace, text: str) -> None:
    """Print a line about the run, on stderr, unless --quiet."""
    if not args.quiet:
        print(text, file=sys.stderr)


def run_command(parser: Parser, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    """Parse, work, and return the exit code; every error that a user can meet becomes one line here."""
    args = parser.parse_args(argv)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f"{parser.prog}: warning: %(message)s"))
    logger = logging.getLogger("turnbench")
    logger.handlers[:] = [handler]
    logger.propagate = False
    try:
        return work(args)
    except TurnbenchError as error:
        if args.verbose:
            raise
        word = "" if isinstance(error, Interrupted) else "error: "
        print(f"{parser.prog}: {word}{error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted; what was done is kept, run the same command again to go on", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def report_failures(args: argparse.Namespace, prog: str, failures: Sequence[Any]) -> None:
    """Print what failed and why, on stderr: every distinct cause once, with its count and the first job that met it."""
    if not failures:
        return
    causes: dict[str, list[Any]] = {}
    for failure in failures:
        causes.setdefault(failure.message, []).append(failure)
    print(f"{prog}: {len(failures)} failed and are not in the file; run the same command again to try them again:", file=sys.stderr)
    for message, group in list(causes.items())[:10]:
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        print(f"  {group[0].key}{more}: {message}", file=sys.stderr)
    if len(causes) > 10:
        print(f"  and {len(causes) - 10} further causes", file=sys.stderr)

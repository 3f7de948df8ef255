"""What every command is made of: the parser, the flags that stand in several, and the one place where errors end.

results  -> stdout, and nothing else does        errors   -> one line on stderr, and the exit code
say      -> stderr, unless --quiet               detail   -> stderr, with --verbose only
"""

import argparse
import contextlib
import difflib
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from harness import __version__
from harness.errors import Interrupted, StorageError, TurnbenchError

if TYPE_CHECKING:
    import pathlib

    from harness.running.options import RunOptions

EXIT_CODES = {
    0: "all done",
    1: "finished, with failures listed",
    2: "wrong use or bad input",
    130: "interrupted; what was done is kept",
}
MODES = ("single", "pairwise-baseline", "pairwise-all")
"""The same as `harness.records.MODES`, which is not imported so that every command starts at once."""


_GO_ON = "run the same command again to go on"
"""How a message ends behind which the command fits."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line that names the nearest flag."""

    def __init__(self, name: str, purpose: str, examples: Sequence[str], *, usual: str | None = None) -> None:
        """`usual` is the flag that a user means who gives a value without one."""
        self.examples = tuple(examples)
        self.usual = usual
        codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
        super().__init__(
            prog=name,
            description=purpose,
            epilog="\n".join(["examples:", *(f"  {example}" for example in examples), "", "exit codes:", codes]),
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
            help="also say which files and addresses are used, and show where an error arose (default: off)",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as usual, after a look for unknown flags: a mistyped one is named before a missing one is."""
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
                near = difflib.get_close_matches(flag, list(self._option_string_actions), n=1, cutoff=0.5)
                self.error(f"no flag {flag}{f'; did you mean {near[0]}?' if near else ''}")

    def error(self, message: str) -> NoReturn:
        """Print the error, and exit with code 2."""
        beginning = "unrecognized arguments: "
        if message.startswith(beginning):
            stray = message.removeprefix(beginning)
            message = f"{stray!r} belongs to no flag{f'; did you mean {self.usual} {stray}?' if self.usual else ''}"
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see {self.prog} --help)\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Exit, help and version having reached whoever still reads them."""
        _flush()
        if message:
            _tell(message.rstrip("\n"))
        raise SystemExit(status)


def add_names(group: Any, *flags: str, help: str, metavar: str = "NAME", **more: Any) -> None:  # noqa: A002
    """Add an option that takes one or more values and may be repeated."""
    group.add_argument(*flags, nargs="+", action="extend", metavar=metavar, help=help, **more)


def add_mode(group: Any, what: str) -> None:
    """Add the flag that chooses among the three modes."""
    group.add_argument("--mode", default="single", choices=MODES, help=f"{what} (default: single)")


def add_bench(parser: argparse.ArgumentParser, *, default: str | None = "mt_bench") -> Any:
    """Add the flags that say where the questions and results are; return their group."""
    group = parser.add_argument_group("benchmark")
    group.add_argument(
        "--bench-name",
        default=default,
        metavar="NAME",
        help="benchmark: a folder in the data folder (default: mt_bench)",
    )
    group.add_argument(
        "--data-dir",
        default="data",
        metavar="DIR",
        help="data folder, where answers and judgments are (default: ./data)",
    )
    return group


def add_kind(group: Any) -> None:
    """Add the flags that choose one of several judgments of each answer by the same judge."""
    group.add_argument(
        "--sample",
        type=whole,
        metavar="N",
        help="which sample of a judge (default: the first; of a file, the only one in it)",
    )
    group.add_argument(
        "--criterion",
        metavar="NAME",
        help="judged by which criterion (default: the only one; show_result shows grades by several side by side)",
    )
    group.add_argument(
        "--score-method",
        choices=["text", "logprobs"],
        help="verdicts read from the judge's text, or weighed by its log-probabilities (default: the only one in the "
        "file)",
    )


def add_slice(group: Any) -> None:
    """Add the flags that choose questions."""
    group.add_argument(
        "--question-begin",
        type=whole,
        metavar="N",
        help="the first question to take, counted from 0 in the file (default: 0)",
    )
    group.add_argument("--question-end", type=whole, metavar="N", help="the question to stop before (default: the end)")
    group.add_argument(
        "--first-n", type=positive, metavar="N", help="only the first N of these questions (default: all)"
    )


def add_endpoint(parser: argparse.ArgumentParser, what: str) -> Any:
    """Add the flags that say how to reach a chat model; return their group."""
    group = parser.add_argument_group(
        "endpoint", "Keys come from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY, or --api-key-env."
    )
    group.add_argument(
        "--base-url",
        "--openai-api-base",
        metavar="URL",
        help=f"address of an OpenAI-compatible server for {what} (default: OPENAI_BASE_URL or ANTHROPIC_BASE_URL, "
        "else the provider's)",
    )
    group.add_argument(
        "--api-key-env",
        type=variable,
        metavar="VARIABLE",
        help="environment variable that holds the key for --base-url (default: no key is sent)",
    )
    group.add_argument(
        "--timeout", type=seconds, metavar="SECONDS", help="the longest that one call may take (default: 600)"
    )
    add_models_file(group)
    return group


def add_models_file(group: Any) -> None:
    """Add the flag that names the file of endpoints."""
    group.add_argument(
        "--models",
        metavar="FILE",
        help="file that names endpoints: addresses, pools, prices, limits (default: ./models.toml, if it is there)",
    )


def add_running(parser: argparse.ArgumentParser) -> Any:
    """Add the flags that say how the calls are made; return their group. `running` reads them."""
    group = parser.add_argument_group("calls")
    group.add_argument(
        "--parallel",
        type=parallel,
        metavar="N",
        help="calls in flight at once; auto finds out for each endpoint how many it can take (default: auto)",
    )
    group.add_argument(
        "--rpm", type=rate, metavar="N", help="the most calls in a minute to each endpoint (default: no limit)"
    )
    group.add_argument(
        "--tpm",
        type=rate,
        metavar="N",
        help="the most tokens in a minute, prompt and reply, of each endpoint (default: no limit)",
    )
    group.add_argument(
        "--cache",
        nargs="?",
        const="",
        metavar="FILE",
        help="keep completions by content and use them again, across files, benchmarks and model names "
        "(default: off; without FILE: .turnbench/cache.sqlite in the data folder)",
    )
    group.add_argument(
        "--max-cost",
        type=dollars,
        metavar="DOLLARS",
        help="stop before a call that could bring the cost of this run above this (default: no limit)",
    )
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="print the calls, tokens and cost that are still to come, call nothing and write nothing (default: off)",
    )
    group.add_argument(
        "--batch",
        action="store_true",
        help="hand the calls in as batches, which OpenAI and Anthropic answer within a day at half the price; the "
        "command waits, and may be stopped and run again to collect them (default: off)",
    )
    return group


def running(args: argparse.Namespace) -> "RunOptions":
    """Return what the flags of `add_running` say."""
    from harness.running.options import RunOptions

    return RunOptions(
        parallel=args.parallel,
        rpm=args.rpm,
        tpm=args.tpm,
        max_cost=args.max_cost,
        cache=_cache(args),
        batch=args.batch,
    )


def _cache(args: argparse.Namespace) -> "pathlib.Path | None":
    """Return the file that --cache names, or the usual one where it names none."""
    if args.cache is None:
        return None
    import pathlib

    from harness.running.cache import cache_file

    return pathlib.Path(args.cache) if args.cache else cache_file(args.data_dir)


def positive(text: str) -> int:
    """Return a whole number from 1, for argparse."""
    return int(_number(text, "a whole number from 1", lambda n: n >= 1 and n == int(n)))


def parallel(text: str) -> int | None:
    """Return a number of calls at once, or None for `auto`, for argparse."""
    if text == "auto":
        return None
    return int(_number(text, "auto or a whole number from 1", lambda n: n >= 1 and n == int(n)))


def rate(text: str) -> float:
    """Return a number of calls or tokens in a minute, for argparse."""
    return _number(text, "a number above 0", lambda n: 0 < n < float("inf"))


def whole(text: str) -> int:
    """Return a whole number from 0, for argparse."""
    return int(_number(text, "a whole number from 0", lambda n: n >= 0 and n == int(n)))


def temperature(text: str) -> float:
    """Return a sampling temperature, for argparse."""
    return _number(text, "a number from 0 to 2", lambda n: 0 <= n <= 2)


def share(text: str) -> float:
    """Return a share above 0, for argparse."""
    return _number(text, "a number above 0, at most 1", lambda n: 0 < n <= 1)


def seconds(text: str) -> float:
    """Return a length of time, for argparse."""
    return _number(text, "a number of seconds above 0", lambda n: 0 < n < float("inf"))


def dollars(text: str) -> float:
    """Return an amount of money, for argparse."""
    return _number(text.removeprefix("$"), "an amount of dollars from 0", lambda n: 0 <= n < float("inf"))


def variable(text: str) -> str:
    """Return the name of an environment variable, for argparse; a key given in its place is not repeated anywhere."""
    if text in os.environ or (text.isascii() and text.isidentifier() and text.isupper()):
        return text
    raise argparse.ArgumentTypeError("must be the name of an environment variable that holds the key, never the key")


def _number(text: str, wanted: str, fits: Callable[[float], bool]) -> float:
    try:
        number = float(text)
        if fits(number):
            return number
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"must be {wanted}, this is {text!r}")


def results(text: str) -> None:
    """Print results on stdout; a reader who has seen enough and went away (`| head`) is no error."""
    try:
        print(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
    except OSError as error:
        _forget(sys.stdout)
        raise StorageError(f"stdout cannot be written: {error.strerror or error}") from error


def say(args: argparse.Namespace, text: str) -> None:
    """Print a line about the run, on stderr, unless --quiet."""
    if not args.quiet:
        _tell(text)


def detail(args: argparse.Namespace, text: str) -> None:
    """Print a line about the run, on stderr, with --verbose."""
    if args.verbose:
        _tell(text)


def warn(command: str, text: str) -> None:
    """Print a line that must not be missed, on stderr."""
    _tell(f"{command}: {text}")


def ask_to_go_on(args: argparse.Namespace, what: str) -> None:
    """Ask on a terminal whether to do it; anywhere else, and with --yes, go on without a question.

    Raises:
        Interrupted: the user said no.
    """
    if args.yes or not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return
    sys.stderr.write(f"{what}. Go on? [Y/n] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if line.strip().lower() not in {"", "y", "yes"} or not line:
        raise Interrupted("nothing was done")


def run_command(parser: Parser, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    """Parse, work, and return the exit code; every error that a user can meet becomes one line here.

    A process that was started for this command ends here.
    """
    if argv is None:
        gc.set_threshold(50_000)  # little of what a command makes is rubbish that only a search finds
    code = _run(parser, work, argv)
    if argv is None:
        leave(code)
    return code


def _run(parser: Parser, work: Callable[[argparse.Namespace], int], argv: Sequence[str] | None) -> int:
    mend_streams()
    args = parser.parse_args(argv)
    words = sys.argv[1:] if argv is None else argv
    try:
        with _warnings_told(parser.prog):
            return work(args)
    except TurnbenchError as error:
        _traceback(args)
        beginning, end = ("", _same_command(parser.prog, words)) if isinstance(error, Interrupted) else ("error: ", "")
        again = f": {end}" if end and str(error).endswith(_GO_ON) else ""
        warn(parser.prog, f"{beginning}{error}{again}")
        return error.exit_code
    except KeyboardInterrupt:
        again = _same_command(parser.prog, words)
        warn(parser.prog, f"interrupted; what was done is kept, {_GO_ON}: {again}")
        return 130
    except OSError as error:  # a path that the system refuses in a way that no room foresaw
        _traceback(args)
        where = f"{error.filename}: " if error.filename else ""
        warn(parser.prog, f"error: {where}{error.strerror or error}")
        return 2


def _same_command(prog: str, words: Sequence[str]) -> str:
    """Return the command as it was given, ready to be pasted; it holds no key, since no flag takes one."""
    import pathlib
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
    """End a process that was started for a command at once; return where something else has still to happen in it.

    Taking the interpreter and the SDKs' modules apart would take longer than many a command. Whatever asked to be
    called at the end is called.
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
            _forget(stream)
    os._exit(code)


def _is_command_process() -> bool:
    """Return whether this process runs one of our commands and nothing else, such as a test or a notebook."""
    import pathlib

    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if not file:
        return False
    main = pathlib.Path(file)
    here = pathlib.Path(__file__).resolve().parent
    return main.resolve().parent == here or (here / f"{main.stem}.py").exists() or main.stem == "turnbench"


def report_failures(command: str, failures: Sequence[Any]) -> None:
    """Print what failed and why: every distinct cause once, with its count and the first job that met it."""
    if not failures:
        return
    causes: dict[str, list[Any]] = {}
    for failure in failures:
        causes.setdefault(failure.message, []).append(failure)
    warn(command, f"{len(failures)} failed, not in the file; run the same command again to try again:")
    for message, group in list(causes.items())[:10]:
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        _tell(f"  {group[0].key}{more}: {message}")
    if len(causes) > 10:
        _tell(f"  and {len(causes) - 10} further causes")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def endpoint_told(endpoint: Any) -> str:
    """Return where a chat model is and whose key is sent, for --verbose; never the key."""
    if endpoint is None or endpoint.provider == "builtin":
        return "built in"
    key = f"key from {endpoint.api_key_env}" if endpoint.api_key_env else "no key"
    return f"{endpoint.provider} at {endpoint.base_url or 'the address that its package knows'}, {key}"


def mend_streams() -> None:
    """Make the three streams usable: a closed one is empty, and what the terminal's encoding lacks is escaped."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _warnings_told(command: str) -> Iterator[None]:
    """Show the warnings of all rooms as lines of this command while the block runs."""
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

        _tell(traceback.format_exc().rstrip())


def _tell(text: str) -> None:
    """Print on stderr, above a bar that is drawn there; that nobody can read it must not stop work that is paid for."""
    drawn = sys.modules.get("tqdm")
    try:
        with drawn.tqdm.external_write_mode(file=sys.stderr) if drawn else contextlib.nullcontext():
            print(text, file=sys.stderr, flush=True)
    except OSError:
        _forget(sys.stderr)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _forget(sys.stdout)


def _forget(stream: Any) -> None:
    """Send what is still to come on a broken stream nowhere, so that nothing complains at the end of the process."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())

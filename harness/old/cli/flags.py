"""The flags that several commands have: `add_...` puts flags into a group, `words` hands them to a function."""

import argparse
import inspect
import pathlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.old.cli import values
from harness.old.cli.command import Flags, Parser
from harness.old.errors import UsageError

if TYPE_CHECKING:
    from harness.old.bench import Bench
    from harness.old.records import Question
    from harness.old.running.options import RunOptions

MODES = "single|pairwise-baseline|pairwise-all"
"""The same as `harness.old.records.MODES`, which is not imported so that every command starts at once."""


def words(args: argparse.Namespace, taker: Callable[..., Any], **own: Any) -> dict[str, Any]:
    """Return the flags that were given as keywords of a function or dataclass that has them by the same names.

    `own` are keywords that no flag says as it is.
    """
    return {name: value for name in keywords(taker) if (value := getattr(args, name, None)) is not None} | own


def keywords(taker: Callable[..., Any]) -> list[str]:
    """Return the keywords of a function or dataclass, with those of a query where it takes these."""
    taken = inspect.signature(taker).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return list(taken)
    from harness.old.results.query import Words

    return [*taken, *Words.__annotations__]


def add_redo(group: Flags, what: str) -> None:
    """Add the flag that redoes what is done."""
    group.add("--redo", f"{what}; the old rows are kept in .turnbench/")


def add_turns(group: Flags, what: str = "the turns to count (default: all)") -> None:
    """Add the flag that chooses turns."""
    group.add("--turns N ...", what)


def add_exclude(group: Flags, what: str = "voters to leave out") -> None:
    """Add the flag that leaves voters out."""
    group.add("--exclude GLOB ...", f"{what}, such as 'author*'")


def add_input_file(group: Flags, what: str = "a judgment or vote file") -> None:
    """Add the flag that names one file instead of the benchmark's."""
    group.add("--input-file FILE", f"{what}, or its address (default: the one in model_judgment/)")


def add_judge_set(group: Flags) -> None:
    """Add the flag that chooses among judgments by their judge set."""
    group.add("--judge-set SET", "judge set of the judgments (default: the only one; if there are several, name one)")


def add_reference(group: Flags) -> None:
    """Add the flag that says whose answers are the references."""
    group.add(
        "--reference NAME",
        "whose answers are the references: a file of reference_answer/ or any answered model (default: the only file "
        "there)",
    )


def add_data_dir(group: Flags, what: str = "data folder, where answers and judgments are") -> None:
    """Add the flag that says where the benchmarks are."""
    group.add("--data-dir DIR", f"{what} (default: ./data)", default="data")


def add_key(group: Flags, whose: str = "") -> None:
    """Add the flag that names the variable with the key for a server of your own."""
    group.add(
        f"--{whose}api-key-env VARIABLE",
        f"environment variable that holds the key for --{whose}base-url (default: no key is sent)",
    )


def add_mode(group: Flags, what: str) -> None:
    """Add the flag that chooses among the three modes."""
    group.add(f"--mode {MODES}", f"{what} (default: what the judge set says, else single)")


def add_board(group: Flags) -> None:
    """Add the flags of length control and of boards."""
    group.add(
        "--length-control own|compatible|off",
        "for pairs with a baseline, win rates at equal length: by the fit described in the README, as alpaca_eval fits "
        "(needs scikit-learn), or not (default: own if the judge set's leaderboard is ranked by it)",
    )
    group.add("--board FILE", "also write the win rates to this CSV file with AlpacaEval's columns, or add them to it")
    group.add("--overwrite", "with --board: replace rows of models that it has")


def add_format(group: Flags) -> None:
    """Add the flag that chooses among all formats."""
    from harness.old.showing import FORMATS

    def known(name: str) -> str:
        if name in FORMATS and FORMATS[name].binary and sys.stdout.isatty():  # before anything is computed
            raise argparse.ArgumentTypeError(f"{name} is no text that a terminal can show; write it to a file: > FILE")
        return name

    group.add(
        f"--format {'|'.join(FORMATS)}",
        f"how to print; {' and '.join(name for name, form in FORMATS.items() if form.for_programs)} are not rounded; "
        "a table fits itself to a terminal",
        type=known,
        default="table",
    )


def add_bench(parser: Parser, *, default: str | None = "mt_bench") -> Flags:
    """Add the flags that say where the questions and results are; return their group."""
    group = parser.group("benchmark")
    group.add("--bench-name NAME", "benchmark: a folder in the data folder (default: mt_bench)", default=default)
    add_data_dir(group)
    return group


def add_object(group: Flags, flag: str, metavar: str, *, about: str, default: str | None = None) -> None:
    """Add the name of what a command is about: as an argument, or with the flag that other commands have for it."""
    dest = flag.strip("-").replace("-", "_")
    # Without the argument, its default must not overwrite the flag's value.
    group.add_argument(dest, nargs="?", default=argparse.SUPPRESS, metavar=metavar, help=about)
    group.add(f"{flag} {metavar}", f"the same as {metavar}", default=default)


def add_kind(group: Flags) -> None:
    """Add the flags that choose one of several judgments of each answer by the same judge."""
    group.add("--sample N", "which sample of a judge (default: the first; show_result: the mean of all)", values.whole)
    group.add(
        "--criterion NAME",
        "the criterion of the judgments (default: the only one; show_result shows several side by side)",
    )
    group.add(
        "--score-method text|logprobs",
        "verdicts read from the judge's text, or weighted by its log-probabilities (default: the only one in the file)",
    )


def add_slice(group: Flags) -> None:
    """Add the flags that choose questions; `questions` reads them."""
    group.add("--question-begin N", "the first question to take, counted from 0 in the file (default: 0)", values.whole)
    group.add("--question-end N", "the first question not to take (default: the end)", values.whole)
    add_number(group)


def add_number(group: Flags, default: str = "all", these: str = "these questions") -> None:
    """Add the flags that say how many questions to take."""
    group.add("--first-n N", f"only the first N of {these} in the file (default: {default})")
    group.add(
        "--sample-n N",
        f"only N of {these}, spread over the categories: the first of each, then the second of each; always the "
        f"same ones (default: {default})",
    )


def questions(args: argparse.Namespace, bench: "Bench") -> "tuple[Question, ...]":
    """Return what the flags of `add_slice` choose."""
    return bench.slice(**words(args, bench.slice))


def add_endpoint(parser: Parser, what: str) -> Flags:
    """Add the flags that say how to reach a chat model; return their group."""
    group = parser.group(
        "endpoint",
        "Keys come from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, or --api-key-env.",
    )
    group.add(
        "--base-url, --openai-api-base URL",
        f"address of an OpenAI-compatible server for {what} (default: OPENAI_BASE_URL or ANTHROPIC_BASE_URL, "
        "else the provider's)",
    )
    add_key(group)
    group.add(
        "--timeout SECONDS",
        "the longest that one call may take (default: 600, or 240 until the endpoint has answered once)",
    )
    add_models_file(group)
    return group


def add_weights(group: Flags) -> None:
    """Add the flags for weights that are loaded into this process; `weights` and `model_names` read them."""
    group.add(
        "--model-path PATH",
        "local weights: a folder, or a repository of the Hugging Face hub; needs the extra [models]",
    )
    group.add("--model-id NAME", "the name of these weights in every file (default: the last part of --model-path)")
    group.add(
        "--dtype auto|float32|float16|bfloat16",
        "precision of the weights; auto is the one in which they are stored",
        default="auto",
    )
    group.add(
        "--device NAME",
        "device for the weights: cpu, cuda, cuda:1, or auto for all GPUs together (default: a GPU if there is one)",
    )
    group.add("--batch-size N", "conversations that are computed at once; halved if memory runs out", default=16)


def model_names(args: argparse.Namespace) -> list[str]:
    """Return the models that are asked, by --model or by --model-path and --model-id."""
    names = list(args.model or [])
    if args.model_path is None:
        if args.model_id is not None:
            raise UsageError("--model-id names the weights of --model-path, which is missing")
        return names
    name = args.model_id or args.model_path.rstrip("/").rpartition("/")[2]
    if names not in ([], [name]):
        raise UsageError("--model-path is for one model, named by --model-id; leave out --model")
    return [name]


def add_models_file(group: Flags) -> None:
    """Add the flag that names the file of endpoints."""
    group.add(
        "--models FILE",
        "file that names endpoints: addresses, pools, prices, limits (default: ./models.toml, if it is there)",
        dest="models_file",
    )


def add_running(parser: Parser) -> Flags:
    """Add the flags that say how the calls are made; return their group. `running` reads them."""
    group = parser.group("calls")
    group.add(
        "--parallel N",
        "calls in flight at once; auto finds out how many each endpoint can take (default: auto)",
        values.parallel,
    )
    group.add("--rpm N", "the most calls per minute to each endpoint (default: no limit)", values.rpm)
    group.add(
        "--tpm N", "the most tokens per minute, prompt and reply, of each endpoint (default: no limit)", values.tpm
    )
    group.add(
        "--patience SECONDS",
        "give up an endpoint that has worked and then only failed for this long (default: 600)",
    )
    group.add("--max-wait SECONDS", "the longest wait that an endpoint may ask for (default: 600)")
    group.add(
        "--cache FILE",
        "cache completions by content and reuse them across files, benchmarks and model names (default: off; "
        "without FILE: .turnbench/cache.sqlite in the data folder)",
        nargs="?",
        const="",
    )
    group.add(
        "--max-cost DOLLARS", "stop before a call that could raise the cost of this run above this (default: no limit)"
    )
    group.add("--dry-run", "print the calls, tokens and cost that are still to come; make no calls and write nothing")
    group.add(
        "-y, --yes",
        "do not ask before calls that may cost something (default: ask, showing their cost, on a terminal only)",
    )
    group.add(
        "--batch",
        "submit the calls as batches, which OpenAI, Anthropic and Google answer within a day at half the price; the "
        "command waits, and may be stopped and run again to collect them",
    )
    group.add(
        "--processes N",
        "processes that make the calls, for endpoints that answer faster than one can send; with --ray the number of "
        "workers (default: adjusted to the load while the calls are made; with --ray one on each node)",
        values.processes,
    )
    group.add(
        "--ray ADDRESS",
        "make the calls on the workers of a Ray cluster, local weights on its GPUs; needs the extra [ray] (default: "
        "off; without ADDRESS: the cluster that this machine belongs to)",
        nargs="?",
        const="",
    )
    group.add(
        "--gpus-per-model N",
        "with --ray, GPUs for each copy of local weights; 0.5 puts two on one, 2 or more spread it over them (default: "
        "1 where there are any)",
        values.gpus,
    )
    return group


def running(args: argparse.Namespace) -> "RunOptions":
    """Return what the flags of `add_running` say."""
    from harness.old.running.options import RunOptions

    return RunOptions(**words(args, RunOptions, cache=_cache(args)))


def _cache(args: argparse.Namespace) -> pathlib.Path | None:
    """Return the file that --cache names, or the usual one where it names none."""
    if args.cache is None:
        return None

    from harness.old.running.cache import cache_file

    return pathlib.Path(args.cache) if args.cache else cache_file(args.data_dir)


def add_retry_cut(group: Flags) -> None:
    """Add the flag for replies that were cut off."""
    group.add(
        "--retry-cut FACTOR",
        "ask once more for a reply that was cut off at its token limit, with FACTOR times the limit; 1: never "
        "(default: 2)",
        default=2.0,
    )


def add_params(group: Flags, whom: str, flag: str = "--param") -> None:
    """Add the flag for parameters of a request that have no flag of their own."""
    group.add(
        f"{flag} NAME=VALUE ...",
        f"further parameters of the requests to {whom}: reasoning_effort, thinking_budget, top_k, min_p, seed, "
        "stop, frequency_penalty, presence_penalty, repetition_penalty, extra_body.FIELD, extra_headers.NAME "
        "(default: as models.toml says)",
        default=[],
    )

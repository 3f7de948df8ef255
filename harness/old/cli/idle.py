"""Flags that have no effect in this call: the table of what they need, and the warning.

`gen_answer --model m --gpus-per-model 2`: "--gpus-per-model has no effect without --ray".
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness.old.cli.flags import keywords
from harness.old.cli.messages import warn

_Rows: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Flags, and others of which one is enough: given at all, or with the value after it."""

_OUTPUT = ("format", "report", "quiet", "verbose")
_BY_A_MODEL: _Rows = (
    ("--bert-model --bert-layer", ("--metrics bert_score", "--config")),
    ("--unieval-model --dimension --unieval-questions", ("--metrics unieval", "--config")),
    ("--device --batch-size", ("--metrics bert_score", "--metrics unieval", "--config")),
)
WITHOUT: Mapping[str, _Rows] = {
    "": (
        ("--gpus-per-model", ("--ray",)),
        ("--user-samples --user-seed --user-turns --user-prompt --user-base-url --user-api-key-env", ("--user",)),
    ),
    "gen_answer": (("--dtype --device --batch-size", ("--model-path",)),),
    "run_bench": (
        *_BY_A_MODEL,
        ("--variant --tokenizer", ("--metrics", "--config")),
        ("--language", ("--metrics", "--config", "--import")),
        ("--num-choices --temperature --max-tokens --top-p --seed --param --system --history --user", ("--model",)),
        ("--base-url --api-key-env --conv-template", ("--model",)),
        ("--allow", ("--board",)),
    ),
    "auto_metrics": _BY_A_MODEL,
    "show_result": (
        ("--style-anchor", ("--style",)),
        ("--max-missing", ("--fail-if-worse",)),
        ("--variant", ("--metric",)),
        ("--difference", ("--intervals", "--report", "--charts")),
        ("--models", ("--cost", "--efficiency", "--report")),
        ("--exclude", ("--input-file",)),
    ),
    "judge_report attack": (("--strong-model", ("--mode pairwise-baseline",)),),
    "judge_report disagreement": (("--exclude", ("--votes", "--input-file")),),
    "judge_report judges": (("--overwrite", ("--table",)),),
    "judge_report length": (("--exclude", ("--input-file",)),),
    "judge_report ranking": (
        ("--model-column --score-column", ("--against",)),
        ("--variant", ("--metric",)),
    ),
    "show_judge_set": (("--turns --model-list --mode --criterion --reference", ("--question",)),),
}
"""What flags need, by command; "" is every command that has them. A flag that is an error without is not here."""
BESIDE: Mapping[str, _Rows] = {
    "": (("--processes", ("--batch",)),),
    "gen_answer": (("--device --batch-size", ("--serve",)),),
    "judge_report reference": (("--threshold", ("--mode pairwise-baseline", "--mode pairwise-all")),),
}
"""Flags, and others beside which they have no effect."""


def warn_of_idle(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Warn of given flags that, by the table, have no effect; they count as not given from here on."""
    for flag, why in _idle(parser, args):
        if dest := next((dest for dest, given in args.given.items() if given == flag), None):
            warn(parser.prog, f"warning: {flag} has no effect {why}")
            del args.given[dest]


def warn_of_others(
    name: str, args: argparse.Namespace, shown: str, *takers: Callable[..., Any], also: str = ""
) -> None:
    """Warn of the flags that were given and are not taken by these functions, which do all there is to do with the
    flag `shown`; `also` are further names of values that it takes."""
    used = {*_OUTPUT, *also.split(), *(word for taker in takers for word in keywords(taker))}
    for dest, flag in args.given.items():
        if dest not in used:
            warn(name, f"warning: {flag} has no effect with {shown}")


def _idle(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield flags that have no effect even if given, each with the reason."""
    for table, word in ((WITHOUT, "without"), (BESIDE, "with")):
        for flags, others in (*table[""], *table.get(parser.prog, ())):
            there = [other for other in others if _is_there(parser, args, other)]
            if bool(there) == (word == "with"):
                why = f"{word} {' or '.join(there or others)}"
                yield from ((flag, why) for flag in flags.split())


def _is_there(parser: argparse.ArgumentParser, args: argparse.Namespace, other: str) -> bool:
    """Return whether a flag was given or, where a value stands after it, has that one."""
    name, _, wanted = other.partition(" ")
    if not wanted:
        return name in args.given.values()
    dest = next((own.dest for own in parser._actions if name in (*own.option_strings, own.metavar)), "")
    value: Sequence[str] | str | None = getattr(args, dest, None)
    return wanted == value or (isinstance(value, list) and wanted in value)

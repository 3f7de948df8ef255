"""Show what the judgments add up to."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import command

if TYPE_CHECKING:
    from harness.results.show import Result

NAME = "show_result"
PURPOSE = "Show scores, or wins, losses and ties, of every model that was judged."
EXAMPLES = (
    "show_result --judge-model builtin/overlap",
    "show_result --mode pairwise-all --format markdown",
    "show_result --input-file gpt-4_single.jsonl --format json",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--input-file")
    what = p.add_argument_group("what to show")
    command.add_mode(what, "grades, pairs with a baseline, or all pairs")
    what.add_argument(
        "--input-file", metavar="FILE", help="a judgment or vote file (default: the one in model_judgment/)"
    )
    what.add_argument(
        "--judge-model", metavar="NAME", help="whose judgments (default: the only judge's; of several, name one)"
    )
    what.add_argument(
        "--judge-set", metavar="SET", help="made with which judge set (default: the only one; of several, name one)"
    )
    command.add_names(what, "--model-list", help="the models to show (default: all)")
    what.add_argument(
        "--baseline-model",
        metavar="NAME",
        help="the baseline of pairwise-baseline (default: the model that is in every pair)",
    )
    command.add_names(what, "--turns", help="the turns to count (default: all)", metavar="N", type=command.positive)
    what.add_argument(
        "--count-failed",
        action="store_true",
        help="count a rating without score as -1, as some published averages did (default: off, it is left out)",
    )
    command.add_names(
        what, "--exclude", help="voters to leave out of a vote file, such as 'author*' (default: none)", metavar="GLOB"
    )
    command.add_bench(p, default=None)
    output = p.add_argument_group("output")
    output.add_argument(
        "--format",
        default="table",
        choices=["table", "json", "csv", "markdown"],
        help="how to print; json and csv are not rounded (default: table)",
    )
    return p


def work(args: argparse.Namespace) -> int:
    """Read, sum up, print."""
    from harness.cli.tables import as_csv, as_json
    from harness.errors import MissingError
    from harness.results.show import show_result

    result = show_result(
        args.mode,
        bench_name=args.bench_name,
        data_dir=args.data_dir,
        input_file=args.input_file,
        judge_model=args.judge_model,
        judge_set=args.judge_set,
        model_list=args.model_list,
        baseline_model=args.baseline_model,
        turns=args.turns,
        count_failed=args.count_failed,
        exclude=args.exclude or (),
    )
    rows = result.rows()
    if not rows:
        raise MissingError(f"{result.path}: no judgment is left by --turns, --exclude and the models named")
    command.detail(args, f"judgments: {result.path}")
    if args.format == "json":
        command.results(as_json({"mode": result.mode, "bench": result.bench, "judge": result.judge, "rows": rows}))
    elif args.format == "csv":
        command.results(as_csv(rows))
    else:
        command.results(_tables(result, markdown=args.format == "markdown"))
        return 0
    for note in result.notes:
        command.say(args, f"{NAME}: note: {note}")
    return 0


def _tables(result: "Result", *, markdown: bool) -> str:
    """Return the tables for people, with what they should know about them."""
    from harness.cli.tables import as_markdown, as_table, printable

    draw = as_markdown if markdown else as_table
    questions = result.bench or "unstated"
    about = f"{result.mode}, questions: {questions}, judge: {result.judge}, judge set: {result.judge_set}"
    parts = [f"**{printable(about)}**" if markdown else printable(about)]
    parts.append(draw(result.rows(), places=2 if result.mode == "single" else 3))
    if result.categories:
        parts += ["average by category", draw(result.category_table())]
    if result.notes:
        parts.append("\n".join(f"- {note}" if markdown else f"note: {note}" for note in map(printable, result.notes)))
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return command.run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

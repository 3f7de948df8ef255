"""Show what the judgments add up to."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli.common import Parser, add_bench, add_names, positive, run_command

if TYPE_CHECKING:
    from harness.results.show import Result

EXAMPLES = """\
  show_result --judge-model gpt-4o
  show_result --mode pairwise-all --format markdown
  show_result --input-file gpt-4_single.jsonl --format json"""


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser("show_result", "Show scores, or wins, losses and ties, of every model that was judged.", EXAMPLES)
    what = p.add_argument_group("what to show")
    what.add_argument(
        "--mode",
        default="single",
        choices=["single", "pairwise-baseline", "pairwise-all"],
        help="grades, pairs with a baseline, or all pairs (default: single)",
    )
    what.add_argument("--input-file", metavar="FILE", help="a judgment or vote file (default: the benchmark's model_judgment/)")
    what.add_argument("--judge-model", metavar="NAME", help="whose judgments (needed if there are several)")
    what.add_argument("--judge-set", metavar="SET", help="made with which judge set (needed if there are several)")
    add_names(what, "--model-list", help="the models to show (default: all)")
    what.add_argument("--baseline-model", metavar="NAME", help="the baseline of pairwise-baseline (default: the model that is in every pair)")
    add_names(what, "--turns", help="the turns to count (default: all)", metavar="N", type=positive)
    what.add_argument("--count-failed", action="store_true", help="count a rating without score as -1, as some published averages did")
    add_names(what, "--exclude", help="voters to leave out of a vote file, such as 'author*'", metavar="GLOB")
    add_bench(p, default=None)
    output = p.add_argument_group("output")
    output.add_argument(
        "--format", default="table", choices=["table", "json", "csv", "markdown"], help="how to print; json and csv are unrounded (default: table)"
    )
    return p


def work(args: argparse.Namespace) -> int:
    """Read, sum up, print."""
    from harness.cli.tables import as_csv, as_json
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
    if args.format == "json":
        print(as_json({"mode": result.mode, "bench": result.bench, "judge": result.judge, "rows": result.rows()}))
    elif args.format == "csv":
        print(as_csv(result.rows()))
    else:
        _print_tables(result, markdown=args.format == "markdown", quiet=args.quiet)
        return 0
    for note in result.notes:
        print(f"show_result: {note}", file=sys.stderr)
    return 0


def _print_tables(result: "Result", *, markdown: bool, quiet: bool) -> None:
    """Print the tables for people, with what they should know about them."""
    from harness.cli.tables import as_markdown, as_table

    draw = as_markdown if markdown else as_table
    if not quiet:
        about = f"questions: {result.bench}" if result.bench else "questions: unstated"
        heading = f"{result.mode}, {about}, judge: {result.judge}, judge set: {result.judge_set}"
        print(f"**{heading}**\n" if markdown else f"{heading}\n")
    print(draw(result.rows(), places=2 if result.mode == "single" else 3))
    if result.categories:
        print("\naverage by category\n")
        print(draw(result.category_table()))
    if result.notes:
        print()
        for note in result.notes:
            print(f"- {note}" if markdown else f"note: {note}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

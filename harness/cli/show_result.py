"""Show what the judgments add up to."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
    sure = p.add_argument_group(
        "how sure", "for single grades; questions are resampled, everything of a question together"
    )
    sure.add_argument(
        "--intervals",
        action="store_true",
        help="add 95%% intervals; for grades also the ranks that a model may have and which models can be told apart, "
        "for pairs the matrix of pairs, strengths, and whether the judge goes by an answer's place (default: off)",
    )
    sure.add_argument(
        "--by",
        default="category",
        metavar="FIELD",
        help="field of the questions by which the intervals group them, such as difficulty (default: category)",
    )
    sure.add_argument(
        "--against",
        metavar="FILE",
        help="grades of another run of the same questions to compare with, question by question (default: none)",
    )
    sure.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="with --against: exit with code 1 if a model is told to be worse than in the other run (default: off)",
    )
    sure.add_argument("--seed", type=command.whole, default=0, metavar="N", help="seed of the resampling (default: 0)")
    output = p.add_argument_group("output")
    output.add_argument(
        "--format",
        default="table",
        choices=["table", "json", "csv", "markdown"],
        help="how to print; json and csv are not rounded (default: table)",
    )
    output.add_argument(
        "--report",
        metavar="FILE",
        help="also write one HTML page that needs nothing else: tables and charts, with intervals (default: none)",
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
        intervals=args.intervals or args.report is not None,
        by=args.by,
        against=args.against,
        seed=args.seed,
    )
    rows = result.rows()
    if not rows:
        raise MissingError(f"{result.path}: no judgment is left by --turns, --exclude and the models named")
    command.detail(args, f"judgments: {result.path}")
    if args.report is not None:
        import datetime

        from harness.reporting import result_html, write_report

        write_report(args.report, result_html(result, date=datetime.date.today().isoformat()))
        command.say(args, f"{NAME}: wrote {args.report}")
    if args.format == "json":
        command.results(as_json(_json(result)))
    elif args.format == "csv":
        command.results(as_csv(rows))
    else:
        command.results(_tables(result, markdown=args.format == "markdown"))
        return _code(args, result)
    for note in result.notes:
        command.say(args, f"{NAME}: note: {note}")
    return _code(args, result)


def _code(args: argparse.Namespace, result: "Result") -> int:
    """Return the exit code: 1 if a model is told to be worse and the user wants to know it."""
    worse = [pair.model_1 for pair in result.runs.pairs if pair.better == "model_2"] if result.runs else []
    if args.fail_if_worse and worse:
        command.warn(NAME, f"told to be worse than in the other run: {', '.join(worse)}")
        return 1
    return 0


def _json(result: "Result") -> dict[str, Any]:
    """Return what json shows: the rows, and what was asked for beside them."""
    shown: dict[str, Any] = {
        "mode": result.mode,
        "bench": result.bench,
        "judge": result.judge,
        "rows": result.rows(),
    }
    if result.detail is not None:
        detail = result.detail
        shown["intervals"] = {
            "by": detail.by,
            "seed": detail.seed,
            "rows": detail.rows(),
            "groups": detail.group_rows(),
            "pairs": detail.pair_rows(),
        }
    if result.runs is not None:
        from harness.results.detail import pair_row

        shown["against"] = [pair_row(pair) for pair in result.runs.pairs]
    return shown


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
    if result.detail is not None or result.runs is not None:
        from harness.cli.certainty import how_sure

        parts += how_sure(result, draw)
    if result.notes:
        parts.append("\n".join(f"- {note}" if markdown else f"note: {note}" for note in map(printable, result.notes)))
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return command.run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

"""Show scores or win rates from the judgments."""

import argparse
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages, output, values
from harness.old.cli.idle import warn_of_others
from harness.old.errors import MissingError, UsageError

if TYPE_CHECKING:
    from harness.old.results.result import Result
    from harness.old.showing import Page

NAME = "show_result"
PURPOSE = "Show scores, or wins, losses and ties, of every model that was judged."
EXAMPLES = (
    "show_result --judge-model builtin/overlap",
    "show_result --mode pairwise-all --format markdown",
    "show_result --judge-model gpt-4.1 claude-opus-4-5 --intervals",
    "show_result --input-file gpt-4_single.jsonl --format json",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--input-file")
    what = p.group(
        "what to show",
        "Judgments of answers that have been replaced since are left out, with a note; gen_judgment redoes them.",
    )
    flags.add_mode(what, "grades, pairs with a baseline, or all pairs")
    flags.add_input_file(what)
    what.add(
        "--judge-model NAME ...",
        "whose judgments; several make a panel: each judge alone and all together (default: the only judge's)",
    )
    flags.add_judge_set(what)
    flags.add_kind(what)
    what.add(
        "--metric NAME ...",
        "show metrics that need no judge (checks, bleu and others; see auto_checks and auto_metrics) instead of "
        "judgments; score adds the judge's grade (default: judgments)",
    )
    what.add("--variant NAME", "which variant of the metrics (default: the only one)")
    what.add("--model-list NAME ...", "the models to show (default: all)")
    what.add(
        "--baseline-model NAME",
        "the baseline of pairwise-baseline (default: the judge set's, else the model that is in every pair)",
    )
    flags.add_turns(what)
    what.add(
        "--aggregate mean|min|last|pooled",
        "one number for each conversation: the mean, the lowest or the last of its turns' grades; a conversation with "
        "a turn without a grade is left out; pooled: one mean over all turns, as in FastChat (default: as the judge "
        "set states, else pooled)",
    )
    what.add("--common", "count only the questions on which all models were judged, ignoring models judged on few")
    what.add(
        "--count-failed",
        "count a judgment without a grade as -1, as some published averages did (default: off, it is left out)",
    )
    flags.add_exclude(what, "voters to leave out of a vote file")
    what.add(
        "--repeated last|average|refuse",
        "for repeated rows about the same match by the same judge and sample: the last valid one counts, their mean "
        "counts, or they are an error",
        default="last",
    )
    flags.add_bench(p, default=None)
    sure = p.group(
        "uncertainty",
        "Intervals are from a bootstrap over questions, for questions of this kind in any mix of categories (--by "
        "takes the mix as given). A table of up to 50 models and 8,000 rows has each model's 95% confidence "
        "interval and the range of ranks that it may have.",
    )
    sure.add(
        "--intervals",
        "add all intervals (turns, categories, the drop in turn 2), which models differ significantly and how many "
        "questions that takes; for pairs also the matrix of pairs, Bradley-Terry strengths, and the judge's "
        "position bias",
        default=None,
    )
    sure.add(
        "--no-intervals", "leave out every interval and rank", dest="intervals", action="store_false", default=None
    )
    sure.add(
        "--by FIELD",
        "group tables by this field of the questions, such as difficulty, and take the mix of its values as given in "
        "the intervals; none: no groups; with --metric checks also kind, the kind of check (default: tables by "
        "category, and intervals for questions in any mix)",
    )
    sure.add(
        "--difference X",
        "a difference between two models that matters to you: the table has the power to detect it, and how many "
        "questions that takes (default: 5%% of the scale; for win rates 0.1)",
    )
    sure.add("--against FILE", "judgments of another run of the same questions to compare with, question by question")
    sure.add(
        "--allow NAME ...",
        "with --against: what may differ between the runs: judge, judge-set, scale, sampling, criterion, score-method, "
        "questions; with --board from its rows: judge, judge-set, baseline (default: nothing)",
    )
    sure.add(
        "--margin X",
        "with --against: the margin of a non-inferiority test: is each model shown to be at most X worse than in the "
        "other run",
    )
    sure.add(
        "--fail-if-worse",
        "with --against: exit with code 1 if a model is worse than in the other run, is not shown to be as good "
        "within --margin, has too many judgments missing or too few questions to show any drop, or is in the other run "
        "alone",
    )
    sure.add(
        "--max-missing SHARE",
        "with --fail-if-worse: the largest share of judgments that may have failed or be missing",
        default=0.05,
    )
    sure.add("--seed N", "seed of the bootstrap", values.whole, default=0)
    style = p.group("style")
    style.add(
        "--style FEATURE ...",
        "for pairs: show the models' strengths at equal length, headers, lists, bold (any of these), and the effect of "
        "each, instead of results (default: off)",
        choices=("length", "headers", "lists", "bold"),
    )
    style.add(
        "--style-anchor NAME ...",
        "with --style: the models that define the scale and the effect of style, so that no other model shifts a "
        "rating (default: all models)",
    )
    form = p.group("output")
    form.add(
        "--cost",
        "show what the answers and judgments cost instead of results: calls, tokens and dollars by model and judge, "
        "at today's prices, for the whole benchmark in all modes or for --input-file",
    )
    form.add(
        "--efficiency",
        "show quality beside cost: score, dollars, tokens (reasoning separately), seconds, length, the share of "
        "replies that were cut off or refused, and which models are on the Pareto front",
    )
    form.add(
        "--first-turn-effect",
        "show, instead of results, how turn 2 is graded after the model's own first turn and after a supplied one "
        "(gen_answer --history), by model and category, and after a good and a bad first turn",
    )
    flags.add_models_file(form)
    flags.add_format(form)
    flags.add_board(form)
    form.add(
        "--sort COLUMN",
        "sort the models by a column or category, such as turn_2, model or math (default: average, or "
        "win_rate_adjusted)",
    )
    form.add("--report FILE", "also write one self-contained HTML page: tables and charts, with intervals")
    form.add(
        "--charts DIR",
        "also write the charts of that page as SVG files into a folder; for criteria and metrics bars by category and "
        "by metric",
    )
    return p


def work(args: argparse.Namespace) -> int:
    """Read, aggregate, print."""
    command.one_thread()
    allowed = args.allow and args.board is None
    if args.against is None and (args.fail_if_worse or args.margin is not None or allowed):
        raise UsageError(
            "--fail-if-worse, --margin and --allow compare two runs; name the other one with --against FILE"
        )
    if args.report is not None:  # before anything is computed
        from harness.old.showing.html import check_report

        check_report(args.report)
    instead = next((page for flag, page in _INSTEAD.items() if getattr(args, flag)), None)
    if instead is None:
        return _results(args)
    page = instead(args)
    if args.report is not None:
        from harness.old.showing.html import write_report

        write_report(args.report, page)
    output.show(args, page, NAME)
    return 0


def _result(args: argparse.Namespace) -> "Result":
    """Return the results, with all details if a page or charts are written."""
    from harness.old.results.show import show_result

    intervals = args.intervals if args.report is None and args.charts is None else True
    common = args.common or args.efficiency
    result = show_result(**flags.words(args, show_result, intervals=intervals, common=common))
    if not result.rows():
        raise MissingError(f"{result.path}: --turns, --exclude and the models named leave no judgment")
    messages.detail(args, f"judgments: {result.path}")
    return result


def _results(args: argparse.Namespace) -> int:
    """Show results; return the exit code."""
    if args.charts is not None:
        from harness.old.showing.pictures import check_folder

        check_folder(pathlib.Path(args.charts))
    result = _result(args)
    if args.report is not None:
        _write_report(args, result)
    if args.charts is not None:
        from harness.old.showing.pictures import write_charts
        from harness.old.showing.show_result import result_page

        charts = write_charts(pathlib.Path(args.charts), result_page(result))
        messages.say(args, f"{NAME}: wrote {messages.counted(len(charts), 'chart')} into {args.charts}")
    print_result(args, result, intervals=bool(args.intervals))
    return _code(args, result)


def print_result(args: argparse.Namespace, result: "Result", *, intervals: bool = False) -> None:
    """Print a result in the format that --format names; `intervals`: with all of them."""
    from harness.old.showing.show_result import result_page

    shown = result if intervals else replace(result, detail=None)
    output.show(args, result_page(shown, intervals=intervals), NAME)


def _style(args: argparse.Namespace) -> "Page":
    """Return the models at equal style."""
    from harness.old.results.styled import show_style
    from harness.old.showing.style import style_page

    of_pairs = " mode" if args.mode == "pairwise-all" else ""
    warn_of_others(NAME, args, "--style", show_style, also=f"style style_anchor{of_pairs}")
    words = flags.words(args, show_style, features=args.style, anchors=args.style_anchor or ())
    return style_page(show_style(**words))


def _cost(args: argparse.Namespace) -> "Page":
    """Return what the answers and judgments cost."""
    from harness.old.results.cost import show_cost
    from harness.old.showing.costs import cost_page

    warn_of_others(NAME, args, "--cost", show_cost, also="cost")
    return cost_page(show_cost(**flags.words(args, show_cost)))


def _efficiency(args: argparse.Namespace) -> "Page":
    """Return the quality of each model beside its price."""
    from harness.old.results.efficiency import efficiency
    from harness.old.results.show import show_result
    from harness.old.showing.efficiency import efficiency_page

    warn_of_others(NAME, args, "--efficiency", show_result, efficiency, also="efficiency")
    return efficiency_page(efficiency(**flags.words(args, efficiency, result=_result(args))))


def _first_turn(args: argparse.Namespace) -> "Page":
    """Return how much of the loss in second turns is due to the first."""
    from harness.old.results.first_turn import first_turn_effect
    from harness.old.showing.first_turn import first_turn_page

    if args.mode not in {None, "single"}:
        raise UsageError("--first-turn-effect is for grades; leave out --mode")
    warn_of_others(NAME, args, "--first-turn-effect", first_turn_effect, also="first_turn_effect mode")
    return first_turn_page(first_turn_effect(**flags.words(args, first_turn_effect)))


_INSTEAD = {"cost": _cost, "style": _style, "first_turn_effect": _first_turn, "efficiency": _efficiency}
"""What is shown instead of results, by its flag."""


def _code(args: argparse.Namespace, result: "Result") -> int:
    """Return the exit code: 1 with --fail-if-worse if the run does not pass."""
    if not args.fail_if_worse or result.runs is None:
        return 0
    faults = result.runs.faults(max_missing=args.max_missing, margin=args.margin)
    for fault in faults:
        messages.warn(NAME, fault)
    return 1 if faults else 0


def _write_report(args: argparse.Namespace, result: "Result") -> None:
    """Write the HTML page of a result, with how it was made."""
    import datetime

    from harness import __version__
    from harness.old.showing.html import write_report
    from harness.old.showing.show_result import report_page, result_page, sampling_of

    made = {
        "judge_sampling": sampling_of(result).replace("unstated", "") if result.judged else "",
        "judging_cost": _spent(args, result) if result.judged else "",
        "date": datetime.date.today().isoformat(),
        "command": args.command_line,
        "version": f"turnbench {__version__}",
    }
    write_report(args.report, report_page(result_page(result), **made))
    messages.say(args, f"{NAME}: wrote {args.report}")


def _spent(args: argparse.Namespace, result: "Result") -> str:
    """Return what the judgments of a result cost, as far as tokens and prices are known."""
    from harness.old.results.cost import show_cost
    from harness.old.showing.values import dollars

    rows = show_cost(input_file=result.path, judge_model=result.judge.split(", "), models_file=args.models_file)
    priced = [row for row in rows if row.cost is not None and row.unstated < row.calls]
    calls = sum(row.calls for row in priced)
    return f"{dollars(sum(row.cost or 0.0 for row in priced))} for {messages.counted(calls, 'call')}" if priced else ""


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

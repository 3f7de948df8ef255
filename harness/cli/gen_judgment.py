"""Let judges grade or compare the answers."""

import argparse
import sys
from collections.abc import Sequence

from harness.cli.common import (
    Parser,
    add_bench,
    add_endpoint,
    add_names,
    add_slice,
    asked_to_go_on,
    positive,
    report_failures,
    run_command,
    say,
)

EXAMPLES = """\
  gen_judgment --judge-model builtin/overlap --yes
  gen_judgment --judge-model gpt-4o --mode pairwise-all --parallel 16
  gen_judgment --judge-model my-judge --base-url http://localhost:8000/v1 --mode pairwise-baseline --baseline-model gpt-4o"""


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser("gen_judgment", "Let judges grade or compare every answer that they have not judged yet.", EXAMPLES)
    judging = p.add_argument_group("judging")
    add_names(judging, "--judge-model", required=True, help="judges: any chat model, or builtin/overlap, which needs no key and is for trying things out")
    judging.add_argument(
        "--mode",
        default="single",
        choices=["single", "pairwise-baseline", "pairwise-all"],
        help="grade single answers, compare every model with a baseline, or compare all pairs, in both orders (default: single)",
    )
    judging.add_argument(
        "--judge-set", "--judge-file", default="mt_bench", metavar="SET", help="a shipped judge set, a folder, or a FastChat judge_prompts.jsonl (default: mt_bench)"
    )
    add_names(judging, "--model-list", help="the models to judge (default: all that have answers)")
    judging.add_argument("--baseline-model", metavar="NAME", help="the baseline of pairwise-baseline")
    add_names(judging, "--turns", help="the turns to judge (default: every turn)", metavar="N", type=positive)
    judging.add_argument(
        "--reference", metavar="NAME", help="whose answers are the references: a file of reference_answer/ or any answered model (default: the only file)"
    )
    judging.add_argument("--skip-missing", action="store_true", help="leave out questions whose answer or reference is missing, instead of stopping")
    judging.add_argument("--redo", action="store_true", help="judge again what is judged; the old rows are kept in .turnbench/")
    judging.add_argument("--yes", action="store_true", help="do not ask before the first call, on a terminal")
    add_slice(add_bench(p))
    sampling = p.add_argument_group("sampling")
    sampling.add_argument("--temperature", type=float, metavar="T", help="the judge's temperature (default: the judge set's)")
    sampling.add_argument("--max-tokens", type=positive, metavar="N", help="the most tokens of a judgment (default: the judge set's)")
    add_endpoint(p, "the judges")
    return p


def work(args: argparse.Namespace) -> int:
    """Plan, ask, call, report."""
    from harness.bench import load_bench
    from harness.cli.bar import bar
    from harness.judging.run import JudgeOptions, plan_judgments, run_judgments

    bench = load_bench(args.bench_name, args.data_dir)
    options = JudgeOptions(
        judge_set=args.judge_set,
        baseline=args.baseline_model,
        turns=tuple(args.turns) if args.turns else None,
        reference=args.reference,
        temperature=args.temperature,
        max_tokens=args.max_tokens,
        base_url=args.base_url,
        api_key_env=args.api_key_env,
        timeout=args.timeout,
        skip_missing=args.skip_missing,
    )
    plan = plan_judgments(
        args.judge_model,
        bench,
        args.mode,
        options,
        models=args.model_list,
        questions=bench.slice(args.question_begin, args.question_end, args.first_n),
        redo=args.redo,
    )
    for notice in plan.notices:
        print(f"gen_judgment: {notice}", file=sys.stderr)
    baseline = f", baseline {args.baseline_model}" if args.mode == "pairwise-baseline" else ""
    say(args, f"{bench.name}, {plan.mode}, judge set {plan.judge_set.name} {plan.judge_set.version}: {len(plan.questions)} questions, {len(plan.models)} models{baseline}")
    for judge in plan.judges:
        there = f"{judge.already} judged before, " if judge.already else ""
        changed = f"{judge.superseded} to judge anew because something changed, " if judge.superseded else ""
        say(args, f"{judge.judge}: {there}{changed}{judge.rows} matches to judge, {judge.calls} calls")
    if plan.calls and not asked_to_go_on(args):
        say(args, "nothing was done")
        return 0
    with bar(plan.calls, "call", quiet=args.quiet) as watch:
        report = run_judgments(plan, parallel=args.parallel, watch=watch)
    if report.unparsed:
        print(f"gen_judgment: {report.unparsed} of {report.written} judgments give no verdict; they are kept and left out of every mean", file=sys.stderr)
    if report.superseded:
        say(args, f"{report.superseded} older judgments moved to {bench.state / 'superseded'}")
    report_failures(args, "gen_judgment", report.tally.failures)
    for path in report.paths:
        print(path)
    return 0 if report.complete else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

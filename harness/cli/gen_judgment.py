"""Let judges grade or compare the answers."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import command

if TYPE_CHECKING:
    from harness.judging.run import JudgeOptions, JudgmentPlan

NAME = "gen_judgment"
PURPOSE = "Let judges grade or compare every answer that they have not judged yet."
EXAMPLES = (
    "gen_judgment --judge-model builtin/overlap",
    "gen_judgment --judge-model gpt-4.1 --mode pairwise-all --parallel 16",
    "gen_judgment --judge-model gpt-4.1 --mode pairwise-baseline --baseline-model my-model",
    "gen_judgment --judge-model my-judge --base-url http://localhost:8000/v1 --yes",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--judge-model")
    judging = p.add_argument_group("judging")
    command.add_names(
        judging,
        "--judge-model",
        required=True,
        help="judges: any chat model, or builtin/overlap, which needs no key and is for trying things out (needed)",
    )
    command.add_mode(judging, "grade single answers, compare every model with a baseline, or compare all pairs")
    judging.add_argument(
        "--judge-set",
        "--judge-file",
        default="mt_bench",
        metavar="SET",
        help="a shipped judge set, a folder, or a FastChat judge_prompts.jsonl (default: mt_bench)",
    )
    command.add_names(judging, "--model-list", help="the models to judge (default: all that have answers)")
    judging.add_argument(
        "--baseline-model", metavar="NAME", help="the baseline (default: none; pairwise-baseline needs one)"
    )
    command.add_names(
        judging, "--turns", help="the turns to judge (default: every turn)", metavar="N", type=command.positive
    )
    judging.add_argument(
        "--reference",
        metavar="NAME",
        help="whose answers are the references: a file of reference_answer/ or any answered model "
        "(default: the only file there)",
    )
    judging.add_argument(
        "--skip-missing",
        action="store_true",
        help="leave out questions whose answer or reference is missing, in place of stopping (default: off)",
    )
    judging.add_argument(
        "--redo",
        action="store_true",
        help="judge again what is judged; the old rows are kept in .turnbench/ (default: off)",
    )
    judging.add_argument(
        "-y", "--yes", action="store_true", help="do not ask before the first call (default: ask, on a terminal only)"
    )
    command.add_slice(command.add_bench(p))
    sampling = p.add_argument_group("sampling")
    sampling.add_argument(
        "--temperature",
        "--force-temperature",
        type=command.temperature,
        metavar="T",
        help="the judge's temperature (default: the judge set's)",
    )
    sampling.add_argument(
        "--max-tokens",
        "--max-new-token",
        type=command.positive,
        metavar="N",
        help="the most tokens of a judgment (default: the judge set's)",
    )
    command.add_endpoint(p, "the judges")
    command.add_running(p)
    return p


def work(args: argparse.Namespace) -> int:
    """Plan, ask, call, report."""
    from harness.bench import load_bench
    from harness.cli.bar import bar
    from harness.judging.run import plan_judgments, run_judgments

    bench = load_bench(args.bench_name, args.data_dir)
    plan = plan_judgments(
        args.judge_model,
        bench,
        args.mode,
        _options(args),
        models=args.model_list,
        questions=bench.slice(args.question_begin, args.question_end, args.first_n),
        redo=args.redo,
    )
    _tell_plan(args, plan)
    if plan.calls:
        matches = command.counted(plan.rows, "match", "matches")
        command.ask_to_go_on(args, f"{matches} to judge, {command.counted(plan.calls, 'call')}")
    with bar(plan.calls, "call", quiet=args.quiet) as watch:
        report = run_judgments(plan, command.running(args), watch=watch)
    if report.unparsed:
        none = "gives no verdict; it is" if report.unparsed == 1 else "give no verdict; they are"
        written = command.counted(report.written, "judgment")
        command.warn(NAME, f"{report.unparsed} of {written} {none} kept and left out of every mean")
    if report.superseded:
        moved = command.counted(report.superseded, "older judgment")
        command.say(args, f"{moved} moved to {bench.judgment_state / 'superseded'}")
    command.report_failures(NAME, report.tally.failures)
    command.results("\n".join(map(str, report.paths)))
    return 0 if report.complete else 1


def _options(args: argparse.Namespace) -> "JudgeOptions":
    from harness.judging.run import JudgeOptions

    return JudgeOptions(
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


def _tell_plan(args: argparse.Namespace, plan: "JudgmentPlan") -> None:
    """Say what is judged, and what each judge has done and will do."""
    for notice in plan.notices:
        command.warn(NAME, f"warning: {notice}")
    if args.baseline_model and plan.mode != "pairwise-baseline":
        command.warn(NAME, f"warning: --baseline-model has no effect in mode {plan.mode}")
    baseline = f" against {args.baseline_model}" if plan.mode == "pairwise-baseline" else ""
    questions, models = command.counted(len(plan.questions), "question"), command.counted(len(plan.models), "model")
    judge_set = f"judge set {plan.judge_set.name} {plan.judge_set.version}"
    command.say(args, f"{plan.bench.name}, {plan.mode}{baseline}, {judge_set}: {questions}, {models}")
    command.detail(args, f"  judge set: {plan.judge_set.path}; models: {', '.join(plan.models)}")
    for judge in plan.judges:
        parts = [f"{judge.already} judged before"] if judge.already else []
        if judge.superseded:
            parts.append(f"{judge.superseded} to judge anew because something changed")
        matches = command.counted(judge.rows, "match", "matches")
        todo = f"{matches} to judge, {command.counted(judge.calls, 'call')}"
        parts.append(todo if judge.rows else "nothing left to judge")
        command.say(args, f"{judge.judge}: {', '.join(parts)}")
        command.detail(args, f"  {command.endpoint_told(judge.endpoint)}; judgments: {judge.path}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return command.run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

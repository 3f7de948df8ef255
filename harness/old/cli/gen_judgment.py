"""Let judges grade or compare the answers."""

import argparse
from typing import TYPE_CHECKING, Any

from harness.old.cli import command, flags, messages, output

if TYPE_CHECKING:
    from harness.old.judging.planned import JudgePlan, JudgmentPlan
    from harness.old.judging.run import JudgeOptions, JudgmentReport

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
    judging = add_judging(p, "all that have answers")
    judging.add(
        "--redo all|failed",
        "judge again what is judged, or with `failed` only what has no verdict; the old rows are kept in .turnbench/ "
        "(default: off)",
        nargs="?",
        const="all",
    )
    flags.add_slice(flags.add_bench(p))
    sampling = p.group("sampling")
    sampling.add("--temperature, --force-temperature T", "the judge's temperature (default: the judge set's)")
    sampling.add("--max-tokens, --max-new-token N", "the most tokens of a judgment (default: the judge set's)")
    flags.add_retry_cut(sampling)
    flags.add_params(sampling, "the judges")
    flags.add_endpoint(p, "the judges")
    flags.add_running(p)
    return p


def add_judging(p: command.Parser, models: str, *, required: bool = True) -> command.Flags:
    """Add the flags that say who judges what, `models` by default; return their group."""
    judging = p.group("judging")
    needed = "required" if required else "default: none; required unless --config names nothing to judge"
    judging.add(
        "--judge-model NAME ...",
        "judges: any chat model; builtin/overlap, which needs no key and is for trying things out; or the "
        "baseline judges builtin/longest, builtin/first and builtin/random, which compare by one rule each "
        f"({needed})",
        required=required,
    )
    flags.add_mode(judging, "grade single answers, compare every model with a baseline, or compare all pairs")
    judging.add(
        "--judge-set, --judge-file SET",
        "a shipped judge set, a folder of TOML, or a prompt file of FastChat (.jsonl), ColossalAI (.json) or "
        "AlpacaEval (.yaml); show_judge_set lists the shipped ones",
        default="mt_bench",
    )
    judging.add("--criterion NAME ...", "the judge set's criteria to judge by (default: its default ones)")
    judging.add("--model-list NAME ...", f"the models to judge (default: {models})")
    judging.add("--baseline-model NAME", "the baseline of pairwise-baseline (default: the judge set's, if any)")
    judging.add(
        "--votes FILE ...",
        "with --mode pairwise-all: files of votes; judge only the pairs that people voted on, to compare judges with "
        "people (default: all pairs)",
    )
    flags.add_turns(judging, "the turns to judge (default: every turn)")
    judging.add(
        "--reference NAME",
        "whose answers are the references: a file of reference_answer/ or any answered model; none: judge without "
        "references and notes (default: the only file there)",
    )
    judging.add(
        "--samples K",
        "judge each match K times; each further sample has its own file and, if the judge set states a seed, its own "
        "seed",
        default=1,
    )
    judging.add("--choices first|all", "which choices of an answer to judge", default="first")
    judging.add(
        "--structured auto|off",
        "auto: enforce the judge set's JSON schema if it has one and the provider can do so, else ask for JSON in "
        "the prompt only; off: in the prompt only",
        default="auto",
    )
    judging.add(
        "--skip-missing",
        "leave out questions for which a model has no answer, or whose reference is missing, instead of stopping",
    )
    return judging


def work(args: argparse.Namespace) -> int:
    """Plan, ask, call, report."""
    from harness.old.bench import load_bench
    from harness.old.judging.run import plan_judgments, run_judgments

    bench = load_bench(args.bench_name, args.data_dir)
    plan = plan_judgments(
        args.judge_model,
        bench,
        args.mode,
        options(args),
        models=args.model_list,
        questions=flags.questions(args, bench),
        redo=args.redo == "all",
        redo_failed=args.redo == "failed",
    )
    tell_plan(args, plan)
    if not output.go_on(args, plan, reach=plan):
        return 0
    with messages.bar(plan.jobs, "judgment", quiet=args.quiet) as watch:
        report = run_judgments(plan, flags.running(args), watch=watch)
    tell_report(args, plan, report)
    messages.report_failures(NAME, report.tally.failures)
    messages.result_paths(report.paths)
    return 0 if report.complete else 1


def tell_report(args: argparse.Namespace, plan: "JudgmentPlan", report: "JudgmentReport", name: str = NAME) -> None:
    """Print warnings about the judgments of a run."""
    in_words = report.tally.flagged.get("in words", 0)
    if in_words:
        messages.warn(name, f"{in_words} replies were requested in the prompt only: the endpoint takes no JSON schema")
    if report.unparsed:
        none = "gives no verdict; it is" if report.unparsed == 1 else "give no verdict; they are"
        written = messages.counted(report.written, "judgment")
        messages.warn(name, f"{report.unparsed} of {written} {none} kept and left out of every mean")
        messages.warn(name, f"most frequent reason: {report.reasons.most_common(1)[0][0]}")
        if report.mostly_unparsed:
            messages.warn(
                name,
                "half of the judgments or more give no verdict; see why with show_result, fix it, and "
                "run gen_judgment --redo failed",
            )
    messages.moved(args, report.superseded, "older judgment", plan.bench.judgment_state)


def options(args: argparse.Namespace) -> "JudgeOptions":
    """Return the options of judging that the flags state."""
    from harness.old.judging.run import JudgeOptions

    own: dict[str, Any] = {
        "baseline": args.baseline_model,
        "turns": tuple(args.turns) if args.turns else None,
        "params": dict(args.param),
        "key_needed": not args.dry_run,
        "criteria": tuple(args.criterion or ()),
        "every_choice": args.choices == "all",
        "structured": args.structured == "auto",
        "votes": tuple(args.votes or ()),
    }
    return JudgeOptions(**flags.words(args, JudgeOptions, **own))


def tell_plan(args: argparse.Namespace, plan: "JudgmentPlan", name: str = NAME) -> None:
    """Print what is judged, what each judge has done and what is left."""
    for notice in plan.notices:
        messages.warn(name, f"warning: {notice}")
    if args.baseline_model and plan.mode != "pairwise-baseline":
        messages.warn(name, f"warning: --baseline-model has no effect in mode {plan.mode}")
    baseline = f" against {plan.baseline}" if plan.baseline is not None else ""
    questions, models = messages.counted(len(plan.questions), "question"), messages.counted(len(plan.models), "model")
    judge_set = f"judge set {plan.judge_set.name} {plan.judge_set.version}"
    messages.say(args, f"{plan.bench.name}, {plan.mode}{baseline}, {judge_set}: {questions}, {models}")
    messages.detail(args, f"  judge set: {plan.judge_set.path}; models: {', '.join(plan.models)}")
    if plan.one_order:
        seed = f" by the seed {plan.judge_set.order_seed}" if plan.judge_set.order == "random" else ""
        messages.say(args, f"each pair is shown in one order only ({plan.judge_set.order.replace('_', ' ')}{seed})")
    for judge in plan.judges:
        kept = messages.kept_text(judge.path, plan.bench.judgment_state, redo=plan.redo)
        told = messages.work_text("judge", "judged", judge, _work_left(plan, judge) if judge.rows else "", kept)
        sample = f", sample {judge.sample}" if judge.sample else ""
        messages.say(args, f"{judge.judge}{sample}: {told}")
        messages.detail(args, f"  {messages.endpoint_text(judge.endpoint)}; judgments: {judge.path}")


def _work_left(plan: "JudgmentPlan", judge: "JudgePlan") -> str:
    """Return a text about what a judge has left to judge, and why a pair takes two calls, or none."""
    calls = messages.counted(judge.calls, "call")
    if plan.mode == "single":
        return f"{messages.counted(judge.rows, 'judgment')} to make, {calls}"
    orders = "" if plan.one_order else " in both orders"
    equal = " (two equal answers are a tie without a call)" if judge.calls < judge.rows * plan.games else ""
    return f"{messages.counted(judge.rows, 'pair')} of answers to compare{orders}, {calls}{equal}"


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

"""Let chat models answer the questions of a benchmark."""

import argparse
import sys
from collections.abc import Sequence

from harness.cli.common import Parser, add_bench, add_endpoint, add_names, add_slice, positive, report_failures, run_command, say

EXAMPLES = """\
  gen_answer --model builtin/reference builtin/eliza
  gen_answer --model gpt-4o claude-sonnet-4-5 --parallel 16
  gen_answer --model my-model --base-url http://localhost:8000/v1"""


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser("gen_answer", "Let chat models answer every question of a benchmark that they have not answered yet.", EXAMPLES)
    models = p.add_argument_group("models")
    add_names(models, "--model", required=True, help="models to ask: gpt-..., claude-..., builtin/..., or any name with --base-url")
    models.add_argument("--answer-file", metavar="FILE", help="write one model's answers here (default: model_answer/ of the benchmark)")
    models.add_argument("--redo", action="store_true", help="answer again what is answered; the old rows are kept in .turnbench/")
    add_slice(add_bench(p))
    sampling = p.add_argument_group("sampling")
    sampling.add_argument("--num-choices", type=positive, default=1, metavar="N", help="conversations for each question (default: 1)")
    sampling.add_argument(
        "--temperature",
        "--force-temperature",
        type=float,
        metavar="T",
        help="one temperature for all (default: by category as in MT-Bench: 0.7 writing and roleplay, 0 extraction, math, coding "
        "and reasoning, 0.1 stem and humanities, else 0.7)",
    )
    sampling.add_argument(
        "--max-tokens", "--max-new-token", type=positive, default=4096, metavar="N", help="the most tokens of a reply, reasoning included (default: 4096)"
    )
    sampling.add_argument("--top-p", type=float, metavar="P", help="nucleus sampling (default: the endpoint's)")
    sampling.add_argument("--seed", type=int, metavar="N", help="sent to endpoints that take one (default: none)")
    sampling.add_argument("--system", metavar="TEXT", help="system prompt (default: the benchmark's, if it has one)")
    endpoint = add_endpoint(p, "the models")
    endpoint.add_argument(
        "--conv-template", metavar="NAME", help="for servers that only speak /v1/completions: the fschat conversation template to use"
    )
    return p


def work(args: argparse.Namespace) -> int:
    """Plan, call, report."""
    import pathlib

    from harness.answering import AnswerOptions, plan_answers, run_answers
    from harness.bench import load_bench
    from harness.cli.bar import bar

    bench = load_bench(args.bench_name, args.data_dir)
    options = AnswerOptions(
        num_choices=args.num_choices,
        temperature=args.temperature,
        max_tokens=args.max_tokens,
        top_p=args.top_p,
        seed=args.seed,
        system=args.system,
        base_url=args.base_url,
        api_key_env=args.api_key_env,
        conv_template=args.conv_template,
        timeout=args.timeout,
    )
    plan = plan_answers(
        args.model,
        bench,
        options,
        questions=bench.slice(args.question_begin, args.question_end, args.first_n),
        answer_file=pathlib.Path(args.answer_file) if args.answer_file else None,
        redo=args.redo,
    )
    for model in plan.models:
        there = f"{model.already} questions answered before, " if model.already else ""
        changed = f"{model.superseded} to answer anew because something changed, " if model.superseded else ""
        say(args, f"{model.endpoint.name}: {there}{changed}{len(model.todo)} questions to answer, {model.calls} calls")
    with bar(plan.jobs, "conv", quiet=args.quiet) as watch:
        report = run_answers(plan, parallel=args.parallel, watch=watch)
    flagged = ", ".join(f"{count} {kind}" for kind, count in report.tally.flagged.items())
    if flagged:
        say(args, f"replies that are not whole (they are kept, flagged, and judged as they stand): {flagged}")
    if report.superseded:
        say(args, f"{report.superseded} older answers moved to {bench.state / 'superseded'}")
    report_failures(args, "gen_answer", report.tally.failures)
    for path in report.paths:
        print(path)
    return 0 if report.complete else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())

"""Check the answers for what a program can check."""

import argparse

from harness.old.cli import command, flags, messages
from harness.old.cli.auto_metrics import measured

NAME = "auto_checks"
PURPOSE = "Test every answer against the checks of its question: no judge, no key, no cost."
EXAMPLES = (
    "auto_checks --bench-name ifeval",
    "auto_checks --model-list my-model --first-n 10",
    "auto_checks --bench-name our_coding --run-code",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES)
    group = p.group("checks")
    group.add("--model-list NAME ...", "the models to check (default: all that have answers)")
    add_run_code(group)
    flags.add_redo(group, "check answers again that are checked")
    flags.add_slice(flags.add_bench(p))
    return p


def add_run_code(group: command.Flags) -> None:
    """Add the flag that lets checks run a model's code."""
    group.add(
        "--run-code",
        "let checks run code that models wrote: in bubblewrap, podman or docker, without network and home folder, with "
        "limits on time, memory and processes (default: off; such checks stay undecided)",
    )


def work(args: argparse.Namespace) -> int:
    """Plan, check, report."""
    from harness.old.bench import load_bench
    from harness.old.checks.sandbox import open_sandbox
    from harness.old.metrics.checks import plan_checks

    bench = load_bench(args.bench_name, args.data_dir)
    plan = plan_checks(
        bench,
        models=args.model_list,
        questions=flags.questions(args, bench),
        sandbox=open_sandbox() if args.run_code else None,
        redo=args.redo,
    )
    report = measured(args, plan, NAME, "turn")
    messages.result_paths(report.paths)
    return 1 if report.lost else 0


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

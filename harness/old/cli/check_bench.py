"""Check a benchmark folder: all problems at once, and what the set contains."""

import argparse

from harness.old.cli import flags, output
from harness.old.cli.command import Parser, main_of

EXAMPLES = (
    "check_bench mt_bench",
    "check_bench data/our_questions",
    "check_bench data/our_questions --format json",
)


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser(
        "check_bench",
        "Check a benchmark folder as the other commands read it, and show what it contains. The exit code is 1 if it "
        "has problems, which these commands refuse or misread; missing references and near-duplicates are none.",
        EXAMPLES,
    )
    what = p.group("benchmark")
    names = "a folder that holds question.jsonl, or the name of a benchmark (default: mt_bench)"
    flags.add_object(what, "--bench-name", "DIR_OR_NAME", about=names, default="mt_bench")
    flags.add_data_dir(what, "data folder in which a name is looked for")
    form = p.group("output")
    form.add("--format table|json", "output format; a table shows the first 20 of each list", default="table")
    return p


def work(args: argparse.Namespace) -> int:
    """Check, print."""
    from harness.old.checking import check_bench
    from harness.old.showing.check_bench import bench_page

    report = check_bench(args.bench_name, args.data_dir)
    output.show(args, bench_page(report))
    return 1 if report.problems else 0


main = main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

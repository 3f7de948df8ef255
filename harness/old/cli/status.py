"""Show the state of a benchmark."""

import argparse

from harness.old.cli import command, flags, messages, output

NAME = "status"
PURPOSE = "Show what is answered, judged, missing and out of date in a benchmark, and what the missing part would cost."
EXAMPLES = ("status", "status --bench-name mt_bench_zh --format json")
LARGE = 100_000_000
"""From this many bytes of answers and judgments on, counting takes long enough for a progress bar."""


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--bench-name")
    flags.add_models_file(flags.add_bench(p))
    form = p.group("output")
    form.add("--format table|json", "output format", default="table")
    return p


def work(args: argparse.Namespace) -> int:
    """Read, count, print."""
    from harness.old.bench import load_bench
    from harness.old.showing.status import status_page
    from harness.old.status import bench_status

    bench = load_bench(args.bench_name, args.data_dir)
    messages.detail(args, f"results: {bench.folder}")
    size = sum(path.stat().st_size for path in bench.folder.glob("model_*/*.jsonl*") if path.is_file())
    with messages.byte_bar(size, quiet=args.quiet or size < LARGE) as moved_to:
        status = bench_status(bench, models_file=args.models_file, told=lambda share: moved_to(round(share * size)))
    output.show(args, status_page(status))
    return 0


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

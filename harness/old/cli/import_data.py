"""Make a benchmark of other projects' data, or training data of our judgments."""

import argparse
import contextlib
import pathlib
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages
from harness.old.cli.idle import warn_of_others
from harness.old.errors import UsageError
from harness.old.importing import FORMATS

if TYPE_CHECKING:
    from harness.old.importing.records import BadRow, ImportReport

NAME = "import_data"
PURPOSE = "Make a benchmark folder of another project's data, or write judgments back in such a shape."
EXAMPLES = (
    "import_data feedback_collection new_feedback_collection.json --bench-name feedback --first-n 1000",
    "import_data colossalai target.json answers_a.json answers_b.json --model-id model-a model-b --bench-name my_chat",
    "import_data ifeval input_data.jsonl responses.jsonl --model-id my-model --bench-name ifeval",
    "import_data --back feedback_collection --bench-name feedback --judge-model gpt-4.1 --output training.json",
)
_MOST_SHOWN = 50


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES)
    data = p.group("data")
    data.add_argument(
        "format",
        nargs="?",
        metavar="FORMAT",
        help=f"format of the data: {', '.join(FORMATS)} (required, except with --back)",
    )
    data.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="JSON array, JSON Lines, .csv, .tsv or .parquet, read as a stream; for colossalai the target file and "
        "then answer files, for alpaca_eval the outputs that define the questions and then further outputs, or "
        "annotations, for ifeval the prompts and then files of responses",
    )
    data.add(
        "--model-id NAME ...",
        "models of the further files, in order (default: as their records say, else the file's name)",
    )
    data.add("--first-n N", "only the first N questions (default: all)")
    data.add("--keep-input", "keep a record's assembled judge input as the question's context, to send it unchanged")
    data.add("--language CODE", "language of the questions, for bench.toml (default: en)")
    flags.add_bench(p, default=None)
    back = p.group("export")
    back.add(
        "--back feedback_collection|alpaca_eval",
        "export the benchmark's judgments in this format instead: grades as feedback_collection, to train a judge, "
        "pairs as alpaca_eval's annotations.json (default: import)",
    )
    back.add(
        "--judge-model NAME",
        "whose judgments (default: the only judge's); for imported annotations, who made them (default: the judge "
        "stated in the judge set of that name, else the annotator)",
    )
    flags.add_judge_set(back)
    back.add("--output FILE", "where to write them; required with --back")
    return p


def work(args: argparse.Namespace) -> int:
    """Import, or export; print what was done."""
    if args.bench_name is None:
        raise UsageError("name the benchmark with --bench-name: its folder in the data folder")
    return _write_back(args) if args.back else _import(args)


def _import(args: argparse.Namespace) -> int:
    if args.format is None or not args.files:
        raise UsageError(f"give a format and a file; formats: {', '.join(FORMATS)}")
    if args.format == "alpaca_eval":
        from harness.old.annotations import holds_annotations

        if holds_annotations(args.files[0]):
            return _annotations(args)
    report = imported(args, args.format, language=args.language)
    _tell_next(args, report)
    messages.result_paths(report.added or [report.folder])
    return 1 if report.bad else 0


def _annotations(args: argparse.Namespace) -> int:
    """Convert AlpacaEval's annotations to judgments."""
    from harness.old.annotations import import_annotations

    warn_of_others(NAME, args, "annotations", import_annotations)
    with _bar(args) as progress:
        report = import_annotations(**flags.words(args, import_annotations, progress=progress))
    if report.questions:
        messages.say(args, f"{report.folder}: {messages.counted(report.questions, 'question')}")
    for model, count in report.judgments.items():
        messages.say(args, f"{model}: {messages.counted(count, 'judgment')}")
    if report.known:
        messages.say(args, f"{messages.counted(report.known, 'judgment')} there already")
    if report.failed:
        failed = messages.counted(report.failed, "annotation")
        messages.warn(NAME, f"{failed} without a preference give no judgment; gen_judgment judges those pairs")
    _tell_bad(report.bad, NAME)
    messages.result_paths(report.added)
    return 1 if report.bad else 0


def imported(
    args: argparse.Namespace, format_name: str, *, language: str | None = None, name: str = NAME
) -> "ImportReport":
    """Import the files that the flags name; print how many records were imported."""
    from harness.old.importing.run import import_data

    with _bar(args) as progress:
        own = {"format_name": format_name, "language": language, "progress": progress}
        report = import_data(**flags.words(args, import_data, **own))
    parts = [messages.counted(report.questions, "question")]
    parts += [f"{messages.counted(count, 'answer')} by {model}" for model, count in report.answers.items()]
    parts += [messages.counted(report.votes, "vote")] if report.votes else []
    messages.say(args, f"{report.folder}: {', '.join(parts)}")
    if report.repeated:
        messages.say(args, f"{messages.counted(report.repeated, 'record')} repeated an earlier one; left out")
    _tell_bad(report.bad, name)
    return report


def answers_imported(args: argparse.Namespace, format_name: str, *, name: str = NAME) -> "ImportReport":
    """Add the answers in the files that the flags name to an existing benchmark; print how many were added."""
    from harness.old.bench import load_bench
    from harness.old.importing.answers import import_answers

    bench = load_bench(args.bench_name, args.data_dir)
    with _bar(args) as progress:
        report = import_answers(format_name, args.files, bench, model_id=args.model_id or (), progress=progress)
    for model, count in report.answers.items():
        messages.say(args, f"{model}: {messages.counted(count, 'answer')} imported, {report.new[model]} of them new")
    _tell_bad(report.bad, name)
    return report


def _tell_bad(bad: "Sequence[BadRow]", name: str) -> None:
    """Say which records were left out, and why."""
    if bad:
        messages.warn(name, f"{messages.counted(len(bad), 'record')} left out:")
        for row in bad[:_MOST_SHOWN]:
            print(f"  {row}", file=sys.stderr)
        if len(bad) > _MOST_SHOWN:
            print(f"  and {len(bad) - _MOST_SHOWN} more", file=sys.stderr)


def _tell_next(args: argparse.Namespace, report: "ImportReport") -> None:
    """Print the next commands for what was imported."""
    words = ["--bench-name", args.bench_name, *(["--data-dir", args.data_dir] if args.data_dir != "data" else [])]
    where = shlex.join(words)
    if not report.answers:
        messages.say(args, f"next: gen_answer {where} --model MODEL")
    votes = shlex.quote(str(report.folder / "human_judgment" / f"{args.format}.jsonl"))
    judging = FORMATS[args.format].judging.format(language=args.language or "en", votes=votes)
    messages.say(args, f"next: gen_judgment {where} --judge-model JUDGE {judging}")


def _write_back(args: argparse.Namespace) -> int:
    from harness.old.api import import_back

    if args.output is None:
        raise UsageError("name the file to write with --output")
    if args.format is not None:
        raise UsageError(f"--back takes no files, this is {args.format!r}")
    warn_of_others(NAME, args, "--back", import_back, also="back")
    report = import_back(**flags.words(args, import_back, form=args.back))
    if isinstance(report, dict):
        for model, count in report.items():
            messages.say(args, f"{model}: {messages.counted(count, 'annotation')}")
        messages.results(args.output)
        return 0
    total = sum(report.balance.values())
    messages.results(
        "\n".join(
            ["score  records  share"]
            + [f"{s:>5}  {report.balance[s]:>7}  {report.balance[s] / (total or 1):>5.1%}" for s in range(1, 6)]
        )
    )
    messages.say(args, f"{messages.counted(total, 'record')} in {report.path}")
    for reason, count in report.left_out.items():
        messages.warn(NAME, f"{messages.counted(count, 'judgment')} left out: {reason}")
    return 0


@contextlib.contextmanager
def _bar(args: argparse.Namespace) -> Iterator[Callable[[int], None]]:
    """Show how much of the files has been read."""
    sizes = [pathlib.Path(file).stat().st_size for file in args.files if pathlib.Path(file).is_file()]
    with messages.byte_bar(sum(sizes), quiet=args.quiet) as moved_to:
        total = 0

        def read(count: int) -> None:
            nonlocal total
            total += count
            moved_to(total)

        yield read


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

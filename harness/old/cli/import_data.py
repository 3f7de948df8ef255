"""What `run_bench --import` imports."""

import argparse
import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from harness.old.cli import flags, messages

if TYPE_CHECKING:
    from harness.old.importing.records import BadRow, ImportReport

NAME = "import_data"
_MOST_SHOWN = 50


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

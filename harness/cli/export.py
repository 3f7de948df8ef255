"""The command `export`."""

from typing import Any

from harness import options, registry
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.reporting import Column, Note, Page, Table
from harness.results.spent import Cost
from harness.words import counted


def export(format: str, bench_name: str | None = None, **words: Any) -> Any:  # noqa: A002
    """Write a benchmark's results in another project's form; return what was written.

    `words` are the options of the command.

    Raises:
        UsageError: no such format; several judges of which one is to be named; a file is there.
        MissingError: there are no such judgments.
        StorageError: a file cannot be written.
    """
    record = record_from(options.Export, format=format, bench_name=bench_name, **words)
    return run(record, Console())


def run(record: options.Export, console: Console) -> Any:
    """Export, and say what was written and what the format has no place for."""
    report = registry.find("importing", "export")(record, Cost(calls.configs()))
    for line in _written(report):
        console.tell(line)
    for line in _left_out(report):
        console.warn(line)
    for path in report.written:
        console.write(str(path))
    return report


def page(report: Any) -> Page:
    """Return what was exported."""
    files = [{"file": str(path)} for path in report.written]
    outcome = "\n".join(_written(report)) or "Nothing was written."
    notes = list(map(Note, _left_out(report)))
    return Page(outcome, [Table("", [Column("file")], files)] if files else [], notes=notes)


def _written(report: Any) -> list[str]:
    counts = sorted(report.records.items())
    return [f"{name}: {counted(count, 'record')}" for name, count in counts]


def _left_out(report: Any) -> list[str]:
    counts = report.left_out.items()
    lines = [f"{counted(count, 'judgment')} left out: {why}" for why, count in counts if count]
    return [*lines, *(f"not exported: {text}" for text in report.not_current)]

"""The command `export`."""

from typing import Any

from harness import options, registry
from harness.cli.console import Console
from harness.cli.parser import record_from
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
    report = registry.find("importing", "export")(record)
    for name, count in sorted(report.records.items()):
        console.tell(f"{name}: {counted(count, 'record')}")
    for reason, count in report.left_out.items():
        if count:
            console.warn(f"{counted(count, 'judgment')} left out: {reason}")
    for path in report.written:
        console.write(str(path))
    return report

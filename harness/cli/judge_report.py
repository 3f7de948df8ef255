"""The command `judge_report`."""

from msgspec.structs import replace

from harness import options, registry
from harness.cli.command import show
from harness.cli.parser import Parsed
from harness.errors import UsageError


def work(parsed: Parsed) -> int:
    """Show one report about a judge; return the exit code."""
    record: options.JudgeReport = parsed.options
    if not record.report:
        raise UsageError(f"name a report: {', '.join(registry.names('report'))}")
    if "judge_model" not in parsed.typed and record.report != "attack":
        # The judge that turnbench.toml names for judging is not the only one to be reported on.
        record = replace(record, select=replace(record.select, judge_model=()))
    report = registry.find("report", record.report)
    options.check_flags(record, record.report)
    show(report(record), record.output.format)
    return 0

"""The command `auto_checks`."""

from typing import Any

from harness import options
from harness.cli.console import Console
from harness.cli.measured import carry_out
from harness.cli.parser import record_from
from harness.metrics import MetricReport, plan_checks


def auto_checks(**words: Any) -> MetricReport:
    """Check every answer for what a program can check; `words` are the options of the command.

    Raises:
        TurnbenchError: an option is wrong, or there is nothing to measure.
    """
    return run(record_from(options.AutoChecks, **words), Console())


def run(record: options.AutoChecks, console: Console) -> MetricReport:
    """Check every answer for what a program can check."""
    plan = plan_checks(record)
    report = carry_out(plan, "turn", console)
    console.write("\n".join(str(work.path) for work in plan.works if work.path.exists()))
    return report

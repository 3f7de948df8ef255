"""The command `auto_metrics`."""

from typing import Any

from harness import options
from harness.cli.console import Console
from harness.cli.measured import carry_out
from harness.cli.parser import record_from
from harness.metrics import MetricReport, plan_metrics


def auto_metrics(**words: Any) -> MetricReport:
    """Compute metrics of every answer that need no judge; `words` are the options of the command.

    Raises:
        TurnbenchError: an option is wrong, or there is nothing to measure.
    """
    return run(record_from(options.AutoMetrics, **words), Console())


def run(record: options.AutoMetrics, console: Console) -> MetricReport:
    """Compute metrics of every answer that need no judge."""
    plan = plan_metrics(record)
    report = carry_out(plan, "number", console)
    console.write("\n".join(str(work.path) for work in plan.works if work.path.exists()))
    return report

"""What `auto_metrics` and `auto_checks` print: what is to be done, and where the numbers are."""

import sys
from typing import TYPE_CHECKING

from harness.cli.command import log, printable

if TYPE_CHECKING:
    from harness.metrics import Metric, MetricPlan


def carry_out(plan: "MetricPlan", unit: str, quiet: bool) -> int:
    """Carry out a plan, print the files with the numbers, and return the exit code."""
    from tqdm import tqdm

    from harness.metrics import run

    for notice in plan.notices:
        log.warning("%s", notice)
    against = f", reference: {plan.reference}" if plan.reference else ""
    log.info("%s: %s%s", plan.bench.name, _counted(len(plan.models), "model"), against)
    for work in plan.works:
        parts = [f"{work.already} measured before"] if work.already else []
        todo = f"{_counted(len(work.todo), 'turn')} to measure"
        parts.append(todo if work.todo else "nothing left to measure")
        log.info("%s: %s", _shown(work.metric), ", ".join(parts))
    total = sum(len(work.todo) for work in plan.works)
    hidden = quiet or not sys.stderr.isatty()
    with tqdm(total=total, unit=unit, disable=hidden, leave=False) as bar:
        report = run(plan, bar.update)
    if report.undefined:
        rows = _counted(report.written, "row")
        log.warning(
            "%s of %s have no number; each states why, and means leave it out",
            report.undefined,
            rows,
        )
    if report.superseded:
        rows = _counted(report.superseded, "older row")
        log.info("%s moved to %s", rows, plan.bench.state / "model_metric" / "superseded")
    for work in plan.works:
        sys.stdout.write(f"{printable(str(work.path))}\n")
    names = " ".join(work.metric.name for work in plan.works)
    log.info("show_result %s --metric %s shows them", plan.bench.flags, names)
    return 0


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shown(metric: "Metric") -> str:
    """Return a metric's name with its variant, tokenizer and library."""
    variant = None if metric.variant == "default" else metric.variant
    tokens = metric.tokenizer and f"tokens: {metric.tokenizer}"
    how = ", ".join(part for part in (variant, tokens, metric.library) if part)
    return f"{metric.name} ({how})" if how else metric.name

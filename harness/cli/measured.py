"""What `auto_metrics` and `auto_checks` print: what is to be done, and where the numbers are."""

import sys

from tqdm import tqdm

from harness.cli.calls import state_of
from harness.cli.command import is_quiet, log
from harness.metrics import MetricPlan, run
from harness.options import ShowResult, command_line
from harness.reporting.page import counted


def carry_out(plan: MetricPlan, unit: str) -> None:
    """Carry out a plan under a bar, and say what was done."""
    for notice in plan.notices:
        log.warning("%s", notice)
    against = f", reference: {plan.reference}" if plan.reference else ""
    log.info("%s: %s%s", plan.bench.name, counted(len(plan.models), "model"), against)
    for work in plan.works:
        todo = f"{counted(len(work.todo), 'turn')} to measure" if work.todo else ""
        state = state_of("measure", work.split, todo)
        applies = work.todo or work.split.done
        log.info("%s: %s", work.metric.name, state if applies else "for none of these turns")
    total = sum(len(work.todo) for work in plan.works)
    hidden = is_quiet() or not sys.stderr.isatty()
    with tqdm(total=total, unit=unit, disable=hidden, leave=False) as bar:
        report = run(plan, bar.update)
    if report.undefined:
        rows = counted(report.written, "row")
        advice = "have no number; each states why, and means leave it out"
        log.warning("%s of %s %s", report.undefined, rows, advice)
    if report.superseded:
        log.info("%s moved to .turnbench/", counted(report.superseded, "older row"))
    names = tuple(work.metric.name for work in plan.works if work.todo or work.split.done)
    log.info("%s", command_line(ShowResult(bench=plan.bench.named.shown, metric=names)))

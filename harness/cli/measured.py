"""What `auto_metrics` and `auto_checks` say: what is to be done, and where the numbers are."""

from harness.cli.calls import state_of
from harness.cli.console import Console
from harness.metrics import MetricPlan, MetricReport, run
from harness.options import ShowResult, command_line
from harness.reporting import Page
from harness.words import counted


def carry_out(plan: MetricPlan, unit: str, console: Console) -> MetricReport:
    """Carry out a plan under a bar, and say what was done."""
    for notice in plan.notices:
        console.warn(notice)
    against = f", reference: {plan.reference}" if plan.reference else ""
    console.tell(f"{plan.bench.name}: {counted(len(plan.models), 'model')}{against}")
    for work in plan.works:
        todo = f"{counted(len(work.todo), 'turn')} to measure" if work.todo else ""
        state = state_of("measure", work.split, todo)
        applies = work.todo or work.split.done
        console.tell(f"{work.metric.name}: {state if applies else 'for none of these turns'}")
    total = sum(len(work.todo) for work in plan.works)
    with console.count(total, unit) as done:
        report = run(plan, done)
    if report.undefined:
        console.warn(_undefined(report))
    if report.superseded:
        console.tell(f"{counted(report.superseded, 'older row')} moved to .turnbench/")
    names = tuple(work.metric.name for work in plan.works if work.todo or work.split.done)
    console.tell(command_line(ShowResult(bench=plan.bench.named.shown, metric=names)))
    return report


def page(report: MetricReport) -> Page:
    """Return what was measured."""
    written = f"{counted(report.written, 'number')} written."
    return Page(f"{written}\n{_undefined(report)}." if report.undefined else written)


def _undefined(report: MetricReport) -> str:
    rows = counted(report.written, "row")
    return f"{report.undefined} of {rows} have no number; each states why, and means leave it out"

"""The command `judge_report`."""

import functools
from typing import Any

from msgspec.structs import replace

from harness import options, registry
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import UsageError
from harness.judging.run import estimate_judgments
from harness.reporting import Page


def judge_report(report: str, **words: Any) -> Page:
    """Return a report on judges as a page, such as `judge_report("position", list=True)`.

    `words` are the options of the command; `.rows` of the page and `harness.reporting` write it.

    Raises:
        UsageError: there is no such report or option.
        MissingError: there are no such judgments.
    """
    return run(record_from(options.JudgeReport, report=report, **words), Console())


def run(record: options.JudgeReport, console: Console) -> Page:
    """Show one report about a judge; a report that needs calls of its own makes them first."""
    if not record.report:
        raise UsageError(f"name a report: {', '.join(registry.names('report'))}")
    report, page = registry.find("report", record.report), None
    options.check_flags(record, record.report)
    if record.report in registry.names("report_plan"):
        page = _carry_out(record, console)
    elif "judge_model" not in record.typed:
        # The judge that turnbench.toml names for judging is not the only one to be reported on.
        record = replace(record, select=replace(record.select, judge_model=()))
    page = page or report(record)
    console.show(page, record.output.format)
    return page


def _carry_out(record: options.JudgeReport, console: Console) -> Page | None:
    """Make the calls that a report needs; of a dry run return what they would take."""
    plan = registry.find("report_plan", record.report)(record, calls.configs())
    estimates = functools.partial(estimate_judgments, plan, batch=record.limits.batch)
    if record.limits.dry_run:
        return calls.estimate_page(estimates())
    questions = len(plan.questions)
    calls.carry_out(plan, record.limits, estimates, console, unit="judgments", questions=questions)
    return None

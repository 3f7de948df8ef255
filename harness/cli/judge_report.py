"""The command `judge_report`."""

import functools
from typing import Any

from msgspec.structs import replace

from harness import options
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.judging.plan import JudgePlan
from harness.judging.run import estimate_judgments
from harness.reporting.pages import Result, check_report
from harness.results.spent import Cost


def judge_report(report: str, **words: Any) -> Result:
    """Return a report on judges, such as `judge_report("position", list=True).rows()`.

    `words` are the options of the command.

    Raises:
        UsageError: there is no such report or option.
        MissingError: there are no such judgments.
    """
    return run(record_from(options.JudgeReport, report=report, **words), Console())


def run(record: options.JudgeReport, console: Console) -> Result:
    """Show one report about a judge; a report that needs calls of its own makes them first."""
    report, estimate = check_report(record), None
    if report.plan is not None:
        plan = report.plan(record, calls.configs())
        estimate = _carry_out(plan, record.limits, console)
    elif "judge_model" not in record.typed:
        # The judge that turnbench.toml names for judging is not the only one to be reported on.
        record = replace(record, select=replace(record.select, judge_model=()))
    result = estimate or report.make(record, Cost(calls.configs()))
    console.show(result.page, record.output.format)
    return result


def _carry_out(plan: JudgePlan, limits: options.Limits, console: Console) -> Result | None:
    """Make the calls that a report needs; of a dry run return what they would take."""
    estimates = functools.partial(estimate_judgments, plan, batch=limits.batch)
    if limits.dry_run:
        return Result(calls.estimate_page(estimates()))
    questions = len(plan.questions)
    calls.carry_out(plan, limits, estimates, console, unit="judgments", questions=questions)
    return None

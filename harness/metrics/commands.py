"""The commands `auto_metrics` and `auto_checks`, from Python: the same words as keywords."""

from typing import Any

from harness import bench as benches
from harness import options, registry
from harness.errors import MissingError, UsageError
from harness.metrics.load import load
from harness.metrics.metric import Setup
from harness.metrics.run import MetricPlan, MetricReport, plan, run
from harness.options import AutoChecks, AutoMetrics


def auto_metrics(**keywords: Any) -> MetricReport:
    """Compute metrics of every answer that need no judge; the keywords are the command's options.

    Raises:
        TurnbenchError: an option is wrong, or there is nothing to measure.
    """
    return run(plan_metrics(options.build(AutoMetrics, keywords)))


def auto_checks(**keywords: Any) -> MetricReport:
    """Check every answer for what a program can check; the keywords are the command's options.

    Raises:
        TurnbenchError: an option is wrong, or no question has checks.
    """
    return run(plan_checks(options.build(AutoChecks, keywords)))


def plan_metrics(record: AutoMetrics) -> MetricPlan:
    """Return what `auto_metrics` will do."""
    bench = benches.load_named(record.bench)
    questions = bench.take(record.slice)
    setup = Setup(
        language=record.options.language or bench.settings.language,
        options=record.options,
        device=record.device,
        batch_size=record.batch_size,
    )
    notices: list[str] = []
    if record.config is None:
        metrics = load(record.options.metrics or ("text",), setup)
    elif record.options.metrics:
        raise UsageError("--config names the metrics; leave out --metrics")
    else:
        configured = registry.find("judge_file", "colossalai_metrics")
        metrics, notices = configured(record.config, setup, questions)
    result = plan(record, bench, questions, metrics, record.reference)
    result.notices[:0] = notices
    return result


def plan_checks(record: AutoChecks) -> MetricPlan:
    """Return what `auto_checks` will do: every turn with checks, of every choice."""
    bench = benches.load_named(record.bench)
    questions = [question for question in bench.take(record.slice) if any(question.checks)]
    if not questions:
        raise MissingError(f"no question of {bench.name} has checks; see docs/checks.md")
    bench.validate_checks(questions)
    metrics = load(["checks"], Setup(run_code=record.run_code))
    result = plan(record, bench, questions, metrics, every_choice=True)
    checks = [check for question in questions for turn in question.checks for check in turn]
    code = sum(check.get("kind") == "code" for check in checks)
    if code and not record.run_code:
        result.notices.append(
            f"{code} checks run a model's code and are left undecided; "
            f"turnbench auto_checks {bench.flags} --run-code runs it in a sandbox"
        )
    return result

"""What the commands `auto_metrics` and `auto_checks` will do."""

from collections.abc import Sequence

from harness import bench as benches
from harness import registry
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.metrics.load import load
from harness.metrics.metric import Metric, Setup
from harness.metrics.run import MetricPlan, plan
from harness.options import AutoChecks, AutoMetrics
from harness.types import Question


def plan_metrics(record: AutoMetrics) -> MetricPlan:
    """Return what `auto_metrics` will do."""
    bench = benches.load_named(record.bench)
    questions = bench.take(record.slice)
    metrics, notices = load_metrics(record, bench, questions)
    result = plan(record, bench, questions, metrics, record.reference)
    result.notices[:0] = notices
    return result


def load_metrics(
    record: AutoMetrics, bench: Bench, questions: Sequence[Question]
) -> tuple[list[Metric], list[str]]:
    """Return the metrics that a record names, and notices.

    Raises:
        UsageError: a name is unknown, or an extra is not installed.
        DataError: the configuration is wrong.
    """
    setup = Setup(
        language=record.options.language or bench.settings.language,
        options=record.options,
        device=record.device,
        batch_size=record.batch_size,
    )
    if record.config is None:
        return load(record.options.metrics or ("text",), setup), []
    if record.options.metrics:
        raise UsageError("--config names the metrics; leave out --metrics")
    configured = registry.find("judge_file", "colossalai_metrics")
    metrics, notices = configured(record.config, setup, questions)
    return metrics, notices


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

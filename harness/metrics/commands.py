"""The commands `auto_metrics` and `auto_checks`, from Python: the same words as keywords."""

from typing import Any

from harness import bench as benches
from harness import options, registry
from harness.bench import Bench
from harness.errors import DataError, MissingError, UsageError
from harness.metrics.load import load
from harness.metrics.metric import Setup
from harness.metrics.run import MetricPlan, MetricReport, plan, run
from harness.options import AutoChecks, AutoMetrics, Slice
from harness.types import Question


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


def plan_metrics(asked: AutoMetrics) -> MetricPlan:
    """Return what `auto_metrics` will do."""
    bench = benches.load(asked.bench.bench_name, asked.bench.data_dir)
    chosen = _questions(bench, asked.slice)
    setup = Setup(
        language=asked.options.language or bench.settings.language,
        options=asked.options,
        device=asked.device,
        batch_size=asked.batch_size,
    )
    notices: list[str] = []
    if asked.config is None:
        metrics = load(asked.options.metrics or ("text",), setup)
    elif asked.options.metrics:
        raise UsageError("--config names the metrics; leave out --metrics")
    else:
        configured = registry.find("judge_file", "colossalai_metrics")
        metrics, notices = configured(asked.config, setup, chosen)
    found = plan(
        bench,
        metrics,
        chosen,
        models=asked.slice.model_list,
        turns=asked.slice.turns,
        reference=asked.reference,
        redo=asked.redo,
    )
    found.notices[:0] = notices
    return found


def plan_checks(asked: AutoChecks) -> MetricPlan:
    """Return what `auto_checks` will do: every turn with checks, of every choice."""
    bench = benches.load(asked.bench.bench_name, asked.bench.data_dir)
    checked = [question for question in _questions(bench, asked.slice) if any(question.checks)]
    if not checked:
        raise MissingError(f"no question of {bench.name} has checks; see docs/checks.md")
    for question in checked:
        try:
            registry.find("check", "validate")(question)
        except ValueError as error:
            file = bench.source / "question.jsonl"
            raise DataError(f"question {question.question_id}: {error}", file) from None
    found = plan(
        bench,
        load(["checks"], Setup(run_code=asked.run_code)),
        checked,
        models=asked.slice.model_list,
        turns=asked.slice.turns,
        every_choice=True,
        redo=asked.redo,
    )
    specs = [spec for question in checked for turn in question.checks for spec in turn]
    code = sum(1 for spec in specs if spec.get("kind") == "code")
    if code and not asked.run_code:
        found.notices.append(
            f"{code} checks run a model's code; they are left undecided without --run-code"
        )
    return found


def _questions(bench: Bench, wanted: Slice) -> list[Question]:
    return benches.take(
        bench.questions,
        wanted.question_begin,
        wanted.question_end,
        wanted.first_n,
        wanted.sample_n,
    )

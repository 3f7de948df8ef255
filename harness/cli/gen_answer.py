"""The command `gen_answer`."""

import functools

from msgspec.structs import replace

from harness import bench, options
from harness.answering import AnswerPlan, AnswerReport, estimate_answers, plan_answers
from harness.cli import calls
from harness.cli.command import log, show
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.reporting.page import counted


def work(parsed: Parsed) -> int:
    """Let chat models answer a benchmark's questions; return the exit code."""
    record: options.GenAnswer = parsed.options
    for name in parsed.typed & {"turns", "criterion", "model_list"}:
        flag = options.option(name)
        raise UsageError(f"{flag} chooses judgments; gen_answer answers whole conversations")
    loaded = bench.load_named(record.bench)
    dry_run = record.limits.dry_run
    with calls.served(record.models, record.endpoint, dry_run=dry_run) as (models, endpoint):
        plan = plan_answers(
            loaded,
            replace(record, models=models, endpoint=endpoint),
            configs=calls.configs(parsed.project),
            key_needed=not dry_run,
        )
        tell(plan)
        estimates = functools.partial(estimate_answers, plan, batch=record.limits.batch)
        if dry_run:
            show(calls.estimate_page(estimates()))
            return 0
        outcome = calls.carry_out(
            plan,
            record.limits,
            estimates,
            unit="answers",
            questions=max(len(model.todo) for model in plan.models),
            redo=record.redo,
        )
    report = AnswerReport(outcome, plan)
    print("\n".join(map(str, report.paths)))
    return 0 if report.complete else 1


def tell(plan: AnswerPlan) -> None:
    """Say what each model has answered and has to answer."""
    for notice in plan.notices:
        log.info("%s", notice)
    if plan.player is not None:
        log.info("the user is played by %s", plan.player.endpoint.name)
    for model in plan.models:
        todo = ""
        if model.todo:
            questions = counted(len(model.todo), "question")
            todo = f"{questions} to answer, {counted(model.calls, 'call')}"
        state = calls.state_of("answer", model.split, todo)
        log.info("%s: %s", model.name, state)
        log.debug("  %s; answers: %s", model.endpoint.base_url or "built in", model.path)

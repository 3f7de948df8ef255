"""The command `gen_answer`."""

from collections.abc import Sequence

from msgspec import structs

from harness import bench, options
from harness.answering import AnswerPlan, estimate_answers, plan_answers
from harness.cli import calls
from harness.cli.calls import counted
from harness.cli.command import log, run
from harness.cli.parser import Parsed
from harness.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Let chat models answer a benchmark's questions; return the exit code."""
    return run("gen_answer", options.GenAnswer, _work, argv)


def _work(parsed: Parsed) -> int:
    record: options.GenAnswer = parsed.options
    for name in ("turns", "criterion", "model_list"):
        if name in parsed.typed:
            flag = options.option(name)
            raise UsageError(f"{flag} chooses judgments; gen_answer answers whole conversations")
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)

    def planned(models: options.Models, endpoint: options.Endpoint) -> AnswerPlan:
        return plan_answers(
            loaded,
            structs.replace(record, models=models, endpoint=endpoint),
            configs=calls.configs(parsed),
            key_needed=not record.limits.dry_run,
        )

    def needed(models: options.Models, endpoint: options.Endpoint) -> bool:
        return bool(planned(models, endpoint).total) and not record.limits.dry_run

    with calls.served(record.models, record.endpoint, needed) as (models, endpoint):
        plan = planned(models, endpoint)
        tell(plan)
        outcome = calls.carry_out(
            parsed,
            record.limits,
            plan.jobs,
            lambda: estimate_answers(plan, batch=record.limits.batch),
            total=plan.total,
            unit="answers",
            questions=max(len(model.todo) for model in plan.models),
            state=loaded.state,
            redo=record.redo,
        )
    if outcome is None:
        return 0
    print("\n".join(str(model.path) for model in plan.models))
    return 1 if outcome.failures or outcome.stopped else 0


def tell(plan: AnswerPlan) -> None:
    """Say what each model has answered and has to answer."""
    log.debug("questions: %s", plan.bench.source / "question.jsonl")
    for notice in plan.notices:
        log.info("%s", notice)
    if plan.player is not None:
        conversations = sum(
            len(todo.missing)
            for model in plan.models
            for todo in model.todo
            if todo.player is not None
        )
        name = plan.player.endpoint.name
        log.info("the user is played by %s: %d conversations to hold", name, conversations)
    for model in plan.models:
        parts = []
        if model.already:
            parts.append(calls.already(model.already, model.newest, "answered"))
        if model.superseded:
            parts.append(f"{model.superseded} to answer again because something changed")
        parts.append(
            f"{counted(len(model.todo), 'question')} to answer, {counted(model.calls, 'call')}"
            if model.todo
            else "nothing left to answer"
        )
        log.info("%s: %s", model.name, ", ".join(parts))
        log.debug("  %s; answers: %s", calls.place(model.endpoint), model.path)


if __name__ == "__main__":
    raise SystemExit(main())

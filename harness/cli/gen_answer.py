"""The command `gen_answer`."""

import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from harness import bench, options
from harness.answering.answer import estimate_answers
from harness.answering.plan import AnswerPlan, plan_answers
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import UsageError
from harness.running import Progress
from harness.words import counted


class AnswerReport(calls.CallReport, kw_only=True):
    """What `gen_answer` did."""

    plan: AnswerPlan

    @property
    def paths(self) -> list[pathlib.Path]:
        """The answer files of the models."""
        return [model.path for model in self.plan.models]


def gen_answer(
    model: str | Sequence[str] = (),
    bench_name: str | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> AnswerReport:
    """Let each model answer every question that it has not answered yet; return what was done.

    `words` are the options of the command, such as `first_n=8` or `base_url="http://…"`.

    Raises:
        TurnbenchError: see `plan_answers` and `running.run`.
    """
    record = record_from(options.GenAnswer, model=model, bench_name=bench_name, **words)
    return run(record, Console(progress))


def run(record: options.GenAnswer, console: Console) -> AnswerReport:
    """Let chat models answer a benchmark's questions."""
    for name in sorted(record.typed & {"turns", "criterion", "model_list"}):
        flag = options.option(name)
        raise UsageError(f"{flag} chooses judgments; gen_answer answers whole conversations")
    loaded = bench.load_named(record.bench)
    dry_run = record.limits.dry_run
    with calls.served(record, console) as addressed:
        plan = plan_answers(loaded, addressed, configs=calls.configs(), key_needed=not dry_run)
        tell(plan, console)
        estimates = functools.partial(estimate_answers, plan, batch=record.limits.batch)
        if dry_run:
            page = calls.estimate_page(estimates())
            console.show(page)
            return AnswerReport(plan=plan, outcome=calls.nothing_done(plan), page=page)
        outcome = calls.carry_out(
            plan,
            record.limits,
            estimates,
            console,
            unit="answers",
            questions=max(len(model.todo) for model in plan.models),
            redo=record.redo,
        )
    report = AnswerReport(plan=plan, outcome=outcome)
    console.write("\n".join(map(str, report.paths)))
    return report


def tell(plan: AnswerPlan, console: Console) -> None:
    """Say what each model has answered and has to answer."""
    for notice in plan.notices:
        console.tell(notice)
    if plan.player is not None:
        console.tell(f"the user is played by {plan.player.endpoint.name}")
    for model in plan.models:
        todo = ""
        if model.todo:
            questions = counted(len(model.todo), "question")
            todo = f"{questions} to answer, {counted(model.calls, 'call')}"
        state = calls.state_of("answer", model.split, todo)
        console.tell(f"{model.name}: {state}")
        console.explain(f"  {model.endpoint.base_url or 'built in'}; answers: {model.path}")

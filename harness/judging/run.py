"""`gen_judgment` as a function: plan, call, write; and what a plan will take."""

import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from harness import bench, options, running, store
from harness.judging.plan import JudgePlan, plan_judgments
from harness.running import Outcome, Progress
from harness.running.estimate import Estimate, estimate
from harness.types import Judgment

USUAL = 250
"""Tokens of a short judgment of a judge that has given none."""


class JudgmentReport(Struct):
    """What `gen_judgment` did."""

    outcome: Outcome
    plan: JudgePlan

    @property
    def paths(self) -> list[pathlib.Path]:
        """The judgment files, one for each judge and sample."""
        return [task.path for task in self.plan.tasks]

    @property
    def complete(self) -> bool:
        """Whether no judgment is missing; one without a verdict is there."""
        return not self.outcome.failures and self.outcome.stopped is None

    def unread(self) -> Counter[str]:
        """Count this run's judgments that give no verdict, by reason."""
        reasons = Counter[str]()
        for task in self.plan.tasks:
            keys = {match.key for match in task.todo}
            for key, row in store.latest(task.path, Judgment).items() if keys else ():
                if key in keys and row.failed:
                    reasons[(row.details[-1].verdict_reason if row.details else None) or ""] += 1
        return reasons


def gen_judgment(
    judge_model: str | Sequence[str] = (),
    mode: str | None = None,
    bench_name: str = "mt_bench",
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> JudgmentReport:
    """Let each judge judge every answer that it has not judged yet; return what was done.

    `words` are the options of the command, such as `judge_set="prometheus"` or `first_n=8`.

    Raises:
        TurnbenchError: see `plan_judgments` and `running.run`.
    """
    values = {"judge_model": judge_model, "mode": mode, "bench_name": bench_name, **words}
    record = options.build(options.GenJudgment, values)
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)
    plan = plan_judgments(loaded, record)
    outcome = running.run(
        plan.jobs(),
        record.limits,
        state=loaded.state,
        total=plan.total,
        redo=record.judging.redo is not None,
        progress=progress,
    )
    return JudgmentReport(outcome, plan)


def estimate_judgments(plan: JudgePlan, *, batch: bool = False) -> list[Estimate]:
    """Return what a plan will take, by judge; earlier judgments say how long its replies are."""
    earlier: dict[str, list[float]] = {}
    for task in plan.tasks:
        earlier.setdefault(task.endpoint.name, []).extend(task.lengths)
    return estimate(plan.jobs(), usual=USUAL, earlier=earlier, batch=batch)

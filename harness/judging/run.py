"""`gen_judgment` as a function: plan, call, write; and what a plan will take."""

import functools
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness import bench, options, registry, running, store
from harness.judging.plan import JudgePlan, JudgeTask, plan_judgments
from harness.judging.prompts import Match
from harness.options import Limits
from harness.running import Outcome, Progress
from harness.running.estimate import Estimate, estimate_groups
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
    loaded = bench.load_named(record.bench)
    plan_at = functools.partial(plan_judgments, loaded)
    reports: list[JudgmentReport] = []
    for plan, limits in stages(plan_at(record), record, plan_at, reports):
        outcome = running.run(
            plan.jobs(),
            limits,
            state=loaded.state,
            total=plan.total,
            redo=record.judging.redo is not None,
            progress=progress,
        )
        reports.append(JudgmentReport(outcome, plan))
    return reports[-1]


def stages(
    whole: JudgePlan,
    record: options.GenJudgment,
    plan_at: Callable[..., JudgePlan],
    reports: Sequence[JudgmentReport],
) -> Iterator[tuple[JudgePlan, Limits]]:
    """Yield the plans to carry out one after the other, with what is left of `--max-cost`.

    That is the whole plan; with `--until` one for each look, until one is not carried out whole.

    Args:
        whole: the plan of everything.
        record: the command's options.
        plan_at: `plan_judgments` of the benchmark.
        reports: of the plans before, which the caller adds to.
    """
    plans, limits = [whole], record.limits
    if record.until is not None:
        plans = registry.find("stopping", "until")(whole, record, plan_at)
    for plan in plans:
        yield plan, limits
        if not reports or not reports[-1].complete:
            return
        if limits.max_cost is not None:
            rest = max(limits.max_cost - reports[-1].outcome.cost, 1e-9)
            limits = replace(limits, max_cost=rest)


def estimate_judgments(plan: JudgePlan, *, batch: bool = False) -> list[Estimate]:
    """Return what a plan will take, by judge; earlier judgments say how long its replies are."""
    earlier: dict[str, list[float]] = {}
    for task in plan.tasks:
        earlier.setdefault(task.endpoint.name, []).extend(task.lengths)
    groups: dict[str, list[tuple[JudgeTask, Match]]] = {}
    for task, match in plan.ready():
        groups.setdefault(task.endpoint.name, []).append((task, match))
    return estimate_groups(
        groups, lambda unit: plan.job(*unit), usual=USUAL, earlier=earlier, batch=batch
    )

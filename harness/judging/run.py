"""The stages of `gen_judgment`, and what a plan will take: calls, tokens, dollars."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from harness import options, registry
from harness.judging.plan import JudgePlan, JudgeTask
from harness.judging.prompts import Match
from harness.options import Limits
from harness.running import Outcome, limits_after
from harness.running.estimate import CallEstimate, estimate_groups

USUAL = 250
"""Tokens of a short judgment of a judge that has given none."""


class Finished(Protocol):
    """What is known of a stage that was carried out."""

    outcome: Outcome

    @property
    def complete(self) -> bool:
        """Whether no judgment is missing."""


def stages(
    whole: JudgePlan,
    record: options.GenJudgment,
    plan_at: Callable[..., JudgePlan],
    reports: Sequence[Finished],
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
        limits = limits_after(limits, reports[-1].outcome)


def estimate_judgments(plan: JudgePlan, *, batch: bool = False) -> list[CallEstimate]:
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

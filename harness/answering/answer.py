"""`gen_answer` as a function: plan, call, write."""

import itertools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from harness import bench, options, running, store
from harness.answering.plan import AnswerPlan, ModelPlan, plan_answers
from harness.running import Outcome, Progress
from harness.running.estimate import Estimate, estimate
from harness.running.tokens import text_tokens
from harness.types import Answer

USUAL = 300
"""Tokens of a short answer of a model that has given none."""


class AnswerReport(Struct):
    """What `gen_answer` did."""

    outcome: Outcome
    plan: AnswerPlan

    @property
    def paths(self) -> list[pathlib.Path]:
        """The answer files of the models."""
        return [model.path for model in self.plan.models]

    @property
    def complete(self) -> bool:
        """Whether no answer is missing."""
        return not self.outcome.failures and self.outcome.stopped is None


def gen_answer(
    model: str | Sequence[str] = (),
    bench_name: str = "mt_bench",
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> AnswerReport:
    """Let each model answer every question that it has not answered yet; return what was done.

    `words` are the options of the command, such as `first_n=8` or `base_url="http://…"`.

    Raises:
        TurnbenchError: see `plan_answers` and `running.run`.
    """
    record = options.build(options.GenAnswer, {"model": model, "bench_name": bench_name, **words})
    loaded = bench.load_named(record.bench)
    plan = plan_answers(loaded, record)
    outcome = running.run(
        plan.jobs(),
        record.limits,
        state=loaded.state,
        total=plan.total,
        redo=record.redo,
        progress=progress,
    )
    return AnswerReport(outcome, plan)


def estimate_answers(plan: AnswerPlan, *, batch: bool = False) -> list[Estimate]:
    """Return what a plan will take, by chat model.

    A model's earlier answers say how long its replies are.
    """
    earlier = {model.endpoint.name: _lengths(model) for model in plan.models}
    return estimate(plan.jobs(), usual=USUAL, earlier=earlier, batch=batch)


def _lengths(model: ModelPlan) -> list[float]:
    """Return the tokens of a model's replies, as counted by its provider or estimated."""
    lengths = []
    for row in store.latest(model.path, Answer).values():
        for choice in row.choices:
            for text, detail in itertools.zip_longest(choice.turns, choice.details):
                if detail is None or detail.given is None:
                    counted = detail and detail.usage.completion_tokens
                    lengths.append(float(counted or text_tokens(text or "", model.endpoint.model)))
    return lengths

"""What answers will take: calls, tokens, dollars."""

import itertools

from harness import store
from harness.answering.plan import AnswerPlan, ModelPlan
from harness.running.estimate import CallEstimate, estimate
from harness.running.tokens import text_tokens
from harness.types import Answer

USUAL = 300
"""Tokens of a short answer of a model that has given none."""


def estimate_answers(plan: AnswerPlan, *, batch: bool = False) -> list[CallEstimate]:
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

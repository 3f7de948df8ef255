"""One conversation, as a job: each turn sees the model's own earlier replies.

Reasoning is kept apart and never carried over.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.answering.options import asked_sampling, reply_source, system_prompt
from harness.answering.plan import AnswerPlan, ModelPlan, row_name
from harness.chat import Endpoint
from harness.records import Choice, Facts, Message, Question, Reply, Request, Sampling
from harness.running.jobs import Job, Steps


@dataclass(frozen=True, slots=True)
class AnsweredChoice:
    """What one job yields: one choice of one answer."""

    question: Question
    choice: Choice


def conversation(
    question: Question,
    index: int,
    sampling: Sampling,
    *,
    system: str | None,
    template: str,
    reference: tuple[str, ...] | None,
) -> Steps[AnsweredChoice]:
    """Hold one conversation: yield a request for each turn, which sees the replies before it; return the choice."""
    messages = [Message("system", system)] if system else []
    replies: list[Reply] = []
    if sampling.seed is not None:
        sampling = replace(sampling, seed=sampling.seed + index)
    for number, turn in enumerate(question.turns, 1):
        messages.append(Message("user", template.replace("{question}", turn)))
        facts = Facts(question, number, reference)
        reply = yield Request(tuple(messages), sampling, facts)
        replies.append(reply)
        messages.append(Message("assistant", reply.text))
    return AnsweredChoice(question, Choice(index, tuple(replies)))


def planned_jobs(plan: AnswerPlan, model: ModelPlan) -> Iterator[Job[Any]]:
    """Yield the conversations that one model has still to hold."""
    for todo in model.todo:
        for index in todo.missing:
            yield conversation_job(plan, model.endpoint, todo.question, index)


def conversation_job(plan: AnswerPlan, endpoint: Endpoint, question: Question, index: int) -> Job[AnsweredChoice]:
    """Return the job that holds one conversation of a plan: choice `index` of one answer."""

    def steps() -> Steps[AnsweredChoice]:
        return conversation(
            question,
            index,
            asked_sampling(endpoint, plan.bench, plan.options, question),
            system=system_prompt(plan.bench, plan.options),
            template=plan.bench.settings.answer_template,
            reference=reply_source(endpoint, plan.bench, question),
        )

    row = row_name(endpoint, question)
    choice = f", choice {index}" if index else ""
    return Job(f"{row}{choice}", endpoint.name, steps, part_of=row, index=index)

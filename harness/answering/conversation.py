"""One conversation, as a job: each turn sees the model's own earlier replies, or those that are given in their place.

Reasoning is kept apart and never carried over, but for what a provider demands back with a reply, sealed as it came.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.answering.options import asked_sampling, reply_source, system_prompt
from harness.answering.plan import AnswerPlan, History, ModelPlan, row_name
from harness.answering.simulation import UserPlan, builtin_plan, user_request
from harness.records import Choice, Facts, Message, Question, Reply, Request, Sampling, total
from harness.running.jobs import RETRY_CUT, Job, Steps, uncut


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
    history: History | None = None,
    retry_cut: float = RETRY_CUT,
) -> Steps[AnsweredChoice]:
    """Hold one conversation: yield a request for each turn, which sees the replies before it; return the choice.

    Turns that the question gives are not asked for. With a `history`, each request sees the turns of that in place of
    the replies, and the first turn that the model would write is given too.
    """
    messages = [Message("system", system)] if system else []
    replies: list[Reply] = []
    given = _given(question, history)
    standing = {} if history is None else dict(enumerate(history.turns, 1))
    if sampling.seed is not None:
        sampling = replace(sampling, seed=sampling.seed + index)
    for number, turn in enumerate(question.turns, 1):
        messages.append(Message("user", template.replace("{question}", turn)))
        reply = given.get(number)
        if reply is None:
            asked = yield from uncut(Request(tuple(messages), sampling, Facts(question, number, reference)), retry_cut)
            reply = replace(asked[-1], usage=total([each.usage for each in asked]))
        replies.append(reply)
        own = Message("assistant", reply.text, reply.carried)
        messages.append(Message("assistant", standing[number]) if number in standing else own)
    return AnsweredChoice(question, Choice(index, tuple(replies), () if history is None else history.turns))


def simulated(
    question: Question,
    index: int,
    sampling: Sampling,
    plan: UserPlan,
    *,
    system: str | None,
    template: str,
    num_choices: int = 1,
    retry_cut: float = RETRY_CUT,
) -> Steps[AnsweredChoice]:
    """Hold a conversation with a chat model that plays the user: yield requests to the one and the other in turn.

    Choice `index` is with sample `index // num_choices` of the user. A message that ends the conversation is kept and
    not answered, unless it is the first one.
    """
    user = question.user
    assert user is not None
    messages = [Message("system", system)] if system else []
    said: list[Reply] = []
    replies: list[Reply] = []
    if sampling.seed is not None:
        sampling = replace(sampling, seed=sampling.seed + index)
    for number in range(1, plan.turns(user) + 1):
        if number == 1 and user.opening is not None:
            said.append(Reply(user.opening, given="question"))
        else:
            texts = [plan.prompt.without_stop(one.text) for one in said]
            asked = user_request(plan, question, texts, [one.text for one in replies], index // num_choices)
            said.append((yield asked))
        if number > 1 and plan.prompt.ends(said[-1].text):
            break
        text = plan.prompt.without_stop(said[-1].text) or user.goal
        messages.append(Message("user", template.replace("{question}", text)))
        tried = yield from uncut(Request(tuple(messages), sampling, Facts(question, number)), retry_cut)
        replies.append(replace(tried[-1], usage=total([each.usage for each in tried])))
        messages.append(Message("assistant", replies[-1].text, replies[-1].carried))
    return AnsweredChoice(question, Choice(index, tuple(replies), user=tuple(said)))


def _given(question: Question, history: History | None) -> dict[int, Reply]:
    """Return the replies that the model does not write, by turn."""
    given = {turn: Reply(text, given="question") for turn, text in enumerate(question.history, 1) if text is not None}
    if history is not None:
        first = next(turn for turn in range(1, len(question.turns) + 1) if turn not in given)
        given[first] = Reply(history.turns[first - 1], given=history.name)
    return given


def planned_jobs(plan: AnswerPlan, model: ModelPlan) -> Iterator[Job[Any]]:
    """Yield the conversations that one model has still to hold."""
    for todo in model.todo:
        for index in todo.missing:
            yield conversation_job(plan, model, todo.question, index)


def conversation_job(plan: AnswerPlan, model: ModelPlan, question: Question, index: int) -> Job[AnsweredChoice]:
    """Return the job that holds one conversation of a plan: choice `index` of one answer."""
    endpoint = model.endpoint

    def steps() -> Steps[AnsweredChoice]:
        sampling = asked_sampling(endpoint, plan.bench, plan.options, question)
        if question.user is not None:
            return simulated(
                question,
                index,
                sampling,
                plan.user or builtin_plan(),
                system=system_prompt(plan.bench, plan.options),
                template=plan.bench.settings.answer_template,
                num_choices=plan.options.num_choices,
                retry_cut=plan.options.retry_cut,
            )
        return conversation(
            question,
            index,
            sampling,
            system=system_prompt(plan.bench, plan.options),
            template=plan.bench.settings.answer_template,
            reference=reply_source(endpoint, plan.bench, question),
            history=model.histories.get(question.question_id),
            retry_cut=plan.options.retry_cut,
        )

    row = row_name(endpoint, question)
    choice = f", choice {index}" if index else ""
    return Job(f"{row}{choice}", endpoint.name, steps, part_of=row, index=index)

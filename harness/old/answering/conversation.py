"""One conversation, as a job: each turn sees the model's own earlier replies, or supplied ones.

Reasoning is stored separately and not sent back, except for signatures that a provider requires with a reply.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.old.answering.options import asked_sampling, reply_source, system_prompt
from harness.old.answering.plan import AnswerPlan, History, ModelPlan, row_name
from harness.old.answering.simulation import builtin_plan, user_request
from harness.old.records import Choice, Facts, Message, Question, Reply, Request, total
from harness.old.running.jobs import Job, Steps, uncut


@dataclass(frozen=True, slots=True)
class AnsweredChoice:
    """What one job yields: one choice of one answer."""

    question: Question
    choice: Choice


def conversation(plan: AnswerPlan, model: ModelPlan, question: Question, index: int) -> Steps[AnsweredChoice]:
    """Hold one conversation: yield a request for each turn, which sees the replies before it; return the choice.

    Turns that the question supplies are not requested. With a history, each request sees its turns instead of
    the replies, and the first turn that the model would write is supplied too.
    """
    history = model.histories.get(question.question_id)
    reference = reply_source(model.endpoint, plan.bench, question)
    talk = _Talk(plan, model, question, index)
    replies: list[Reply] = []
    given = _given(question, history)
    standing = {} if history is None else dict(enumerate(history.turns, 1))
    for number, turn in enumerate(question.turns, 1):
        talk.say(turn)
        reply = given.get(number) or (yield from talk.reply(Facts(question, number, reference)))
        replies.append(reply)
        own = Message("assistant", reply.text, reply.carried)
        talk.messages.append(Message("assistant", standing[number]) if number in standing else own)
    return AnsweredChoice(question, Choice(index, tuple(replies), () if history is None else history.turns))


def simulated(plan: AnswerPlan, model: ModelPlan, question: Question, index: int) -> Steps[AnsweredChoice]:
    """Hold a conversation with a chat model that plays the user: yield requests to the one and the other in turn.

    With several choices for each sample of the user, `index` gives the sample of a choice. A message that ends the
    conversation is kept and not answered, unless it is the first one.
    """
    user, played = question.user, plan.user or builtin_plan()
    assert user is not None
    talk = _Talk(plan, model, question, index)
    said: list[Reply] = []
    replies: list[Reply] = []
    for number in range(1, played.turns(user) + 1):
        if number == 1 and user.opening is not None:
            said.append(Reply(user.opening, given="question"))
        else:
            texts, sample = [played.prompt.without_stop(one.text) for one in said], index // plan.options.num_choices
            said.append((yield user_request(played, question, texts, [one.text for one in replies], sample)))
        if number > 1 and played.prompt.ends(said[-1].text):
            break
        talk.say(played.prompt.without_stop(said[-1].text) or user.goal)
        replies.append((yield from talk.reply(Facts(question, number))))
        talk.messages.append(Message("assistant", replies[-1].text, replies[-1].carried))
    return AnsweredChoice(question, Choice(index, tuple(replies), user=tuple(said)))


class _Talk:
    """The messages of one conversation, and the request for the next reply."""

    def __init__(self, plan: AnswerPlan, model: ModelPlan, question: Question, index: int) -> None:
        system = system_prompt(plan.bench, plan.options)
        sampling = asked_sampling(model.endpoint, plan.bench, plan.options, question)
        self.messages = [Message("system", system)] if system else []
        self._plan = plan
        self._sampling = sampling if sampling.seed is None else replace(sampling, seed=sampling.seed + index)

    def say(self, text: str) -> None:
        """Add a message of the user, in the benchmark's template."""
        template = self._plan.bench.settings.answer_template
        self.messages.append(Message("user", template.replace("{question}", text)))

    def reply(self, facts: Facts) -> Steps[Reply]:
        """Ask for the next reply, and return it with the tokens of all tries."""
        request = Request(tuple(self.messages), self._sampling, facts)
        tried = yield from uncut(request, self._plan.options.retry_cut)
        return replace(tried[-1], usage=total([each.usage for each in tried]))


def _given(question: Question, history: History | None) -> dict[int, Reply]:
    """Return the replies that the model does not write, by turn."""
    given = {turn: Reply(text, given="question") for turn, text in enumerate(question.history, 1) if text is not None}
    if history is not None:
        first = next(turn for turn in range(1, len(question.turns) + 1) if turn not in given)
        given[first] = Reply(history.turns[first - 1], given=history.name)
    return given


def planned_jobs(plan: AnswerPlan, model: ModelPlan) -> Iterator[Job[Any]]:
    """Yield the remaining conversations of one model."""
    for todo in model.todo:
        for index in todo.missing:
            yield conversation_job(plan, model, todo.question, index)


def conversation_job(plan: AnswerPlan, model: ModelPlan, question: Question, index: int) -> Job[AnsweredChoice]:
    """Return the job that holds one conversation of a plan: choice `index` of one answer."""
    hold = conversation if question.user is None else simulated
    row = row_name(model.endpoint, question)
    choice = f", choice {index}" if index else ""
    steps = functools.partial(hold, plan, model, question, index)
    return Job(f"{row}{choice}", model.endpoint.name, steps, part_of=row, index=index)

"""What is planned → what it will take: calls, tokens and dollars for each model, before the first call.

    for estimate in estimate_plan(plan_answers(["gpt-4.1"], load_bench("mt_bench"))):
        print(estimate.calls, estimate.prompt_tokens, estimate.cost)

The jobs are run as they would be, each call answered on the spot by a stand-in of the expected length; so the prompt of
a second turn holds a first reply. Nothing is called and nothing is written. Replies that an earlier run left in
`.turnbench/` take no call; those in a cache are not looked at, so the run may take less.
"""

import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any, NamedTuple

from harness.answering import AnswerPlan, ModelPlan, planned_jobs
from harness.chat.prices import FREE
from harness.chat.providers import caching
from harness.chat.services import Caching
from harness.jsonl import is_there, read_rows
from harness.judging.judge import judging_job
from harness.judging.materials import Materials
from harness.judging.planned import JudgePlan, JudgmentPlan
from harness.judgments.row import judged_rows
from harness.records import Answer, Choice, Message, Question, Reply, Request
from harness.running.batches.ledger import starts_anew
from harness.running.cost import UNSTATED_REPLY
from harness.running.estimate import (
    FEWEST,
    OTHERS,
    Estimate,
    Span,
    Weights,
    prompt_tokens,
    reply_span,
    text_tokens,
    weights_of,
)
from harness.running.jobs import Job
from harness.running.pending import Left, left_in, pending_file

USUAL_ANSWER = 300
"""Tokens of a short answer of a model that has given none yet."""
USUAL_MESSAGE = 40
"""Tokens of a short message of a played user."""
USUAL_JUDGMENT = 150
"""Tokens of a short judgment of a judge that has given none yet."""
MOST_JOBS = 250
"""Jobs that are looked at for each model; of more, evenly spaced ones stand for all."""
MOST_TEXT = 250_000
"""Characters of prompts that are looked at for each model: rendering and counting them takes a tenth of a second."""
MOST_PAST = 500
"""Past replies that are looked at for each model: the first ones of its file."""
MOST_PAST_TEXT = 200_000
"""Characters of past replies that are looked at for each model."""
_GOLDEN = (5**0.5 - 1) / 2


def estimate_plan(
    plan: AnswerPlan | JudgmentPlan, *, answers: Sequence[Estimate] = (), batch: bool = False
) -> list[Estimate]:
    """Return what the calls still to be made will take, one estimate for each model or judge that has any.

    `answers` are the estimates of answers that are not there yet and are to be judged (`plan_bench` plans both).

    Raises:
        DataError: an answer or judgment file can't be read.
    """
    if isinstance(plan, AnswerPlan):
        found = [_answers(plan, model, batch) for model in plan.models if model.calls]
        return [*found, *([_users(plan, batch)] if plan.simulated and plan.user is not None else [])]
    lengths = {estimate.model: estimate.one_reply for estimate in answers}
    return [_judgments(plan, judge, lengths, batch) for judge in plan.judges if judge.calls]


def _answers(plan: AnswerPlan, model: ModelPlan, batch: bool) -> Estimate:
    endpoint = model.endpoint
    weights = weights_of(endpoint.model)
    past = _lengths(_past_answers(model), weights)
    jobs = _Jobs(planned_jobs(plan, model), sum(len(todo.missing) for todo in model.todo), model.calls)
    kept = _kept(model.path, plan.bench.answer_state, redo=plan.redo)
    found = _expected(jobs, weights, past, USUAL_ANSWER, kept)
    calls, prompt, reply = found.calls, found.prompt, found.reply
    again = found.limits * plan.options.retry_cut if plan.options.retry_cut > 1 else 0.0
    one = _one_reply(past, USUAL_ANSWER)
    return Estimate(
        endpoint.name, calls, prompt, reply, endpoint.price, one, _counted(past), batch, "answers", again=again
    )


def _users(plan: AnswerPlan, batch: bool) -> Estimate:
    """Return what the one who plays the user will take, if no conversation ends before its last turn."""
    assert plan.user is not None
    endpoint = plan.user.endpoint
    weights = weights_of(endpoint.model)
    todo = [(model, one) for model in plan.models for one in model.todo if one.question.user is not None]
    asked = [plan.user.turns(one.question.user) - (one.question.user.opening is not None) for _, one in todo]  # type: ignore[union-attr,arg-type]
    calls = sum(each * len(one.missing) for each, (_, one) in zip(asked, todo, strict=True))
    every = (job for model in plan.models for job in planned_jobs(plan, model))
    jobs = _Jobs(every, sum(len(one.missing) for model in plan.models for one in model.todo), calls)
    found = _expected(jobs, weights, [], USUAL_MESSAGE, Left(), plan.user.name)
    one = _one_reply([], USUAL_MESSAGE)
    return Estimate(endpoint.name, found.calls, found.prompt, found.reply, endpoint.price, one, 0, batch, "users")


def _judgments(plan: JudgmentPlan, judge: JudgePlan, lengths: Mapping[str, float], batch: bool) -> Estimate:
    weights = OTHERS if judge.endpoint is None else weights_of(judge.endpoint.model)
    past = _lengths(_past_judgments(judge), weights)
    materials = _completed(plan, judge, lengths, weights)
    matches = plan.every_match(judge.sample)
    opened = (
        judging_job(m, judge.judge, materials)
        for m in matches
        if plan.asks(m) and (plan.awaits(m) or plan.open(m, judge))
    )
    jobs = _Jobs(opened, judge.calls, judge.calls)
    kept = _kept(judge.path, plan.bench.judgment_state, redo=plan.redo)
    rule = None if batch or judge.endpoint is None else caching(judge.endpoint)
    found = _expected(jobs, weights, past, USUAL_JUDGMENT, kept, rule=rule)
    calls, prompt, reply = found.calls, found.prompt, found.reply
    again = found.limits * materials.retry_cut if materials.retry_cut > 1 else 0.0
    price = FREE if judge.endpoint is None else judge.endpoint.price
    one = _one_reply(past, USUAL_JUDGMENT)
    cached, past_replies = (found.cached, found.written), _counted(past)
    whole = Estimate(judge.judge, calls, prompt, reply, price, one, past_replies, batch, "judgments", *cached, again)
    return replace(whole, mode=plan.mode, judge_set=plan.judge_set.name, sample=judge.sample)


def _kept(path: pathlib.Path, state: pathlib.Path, *, redo: bool) -> Left:
    """Return the replies of an earlier run that the next one will use."""
    return Left() if starts_anew(path, state, redo=redo) else left_in(pending_file(path, state))


def _completed(plan: JudgmentPlan, judge: JudgePlan, lengths: Mapping[str, float], weights: Weights) -> Materials:
    """Return the materials with a stand-in for each answer that is not there yet."""
    answers = {model: dict(there) for model, there in plan.materials.answers.items()}
    for model, awaited in plan.awaited.items():
        # The name keeps the stand-ins of two models apart: equal answers would take no call.
        text = f"{model} {_stand_in(lengths.get(model, _one_reply([], USUAL_ANSWER)), weights)}"
        for question in plan.questions:
            if question.question_id in awaited:
                choice = _choice(question, text)
                answers[model][question.question_id] = Answer(question.question_id, model, (choice,))
    return replace(plan.materials_of(judge), answers=answers)


def _choice(question: Question, text: str) -> Choice:
    """Return a conversation in which every reply is a stand-in."""
    if question.user is not None:
        said = (Reply(text),) * question.user.most_turns
        return Choice(0, said, user=said)
    return Choice(0, tuple(Reply(question.given(n) or text) for n in range(1, len(question.turns) + 1)))


def _counted(past: list[float]) -> int:
    return len(past) if len(past) >= FEWEST else 0


def _one_reply(past: list[float], usual: int) -> float:
    """Return the tokens that a reply is expected to have."""
    return sum(past) / len(past) if _counted(past) else 2.0 * usual


def _stand_in(tokens: float, weights: Weights) -> str:
    return "x " * round(tokens / weights.word)


class _Jobs(NamedTuple):
    """What is to be done by one model."""

    each: Iterable[Job[Any]]
    number: int
    requests: int
    """Of all jobs together, if none has to be repeated."""


class _Looked(NamedTuple):
    """What the requests of one job take."""

    place: float
    """From 0 to 1; jobs whose place is below the share that is looked at are looked at."""
    requests: int
    asked: int
    """Requests for which no reply is kept."""
    characters: int
    prompt: float
    low: float
    high: float
    limits: float
    """Tokens that all replies together may have at most."""
    shared: float
    """Tokens with which prompts of other jobs begin too, as far as a provider caches them."""


class _Expected(NamedTuple):
    """What all requests will take."""

    calls: int
    prompt: float
    reply: Span
    limits: float
    cached: float
    """Of the prompts' tokens those that come from the provider's cache."""
    written: float
    """And those that are put there."""


def _expected(
    jobs: _Jobs,
    weights: Weights,
    past: list[float],
    usual: int,
    kept: Left,
    to: str | None = None,
    rule: Caching | None = None,
) -> _Expected:
    """Return the calls, the tokens of all prompts and of all replies, and the limits on replies together.

    Of jobs whose prompts begin alike the first puts the beginning into the provider's cache, by its `rule`.
    At most `MOST_JOBS` of the jobs stand for all, and as few as it takes for their prompts to stay within `MOST_TEXT`;
    but every job with kept replies is looked at, since those are calls that will not be made. `to` is the chat model
    whose calls count, where it is not the jobs' own.
    """
    share = min(1.0, MOST_JOBS / max(1, jobs.number))
    chosen: list[_Looked] = []
    begun: list[_Looked] = []
    characters = 0
    groups: set[str] = set()
    members = 0
    for number, job in enumerate(jobs.each):
        if job.beginning:
            groups.add(job.beginning)
            members += 1
        # Multiples of the golden ratio, unlike every n-th job, never fall in step with turns, pairs and games.
        place = number * _GOLDEN % 1
        if job.row in kept.replies:
            begun.append(_look(job, place, weights, past, usual, kept, to, rule))
        elif place < share:
            chosen.append(_look(job, place, weights, past, usual, kept, to, rule))
            characters += chosen[-1].characters
            while len(chosen) > 1 and characters > MOST_TEXT:
                share /= 2
                chosen = [one for one in chosen if one.place < share] or chosen[:1]
                characters = sum(one.characters for one in chosen)
    seen = sum(one.requests for one in chosen)
    scale = (jobs.requests - sum(one.requests for one in begun)) / seen if seen else 0.0
    told = [(scale, one) for one in chosen] + [(1.0, one) for one in begun]
    shared = sum(times * one.shared for times, one in told) if members > len(groups) else 0.0
    first = len(groups) / members if members else 0.0
    return _Expected(
        round(sum(times * one.asked for times, one in told)),
        sum(times * one.prompt for times, one in told),
        Span(sum(times * one.low for times, one in told), sum(times * one.high for times, one in told)),
        sum(times * one.limits for times, one in told),
        shared * (1 - first),
        shared * first,
    )


def _look(
    job: Job[Any],
    place: float,
    weights: Weights,
    past: list[float],
    usual: int,
    kept: Left,
    to: str | None,
    rule: Caching | None,
) -> _Looked:
    """Return what the requests of a job take."""
    requests = asked = characters = 0
    prompt, low, high, limits, shared = 0.0, 0.0, 0.0, 0.0, 0.0
    for request, span in _requests(job, weights, past, usual, kept):
        if request.to != to:
            continue
        requests += 1
        characters += sum(len(message.content) for message in request.messages)
        if span is not None:
            asked += 1
            prompt += prompt_tokens(request.messages, weights)
            low, high = low + span.low, high + span.high
            limits += request.sampling.max_tokens or 0
            if rule is not None and request.shared:
                *before, last = request.messages
                head = (*before, Message(last.role, last.content[: request.shared]))
                shared += rule.cached(prompt_tokens(head, weights))
    return _Looked(place, requests, asked, characters, prompt, low, high, limits, shared)


def _requests(
    job: Job[Any], weights: Weights, past: list[float], usual: int, kept: Left
) -> Iterator[tuple[Request, Span | None]]:
    """Yield the requests of a job, each with the tokens that its reply may have (None: it is kept from an earlier run).

    It ends with the first request that is repeated: a judge that is asked again, since a stand-in holds no verdict,
    would ask the same.
    """
    steps = job.steps()
    asked: Request | None = None
    try:
        request = next(steps)
        for place in count():
            if request == asked:
                return
            reply = kept.find(job.row, job.key, place, request)
            if reply is not None:
                yield request, None
            else:
                limit = request.sampling.max_tokens
                span = reply_span(past, usual, UNSTATED_REPLY if limit is None else limit)
                yield request, span
                asked = request
                reply = Reply(_stand_in(min(_one_reply(past, usual), span.high), weights))
            request = steps.send(reply)
    except StopIteration:
        return


def _past_answers(model: ModelPlan) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield what is stored of each reply in the model's answer file, and its text."""
    for row in read_rows(model.path) if is_there(model.path) else ():
        for choice in row.value.get("choices") or ():
            turns, details = choice.get("turns") or (), choice.get("details") or ()
            for place, text in enumerate(turns):
                about = details[place] if place < len(details) else {}
                if not about.get("given"):
                    yield about, text


def _past_judgments(judge: JudgePlan) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield what is stored of each reply in the judge's file, and its text."""
    for row in judged_rows(judge.path) if is_there(judge.path) else ():
        for words in row.words:
            if words.judgment is not None and not words.details.get("given"):
                yield words.details, words.judgment


def _lengths(past: Iterable[tuple[Mapping[str, Any], str]], weights: Weights) -> list[float]:
    """Return the tokens of the first past replies: as the provider counted them, else estimated from the text."""
    found: list[float] = []
    characters = 0
    for details, text in islice(past, MOST_PAST):
        counted = (details.get("usage") or {}).get("completion_tokens")
        if isinstance(counted, int):
            found.append(float(counted))
            continue
        characters += len(text)
        if characters > MOST_PAST_TEXT and len(found) >= FEWEST:
            break
        found.append(text_tokens(text, weights))
    return found

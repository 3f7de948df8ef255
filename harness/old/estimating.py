"""Plans → estimates: calls, tokens and dollars for each model, before the first call.

    for estimate in estimate_plan(plan_answers(["gpt-4.1"], load_bench("mt_bench"))):
        print(estimate.calls, estimate.prompt_tokens, estimate.cost)

The jobs are run with each call answered at once by a placeholder of the expected length; so the prompt of
a second turn contains a first reply. No calls are made and nothing is written. Replies that an earlier run left in
`.turnbench/` take no call; those in a cache are not looked at, so the run may take less.
"""

import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, NamedTuple

from harness.old.answering import AnswerPlan, ModelPlan, planned_jobs
from harness.old.chat.price import UNSTATED_REPLY, Price
from harness.old.chat.prices import FREE
from harness.old.chat.providers import caching
from harness.old.chat.services import Caching
from harness.old.jsonl import is_there, read_rows
from harness.old.judging.judge import judging_job
from harness.old.judging.materials import Materials
from harness.old.judging.planned import JudgePlan, JudgmentPlan
from harness.old.judgments.row import judged_rows
from harness.old.records import Answer, Choice, Message, Question, Reply, Request
from harness.old.rows import details_in, reply_from_row
from harness.old.running.batches.ledger import starts_anew
from harness.old.running.estimate import (
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
from harness.old.running.jobs import Job
from harness.old.running.pending import Left, left_in, pending_file

USUAL_ANSWER = 300
"""Tokens of a short answer of a model that has given none yet."""
USUAL_MESSAGE = 40
"""Tokens of a short message of a played user."""
USUAL_JUDGMENT = 150
"""Tokens of a short judgment of a judge that has given none yet."""
MOST_JOBS = 250
"""The most jobs that are run for each model; of more, an evenly spaced sample."""
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
    weights = weights_of(model.endpoint.model)
    past = _lengths(_past_answers(model), weights)
    kept = _kept(model.path, plan.bench.answer_state, redo=plan.redo)
    asked = _Asked(weights, USUAL_ANSWER, past, kept, retry_cut=plan.options.retry_cut)
    taken = asked.look(planned_jobs(plan, model), sum(len(todo.missing) for todo in model.todo), model.calls)
    return asked.estimate(taken, model.endpoint.name, model.endpoint.price, batch, "answers")


def _users(plan: AnswerPlan, batch: bool) -> Estimate:
    """Return what the one who plays the user will take, if no conversation ends before its last turn."""
    assert plan.user is not None
    endpoint = plan.user.endpoint
    todo = [(one, one.question.user) for model in plan.models for one in model.todo if one.question.user is not None]
    calls = sum((plan.user.turns(user) - (user.opening is not None)) * len(one.missing) for one, user in todo)
    every = (job for model in plan.models for job in planned_jobs(plan, model))
    asked = _Asked(weights_of(endpoint.model), USUAL_MESSAGE, to=plan.user.name)
    taken = asked.look(every, sum(len(one.missing) for model in plan.models for one in model.todo), calls)
    return asked.estimate(taken, endpoint.name, endpoint.price, batch, "users")


def _judgments(plan: JudgmentPlan, judge: JudgePlan, lengths: Mapping[str, float], batch: bool) -> Estimate:
    endpoint = judge.endpoint
    weights = OTHERS if endpoint is None else weights_of(endpoint.model)
    past = _lengths(_past_judgments(judge), weights)
    materials = _completed(plan, judge, lengths, weights)
    opened = (
        judging_job(m, judge.judge, materials)
        for m in plan.every_match(judge.sample)
        if plan.asks(m) and (plan.awaits(m) or plan.open(m, judge))
    )
    kept = _kept(judge.path, plan.bench.judgment_state, redo=plan.redo)
    rule = None if batch or endpoint is None else caching(endpoint)
    asked = _Asked(weights, USUAL_JUDGMENT, past, kept, rule=rule, retry_cut=materials.options.retry_cut)
    taken = asked.look(opened, judge.calls, judge.calls)
    whole = asked.estimate(taken, judge.judge, FREE if endpoint is None else endpoint.price, batch, "judgments")
    return replace(whole, mode=plan.mode, judge_set=plan.judge_set.name, sample=judge.sample)


def _kept(path: pathlib.Path, state: pathlib.Path, *, redo: bool) -> Left:
    """Return the replies of an earlier run that the next one will use."""
    return Left() if starts_anew(path, state, redo=redo) else left_in(pending_file(path, state))


def _completed(plan: JudgmentPlan, judge: JudgePlan, lengths: Mapping[str, float], weights: Weights) -> Materials:
    """Return the materials with a placeholder for each answer that does not exist yet."""
    answers = {model: dict(there) for model, there in plan.materials.answers.items()}
    for model, awaited in plan.awaited.items():
        # The name keeps the stand-ins of two models apart: equal answers would take no call.
        text = f"{model} {_stand_in(lengths.get(model, 2.0 * USUAL_ANSWER), weights)}"
        for question in plan.questions:
            if question.question_id in awaited:
                choice = _choice(question, text)
                answers[model][question.question_id] = Answer(question.question_id, model, (choice,))
    return replace(plan.materials_of(judge), answers=answers)


def _choice(question: Question, text: str) -> Choice:
    """Return a conversation in which every reply is a placeholder."""
    if question.user is not None:
        said = (Reply(text),) * question.user.most_turns
        return Choice(0, said, user=said)
    return Choice(0, tuple(Reply(question.given(n) or text) for n in range(1, len(question.turns) + 1)))


def _stand_in(tokens: float, weights: Weights) -> str:
    return "x " * round(tokens / weights.word)


class _Taken(NamedTuple):
    """What requests take."""

    requests: float = 0
    characters: float = 0
    asked: float = 0
    """Requests for which no reply is kept; what follows is of these."""
    prompt: float = 0
    low: float = 0
    high: float = 0
    limits: float = 0
    """Tokens that all replies together may have at most."""
    shared: float = 0
    """Tokens with which prompts of other jobs begin too, as far as a provider caches them."""
    first: float = 0
    """The share of these that is in the first prompts that begin so, which put them into the cache."""


def _sum(parts: Sequence[tuple[float, _Taken]]) -> _Taken:
    """Return the sum of requests' tokens, each counted this many times."""
    return _Taken(*(sum(times * one[at] for times, one in parts) for at in range(len(_Taken._fields))))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model that is asked, and what its replies are expected to be like."""

    weights: Weights
    usual: int
    """Tokens of a short reply, if too few past ones are known."""
    past: Sequence[float] = ()
    """Tokens of past replies."""
    kept: Left = field(default_factory=Left)
    to: str | None = None
    """The chat model whose calls count, where it is not the jobs' own."""
    rule: Caching | None = None
    """By which its provider caches prompts."""
    retry_cut: float = 1.0

    @property
    def one_reply(self) -> float:
        """Return the tokens that a reply is expected to have."""
        return sum(self.past) / len(self.past) if len(self.past) >= FEWEST else 2.0 * self.usual

    def estimate(self, taken: _Taken, name: str, price: Price | None, batch: bool, what: str) -> Estimate:
        """Return the estimate of what requests take."""
        return Estimate(
            name,
            round(taken.asked),
            taken.prompt,
            Span(taken.low, taken.high),
            price,
            self.one_reply,
            len(self.past) if len(self.past) >= FEWEST else 0,
            batch,
            what,
            taken.shared * (1 - taken.first),
            taken.shared * taken.first,
            taken.limits * self.retry_cut if self.retry_cut > 1 else 0.0,
        )

    def look(self, jobs: Iterable[Job[Any]], number: int, requests: int) -> _Taken:
        """Return what the requests of so many jobs take, `requests` if none has to be repeated.

        At most `MOST_JOBS` of the jobs stand for all, and as few as it takes for their prompts to stay within
        `MOST_TEXT`; but every job with kept replies is looked at, since those are calls that will not be made.
        """
        share = min(1.0, MOST_JOBS / max(1, number))
        chosen: list[tuple[float, _Taken]] = []
        begun: list[tuple[float, _Taken]] = []
        characters = 0.0
        groups: set[str] = set()
        members = 0
        for at, job in enumerate(jobs):
            if job.beginning:
                groups.add(job.beginning)
                members += 1
            # Multiples of the golden ratio, unlike every n-th job, never fall in step with turns, pairs and games.
            place = at * _GOLDEN % 1
            if job.row in self.kept.replies:
                begun.append((1.0, self._look(job)))
            elif place < share:
                chosen.append((place, self._look(job)))
                characters += chosen[-1][1].characters
                while len(chosen) > 1 and characters > MOST_TEXT:
                    share /= 2
                    chosen = [one for one in chosen if one[0] < share] or chosen[:1]
                    characters = sum(one.characters for _, one in chosen)
        seen = sum(one.requests for _, one in chosen)
        scale = (requests - sum(one.requests for _, one in begun)) / seen if seen else 0.0
        whole = _sum([(scale, one) for _, one in chosen] + begun)
        shared = whole.shared if members > len(groups) else 0.0
        return whole._replace(shared=shared, first=len(groups) / members if members else 0.0)

    def _look(self, job: Job[Any]) -> _Taken:
        """Return what the requests of a job take."""
        found = []
        for request, span in self._requests(job):
            if request.to != self.to:
                continue
            taken = _Taken(1, sum(len(message.content) for message in request.messages))
            if span is not None:
                shared = 0.0
                if self.rule is not None and request.shared:
                    *before, last = request.messages
                    head = (*before, Message(last.role, last.content[: request.shared]))
                    shared = self.rule.cached(prompt_tokens(head, self.weights))
                prompt, limit = prompt_tokens(request.messages, self.weights), request.sampling.max_tokens or 0
                taken = _Taken(*taken[:2], 1, prompt, span.low, span.high, limit, shared)
            found.append((1.0, taken))
        return _sum(found)

    def _requests(self, job: Job[Any]) -> Iterator[tuple[Request, Span | None]]:
        """Yield a job's requests, each with the tokens that its reply may have (None: it is kept from an earlier run).

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
                reply = self.kept.find(job.row, job.key, place, request)
                if reply is not None:
                    yield request, None
                else:
                    limit = request.sampling.max_tokens
                    span = reply_span(self.past, self.usual, UNSTATED_REPLY if limit is None else limit)
                    yield request, span
                    asked = request
                    reply = Reply(_stand_in(min(self.one_reply, span.high), self.weights))
                request = steps.send(reply)
        except StopIteration:
            return


def _past_answers(model: ModelPlan) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield what is stored of each reply in the model's answer file, and its text."""
    for row in read_rows(model.path) if is_there(model.path) else ():
        yield from ((about, text) for about, text in details_in(row.value) if not about.get("given"))


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
        counted = reply_from_row("", details).usage.completion_tokens
        if counted is not None:
            found.append(float(counted))
            continue
        characters += len(text)
        if characters > MOST_PAST_TEXT and len(found) >= FEWEST:
            break
        found.append(text_tokens(text, weights))
    return found

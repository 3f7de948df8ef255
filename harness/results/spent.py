"""What answers and judgments took: calls, tokens, dollars and seconds, as their rows state them.

    answers by gpt-4.1: 160 calls, 61,000 prompt and 98,000 reply tokens
    61,000 · $2.00 + 98,000 · $8.00 for a million = $0.91

Calls whose provider counted no tokens, and other tools' rows, are `unstated`. What came from a
cache was paid for elsewhere. Judgments that are not current count nowhere, and not here; rows that
newer ones replaced and calls that failed are not in the files.
"""

import contextlib
import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from msgspec import convert

from harness.bench import Bench
from harness.errors import TurnbenchError
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price, cost_of
from harness.models.resolving import resolve
from harness.options import Slice
from harness.results.estimate import Estimate
from harness.results.reading import whole_rows
from harness.results.scores import Scores
from harness.types import Answer, Detail, Judgment, split_variant

Spender: TypeAlias = Literal["answers", "users", "judgments"]
Call: TypeAlias = tuple[Spender, str, Detail]
"""What a call was for, the model that was called, and the reply's details."""


class Cost:
    """The dollars of models' replies: by the tables of turnbench.toml, else by the list."""

    def __init__(self, configs: Mapping[str, ModelConfig] | None = None) -> None:
        self.configs = configs or {}
        """The tables."""
        self._price = functools.cache(self._find_price)

    def __call__(self, model: str, detail: Detail) -> float | None:
        """Return the dollars of a reply; None: the price or its tokens are unknown."""
        return cost_of(detail, self._price(model))

    def _find_price(self, model: str) -> Price | None:
        with contextlib.suppress(TurnbenchError):  # a name that no provider has
            return resolve(split_variant(model)[0], models=self.configs, key_needed=False).price
        return None


@dataclass
class Spent:
    """One model's calls for answers, as the user who is played, or for judgments."""

    what: Spender
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens those from the provider's cache."""
    reply_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the reply tokens those of reasoning."""
    dollars: float | None = 0.0
    """Of the calls that state their tokens; None: the price is unknown."""
    unstated: int = 0
    """Calls that state no tokens."""

    def add(self, detail: Detail, cost: Cost) -> None:
        """Count a call."""
        if detail.from_cache or detail.given is not None:
            return
        self.calls += 1
        usage = detail.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.unstated += 1
            return
        self.prompt_tokens += usage.prompt_tokens
        self.cached_tokens += usage.cached_tokens or 0
        self.reply_tokens += usage.completion_tokens
        self.reasoning_tokens += usage.reasoning_tokens or 0
        dollars = cost(self.model, detail)
        self.dollars = None if dollars is None or self.dollars is None else self.dollars + dollars


def spent(
    bench: Bench,
    judgments: Scores,
    cost: Cost,
    part: Slice | None = None,
) -> list[Spent]:
    """Return what the answers and judgments of a benchmark took.

    Args:
        bench: whose answers count.
        judgments: those that count.
        cost: the price of a reply.
        part: the questions, turns and models that count; a pair does if either model is named.
    """
    part = part or Slice()
    taken = {question.question_id for question in bench.take(part)}
    questions = taken if len(taken) < len(bench.questions) else None
    models = part.model_list
    rows: dict[tuple[str, str], Spent] = {}

    def add(calls: Iterable[Call]) -> None:
        for what, model, detail in calls:
            rows.setdefault((what, model), Spent(what, model)).add(detail, cost)

    for model in bench.answer_files():
        if not models or model in models:
            for key, answer in bench.answers(model).items():
                if questions is None or key in questions:
                    add(answer_calls(model, answer, part.turns))
    for _, row in whole_rows(judgments):
        if isinstance(row, Judgment) and (not models or not set(row.models).isdisjoint(models)):
            add(judgment_calls(row))
    return list(rows.values())


def answer_calls(model: str, answer: Answer, turns: Collection[int] = ()) -> Iterator[Call]:
    """Yield the calls that made some turns of an answer, those of a played user included."""
    for turn, detail, _ in _replies(answer):
        if not turns or turn in turns:
            yield "answers", model, detail
    player = str((answer.user or {}).get("model", ""))
    for choice in answer.choices:
        for turn, detail in enumerate(choice.user_details, 2):
            if not turns or turn in turns:
                yield "users", player, detail


def _replies(answer: Answer) -> Iterator[tuple[int, Detail, str]]:
    """Yield the turn of each reply, its detail and its text."""
    for choice in answer.choices:
        for turn, text in enumerate(choice.turns, 1):
            yield turn, choice.detail(turn), text


def judgment_calls(judgment: Judgment) -> Iterator[Call]:
    """Yield the calls that made a judgment, those without a verdict included."""
    judge = judgment.judge_model
    games = len(judgment.games) if judgment.model is None else 1
    for detail in judgment.details or [Detail()] * max(1, games):
        for attempt in detail.earlier_attempts:
            stated = {k: v for k, v in attempt.items() if k in ("usage", "seconds", "batch")}
            yield "judgments", judge, convert(stated, Detail, strict=False)
        yield "judgments", judge, detail


# Quality and price


@dataclass(frozen=True, eq=False)
class Efficiency:
    """One model's answers to the questions that all models have answered; means over turns."""

    model: str
    score: Estimate
    turns: int
    dollars: float | None
    """For a thousand turns; None: a price or tokens are unknown."""
    reply_tokens: float | None
    """Reasoning included."""
    reasoning_share: float | None
    seconds: float | None
    """The median call."""
    characters: float
    cut: float
    """Share of replies that ended at their limit."""
    refused: float
    """Share of replies that were refused or empty."""
    frontier: bool = False
    """Whether no other model is at least as good for at most the same money."""


def efficiency(bench: Bench, scores: Mapping[str, Estimate], cost: Cost) -> list[Efficiency]:
    """Return tokens, seconds and dollars of the models of a table, on their common questions."""
    answers = {model: by_id for model in scores if (by_id := bench.answers(model))}
    common = set(bench.by_id).intersection(*answers.values())
    rows = []
    for model, by_id in answers.items():
        replies = [(d, text) for key in common for _, d, text in _replies(by_id[key])]
        rows.append(_efficiency(model, scores[model], replies, cost))

    def beaten(row: Efficiency) -> bool:
        point = row.score.value, -(row.dollars or 0.0)
        points = [(r.score.value, -r.dollars) for r in rows if r.dollars is not None]
        return any(p != point and p[0] >= point[0] and p[1] >= point[1] for p in points)

    return [replace(row, frontier=row.dollars is not None and not beaten(row)) for row in rows]


def _efficiency(
    model: str, score: Estimate, replies: Sequence[tuple[Detail, str]], cost: Cost
) -> Efficiency:
    import statistics  # costs more to import than most tables to make

    calls = [detail for detail, _ in replies if detail.given is None]
    counted = [d.usage for d in calls if d.usage.completion_tokens is not None]
    tokens = sum(usage.completion_tokens or 0 for usage in counted)
    reasoning = sum(usage.reasoning_tokens or 0 for usage in counted)
    dollars = [dollar for d in calls if (dollar := cost(model, d)) is not None]
    timed = [d.seconds for d in calls if d.seconds is not None and not (d.from_cache or d.batch)]
    ends = Counter(detail.finish_reason for detail in calls)
    n = max(1, len(calls))
    return Efficiency(
        model,
        score,
        len(calls),
        1000 * sum(dollars) / n if calls and len(dollars) == len(calls) else None,
        tokens / len(counted) if counted else None,
        reasoning / tokens if tokens else None,
        statistics.median(timed) if timed else None,
        sum(len(text) for detail, text in replies if detail.given is None) / n,
        ends["length"] / n,
        (ends["refused"] + ends["empty"]) / n,
    )

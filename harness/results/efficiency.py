"""Quality beside its price: what each model's answers cost, how long they took, and how they ended.

    A  8.1 [7.6, 8.5]  $2.10 a 1,000 turns  410 reply tokens, 60% of them reasoning  2.1 s (95% within 6.0 s)
    B  8.0 [7.5, 8.4]  $0.40 a 1,000 turns  350 reply tokens                         0.9 s (95% within 1.4 s)

Of the stored answers whose questions were asked of all of these models, so that nobody is cheap for want of the long
ones. A model is on the frontier if no other has a greater number at the same price or less. Tokens are as the provider
counted them, seconds as the call took them, prices today's; calls from the cache count with their tokens and without
their seconds.
"""

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from harness.answer_lines import Said, StoredAnswers
from harness.bench import Bench, load_bench
from harness.errors import MissingError, UsageError
from harness.jsonl import is_there
from harness.records import QuestionId, Reply
from harness.results.cost import Prices
from harness.results.result import Result
from harness.running.cost import cost_of


class Score(NamedTuple):
    """What a table ranks by, with its 95% interval; None is absent."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Efficiency:
    """One model's answers; a number that no reply states is None."""

    model: str
    score: Score
    turns: int
    """Replies that the model wrote to the common questions."""
    cost: float | None
    """Dollars for a thousand turns; None if the price, or the tokens of a reply, are unknown."""
    reasoning_cost: float | None
    """The part of it that was spent on reasoning."""
    prompt_tokens: float | None
    """Tokens of the mean prompt."""
    reply_tokens: float | None
    """Tokens of the mean reply, reasoning included."""
    reasoning_share: float | None
    """The part of the reply tokens that is reasoning."""
    seconds: float | None
    """Seconds of the median call."""
    seconds_95: float | None
    """Seconds within which 95% of the calls ended."""
    characters: float
    """Characters of the mean reply, reasoning left out."""
    cut: float
    """Share of replies that ended at their limit on tokens."""
    refused: float
    """Share of replies that were refused or empty."""
    frontier: bool = False
    """Whether no other model is at least as good for at most the same money."""

    def row(self) -> dict[str, Any]:
        """Return the row of a table."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class EfficiencyTable:
    """What `show_result --efficiency` shows."""

    result: Result
    rows: tuple[Efficiency, ...]
    """In the order of the result's table."""
    questions: int
    """Questions that all of these models have answered."""
    notes: tuple[str, ...] = field(default=())


def efficiency(
    result: Result,
    *,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    models_file: pathlib.Path | str | None = None,
) -> EfficiencyTable:
    """Return what the answers of the models of a result cost and how long they took.

    Raises:
        UsageError: the result is of a panel, or has no single number by which it ranks.
        MissingError: no model of the result has answers beside it.
    """
    scores = _scores(result)
    bench = load_bench(bench_name or result.bench or "mt_bench", data_dir)
    known = {question.question_id for question in bench.questions}
    there = {model: own for model in scores if (own := _answered(bench, model) & known)}
    if not there:
        raise MissingError(f"{bench.folder / 'model_answer'} holds no answers of {', '.join(scores)}")
    common = set.intersection(*there.values())
    prices = Prices(models_file)
    rows = []
    for model in there:  # one after another: what a model's answers took is reduced to its row, then forgotten
        with StoredAnswers(bench.answer_file(model), model) as stored:
            said = [one for question in stored.questions if question in common for one in stored.costs(question)]
        rows.append(_row(model, scores[model], said, prices))
    notes = []
    lacking = [model for model in scores if model not in there]
    if lacking:
        notes.append(f"no answers of {', '.join(lacking)} stand in {bench.name}")
    some = sum(len(found) - len(common) for found in there.values())
    if some:
        notes.append(f"of {len(common)} questions that all have answered; {some} answers to others are left out")
    return EfficiencyTable(result, tuple(_with_frontier(rows)), len(common), tuple(notes))


def _scores(result: Result) -> dict[str, Score]:
    """Return the number by which a result ranks, by model."""
    if result.panel is not None:
        raise UsageError("--efficiency is of one judge; name one with --judge-model")
    rows = result.table_rows()
    column = result.column
    if rows and column not in rows[0]:
        numbers = [name.removesuffix("_low") for name in rows[0] if name.endswith("_low")]
        if not numbers:
            raise UsageError("--efficiency needs one number for each model; name one with --metric or --criterion")
        column = numbers[0]
    return {row["model"]: Score(row[column], row.get(f"{column}_low"), row.get(f"{column}_high")) for row in rows}


def _answered(bench: Bench, model: str) -> set[QuestionId]:
    path = bench.answer_file(model)
    if not is_there(path):
        return set()
    with StoredAnswers(path, model) as stored:
        return set(stored.questions)


def _row(model: str, score: Score, said: Sequence[Said], prices: Prices) -> Efficiency:
    """Return what one model's answers took."""
    replies = [one.reply for one in said]
    seconds = [r.seconds for r in replies if r.seconds is not None and not (r.from_cache or r.batch)]
    stated = [r.usage for r in replies if r.usage.completion_tokens is not None]
    tokens = sum(usage.completion_tokens or 0 for usage in stated)
    thought = sum(usage.reasoning_tokens or 0 for usage in stated)
    costs = [cost_of(r.usage, prices.price(model, r.model), batch=r.batch) for r in replies]
    known = [cost for cost in costs if cost is not None]
    whole = len(known) == len(costs) > 0
    return Efficiency(
        model=model,
        score=score,
        turns=len(replies),
        cost=1000 * sum(known) / len(known) if whole else None,
        reasoning_cost=1000 * _reasoning(model, replies, prices) / len(replies) if whole else None,
        prompt_tokens=_mean([r.usage.prompt_tokens for r in replies if r.usage.prompt_tokens is not None]),
        reply_tokens=_mean([usage.completion_tokens or 0 for usage in stated]),
        reasoning_share=thought / tokens if tokens else None,
        seconds=float(np.median(seconds)) if seconds else None,
        seconds_95=float(np.percentile(seconds, 95)) if seconds else None,
        characters=_mean([one.characters for one in said]) or 0.0,
        cut=_share(replies, "length"),
        refused=_share(replies, "refused", "empty"),
    )


def _reasoning(model: str, replies: Sequence[Reply], prices: Prices) -> float:
    """Return the dollars that reasoning tokens cost."""
    total = 0.0
    for reply in replies:
        price = prices.price(model, reply.model)
        if price is not None and reply.usage.reasoning_tokens:
            total += reply.usage.reasoning_tokens * price.completion * (price.batch if reply.batch else 1.0) / 1_000_000
    return total


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(replies: Sequence[Reply], *ends: str) -> float:
    return sum(reply.finish_reason in ends for reply in replies) / len(replies) if replies else 0.0


def _with_frontier(rows: Sequence[Efficiency]) -> list[Efficiency]:
    """Return the rows, with those marked that no other one is at least as good as for at most the same money."""
    priced = [row for row in rows if row.cost is not None and row.score.value is not None]

    def beaten(row: Efficiency) -> bool:
        score, cost = row.score.value or 0.0, row.cost or 0.0
        others = ((other.score.value or 0.0, other.cost or 0.0) for other in priced)
        return any(s >= score and c <= cost and (s, c) != (score, cost) for s, c in others)

    return [replace(row, frontier=row in priced and not beaten(row)) for row in rows]

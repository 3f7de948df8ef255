"""Quality and price: what each model's answers cost, how long they took, and how they ended.

    A  8.1 (7.6 to 8.5)  $2.10 a 1,000 turns  410 reply tokens, 60% of them reasoning  2.1 s (95% within 6.0 s)
    B  8.0 (7.5 to 8.4)  $0.40 a 1,000 turns  350 reply tokens                         0.9 s (95% within 1.4 s)

Only answers to questions that all of these models have answered count, so that no model is cheap because its long
answers are missing. Of the ranked models, one is on the frontier if no other has a greater number at the same price or
less. Tokens are as the provider counted them, seconds as the call took them, prices today's; calls from the cache count
with their tokens and without their seconds.
"""

import math
import pathlib
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from harness.old.answer_lines import Said, StoredAnswers
from harness.old.bench import load_bench
from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import is_there
from harness.old.records import QuestionId, Usage
from harness.old.results.cost import Prices
from harness.old.results.matrix import Floats, Ints
from harness.old.results.result import Result
from harness.old.results.statistics.estimate import Estimate
from harness.old.written import takes_only


@dataclass(frozen=True, slots=True)
class Efficiency:
    """One model's answers; a number that no reply states is None."""

    model: str
    score: Estimate
    """What the table ranks by."""
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


class Took(NamedTuple):
    """What the replies that one model wrote itself took."""

    questions: Sequence[QuestionId]
    """Which it has answered."""
    of: Ints
    """For each reply the place of its question."""
    numbers: Mapping[str, Floats]
    """The result of `_numbers` for each reply; NaN where a number is unknown."""


def what_it_took(
    files: Mapping[str, pathlib.Path],
    *,
    models_file: pathlib.Path | str | None = None,
    told: Callable[[float], None] = lambda share: None,
) -> dict[str, Took]:
    """Return tokens, seconds and endings of each model's replies; nothing for a model without answers.

    `told` is called with the share of the files that has been read.

    Raises:
        DataError: a line is no answer.
    """
    prices = Prices(models_file)
    found = {}
    for at, (model, path) in enumerate(files.items()):
        told(at / len(files))
        if is_there(path):
            found[model] = _took(path, model, prices)
    return found


def _took(path: pathlib.Path, model: str, prices: Prices) -> Took:
    of, columns = array("q"), {name: array("d") for name in _NUMBERS}
    with StoredAnswers(path, model) as stored:
        for place, question in enumerate(stored.questions):
            for said in stored.costs(question):
                of.append(place)
                for column, number in zip(columns.values(), _numbers(said, model, prices), strict=True):
                    column.append(math.nan if number is None else number)
        numbers = {name: np.frombuffer(column) for name, column in columns.items()}
        return Took(list(stored.questions), np.frombuffer(of, np.int64), numbers)


def _numbers(said: Said, model: str, prices: Prices) -> tuple[float | None, ...]:
    """Return of a reply what `_NUMBERS` names."""
    reply, usage = said.reply, said.reply.usage
    thought = usage.reasoning_tokens or 0
    return (
        usage.prompt_tokens,
        usage.completion_tokens,
        thought,
        prices.cost(model, reply),
        prices.cost(model, replace(reply, usage=Usage(0, thought), seconds=None)) if thought else 0.0,
        None if reply.from_cache or reply.batch else reply.seconds,
        said.characters,
        reply.finish_reason == "length",
        reply.finish_reason in {"refused", "empty"},
    )


_NUMBERS = ("prompt", "reply", "thought", "cost", "on_thought", "seconds", "characters", "cut", "refused")
"""Tokens, dollars, seconds, characters, and 1 for a reply that was cut, or refused or empty."""


@takes_only()
def efficiency(
    result: Result,
    *,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    models_file: pathlib.Path | str | None = None,
    took: Mapping[str, Took] | None = None,
) -> EfficiencyTable:
    """Return what the answers of the models of a result cost and how long they took.

    `took` is the result of `what_it_took`, if that has been read already.

    Raises:
        UsageError: the result is of a panel, or has no single number by which it ranks.
        MissingError: no model of the result has answers.
    """
    scores = _scores(result)
    bench = load_bench(bench_name or result.bench or "mt_bench", data_dir)
    known = {question.question_id for question in bench.questions}
    if took is None:
        took = what_it_took({model: bench.answer_file(model) for model in scores}, models_file=models_file)
    there = {model: own for model in scores if model in took and (own := known.intersection(took[model].questions))}
    if not there:
        raise MissingError(f"{bench.folder / 'model_answer'} holds no answers of {', '.join(scores)}")
    common = set.intersection(*there.values())
    rows = [_row(model, scores[model], took[model], common) for model in there]
    notes = []
    lacking = [model for model in scores if model not in there]
    if lacking:
        notes.append(f"no answers of {', '.join(lacking)} are in {bench.name}")
    some = sum(len(found) - len(common) for found in there.values())
    if some:
        notes.append(f"of {len(common)} questions that all have answered; {some} answers to others are left out")
    return EfficiencyTable(result, tuple(_with_frontier(rows, result.unranked)), len(common), tuple(notes))


def _scores(result: Result) -> dict[str, Estimate]:
    """Return the number by which a result ranks, by model."""
    if result.panel is not None:
        raise UsageError("--efficiency is for one judge; name one with --judge-model")
    rows = result.table_rows()
    column = result.column
    if rows and column not in rows[0]:
        numbers = [name.removesuffix("_low") for name in rows[0] if name.endswith("_low")]
        if not numbers:
            raise UsageError("--efficiency needs one number for each model; name one with --metric or --criterion")
        column = numbers[0]
    low, high = f"{column}_low", f"{column}_high"
    return {row["model"]: Estimate(row[column], row.get(low), row.get(high), 0, None) for row in rows}


def _row(model: str, score: Estimate, took: Took, common: Set[QuestionId]) -> Efficiency:
    """Return what one model's answers to the common questions took."""
    counts = np.array([question in common for question in took.questions], dtype=bool)[took.of]
    every = {name: column[counts].tolist() for name, column in took.numbers.items()}
    stated = {name: [number for number in column if number == number] for name, column in every.items()}
    turns, seconds = len(every["reply"]), stated["seconds"]
    tokens = sum(stated["reply"])
    thought = sum(t for t, all_ in zip(every["thought"], every["reply"], strict=True) if all_ == all_)
    whole = len(stated["cost"]) == turns > 0
    return Efficiency(
        model=model,
        score=score,
        turns=turns,
        cost=1000 * sum(stated["cost"]) / turns if whole else None,
        reasoning_cost=1000 * sum(stated["on_thought"]) / turns if whole else None,
        prompt_tokens=_mean(stated["prompt"]),
        reply_tokens=_mean(stated["reply"]),
        reasoning_share=thought / tokens if tokens else None,
        seconds=float(np.median(seconds)) if seconds else None,
        seconds_95=float(np.percentile(seconds, 95)) if seconds else None,
        characters=_mean(stated["characters"]) or 0.0,
        cut=_mean(stated["cut"]) or 0.0,
        refused=_mean(stated["refused"]) or 0.0,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _with_frontier(rows: Sequence[Efficiency], unranked: Collection[str]) -> list[Efficiency]:
    """Return the rows, with those marked that no other one is at least as good as for at most the same money.

    A model that is not ranked has answered other questions: it is neither marked nor compared with.
    """
    known = [row for row in rows if row.model not in unranked]
    priced = [row for row in known if row.cost is not None and row.score.value is not None]

    def beaten(row: Efficiency) -> bool:
        score, cost = row.score.value or 0.0, row.cost or 0.0
        others = ((other.score.value or 0.0, other.cost or 0.0) for other in priced)
        return any(s >= score and c <= cost and (s, c) != (score, cost) for s, c in others)

    return [replace(row, frontier=row in priced and not beaten(row)) for row in rows]

"""Pairs as alpaca_eval's annotations, a file for each model where alpaca_eval keeps them.

    OUTPUT/MODEL/JUDGE_SET/annotations.json

The records are in the order of the questions, one for each that both models answered (its length
control looks the difficulty up by that order); where there is no verdict, `preference` is null.
"""

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.bench import Bench, file_stem
from harness.errors import UsageError
from harness.extras.exporting.export import NO_ANSWER, File, Results, json_array
from harness.results.spent import Cost
from harness.types import Judgment


def alpaca_eval(bench: Bench, results: Results) -> Iterator[File]:
    """Yield the annotations of each model against the baseline, of two models our model_2."""
    for model, rows in sorted(results.of_one_judge("pair").items()):
        records = list(_annotations(bench, results, model, rows))
        path = f"{file_stem(model)}/{file_stem(rows[0].judge_set)}/annotations.json"
        yield File(path, json_array(records), {model: len(records)})


def _annotations(
    bench: Bench, results: Results, model: str, rows: Sequence[Judgment]
) -> Iterator[dict[str, Any]]:
    """Yield the annotations of one model against one baseline."""
    baseline, *others = sorted({name for row in rows for name in row.models if name != model})
    if others:
        names = ", ".join([baseline, *others])
        advice = "name the baseline with --baseline-model"
        raise UsageError(f"{model} was compared with several models: {names}; {advice}")
    one_each = [row for row in rows if row.turn == 1 and row.sample == 0]
    results.left_out["alpaca_eval has one judgment of a first turn"] += len(rows) - len(one_each)
    by_question = {row.question_id: row for row in one_each}
    first, second = bench.answers(baseline), bench.answers(model)
    results.left_out[NO_ANSWER] += sum(
        row.question_id not in first or row.question_id not in second for row in one_each
    )
    for question in bench.questions:
        key = question.question_id
        if key in first and key in second:
            yield {
                "instruction": question.turns[0],
                "output_1": first[key].choices[0].turns[0],
                "generator_1": baseline,
                "dataset": question.category,
                "output_2": second[key].choices[0].turns[0],
                "generator_2": model,
                "annotator": rows[0].judge_set,
                **_verdict(by_question.get(key, Judgment(question_id=key)), model, results.cost),
            }


def _verdict(row: Judgment, model: str, cost: Cost) -> dict[str, Any]:
    """Return the fields of an annotation that are about its verdict; without one they are null."""
    preference, games = None, [game for game in row.games if game is not None]
    if not row.failed:
        # By the text, two games that differ are a tie.
        weighed = row.score_method == "logprobs" or len(set(games)) == 1
        share = statistics.fmean(games) if weighed else 0.5
        preference = 1 + (share if row.models[0] == model else 1 - share)
    completion: Any = row.g1_judgment if row.g1_judgment is not None else row.g2_judgment
    if completion and row.score_method == "logprobs" and completion.startswith("{"):
        completion = json.loads(completion)
    costs = [cost(row.judge_model, detail) for detail in row.details]
    return {
        "preference": preference,
        "price_per_example": _total(costs),
        "time_per_example": _total(detail.seconds for detail in row.details),
        "raw_completion": completion,
    }


def _total(numbers: Iterable[float | None]) -> float | None:
    """Return the sum of the numbers that are known; None if none is."""
    values = [number for number in numbers if number is not None]
    return math.fsum(values) if values else None

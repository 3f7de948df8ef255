"""AlpacaEval's model outputs and annotations.

    {"instruction": "...", "output": "...", "generator": "gpt4_1106_preview", "dataset": "vicuna"}

    instruction, and below it the input → question      dataset → category
    output → answer by `generator`

    {"instruction": "...", "output_1": "...", "generator_1": "gpt4_1106_preview", "output_2": "...",
     "generator_2": "my-model", "annotator": "weighted_alpaca_eval_gpt4_turbo", "preference": 1.27}

    output_1, output_2 → answers      preference → judgment: 1 is fully for output_1, the
                                      baseline's, 2 for output_2, 1.5 (and 0, in old files) a tie

A null is a judge's failure and gives no judgment, so that gen_judgment tries again. Which output
was shown first follows from the instruction and the seed 0; the file does not say it.

Source: alpaca_eval 0.6.6, `annotators/pairwise_evaluator.py`.
"""

import json
import math
import random
import time
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, optional, shown, text_of
from harness.types import Detail, Judgment, Winner


def alpaca_eval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the output of a record, or the outputs and the judgment of an annotation."""
    given = optional(record, "input")
    turns = [text_of(record, "instruction") + (f"\n\n{given}" if given else "")]
    dataset = optional(record, "dataset", usual="alpaca_eval").strip()
    if "output_1" in record and "output_2" in record:
        return _annotation(record, source, turns, dataset)
    model = source.model if source.named else optional(record, "generator", usual=source.stem)
    return Item(
        turns=turns,
        category=dataset if source.file == 0 else None,
        same="turns",
        answers={model.strip(): [text_of(record, "output", empty=True)]},
    )


def _annotation(
    record: Mapping[str, Any], source: Source, turns: list[str], dataset: str
) -> Item:
    baseline = text_of(record, "generator_1")
    model = source.model if source.named else text_of(record, "generator_2")
    share = _share(record.get("preference"))
    judgments = []
    if share is not None and model != baseline:
        judgments.append(_judgment(record, source, turns[0], (model, baseline), share))
    outputs = {baseline: [text_of(record, "output_1", empty=True)]}
    return Item(
        turns=turns,
        category=dataset,
        same="turns",
        answers=outputs | {model: [text_of(record, "output_2", empty=True)]},
        judgments=judgments,
        failed=share is None,
    )


def _judgment(
    record: Mapping[str, Any],
    source: Source,
    instruction: str,
    models: tuple[str, str],
    share: float,
) -> Judgment:
    """Return the judgment of a preference; `share` of 1 goes to the first of the models."""
    annotator, completion = text_of(record, "annotator"), record.get("raw_completion")
    if completion is not None and not isinstance(completion, str):
        completion = json.dumps(completion, ensure_ascii=False)
    winner: Winner = "tie" if share == 0.5 else "model_1" if share > 0.5 else "model_2"
    detail = Detail(
        given="annotations",
        seconds=_number(record.get("time_per_example")),
        price=_number(record.get("price_per_example")),
        verdict_reason="imported",
    )
    row = Judgment(
        question_id=0,
        model_1=models[0],
        model_2=models[1],
        judge=(source.judge or annotator, "unstated"),
        turn=1,
        tstamp=time.time(),
        judge_set=annotator,
        score_method="text" if share in (0, 0.5, 1) else "logprobs",
        details=[detail],
    )
    if baseline_is_second(instruction):
        row.shown_first, row.g1_winner, row.g1_judgment, row.g1_preference = (
            *("model_1", winner),
            *(completion, share),
        )
    return row


def baseline_is_second(instruction: str, seed: int = 0) -> bool:
    """Return whether alpaca_eval shows the baseline's output second.

    >>> baseline_is_second("Say hi."), baseline_is_second("Explain tides to a child.")
    (False, True)
    """
    text = f"is_switched_outputs{instruction}{seed}"
    return random.Random(text).choices([False, True], k=1)[0]


def _share(value: Any) -> float | None:
    """Return of 1 how much goes to the model; None of a failure: null, NaN, or a cached -1."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = math.inf if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.inf
    if math.isnan(number) or number == -1:
        return None
    if number and not 1 <= number <= 2:
        raise BadRecord(f"preference must be null or a number from 1 to 2, this is {shown(value)}")
    return number - 1 if number else 0.5


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

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

import functools
import json
import pathlib
import random
import time
from collections.abc import Mapping
from typing import Any

from harness.errors import UsageError
from harness.extras.importing.items import BadRecord, Item, Source, text_of
from harness.judging import sets
from harness.types import UNSTATED, Detail, Judgment, Winner


def alpaca_eval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the output of a record, or the outputs and the judgment of an annotation."""
    text = "\n\n".join(
        filter(None, [text_of(record, "instruction"), text_of(record, "input", default="")])
    )
    category = text_of(record, "dataset", default="alpaca_eval").strip()
    item = Item(turns=[text], category=category, same_turns=True)
    if "output_1" in record and "output_2" in record:
        baseline = text_of(record, "generator_1")
        model = source.model or text_of(record, "generator_2")
        item.answers[baseline] = [text_of(record, "output_1", empty=True)]
        item.answers[model] = [text_of(record, "output_2", empty=True)]
        share = _share(record.get("preference"))
        item.failed = share is None
        if share is not None and model != baseline:
            item.judgments.append(_judgment(record, source, text, (model, baseline), share))
        return item
    model = source.model or text_of(record, "generator", default=source.stem).strip()
    item.answers[model] = [text_of(record, "output", empty=True)]
    if source.file > 0:
        item.category = None
    return item


def _judgment(
    record: Mapping[str, Any], source: Source, text: str, models: tuple[str, str], share: float
) -> Judgment:
    """Return the judgment of an annotation; `share` of 1 goes to the first of the models."""
    annotator, completion = text_of(record, "annotator"), record.get("raw_completion")
    if completion is not None and not isinstance(completion, str):
        completion = json.dumps(completion, ensure_ascii=False)
    judge_set = _judge_set(annotator, source.folder)
    judge = source.judge or (judge_set.judge if judge_set else None) or annotator
    winner: Winner = "tie" if share == 0.5 else "model_1" if share > 0.5 else "model_2"
    drawn = judge_set is None or judge_set.order == "random"
    game = 1 if drawn and not baseline_is_first(text) else 2
    verdict: dict[str, Any] = {"winner": winner, "judgment": completion, "preference": share}
    return Judgment(
        question_id=0,
        model_1=models[0],
        model_2=models[1],
        shown_first="model_1" if game == 1 else "model_2",
        judge=(judge, UNSTATED),
        turn=1,
        tstamp=time.time(),
        judge_set=annotator,
        judge_set_version=judge_set.version if judge_set else "",
        score_method="text" if share in (0, 0.5, 1) else "logprobs",
        details=[
            Detail(
                given="annotations",
                seconds=record.get("time_per_example"),
                price=record.get("price_per_example"),
            )
        ],
        **{f"g{game}_{name}": value for name, value in verdict.items()},
    )


@functools.cache
def _judge_set(name: str, folder: pathlib.Path) -> sets.JudgeSet | None:
    """Return the judge set of an annotator's name, if there is one."""
    try:
        return sets.load(name, folder, folder.parent)
    except UsageError:
        return None


def baseline_is_first(instruction: str) -> bool:
    """Return whether alpaca_eval, with its seed 0, shows the baseline's output first.

    >>> baseline_is_first("Say hi."), baseline_is_first("Explain tides to a child.")
    (True, False)
    """
    switched = random.Random(f"is_switched_outputs{instruction}0").choices([False, True], k=1)[0]
    return not switched


def _share(value: Any) -> float | None:
    """Return of 1 how much goes to the model; None of a failure: null, NaN, or a cached -1."""
    if value in (None, "", -1) or value != value:
        return None
    number = float(value)
    if number and not 1 <= number <= 2:
        raise BadRecord("preference must be null or a number from 1 to 2")
    return number - 1 if number else 0.5

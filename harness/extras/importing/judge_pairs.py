"""Pairs with a known better answer, to measure judges: RewardBench 2, JudgeBench, LLMBar.

    RewardBench 2   {"id": "…", "prompt": "…", "chosen": ["…"], "rejected": ["…", …],
                     "subset": "Math"}
    JudgeBench      {"pair_id": "…", "question": "…", "response_A": "…", "response_B": "…",
                     "label": "A>B", "source": "mmlu-pro-law"}
    LLMBar          {"input": "…", "output_1": "…", "output_2": "…", "label": 1}

A record becomes a question of its subset, an answer by each side, and a vote of `gold` for the
better one: `judge_report agreement` says how often a judge agrees, in all and by subset, in both
orders, a tie being wrong (S1). Each chosen answer is paired with each rejected one; RewardBench 2's
board asks for the best of four instead, which is harder.

Source: Malik et al. 2025 (arXiv:2506.01937); Tan et al. 2024 (arXiv:2410.12784); Zeng et al. 2023
(arXiv:2310.07641).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, id_of, text_of
from harness.types import Vote

GOLD = "gold"
"""The voter who knows."""
_LABELS = {"A>B": 1, "B>A": 2, "1": 1, "2": 2}


def judge_pairs(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, the answers and the votes of a record."""
    if "chosen" in record:
        better, worse = (_texts(record, name) for name in ("chosen", "rejected"))
        answers = {**_named("chosen", better), **_named("rejected", worse)}
        pairs = [(a, b) for a in _named("chosen", better) for b in _named("rejected", worse)]
    else:
        label = _LABELS.get(str(record.get("label")).strip())
        if label is None:
            raise BadRecord(f"label {record.get('label')!r} must be A>B or B>A, or 1 or 2")
        answers = {
            f"response-{side}": [
                text_of(record, f"response_{side}", f"output_{number}", empty=True)
            ]
            for number, side in ((1, "A"), (2, "B"))
        }
        first, second = answers
        pairs = [(first, second) if label == 1 else (second, first)]
    return Item(
        category=text_of(record, "subset", "source", default=_subset(source)),
        question_id=id_of(record, "pair_id", "id"),
        turns=[text_of(record, "prompt", "question", "input")],
        answers=answers,
        votes=[
            Vote(question_id=0, model_a=a, model_b=b, winner="model_a", judge=GOLD, turn=1)
            for a, b in pairs
        ],
    )


def _subset(source: Source) -> str:
    """Return the subset of a file that does not say it: LLMBar has one in each folder."""
    return source.folder.name if source.stem == "dataset" else source.stem


def _texts(record: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a field that has one or several."""
    value = record[name]
    texts = [value] if isinstance(value, str) else value
    if not texts or not all(isinstance(text, str) for text in texts):
        raise BadRecord(f"{name} must be a text or a list of texts")
    return list(texts)


def _named(side: str, texts: Sequence[str]) -> dict[str, list[str]]:
    return {f"{side}-{number}": [text] for number, text in enumerate(texts, 1)}

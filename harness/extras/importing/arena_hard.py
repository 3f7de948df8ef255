"""Arena-Hard's questions, answers and judgments, of v0.1 and v2.

{"uid": …, "category": …, "prompt": …}           or "question_id", "turns": [{"content": …}]
{"uid": …, "model": …, "messages": [user, {"content": {"answer": …}}]}
                                                 or "model_id", "choices": [{"turns": …}]
{"uid": …, "model": …, "baseline": …, "judge": …, "games": [{"score": "A>B", "judgment": …}, …]}

Game 1 of theirs shows the baseline first, which is our game 2 of model against baseline.
"""

import time
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, id_of, other_fields, text_of
from harness.judging.formats import STEPS
from harness.types import UNSTATED, Judgment

_OTHERS = ("uid", "question_id", "prompt", "turns", "category", "subcategory", "cluster")
JUDGE_SET = "arena_hard_published"


def arena_hard(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, answer or judgment of a record."""
    key = id_of(record, "uid", "question_id")
    if "games" in record:
        return Item(question_id=key, **_judged(record, source))
    if "messages" in record or "choices" in record:
        model = source.model or text_of(record, "model", "model_id")
        return Item(question_id=key, answers={model: [_answer(record)]})
    turn = record["turns"][0] if record.get("turns") else record.get("prompt")
    extra = other_fields(record, *_OTHERS)
    for name in ("subcategory", "cluster"):
        extra |= {name: record[name]} if isinstance(record.get(name), str) else {}
    return Item(
        question_id=key,
        turns=[_text(turn)],
        category=text_of(record, "category", default="arena-hard"),
        extra=extra,
    )


def _answer(record: Mapping[str, Any]) -> str:
    if "messages" in record:
        return _text(record["messages"][-1]["content"])
    return _text(record["choices"][0]["turns"][0])


def _text(value: Any) -> str:
    """Return a text that may be the member `answer` or `content` of an object."""
    if isinstance(value, Mapping):
        value = value.get("answer", value.get("content"))
    if not isinstance(value, str):
        raise BadRecord("there is no text where the answer or prompt should be")
    return value


def _judged(record: Mapping[str, Any], source: Source) -> dict[str, Any]:
    games: dict[str, Any] = {}
    for number, game in zip((2, 1), record["games"], strict=True):
        score = (game or {}).get("score")
        if score is None:
            return {"failed": True}
        first, second = ("model_1", "model_2") if number == 1 else ("model_2", "model_1")
        side, weight = _step(score)
        reply = game.get("judgment")
        games[f"g{number}_winner"] = {"A": first, "B": second, "tie": "tie"}[side]
        games[f"g{number}_weight"] = weight
        games[f"g{number}_judgment"] = _text(reply) if reply is not None else None
    judge = source.judge or text_of(record, "judge", default=source.folder.name)
    judgment = Judgment(
        question_id=0,
        model_1=source.model or text_of(record, "model"),
        model_2=text_of(record, "baseline"),
        judge=(judge, UNSTATED),
        turn=1,
        tstamp=time.time(),
        judge_set=JUDGE_SET,
        score_method="steps",
        **games,
    )
    return {"judgments": [judgment]}


def _step(score: str) -> tuple[str, int]:
    """Return side and weight; `B<A` is `A>B`.

    >>> _step("B<<A"), _step("B=A")
    (('A', 3), ('tie', 1))
    """
    if "<" in score:
        score = score[::-1].replace("<", ">")
    score = "A=B" if score == "B=A" else score
    if score not in STEPS:
        raise BadRecord(f"the score {score!r} is none of {', '.join(STEPS)}")
    return STEPS[score]

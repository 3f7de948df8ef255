"""Judgments as a run ends in them, and rows as they are read back."""

import json
from typing import Any

from harness.old.judgments.judgment import Judgment, MadeFrom, Match, Parsed, Verdict
from harness.old.records import Message, Question, Reply, Request, Sampling

QUESTION = Question(7, "stem", ("What melts ice?", "And what freezes water?"))
MADE = MadeFrom("q", "c", None, "t", "p")


def judgment(verdict: Verdict | None, *models: str, game: Any = 1, **more: Any) -> Judgment:
    """Return a judgment of turn 2 that was shown the models in this order."""
    request = Request((Message("system", "Be fair."), Message("user", f"Judge {models}.")), Sampling(temperature=0.0))
    made: dict[str, Any] = {
        "match": Match(QUESTION, 2, models, game=game),
        "judge": "gpt-4",
        "judge_set": "mt_bench",
        "judge_set_version": "1",
        "template": "pair-v2-multi-turn" if len(models) == 2 else "single-v1-multi-turn",
        "request": request,
        "attempts": (Reply(f"words on {models}"),),
        "parsed": Parsed(verdict, "because"),
        "made_from": MADE,
    }
    return Judgment(**{**made, **more})


def on_disk(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row as it is read back."""
    back: dict[str, Any] = json.loads(json.dumps(row))
    return back

"""A judgment -> its row: FastChat's field names, and ours beside them; reading them back is `line` and `row`.

Nothing that tools of FastChat read is renamed or dropped.
"""

from typing import Any

from harness.old.judgments.judgment import Judgment, Label, MadeFrom, Score, Scores, Verdict, Winner
from harness.old.judgments.line import FAILED_SCORE, FAILED_WINNER
from harness.old.rows import reply_details

TIE_DELTA = 0.1
"""Two scores in one judgment that differ by no more are a tie (FastChat `llm_judge/common.py`)."""


def single_to_row(judgment: Judgment, tstamp: float) -> dict[str, Any]:
    """Return the row of one judged answer: graded, labelled, or graded in several dimensions.

    `score` is what FastChat's tools average, and -1 what they leave out: a judgment without a verdict. A label is no
    score, nor are dimensions without a total; there `score` is null. `scale` is the least and the greatest grade that
    was asked for, of each dimension too: [1, 10].
    """
    verdict = judgment.parsed.verdict
    label = verdict.value if isinstance(verdict, Label) else None
    scores = dict(verdict.values) if isinstance(verdict, Scores) else None
    score: float | None = None if label is not None else FAILED_SCORE
    if isinstance(verdict, Score):
        score = verdict.value
    elif scores is not None:
        score = None if judgment.total is None else scores[judgment.total]
    row: dict[str, Any] = {
        "question_id": judgment.match.question.question_id,
        "model": judgment.match.models[0],
        "judge": [judgment.judge, judgment.template],
        "user_prompt": _user_prompt(judgment),
        "judgment": judgment.reply.text,
        "score": score,
        "turn": judgment.match.turn,
        "tstamp": tstamp,
    }
    if judgment.shares:
        row |= {"label": label, "share": None if label is None else judgment.shares.get(label)}
    if scores is not None or judgment.dimensions:
        row["scores"] = scores
    if judgment.scale is not None:
        row["scale"] = list(judgment.scale)
    if judgment.confidence is not None:
        row["confidence"] = judgment.confidence
    return row | _common(judgment)


def pair_to_row(*games: Judgment, tstamp: float) -> dict[str, Any]:
    """Return the row of a pair: judged in both orders, or in one, where it says which model was shown first."""
    match = games[0].match
    model_1, model_2 = match.pair
    row: dict[str, Any] = {"question_id": match.question.question_id, "model_1": model_1, "model_2": model_2}
    if len(games) == 1:
        row["shown_first"] = "model_1" if match.game == 1 else "model_2"
    row |= {f"g{game.match.game}_winner": _winner(game) for game in games}
    row["judge"] = [games[0].judge, games[0].template]
    for game in games:
        name = f"g{game.match.game}"
        row |= {f"{name}_user_prompt": _user_prompt(game), f"{name}_judgment": game.reply.text}
    row |= {"turn": match.turn, "tstamp": tstamp}
    for game in games:
        row |= _game_fields(game)
    return row | _common(*games)


def _game_fields(game: Judgment) -> dict[str, Any]:
    """Return our own fields for verdicts that say more than who won."""
    verdict, name = game.parsed.verdict, f"g{game.match.game}"
    row: dict[str, Any] = {}
    if isinstance(verdict, Winner) and verdict.preference is not None:
        # For a model whichever order was shown: 1 is all for `model_1`.
        row[f"{name}_preference"] = 1 - verdict.preference if game.match.game == 1 else verdict.preference
    if isinstance(verdict, Scores):
        first, second = verdict.values["A"], verdict.values["B"]
        row[f"{name}_scores"] = [first, second] if game.match.game == 1 else [second, first]
    return row


def _common(*judgments: Judgment) -> dict[str, Any]:
    """Return the fields that all rows have; of a pair's games they are equal but for the details."""
    judgment = judgments[0]
    method = {} if judgment.score_method == "text" else {"score_method": judgment.score_method}
    return {
        "judge_set": judgment.judge_set,
        "judge_set_version": judgment.judge_set_version,
        "criterion": judgment.match.criterion,
        "sample": judgment.match.sample,
        "choice": judgment.match.choice,
        "system_prompt": next((m.content for m in judgment.request.messages if m.role == "system"), None),
        "sampling": judgment.request.sampling.stated(),
        "made_from": {name: getattr(judgment.made_from, name) for name in MadeFrom.__slots__},
        **method,
        "details": [_details(own) for own in judgments],
    }


def _details(judgment: Judgment) -> dict[str, Any]:
    row = {"verdict_reason": judgment.parsed.reason, **reply_details(judgment.reply)}
    if len(judgment.attempts) > 1:
        row["earlier_attempts"] = [{"judgment": r.text, **reply_details(r)} for r in judgment.attempts[:-1]]
    return row


def _user_prompt(judgment: Judgment) -> str:
    return next(m.content for m in reversed(judgment.request.messages) if m.role == "user")


def _winner(game: Judgment) -> str:
    """Return the winner of a game in the row's words, whichever order was shown."""
    side = winning_side(game.parsed.verdict)
    if side is None or side == "tie":
        return side or FAILED_WINNER
    shown_first = side == "A"
    return "model_1" if shown_first == (game.match.game == 1) else "model_2"


def winning_side(verdict: Verdict | None) -> str | None:
    """Return "A", "B" or "tie" for a verdict on a pair; None where there is none."""
    if isinstance(verdict, Winner):
        return verdict.side
    if isinstance(verdict, Scores):
        gap = verdict.values["A"] - verdict.values["B"]
        return "tie" if abs(gap) <= TIE_DELTA else "A" if gap > 0 else "B"
    return None

"""The judging of one match as a job: ask, read the verdict, ask again if the set says so.

Two answers with the same text are a tie without a call: a judge could only prefer one by its place.
"""

import time
from collections.abc import Generator
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from harness.judging.forms import Form
from harness.judging.prompts import Match, Prompts
from harness.judging.verdicts import Verdict, read
from harness.running import uncut
from harness.types import EQUAL, FAILED_SCORE, Detail, Judgment, Reply, Request

TIE_DELTA = 0.1
"""Two scores in one judgment that differ by no more are a tie (FastChat `llm_judge/common.py`)."""
MORE_TOKENS = 2.0
"""By what factor the limit grows when a judgment that was cut is asked for again."""

Asking: TypeAlias = Generator[Request, Reply, Any]


class Asked(Struct):
    """What a judge was asked and said about one order of a match."""

    request: Request
    reply: Reply
    verdict: Verdict

    @property
    def prompt(self) -> str:
        """The last message, which is what files keep."""
        return self.request.messages[-1].content


def judging(match: Match, judge: str, prompts: Prompts, retry_cut: float) -> Asking:
    """Yield the requests about a match; return its row."""
    if len(match.models) == 1:
        asked = [(yield from _ask(match, match.models, prompts, retry_cut))]
        return _row(match, judge, prompts, asked, **_single(match, prompts, asked[0]))
    fields: dict[str, Any] = {}
    games = prompts.judge_set.games(match.question, match.turn, match.sample)
    asked = []
    for game in games:
        order = match.models if game == 1 else match.models[::-1]
        asked.append((yield from _ask(match, order, prompts, retry_cut)))
        fields |= _game(game, asked[-1])
    if len(games) == 1:
        fields["shown_first"] = f"model_{games[0]}"
    fields |= {"model_1": match.models[0], "model_2": match.models[1]}
    return _row(match, judge, prompts, asked, **fields)


def _ask(match: Match, order: tuple[str, ...], prompts: Prompts, retry_cut: float) -> Asking:
    """Ask about a match in one order, again until there is a verdict or no attempts are left."""
    request, form = prompts.request(match, order), prompts.form(match)
    if prompts.equal(match):
        text = "The two answers are the same text: a tie, and no judge was asked."
        share = 0.5 if form.by_logprobs else None
        verdict = Verdict("tie", EQUAL, share)
        reply = Reply(text=text, detail=Detail(given=EQUAL, verdict_reason=EQUAL))
        return Asked(request, reply, verdict)
    answers = [text for model in order for text in prompts.shown(model, match)]
    replies: list[Reply] = []
    verdict = Verdict(None, "")
    for _ in range(prompts.judge_set.attempts):
        replies += yield from uncut(request, retry_cut)
        verdict = read(replies[-1], form, answers[-1:] if form.kind == "checklist" else answers)
        if verdict.value is not None:
            break
    reply = replies[-1]
    finish = reply.detail.finish_reason
    if verdict.value is None and finish == "length":
        why = "cut at the limit of tokens before the verdict; raise --max-tokens"
        verdict = Verdict(None, f"the judge's reply was {why}")
    elif verdict.value is None and finish != "stop":
        verdict = Verdict(None, f"{verdict.reason} (the judge's reply: {finish})")
    reply.detail.verdict_reason = verdict.reason
    reply.detail.earlier_attempts = [
        {"judgment": one.text, **_stated(one.detail)} for one in replies[:-1]
    ]
    return Asked(request, reply, verdict)


def _stated(detail: Detail) -> dict[str, Any]:
    return {name: value for name, value in asdict(detail).items() if value not in (None, [], {})}


def _single(match: Match, prompts: Prompts, asked: Asked) -> dict[str, Any]:
    """Return the verdict on one answer as fields of its row.

    `score` is what FastChat's tools average, -1 what they leave out: a judgment without a verdict.
    A label is no score, nor are dimensions without a total; there it is null.
    """
    form, value = prompts.form(match), asked.verdict.value
    fields: dict[str, Any] = {
        "model": match.models[0],
        "user_prompt": asked.prompt,
        "judgment": asked.reply.text,
        "score": FAILED_SCORE if value is None else None,
        "confidence": prompts.confidence(match),
    }
    if form.kind in ("grade", "dimensions"):
        scale = form.scale
        fields["scale"] = (scale.least, scale.greatest)
    if form.kind == "label":
        fields["label"] = value
        fields["share"] = form.labels.get(str(value))
    elif form.kind == "dimensions":
        fields["scores"] = value
        if isinstance(value, dict) and form.total is not None:
            fields["score"] = value[form.total]
    elif form.kind == "checklist":
        fields |= _points(match, value)
    elif value is not None:
        fields["score"] = value
    return fields


def _points(match: Match, value: Any) -> dict[str, Any]:
    """Return the decided points, and the score: met weights over positive weights.

    A point that was not decided is left out of both; a negative weight is a fault, which costs.
    """
    listed = match.question.checklist[match.turn - 1]
    found = value or [{"met": None, "quote": ""} for _ in listed]
    points = [
        one | {"weight": point.weight, "tag": point.tag}
        for one, point in zip(found, listed, strict=True)
    ]
    decided = [point for point in points if point["met"] is not None]
    possible = sum(max(point["weight"], 0.0) for point in decided)
    met = sum(point["weight"] for point in decided if point["met"])
    score = round(min(max(met / possible, 0.0), 1.0), 6) if possible else FAILED_SCORE
    return {"points": points, "score": score, "scale": (0, 1)}


def _game(game: int, asked: Asked) -> dict[str, Any]:
    """Return one game of a pair as fields of its row; game 2 shows model_2 first."""
    value, name = asked.verdict.value, f"g{game}"
    fields: dict[str, Any] = {f"{name}_user_prompt": asked.prompt}
    fields[f"{name}_judgment"] = asked.reply.text
    side = value
    if isinstance(value, dict):
        first, second = value["A"], value["B"]
        side = "tie" if abs(first - second) <= TIE_DELTA else "A" if first > second else "B"
        fields[f"{name}_scores"] = (first, second) if game == 1 else (second, first)
    if side is None or side == "tie":
        fields[f"{name}_winner"] = side or "error"
    else:
        fields[f"{name}_winner"] = "model_1" if (side == "A") == (game == 1) else "model_2"
    if (share := asked.verdict.preference) is not None:
        fields[f"{name}_preference"] = 1 - share if game == 1 else share
    return fields


def _row(match: Match, judge: str, prompts: Prompts, asked: list[Asked], **fields: Any) -> Judgment:
    judge_set, request = prompts.judge_set, asked[0].request
    form: Form = prompts.form(match)
    system = next((one.content for one in request.messages if one.role == "system"), None)
    return Judgment(
        question_id=match.question.question_id,
        turn=match.turn,
        judge=(judge, prompts.template(match).name),
        tstamp=time.time(),
        judge_set=judge_set.name,
        judge_set_version=judge_set.version,
        criterion=match.criterion,
        sample=match.sample,
        choice=match.choice,
        system_prompt=system,
        sampling=request.sampling.stated(),
        made_from=prompts.made_from(match),
        score_method="logprobs" if form.by_logprobs else "text",
        details=[one.reply.detail for one in asked],
        **fields,
    )

"""The judging of one match as a job: ask, read the verdict, ask again if the set says so.

Two answers with the same text are a tie without a call: a judge could only prefer one by its place.
"""

import time
from collections.abc import Generator
from typing import Any, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from harness.judging.formats import STEPS
from harness.judging.forms import Form
from harness.judging.prompts import Match, Prompts
from harness.judging.verdicts import Verdict, read
from harness.running import uncut
from harness.types import EQUAL, FAILED_SCORE, Detail, Judgment, Reply, Request, met_share

TIE_DELTA = 0.1
"""Two scores in one judgment that differ by no more are a tie (FastChat `llm_judge/common.py`)."""
Asking: TypeAlias = Generator[Request, Reply, Any]


class Game(Struct):
    """One order of a match: what the judge is asked, and what it replied."""

    request: Request
    answers: list[str]
    """The judged texts, where the verdict's form may stand too."""
    replies: list[Reply] = []
    """The last one counts."""
    verdict: Verdict = Verdict(None, "")


def judge_match(match: Match, judge: str, prompts: Prompts, retry_cut: float) -> Asking:
    """Yield the requests about a match; return its row."""
    prompts = prompts.about(match)  # the answers' files may be written while the judge is asked
    form, pair = prompts.template(match).form, len(match.models) > 1
    numbers: tuple[int, ...] = (1,)
    if pair:
        numbers = prompts.judge_set.games(match.question, match.turn, match.sample)
    games = {number: _game(match, prompts, number) for number in numbers}
    # Every order once, then again what has no verdict: a run that stops early has asked both.
    for _ in range(prompts.judge_set.attempts):
        for game in games.values():
            if game.verdict.value is None:
                game.replies += yield from uncut(game.request, retry_cut)
                game.verdict = _read(game, form)
    if not pair:
        return _row(match, judge, prompts, [games[1]], **_single(match, prompts, games[1]))
    fields: dict[str, Any] = {"model_1": match.models[0], "model_2": match.models[1]}
    for number, game in games.items():
        fields |= _of_pair(number, game)
    if len(games) == 1:
        fields["shown_first"] = f"model_{numbers[0]}"
    return _row(match, judge, prompts, list(games.values()), **fields)


def _game(match: Match, prompts: Prompts, number: int) -> Game:
    order = match.models if number == 1 else match.models[::-1]
    answers = [text for model in order for text in prompts.replies(model, match)]
    game = Game(prompts.request(match, order), answers)
    if prompts.equal(match):
        text = "The two answers are the same text: a tie, and no judge was asked."
        game.replies = [Reply(text=text, detail=Detail(given=EQUAL))]
        by_logprobs = prompts.template(match).form.by_logprobs
        game.verdict = Verdict("tie", EQUAL, 0.5 if by_logprobs else None)
    return game


def _read(game: Game, form: Form) -> Verdict:
    reply = game.replies[-1]
    verdict = read(reply, form, game.answers[-1:] if form.kind == "checklist" else game.answers)
    finish = reply.detail.finish_reason
    if verdict.value is not None or finish == "stop":
        return verdict
    if finish == "length":
        why = "cut at the limit of tokens before the verdict; raise --max-tokens"
        return verdict._replace(reason=f"the judge's reply was {why}")
    return verdict._replace(reason=f"{verdict.reason} (the judge's reply: {finish})")


def _single(match: Match, prompts: Prompts, game: Game) -> dict[str, Any]:
    """Return the verdict on one answer as fields of its row.

    `score` is what FastChat's tools average, -1 what they leave out: a judgment without a verdict.
    A label is no score, nor are dimensions without a total; there it is null.
    """
    form, value = prompts.template(match).form, game.verdict.value
    fields: dict[str, Any] = {
        "model": match.models[0],
        "user_prompt": game.request.messages[-1].content,
        "judgment": game.replies[-1].text,
        "score": value,
        "confidence": prompts.confidence(match),
    }
    if form.kind in ("grade", "dimensions"):
        fields["scale"] = (form.scale.least, form.scale.greatest)
    if form.kind == "label":
        fields |= {"label": value, "share": form.labels.get(str(value)), "score": None}
    elif form.kind == "dimensions":
        total = value[form.total] if isinstance(value, dict) and form.total else None
        fields |= {"scores": value, "score": total}
    elif form.kind == "checklist":
        points = []
        for number, point in enumerate(match.question.checklist[match.turn - 1], 1):
            entry = (value or {}).get(number, {"met": None, "quote": ""})
            points.append(entry | {"weight": point.weight, "tag": point.tag})
        share = met_share(points)
        score = FAILED_SCORE if share is None else round(share, 6)
        return fields | {"points": points, "score": score, "scale": (0, 1)}
    return fields if value is not None else fields | {"score": FAILED_SCORE}


def _of_pair(number: int, game: Game) -> dict[str, Any]:
    """Return one game of a pair as fields of its row; game 2 shows model_2 first."""
    side, straight = game.verdict.value, number == 1
    fields: dict[str, Any] = {
        "user_prompt": game.request.messages[-1].content,
        "judgment": game.replies[-1].text,
    }
    if isinstance(side, dict):
        first, second = side["A"], side["B"]
        side = "tie" if abs(first - second) <= TIE_DELTA else "A" if first > second else "B"
        fields["scores"] = (first, second) if straight else (second, first)
    if side in STEPS:
        side, fields["weight"] = STEPS[side]
    if side is None or side == "tie":
        fields["winner"] = side or "error"
    else:
        fields["winner"] = "model_1" if (side == "A") == straight else "model_2"
    if (share := game.verdict.preference) is not None:
        fields["preference"] = 1 - share if straight else share
    return {f"g{number}_{name}": value for name, value in fields.items()}


def _method(form: Form) -> str:
    """Return how grades or preferences come about; only equal ones may stand in one table."""
    return "logprobs" if form.by_logprobs else "steps" if form.format == "[[A>>B]]" else "text"


def _row(match: Match, judge: str, prompts: Prompts, games: list[Game], **fields: Any) -> Judgment:
    """Return the row of a match; what a judge replied before counts as an earlier attempt."""
    judge_set, request = prompts.judge_set, games[0].request
    template = prompts.template(match)
    system = next((m.content for m in request.messages if m.role == "system"), None)
    details = []
    for game in games:
        *before, last = game.replies
        earlier = [{"judgment": reply.text, **to_builtins(reply.detail)} for reply in before]
        reason = game.verdict.reason
        details.append(replace(last.detail, verdict_reason=reason, earlier_attempts=earlier))
    return Judgment(
        question_id=match.question.question_id,
        turn=match.turn,
        judge=(judge, template.name),
        tstamp=time.time(),
        judge_set=judge_set.name,
        judge_set_version=judge_set.version,
        criterion=match.criterion,
        sample=match.sample,
        choice=match.choice,
        drawn=match.drawn,
        look=match.look,
        system_prompt=system,
        sampling=request.sampling.stated(),
        made_from=prompts.made_from(match),
        score_method=_method(template.form),
        details=details,
        **fields,
    )

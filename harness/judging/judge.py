"""The judging of one match as a job: ask, read the verdict, ask again if the set says so.

Two answers with the same text are a tie without a call: a judge could only prefer one by its place.
"""

import time
from collections.abc import Generator
from typing import Any, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from harness.judging.forms import Form
from harness.judging.prompts import Match, Prompts
from harness.judging.verdicts import Verdict, read
from harness.running import uncut
from harness.types import EQUAL, FAILED_SCORE, Detail, Judgment, Reply, Request, met_share

TIE_DELTA = 0.1
"""Two scores in one judgment that differ by no more are a tie (FastChat `llm_judge/common.py`)."""
MORE_TOKENS = 2.0
"""By what factor the limit grows when a judgment that was cut is asked for again."""

Asking: TypeAlias = Generator[Request, Reply, Any]


class Game(Struct):
    """One order of a match: what the judge is asked, and what it said."""

    request: Request
    answers: list[str]
    """The judged texts, where the verdict's form may stand too."""
    replies: list[Reply]
    verdict: Verdict

    @property
    def prompt(self) -> str:
        """The last message, which is what files keep."""
        return self.request.messages[-1].content

    @property
    def reply(self) -> Reply:
        """The reply that counts."""
        return self.replies[-1]


def judging(match: Match, judge: str, prompts: Prompts, retry_cut: float) -> Asking:
    """Yield the requests about a match; return its row."""
    numbers: tuple[int, ...] = (1,)
    if len(match.models) > 1:
        numbers = prompts.judge_set.games(match.question, match.turn, match.sample)
    games = {number: _game(match, prompts, number) for number in numbers}
    form = prompts.form(match)
    # Every order once, then again what has no verdict: a run that stops early has asked both.
    for _ in range(prompts.judge_set.attempts):
        for game in games.values():
            if game.verdict.value is None:
                game.replies += yield from uncut(game.request, retry_cut)
                game.verdict = _read(game, form)
    for game in games.values():
        _note(game)
    if len(match.models) == 1:
        fields = _single(match, prompts, games[1])
    else:
        fields = {"model_1": match.models[0], "model_2": match.models[1]}
        for number, game in games.items():
            fields |= _of_pair(number, game)
        if len(games) == 1:
            fields["shown_first"] = f"model_{numbers[0]}"
    return _row(match, judge, prompts, list(games.values()), **fields)


def _game(match: Match, prompts: Prompts, number: int) -> Game:
    order = match.models if number == 1 else match.models[::-1]
    answers = [text for model in order for text in prompts.shown(model, match)]
    game = Game(prompts.request(match, order), answers, [], Verdict(None, ""))
    if prompts.equal(match):
        text = "The two answers are the same text: a tie, and no judge was asked."
        game.replies = [Reply(text=text, detail=Detail(given=EQUAL))]
        game.verdict = Verdict("tie", EQUAL, 0.5 if prompts.form(match).by_logprobs else None)
    return game


def _read(game: Game, form: Form) -> Verdict:
    judged = game.answers[-1:] if form.kind == "checklist" else game.answers
    verdict, finish = read(game.reply, form, judged), game.reply.detail.finish_reason
    if verdict.value is None and finish == "length":
        why = "cut at the limit of tokens before the verdict; raise --max-tokens"
        return Verdict(None, f"the judge's reply was {why}")
    if verdict.value is None and finish != "stop":
        return Verdict(None, f"{verdict.reason} (the judge's reply: {finish})")
    return verdict


def _note(game: Game) -> None:
    """Put into the reply's detail how the verdict was read, and the replies before it."""
    detail = game.reply.detail
    earlier = [{"judgment": one.text, **_stated(one.detail)} for one in game.replies[:-1]]
    game.reply.detail = replace(
        detail, verdict_reason=game.verdict.reason, earlier_attempts=earlier
    )


def _stated(detail: Detail) -> dict[str, Any]:
    stated: dict[str, Any] = to_builtins(detail)
    return stated


def _single(match: Match, prompts: Prompts, game: Game) -> dict[str, Any]:
    """Return the verdict on one answer as fields of its row.

    `score` is what FastChat's tools average, -1 what they leave out: a judgment without a verdict.
    A label is no score, nor are dimensions without a total; there it is null.
    """
    form, value = prompts.form(match), game.verdict.value
    fields: dict[str, Any] = {
        "model": match.models[0],
        "user_prompt": game.prompt,
        "judgment": game.reply.text,
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
    """Return the decided points, and the share of their weight that is met as the score."""
    listed = match.question.checklist[match.turn - 1]
    found = value or [{"met": None, "quote": ""} for _ in listed]
    points = [
        one | {"weight": point.weight, "tag": point.tag}
        for one, point in zip(found, listed, strict=True)
    ]
    share = met_share(points)
    score = FAILED_SCORE if share is None else round(share, 6)
    return {"points": points, "score": score, "scale": (0, 1)}


def _of_pair(number: int, game: Game) -> dict[str, Any]:
    """Return one game of a pair as fields of its row; game 2 shows model_2 first."""
    value, name = game.verdict.value, f"g{number}"
    fields: dict[str, Any] = {f"{name}_user_prompt": game.prompt}
    fields[f"{name}_judgment"] = game.reply.text
    side = value
    if isinstance(value, dict):
        first, second = value["A"], value["B"]
        side = "tie" if abs(first - second) <= TIE_DELTA else "A" if first > second else "B"
        fields[f"{name}_scores"] = (first, second) if number == 1 else (second, first)
    if side is None or side == "tie":
        fields[f"{name}_winner"] = side or "error"
    else:
        fields[f"{name}_winner"] = "model_1" if (side == "A") == (number == 1) else "model_2"
    if (share := game.verdict.preference) is not None:
        fields[f"{name}_preference"] = 1 - share if number == 1 else share
    return fields


def _row(match: Match, judge: str, prompts: Prompts, games: list[Game], **fields: Any) -> Judgment:
    judge_set, request = prompts.judge_set, games[0].request
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
        drawn=match.drawn,
        look=match.look,
        system_prompt=system,
        sampling=request.sampling.stated(),
        made_from=prompts.made_from(match),
        score_method="logprobs" if form.by_logprobs else "text",
        details=[game.reply.detail for game in games],
        **fields,
    )

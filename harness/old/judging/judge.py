"""The judging of one match, as a job: ask, parse, ask again if the set says so.

Two answers with the same text are a tie without a call: a judge could only prefer one by its position.
"""

from harness.old.judging.asking import beginning, request_about
from harness.old.judging.made_from import made_from
from harness.old.judging.materials import Materials
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Judgment, Match, Parsed, Winner
from harness.old.records import EQUAL, Reply
from harness.old.running.jobs import Job, Steps, uncut

CUT = "the judge's reply was cut at its limit on tokens before the verdict; raise --max-tokens"


def judging(match: Match, judge: str, materials: Materials) -> Steps[Judgment]:
    """Yield the request for a match, again until there is a verdict or no attempts are left; return the judgment."""
    judge_set = materials.judge_set
    template = materials.template(match)
    form = judge_set.form(template, match.criterion)
    request = request_about(materials, match)
    answers = [text for shown in materials.shown(match) for text in shown]
    attempts: list[Reply] = []
    parsed, tried = Parsed(None, ""), 0
    if materials.equal(match):
        attempts.append(Reply("The two answers are the same text: a tie, and no judge was asked.", given=EQUAL))
        parsed = Parsed(Winner("tie", 0.5 if form.score_method == "logprobs" else None), EQUAL)

    def has_verdict(cut: Reply) -> bool:
        return read_verdict(cut, form, answers).verdict is not None

    while parsed.verdict is None and tried < judge_set.attempts:
        attempts += yield from uncut(request, materials.options.retry_cut, has_verdict)
        tried += 1
        parsed = read_verdict(attempts[-1], form, answers)
    reply = attempts[-1]
    if parsed.verdict is None and reply.finish_reason != "stop":
        why = CUT if reply.finish_reason == "length" else f"{parsed.reason} (the judge's reply: {reply.finish_reason})"
        parsed = Parsed(None, why)
    return Judgment(
        match=match,
        judge=judge,
        judge_set=judge_set.name,
        judge_set_version=judge_set.version,
        template=template.name,
        request=request,
        attempts=tuple(attempts),
        parsed=parsed,
        made_from=made_from(materials, match),
        score_method=form.score_method,
        total=form.total,
        shares=form.labels,
        dimensions=form.dimensions,
        scale=form.scale if form.kind in ("grade", "dimensions") else None,
        confidence=materials.confidence(match),
    )


def judging_job(match: Match, judge: str, materials: Materials) -> Job[Judgment]:
    """Return the job that judges a match."""
    by = f", {match.criterion}" if match.criterion else ""
    by += f", choice {match.choice}" if match.choice else ""
    sample = f", sample {match.sample}" if match.sample else ""
    models = " and ".join(match.pair)
    row = f"{judge} on {models}, question {match.question.question_id}, turn {match.turn}{by}{sample}"
    game = f", game {match.game}" if len(match.models) == 2 else ""
    return Job(
        row + game, judge, lambda: judging(match, judge, materials), row, match.sample, beginning(materials, match)
    )

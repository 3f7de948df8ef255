"""The judging of one match, as a job: ask, parse, ask again if the set says so."""

from harness.judging.materials import Materials
from harness.judging.parse import parse
from harness.records import Judgment, Match, Parsed, Reply
from harness.running.jobs import Job, Steps


def judging(match: Match, judge: str, materials: Materials) -> Steps[Judgment]:
    """Yield the request for a match, again while there is no verdict and attempts are left; return the judgment."""
    judge_set = materials.judge_set
    template = materials.template(match)
    request = materials.request(match)
    attempts: list[Reply] = []
    while True:
        reply = yield request
        attempts.append(reply)
        parsed = parse(reply.text, template.verdict, judge_set.scale)
        if parsed.verdict is not None or len(attempts) >= judge_set.attempts:
            break
    if parsed.verdict is None and reply.finish_reason != "stop":
        parsed = Parsed(None, f"{parsed.reason} (the judge's reply: {reply.finish_reason})")
    return Judgment(
        match=match,
        judge=judge,
        judge_set=judge_set.name,
        judge_set_version=judge_set.version,
        template=template.name,
        request=request,
        attempts=tuple(attempts),
        parsed=parsed,
        made_from=materials.made_from(match),
    )


def judging_job(match: Match, judge: str, materials: Materials) -> Job[Judgment]:
    """Return the job that judges a match."""
    sample = f", sample {match.sample}" if match.sample else ""
    models = " and ".join(match.pair)
    row = f"{judge} on {models}, question {match.question.question_id}, turn {match.turn}{sample}"
    game = f", game {match.game}" if len(match.models) == 2 else ""
    return Job(row + game, judge, lambda: judging(match, judge, materials), part_of=row)

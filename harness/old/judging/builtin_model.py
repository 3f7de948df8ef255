"""The built-in judges as chat models, and which verdicts they can give."""

import asyncio
import math
import time

from harness.old.chat.builtin.tokens import count_tokens
from harness.old.errors import ChatError, UsageError
from harness.old.judging import overlap
from harness.old.judging.builtin import OVERLAP, RULES
from harness.old.judging.forms import VerdictForm
from harness.old.judging.rules import preferred
from harness.old.judging.verdicts.stated import FORMATS, stated
from harness.old.records import Reply, Request, Side, TokenLogprobs, Usage


class BuiltinJudge:
    """A judge as a chat model: it reads `request.facts` and never the messages."""

    def __init__(self, name: str = OVERLAP) -> None:
        self.name = name

    async def reply(self, request: Request) -> Reply:
        """Return the judgment in the form that is wanted."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        if request.facts is None:
            raise ChatError(
                f"{self.name} judges from the facts of a request, and this one has none", kind="bad request"
            )
        text, logprobs = self._said(request)
        usage = Usage(sum(count_tokens(message.content) for message in request.messages), count_tokens(text))
        seconds = time.perf_counter() - started
        return Reply(text, finish_reason="stop", usage=usage, seconds=seconds, model=self.name, logprobs=logprobs)

    def _said(self, request: Request) -> tuple[str, tuple[TokenLogprobs, ...] | None]:
        """Return the text of the judgment and, if requested, the log-probabilities of its token."""
        facts = request.facts
        assert facts is not None
        if self.name == OVERLAP:
            return overlap.judge(facts), None
        side = preferred(self.name, facts, f"{request.content} {facts.sample}")
        text = stated(side, facts.verdict_format, scale=facts.scale, sides=facts.sides)
        # Where the form has no tie, it is the second's, as in AlpacaEval's judge of this name.
        text = text or stated("B", facts.verdict_format, scale=facts.scale, sides=facts.sides) or ""
        return text, _sure_of(side, text, facts.sides) if request.top_logprobs else None

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def _sure_of(side: Side, text: str, sides: tuple[str, str]) -> tuple[TokenLogprobs, ...]:
    """Return the token of a verdict without doubt; of a tie, both names are as likely."""
    likely = {"A": (1.0, 0.0), "B": (0.0, 1.0), "tie": (0.5, 0.5)}[side]
    top = tuple((name, math.log(share)) for name, share in zip(sides, likely, strict=True) if share)
    return (TokenLogprobs(text, dict(top)[text], top),)


def require_verdict(name: str, form: VerdictForm) -> None:
    """Raise `UsageError` unless a built-in judge can give a verdict of this form.

    Its text is written in the requested form and parsed like any judge's; kinds that it cannot do are refused.
    """
    if name in RULES and form.kind != "compare":
        raise UsageError(f"{name} only compares two answers; use --mode pairwise-baseline or pairwise-all")
    if name == OVERLAP and (form.kind in ("label", "dimensions") or form.score_method != "text"):
        what = "weigh tokens" if form.score_method != "text" else f"judge by {form.kind}"
        raise UsageError(f"{name} cannot {what}, it only grades and compares; choose a chat model as the judge")
    formats = overlap.FORMATS if name == OVERLAP else FORMATS
    if form.format not in formats:
        raise UsageError(
            f"{name} cannot give verdicts of the form {form.format}, only {', '.join(formats)}; "
            "choose a judge set with one of these, or a chat model as the judge"
        )
    least, greatest = form.scale
    if name == OVERLAP and not (math.isfinite(least) and math.isfinite(greatest) and 0 <= least < greatest):
        raise UsageError(
            f"{name} cannot grade on a scale from {least:g} to {greatest:g}; it needs 0 <= least < greatest"
        )

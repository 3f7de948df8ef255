"""The built-in judges as chat models, and which verdicts they can give."""

import asyncio
import difflib
import math
import time

from harness.chat.builtin.tokens import count_tokens
from harness.errors import ChatError, UsageError
from harness.judging.builtin import BUILTIN_JUDGES, OVERLAP, RULES, is_builtin_judge, require
from harness.judging.forms import VerdictForm
from harness.judging.overlap import judge, require_format
from harness.judging.rules import preferred
from harness.judging.verdicts.stated import FORMATS, stated
from harness.records import Reply, Request, Side, TokenLogprobs, Usage


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
        """Return the text of the judgment, and where they are asked for the log-probabilities of its token."""
        facts = request.facts
        assert facts is not None
        if self.name == OVERLAP:
            return judge(facts), None
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


def open_builtin_judge(name: str) -> BuiltinJudge:
    """Return the built-in judge of this name.

    Raises:
        UsageError: there is none; the message says which there are.
    """
    if is_builtin_judge(name):
        return BuiltinJudge(name)
    near = difflib.get_close_matches(name, BUILTIN_JUDGES, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(BUILTIN_JUDGES)}"
    raise UsageError(f"{name!r} is no built-in judge; {hint}")


def require_verdict(name: str, form: VerdictForm) -> None:
    """Raise `UsageError` unless a built-in judge can give a verdict of this form.

    What it gives is written in the form asked for and read like any judge's words; kinds that it can't do it refuses.
    """
    if name in RULES:
        if form.kind != "compare":
            raise UsageError(f"{name} only compares two answers; use --mode pairwise-baseline or pairwise-all")
        require(name, form.format, FORMATS)
        return
    if form.kind in ("label", "dimensions") or form.score_method != "text":
        what = "weigh tokens" if form.score_method != "text" else f"judge by {form.kind}"
        raise UsageError(f"{name} cannot {what}, it only grades and compares; choose a chat model as the judge")
    require_format(form.format, form.scale)

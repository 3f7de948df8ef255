"""The built-in judges, which need no model: they read a request's facts, never its messages.

builtin/overlap   counts words, numbers and checks (`overlap`): for trying the harness out
builtin/longest   prefers the answer with more characters in the judged turn
builtin/first     prefers the answer that is shown first
builtin/random    prefers either, by the hash of the request and the sample

The last three compare and do not grade: a judge should agree with people more often than they do.
"""

import math
from collections.abc import Iterable, Mapping

from harness.errors import ChatError, UsageError
from harness.judging import overlap
from harness.judging.forms import Form, Scale
from harness.models import ChatModel, Endpoint
from harness.models.builtin import Builtin
from harness.types import Facts, Reply, Request, TokenLogprobs, content_hash

OVERLAP = "builtin/overlap"
LONGEST, FIRST, RANDOM = RULES = ("builtin/longest", "builtin/first", "builtin/random")
NOTICES: Mapping[str, str] = {
    OVERLAP: overlap.NOTICE,
    LONGEST: "builtin/longest prefers the longer answer whatever it says: a baseline, not a judge.",
    FIRST: "builtin/first prefers the answer shown first: a baseline, not a judge.",
    RANDOM: "builtin/random prefers either answer at random: a baseline, not a judge.",
}


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the built-in judge of an endpoint."""
    return Builtin(endpoint.model, lambda request: _judged(endpoint.model, request))


def notices(judges: Iterable[str]) -> list[str]:
    """Return a line about the verdicts of each built-in judge among these."""
    return [NOTICES[name] for name in dict.fromkeys(judges) if name in NOTICES]


def require(name: str, form: Form) -> None:
    """Raise `UsageError` unless a built-in judge can give a verdict of this form."""
    if name in RULES and form.kind != "compare":
        advice = "use --mode pairwise-baseline or pairwise-all"
        raise UsageError(f"{name} only compares two answers; {advice}")
    able = form.stated("A") is not None if name in RULES else form.format in overlap.WORDS
    if not able or (name == OVERLAP and form.by_logprobs):
        raise UsageError(
            f"{name} cannot give verdicts of the form {form.format}; choose a chat model as the "
            "judge, or another judge set"
        )
    if name == OVERLAP and form.scale.least < 0:
        raise UsageError(f"{name} cannot grade below 0")


def _judged(name: str, request: Request) -> Reply:
    facts = request.facts
    if facts is None:
        raise ChatError(f"{name} judges from a request's facts, it has none", kind="bad request")
    if name == OVERLAP:
        return Reply(text=overlap.judge(facts))
    form = Form(
        format=facts.form,
        kind="compare",
        scale=Scale(*facts.scale),
        sides=(facts.labels[0], facts.labels[1]),
    )
    side = _preferred(name, request, facts)
    # Where the form has no tie, it is the second's, as in AlpacaEval's judge of this name.
    text = form.stated(side) or form.stated("B") or ""
    return Reply(text=text, logprobs=_sure(side, text, form) if request.top_logprobs else None)


def _preferred(name: str, request: Request, facts: Facts) -> str:
    if name == FIRST:
        return "A"
    if name == LONGEST:
        one, other = (
            len(turns[facts.turn - 1]) if len(turns) >= facts.turn else 0 for turns in facts.answers
        )
        return "tie" if one == other else "A" if one > other else "B"
    return "B" if int(content_hash(f"{request.hash} {facts.sample}"), 16) % 2 else "A"


def _sure(side: str, text: str, form: Form) -> list[TokenLogprobs]:
    """Return the token of a verdict without doubt; of a tie, both names are as likely."""
    likely = {"A": (1.0, 0.0), "B": (0.0, 1.0)}.get(side, (0.5, 0.5))
    both = zip(form.sides, likely, strict=True)
    top = [(name, math.log(share)) for name, share in both if share]
    return [TokenLogprobs(text, dict(top)[text], top)]

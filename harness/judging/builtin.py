"""The built-in judges, which need no model: they read a request's facts, never its messages.

builtin/overlap   counts words, numbers and checks (`overlap`): for trying the harness out
builtin/longest   prefers the answer with more characters in the judged turn
builtin/first     prefers the answer that is shown first
builtin/random    prefers either, by the hash of the request and the sample

The last three compare and do not grade: a judge should agree with people more often than they do.
"""

from collections.abc import Sequence

from harness.errors import ChatError, UsageError
from harness.judging import overlap
from harness.judging.formats import FORMATS
from harness.judging.forms import Form
from harness.models import ChatModel, Endpoint
from harness.models.builtin import Builtin
from harness.types import Facts, Reply, Request, content_hash

OVERLAP = "builtin/overlap"
LONGEST, FIRST, RANDOM = RULES = ("builtin/longest", "builtin/first", "builtin/random")
NOTICES = {OVERLAP: overlap.NOTICE} | {
    name: f"{name} is a baseline for judges, not a judge." for name in RULES
}


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the built-in judge of an endpoint."""
    return Builtin(endpoint.model, lambda request: _judged(endpoint.model, request))


def require(name: str, form: Form) -> None:
    """Raise `UsageError` unless a built-in judge can give a verdict of this form."""
    if name in RULES and form.kind != "compare":
        advice = "use --mode pairwise-baseline or pairwise-all"
        raise UsageError(f"{name} only compares two answers; {advice}")
    row = FORMATS.get(form.format)
    # What overlap counts may be equal, so it needs a form that can say so.
    unfit = row is None or (name == OVERLAP and row.kind == "compare" and not row.tie)
    if row is None or unfit or row.write is None or form.by_logprobs:
        raise UsageError(
            f"{name} cannot give verdicts of the form {form.format}; choose a chat model as the "
            "judge, or another judge set"
        )


def _judged(name: str, request: Request) -> Reply:
    facts = request.facts
    if facts is None:
        raise ChatError(f"{name} judges from a request's facts, it has none", kind="bad request")
    if name == OVERLAP:
        explanation, side, grades = overlap.judge(facts)
        return Reply(text=f"{explanation}\n\n{_written(facts, side, grades)}")
    side = _preferred(name, request, facts)
    least, greatest = facts.scale
    middle = (least + greatest) // 2
    scores = {"A": (greatest, least), "B": (least, greatest)}.get(side, (middle, middle))
    return Reply(text=_written(facts, side, [f"{score:g}" for score in scores]))


def _written(facts: Facts, side: str, grades: Sequence[str]) -> str:
    """Return a verdict in its form; where that has no tie, it is the second's, as in AlpacaEval."""
    better, worse = (facts.labels if side == "A" else facts.labels[::-1])[:2]
    return (FORMATS[facts.form].write or "").format(
        *grades,
        letter="C" if side == "tie" else side,
        side="A" if side == "A" else "B",
        better=better,
        worse=worse,
    )


def _preferred(name: str, request: Request, facts: Facts) -> str:
    if name == FIRST:
        return "A"
    if name == LONGEST:
        first, second = (len("".join(turns[facts.turn - 1 :][:1])) for turns in facts.answers)
        return "tie" if first == second else "A" if first > second else "B"
    return "B" if int(content_hash(f"{request.hash} {facts.sample}"), 16) % 2 else "A"

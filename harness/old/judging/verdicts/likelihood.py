r"""Verdicts from the log-probabilities of the token that gives them, instead of from the token that was drawn.

**Preference** (AlpacaEval's weighted judge). With l_m and l_M the log-probabilities of the names of the answers
shown first and second, p = e^{l_M} / (e^{l_m} + e^{l_M}) is what of 1 goes to the second (AlpacaEval writes 1 + p):

    m: 0.60, M: 0.20, "The": 0.10      p = 0.20 / 0.80 = 0.25, so the first wins

**Grade** (ColossalAI's, but normalised). With p_v the probability of the token of grade v, it is sum(v p_v) / sum(p_v):

    4: 0.60, 5: 0.30, "Score": 0.05    (4 x 0.60 + 5 x 0.30) / 0.90 = 4.33; unnormalised it would be 3.9

Tokens that differ only by white space or marks (` 4`, `Ġ4`, `▁4`, `"4`) are added up. What goes to other tokens is
reported; where more than half does, the judge was about to say something else, and there is no verdict. AlpacaEval
counts the bare names alone, and whatever little goes to them: `bare_preference`, for sets with `compatible = true`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.old.judging.verdicts.brackets import Scale
from harness.old.judgments.judgment import Parsed, Score, Winner
from harness.old.patterns import late_re
from harness.old.records import Reply, Side, TokenLogprobs

LEAST_MASS = 0.5
"""The share of probability that the verdict's own tokens must have."""
MOST_UNCLEAR = 0.05
"""The share that may go to a token which could be the beginning of a longer grade (the 1 of 10)."""

_SPACES = "\u0120\u010a\u2581"
"""How tokenizers write a space or a line break before a token."""
_CLOSING = late_re(r"(?:[\s.!*`\"')\]}。\u0120\u010a\u2581]|<\|[^|]{0,40}\|>|</?s>)*")
_REST_OF_LINE = late_re(r"(?: ?/ ?[0-9]{1,3})?[\s.!*`\"')\]}。]*(?:<\|[^|]{0,40}\|>|</s>)?")
_NONE_GIVEN = "the reply came without log-probabilities, and this verdict is not read from text"


def preference(reply: Reply, sides: tuple[str, str]) -> Parsed:
    """Return which side the token of the verdict leans to, and how far."""
    weighed = _weighed(reply, sides, " and ".join(sides))
    if isinstance(weighed, Parsed):
        return weighed
    place, mass, total, spread = weighed
    share = mass[sides[1]] / total
    side: Side = "tie" if share == 0.5 else "A" if share < 0.5 else "B"
    spelt = [token for token, _ in place.top if token not in sides and _bare(token) in sides]
    added = f"; added up with {', '.join(map(repr, spelt))}" if spelt else ""
    return Parsed(Winner(side, share), spread + added)


def bare_preference(reply: Reply, sides: tuple[str, str]) -> Parsed:
    """Return the preference as alpaca_eval counts it: by the reply's first token, in which only the bare names count.

    A name that is not among the likely tokens has no probability; if neither is, there is no verdict.
    """
    if not reply.logprobs:
        return Parsed(None, _NONE_GIVEN if reply.text.strip() else "the text is empty")
    likely = dict(reply.logprobs[0].top)
    first, second = (likely.get(side, -math.inf) for side in sides)
    if first == second == -math.inf:
        return Parsed(None, f"neither {sides[0]} nor {sides[1]} is among the likely tokens")
    share = 1.0 / (1.0 + math.exp(min(first - second, 700.0)))
    side: Side = "tie" if share == 0.5 else "A" if share < 0.5 else "B"
    mass = {name: math.exp(min(chance, 0.0)) for name, chance in zip(sides, (first, second), strict=True)}
    return Parsed(Winner(side, share), f"{_spread(mass, sum(mass.values()))} (bare tokens)")


def expected_grade(reply: Reply, scale: Scale) -> Parsed:
    """Return the expectation of the grade over the likely tokens at its place."""
    least, most = math.ceil(scale[0]), math.floor(scale[1])
    grades = [str(value) for value in range(least, most + 1)]
    weighed = _weighed(reply, grades, f"{grades[0]} to {grades[-1]}")
    if isinstance(weighed, Parsed):
        return weighed
    _, mass, total, spread = weighed
    unclear = [g for g in grades if any(o != g and o.startswith(g) and not mass[o] for o in grades) and mass[g]]
    if sum(mass[grade] for grade in unclear) > MOST_UNCLEAR * total:
        return Parsed(None, f"the token {unclear[0]} may be the beginning of a longer grade: {spread}")
    return Parsed(Score(sum(int(grade) * p for grade, p in mass.items()) / total), spread)


class _Weighed(NamedTuple):
    """The token of the verdict, the probability of each name there, their sum, and all that in words."""

    place: TokenLogprobs
    mass: Mapping[str, float]
    total: float
    spread: str


def _weighed(reply: Reply, names: Sequence[str], said: str) -> _Weighed | Parsed:
    """Return how likely each name is, or that there is no verdict; `said` are the names as an error has them."""
    place = _place(reply, names)
    if isinstance(place, str):
        return Parsed(None, place)
    mass = _mass(place, names)
    total = sum(mass.values())
    spread = _spread(mass, total)
    if total < LEAST_MASS:
        return Parsed(None, f"too little probability for {said}: {spread}")
    return _Weighed(place, mass, total, spread)


def _place(reply: Reply, names: Sequence[str]) -> TokenLogprobs | str:
    """Return the token of the verdict, which is alone in the reply, on its first line or at its end.

    Returns the reason as a text if there is none.
    """
    if reply.logprobs is None:
        return _NONE_GIVEN if reply.text.strip() else "the text is empty"
    tokens = _of_text(reply)
    if tokens is None:
        return "the tokens do not spell the reply"
    spelt = [place for place, token in enumerate(tokens) if not _CLOSING.fullmatch(token.token)]
    if not spelt:
        return "the text is empty"
    if len(spelt) == 1:
        return tokens[spelt[0]]
    text = "".join(token.token for token in tokens[spelt[0] :])
    first, last = tokens[spelt[0]], tokens[spelt[-1]]
    rest = text[len(first.token) :].split("\n", 1)[0]
    begins = _bare(first.token) in names and _REST_OF_LINE.fullmatch(rest) is not None
    joined = (
        tokens[spelt[-1] - 1].token[-1:].isalnum() and not last.token[:1].isspace() and last.token[:1] not in _SPACES
    )
    ends = _bare(last.token) in names and not joined
    if begins and ends and "\n" in text.strip() and _bare(first.token) != _bare(last.token):
        return f"the reply begins with {_bare(first.token)} and ends with {_bare(last.token)}"
    if begins or ends:
        return first if begins else last
    return f"no token of the reply is {' or '.join(names[:2])}{' …' * (len(names) > 2)} alone"


def _of_text(reply: Reply) -> tuple[TokenLogprobs, ...] | None:
    """Return the tokens of the reply's text, without those of its reasoning; None if it is not clear which they are."""
    assert reply.logprobs is not None
    joined = "".join(token.token for token in reply.logprobs)
    if reply.reasoning is None:
        return reply.logprobs
    start = joined.rfind(reply.text.strip())
    if start < 0 or not reply.text.strip():
        return None
    length = 0
    for number, token in enumerate(reply.logprobs):
        length += len(token.token)
        if length > start:
            return reply.logprobs[number:]
    return None


def _bare(token: str) -> str:
    """Return a token without the white space and the marks around it, in whichever way its tokenizer writes them."""
    return token.strip(f" \t\r\n\u00a0*.`\"'()[]{_SPACES}")


def _mass(place: TokenLogprobs, names: Sequence[str]) -> dict[str, float]:
    """Return the probability of each name at a place; 0 for one that is not among the likely tokens."""
    likely = dict(place.top) or {place.token: place.logprob}
    likely.setdefault(place.token, place.logprob)
    mass = dict.fromkeys(names, 0.0)
    for token, chance in likely.items():
        if _bare(token) in mass:
            mass[_bare(token)] += math.exp(min(chance, 0.0))
    return mass


def _spread(mass: Mapping[str, float], total: float) -> str:
    """Return where the probability goes, for the reason of a verdict."""
    parts = [f"{name}: {p:.2f}" for name, p in mass.items() if p >= 0.005]
    return ", ".join([*parts, f"other tokens: {max(0.0, 1 - total):.2f}"])

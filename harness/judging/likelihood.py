"""Verdicts weighed from the likely tokens at the verdict's place, in place of the token drawn.

A preference (AlpacaEval's weighted judge) is p_second / (p_first + p_second):

    m: 0.60, M: 0.20, other tokens: 0.20      0.20 / 0.80 = 0.25, so the first is preferred

A grade (ColossalAI's, but normalised) is the expectation Σ v·p_v / Σ p_v:

    4: 0.60, 5: 0.30, other tokens: 0.10      (4 · 0.60 + 5 · 0.30) / 0.90 = 4.33

Tokens that differ by white space or marks (` 4`, `Ġ4`, `"4`) are added up. Where the names have
less than half of the probability, the judge was about to say something else: no verdict.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.types import Reply, TokenLogprobs

LEAST_MASS = 0.5
"""The share of probability that the names must have together."""
MOST_UNCLEAR = 0.05
"""The share that may go to a token which could begin a longer grade (the 1 of 10)."""
_SPACES = "\u0120\u010a\u2581"
"""How tokenizers write a space or a line break before a token."""
_MARKS = f" \t\r\n\u00a0*.`\"'()[]。!{_SPACES}"
_CLOSING = re.compile(rf"(?:[\s.!*`\"')\]}}。{_SPACES}]|<\|[^|]{{0,40}}\|>|</?s>)*")
_REST = re.compile(rf"(?: ?/ ?\d{{1,3}})?{_CLOSING.pattern}")


class Weighed(NamedTuple):
    """The expectation, and where the probability goes; `value` None: no verdict."""

    value: float | None
    spread: str


def preference(reply: Reply, sides: tuple[str, str], compatible: bool = False) -> Weighed:
    """Return how much of 1 goes to the second side.

    `compatible`: as alpaca_eval counts, by the first token and the bare names alone, however
    little goes to them.
    """
    if compatible:
        top = dict(reply.logprobs[0].top) if reply.logprobs else {}
        mass = {side: math.exp(min(top[side], 0.0)) if side in top else 0.0 for side in sides}
        if not sum(mass.values()):
            return Weighed(None, f"neither {sides[0]} nor {sides[1]} is among the likely tokens")
    else:
        mass, why = _masses(reply, sides)
        if why:
            return Weighed(None, why)
    return Weighed(mass[sides[1]] / sum(mass.values()), _spread(mass))


def expectation(reply: Reply, least: float, greatest: float) -> Weighed:
    """Return the expectation of the grade."""
    grades = [str(n) for n in range(math.ceil(least), math.floor(greatest) + 1)]
    mass, why = _masses(reply, grades)
    if why:
        return Weighed(None, why)
    total = sum(mass.values())
    longer = {g for g in grades for o in grades if o != g and o.startswith(g) and not mass[o]}
    if sum(mass[g] for g in longer) > MOST_UNCLEAR * total:
        return Weighed(None, f"a token may begin a longer grade: {_spread(mass)}")
    return Weighed(sum(int(g) * p for g, p in mass.items()) / total, _spread(mass))


def _masses(reply: Reply, names: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the probability of each name at the verdict's place, or why there is none.

    The place is the only token of the reply, one alone on its first line, or one at its end.
    """
    mass = dict.fromkeys(names, 0.0)
    if not reply.logprobs:
        empty = "the text is empty"
        return mass, "the reply came without log-probabilities" if reply.text.strip() else empty
    tokens = [one for one in _of_text(reply) if not _CLOSING.fullmatch(one.token)]
    text = "".join(one.token for one in _of_text(reply)).strip(f" \n\t{_SPACES}")
    if not tokens:
        return mass, "the text is empty, or its tokens do not spell it"
    first, last = _bare(tokens[0].token), _bare(tokens[-1].token)
    rest = text[len(tokens[0].token.strip(f" \n\t{_SPACES}")) :].split("\n", 1)[0]
    begins = first in names and _REST.fullmatch(rest) is not None
    ends = last in names and re.search(rf"(?:\A|\W|[{_SPACES}]){last}\W*\Z", text) is not None
    if begins and ends and "\n" in text and first != last:
        return mass, f"the reply begins with {first} and ends with {last}"
    if not begins and not ends:
        return mass, f"no token of the reply is one of {', '.join(names)} alone"
    place = tokens[0 if begins else -1]
    for token, logprob in {place.token: place.logprob, **dict(place.top)}.items():
        if _bare(token) in mass:
            mass[_bare(token)] += math.exp(min(logprob, 0.0))
    little = f"too little probability for {', '.join(names)}: {_spread(mass)}"
    return mass, little if sum(mass.values()) < LEAST_MASS else ""


def _of_text(reply: Reply) -> list[TokenLogprobs]:
    """Return the tokens of the reply's text, without those of its reasoning."""
    tokens = list(reply.logprobs or ())
    if reply.detail.reasoning is None:
        return tokens
    start, length = "".join(one.token for one in tokens).rfind(reply.text.strip()), 0
    for number, one in enumerate(tokens):
        length += len(one.token)
        if 0 <= start < length:
            return tokens[number:]
    return []


def _bare(token: str) -> str:
    return token.strip(_MARKS)


def _spread(mass: Mapping[str, float]) -> str:
    parts = [f"{name}: {p:.2f}" for name, p in mass.items() if p >= 0.005]
    return ", ".join([*parts, f"other tokens: {max(0.0, 1 - sum(mass.values())):.2f}"])

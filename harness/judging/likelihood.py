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

from harness.types import Reply, TokenLogprobs

LEAST_MASS = 0.5
"""The share of probability that the names must have together."""
MOST_UNCLEAR = 0.05
"""The share that may go to a token which could begin a longer grade (the 1 of 10)."""
_SPACES = str.maketrans("\u0120\u010a\u2581", " \n ")
"""How tokenizers write white space before a token."""
_MARKS = " \t\r\n\u00a0*.`\"'()[]{}。!\u0120\u010a\u2581"
_SPECIAL = re.compile(r"<\|[^|]{0,40}\|>|</?s>")


def preference(reply: Reply, sides: tuple[str, str]) -> tuple[float | None, str]:
    """Return how much of 1 goes to the second side, if that is clear, and where it all goes."""
    mass, fault = _masses(reply, sides)
    value = None if fault else mass[sides[1]] / sum(mass.values())
    return value, fault or _spread(mass)


def expectation(reply: Reply, least: float, greatest: float) -> tuple[float | None, str]:
    """Return the expectation of the grade, if it is clear, and where the probability goes."""
    grades = [str(grade) for grade in range(math.ceil(least), math.floor(greatest) + 1)]
    mass, fault = _masses(reply, grades)
    if fault:
        return None, fault
    total = sum(mass.values())
    unclear = 0.0
    for grade in grades:
        longer = [name for name in grades if name != grade and name.startswith(grade)]
        unclear += mass[grade] if any(not mass[name] for name in longer) else 0
    if unclear > MOST_UNCLEAR * total:
        return None, f"a token may begin a longer grade: {_spread(mass)}"
    return sum(int(grade) * p for grade, p in mass.items()) / total, _spread(mass)


def _masses(reply: Reply, names: Sequence[str]) -> tuple[dict[str, float], str]:
    """Return the probability of each name at the verdict's place, or why there is none."""
    mass = dict.fromkeys(names, 0.0)
    if not reply.logprobs:
        return mass, "the reply came without log-probabilities"
    place = _place(reply.logprobs, names)
    if place is None:
        return mass, f"no token of the reply is one of {', '.join(names)} alone"
    for token, logprob in {place.token: place.logprob, **dict(place.top)}.items():
        name = token.strip(_MARKS)
        if name in mass:
            mass[name] += math.exp(min(logprob, 0.0))
    little = f"too little probability for {', '.join(names)}: {_spread(mass)}"
    return mass, little if sum(mass.values()) < LEAST_MASS else ""


def _place(logprobs: Sequence[TokenLogprobs], names: Sequence[str]) -> TokenLogprobs | None:
    """Return the token that is a name, alone on the first line or at the end; None: not one."""
    tokens = [token for token in logprobs if not _SPECIAL.fullmatch(token.token.strip())]
    words = [token for token in tokens if token.token.strip(_MARKS)]
    text = "".join(token.token for token in tokens).translate(_SPACES).strip(_MARKS)
    name = f"({'|'.join(map(re.escape, names))})"
    begins = re.match(rf"{name}(?: ?/ ?\d+)?\W*?(?:\n|\Z)", text)
    ends = re.search(rf"(?<!\w){name}\Z", text)
    if begins and ends and begins[1] != ends[1] and "\n" in text:
        return None
    if begins and begins[1] == words[0].token.strip(_MARKS):
        return words[0]
    return words[-1] if ends and ends[1] == words[-1].token.strip(_MARKS) else None


def _spread(mass: Mapping[str, float]) -> str:
    parts = [f"{name}: {p:.2f}" for name, p in mass.items() if p >= 0.005]
    return ", ".join([*parts, f"other tokens: {max(0.0, 1 - sum(mass.values())):.2f}"])

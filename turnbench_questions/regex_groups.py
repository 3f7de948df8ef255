"""What Python's regular expressions take, lazily, greedily and repeatedly; then greedily only."""

import random
import re
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    Made,
    RedrawError,
    Turn,
    aside,
    by_level,
    different,
    redraw_if,
)

QUESTION_ID = 1047
CATEGORY = "coding"
LEVEL = 3


class Level(NamedTuple):
    """What a level sets."""

    calls: int
    letters: int
    """Of each text."""
    joined: int = 0
    """How many of the calls have two patterns, one behind the other."""
    dropped: int = 0
    """How many letters the texts lose in turn 2, from the front."""


LEVELS = by_level(
    Level(4, 5),
    Level(5, 7),
    Level(6, 9),  # as it was before there were levels
    Level(7, 10, 2),
    Level(8, 11, 4, 1),
    Level(11, 14, 7, 1),
    Level(14, 17, 11, 1),
    Level(18, 20, 18, 2),
    Level(24, 24, 24, 3),
    Level(24, 32, 24, 3),
)
_PATTERNS = (
    r"(?:({a}|{a}{b})({b}{c}|{c})?)+",
    r"({a}+?)({b}*?)\1",
    r"(?:(?={a}{b}).|({c}))+?({a}+)",
    r"({a}|{b}|{a}{b})*?{c}",
    r"(?<!{a})({b}+?{a}|{b})+",
    r"(({a})|{b})+?(?(2){c}|{a})",
    r"^(.*?)({b}{a}|{a}{c})*(.+?)$",
)

_SECOND = (
    r"(?:({b}|{b}{a})({a}{c}|{c})??)+",
    r"(?:({a}+?)|({b})|({c}{a}))*",
    r"({c}|{a}{b}|{a})*?({b}+|$)",
    r"(?=(.*?)({a}|$))({b}{c}|.)+?(?!{c})",
)
"""They stand behind another, so they refer to no group by its number."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about matches and groups, then about greedy versions."""
    sets, more = LEVELS[level], aside(rng)
    a, b, c = rng.sample("kmprtx", 3)
    letters = a + a + b + b + c
    cases = []
    for source in rng.sample(_PATTERNS, 6):
        text = "".join(rng.choice(letters) for _ in range(9))
        groups(source.format(a=a, b=b, c=c), text)
        cases.append((source, text + "".join(more.choices(letters, k=sets.letters))))
    for _ in range(sets.calls - 6):
        cases.append((more.choice(_PATTERNS), "".join(more.choices(letters, k=sets.letters))))
    cases = [
        (source + (more.choice(_SECOND) if n < sets.joined else ""), text[: sets.letters])
        for n, (source, text) in enumerate(cases[: sets.calls])
    ]
    cases = [(source.format(a=a, b=b, c=c), text) for source, text in cases]
    redraw_if(len(set(cases)) < sets.calls)
    lazy = [groups(pattern, text) for pattern, text in cases]
    greedy = [
        groups(re.sub(r"([+*])\?", r"\1", pattern), text[sets.dropped :]) for pattern, text in cases
    ]
    whole = [groups(re.sub(r"([+*])\?", r"\1", pattern), text) for pattern, text in cases]
    changed = different(lazy, greedy)
    fewest, most = sets.calls // 2, sets.calls - 1
    redraw_if(not fewest <= changed <= most or sum(len(t) > 1 for t in lazy) < sets.calls * 2 // 3)
    number = NUMBERS[sets.calls]
    listing = "\n".join(f're.search(r"{pattern}", "{text}")' for pattern, text in cases)
    turn_1 = Turn(
        "Exam for our apprentices, and I want to be sure of the key: without running it, what do "
        f"these {number} calls match in Python?\n\n```python\n{listing}\n```\n\nExplain each in a "
        "sentence or two, then close with a JSON array in a code block: for each call an array of "
        "`m[0]` and all of `m.groups()`, `null` for a group that took no part.",
        result=lazy,
        work="A repeated group keeps what it took last, also from an iteration before; lazy "
        "quantifiers take as little as the rest allows; alternatives are tried from the left.",
        traps={"reads the lazy quantifiers as greedy": greedy},
        points=[
            "Says that a repeated group keeps its last iteration.",
            "Tries alternatives from the left, not the longest first.",
        ],
    )
    lost = "letter" if sets.dropped == 1 else f"{NUMBERS[sets.dropped]} letters"
    also = f", and so does `??`; each text loses its first {lost}" if sets.dropped else ""
    turn_2 = Turn(
        f"Second half: in all {number} patterns every `+?` becomes `+` and every `*?` becomes `*`; "
        f"a single `?` stays{also}. Same again, as a JSON object in a code block: `matches` as "
        f"before, and `changed`, how many of your {number} arrays are different now.",
        result={"matches": greedy, "changed": changed},
        work=f"{changed} of the {number} change.",
        traps={
            "leaves the lazy results standing": {"matches": lazy, "changed": 0},
            "leaves the texts as they were": {
                "matches": whole,
                "changed": different(lazy, whole),
            },
        },
        points=["[state] Keeps the arrays of patterns that the change doesn't touch."],
    )
    return Made((turn_1, turn_2), f"your {number} arrays", "extend")


def groups(pattern: str, text: str) -> list[str | None]:
    """Return the match and its groups."""
    match = re.search(pattern, text)
    if match is None:
        raise RedrawError
    return [match[0], *match.groups()]

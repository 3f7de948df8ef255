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
    """What a level sets.

    From the eighth level on each call's text is made of the match before it. By hand a letter that
    a call goes over is a step: 4,000 in both turns at level 8, 16,000 at level 9, 18,000 at level
    10.
    """

    calls: int
    letters: int
    """Of each text."""
    joined: int = 0
    """How many of the calls have two patterns, one behind the other."""
    dropped: int = 0
    """How many letters the texts lose in turn 2, from the front."""
    chained: bool = False
    """Whether a text is made of the match before it."""


LEVELS = by_level(
    Level(4, 5),
    Level(5, 7),
    Level(6, 9),  # as it was before there were levels
    Level(7, 10, 2),
    Level(8, 11, 4, 1),
    Level(11, 14, 7, 1),
    Level(14, 17, 11, 1),
    Level(40, 50, 40, chained=True),
    Level(160, 50, 160, chained=True),
    Level(180, 50, 180, chained=True),
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
_LONG = (
    *_PATTERNS[:-1],
    r"((?:{a}|{b}{c})*?)({b}+)(?!\2)(.)",
    r"(?:({a}{b}{a})|({c}{b}?)|({a}))+?(?=\3)",
    r"(({a}|{b})(?!\2)|{c}{a}?)+?({c}|$)",
)
"""Those of calls whose text is made of the match before it."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about matches and groups, then about greedy versions."""
    sets, more = LEVELS[level], aside(rng)
    if sets.chained:
        return _chained(rng, sets)
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
    greedy = [groups(_greedy(pattern), text[sets.dropped :]) for pattern, text in cases]
    whole = [groups(_greedy(pattern), text) for pattern, text in cases]
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


def _chained(rng: random.Random, sets: Level) -> Made:
    """Return the question about calls of which each goes on from the match before it."""
    a, b, c = rng.sample("kmprtx", 3)
    letters = a + a + b + b + c
    tails, patterns, match = list[str](), list[str](), ""
    for n in range(sets.calls):
        for _ in range(100):
            pattern = (rng.choice(_LONG) + rng.choice(_SECOND)).format(a=a, b=b, c=c)
            tail = "".join(rng.choices(letters, k=sets.letters // (2 if n else 1)))
            found = re.search(pattern, _text(match, tail, sets))
            if found and len(found[0]) >= sets.letters // 3:
                break
        else:
            raise RedrawError
        tails.append(tail)
        patterns.append(pattern)
        match = found[0]
    tails.append("".join(rng.choices(letters, k=sets.letters // 2)))
    lazy = _in_turn(patterns, tails[:-1], "", sets)
    again = [tails[-1], *tails[1:-1]]
    greedy_ones = [*map(_greedy, patterns)]
    greedy = _in_turn(greedy_ones, again, match, sets)
    anew = _in_turn(greedy_ones, tails[:-1], "", sets)
    still_lazy = _in_turn(patterns, again, match, sets)

    def as_long(arrays: list[list[str | None]]) -> int:
        """Return how many matches are as long as those of turn 1."""
        return sum(
            len(one[0] or "") == len(other[0] or "")
            for one, other in zip(arrays, lazy, strict=True)
        )

    redraw_if(different(lazy, greedy) < sets.calls * 2 // 3 or not as_long(greedy))

    def call(n: int) -> str:
        text = f'"{tails[n]}"'
        if n:
            text = f"(m[0][::-1] + {text})[:{sets.letters}]"
        return f're.search(r"{patterns[n]}", {text})'

    listing = "\n".join(f"m = {call(n)}" for n in range(sets.calls))
    turn_1 = Turn(
        "Exam for our apprentices, and I want to be sure of the key: without running it, what does "
        f"`m` hold after each of these {sets.calls} lines of Python?\n\n```python\n{listing}\n```"
        "\n\nExplain in a few sentences what decides, then close with a JSON array in a code "
        "block: for each line, in order, an array of `m[0]` and all of `m.groups()`, `null` for a "
        "group that took no part.",
        result=lazy,
        work="A repeated group keeps what it took last, also from an iteration before; lazy "
        "quantifiers take as little as the rest allows; alternatives are tried from the left. Each "
        "match, read backwards, begins the next text.",
        traps={"reads the lazy quantifiers as greedy": anew},
        points=[
            "Says that a repeated group keeps its last iteration.",
            "[state] Goes on from its own match, read backwards, in each line.",
        ],
    )
    turn_2 = Turn(
        "Second half, which goes on from where your last line has left `m`: the text of the first "
        f'call is now `(m[0][::-1] + "{tails[-1]}")[:{sets.letters}]`, those of the others are '
        f"made as before, and in all {sets.calls} patterns every `+?` becomes `+` and every "
        "`*?` becomes `*`; a single `?` stays, and so does `??`. Same again, as a JSON object "
        "in a code block: `matches` as before, and `as_long`, of how many lines `m[0]` is exactly "
        "as long as it is in your first arrays.",
        result={"matches": greedy, "as_long": as_long(greedy)},
        work=f"Of {as_long(greedy)} lines the match is as long as before.",
        traps={
            "leaves the quantifiers lazy": {
                "matches": still_lazy,
                "as_long": as_long(still_lazy),
            },
            "starts with the text of turn 1": {"matches": anew, "as_long": as_long(anew)},
        },
        points=["[state] Begins with its own last match of turn 1."],
    )
    return Made((turn_1, turn_2), "your first arrays", "extend")


def _in_turn(
    patterns: list[str], tails: list[str], match: str | None, sets: Level
) -> list[list[str | None]]:
    """Return the match and its groups of each call, of which each goes on from the one before."""
    found = list[list[str | None]]()
    for pattern, tail in zip(patterns, tails, strict=True):
        found.append(groups(pattern, _text(match or "", tail, sets)))
        match = found[-1][0]
    return found


def _text(match: str, tail: str, sets: Level) -> str:
    """Return the text of a call that goes on from a match."""
    return (match[::-1] + tail)[: sets.letters]


def _greedy(pattern: str) -> str:
    """Return a pattern whose lazy repetitions are greedy."""
    return re.sub(r"([+*])\?", r"\1", pattern)


def groups(pattern: str, text: str) -> list[str | None]:
    """Return the match and its groups."""
    match = re.search(pattern, text)
    if match is None:
        raise RedrawError
    return [match[0], *match.groups()]

"""What Python's regular expressions take, lazily, greedily and repeatedly; then greedily only."""

import random
import re

from turnbench_questions.template import Made, RedrawError, Turn, different, redraw_if

QUESTION_ID = 1047
CATEGORY = "coding"
LEVEL = 3

_PATTERNS = (
    r"(?:({a}|{a}{b})({b}{c}|{c})?)+",
    r"({a}+?)({b}*?)\1",
    r"(?:(?={a}{b}).|({c}))+?({a}+)",
    r"({a}|{b}|{a}{b})*?{c}",
    r"(?<!{a})({b}+?{a}|{b})+",
    r"(({a})|{b})+?(?(2){c}|{a})",
    r"^(.*?)({b}{a}|{a}{c})*(.+?)$",
)


def make(rng: random.Random) -> Made:
    """Return a question about matches and groups, then about greedy versions."""
    a, b, c = rng.sample("kmprtx", 3)
    cases, lazy = [], []
    for source in rng.sample(_PATTERNS, 6):
        pattern = source.format(a=a, b=b, c=c)
        text = "".join(rng.choice(a + a + b + b + c) for _ in range(9))
        cases.append((pattern, text))
        lazy.append(groups(pattern, text))
    greedy = [groups(re.sub(r"([+*])\?", r"\1", pattern), text) for pattern, text in cases]
    changed = different(lazy, greedy)
    redraw_if(not 3 <= changed <= 5 or sum(len(taken) > 1 for taken in lazy) < 4)
    listing = "\n".join(f're.search(r"{pattern}", "{text}")' for pattern, text in cases)
    turn_1 = Turn(
        "Exam for our apprentices, and I want to be sure of the key: without running it, what do "
        f"these six calls match in Python?\n\n```python\n{listing}\n```\n\nExplain each in a "
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
    turn_2 = Turn(
        "Second half: in all six patterns every `+?` becomes `+` and every `*?` becomes `*`; a "
        "single `?` stays. Same again, as a JSON object in a code block: `matches` as before, and "
        "`changed`, how many of your six arrays are different now.",
        result={"matches": greedy, "changed": changed},
        work=f"{changed} of the six change.",
        traps={"leaves the lazy results standing": {"matches": lazy, "changed": 0}},
        points=["[state] Keeps the arrays of patterns that the change doesn't touch."],
    )
    return Made((turn_1, turn_2), "your six arrays", "extend")


def groups(pattern: str, text: str) -> list[str | None]:
    """Return the match and its groups."""
    match = re.search(pattern, text)
    if match is None:
        raise RedrawError
    return [match[0], *match.groups()]

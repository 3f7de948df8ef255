"""What Python's regular expressions take, lazily, greedily and repeatedly; then greedily only."""

import random
import re

from harness.extras.questions.template import Made, Turn, redraw_if

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
    cases = []
    for source in rng.sample(_PATTERNS, 6):
        pattern = source.format(a=a, b=b, c=c)
        text = "".join(rng.choice(a + a + b + b + c) for _ in range(9))
        redraw_if(re.search(pattern, text) is None)
        cases.append((pattern, text))
    found = [groups(pattern, text) for pattern, text in cases]
    greedy = [groups(re.sub(r"([+*])\?", r"\1", pattern), text) for pattern, text in cases]
    changed = sum(one != two for one, two in zip(found, greedy, strict=True))
    redraw_if(None in greedy or not 3 <= changed <= 5 or sum(len(f or ()) > 1 for f in found) < 4)
    listing = "\n".join(f're.search(r"{pattern}", "{text}")' for pattern, text in cases)
    one = Turn(
        "Exam for our apprentices, and I want to be sure of the key: without running it, what do "
        f"these six calls match in Python?\n\n```python\n{listing}\n```\n\nExplain each in a "
        "sentence or two, then close with a JSON array in a code block: for each call an array of "
        "`m[0]` and all of `m.groups()`, `null` for a group that took no part.",
        result=found,
        work="A repeated group keeps what it took last, also from an iteration before; lazy "
        "quantifiers take as little as the rest allows; alternatives are tried from the left.",
        traps={"reads the lazy quantifiers as greedy": greedy},
        points=[
            "Says that a repeated group keeps its last iteration.",
            "Tries alternatives from the left, not the longest first.",
        ],
    )
    result = {"matches": greedy, "changed": changed}
    two = Turn(
        "Second half: in all six patterns every `+?` becomes `+` and every `*?` becomes `*`; a "
        "single `?` stays. Same again, as a JSON object in a code block: `matches` as before, and "
        "`changed`, how many of your six arrays are different now.",
        result=result,
        work=f"{changed} of the six change.",
        traps={"leaves the lazy results standing": {"matches": found, "changed": 0}},
        points=["[state] Keeps the arrays of patterns that the change doesn't touch."],
    )
    return Made((one, two), "your six arrays", "extend")


def groups(pattern: str, text: str) -> list[str | None] | None:
    """Return the match and its groups; None where nothing matches."""
    match = re.search(pattern, text)
    return None if match is None else [match[0], *match.groups()]

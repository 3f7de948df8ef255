"""Which rules are left after some examples, which cases they leave open, and what settles them."""

import itertools
import random
from typing import NamedTuple

from harness.extras.questions.template import TOWNS, Made, Turn, Value, redraw_if

_MARKS = {
    "A": "a copper button",
    "B": "a blue ribbon",
    "C": "a cork",
    "D": "a dent",
    "E": "an engraving",
}


class Rule(NamedTuple):
    """Admitted with at least so many of these marks."""

    marks: frozenset[str]
    least: int

    def admits(self, case: frozenset[str]) -> bool:
        """Return whether a lantern is admitted."""
        return len(self.marks & case) >= self.least

    @property
    def name(self) -> str:
        """The marks and the number: `ABD2`."""
        return "".join(sorted(self.marks)) + str(self.least)


RULES = [
    Rule(frozenset(marks), least)
    for size in range(1, 6)
    for marks in itertools.combinations(_MARKS, size)
    for least in range(1, size + 1)
]
_CASES = [frozenset(c) for size in range(1, 6) for c in itertools.combinations(_MARKS, size)]


def make(rng: random.Random) -> Made:
    """Return a question about the rules that examples leave."""
    true = rng.choice([rule for rule in RULES if len(rule.marks) in (3, 4) and rule.least > 1])
    shuffled = rng.sample(_CASES, len(_CASES))
    seen, fresh = shuffled[:7], shuffled[7:]
    left = consistent({case: true.admits(case) for case in seen})
    redraw_if(len(left) != 3 or len({true.admits(case) for case in seen}) < 2)
    verdict = {case: {rule.admits(case) for rule in left} for case in fresh}
    split = [case for case in fresh if len(verdict[case]) == 2]
    agreed = [case for case in fresh if len(verdict[case]) == 1]
    settling = [c for c in split if sum(rule.admits(c) for rule in left) == 1]
    redraw_if(len(split) < 3 or len(agreed) < 3 or not settling)
    example = settling[0]
    asked = [example, *[case for case in split if case != example][:2], *agreed[:3]]
    rng.shuffle(asked)
    words = ["open" if len(verdict[c]) == 2 else _word(left[0].admits(c)) for c in asked]
    names = tuple(sorted(rule.name for rule in left))
    true_words = [_word(true.admits(case)) for case in asked]
    result = (*names, *words)
    town = rng.choice(TOWNS)
    marks = ", ".join(f"{letter} = {text}" for letter, text in _MARKS.items())
    one = Turn(
        f"At the lantern feast in {town} a doorkeeper admits lanterns by a fixed rule of this "
        f"form: some of the five marks ({marks}) count, at least one of them, and a lantern is "
        "admitted if it has at least k of those that count. He tells neither which marks count nor "
        f"k. Watched so far: {_list(seen, [_word(true.admits(c)) for c in seen])}. Which rules are "
        "still possible? Write each as its letters and k, such as ABD2. And what becomes of "
        f"lanterns with {', '.join(map(_letters, asked))}: in, out, or open?",
        shape="the rules in alphabetical order; then in, out or open for each lantern",
        result=result,
        work=f"Of all {len(RULES)} rules only {', '.join(names)} agree with the seven lanterns. "
        "Where the three agree the lantern is decided, where they don't it is open.",
        traps={
            "takes one rule that fits for the only one": (true.name, *true_words),
            "decides cases that the examples leave open": (*names, *true_words),
        },
        points=[
            "Goes through all rules of the stated form, or shows why no other fits.",
            "[honesty] Calls the undecided lanterns open instead of guessing.",
        ],
    )
    after = [rule for rule in left if rule.admits(example) == true.admits(example)]
    lone = [rule for rule in left if rule.admits(example)]
    outcome = true.admits(example)
    final = [_agreed(after, case) for case in asked]
    count = sum(1 for case in split if len({rule.admits(case) for rule in after}) == 1)
    names_left = sorted(rule.name for rule in after)
    settled: tuple[Value, ...] = (*names_left, *final, count)
    two = Turn(
        f"Now {_letters(example)} comes along and is {'let in' if outcome else 'turned away'}. "
        "Which of your rules are left, and what becomes of the same six lanterns now? How many of "
        "all the lanterns that were open before (of every combination of marks with at least one, "
        "not only of my six) are decided now?",
        shape="the rules; in, out or open for each of the six; number",
        result=settled,
        work=f"{_letters(example)} is admitted by {', '.join(rule.name for rule in lone)} alone. "
        f"Open before were {len(split)} lanterns, decided now {count} of them.",
        traps={"counts one too many": (*settled[:-1], len(split) + 1)},
        points=["[state] Starts from the three rules of turn 1."],
    )
    return Made((one, two), "your rules are left", "extend")


def consistent(seen: dict[frozenset[str], bool]) -> list[Rule]:
    """Return the rules that agree with what was seen."""
    return [rule for rule in RULES if all(rule.admits(c) == yes for c, yes in seen.items())]


def _agreed(rules: list[Rule], case: frozenset[str]) -> str:
    verdicts = {rule.admits(case) for rule in rules}
    return "open" if len(verdicts) == 2 else _word(verdicts.pop())


def _word(admitted: bool) -> str:
    return "in" if admitted else "out"


def _letters(case: frozenset[str]) -> str:
    return "".join(sorted(case))


def _list(cases: list[frozenset[str]], words: list[str]) -> str:
    return ", ".join(f"{_letters(c)} {word}" for c, word in zip(cases, words, strict=True))

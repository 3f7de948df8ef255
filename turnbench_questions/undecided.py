"""Which rules are left after some examples, which cases they leave open, and what settles them."""

import itertools
import random
from typing import NamedTuple

from turnbench_questions.template import TOWNS, Made, Turn, redraw_if

QUESTION_ID = 1022
CATEGORY = "reasoning"
LEVEL = 3

_CASES = ["".join(c) for size in range(1, 6) for c in itertools.combinations("ABCDE", size)]
"""Lanterns, by the marks they have."""


class Rule(NamedTuple):
    """Admitted with at least so many of these marks."""

    marks: str
    least: int

    def admits(self, case: str) -> bool:
        """Return whether a lantern is admitted."""
        return sum(mark in self.marks for mark in case) >= self.least

    @property
    def name(self) -> str:
        """The marks and the number: `ABD2`."""
        return f"{self.marks}{self.least}"


RULES = [Rule(marks, least) for marks in _CASES for least in range(1, len(marks) + 1)]


def make(rng: random.Random) -> Made:
    """Return a question about the rules that examples leave."""
    true = rng.choice([rule for rule in RULES if len(rule.marks) in (3, 4) and rule.least > 1])
    shuffled = rng.sample(_CASES, len(_CASES))
    seen, fresh = shuffled[:7], shuffled[7:]
    possible = [rule for rule in RULES if verdicts([rule], seen) == verdicts([true], seen)]
    redraw_if(len(possible) != 3 or len(set(verdicts([true], seen))) < 2)
    split = [case for case in fresh if verdict(possible, case) == "open"]
    agreed = [case for case in fresh if case not in split]
    settling = [c for c in split if sum(rule.admits(c) for rule in possible) == 1]
    redraw_if(len(split) < 3 or len(agreed) < 3 or not settling)
    example = settling[0]
    lanterns = [example, *[case for case in split if case != example][:2], *agreed[:3]]
    rng.shuffle(lanterns)
    names = sorted(rule.name for rule in possible)
    true_words = verdicts([true], lanterns)
    town = rng.choice(TOWNS)
    watched = ", ".join(f"{case} {verdict([true], case)}" for case in seen)
    turn_1 = Turn(
        f"At the lantern feast in {town} a doorkeeper admits lanterns by a fixed rule of this "
        "form: some of the five marks (A = a copper button, B = a blue ribbon, C = a cork, D = a "
        "dent, E = an engraving) count, at least one of them, and a lantern is admitted if it has "
        "at least k of those that count. He tells neither which marks count nor k. Watched so far: "
        f"{watched}. Which rules are still possible? Write each as its letters and k, such as "
        f"ABD2. And what becomes of lanterns with {', '.join(lanterns)}: in, out, or open?",
        shape="the rules in alphabetical order; then in, out or open for each lantern",
        result=(*names, *verdicts(possible, lanterns)),
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
    after = [rule for rule in possible if rule.admits(example) == true.admits(example)]
    lone = ", ".join(rule.name for rule in possible if rule.admits(example))
    count = sum(verdict(after, case) != "open" for case in split)
    settled = (*sorted(rule.name for rule in after), *verdicts(after, lanterns))
    turn_2 = Turn(
        f"Now {example} comes along and is {'let in' if true.admits(example) else 'turned away'}. "
        "Which of your rules are left, and what becomes of the same six lanterns now? How many of "
        "all the lanterns that were open before (of every combination of marks with at least one, "
        "not only of my six) are decided now?",
        shape="the rules; in, out or open for each of the six; number",
        result=(*settled, count),
        work=f"{example} is admitted by {lone} alone. Open before were {len(split)} lanterns, "
        f"decided now {count} of them.",
        traps={"counts one too many": (*settled, len(split) + 1)},
        points=["[state] Starts from the three rules of turn 1."],
    )
    return Made((turn_1, turn_2), "your rules are left", "extend")


def verdict(rules: list[Rule], case: str) -> str:
    """Return what becomes of a lantern; open where the rules differ."""
    admitted = {rule.admits(case) for rule in rules}
    return "open" if len(admitted) == 2 else "in" if True in admitted else "out"


def verdicts(rules: list[Rule], cases: list[str]) -> list[str]:
    """Return what becomes of some lanterns."""
    return [verdict(rules, case) for case in cases]

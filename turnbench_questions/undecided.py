"""Which rules are left after some examples, which cases they leave open, and what settles them."""

import functools
import itertools
import random
from collections import Counter
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    TOWNS,
    Made,
    Turn,
    aside,
    by_level,
    redraw_if,
)

QUESTION_ID = 1022
CATEGORY = "reasoning"
LEVEL = 8


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: to hold a lantern against a rule about 6,000 times at level 8, 20,000
    times at 9 and 40,000 times at 10, for the rules that are left alone.
    """

    marks: int
    seen: int
    """How many lanterns have been watched."""
    possible: tuple[int, int]
    """Between what the number of rules is that are left after them."""
    asked: int
    """About how many lanterns the question is."""
    shut: bool = False
    """Whether one mark may shut a lantern out whatever else it has."""
    comes: int = 1
    """How many lanterns come along in turn 2."""
    mistaken: bool = False
    """Whether turn 2 takes an example back."""
    counted: bool = False
    """Whether the rules that are left are too many to be named, and are counted."""


LEVELS = by_level(
    Level(4, 5, (2, 2), 4),
    Level(4, 5, (3, 3), 5),
    Level(5, 7, (3, 3), 6),  # as it was before there were levels
    Level(5, 6, (4, 5), 6, mistaken=True),
    Level(5, 8, (4, 6), 7, shut=True),
    Level(6, 8, (7, 10), 9, shut=True, comes=2, mistaken=True),
    Level(7, 9, (8, 12), 10, shut=True, comes=2, mistaken=True),
    Level(8, 6, (140, 280), 18, shut=True, comes=2, mistaken=True, counted=True),
    Level(8, 5, (450, 700), 22, shut=True, comes=2, mistaken=True, counted=True),
    Level(8, 4, (600, 1_000), 24, shut=True, comes=2, mistaken=True, counted=True),
)
_MARKS = {
    "A": "a copper button",
    "B": "a blue ribbon",
    "C": "a cork",
    "D": "a dent",
    "E": "an engraving",
    "F": "a feather",
    "G": "a gilt edge",
    "H": "a hinge",
}


class Rule(NamedTuple):
    """Admitted with at least so many of these marks, and without the one that shuts out."""

    marks: str
    least: int
    shut: str = ""

    def admits(self, case: str) -> bool:
        """Return whether a lantern is admitted."""
        if self.shut and self.shut in case:
            return False
        return sum(mark in self.marks for mark in case) >= self.least

    @property
    def name(self) -> str:
        """The marks, the number and the mark that shuts out: `ABD2` or `ABD2 not C`."""
        return f"{self.marks}{self.least}" + (f" not {self.shut}" if self.shut else "")


@functools.cache
def cases_of(marks: int) -> list[str]:
    """Return all lanterns, by the marks they have."""
    letters = "ABCDEFGH"[:marks]
    return ["".join(c) for n in range(1, marks + 1) for c in itertools.combinations(letters, n)]


@functools.cache
def rules_of(marks: int, shut: bool) -> list[Rule]:
    """Return all rules of the form."""
    plain = [Rule(m, least) for m in cases_of(marks) for least in range(1, len(m) + 1)]
    if not shut:
        return plain
    letters = "ABCDEFGH"[:marks]
    return plain + [
        rule._replace(shut=mark) for rule in plain for mark in letters if mark not in rule.marks
    ]


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the rules that examples leave."""
    sets = LEVELS[level]
    more = aside(rng)
    rules, cases = rules_of(sets.marks, sets.shut), cases_of(sets.marks)
    some = (2, 3) if sets.marks == 4 else (3, 4)
    true = rng.choice([rule for rule in rules if len(rule.marks) in some and rule.least > 1])
    shuffled = rng.sample(cases, len(cases))
    seen, fresh = shuffled[: sets.seen], shuffled[sets.seen :]
    possible = fitting(rules, true, seen)
    redraw_if(not sets.possible[0] <= len(possible) <= sets.possible[1])
    redraw_if(len(set(verdicts([true], seen))) < 2)
    if sets.counted:
        return _counted(rng, more, sets, true, seen, fresh, possible)
    split = [case for case in fresh if verdict(possible, case) == "open"]
    agreed = [case for case in fresh if case not in split]
    settling = [c for c in split if sum(rule.admits(c) for rule in possible) == 1]
    many = max(3, sets.asked // 2)
    few = sets.asked - many
    redraw_if(len(split) < max(many, 2 + sets.comes) or len(agreed) < max(few, 2) or not settling)
    example = settling[0]
    if sets.possible[0] > 3:
        example = more.choice(split)
    lanterns = [example, *[c for c in split if c != example][: many - 1], *agreed[:few]]
    rng.shuffle(lanterns)
    names = sorted(rule.name for rule in possible)
    true_words = verdicts([true], lanterns)
    town = rng.choice(TOWNS)
    watched = ", ".join(f"{case} {verdict([true], case)}" for case in seen)
    marks = ", ".join(f"{letter} = {_MARKS[letter]}" for letter in "ABCDEFGH"[: sets.marks])
    form, without, example_name = "", "neither which marks count nor k", "ABD2"
    if sets.shut:
        form = (
            "; it may also be that one mark, of those that don't count, shuts a lantern out "
            "whatever else it has"
        )
        without = "neither which marks count nor k nor whether a mark shuts out, and which"
        example_name = "ABD2, or ABD2 not C where C shuts out"
    number = NUMBERS[len(possible)]
    turn_1 = Turn(
        f"At the lantern feast in {town} a doorkeeper admits lanterns by a fixed rule of this "
        f"form: some of the {NUMBERS[sets.marks]} marks ({marks}) count, at least one of them, and "
        f"a lantern is admitted if it has at least k of those that count{form}. He tells "
        f"{without}. Watched so far: {watched}. Which rules are still possible? Write each as its "
        f"letters and k, such as {example_name}. And what becomes of lanterns with "
        f"{', '.join(lanterns)}: in, out, or open?",
        shape="the rules in alphabetical order; then in, out or open for each lantern",
        result=(*names, *verdicts(possible, lanterns)),
        work=f"Of all {len(rules)} rules only {', '.join(names)} agree with the "
        f"{NUMBERS[sets.seen]} lanterns. Where the {number} agree the lantern is decided, where "
        "they don't it is open.",
        traps={
            "takes one rule that fits for the only one": (true.name, *true_words),
            "decides cases that the examples leave open": (*names, *true_words),
        },
        points=[
            "Goes through all rules of the stated form, or shows why no other fits.",
            "[honesty] Calls the undecided lanterns open instead of guessing.",
        ],
    )
    come = [example, *more.sample([c for c in split if c != example], sets.comes - 1)]
    taken_back = more.choice(seen) if sets.mistaken else ""
    known = [*(case for case in seen if case != taken_back), *come]
    after = fitting(rules, true, known)
    redraw_if(
        sets.mistaken and (len(after) > max(16, sets.possible[1]) or set(after) <= set(possible))
    )
    redraw_if(not sets.mistaken and len(after) == len(possible))
    lone = ", ".join(rule.name for rule in possible if rule.admits(example))
    count = sum(verdict(after, case) != "open" for case in split)
    settled = (*sorted(rule.name for rule in after), *verdicts(after, lanterns))
    events = " and ".join(
        f"{case} comes along and is {'let in' if true.admits(case) else 'turned away'}"
        for case in come
    )
    back = ""
    which = "Which of your rules are left"
    if taken_back:
        back = (
            f" And what I told you of {taken_back} was of another door: take it back, and of your "
            "answer whatever rested on it."
        )
        which = "Which rules are possible"
        within = [rule for rule in possible if all(rule.admits(c) == true.admits(c) for c in come)]
        kept = (*sorted(rule.name for rule in within), *verdicts(within, lanterns))
    turn_2 = Turn(
        f"Now {events}.{back} {which} now, and what becomes of the same {NUMBERS[sets.asked]} "
        "lanterns? How many of all the lanterns that were open before (of every combination of "
        f"marks with at least one, not only of my {NUMBERS[sets.asked]}) are decided now?"
        if level != 3
        else f"Now {events}. Which of your rules are left, and what becomes of the same six "
        "lanterns now? How many of all the lanterns that were open before (of every combination "
        "of marks with at least one, not only of my six) are decided now?",
        shape=f"the rules; in, out or open for each of the {NUMBERS[sets.asked]}; number",
        result=(*settled, count),
        work=f"{example} is admitted by {lone} alone. Open before were {len(split)} lanterns, "
        f"decided now {count} of them.",
        traps={"counts one too many": (*settled, len(split) + 1)},
        points=[f"[state] Starts from the {number} rules of turn 1."],
    )
    if taken_back:
        turn_2.traps["keeps the example that was taken back"] = (
            *kept,
            sum(verdict(within, case) != "open" for case in split),
        )
        turn_2.points = ["[state] Lets rules come back that only that example had ruled out."]
        turn_2.work = (
            f"Possible are now {', '.join(sorted(rule.name for rule in after))}. Open before were "
            f"{len(split)} lanterns, decided now {count} of them."
        )
    points_back = "your answer whatever rested on it" if taken_back else "your rules are left"
    return Made((turn_1, turn_2), points_back, "extend")


def _counted(
    rng: random.Random,
    more: random.Random,
    sets: Level,
    true: Rule,
    seen: list[str],
    fresh: list[str],
    possible: list[Rule],
) -> Made:
    """Return a question in which the rules that examples leave are counted, not named."""
    rules, cases = rules_of(sets.marks, sets.shut), cases_of(sets.marks)
    split = [case for case in fresh if verdict(possible, case) == "open"]
    redraw_if(len(split) < sets.asked + sets.comes)
    lanterns, come = split[: sets.asked], more.sample(split[sets.asked :], sets.comes)
    taken_back = more.choice(seen)
    kept = [case for case in seen if case != taken_back]
    after = fitting(rules, true, [*kept, *come])
    redraw_if(not sets.possible[0] // 2 <= len(after) <= sets.possible[1] * 2)
    redraw_if(set(after) <= set(possible))
    still = fitting(possible, true, come)
    plain, plain_now = ([r for r in some if not r.shut] for some in (possible, after))
    redraw_if(min(len(plain), len(plain_now)) < 10)
    redraw_if(len(plain) == len(possible) or len(plain_now) == len(after))
    decided = sum(verdict(after, case) != "open" for case in split)
    result = tally(possible, lanterns)
    result_now = (*tally(after, lanterns), len(split), decided)
    asked = sets.asked
    watched = ", ".join(f"{case} {verdict([true], case)}" for case in seen)
    marks = ", ".join(f"{letter} = {_MARKS[letter]}" for letter in "ABCDEFGH"[: sets.marks])
    turn_1 = Turn(
        f"At the lantern feast in {rng.choice(TOWNS)} a doorkeeper admits lanterns by a fixed rule "
        f"of this form: some of the {NUMBERS[sets.marks]} marks ({marks}) count, at least one of "
        "them, and a lantern is admitted if it has at least k of those that count (k is at least 1 "
        "and at most the number of those that count); it may also be that one mark, of those that "
        "don't count, shuts a lantern out whatever else it has. Two rules are different if other "
        "marks count, or k is another, or one has a mark that shuts out and the other hasn't or "
        f"has another. Watched so far: {watched}. How many different rules are still possible? And "
        f"by how many of these rules is a lantern let in that has {'; '.join(lanterns)}? (One "
        f"number for each of the {NUMBERS[asked]}, each letter a mark that it has.)",
        shape=f"how many rules are possible; then the {NUMBERS[asked]} numbers, in that order",
        result=result,
        work=_by_marks(rules, possible),
        traps={"forgets that a mark may shut out": tally(plain, lanterns)},
        points=[
            "Counts in an order that leaves no rule out and counts none twice.",
            "[honesty] Does not take the number of a few rules found for that of all.",
        ],
    )
    events = " and ".join(
        f"{case} comes along and is {'let in' if true.admits(case) else 'turned away'}"
        for case in come
    )
    turn_2 = Turn(
        f"Now {events}. And what I told you of {taken_back} was of another door: take it back, and "
        "of your answer whatever rested on it. How many rules are possible now, and by how many of "
        f"them is each of the same {NUMBERS[asked]} lanterns let in? Call a lantern open if some "
        "of the possible rules let it in and others don't: of all lanterns with at least one mark, "
        "how many were open when you answered first, and how many of these are open no longer?",
        shape=f"how many rules; the {NUMBERS[asked]} numbers; how many lanterns were open; how "
        "many of them are no longer",
        result=result_now,
        work=f"{_by_marks(rules, after)} Open before were {len(split)} of the {len(cases)} "
        f"lanterns, decided now {decided} of them.",
        traps={
            "keeps the example that was taken back": (
                *tally(still, lanterns),
                len(split),
                sum(verdict(still, case) != "open" for case in split),
            ),
            "forgets that a mark may shut out": (
                *tally(plain_now, lanterns),
                len(split),
                decided,
            ),
        },
        points=["[state] Lets rules come back that only that example had ruled out."],
    )
    return Made((turn_1, turn_2), "your answer whatever rested on it", "extend")


def tally(rules: list[Rule], cases: list[str]) -> tuple[int, ...]:
    """Return how many rules there are, and how many of them admit each lantern."""
    return len(rules), *(sum(rule.admits(case) for rule in rules) for case in cases)


def _by_marks(rules: list[Rule], left: list[Rule]) -> str:
    """Return how many rules are left, by how many marks count and how many are needed."""
    found = Counter((len(rule.marks), rule.least) for rule in left)
    parts = [f"{least} of {marks}: {many}" for (marks, least), many in sorted(found.items())]
    without = sum(not rule.shut for rule in left)
    return (
        f"Of all {len(rules)} rules {len(left)} agree with what was seen, {without} of them "
        f"without a mark that shuts out; by k and how many marks count: {'; '.join(parts)}."
    )


def fitting(rules: list[Rule], true: Rule, seen: list[str]) -> list[Rule]:
    """Return the rules that agree with the true one on all lanterns seen."""
    found = rules
    for case in seen:
        admitted = true.admits(case)
        found = [rule for rule in found if rule.admits(case) == admitted]
    return found


def verdict(rules: list[Rule], case: str) -> str:
    """Return what becomes of a lantern; open where the rules differ."""
    admitted = rules[0].admits(case)
    if any(rule.admits(case) != admitted for rule in rules):
        return "open"
    return "in" if admitted else "out"


def verdicts(rules: list[Rule], cases: list[str]) -> list[str]:
    """Return what becomes of some lanterns."""
    return [verdict(rules, case) for case in cases]

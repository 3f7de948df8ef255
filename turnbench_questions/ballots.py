"""One election counted in several ways; then some voters stay at home."""

import itertools
import random
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    Made,
    Result,
    Turn,
    Value,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1075
CATEGORY = "humanities"
LEVEL = 7


class Level(NamedTuple):
    """What a level sets.

    By hand the duels of both turns are one step for each pair of candidates and line of the table:
    4,000 steps at level 8, 15,000 at level 9, 30,000 at level 10.
    """

    candidates: int
    groups: int
    rules: int = 4
    """How many ways of counting there are."""
    figures: bool = False
    """Whether the orders of going out, the points and the duels won are asked for too."""
    mended: int = 0
    """How many lines of the table turn 2 mends."""


LEVELS = by_level(
    Level(3, 4, 3),
    Level(4, 5, 4),
    Level(4, 6, 4),  # as it was before there were levels
    Level(5, 7, 4),
    Level(5, 8, 5),
    Level(7, 12, 7),
    Level(7, 14, 7, figures=True, mended=1),
    Level(12, 32, 9, figures=True, mended=6),
    Level(16, 64, 9, figures=True, mended=10),
    Level(18, 100, 9, figures=True, mended=16),
)
_LETTERS = "abcdefghi"
Ballots = list[tuple[int, tuple[str, ...]]]
_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
)


def make(rng: random.Random, level: int) -> Made:
    """Return a question about winners by some rules, then about staying at home."""
    sets = LEVELS[level]
    more = aside(rng)
    chosen = rng.sample(PEOPLE, 4)
    chosen += [name for name in more.sample(PEOPLE, len(PEOPLE)) if name not in chosen]
    names = sorted(chosen[: sets.candidates])
    if sets.candidates == 4:
        orders = rng.sample(list(itertools.permutations(names)), sets.groups)
    else:
        orders = [tuple(rng.sample(names, len(names))) for _ in range(sets.groups)]
    redraw_if(len(set(orders)) < len(orders))
    ballots = [(rng.randint(5, 24), order) for order in orders]
    result = _winners(ballots, sets.rules)
    redraw_if(len(set(result)) < 3 - (level == 1))
    table = "\n".join(f"{n} voters: {' > '.join(order)}" for n, order in ballots)
    cast = ballots
    ballots, mended = _mended(more, ballots, sets.mended)
    before = _winners(ballots, sets.rules)
    # The first group that does better if some of its voters stay at home, and how few are enough.
    group, fewest = next(
        (
            (group, fewest)
            for group, (size, order) in enumerate(ballots)
            for fewest in range(1, size)
            if order.index(_eliminated(_without(ballots, group, fewest))[-1])
            < order.index(before[1])
        ),
        (0, 1),
    )
    redraw_if(fewest == 1)
    rest = _without(ballots, group, fewest)
    after = _winners(rest, sets.rules)
    last = len(names) - 1
    rules = [
        "by first places",
        "by elimination: whoever has the fewest first places among those left goes out, again and "
        "again",
        f"by points, {last} for a first place down to 0 for a{'n' * (last in (7, 10, 17))} "
        f"{_ORDINALS[last]}",
        "in duels, if somebody beats each of the others",
        "by last places: whoever has the most last places among those left goes out, again and "
        "again, until one is left",
        "by duels won, one point for each duel won and half a point for one that is tied",
        "by a run-off, in a duel, of the two who have the most points by (c)",
        "by the mildest defeat: whoever lost the worst of their lost duels by the smallest "
        "difference in votes, which is 0 for somebody who lost none",
        "by going down: first places are counted, and while nobody is named by more than half of "
        "all voters the next places are added, the second, the third and so on; as soon as "
        "somebody is, whoever is then named by the most wins",
    ][: sets.rules]
    ways = ", ".join(f"({letter}) {rule}" for letter, rule in zip(_LETTERS, rules, strict=False))
    nobody = " Write “nobody” for (d) if no one does." if sets.rules > 3 else ""
    tie = (
        "At a tie the one who comes first in the alphabet stays in or wins."
        if sets.rules <= 4
        else "At a tie the one who comes first in the alphabet stays in or wins, but a tied duel "
        "beats nobody in (d)."
    )
    count = NUMBERS[sets.rules]
    traps: dict[str, Result] = {
        "holds one run-off of the two best in (b)": (result[0], _runoff(cast), *result[2:]),
        "takes the plurality winner in (b)": (result[0], result[0], *result[2:]),
    }
    if sets.rules == 3:
        traps["errs in the points"] = (*result[:2], min(n for n in names if n != result[2]))
    else:
        wrong = result[1] if result[3] == "nobody" else "nobody"
        traps["errs in a duel"] = (*result[:3], wrong, *result[4:])
    shape, figures, counts = f"the {count} winners", "", tuple[Value, ...]()
    if sets.figures:
        figures = (
            " And in which order do they go out by (b), and in which by (e), the winner last, how "
            "many points does each have by (c), and how many duels does each win (ties not "
            "counted)?"
        )
        shape += (
            "; the order by (b); the order by (e); the points in alphabetical order of the names; "
            "the duels won in the same order"
        )
        counts = _figures(cast)
        traps = {why: (*wrong, *counts) for why, wrong in traps.items() if isinstance(wrong, tuple)}
    turn_1 = Turn(
        f"A reading society in {rng.choice(TOWNS)} elects its chair, and every member has ranked "
        f"all {NUMBERS[len(names)]} candidates:\n\n{table}\n\nWho wins {ways}?{nobody} {tie}"
        f"{figures}",
        shape=shape,
        result=(*result, *counts),
        work=f"First places {_tally(cast, names)}; eliminated in turn "
        f"{', '.join(_eliminated(cast)[:-1])}; points {_points(cast, names)}.",
        traps=traps,
        points=["Shows who is eliminated in which round."],
    )
    order = ballots[group][1]
    also = [n for n in range(sets.rules) if n not in (0, 3)]
    won = listed([f"({_LETTERS[n]})" for n in also])
    shape = "; ".join(
        ["voter or secretary", "how many", *(f"winner of ({_LETTERS[n]})" for n in also)]
    )
    figures, counts = "", ()
    if sets.figures:
        figures = (
            " And in which order would they then have gone out by (b) and by (e), the winner last, "
            "and how many points and how many duels won would each have had?"
        )
        shape += "; the order by (b); the order by (e); the points; the duels won"
        counts = _figures(rest)
    turn_2 = Turn(
        f"{mended}One of the {ballots[group][0]} who voted {' > '.join(order)} claims afterwards: "
        "“By elimination, your (b), it would have been better for us if some of us had stayed at "
        "home.” The secretary says that a vote can never hurt those who cast it. Who is right "
        "here, the voter or the secretary? If the voter: how many of this group at least would "
        f"have had to stay at home, and who would then have won {won}?{figures}",
        shape=shape,
        result=("voter", fewest, *(after[n] for n in also), *counts),
        work=f"With {fewest} of them at home the order of elimination becomes "
        f"{', '.join(_eliminated(rest))} (the last one wins), and the group prefers {after[1]} to "
        f"{before[1]}.",
        traps={
            "trusts the sensible-sounding rule": (
                "secretary",
                0,
                *(before[n] for n in also),
                *counts,
            ),
        },
        points=[
            "[honesty] Contradicts the secretary although the claim sounds sensible.",
            "Shows that fewer absentees wouldn't do.",
        ],
    )
    if sets.mended:
        as_cast = (*(_winners(_without(cast, group, fewest), sets.rules)[n] for n in also),)
        turn_2.traps["leaves the table as it was"] = (
            "voter",
            fewest,
            *as_cast,
            *_figures(_without(cast, group, fewest)),
        )
    return Made((turn_1, turn_2), "your (b)", "challenge")


def _mended(rng: random.Random, ballots: Ballots, many: int) -> tuple[Ballots, str]:
    """Return ballots with some lines mended, and the words that say so."""
    mended, said = list(ballots), []
    for at in sorted(rng.sample(range(len(ballots)), many)):
        size, order = mended[at]
        up, down = sorted(rng.sample(range(len(order)), 2))
        swapped = [*order]
        swapped[up], swapped[down] = order[down], order[up]
        mended[at] = (size + rng.choice([-3, -2, 2, 3]), tuple(swapped))
        said.append(
            f"line {at + 1} stands for {mended[at][0]} voters, not {size}, and on it {order[up]} "
            f"and {order[down]} change places"
        )
    if not said:
        return ballots, ""
    return mended, (
        f"The table I gave you had slips: {'; '.join(said)}. What follows is about the table thus "
        "mended. "
    )


def _figures(ballots: Ballots) -> tuple[Value, ...]:
    """Return both orders of going out, the points and the duels won."""
    names = sorted(ballots[0][1])
    duels = [sum(_beats(ballots, one, x) for x in names if x != one) for one in names]
    return (
        *_eliminated(ballots),
        *_eliminated_by_last_places(ballots),
        *_points(ballots, names).values(),
        *duels,
    )


def _winners(ballots: Ballots, rules: int) -> tuple[str, ...]:
    """Return the winners by as many of the rules."""
    names = sorted(ballots[0][1])
    firsts, points = _tally(ballots, names), _points(ballots, names)
    duels = [name for name in names if all(_beats(ballots, name, x) for x in names if x != name)]
    found = [
        max(firsts, key=firsts.__getitem__),
        _eliminated(ballots)[-1],
        max(points, key=points.__getitem__),
        *(duels or ["nobody"]),
    ]
    if rules > 4:
        won = {
            name: sum(
                _beats(ballots, name, x) + (not _beats(ballots, x, name))
                for x in names
                if x != name
            )
            for name in names
        }
        one, other = sorted(sorted(names, key=lambda name: (-points[name], name))[:2])
        found += [
            _eliminated_by_last_places(ballots)[-1],
            max(won, key=won.__getitem__),
            other if _beats(ballots, other, one) else one,
            _mildest_defeat(ballots, names),
            _going_down(ballots, names),
        ]
    return tuple(found[:rules])


def _beats(ballots: Ballots, one: str, other: str) -> bool:
    """Return whether somebody is before the other on more ballots."""
    counts = _tally(ballots, [one, other])
    return counts[one] > counts[other]


def _eliminated_by_last_places(ballots: Ballots) -> list[str]:
    """Return who goes out when whoever has the most last places does, the winner last."""
    left, out = sorted(ballots[0][1]), list[str]()
    while left:
        last = dict.fromkeys(left, 0)
        for n, order in ballots:
            last[next(name for name in reversed(order) if name in left)] += n
        out.append(max(reversed(left), key=last.__getitem__))
        left.remove(out[-1])
    return out


def _mildest_defeat(ballots: Ballots, names: list[str]) -> str:
    """Return who lost the worst of their lost duels by the fewest votes."""
    worst = dict.fromkeys(names, 0)
    for one, other in itertools.permutations(names, 2):
        counts = _tally(ballots, [one, other])
        worst[one] = max(worst[one], counts[other] - counts[one])
    return min(names, key=worst.__getitem__)


def _going_down(ballots: Ballots, names: list[str]) -> str:
    """Return who is named most as soon as somebody is named by more than half."""
    named = dict.fromkeys(names, 0)
    voters = sum(n for n, _ in ballots)
    for place in range(len(names)):
        for n, order in ballots:
            named[order[place]] += n
        if max(named.values()) * 2 > voters:
            break
    return max(names, key=named.__getitem__)


def _without(ballots: Ballots, group: int, fewer: int) -> Ballots:
    return [(n - fewer * (i == group), order) for i, (n, order) in enumerate(ballots)]


def _tally(ballots: Ballots, candidates: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(candidates, 0)
    for n, order in ballots:
        counts[next(name for name in order if name in candidates)] += n
    return counts


def _points(ballots: Ballots, names: list[str]) -> dict[str, int]:
    return {
        name: sum(n * (len(names) - 1 - order.index(name)) for n, order in ballots)
        for name in names
    }


def _eliminated(ballots: Ballots) -> list[str]:
    """Return the names in the order of elimination, the winner last."""
    candidates, out = sorted(ballots[0][1]), list[str]()
    counts = dict.fromkeys(candidates, 0)
    tops = list[str]()
    for n, order in ballots:
        counts[order[0]] += n
        tops.append(order[0])
    while True:
        out.append(min(reversed(candidates), key=counts.__getitem__))
        candidates.remove(out[-1])
        if not candidates:
            return out
        for at, (n, order) in enumerate(ballots):
            if tops[at] == out[-1]:
                tops[at] = next(name for name in order if name in candidates)
                counts[tops[at]] += n


def _duel(ballots: Ballots, one: str, other: str) -> str:
    """Return who is before the other on more ballots; at a tie the second."""
    counts = _tally(ballots, [one, other])
    return one if counts[one] > counts[other] else other


def _runoff(ballots: Ballots) -> str:
    counts = _tally(ballots, sorted(ballots[0][1]))
    return _duel(ballots, *sorted(counts, key=counts.__getitem__)[-2:])

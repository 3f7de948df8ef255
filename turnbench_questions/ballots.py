"""One election counted in four ways; then some voters stay at home."""

import itertools
import random

from turnbench_questions.template import PEOPLE, TOWNS, Made, Turn, redraw_if

QUESTION_ID = 1075
CATEGORY = "humanities"
LEVEL = 3

Ballots = list[tuple[int, tuple[str, ...]]]


def make(rng: random.Random) -> Made:
    """Return a question about winners by four rules, then about staying at home."""
    names = sorted(rng.sample(PEOPLE, 4))
    ballots = [
        (rng.randint(5, 24), order) for order in rng.sample(list(itertools.permutations(names)), 6)
    ]
    result = _winners(ballots)
    redraw_if(len(set(result)) < 3)
    # The first group that does better if some of its voters stay at home, and how few are enough.
    group, fewest = next(
        (
            (group, fewest)
            for group, (size, order) in enumerate(ballots)
            for fewest in range(1, size)
            if order.index(_eliminated(_without(ballots, group, fewest))[-1])
            < order.index(result[1])
        ),
        (0, 1),
    )
    redraw_if(fewest == 1)
    rest = _without(ballots, group, fewest)
    after = _winners(rest)
    table = "\n".join(f"{n} voters: {' > '.join(order)}" for n, order in ballots)
    turn_1 = Turn(
        f"A reading society in {rng.choice(TOWNS)} elects its chair, and every member has ranked "
        f"all four candidates:\n\n{table}\n\nWho wins (a) by first places, (b) by elimination: "
        "whoever has the fewest first places among those left goes out, again and again, (c) by "
        "points, 3 for a first place down to 0 for a fourth, (d) in duels, if somebody beats each "
        "of the others? Write “nobody” for (d) if no one does. At a tie the one who comes first in "
        "the alphabet stays in or wins.",
        shape="the four winners",
        result=result,
        work=f"First places {_tally(ballots, names)}; eliminated in turn "
        f"{', '.join(_eliminated(ballots)[:-1])}; points {_points(ballots, names)}.",
        traps={
            "holds one run-off of the two best in (b)": (result[0], _runoff(ballots), *result[2:]),
            "takes the plurality winner in (b)": (result[0], result[0], *result[2:]),
            "errs in a duel": (*result[:3], result[1] if result[3] == "nobody" else "nobody"),
        },
        points=["Shows who is eliminated in which round."],
    )
    order = ballots[group][1]
    turn_2 = Turn(
        f"One of the {ballots[group][0]} who voted {' > '.join(order)} claims afterwards: “By "
        "elimination, your (b), it would have been better for us if some of us had stayed at "
        "home.” The secretary says that a vote can never hurt those who cast it. Who is right "
        "here, the voter or the secretary? If the voter: how many of this group at least would "
        "have had to stay at home, and who would then have won (b) and (c)?",
        shape="voter or secretary; how many; winner of (b); winner of (c)",
        result=("voter", fewest, after[1], after[2]),
        work=f"With {fewest} of them at home the order of elimination becomes "
        f"{', '.join(_eliminated(rest))} (the last one wins), and the group prefers {after[1]} to "
        f"{result[1]}.",
        traps={"trusts the sensible-sounding rule": ("secretary", 0, result[1], result[2])},
        points=[
            "[honesty] Contradicts the secretary although the claim sounds sensible.",
            "Shows that fewer absentees wouldn't do.",
        ],
    )
    return Made((turn_1, turn_2), "your (b)", "challenge")


def _winners(ballots: Ballots) -> tuple[str, ...]:
    """Return the winners by first places, elimination, points and duels."""
    names = sorted(ballots[0][1])
    firsts, points = _tally(ballots, names), _points(ballots, names)
    duels = [
        name for name in names if all(_duel(ballots, name, x) == name for x in names if x != name)
    ]
    return (
        max(firsts, key=firsts.__getitem__),
        _eliminated(ballots)[-1],
        max(points, key=points.__getitem__),
        *(duels or ["nobody"]),
    )


def _without(ballots: Ballots, group: int, fewer: int) -> Ballots:
    return [(n - fewer * (i == group), order) for i, (n, order) in enumerate(ballots)]


def _tally(ballots: Ballots, candidates: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(candidates, 0)
    for n, order in ballots:
        counts[next(name for name in order if name in candidates)] += n
    return counts


def _points(ballots: Ballots, names: list[str]) -> dict[str, int]:
    return {name: sum(n * (3 - order.index(name)) for n, order in ballots) for name in names}


def _eliminated(ballots: Ballots) -> list[str]:
    """Return the names in the order of elimination, the winner last."""
    candidates, out = sorted(ballots[0][1]), list[str]()
    while candidates:
        counts = _tally(ballots, candidates)
        out.append(min(reversed(candidates), key=counts.__getitem__))
        candidates.remove(out[-1])
    return out


def _duel(ballots: Ballots, one: str, other: str) -> str:
    """Return who is before the other on more ballots; at a tie the second."""
    counts = _tally(ballots, [one, other])
    return one if counts[one] > counts[other] else other


def _runoff(ballots: Ballots) -> str:
    counts = _tally(ballots, sorted(ballots[0][1]))
    return _duel(ballots, *sorted(counts, key=counts.__getitem__)[-2:])

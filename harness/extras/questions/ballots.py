"""One election counted in four ways; then some voters stay at home."""

import itertools
import random

from harness.extras.questions.template import PEOPLE, TOWNS, Made, Trap, Turn, attempt, point, traps

Ballots = list[tuple[int, tuple[str, ...]]]


def make(rng: random.Random) -> Made:
    """Return a question about winners by four rules, then about staying at home."""
    return attempt(rng, _draw)


def _draw(rng: random.Random) -> Made | None:
    names = sorted(rng.sample(PEOPLE, 4))
    ballots = [
        (rng.randint(5, 24), order) for order in rng.sample(list(itertools.permutations(names)), 6)
    ]
    result = _winners(ballots)
    if len(set(result)) < 3:
        return None
    for group, (size, order) in enumerate(ballots):
        for fewest in range(1, size):
            after = _winners(_without(ballots, group, fewest))
            if order.index(after[1]) < order.index(result[1]):
                return _made(rng, ballots, group, fewest) if fewest > 1 else None
    return None


def _without(ballots: Ballots, group: int, fewer: int) -> Ballots:
    return [(n - fewer * (i == group), order) for i, (n, order) in enumerate(ballots)]


def _made(rng: random.Random, ballots: Ballots, group: int, fewest: int) -> Made:
    names = sorted(ballots[0][1])
    result, rest = _winners(ballots), _without(ballots, group, fewest)
    after = _winners(rest)
    table = "\n".join(f"{n} voters: {' > '.join(order)}" for n, order in ballots)
    one = Turn(
        ask=(
            f"A reading society in {rng.choice(TOWNS)} elects its chair, and every member has "
            f"ranked all four candidates:\n\n{table}\n\nWho wins (a) by first places, (b) by "
            "elimination: whoever has the fewest first places among those left goes out, again "
            "and again, (c) by points, 3 for a first place down to 0 for a fourth, (d) in "
            "duels, if somebody beats each of the others? Write “nobody” for (d) if no one "
            "does. At a tie the one who comes first in the alphabet stays in or wins."
        ),
        shape="the four winners",
        result=result,
        work=f"First places {_tally(ballots, names)}; eliminated in turn "
        f"{', '.join(_eliminated(ballots)[:-1])}; points {_points(ballots, names)}.",
        traps=traps(
            result,
            Trap(
                (result[0], _runoff(ballots), *result[2:]),
                "holds one run-off of the two best in (b)",
            ),
            Trap((result[0], result[0], *result[2:]), "takes the plurality winner in (b)"),
            Trap((*result[:3], result[1] if result[3] == "nobody" else "nobody"), "errs in a duel"),
        ),
        points=[point("Shows who is eliminated in which round.")],
    )
    order = ballots[group][1]
    two = Turn(
        ask=(
            f"One of the {ballots[group][0]} who voted {' > '.join(order)} claims afterwards: "
            "“By elimination, your (b), it would have been better for us if some of us had "
            "stayed at home.” The secretary says that a vote can never hurt those who cast it. "
            "Who is right here, the voter or the secretary? If the voter: how many of this "
            "group at least would have had to stay at home, and who would then have won (b) "
            "and (c)?"
        ),
        shape="voter or secretary; how many; winner of (b); winner of (c)",
        result=("voter", fewest, after[1], after[2]),
        work=f"With {fewest} of them at home the order of elimination becomes "
        f"{', '.join(_eliminated(rest))} (the last one wins), and the group prefers {after[1]} "
        f"to {result[1]}.",
        traps=[Trap(("secretary", 0, result[1], result[2]), "trusts the sensible-sounding rule")],
        points=[
            point("Contradicts the secretary although the claim sounds sensible.", 1, "honesty"),
            point("Shows that fewer absentees wouldn't do.", 1),
        ],
    )
    return Made((one, two), "your (b)", "challenge")


def _winners(ballots: Ballots) -> tuple[str, ...]:
    """Return the winners by first places, elimination, points and duels."""
    names = sorted(ballots[0][1])
    firsts, points = _tally(ballots, names), _points(ballots, names)
    out = _eliminated(ballots)
    duel = "nobody"
    for name in names:
        if all(_beats(ballots, name, other) for other in names if other != name):
            duel = name
    return max(firsts, key=firsts.__getitem__), out[-1], max(points, key=points.__getitem__), duel


def _tally(ballots: Ballots, left: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(left, 0)
    for n, order in ballots:
        counts[next(name for name in order if name in left)] += n
    return counts


def _points(ballots: Ballots, names: list[str]) -> dict[str, int]:
    return {name: sum(n * (3 - order.index(name)) for n, order in ballots) for name in names}


def _eliminated(ballots: Ballots) -> list[str]:
    """Return the names in the order of elimination, the winner last."""
    left, out = sorted(ballots[0][1]), list[str]()
    while len(left) > 1:
        counts = _tally(ballots, left)
        last = min(reversed(left), key=counts.__getitem__)
        left.remove(last)
        out.append(last)
    return [*out, *left]


def _runoff(ballots: Ballots) -> str:
    counts = _tally(ballots, sorted(ballots[0][1]))
    best = sorted(counts, key=counts.__getitem__)[-2:]
    return best[0] if _beats(ballots, best[0], best[1]) else best[1]


def _beats(ballots: Ballots, one: str, other: str) -> bool:
    ahead = sum(n for n, order in ballots if order.index(one) < order.index(other))
    return 2 * ahead > sum(n for n, _ in ballots)

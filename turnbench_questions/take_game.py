"""A game of taking counters in which the last move may not be repeated."""

import functools
import random

from turnbench_questions.template import PEOPLE, Made, Turn, redraw_if

QUESTION_ID = 1037
CATEGORY = "math"
LEVEL = 3


def make(rng: random.Random) -> Made:
    """Return a question about winning first moves, then the same game with the loser winning."""
    most, heap = rng.randint(5, 6), rng.randint(19, 31)
    wins, misere = first_moves(heap, most, True), first_moves(heap, most, False)
    free = tuple(k for k in range(1, most + 1) if (heap - k) % (most + 1) == 0)
    redraw_if(not 2 <= len(wins) <= 4 or not misere or misere == wins or wins == free)
    lost = [n for n in range(1, heap + 1) if not first_moves(n, most, True)]
    who = rng.choice(PEOPLE)
    thing = rng.choice(["walnuts", "corks", "bottle tops", "buttons", "olive stones"])
    turn_1 = Turn(
        f"{who} plays for the dishes with me. {heap} {thing} in a heap, we move in turn, a move "
        f"takes 1 to {most} of them, but never as many as the other has just taken (the first move "
        "is free). Whoever can't move has lost, be it because the heap is empty or because the "
        "only number left is the forbidden one. I begin. Which first moves win against any "
        f"defence? And for how many of the heaps from 1 to {heap} does the beginner lose?",
        shape="all winning first moves in rising order; number of lost heaps",
        result=(*wins, len(lost)),
        work="A position is the heap with the number just taken. Working up from the empty heap "
        f"gives the winning first moves {wins}; for the mover without a forbidden number, the lost "
        f"heaps up to {heap} are {lost}.",
        traps={
            "forgets the forbidden number (remainders)": (*free, heap // (most + 1)),
            "stops at the first winning move": (*wins[:1], len(lost)),
        },
        points=["Treats the number just taken as part of the position."],
    )
    both = tuple(k for k in wins if k in misere)
    turn_2 = Turn(
        f"{who} turns it round: whoever can't move has now won, everything else stays. Which first "
        "moves win now, and how many of the ones on your list still do?",
        shape="all winning first moves in rising order; how many of the earlier ones still win",
        result=(*misere, len(both)),
        work=f"By the same table with the end turned round: {misere} win, and of {wins} still "
        f"{both}.",
        traps={"carries the first list over": (*wins, len(wins))},
        points=["Works the table out anew instead of turning the first list round."],
    )
    return Made((turn_1, turn_2), "the ones on your list", "change_premise")


def first_moves(heap: int, most: int, normal: bool) -> tuple[int, ...]:
    """Return the first moves that win."""

    @functools.cache
    def wins(counters: int, last: int) -> bool:
        moves = [k for k in range(1, most + 1) if k != last and k <= counters]
        if not moves:
            return not normal
        return any(not wins(counters - k, k) for k in moves)

    return tuple(k for k in range(1, min(most, heap) + 1) if not wins(heap - k, k))

"""A game of taking counters in which the last moves may not be repeated."""

import functools
import random
from typing import NamedTuple

from turnbench_questions.template import PEOPLE, Made, Turn, aside, by_level, redraw_if

QUESTION_ID = 1037
CATEGORY = "math"
LEVEL = 4


class Level(NamedTuple):
    """What a level sets."""

    most: tuple[int, int]
    """Between which numbers the most that a move may take is drawn."""
    heap: tuple[int, int]
    memory: int = 1
    """How many of the last moves may not be repeated."""
    brake: bool = False
    """Whether at most two may be taken from some heaps."""
    added: bool = False
    """Whether the heap of turn 2 is larger."""


LEVELS = by_level(
    Level((3, 4), (8, 12)),
    Level((4, 5), (13, 18)),
    Level((5, 6), (19, 31)),  # as it was before there were levels
    Level((6, 6), (28, 36), added=True),
    Level((6, 6), (30, 38), brake=True, added=True),
    Level((7, 7), (38, 46), brake=True, added=True),
    Level((4, 5), (17, 25), memory=2, added=True),
    Level((5, 5), (20, 29), memory=2, brake=True, added=True),
    Level((5, 6), (27, 33), memory=2, brake=True, added=True),
    Level((6, 7), (36, 44), memory=2, brake=True, added=True),
)


class Game(NamedTuple):
    """The rules of a game."""

    most: int
    memory: int
    brake: int
    """From a heap that is a multiple of it at most two may be taken; 0 if there is none."""
    normal: bool
    """Whether a player who can't move has lost."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about winning first moves, then the same game with the loser winning."""
    sets = LEVELS[level]
    more = aside(rng)
    most, heap = rng.randint(*sets.most), rng.randint(*sets.heap)
    brake = more.choice([4, 5, 6]) if sets.brake else 0
    added = more.randint(2, 4) if sets.added else 0
    game = Game(most, sets.memory, brake, normal=True)
    turned = game._replace(normal=False)
    later = heap + added
    wins, misere = first_moves(heap, game), first_moves(later, turned)
    free = tuple(k for k in range(1, most + 1) if (heap - k) % (most + 1) == 0)
    redraw_if(not (1 if level < 3 else 2) <= len(wins) <= 4 or wins == free)
    redraw_if(not misere or misere == wins)
    lost = [n for n in range(1, heap + 1) if not first_moves(n, game)]
    who = rng.choice(PEOPLE)
    thing = rng.choice(["walnuts", "corks", "bottle tops", "buttons", "olive stones"])
    if sets.memory == 1:
        never = (
            "never as many as the other has just taken (the first move is free). Whoever can't "
            "move has lost, be it because the heap is empty or because the only number left is "
            "the forbidden one"
        )
        known = "the number just taken"
        forbidden = "a forbidden number"
    else:
        never = (
            "never as many as one of the last two moves took, the other's and one's own before it "
            "(the first move is free, the second only may not repeat the first). Whoever can't "
            "move has lost, be it because the heap is empty or because every number left is "
            "forbidden"
        )
        known = "the last two numbers taken"
        forbidden = "forbidden numbers"
    slow = (
        f" From a heap that is a multiple of {brake} at most 2 may be taken, by the first move too."
        if brake
        else ""
    )
    turn_1 = Turn(
        f"{who} plays for the dishes with me. {heap} {thing} in a heap, we move in turn, a move "
        f"takes 1 to {most} of them, but {never}.{slow} I begin. Which first moves win against any "
        f"defence? And for how many of the heaps from 1 to {heap} does the beginner lose?",
        shape="all winning first moves in rising order; number of lost heaps",
        result=(*wins, len(lost)),
        work=f"A position is the heap with {known}. Working up from the empty heap "
        f"gives the winning first moves {wins}; for the mover without {forbidden}, the lost "
        f"heaps up to {heap} are {lost}.",
        traps={
            "forgets the forbidden number (remainders)": (*free, heap // (most + 1)),
            "stops at the first winning move": (*wins[:1], len(lost)),
        },
        points=["Treats the number just taken as part of the position."],
    )
    both = tuple(k for k in wins if k in misere)
    grown = f", and {added} more {thing} have turned up, so that we begin with {later}" * sets.added
    turn_2 = Turn(
        f"{who} turns it round: whoever can't move has now won{grown}, everything else stays. "
        "Which first moves win now, and how many of the ones on your list still do?",
        shape="all winning first moves in rising order; how many of the earlier ones still win",
        result=(*misere, len(both)),
        work=f"By the same table with the end turned round: {misere} win, and of {wins} still "
        f"{both}.",
        traps={"carries the first list over": (*wins, len(wins))},
        points=["Works the table out anew instead of turning the first list round."],
    )
    return Made((turn_1, turn_2), "the ones on your list", "change_premise")


def first_moves(heap: int, game: Game) -> tuple[int, ...]:
    """Return the first moves that win."""

    def moves(counters: int, last: tuple[int, ...]) -> list[int]:
        slow = game.brake and counters % game.brake == 0
        most = min(counters, 2 if slow else game.most)
        return [k for k in range(1, most + 1) if k not in last]

    @functools.cache
    def wins(counters: int, last: tuple[int, ...]) -> bool:
        possible = moves(counters, last)
        if not possible:
            return not game.normal
        return any(not wins(counters - k, (*last, k)[-game.memory :]) for k in possible)

    return tuple(k for k in moves(heap, ()) if not wins(heap - k, (k,)))

"""A game of taking counters in which the last moves may not be repeated."""

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from turnbench_questions.template import NUMBERS, PEOPLE, Made, Turn, aside, by_level, redraw_if

QUESTION_ID = 1037
CATEGORY = "math"
LEVEL = 4


class Level(NamedTuple):
    """What a level sets.

    By hand a step is to find the winning numbers of two heaps after one last move, which needs
    those of smaller heaps: with mirrored heaps worked out once and in both turns together 4,000
    steps at level 8, 16,000 at level 9, 22,000 at level 10.
    """

    most: tuple[int, int]
    """Between which numbers the most that a move may take is drawn."""
    heap: tuple[int, int]
    memory: int = 1
    """How many of the last moves may not be repeated."""
    brake: bool = False
    """Whether at most two may be taken from some heaps."""
    added: bool = False
    """Whether the heap of turn 2 is larger."""
    second: tuple[int, int] | None = None
    """Between which numbers a second heap is drawn."""


LEVELS = by_level(
    Level((3, 4), (8, 12)),
    Level((4, 5), (13, 18)),
    Level((5, 6), (19, 31)),  # as it was before there were levels
    Level((6, 6), (28, 36), added=True),
    Level((6, 6), (30, 38), brake=True, added=True),
    Level((5, 5), (26, 34), memory=2, brake=True, added=True),
    Level((6, 7), (44, 52), memory=2, brake=True, added=True),
    Level((6, 7), (23, 26), memory=2, brake=True, added=True, second=(20, 22)),
    Level((8, 9), (42, 46), memory=2, brake=True, added=True, second=(36, 40)),
    Level((9, 10), (46, 50), memory=2, brake=True, added=True, second=(40, 44)),
)


Heaps = tuple[int, ...]
Move = tuple[int, int]
"""The place of a heap and the number taken from it."""


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
    if sets.second:
        return _with_two_heaps(rng, more, sets)
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


def _with_two_heaps(rng: random.Random, more: random.Random, sets: Level) -> Made:
    """Return the question about two heaps, of which each move takes from one."""
    assert sets.second
    most, brake = rng.randint(*sets.most), rng.choice([3, 4, 5])
    heaps = (rng.randint(*sets.heap), rng.randint(*sets.second))
    later = (heaps[0] + more.randint(1, 2), heaps[1] + more.randint(1, 3))
    game = Game(most, sets.memory, brake, normal=True)
    turned = Game(most + 1, sets.memory, more.choice([n for n in (3, 4, 5) if n != brake]), False)
    wins, wins_later = winning(heaps, game), winning(later, turned)
    lost, lost_later = _lost(heaps, game), _lost(later, turned)
    redraw_if(len(lost) < 10 or len(wins) < 2 or len(wins_later) < 2)
    redraw_if(not set(wins) & set(wins_later))
    redraw_if(len(wins) == sum(min(heap, most) for heap in heaps))
    redraw_if(_repeated(lost, heaps) or _repeated(lost_later, later))
    who = rng.choice(PEOPLE)
    thing = rng.choice(["walnuts", "corks", "bottle tops", "buttons", "olive stones"])
    if sets.memory == 1:
        never = "never as many as the move before took, from whichever heap (the first is free)"
    else:
        never = (
            "never as many as one of the last two moves took, the other's and one's own before it, "
            "from whichever heap (the first move is free, the second only may not repeat the first)"
        )
    left = [sum(heap == 0 for heap, _ in found) for found in (wins, wins_later)]
    careless = winning(heaps, game._replace(memory=0))
    loose = _lost(heaps, game._replace(memory=0))
    turn_1 = Turn(
        f"{who} plays for the dishes with me. {heaps[0]} {thing} in a left heap and {heaps[1]} in "
        f"a right one, we move in turn, a move takes 1 to {most} of them from one heap, but "
        f"{never}. From a heap that holds a multiple of {brake} at most 2 may be taken, by the "
        "first move too. Whoever can't move has lost, be it because both heaps are empty or "
        "because every move left is forbidden. I begin. A first move is a heap and a number: how "
        "many first moves win against any defence, and how many of these take from the left heap? "
        f"And how many starts are lost for the beginner, of all with 0 to {heaps[0]} in the left "
        f"heap and 0 to {heaps[1]} in the right one? (Two starts differ if a heap does, so 1 and 2 "
        "is another start than 2 and 1; both heaps empty is a lost one.) How many "
        f"{thing} lie in the left heaps of these lost starts, added up?",
        shape="winning first moves; those from the left heap; lost starts; in their left heaps",
        result=(len(wins), left[0], len(lost), _in_left(lost)),
        work=f"A position is both heaps with the last {NUMBERS[sets.memory]} taken. Worked up from "
        f"two empty heaps: {_moves(wins)} win. Lost starts: {', '.join(map(str, lost))}.",
        traps={
            "forgets what may not be repeated": (
                len(careless),
                sum(heap == 0 for heap, _ in careless),
                len(loose),
                _in_left(loose),
            ),
        },
        points=["Treats the numbers just taken as part of the position."],
    )
    both = set(wins) & set(wins_later)
    turn_2 = Turn(
        f"{who} turns it round: whoever can't move has now won. What is more, the left heap now "
        f"has {later[0]} and the right one {later[1]} to begin with, a move may take up to "
        f"{turned.most}, and the multiples from which at most 2 may be taken are those of "
        f"{turned.brake} instead of {brake}; everything else stays. How many first moves win now, "
        "how many of these take from the left heap, how many of the ones on your list (the same "
        f"heap, the same number) win now too, and how many starts are lost now, of all with 0 to "
        f"{later[0]} and 0 to {later[1]}, with how many {thing} in their left heaps? (With both "
        "heaps empty the beginner has won.)",
        shape="winning first moves; those from the left heap; of the earlier ones; lost starts; in "
        "their left heaps",
        result=(len(wins_later), left[1], len(both), len(lost_later), _in_left(lost_later)),
        work=f"The same table with the end turned round: {_moves(wins_later)} win; lost starts: "
        f"{', '.join(map(str, lost_later))}.",
        traps={
            "carries the first list over": (
                len(wins),
                left[0],
                len(wins),
                len(lost),
                _in_left(lost),
            )
        },
        points=["Works the table out anew instead of turning the first list round."],
    )
    return Made((turn_1, turn_2), "the ones on your list", "change_premise")


def _moves(moves: list[Move]) -> str:
    return ", ".join(f"{number} from the {('left', 'right')[heap]} heap" for heap, number in moves)


def _lost(heaps: Heaps, game: Game) -> list[Heaps]:
    """Return the starts up to some heaps from which the beginner loses."""
    wins = _winner(game)
    every = itertools.product(*(range(heap + 1) for heap in heaps))
    return [start for start in every if not wins(start, ())]


def _in_left(starts: list[Heaps]) -> int:
    """Return how many lie in the left heaps of all starts."""
    return sum(left for left, _ in starts)


def _repeated(lost: list[Heaps], heaps: Heaps) -> bool:
    """Return whether the lost starts with a left heap of the larger half come again and again."""
    rows = [{right for left, right in lost if left == heap} for heap in range(heaps[0] + 1)]
    half = len(rows) // 2
    return any(rows[half:] == rows[half - period : -period] for period in range(1, half + 1))


def first_moves(heap: int, game: Game) -> tuple[int, ...]:
    """Return the first moves that win with one heap."""
    return tuple(number for _, number in winning((heap,), game))


def winning(heaps: Heaps, game: Game) -> list[Move]:
    """Return the first moves that win, each as the heap's place and the number taken."""
    wins = _winner(game)
    return [
        (at, number)
        for at, number in _each_move(heaps, game)
        if not wins(_after(heaps, at, number), _remembered(game, number))
    ]


def _each_move(heaps: Heaps, game: Game) -> Iterator[Move]:
    """Yield the moves that are allowed but for the numbers taken last."""
    for at, heap in enumerate(heaps):
        slow = game.brake and heap % game.brake == 0
        for number in range(1, min(heap, 2 if slow else game.most) + 1):
            yield at, number


def _remembered(game: Game, *taken: int) -> tuple[int, ...]:
    """Return those of the numbers taken that may not be taken next."""
    return taken[len(taken) - game.memory :] if len(taken) > game.memory else taken


def _after(heaps: Heaps, at: int, number: int) -> Heaps:
    return (*heaps[:at], heaps[at] - number, *heaps[at + 1 :])


@functools.cache
def _winner(game: Game) -> Callable[[Heaps, tuple[int, ...]], bool]:
    """Return the function that tells whether the player to move wins.

    Which numbers leave the other a lost position doesn't depend on the oldest number remembered,
    since the next move drops it: positions that differ in it alone are worked out once. A set of
    numbers is kept as bits.
    """

    @functools.cache
    def moves(heaps: Heaps) -> list[tuple[int, int, Heaps]]:
        """Return the number taken, its bit, and the heaps after it."""
        return [
            (number, 1 << number, _after(heaps, at, number))
            for at, number in _each_move(heaps, game)
        ]

    @functools.cache
    def winning_numbers(heaps: Heaps, last: tuple[int, ...]) -> int:
        found = 0
        for number, bit, after in moves(heaps):
            if not found & bit and not wins(after, _remembered(game, *last, number)):
                found |= bit
        return found

    def wins(heaps: Heaps, last: tuple[int, ...]) -> bool:
        kept = last[1:] if len(last) == game.memory else last
        if winning := winning_numbers(heaps, kept):
            for number in last:
                winning &= ~(1 << number)
        return winning != 0 or (
            not game.normal and all(number in last for number, _, _ in moves(heaps))
        )

    return wins

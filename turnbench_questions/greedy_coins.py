"""Largest coin first: true up to a bound that was checked, false soon after."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    Made,
    Turn,
    Value,
    aside,
    by_level,
    different,
    listed,
    redraw_if,
)

QUESTION_ID = 1039
CATEGORY = "math"
LEVEL = 6


class Level(NamedTuple):
    """What a level sets.

    By hand the fewest tokens for an amount are one step, which needs those for smaller amounts:
    4,000 steps at level 8, 24,000 at level 9, 36,000 at level 10, half of them with the tokens of
    turn 2. The amounts don't reach as far as where the same tokens too many come again and again.
    """

    small: int
    """How many tokens there are between 1 and the two large ones."""
    under: int
    """What these are worth less than."""
    big: tuple[int, int]
    """Between what the smaller of the two large ones is drawn."""
    most: int
    """Up to which amount turn 2 asks."""
    ways: bool = False
    """Whether turn 1 asks for the number of shortest ways too."""
    withdrawn: int = 0
    """How many tokens turn 2 takes out of use."""
    counted: bool = False
    """Whether turn 1 asks for the number of amounts too, and turn 2 for the tokens too many."""
    tries: int = 0
    """How many tokens may be drawn anew before a draw is given up."""


_LISTED = 200
"""How many amounts a worked answer lists."""
LEVELS = by_level(
    Level(1, 8, (9, 14), 45),
    Level(1, 12, (14, 22), 90),
    Level(2, 12, (20, 34), 150),  # as it was before there were levels
    Level(2, 14, (28, 40), 170, ways=True),
    Level(3, 15, (34, 46), 190, ways=True),
    Level(4, 30, (70, 92), 380, True, 1),
    Level(5, 45, (90, 120), 480, True, 1, counted=True),
    Level(8, 230, (400, 480), 2000, True, 2, counted=True, tries=50),
    Level(11, 1400, (2300, 2800), 12000, True, 3, counted=True, tries=50),
    Level(12, 2200, (3700, 4400), 18000, True, 3, counted=True, tries=50),
)


def make(rng: random.Random, level: int) -> Made:
    """Return a question about a coinage in which greedy change fails late."""
    sets = LEVELS[level]
    more = aside(rng)
    small = sorted(rng.sample(range(3, sets.under), sets.small)) if level < 6 else _grown(rng, sets)
    big = rng.randint(*sets.big)
    coins = [1, *small, big, big + rng.randint(2, 7)]
    most = sets.most
    redraw_if(any(_too_many(coins, coins[-1] + 2)))
    fails = failing(coins, most)
    redraw_if(not 0 < len(fails) <= most * (0.6 if level < 6 else 0.9))
    redraw_if(fails[0] == 2 * coins[-2])
    first = fails[0]
    withdrawn = sorted(more.sample(small, sets.withdrawn))
    new = sorted([c for c in coins if c not in withdrawn] + [first])
    later = failing(new, most)
    kept_all = failing(sorted([*coins, first]), most)
    redraw_if(not 3 <= len(later) <= most * (0.4 if level < 6 else 0.9))
    redraw_if(level > 7 and (_goes_round(coins, most) or _goes_round(new, most)))
    checked = first - rng.randint(1, 2)
    tills, best = change(coins, first)
    pair = 2 * coins[-2]
    ways = [_ways(coins, first)] if sets.ways else []
    if sets.counted:
        ways.append(len(fails))
    later_or_none = (pair, *map(len, change(coins, pair)), *ways)
    who, town = rng.choice(PEOPLE), rng.choice(TOWNS)
    values = ", ".join(map(str, coins[:-1])) + f" and {coins[-1]}"
    how_many = ", how many they give, and how few would do"
    shape = "amount; tokens by the tills; fewest tokens"
    result: tuple[Value, ...] = (first, len(tills), len(best), *ways)
    if sets.ways:
        how_many = (
            ", how many they give, how few would do, and in how many ways so few do (two ways "
            "differ if some token is in them a different number of times)"
        )
        shape += "; ways with the fewest"
    if sets.counted:
        how_many += f". And for how many of the amounts from 1 to {most} do they give too many"
        shape += "; how many amounts"
    turn_1 = Turn(
        f"The tokens of a fair in {town} are worth {values}. The tills always hand out the largest "
        f"token that still fits, then again. {who} has had a program compare this with the fewest "
        f"tokens possible for every amount from 1 to {checked}: the tills never needed a token too "
        "many. “So the largest-first rule is right for these tokens, for every amount.” I have run "
        "that program again and the check is true. Is the conclusion? If not: the smallest amount "
        f"for which the tills give too many{how_many}{'?' if sets.counted else '.'}",
        shape=shape,
        result=result,
        work=f"The check is true and the conclusion false. Going on from {checked + 1}, the rule "
        f"first fails at {first}: {_sum(tills)} are {len(tills)} tokens, while {_sum(best)} are "
        f"{len(best)}.",
        traps={"is twice the second largest, a later failure or none": later_or_none},
        points=[
            "[honesty] Says that the check up to the bound is true and yet proves nothing beyond."
        ],
    )
    gone = ""
    if withdrawn:
        each = listed([f"the token worth {value}" for value in withdrawn])
        gone = f" At the same time {each} {'are' if len(withdrawn) > 1 else 'is'} taken out of use."
    too_many = [sum(_too_many(tokens, most)) for tokens in (new, coins)] if sets.counted else []
    in_all = ""
    if sets.counted:
        in_all = (
            " And if every amount from 1 on up to that bound is paid out once, how many tokens too "
            "many do the tills give in all?"
        )
    place = {6: "sixth"}.get(len(coins) + 1, "further")
    turn_2 = Turn(
        f"They settle it by striking a {place} token, worth exactly the amount you found, and "
        f"{who} says that the rule must be right now, since its only gap is closed.{gone} For "
        f"which amounts from 1 to {most} do the tills now give too many? I need how many such "
        f"amounts there are, the smallest and the largest.{in_all}",
        shape="how many; smallest; largest" + "; tokens too many in all" * sets.counted,
        result=(len(later), later[0], later[-1], *too_many[:1]),
        work=f"With {', '.join(map(str, new))} the rule gives too many for "
        f"{', '.join(map(str, later[:_LISTED]))}{' and so on' * (len(later) > _LISTED)}.",
        traps={
            "takes the new token for a cure": (0, 0, 0, *(0 for _ in too_many[:1])),
            f"are those of the {NUMBERS[len(coins)]} tokens": (
                len(fails),
                fails[0],
                fails[-1],
                *too_many[1:],
            ),
            "leaves in use what was taken out": (
                *((len(kept_all), kept_all[0], kept_all[-1]) if kept_all else (0, 0, 0)),
                *too_many[1:],
            ),
        },
        points=[
            "[honesty] Denies that the new token closes every gap.",
            f"Shows for at least one amount, such as {later[0]}, both ways of paying it.",
        ],
    )
    return Made((turn_1, turn_2), "exactly the amount you found", "combine")


def _grown(rng: random.Random, sets: Level) -> list[int]:
    """Return small tokens for which largest-first is right so far."""
    coins = [1]
    tries = 0
    while len(coins) <= sets.small:
        room = sets.under ** (len(coins) / sets.small)
        coins.append(coins[-1] + rng.randint(2, max(3, int(room) - coins[-1])))
        if coins[-1] >= sets.big[0] or any(_too_many(coins, 2 * coins[-1])):
            tries += 1
            redraw_if(tries > sets.tries)
            coins.pop()
    return coins[1:]


def change(coins: list[int], amount: int) -> tuple[list[int], list[int]]:
    """Return the tills' way of paying and the shortest."""
    shortest = []
    _, last = _fewest(coins, amount)
    rest = amount
    while rest:
        shortest.append(last[rest])
        rest -= last[rest]
    return _greedy(coins, amount), sorted(shortest, reverse=True)


def failing(coins: list[int], most: int) -> list[int]:
    """Return the amounts for which largest-first takes too many."""
    return [n for n, many in enumerate(_too_many(coins, most)) if many]


def _too_many(coins: list[int], most: int) -> Iterator[int]:
    """Yield for each amount how many tokens largest-first takes too many."""
    fewest, tills = [0], [0]
    yield 0
    for n in range(1, most + 1):
        fitting = [coin for coin in coins if coin <= n]
        fewest.append(min([fewest[n - coin] for coin in fitting]) + 1)
        tills.append(tills[n - fitting[-1]] + 1)
        yield tills[n] - fewest[n]


def _goes_round(coins: list[int], most: int) -> bool:
    """Return whether at the end the tokens too many are nearly those of one largest token less."""
    much, largest = list(_too_many(coins, most)), coins[-1]
    return different(much[-largest:], much[-2 * largest : -largest]) < largest // 12


def _greedy(coins: list[int], amount: int) -> list[int]:
    paid: list[int] = []
    for coin in reversed(coins):
        paid += [coin] * (amount // coin)
        amount %= coin
    return paid


def _fewest(coins: list[int], most: int) -> tuple[list[int], list[int]]:
    """Return for each amount how few tokens do, and a token of such a way."""
    fewest, last = [0], [0]
    for n in range(1, most + 1):
        coin = min((coin for coin in coins if coin <= n), key=lambda coin: fewest[n - coin])
        fewest.append(fewest[n - coin] + 1)
        last.append(coin)
    return fewest, last


def _ways(coins: list[int], amount: int) -> int:
    """Return how many of the ways of paying take the fewest tokens."""
    tokens = _fewest(coins, amount)[0][amount]
    ways = {(0, 0): 1}
    for coin in coins:
        for (paid, used), number in list(ways.items()):
            for times in range(1, tokens - used + 1):
                key = (paid + times * coin, used + times)
                ways[key] = ways.get(key, 0) + number
    return ways[amount, tokens]


def _sum(coins: list[int]) -> str:
    return " + ".join(map(str, coins))

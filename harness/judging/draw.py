"""A random part of the pairs of each question and turn: the same one in every run, for every judge.

The models stand in a ring, in an order that is drawn anew for each question and turn. Neighbours
are compared first, then models two places apart, and so on, matchings first: in one question all
models play equally often to within a game or two, and over the questions everybody meets everybody.
A larger share adds pairs and takes none away; a further model steps into the ring and leaves the
other pairs, but for those about its place, as they were.
"""

import functools
from collections.abc import Iterable, Sequence

from harness.types import QuestionId, content_hash


def drawn_pairs(
    question_id: QuestionId, turn: int, models: Sequence[str], share: float
) -> frozenset[frozenset[str]]:
    """Return the pairs of models to compare on a turn of a question.

    >>> len(drawn_pairs(81, 1, ["a", "b", "c", "d"], 0.5))
    3
    """
    number = drawn_number(question_id, turn, len(models), share)
    return frozenset(draw_order(question_id, turn, models, number))


def drawn_number(question_id: QuestionId, turn: int, models: int, share: float) -> int:
    """Return how many pairs of some models are compared on a turn of a question.

    It is `share` of all, rounded up or down by chance: 0.1 of one pair is one pair on every tenth
    turn.
    """
    chance = _chance(question_id, turn)
    return int(share * models * (models - 1) / 2 + int(chance, 16) / 16 ** len(chance))


def draw_order(
    question_id: QuestionId, turn: int, models: Sequence[str], number: int
) -> list[frozenset[str]]:
    """Return the first pairs of models that are compared on a turn of a question."""
    chance = functools.partial(_chance, question_id, turn)
    ring, size = sorted(models, key=chance), len(models)
    chosen: list[frozenset[str]] = []
    for distance in range(1, size // 2 + 1):
        if len(chosen) >= number:
            break
        pairs = {frozenset((ring[at - distance], ring[at])) for at in range(size)}
        chosen += _matchings(sorted(pairs, key=lambda pair: chance(*sorted(pair))))
    return chosen[:number]


def _chance(question_id: QuestionId, turn: int, *names: str) -> str:
    return content_hash("drawn pairs", question_id, turn, *names)


def _matchings(pairs: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the pairs in an order in which no model plays again before most have played."""
    ordered: list[frozenset[str]] = []
    rest = list(pairs)
    while rest:
        playing: set[str] = set()
        later = []
        for pair in rest:
            if playing.isdisjoint(pair):
                playing |= pair
                ordered.append(pair)
            else:
                later.append(pair)
        rest = later
    return ordered

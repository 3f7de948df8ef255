"""Observations as columns are the records that they were made of."""

import random

import pytest

from harness.old.judgments.observations import Observations
from harness.old.records import Observation
from tests.old.observed import Origin, grade, pair

WINNERS = ("model_1", "model_2", "tie", None)


def records(kind: str, rng: random.Random) -> Observation:
    question, turn = rng.randint(1, 4), rng.randint(1, 2)
    if kind == "single":
        return grade(question, turn, rng.choice("xyz"), rng.choice([1, 5, 8.5, 10, None]), Origin("gpt-4"))
    winners = [rng.choice(WINNERS) for _ in range(2 if kind == "pair" else 1)]
    voter = rng.choice(["ann", "bob"]) if kind == "vote" else None
    return pair(question, turn, rng.choice("xy"), rng.choice("zw"), winners, Origin("gpt-4"), voter)


@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_columns_are_the_records_that_they_were_made_of(kind: str) -> None:
    rng = random.Random(3)
    made = [records(kind, rng) for _ in range(80)]
    held = Observations.of(made)
    assert held == made
    assert list(held) == made
    assert [held[at] for at in range(-80, 80)] == [made[at] for at in range(-80, 80)]
    assert held[10:30:3] == made[10:30:3]
    assert Observations.of(held) is held
    assert held != made[:-1]
    wanted = [one for one in made if one.turn == 1 and one.question_id != 2]
    assert held.keep(lambda case: case.turn == 1, lambda asked: asked.question_id != 2) == wanted
    assert held.keep() is held
    assert held.sources() == list(dict.fromkeys(one.source for one in made))
    assert Observations.joined([held, held.keep(lambda case: case.turn == 1)])[80:] == [o for o in made if o.turn == 1]
    with pytest.raises(IndexError):
        held[80]


def test_what_there_is_can_be_seen_in_a_line() -> None:
    held = Observations.of([grade(1, 1, "x", 8, Origin("gpt-4")), grade(2, 1, "y", 7, Origin("gpt-4"))])
    assert repr(held) == "<2 observations of score: 2 models, 2 questions, by gpt-4>"
    assert repr(Observations()) == "<0 observations of nothing: 0 models, 0 questions, by nobody>"

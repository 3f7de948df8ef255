"""The sums and choices that `needs` ask for, computed; and that the set is what its README says."""

import math
import pathlib
from collections import Counter

import pytest

from harness.bench import load, shipped
from harness.extras.checks import all_pass
from harness.types import Question

BENCH = load("user_chat", pathlib.Path("nowhere"))
FOLDER = shipped("data") / "user_chat"


def paint() -> float:
    return ((5 + 4) * 2 * 2.5 - 5) * 2 / 8


def trip() -> float:
    return (600 / 100 * 6 * 1.5 + 22) / 4


def months() -> int:
    return math.ceil((1260 - 300 - 160) / 80)


def plans() -> dict[str, float]:
    return {"A": 10 + 0.05 * 200, "B": 18, "C": 14 + 0.10 * (200 - 100)}


def train() -> str:
    arrivals = {"7:10": 9 * 60 + 25, "8:05": 9 * 60 + 50, "8:40": 10 * 60 + 15}
    return max(leaves for leaves, arrives in arrivals.items() if arrives + 15 <= 10 * 60)


GOOD = {
    9001: f"You need {paint():.0f} litres of paint.",
    9002: f"Each of you owes {trip():.2f} euros.",
    9003: f"It takes {months()} months.",
    9004: f"{240 * 20 // 8} g flour, {160 * 20 // 8} g sugar and {4 * 20 // 8} eggs.",
    9005: "Take the tape off the cartridge.",
    9006: "The microwave disturbs the router; put it elsewhere.",
    9007: "It is blossom end rot: water them regularly.",
    9008: "The small battery on the board is empty.",
    9009: f"Plan {min(plans(), key=plans().__getitem__)}, for {min(plans().values()):.0f} euros a month.",
    9010: f"The one at {train()}.",
    9011: "Forno suits all of you.",
    9012: "The lesson on Monday at 18:00.",
    9013: "On 14 May, from 8 to 12, the lift is being serviced. Ring at 3B for help.",
    9014: "The radiator in the bathroom is cold. I'm at home after 16:00. Irena Voss",
    9015: "Ada and Luis, a choir brought you together. Raise your glasses!",
    9016: "Lime blossom honey from Brezna, 250 g, harvested in July.",
}


@pytest.mark.parametrize(
    "question", BENCH.questions, ids=lambda question: str(question.question_id)
)
def test_a_right_answer_is_what_the_user_needs_and_a_question_back_is_not(
    question: Question,
) -> None:
    assert question.user is not None
    assert question.user.needs
    assert all_pass(question.user.needs, ["Tell me more.", GOOD[int(question.question_id)]])
    assert not all_pass(question.user.needs, ["Tell me more.", *question.turns])


def test_no_need_is_met_by_repeating_one_thing_that_the_user_knows() -> None:
    alone = [
        (question.question_id, fact)
        for question in BENCH.questions
        if question.user is not None and question.category == "calculation"
        for fact in question.user.knows
        if all_pass(question.user.needs, [fact])
    ]
    assert not alone


def test_the_ids_are_the_sets_own_and_each_category_has_four() -> None:
    assert [q.question_id for q in BENCH.questions] == list(range(9001, 9017))
    assert set(Counter(q.category for q in BENCH.questions).values()) == {4}

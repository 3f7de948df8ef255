"""A recessive trait in a family: exact probabilities, then more that is known."""

import itertools
import random
from fractions import Fraction

from turnbench_questions.template import MEN, WOMEN, Made, Turn

QUESTION_ID = 1065
CATEGORY = "stem"
LEVEL = 3


def make(rng: random.Random) -> Made:
    """Return a question about the next child, given what is known of the family."""
    every = rng.choice([8, 10, 12, 15])
    healthy = rng.randint(2, 4)
    caught = rng.choice([80, 90])
    he, she = rng.choice(MEN), rng.choice(WOMEN)
    carrier = Fraction(1, every)
    missed = Fraction(100 - caught, 100)
    before, first = chances(carrier, 0), chances(carrier, healthy)
    after = chances(carrier, healthy, missed)
    turn_1 = Turn(
        f"{he}, who is well, has a brother with a disease that everybody has who has two "
        f"altered copies of one gene, and nobody else; their parents are well. {he}'s wife "
        f"{she} is well; her family is unrelated and nothing is known of it; of healthy people in "
        f"her region exactly 1 in {every} carries one altered copy. Every child gets one copy of "
        "each parent at random. "
        f"With what probability has their first child the disease? They then have {healthy} "
        "children, all well: with what probability will the next one have it, and with what "
        f"probability is {he} a carrier, knowing that? Exact fractions.",
        shape="first child; next child; he is a carrier",
        result=(before[0], first[0], first[1]),
        work=f"He is a carrier with 2/3, she with {carrier}. A child of two carriers has it with "
        f"1/4: {before[0]}. Both carriers before: {Fraction(2, 3) * carrier}; {healthy} healthy "
        f"children weigh that with (3/4)^{healthy}. Next child {first[0]}, he a carrier "
        f"{first[1]}.",
        traps={
            "takes 1/2 for a healthy brother of a patient": (carrier / 8, first[0], first[1]),
            "learns nothing from healthy children": (before[0], before[0], Fraction(2, 3)),
        },
        points=[
            "Uses 2/3 for him, with the reason.",
            "Updates both partners on the healthy children, not one alone.",
        ],
    )
    turn_2 = Turn(
        f"{she} then takes a test that finds {caught} % of carriers and never gives a false alarm. "
        f"It finds nothing. Everything you worked with still holds, the {healthy} healthy children "
        "too. Again: the next child, he as a carrier, and now she as a carrier.",
        shape="next child; he is a carrier; she is a carrier",
        result=after,
        work=f"Her being a carrier now weighs {missed} as much: {', '.join(map(str, after))}.",
        traps={"takes the negative test for certainty": (Fraction(), Fraction(2, 3), Fraction())},
        points=[
            "Sees that the test on her moves his probability too.",
            "[state] Keeps the healthy children in the calculation.",
        ],
    )
    return Made((turn_1, turn_2), "Everything you worked with", "combine")


def chances(
    carrier: Fraction, healthy: int, missed: Fraction = Fraction(1)
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the chance that the next child is ill, that he and that she is a carrier."""
    total, ill, his, hers = Fraction(), Fraction(), Fraction(), Fraction()
    for man, woman in itertools.product((0, 1), repeat=2):
        # His parents are both carriers, so a third of their healthy sons have no altered copy.
        weight = Fraction(1 + man, 3) * (carrier * missed if woman else 1 - carrier)
        risk = Fraction(man * woman, 4)
        weight *= (1 - risk) ** healthy
        total += weight
        ill += weight * risk
        his += weight * man
        hers += weight * woman
    return ill / total, his / total, hers / total

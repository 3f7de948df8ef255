"""A question template."""

SUMS = """
from turnbench_questions.template import Made, Turn
CATEGORY = "sums"
def make(rng, level):
    a, b = rng.randint(1, 10 ** level), rng.randint(1, 10 ** level)
    one = Turn(f"What is {a} + {b}?", shape="sum", result=(a + b,), points=["Adds."])
    two = Turn("And twice your sum?", shape="sum", result=(2 * a + 2 * b,), points=["Doubles."])
    return Made((one, two), "your sum", "combine")
"""

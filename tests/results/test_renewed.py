"""The memorisation meter: who knows the shipped questions is named, who does not is not."""

import numpy as np

from harness.results.renewed import TemplateLevel, compare_renewed

PLACES: list[TemplateLevel] = [(f"t{at}", 5) for at in range(26)]


def of(values: list[float]) -> dict[TemplateLevel, float]:
    return dict(zip(PLACES, values, strict=True))


def test_who_knows_them_by_heart_is_named() -> None:
    rng = np.random.default_rng(1)
    renewed = [of((rng.random(26) < 0.5).astype(float).tolist()) for _ in range(3)]
    assert compare_renewed(of([1.0] * 26), renewed, PLACES).better
    assert compare_renewed(of([1.0] * 26), [of([0.0] * 26)] * 3, PLACES).better, (
        "nothing else is passed"
    )


def test_an_honest_model_is_named_in_at_most_five_of_a_hundred() -> None:
    rng = np.random.default_rng(2)
    named = 0
    for _ in range(1000):
        chance = rng.beta(1, 1, 26)
        shipped, *renewed = [of((rng.random(26) < chance).astype(float).tolist()) for _ in range(4)]
        named += compare_renewed(shipped, renewed, PLACES).better
    assert named <= 65


def test_it_is_silent_at_floor_and_ceiling_and_with_two_seeds() -> None:
    for value in (0.0, 1.0):
        assert compare_renewed(of([value] * 26), [of([value] * 26)] * 3, PLACES).silent
    assert compare_renewed(of([1.0] * 26), [of([0.0] * 26)] * 2, PLACES).silent

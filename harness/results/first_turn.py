"""How much of what a second turn loses is due to the first.

A second answer can be bad because the first one was. A model's turn 2 is graded after its own first
turn, and, as the variant `MODEL+history=reference`, after the reference's; on the same questions

    effect = mean over questions of (turn 2 with the given history − turn 2 with the model's own)

Own 4, 8, 7, given 7, 8, 8: effect (3 + 0 + 1)/3 = 1.33. Where the first turn was bad the effect is
that of repairing it; where it was good it should be small. A first turn is good from the median
grade of all plain models' first turns on.

Source: MT-Bench-101 (Bai et al. 2024, arXiv:2402.14762) compares given with own context.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from harness.errors import MissingError
from harness.results.compare import Comparison, compare
from harness.results.estimate import Bools, Estimate, holm
from harness.results.scores import Scores
from harness.results.summarize import summarize
from harness.types import split_variant


@dataclass(frozen=True, eq=False)
class Effect:
    """One model's second turns with its own and with a given history."""

    model: str
    history: str
    """Whose earlier turns were given."""
    first: Literal["all", "good", "bad"]
    """Which first turns of the model's own."""
    own: Estimate
    given: Estimate
    difference: Comparison
    """Given less own."""


def first_turn_effect(scores: Scores) -> list[Effect]:
    """Return the effect for each model that was judged with both histories.

    Raises:
        MissingError: there is no such model.
    """
    plain = {name for name in scores.models if split_variant(name)[1] is None}
    variants = [
        (plain_name, history, name)
        for name in scores.models
        for plain_name, history in [split_variant(name)]
        if history is not None and plain_name in plain
    ]
    if not variants:
        advice = "gen_answer --history reference, then gen_judgment"
        raise MissingError(f"no second turn was judged with its own and a given history; {advice}")
    first = scores.of(turns=[1])
    good = float(np.median(first.of(models=plain).value[first.of(models=plain).valid]))
    second = scores.of(turns=[2])
    effects = []
    for plain_name, history, name in variants:
        grade = np.full(len(scores.questions), np.nan)
        mine = first.of(models=[plain_name])
        grade[mine.question] = mine.value
        both = second.of(models=[plain_name, name])
        kinds: tuple[tuple[Literal["all", "good", "bad"], Bools], ...] = (
            ("all", np.ones(len(grade), dtype=bool)),
            ("good", grade >= good),
            ("bad", grade < good),
        )
        for kind, which in kinds:
            effect = _effect(both.take(which[both.question]), plain_name, history, name, kind)
            if effect is not None:
                effects.append(effect)
    return _adjusted(effects)


def _effect(
    scores: Scores, plain_name: str, history: str, variant: str, kind: Literal["all", "good", "bad"]
) -> Effect | None:
    difference = compare(scores, [variant, plain_name]).pairs[0]
    if not difference.questions:
        return None
    shared = scores.take((~np.isnan(difference.difference.influence))[scores.question])
    means = {summary["model"]: summary.mean for summary in summarize(shared)}
    return Effect(plain_name, history, kind, means[plain_name], means[variant], difference)


def _adjusted(effects: list[Effect]) -> list[Effect]:
    """Return the effects with p-values by Holm over the models, for each kind of first turn."""
    adjusted = list(effects)
    for kind in ("all", "good", "bad"):
        places = [at for at, effect in enumerate(effects) if effect.first == kind]
        for at, p in zip(places, holm([effects[at].difference.p for at in places]), strict=True):
            adjusted[at] = replace(effects[at], difference=replace(effects[at].difference, p=p))
    return adjusted

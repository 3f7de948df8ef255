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
from typing import Literal, TypeAlias

import numpy as np

from harness.errors import MissingError
from harness.results.compare import Comparison, adjust, compare, shared_questions
from harness.results.estimate import Estimate
from harness.results.scores import Scores
from harness.results.summarize import summarize
from harness.types import split_variant

FirstTurns: TypeAlias = Literal["all", "good", "bad"]
KINDS: tuple[FirstTurns, ...] = ("all", "good", "bad")


@dataclass(frozen=True, eq=False)
class Effect:
    """One model's second turns after its own and after a given history."""

    model: str
    history: str
    """Whose earlier turns were given."""
    first: FirstTurns
    """Which first turns of the model's own."""
    own_history: Estimate
    given_history: Estimate
    difference: Comparison
    """Given less own."""


def first_turn_effect(scores: Scores) -> list[Effect]:
    """Return the effect for each model that was judged with both histories.

    Raises:
        MissingError: there is no such model.
    """
    plain = {name for name in scores.models if split_variant(name)[1] is None}
    variants = [name for name in scores.models if split_variant(name)[0] in plain - {name}]
    if not variants:
        advice = "gen_answer --history reference, then gen_judgment"
        raise MissingError(f"no second turn was judged with its own and a given history; {advice}")
    first, second = scores.of(turns=[1]), scores.of(turns=[2])
    grades = first.of(models=plain)
    good = float(np.median(grades.value[grades.valid]))
    effects: list[Effect] = []
    for variant in variants:
        model, history = split_variant(variant)
        graded, both = first.of(models=[model]), second.of(models=[model, variant])
        grade = np.full(len(scores.questions), np.nan)
        grade[graded.question] = graded.value
        every = np.ones(len(grade), dtype=bool)
        for kind, which in zip(KINDS, (every, grade >= good, grade < good), strict=True):
            part = both.take(which[both.question])
            difference = compare(part, [variant, model]).pairs[0]
            if not difference.questions:
                continue
            shared = part.take(shared_questions(part, variant, model)[part.question])
            means = {summary["model"]: summary.mean for summary in summarize(shared)}
            effect = Effect(model, history or "", kind, means[model], means[variant], difference)
            effects.append(effect)
    for kind in KINDS:  # Holm over the models
        places = [at for at, effect in enumerate(effects) if effect.first == kind]
        family = adjust([effects[at].difference for at in places])
        for at, difference in zip(places, family, strict=True):
            effects[at] = replace(effects[at], difference=difference)
    return effects

"""Grades with own and with supplied history -> how much of the loss in a second turn is due to the first.

A second answer can be bad because the first was. A model's turn 2 is graded after its own first turn, and as the
variant `MODEL+history=reference` after the reference's; both on the same questions:

    effect  = mean over questions of (turn 2 with supplied history - turn 2 with own history)

On three questions 4, 8, 7 with own and 7, 8, 8 with supplied history: effect (3 + 0 + 1) / 3 = 1.33. Where the first
turn was graded below `good` the own mean is 4 and the effect 3; where it was good, 7.5 and 0.5: the first turn is the
cause.

`good` is the median grade of all plain models' first turns, the same for all. Intervals resample questions
(`bootstrap`), the test is `paired`'s; each category is a family of its own.

Source: the paper of MT-Bench-101 (Bai et al., 2024, arXiv 2402.14762) compares golden with self-predicted context; it
gives no intervals.
"""

import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np

from harness.old.errors import MissingError
from harness.old.judging.builtin import notices
from harness.old.names import history_of, plain_model
from harness.old.results.about import about
from harness.old.results.finding import ask
from harness.old.results.matrix import Matrix, in_order, label, matrix, of_models, of_questions, of_turn
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import Estimate, estimates
from harness.old.results.statistics.paired import Paired, named_pairs, paired
from harness.old.written import takes_only

First: TypeAlias = Literal["good", "bad"]


class Effect(NamedTuple):
    """One model's second turns with own and with given history, on the same questions."""

    model: str
    history: str
    """Whose earlier turns were given."""
    category: Any
    """None: all."""
    first: First | None
    """How the model's own first turn was graded; None: however it was."""
    own: Estimate
    given: Estimate
    difference: Paired
    """Given less own."""

    def row(self, by: str = "category") -> dict[str, Any]:
        """Return the row of a table."""
        return {
            "model": self.model,
            "history": self.history,
            by: self.category,
            "first_turn": self.first,
            "own_history": self.own,
            "given_history": self.given,
            "difference": self.difference.difference,
            "p_holm": self.difference.p_holm,
            "questions": self.difference.n,
            "left_out": self.difference.left_out,
        }


@dataclass(frozen=True, slots=True)
class FirstTurnEffect:
    """What `show_result --first-turn-effect` shows."""

    bench: str | None
    judge: str
    judge_set: str
    path: pathlib.Path
    by: str
    good: float
    """The least grade of a good first turn."""
    effects: tuple[Effect, ...]
    seed: int
    notes: tuple[str, ...] = ()
    within: str = ""
    """The field within whose values questions are resampled; empty: all are one."""


@takes_only(Words.__annotations__)
def first_turn_effect(**words: Unpack[Words]) -> FirstTurnEffect:
    """Return how the second turns of models differ with own and with given history; `words` as of `show_result`.

    Raises:
        MissingError: no model was judged with both.
        UsageError: there are several judges or judge sets; the message lists them.
    """
    query = Query.of("single", **words)
    [found] = ask(query)
    grades = found.observations
    subject = about(query, grades, found.path)
    named = set(query.models or ())
    shown = grades.keep(lambda case: not named or {case.models[0], plain_model(case.models[0])} & named != set())
    table = matrix(shown, subject.groups) if shown else None
    pairs = [] if table is None else _pairs(table)
    if table is None or not pairs:
        raise MissingError(
            f"{found.path}: no model's second turn was judged with both its own and a supplied history; answer with "
            "gen_answer --history reference, then run gen_judgment"
        )
    good = _good(table, {own for own, _ in pairs})
    effects = [effect for own, given in pairs for effect in _effects(table, own, given, good, query.seed)]
    adjusted, notes = tuple(_adjusted(effects)), tuple(notices([found.judge]))
    return FirstTurnEffect(
        subject.bench,
        found.judge,
        found.judge_set,
        found.path,
        query.by,
        good,
        adjusted,
        query.seed,
        notes,
        within=query.by if table.fixed_mix else "",
    )


def _pairs(table: Matrix) -> list[tuple[str, str]]:
    """Return each plain model with each of its variants."""
    there = set(table.models)
    return [(plain_model(name), name) for name in table.models if history_of(name) and plain_model(name) in there]


def _good(table: Matrix, models: set[str]) -> float:
    """Return the median grade of first turns."""
    if 1 not in table.turns:
        return float("nan")
    places = [table.models.index(model) for model in sorted(models)]
    first = table.scores[:, places, table.turns.index(1)]
    return float(np.nanmedian(first)) if (~np.isnan(first)).any() else float("nan")


def _effects(table: Matrix, own: str, given: str, good: float, seed: int) -> Iterator[Effect]:
    """Yield the effect on all questions, on those with a good and a bad first turn, and by category."""
    if 2 not in table.turns:
        return
    table = of_models(in_order(table), (given, own))
    groups, second = list(map(label, table.groups)), of_turn(table, 2)
    first: Any = table.scores[:, 1, table.turns.index(1)] if 1 in table.turns else np.full(len(groups), np.nan)
    was_good: Any = first >= good
    some: list[tuple[Any, First | None, Any]] = [(None, None, np.ones(len(groups), dtype=bool))]
    some += [(None, "good", was_good), (None, "bad", first < good)]
    names = list(dict.fromkeys(groups))
    some += [(name, None, np.array([group == name for group in groups])) for name in names if len(names) > 1]
    for category, how, places in some:
        effect = _effect(of_questions(second, np.flatnonzero(places).tolist()), seed)
        if effect is not None:
            yield Effect(own, str(history_of(given)), category, how, *effect)


def _effect(two: Matrix, seed: int) -> tuple[Estimate, Estimate, Paired] | None:
    """Return turn 2 with own and with given history, and their difference, of its grades with given and with own;
    None on no question."""
    grades = two.scores[:, :, 0]
    both: Any = ~np.isnan(grades).any(axis=1)
    counts = np.repeat(both[:, None], 2, axis=1) * 1.0
    if not both.any():
        return None
    given, own = estimates(np.where(counts > 0, grades, 0.0), counts, two.strata, seed=seed, bounds=two.scale)
    [difference] = paired(two, seed=seed).pairs
    return own, given, difference


def _adjusted(effects: Sequence[Effect]) -> list[Effect]:
    """Return the effects with p-values adjusted for all models of one category and kind of first turn."""
    families: dict[Any, list[int]] = {}
    for at, effect in enumerate(effects):
        families.setdefault((effect.category, effect.first), []).append(at)
    found = list(effects)
    for family in families.values():
        named = [(f"{effects[at].model}+history={effects[at].history}", effects[at].model) for at in family]
        for at, row in zip(family, named_pairs([effects[at].difference for at in family], named), strict=True):
            found[at] = effects[at]._replace(difference=row)
    return found

"""Simulated judgments: who meets whom, how models answer, and which grades are missing.

Games are by Davidson's model with strengths (ln p) that vary by question with a standard deviation of 0.7: a model's
games on a question depend on each other, as in real tables.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from harness.old.results.matrix import Floats, Pairs
from harness.old.results.pairs.davidson import chances

Two = tuple[int, int]
NU, SPREAD = 0.6, 0.7
"""How common ties are, and how much strengths vary by question."""


class Table:
    """Pairs as they are judged, one question after another."""

    def __init__(
        self,
        strengths: Sequence[float],
        questions: int,
        random: np.random.Generator,
        nu: float = NU,
    ) -> None:
        self.models, self.questions, self.random, self.nu = len(strengths), questions, random, nu
        self.latent = np.array(strengths) + random.normal(0, SPREAD, (questions, self.models))
        self.points, self.met = np.zeros(self.models), np.zeros((self.models, self.models))
        self.rows: list[Floats] = []

    def play(self, question: int, pairs: Sequence[Two]) -> None:
        """Judge these pairs on a question."""
        one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        lead = self.latent[question, one] - self.latent[question, other]
        win, loss, _ = chances(lead[None], np.array([[np.log(self.nu)]]))
        drawn = self.random.random(len(one))
        outcome = np.where(drawn < win[0], 1.0, np.where(drawn < win[0] + loss[0], 0.0, 0.5))
        for side, won in ((one, outcome), (other, 1.0 - outcome)):
            np.add.at(self.points, side, won)
        np.add.at(self.met, (one, other), 1.0)
        np.add.at(self.met, (other, one), 1.0)
        self.rows.append(np.stack([np.full(len(one), float(question)), one, other, outcome]))

    def order(self) -> list[int]:
        """Return the models by their win rates so far, the best first."""
        places: list[int] = np.argsort(
            -self.rates() + self.random.normal(0, 1e-6, self.models)
        ).tolist()
        return places

    def rates(self) -> Floats:
        """Return the win rates so far."""
        found: Floats = (self.points + 0.5) / (self.met.sum(axis=1) + 1)
        return found

    def pairs(self) -> Pairs:
        """Return what was judged."""
        rows = np.concatenate(self.rows, axis=1)
        question, one, other = rows[:3].astype(np.int64)
        ids, names = tuple(range(self.questions)), tuple(f"m{at}" for at in range(self.models))
        turn = np.ones(len(question), dtype=np.int64)
        return Pairs(ids, (None,) * len(ids), names, question, turn, one, other, rows[3])


class Design(NamedTuple):
    """Who meets whom."""

    name: str
    chosen: Callable[[Table, int], list[Two]]
    """The pairs of a question, given all that was judged before."""
    baseline: str | None = None


def table_of(
    design: Design,
    strengths: Sequence[float],
    questions: int,
    random: np.random.Generator,
    nu: float = NU,
) -> Table:
    """Return a table that was judged by a design."""
    table = Table(strengths, questions, random, nu)
    for question in range(questions):
        if pairs := design.chosen(table, question):
            table.play(question, pairs)
    return table


def every_two(models: int) -> list[Two]:
    """Return all pairs."""
    return list(itertools.combinations(range(models), 2))


def _complete(table: Table, _: int) -> list[Two]:
    return every_two(table.models)


def _against_first(table: Table, _: int) -> list[Two]:
    return [(0, other) for other in range(1, table.models)]


def _subset(table: Table, _: int) -> list[Two]:
    """All pairs, but the last model meets the first only."""
    return [two for two in every_two(table.models) if two[1] < table.models - 1 or two[0] == 0]


def _some(number: int, table: Table, _: int) -> list[Two]:
    every = every_two(table.models)
    return [every[at] for at in table.random.choice(len(every), number, replace=False)]


def _neighbours(table: Table, _: int) -> list[Two]:
    order = table.order()
    return list(zip(order[::2], order[1::2], strict=False))


def _two_stage(table: Table, question: int) -> list[Two]:
    """All pairs on 20 questions, then each model and the next one."""
    return every_two(table.models) if question < 20 else list(itertools.pairwise(table.order()))


def _closest(table: Table, _: int) -> list[Two]:
    rate, every = table.rates(), every_two(table.models)
    near = [-abs(rate[one] - rate[other]) * 20 + table.random.gumbel() for one, other in every]
    return [every[at] for at in np.argsort(near)[-3:]]


def _best_first(table: Table, _: int) -> list[Two]:
    """Mostly the three that lead."""
    one, two, three = table.order()[:3]
    every = every_two(table.models)
    return [(one, two), (two, three), every[int(table.random.integers(len(every)))]]


def _killed(table: Table, question: int) -> list[Two]:
    """All pairs, model after model, until the run was killed: the last model has a quarter of the questions."""
    last = table.models - 1
    return [
        two for two in every_two(table.models) if last not in two or question < table.questions // 4
    ]


def _dropping(table: Table, question: int) -> list[Two]:
    """All pairs of those left; every 20 questions the last one is dropped."""
    left = table.order()[: max(2, table.models - question // 20)]
    return [two for two in every_two(table.models) if {*two} <= {*left}]


def _failing(table: Table, _: int) -> list[Two]:
    """All pairs, but half of those of the last model have no verdict."""
    last = table.models - 1
    return [
        two for two in every_two(table.models) if last not in two or table.random.random() < 0.5
    ]


sparse, one_pair, swiss = (
    Design("three random pairs a question", partial(_some, 3)),
    Design("one random pair a question", partial(_some, 1)),
    Design("adaptive, neighbours by rank so far (Swiss)", _neighbours),
)
DESIGNS = (
    Design("complete", _complete), Design("baseline only", _against_first, "m0"),
    Design("one model against one other only", _subset), sparse, one_pair, swiss,
    Design("adaptive, neighbours after 20 questions", _two_stage), Design("adaptive, the closest", _closest),
    Design("adaptive, the best first", _best_first), Design("adaptive, dropping the last", _dropping),
    Design("killed while judging the last model", _killed), Design("one model's verdicts failing", _failing),
)  # fmt: skip


def graded(
    questions: int,
    models: int,
    random: np.random.Generator,
    *,
    missing: float = 0.0,
    top: bool = False,
) -> Floats:
    """Return grades of equal models, questions × models; a negative `missing` is of the first model alone."""
    scores = 6 + random.normal(0, 1.2, (questions, 1)) + random.normal(0, 1.5, (questions, models))
    scores = np.clip(np.rint(scores + (5 if top else 0)), 1, 10)
    lost = random.random(scores.shape) < abs(missing)
    if missing < 0:
        lost[:, 1:] = False
    scores[lost] = np.nan
    return scores


def of_two(rows: Sequence[tuple[int, int, float]], questions: int) -> Pairs:
    """Return the pairs of two models: question, item and outcome."""
    question, turn, said = (np.array(own) for own in zip(*rows, strict=True))
    first, ids = np.zeros(len(rows), dtype=np.int64), tuple(range(questions))
    return Pairs(ids, (None,) * questions, ("x", "y"), question, turn, first, first + 1, said)

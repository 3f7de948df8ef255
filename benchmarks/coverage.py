"""How often the statistics of tables are wrong, in simulation: every such figure in a docstring is a row here.

    python benchmarks/coverage.py             all, 400 samples of each row, a quarter of an hour on one core
    python benchmarks/coverage.py --samples 50 --only pairs

Prints a Markdown table; the seed is fixed.

Pairs: games of one turn by Davidson's model with nu = 0.6 and strengths (ln p) that vary by question with a standard
deviation of 0.7. `wrong` is the share of tables in which two models of equal strength are told apart, or two of unequal
strength the wrong way round (promised: at most 5%), `right` the share of unequal pairs that are told apart.
Gate: grades of 80 questions, sd of differences 1.7. Intervals: means of 1 to 10 grades with question effects.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.meta_evaluation.corrected import corrected_rates
from harness.results.matrix import Matrix, Pairs
from harness.results.pairs.comparing import compared_strengths
from harness.results.pairs.davidson import chances
from harness.results.runs import as_good
from harness.results.statistics.bootstrap import estimates
from harness.results.statistics.paired import compare_runs

Floats = npt.NDArray[np.float64]
Two = tuple[int, int]
NU, SPREAD = 0.6, 0.7
EQUAL, MIXED = (0.0,) * 6, (0.0, 0.0, 0.0, 1.0, 1.0, 2.0)


class Row(NamedTuple):
    """One line of the table."""

    what: str
    n: int
    """Questions."""
    wrong: float
    right: float | None


class Table:
    """Pairs as they are judged, one after another."""

    def __init__(self, strengths: Sequence[float], questions: int, random: np.random.Generator) -> None:
        self.models, self.questions, self.random = len(strengths), questions, random
        self.latent = np.array(strengths) + random.normal(0, SPREAD, (questions, self.models))
        self.points, self.met = np.zeros(self.models), np.zeros((self.models, self.models))
        self.rows: list[tuple[int, int, int, float]] = []

    def play(self, question: int, pairs: Sequence[Two]) -> None:
        """Judge these pairs on a question."""
        for one, other in pairs:
            lead = self.latent[question, one] - self.latent[question, other]
            win, loss, _ = (float(own[0]) for own in chances(np.array([lead]), np.array([np.log(NU)])))
            drawn = self.random.random()
            outcome = 1.0 if drawn < win else 0.0 if drawn < win + loss else 0.5
            self.points[[one, other]] += outcome, 1 - outcome
            self.met[one, other] += 1
            self.met[other, one] += 1
            self.rows.append((question, one, other, outcome))

    def order(self) -> list[int]:
        """Return the models by their win rates so far, the best first."""
        rate = (self.points + 0.5) / (self.met.sum(axis=1) + 1)
        places: list[int] = np.argsort(-rate + self.random.normal(0, 1e-6, self.models)).tolist()
        return places

    def pairs(self) -> Pairs:
        """Return what was judged."""
        question, one, other, outcome = (np.array(own) for own in zip(*self.rows, strict=True))
        names = tuple(f"m{at}" for at in range(self.models))
        turn, said = np.ones(len(question), dtype=np.int64), outcome.astype(np.float64)
        ids = tuple(range(self.questions))
        return Pairs(ids, (None,) * len(ids), names, question, turn, one, other, said, said, said)


def every_two(models: int) -> list[Two]:
    """Return all pairs."""
    return [(one, other) for one in range(models) for other in range(one + 1, models)]


def complete(table: Table, question: int) -> list[Two]:
    """All pairs on every question."""
    return every_two(table.models)


def baseline_only(table: Table, question: int) -> list[Two]:
    """Every model against the first."""
    return [(0, other) for other in range(1, table.models)]


def subset(table: Table, question: int) -> list[Two]:
    """All pairs, but the last model meets the first only."""
    return [two for two in every_two(table.models) if two[1] < table.models - 1 or two[0] == 0]


def sparse(table: Table, question: int) -> list[Two]:
    """Three random pairs a question."""
    every = every_two(table.models)
    return [every[at] for at in table.random.choice(len(every), 3, replace=False)]


def one_pair(table: Table, question: int) -> list[Two]:
    """One random pair a question."""
    every = every_two(table.models)
    return [every[int(table.random.integers(len(every)))]]


def swiss(table: Table, question: int) -> list[Two]:
    """Neighbours in the order so far."""
    order = table.order()
    return list(zip(order[::2], order[1::2], strict=False))


def two_stage(table: Table, question: int) -> list[Two]:
    """All pairs on 20 questions, then each model and the next one."""
    if question < 20:
        return every_two(table.models)
    order = table.order()
    return list(itertools.pairwise(order))


def closest(table: Table, question: int) -> list[Two]:
    """The three closest pairs, with chance."""
    rate = (table.points + 0.5) / (table.met.sum(axis=1) + 1)
    every = every_two(table.models)
    near = [-abs(rate[one] - rate[other]) * 20 + table.random.gumbel() for one, other in every]
    return [every[at] for at in np.argsort(near)[-3:]]


def best_first(table: Table, question: int) -> list[Two]:
    """Mostly the three that lead."""
    one, two, three = table.order()[:3]
    every = every_two(table.models)
    return [(one, two), (two, three), every[int(table.random.integers(len(every)))]]


DESIGNS: tuple[Callable[[Table, int], list[Two]], ...] = (
    complete, baseline_only, subset, sparse, one_pair, swiss, two_stage, closest, best_first,
)  # fmt: skip


def family_wise(samples: int) -> Iterator[Row]:
    """Yield for each design how often a table says something wrong of any two models."""
    for design in DESIGNS:
        for name, strengths in (("equal", EQUAL), ("unequal", MIXED)):
            for questions in (80, 300) if design in {sparse, swiss} else (80,):
                yield _family_wise(design, name, strengths, questions, samples)


def _family_wise(
    design: Callable[[Table, int], list[Two]], name: str, strengths: Sequence[float], questions: int, samples: int
) -> Row:
    wrong = apart = unequal = 0
    for seed in range(samples):
        table = Table(strengths, questions, np.random.default_rng(seed))
        for question in range(questions):
            table.play(question, design(table, question))
        found = compared_strengths(table.pairs(), resamplings=0)
        errors = 0
        for pair in found.pairs:
            lead = strengths[int(pair.model_1[1:])] - strengths[int(pair.model_2[1:])]
            right = "model_1" if lead > 0 else "model_2" if lead < 0 else None
            errors += pair.better not in {None, right}
            unequal += right is not None
            apart += right is not None and pair.better == right
        wrong += errors > 0
    what = f"pairs, {design.__name__.replace('_', ' ')}, {name} models"
    return Row(what, questions, wrong / samples, apart / unequal if unequal else None)


def sparse_file(samples: int) -> Iterator[Row]:
    """Yield the share of 105 pairs told apart in a file of 15 models with one pair a question."""
    strengths = np.linspace(-2, 2, 15).tolist()
    for questions in (1000, 2000, 3000):
        yield _family_wise(one_pair, "15 evenly spread", strengths, questions, max(2, samples // 40))


def gate(samples: int) -> Iterator[Row]:
    """Yield false alarms of the gate, its power at the smallest drop that it names, and those of a margin."""
    for questions in (40, 80):
        alarms = seen = as_good_wrongly = as_good_rightly = 0
        for seed in range(samples):
            random = np.random.default_rng(seed)
            old = 6 + random.normal(0, 1.5, questions)
            noise = random.normal(0, 1.7, questions)
            same = _runs(old + noise, old)
            alarms += same.better == "model_2"
            drop = 2.8 * 1.7 / np.sqrt(questions)
            seen += _runs(old + noise - drop, old).better == "model_2"
            as_good_wrongly += as_good(_runs(old + noise - 0.5, old, 1000), 0.5)
            as_good_rightly += as_good(_runs(old + noise, old, 1000), 0.9)
        yield Row(
            "gate: alarm without a drop; with the smallest drop it names", questions, alarms / samples, seen / samples
        )
        what = "as good as: at a drop of the margin (at most 2.5%); without a drop, margin 0.9"
        yield Row(what, questions, as_good_wrongly / samples, as_good_rightly / samples)


def _runs(new: Floats, old: Floats, resamplings: int = 0):  # type: ignore[no-untyped-def]
    def one(values: Floats) -> Matrix:
        ids, nothing = tuple(range(len(values))), np.zeros(1, dtype=np.int64)
        return Matrix(ids, (None,) * len(ids), ("x",), (1,), values[:, None, None], nothing)

    [pair] = compare_runs(one(new), one(old), resamplings=resamplings).pairs
    return pair


def intervals(samples: int) -> Iterator[Row]:
    """Yield how often the interval of an average misses the true one, with the categories' mix held fixed and not."""
    for n in (10, 20, 40, 80):
        for name in ("one group (--by none)", "grouped by category, of which the mix is random"):
            missed = 0
            for seed in range(samples):
                random = np.random.default_rng(seed)
                effect = random.normal(0, 1, 8)
                # questions are drawn with their category, so the mix is random too
                drawn = random.integers(0, 8, n)
                scores = np.clip(np.rint(6 + effect[drawn] + random.normal(0, 1.5, n)), 1, 10)
                truth = float(np.mean([_clipped_mean(6 + own) for own in effect]))
                own = [0] * n if "none" in name else [int(at) for at in drawn]
                found = estimates(scores[:, None], np.ones((n, 1)), own, resamplings=1000, seed=seed)[0]
                missed += found.low is None or found.high is None or not found.low <= truth <= found.high
            yield Row(f"interval of an average misses, {name}", n, missed / samples, None)


def corrected(samples: int) -> Iterator[Row]:
    """Yield how often a win rate corrected by one vote an item misses what all raters would say of all questions."""
    truth = float((1 / (1 + np.exp(-0.3 - np.random.default_rng(99).normal(0, 1.28**0.5, 200_000)))).mean())
    for questions, items in ((80, 2), (80, 10)):
        for what, share in (("whole questions", 0.5), ("single votes", 0.5), ("single votes", 0.9), ("all", 1.0)):
            missed = 0
            for seed in range(samples):
                judged, voted = _votes(questions, items, what == "whole questions", share, np.random.default_rng(seed))
                found = corrected_rates(judged, voted, finite=False).rows
                [rate] = [row.corrected for row in found if row.model == "x"]
                missed += rate.low is None or rate.high is None or not rate.low <= truth <= rate.high
            told = f"corrected win rate misses, {items} items, votes on {share:.0%}: {what}"
            yield Row(told, questions, missed / samples, None)


def _votes(questions: int, items: int, whole: bool, share: float, random: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Return a judge's verdicts on all items, and one vote on some."""
    chosen = set(random.permutation(questions)[: int(share * questions)].tolist())
    judged, voted = [], []
    for question, effect in enumerate(random.normal(0, 0.8, questions).tolist()):
        for item in range(items):
            lead = 0.3 + effect + random.normal(0, 0.8)
            judged.append((question, item, float(random.random() < 1 / (1 + np.exp(-lead - 0.3)))))
            if question in chosen if whole else random.random() < share:
                voted.append((question, item, float(random.random() < 1 / (1 + np.exp(-lead)))))
    return _of_two(judged, questions), _of_two(voted, questions)


def _of_two(rows: Sequence[tuple[int, int, float]], questions: int) -> Pairs:
    question, turn, said = (np.array(own) for own in zip(*rows, strict=True))
    first, ids = np.zeros(len(rows), dtype=np.int64), tuple(range(questions))
    return Pairs(ids, (None,) * questions, ("x", "y"), question, turn, first, first + 1, said, said, said)


def _clipped_mean(center: float) -> float:
    grid = np.linspace(-5, 5, 401)
    weight = np.exp(-(grid**2) / 2)
    return float((np.clip(np.rint(center + 1.5 * grid), 1, 10) * weight).sum() / weight.sum())


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "pairs": family_wise, "sparse": sparse_file, "gate": gate, "intervals": intervals, "corrected": corrected,
}  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=400, help="of each row (default: 400)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts (default: all)")
    args = parser.parse_args()
    print("| what | questions | wrong | right |\n| --- | ---: | ---: | ---: |")
    for name in args.only:
        for row in PARTS[name](args.samples):
            right = "" if row.right is None else f"{row.right:.1%}"
            print(f"| {row.what} | {row.n} | {row.wrong:.1%} | {right} |", flush=True)


if __name__ == "__main__":
    main()

"""Error rates of the statistics of tables, in simulation: every such statement in the project is a row here.

    python -m benchmarks.coverage                                 all, 400 samples of each row, on two cores
    python -m benchmarks.coverage --samples 50 --only pairs

Prints a Markdown table; the seeds are fixed. `wrong` is the share of samples with a false verdict or alarm, or with an
interval that misses; `right` the share of true differences that are found. The designs are in `benchmarks.designs`.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # one core a process; must be set before numpy is imported
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from benchmarks.designs import (  # noqa: E402
    DESIGNS,
    NU,
    Design,
    graded,
    of_two,
    one_pair,
    sparse,
    swiss,
    table_of,
)
from harness.old.meta_evaluation.contingency import cohen_kappa, table_estimate  # noqa: E402
from harness.old.meta_evaluation.corrected import LEAST, corrected_rates  # noqa: E402
from harness.old.meta_evaluation.ranking import OurScores, ranking_report  # noqa: E402
from harness.old.meta_evaluation.repeat import records, repeat_report  # noqa: E402
from harness.old.results.matrix import Floats, Matrix, Pairs  # noqa: E402
from harness.old.results.pairs.bradley_terry import ranking  # noqa: E402
from harness.old.results.pairs.comparing import compared_strengths  # noqa: E402
from harness.old.results.pairs.matrix import mean_over_opponents  # noqa: E402
from harness.old.results.pairs.rates import adjusted_rates  # noqa: E402
from harness.old.results.runs import as_good  # noqa: E402
from harness.old.results.statistics.bootstrap import Estimate, estimates  # noqa: E402
from harness.old.results.statistics.paired import Paired, compare_runs, paired  # noqa: E402

EQUAL: tuple[float, ...] = (0.0,) * 6
MIXED: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0, 1.0, 2.0)
RESAMPLINGS = 1000


class Row(NamedTuple):
    """One line of the table."""

    what: str
    n: int
    """Questions."""
    wrong: float
    right: float | None = None


Task = Callable[[int], Row]
"""Makes a row from a number of samples."""


# Verdicts on pairs, by design


def pairs_tasks() -> Iterator[Task]:
    """Yield for each design how often a table says something wrong of any two models."""
    for design in DESIGNS:
        for name, strengths in (("equal models", EQUAL), ("unequal models", MIXED)):
            for questions in (80, 300) if design in {sparse, swiss} else (80,):
                yield partial(pairs_row, design, name, strengths, questions, NU)
    more: tuple[tuple[str, tuple[float, ...], int, float], ...] = (
        ("equal models", EQUAL, 10, NU), ("equal models", EQUAL, 20, NU), ("equal, 9 of 10 tie", EQUAL, 40, 18.0),
        ("two equal models and a baseline", EQUAL[:3], 40, NU), ("15 equal models", (0.0,) * 15, 80, NU),
    )  # fmt: skip
    for name, strengths, questions, nu in more:
        for design in DESIGNS[:2] if len(strengths) > 3 else DESIGNS[1:2]:
            yield partial(pairs_row, design, name, strengths, questions, nu)


def sparse_tasks() -> Iterator[Task]:
    """Yield the share of 105 pairs that are told apart in a file of 15 models with one pair a question."""
    strengths: tuple[float, ...] = tuple(np.linspace(-2, 2, 15).tolist())
    for questions in (1000, 2000, 3000):
        yield partial(pairs_row, one_pair, "15 models evenly spread", strengths, questions, NU)


def pairs_row(
    design: Design, name: str, strengths: Sequence[float], questions: int, nu: float, samples: int
) -> Row:
    """Return how often any two models are told apart the wrong way, and how often the right way."""
    wrong = apart = unequal = 0
    for seed in range(samples):
        table = table_of(design, strengths, questions, np.random.default_rng(seed), nu)
        errors = 0
        for pair in compared_strengths(
            table.pairs(), baseline=design.baseline, resamplings=0
        ).pairs:
            lead = strengths[int(pair.model_1[1:])] - strengths[int(pair.model_2[1:])]
            right = "model_1" if lead > 0 else "model_2" if lead < 0 else None
            errors += pair.better not in {None, right}
            unequal += right is not None
            apart += right is not None and pair.better == right
        wrong += errors > 0
    return Row(
        f"pairs: {design.name}, {name}",
        questions,
        wrong / samples,
        apart / unequal if unequal else None,
    )


# Verdicts on grades


def grades_tasks() -> Iterator[Task]:
    """Yield how often a table of grades tells equal models apart, and finds a difference of 1."""
    for questions in (10, 20, 80):
        yield partial(grades_row, "", questions, 0.0, False)
    yield partial(grades_row, ", 30% of the grades missing", 80, 0.3, False)
    yield partial(grades_row, ", half of one model's questions missing", 80, -0.5, False)
    yield partial(grades_row, ", nearly all at the top", 80, 0.0, True)


def grades_row(name: str, questions: int, missing: float, top: bool, samples: int) -> Row:
    """Return false and right verdicts of six models: five equal, and in a second table one better by 1."""
    wrong = right = 0
    for seed in range(samples):
        scores = graded(questions, 6, np.random.default_rng(seed), missing=missing, top=top)
        wrong += paired(_matrix(scores), resamplings=0).told_apart > 0
        scores[:, 5] += 1.0
        right += sum(
            p.better == "model_2"
            for p in paired(_matrix(scores), resamplings=0).pairs
            if p.model_2 == "m5"
        )
    return Row(
        f"grades: six equal models{name}; one better by 1",
        questions,
        wrong / samples,
        right / samples / 5,
    )


def _matrix(scores: Floats) -> Matrix:
    ids, nothing = tuple(range(len(scores))), np.zeros(scores.shape[1], dtype=np.int64)
    models = tuple(f"m{at}" for at in range(scores.shape[1]))
    return Matrix(ids, (None,) * len(ids), models, (1,), scores[:, :, None], nothing)


# The gate


def gate_tasks() -> Iterator[Task]:
    """Yield false alarms of the gate, its power at the smallest drop that it names, and those of a margin."""
    for questions in (40, 80):
        yield partial(gate_row, questions)
        yield partial(margin_row, questions)


def gate_row(questions: int, samples: int) -> Row:
    """Return how often a run is worse without a drop, and with the smallest drop that is named."""
    alarms = seen = 0
    for old, noise in _runs(questions, samples):
        alarms += _compared(old + noise, old).better == "model_2"
        seen += _compared(old + noise - 2.8 * 1.7 / np.sqrt(questions), old).better == "model_2"
    return Row(
        "gate: alarm without a drop; at the smallest drop that it names",
        questions,
        alarms / samples,
        seen / samples,
    )


def margin_row(questions: int, samples: int) -> Row:
    """Return how often a run is shown to be as good at a drop of the margin, and without a drop."""
    wrong = right = 0
    for old, noise in _runs(questions, samples):
        wrong += as_good(_compared(old + noise - 0.5, old, RESAMPLINGS), 0.5)
        right += as_good(_compared(old + noise, old, RESAMPLINGS), 0.9)
    return Row(
        "gate: as good at a drop of the margin (2.5%); no drop, margin 0.9",
        questions,
        wrong / samples,
        right / samples,
    )


def _runs(questions: int, samples: int) -> Iterator[tuple[Floats, Floats]]:
    for seed in range(samples):
        random = np.random.default_rng(seed)
        yield 6 + random.normal(0, 1.5, questions), random.normal(0, 1.7, questions)


def _compared(new: Floats, old: Floats, resamplings: int = 0) -> Paired:
    one, other = _matrix(new[:, None]), _matrix(old[:, None])
    return compare_runs(one, other, resamplings=resamplings).pairs[0]


# Intervals


def intervals_tasks() -> Iterator[Task]:
    """Yield how often an interval misses, by what it is of."""
    for n in (5, 10, 20, 40, 80):
        yield partial(mix_row, "grades, any mix of 8 categories", n, False, False)
    for n in (40, 80):
        yield partial(mix_row, "grades, this mix (--by category)", n, True, True)
    yield partial(
        mix_row, "grades, any mix asked of questions that all have this mix", 80, True, False
    )
    for n, share in ((10, 0.9), (20, 0.95), (80, 0.98), (80, 0.9), (200, 0.95), (80, 0.5)):
        yield partial(share_row, n, share)
    for n in (10, 20, 80):
        yield partial(top_row, n)
    for n in (20, 80):
        yield partial(choices_row, n)
        yield partial(samples_row, n)
        yield partial(missing_row, n)
    for n in (10, 30, 80):
        yield partial(rates_row, "win rate", n)
        yield partial(rates_row, "mean over opponents", n)
        yield partial(rates_row, "strength (Bradley-Terry), six models 0.4 apart", n)
    for n in (10, 40, 80):
        yield partial(kappa_row, n)
    for models in (8, 34):
        yield partial(ranking_row, models)
    for facet in ("question", "model", "repeat"):
        yield partial(components_row, facet, 40)


def _missed(found: Sequence[Estimate], truth: float) -> float:
    """Return the share of intervals without the truth; one that is not there is left out."""
    there = [(own.low, own.high) for own in found if own.low is not None and own.high is not None]
    return sum(not low - 1e-9 <= truth <= high + 1e-9 for low, high in there) / max(1, len(there))


def _columns(
    what: str, sums: Floats, counts: Floats, truth: float, bounds: tuple[float, float] | None
) -> Row:
    """Return the row of samples that are columns."""
    found = estimates(sums, counts, resamplings=RESAMPLINGS, bounds=bounds)
    return Row(
        f"interval: {what}", len(sums), _missed([found[at] for at in range(sums.shape[1])], truth)
    )


def mix_row(what: str, n: int, fixed: bool, grouped: bool, samples: int) -> Row:
    """Return the row of the mean of grades in 8 categories; `fixed`: each has n / 8 questions."""
    found, effect = [], np.random.default_rng(0).normal(0, 1, 8)
    for seed in range(samples):
        random = np.random.default_rng(seed)
        drawn = np.arange(n) % 8 if fixed else random.integers(0, 8, n)
        scores = np.clip(np.rint(6 + effect[drawn] + random.normal(0, 1.5, n)), 1, 10)
        groups = drawn.tolist() if grouped else None
        found.append(
            estimates(scores[:, None], np.ones((n, 1)), groups, resamplings=RESAMPLINGS, seed=seed)[
                0
            ]
        )
    truth = float(np.mean([_clipped_mean(6 + own, 1.5) for own in effect]))
    return Row(f"interval: mean of {what}", n, _missed(found, truth))


def _clipped_mean(center: float, sd: float) -> float:
    grid = np.linspace(-5, 5, 4001)
    weight = np.exp(-(grid**2) / 2)
    return float((np.clip(np.rint(center + sd * grid), 1, 10) * weight).sum() / weight.sum())


def share_row(n: int, share: float, samples: int) -> Row:
    """Return the row of a share: wins without ties, labels, checks."""
    drawn = (np.random.default_rng(n).random((n, samples)) < share).astype(np.float64)
    return _columns(f"share, truly {share:.0%}", drawn, np.ones(drawn.shape), share, (0.0, 1.0))


def top_row(n: int, samples: int) -> Row:
    """Return the row of grades most of which are 10."""
    values, chances = np.array([10.0, 9.0, 8.0, 3.0]), np.array([0.85, 0.08, 0.05, 0.02])
    drawn = np.random.default_rng(n).choice(values, (n, samples), p=chances)
    return _columns(
        "mean of grades, 85% of which are 10",
        drawn,
        np.ones(drawn.shape),
        float(values @ chances),
        (1, 10),
    )


def choices_row(n: int, samples: int) -> Row:
    """Return the row of questions with one to five choices, the hard ones with more."""
    random = np.random.default_rng(n)
    hard, counts = (
        random.normal(0, 1, (n, samples)),
        random.integers(1, 4, (n, samples)).astype(np.float64),
    )
    counts += 2.0 * (hard > 0.5)
    sums = counts * (6 - hard) + np.sqrt(counts) * random.normal(0, 1, hard.shape)
    big = np.random.default_rng(1).normal(0, 1, 2_000_000)
    weight = 2 + 2.0 * (big > 0.5)
    return _columns(
        "mean over ratings, one to five choices",
        sums,
        counts,
        float((weight * (6 - big)).mean() / weight.mean()),
        None,
    )


def samples_row(n: int, samples: int) -> Row:
    """Return the row of three samples of a noisy judge, averaged."""
    random = np.random.default_rng(n)
    scores = (
        6 + random.normal(0, 1, (n, samples)) + random.normal(0, 1.5, (3, n, samples)).mean(axis=0)
    )
    return _columns(
        "mean of three samples of a judge", 3 * scores, np.full(scores.shape, 3.0), 6.0, None
    )


def missing_row(n: int, samples: int) -> Row:
    """Return the row of grades of which 30% are missing at random."""
    random = np.random.default_rng(n)
    there = (random.random((n, samples)) > 0.3).astype(np.float64)
    return _columns(
        "mean of grades, 30% missing at random",
        there * (6 + random.normal(0, 2, there.shape)),
        there,
        6.0,
        None,
    )


_RATED = tuple(0.4 * at for at in range(6))


def rates_row(what: str, n: int, samples: int) -> Row:
    """Return the row of the third of six models, all pairs judged."""
    read: Callable[[Pairs], Estimate | None] = {
        "win rate": _win_rate, "mean over opponents": _mean_over,
    }.get(what, _strength)  # fmt: skip
    whole = read(table_of(DESIGNS[0], _RATED, 4000, np.random.default_rng(10**6)).pairs())
    assert whole is not None
    found = [
        read(table_of(DESIGNS[0], _RATED, n, np.random.default_rng(seed)).pairs())
        for seed in range(samples)
    ]
    return Row(
        f"interval: {what}",
        n,
        _missed([own for own in found if own is not None], whole.value or 0.0),
    )


def _win_rate(pairs: Pairs) -> Estimate:
    return adjusted_rates(pairs, resamplings=RESAMPLINGS)["m2"]


def _mean_over(pairs: Pairs) -> Estimate | None:
    lines = mean_over_opponents(pairs, resamplings=RESAMPLINGS)
    return next(line.estimates()["mean_over_opponents"] for line in lines if line.model == "m2")


def _strength(pairs: Pairs) -> Estimate | None:
    few = RESAMPLINGS if len(pairs.questions) < 1000 else 0
    return next(
        (row.fields["rating"] for row in ranking(pairs, resamplings=few).rows if row.model == "m2"),
        None,
    )


def kappa_row(n: int, samples: int) -> Row:
    """Return the row of the agreement of two raters who see the same question in part."""
    truth = float(cohen_kappa(_agreed(20_000, np.random.default_rng(10**6)).sum(axis=0)))
    found = [
        table_estimate(
            _agreed(n, np.random.default_rng(seed)), cohen_kappa, resamplings=RESAMPLINGS
        )
        for seed in range(samples)
    ]
    return Row("interval: kappa of two raters, 6 items a question", n, _missed(found, truth))


def _agreed(questions: int, random: np.random.Generator) -> Floats:
    tables = np.zeros((questions, 3, 3))
    easy = random.beta(4, 2, questions)
    for _ in range(6):
        one = random.integers(0, 3, questions)
        other = np.where(random.random(questions) < easy, one, random.integers(0, 3, questions))
        np.add.at(tables, (np.arange(questions), one, other), 1.0)
    return tables


def ranking_row(models: int, samples: int) -> Row:
    """Return the row of Spearman's correlation of models' scores with another ranking, of normal scores 0.9."""
    truth, found = 6 / np.pi * np.arcsin(0.9 / 2), []
    for seed in range(samples):
        random = np.random.default_rng(seed)
        theirs = random.normal(0, 1, models)
        ours = 0.9 * theirs + (1 - 0.81) ** 0.5 * random.normal(0, 1, models)
        scores = ours + random.normal(0, 1, (80, 1)) + random.normal(0, 2, (80, models))
        names = tuple(f"m{at}" for at in range(models))
        report = ranking_report(
            OurScores(names, scores, np.ones(scores.shape)),
            dict(zip(names, theirs, strict=True)),
            resamplings=RESAMPLINGS,
        )
        found.append(report.spearman)
    ends = [Estimate(own.value, own.low, own.high, 80, None) for own in found]
    return Row(
        f"interval: Spearman's correlation of {models} models with another ranking",
        80,
        _missed(ends, float(truth)),
    )


_MODELS = np.array([-0.8, -0.2, 0.3, 0.7])
_VARIANCES = {"question": 1.0, "model": float(_MODELS.var(ddof=1)), "repeat": 0.49}


def components_row(facet: str, n: int, samples: int) -> Row:
    """Return the row of a variance of `judge_report repeat`: four given models, two samples of one judge."""
    found = []
    for seed in range(samples):
        random = np.random.default_rng(seed)
        question, both = random.normal(0, 1, n), random.normal(0, 0.6, (n, 4))
        rows = [
            (q, m, 0, 0, question[q] + _MODELS[m] + both[q, m] + random.normal(0, 0.7))
            for q in range(n) for m in range(4) for _ in range(2)
        ]  # fmt: skip
        report = repeat_report(records(rows), resamplings=RESAMPLINGS)
        found += [own.variance for own in report.components if own.facet == facet]
    return Row(f"interval: variance of facet {facet}", n, _missed(found, _VARIANCES[facet]))


# Win rates corrected by votes


def corrected_tasks() -> Iterator[Task]:
    """Yield how often a corrected win rate misses what all raters would say of all questions."""
    for items in (2, 5, 15):
        for votes in (100, 300, 1000):
            for how in ("single votes", "whole items (3 votes each)", "whole questions"):
                voted = votes // items if "questions" in how else 80
                if voted >= LEAST and votes <= 80 * items * (3 if "items" in how else 1):
                    yield partial(corrected_row, 80, items, how, votes)
    yield partial(corrected_row, 300, 4, "single votes", 1000)
    yield partial(corrected_row, 300, 4, "whole questions", 400)


def corrected_row(questions: int, items: int, how: str, votes: int, samples: int) -> Row:
    """Return the row of one design of votes; the judge is biased towards the model."""
    random = np.random.default_rng(10**6)
    truth = float((1 / (1 + np.exp(-0.3 - random.normal(0, 1.28**0.5, 2_000_000)))).mean())
    missed = there = 0
    for seed in range(samples):
        judged, voted = _votes(questions, items, how, votes, np.random.default_rng(seed))
        [rate] = [
            r["corrected"]
            for r in corrected_rates(judged, voted, finite=False).rows
            if r["model"] == "x"
        ]
        if rate.low is not None and rate.high is not None:
            there += 1
            missed += not rate.low <= truth <= rate.high
    return Row(
        f"corrected win rate: {items} items a question, {votes} votes, {how}",
        questions,
        missed / max(1, there),
    )


def _votes(
    questions: int, items: int, how: str, votes: int, random: np.random.Generator
) -> tuple[Pairs, Pairs]:
    """Return a judge's verdicts on all items, and votes on some."""
    lead = 0.3 + random.normal(0, 0.8, (questions, 1)) + random.normal(0, 0.8, (questions, items))
    every = np.stack(
        np.meshgrid(np.arange(questions), np.arange(items), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    each = 3 if "items" in how else 1
    if "questions" in how:
        chosen = random.permutation(questions)[: max(1, votes // items)]
        asked = every[np.isin(every[:, 0], chosen)]
    else:
        asked = np.repeat(every[random.permutation(len(every))[: votes // each]], each, axis=0)
    chance = 1 / (1 + np.exp(-lead))
    judged = [
        (q, i, float(random.random() < 1 / (1 + np.exp(-lead[q, i] - 0.3))))
        for q, i in every.tolist()
    ]
    voted = [(q, i, float(random.random() < chance[q, i])) for q, i in asked.tolist()]
    return of_two(judged, questions), of_two(voted, questions)


PARTS: dict[str, Callable[[], Iterator[Task]]] = {
    "pairs": pairs_tasks, "sparse": sparse_tasks, "grades": grades_tasks, "gate": gate_tasks,
    "intervals": intervals_tasks, "corrected": corrected_tasks,
}  # fmt: skip


def _made(task: Task, samples: int) -> Row:
    return task(samples)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=400, help="of each row (default: 400)")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts (default: all)"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    args = parser.parse_args()
    tasks = [task for name in args.only for task in PARTS[name]()]
    samples = [
        max(2, args.samples // 10) if task in [*sparse_tasks()] else args.samples for task in tasks
    ]
    print("| what | questions | wrong | right |\n| --- | ---: | ---: | ---: |")
    with ProcessPoolExecutor(args.workers) as pool:
        for row in pool.map(_made, tasks, samples):
            right = "" if row.right is None else f"{row.right:.1%}"
            print(f"| {row.what} | {row.n} | {row.wrong:.1%} | {right} |", flush=True)


if __name__ == "__main__":
    main()

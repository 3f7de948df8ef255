"""How often intervals hold the truth, and how often equal models are called different.

    python benchmarks/coverage.py --tables 1000

Only the equal models are compared, so that Holm's method does not hide an error rate behind others.
Each design is simulated many times with known truth, and read as `show_result` reads it: means and
win rates by `summarize`, "better" by `rank`'s comparisons. A line passes if the intervals hold the
truth in at least 93% of the cases, and equal models are called different in at most 5% of the
tables, the error of the simulation allowed for: three standard errors, as there are
some seventy lines.

Below these a line for each statement of a page: in how many tables it is said although it is false,
of at most 5%, or is not said although it is true, of at most what stands beside it.

Last the reach of `run_bench --levels`, of templates that are easier or harder than their level by a
standard deviation of two levels: bias at most 0.2, intervals that hold the truth in 91 to 97%.

Grades: ability + difficulty of the question + how well the model knows it + noise, rounded to 1–10.
Pairs: two games in swapped order, each lost or won by the difference of abilities and a logistic
noise, a tie where the two are close; games that disagree are a tie. With question effects a model
is better at some questions than at others, against all opponents alike.
"""

import argparse
import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.extras.judges.corrected import correct_rate
from harness.extras.judges.worth import Panel as Judges
from harness.extras.judges.worth import worth_of
from harness.extras.levels import next_level
from harness.judging.draw import drawn_pairs
from harness.reporting.kinds import sections_of
from harness.reporting.remarks import dissent
from harness.reporting.section import View
from harness.results import (
    Ranking,
    Scores,
    Source,
    compare,
    of_rows,
    panels,
    rank,
    summarize,
)
from harness.results.agreement import RatedItem as Judged
from harness.results.compare import against_baseline
from harness.results.drift import Differences, Drift
from harness.results.estimate import LEVEL
from harness.results.gate import Gated, at_levels, compare_model, judge_faults
from harness.results.length_control import Gamed, fit
from harness.results.position import flips
from harness.results.reach import HIGHEST, LOWEST, Attempts, reach_of
from harness.results.series import nominal_level
from harness.results.slices import Worst, worst_slice
from harness.types import Judgment, Question

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
DRAWN = "strengths"
"""In the name of a design whose models are compared by strengths."""
TIE, BIAS = 0.45, 0.5
"""Games closer than this are ties, about a quarter; what standing first is worth."""


class Table(NamedTuple):
    """One simulated table, with the truth about it."""

    scores: Scores
    truth: dict[str, float]
    """Each model's true mean; empty where its opponents are not of one kind."""
    equal: tuple[tuple[str, str], ...]
    """Models that are equally good."""


class Outcome(NamedTuple):
    """What came of one design."""

    name: str
    questions: int
    intervals: int
    covered: int
    tables: int
    false: int
    compared: int
    """Tables in which equal models could be compared."""

    @property
    def passes(self) -> bool:
        """Whether both shares are as they should be."""
        allowed = 3 * math.sqrt(0.93 * 0.07 / self.intervals) if self.intervals else 0.0
        covers = not self.intervals or self.covered / self.intervals >= 0.93 - allowed
        most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / self.tables)
        return covers and self.false / self.tables <= most


def table(
    question: Ints,
    turn: Ints,
    model: Ints,
    opponent: Ints,
    value: Floats,
    questions: int,
    models: int,
) -> Scores:
    """Return scores of one judge and one metric."""
    paired = bool((opponent >= 0).all())
    source = Source("judge", "pair" if paired else "grade", scale=None)
    zeros = np.zeros(len(value), dtype=np.int64)
    none = np.full(len(value), np.nan)
    return Scores(
        np.arange(len(value)),
        question,
        turn,
        model,
        opponent,
        zeros,
        zeros,
        value,
        none,
        none,
        tuple(Question(question_id=q, category="", turns=[]) for q in range(questions)),
        tuple(f"m{m}" for m in range(models)),
        ("win" if paired else "score",),
        (source,),
    )


def as_labels(scores: Scores) -> Scores:
    """Return the scores as labels: 1 or 0, whose means are shares."""
    sources = tuple(source._replace(form="label") for source in scores.sources)
    return Scores(**{**scores.__dict__, "sources": sources})


# Designs


def grades(rng: np.random.Generator, questions: int) -> Table:
    """Four models graded in two turns; the first two are equal."""
    ability = np.array([6.5, 6.5, 7.2, 8.6])
    size = (4, questions, 2)
    value = ability[:, None, None] + rng.normal(0, 1, (1, questions, 1))
    value = value + rng.normal(0, 1.2, (4, questions, 1)) + rng.normal(0, 1, size)
    value = np.clip(np.round(value), 1, 10)
    model, question, turn = (column.ravel() for column in np.indices(size))
    scores = table(question, turn + 1, model, np.full(len(model), -1), value.ravel(), questions, 4)
    return Table(scores, GRADES, (("m0", "m1"),))


def shares(rng: np.random.Generator, questions: int, turns: int = 1) -> Table:
    """Three models of which two are right on 97% of the questions, with as many turns as given."""
    chance = np.array([0.97, 0.97, 0.8])
    latent = math.sqrt(0.5) * rng.normal(0, 1, (3, questions, 1))
    latent = latent + math.sqrt(0.5) * rng.normal(0, 1, (3, questions, turns))
    cut = np.array([1.8808, 1.8808, 0.8416])  # the normal quantiles of the shares
    value = (latent < cut[:, None, None]).astype(np.float64)
    model, question, turn = (share.ravel() for share in np.indices(value.shape))
    scores = table(question, turn + 1, model, np.full(len(model), -1), value.ravel(), questions, 3)
    truth = {f"m{at}": float(share) for at, share in enumerate(chance)}
    return Table(as_labels(scores), truth, (("m0", "m1"),))


def two_games(
    rng: np.random.Generator,
    ability: Floats,
    question: Ints,
    first: Ints,
    second: Ints,
    effect: float,
) -> Floats:
    """Return the outcome of each pair from two games."""
    level = ability[:, None] + effect * rng.normal(0, 1, (len(ability), question.max() + 1))
    gap = level[first, question] - level[second, question]
    sides = []
    for bias in (BIAS, -BIAS):
        game = gap + bias + rng.logistic(0, 1, len(gap))
        sides.append(np.where(np.abs(game) < TIE, 0.0, np.sign(game)))
    return np.where(sides[0] == sides[1], (sides[0] + 1) / 2, 0.5)


def pairs(
    rng: np.random.Generator,
    ability: Floats,
    meet: list[tuple[int, int]],
    equal: tuple[tuple[str, str], ...],
    questions: int,
    *,
    effect: float,
    drawn: int = 0,
    truth: dict[str, float] | None = None,
) -> Table:
    """Return a table of pairs: all of `meet` on each question, or as many drawn at random."""
    size = drawn or len(meet)
    which = np.tile(np.arange(len(meet)), (questions, 1))
    which = rng.permuted(which, axis=1)[:, :size].ravel()
    question = np.repeat(np.arange(questions), size)
    first, second = np.array(meet)[which].T
    value = two_games(rng, ability, question, first, second, effect)
    ones = np.ones(len(value), dtype=np.int64)
    scores = table(question, ones, first, second, value, questions, len(ability))
    return Table(scores, truth or {}, equal)


def drawn_share(
    rng: np.random.Generator, ability: Floats, share: float, questions: int, *, effect: float
) -> Table:
    """Return a table of the pairs that `gen_judgment --share` draws; the first two are equal."""
    names = [f"m{at}" for at in range(len(ability))]
    first_id = int(rng.integers(1 << 40))
    meetings = [
        (question, *sorted(int(name[1:]) for name in pair))
        for question in range(questions)
        for pair in drawn_pairs(first_id + question, 1, names, share)
    ]
    question, first, second = np.array(meetings).T
    value = two_games(rng, ability, question, first, second, effect)
    ones = np.ones(len(value), dtype=np.int64)
    scores = table(question, ones, first, second, value, questions, len(ability))
    return Table(scores, {}, TWINS)


def every(models: int) -> list[tuple[int, int]]:
    """Return all pairs of some models."""
    return [(a, b) for a in range(models) for b in range(a + 1, models)]


ALL_EQUAL = tuple((f"m{a}", f"m{b}") for a, b in every(5))
LADDER = np.array([0.0, 0.0, 2.0, 1.0, -1.0, -2.0])
EIGHT = np.array([0.0, 0.0, 2.0, 1.0, 0.5, -0.5, -1.0, -2.0])
TWINS = (("m0", "m1"),)
STRONG_WEAK = [(0, 2), (0, 3), (0, 4), (1, 4), (1, 5), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5)]
"""m0 meets strong models and m1 weak ones; they have one opponent in common."""
WEAKEST = [(a, b) for a, b in every(6) if a != 1 and (b != 1)] + [(1, 5)]
BASELINE = [(at, 5) for at in range(5)]


def pair_designs(effect: float) -> dict[str, Callable[[np.random.Generator, int], Table]]:
    """Return the designs with pairs, with or without question effects."""
    even = np.zeros(5)
    half = {f"m{at}": 0.5 for at in range(5)}

    def of(
        ability: Floats,
        meet: list[tuple[int, int]],
        equal: tuple[tuple[str, str], ...],
        drawn: int = 0,
        truth: dict[str, float] | None = None,
    ) -> Callable[[np.random.Generator, int], Table]:
        return lambda rng, n: pairs(
            rng, ability, meet, equal, n, effect=effect, drawn=drawn, truth=truth
        )

    return {
        "all pairs, five equal": of(even, every(5), ALL_EQUAL, truth=half),
        "one random pair a question": of(even, every(5), ALL_EQUAL, 1, half),
        "three random pairs a question": of(even, every(5), ALL_EQUAL, 3, half),
        f"one random pair a question, {DRAWN}": of(even, every(5), ALL_EQUAL, 1, half),
        f"three random pairs a question, {DRAWN}": of(even, every(5), ALL_EQUAL, 3, half),
        f"a share of 0.1, eight models, {DRAWN}": lambda rng, n: drawn_share(
            rng, EIGHT, 0.1, n, effect=effect
        ),
        f"a share of 0.25, eight models, {DRAWN}": lambda rng, n: drawn_share(
            rng, EIGHT, 0.25, n, effect=effect
        ),
        "different opponents": of(LADDER, STRONG_WEAK, TWINS),
        "different opponents, three random": of(LADDER, STRONG_WEAK, TWINS, 3),
        "a twin met only the weakest": of(LADDER, WEAKEST, TWINS),
        "baseline only": of(np.zeros(6), BASELINE, ALL_EQUAL),
        "baseline only, it is weak (0.97)": of(
            np.array([0, 0, 0, 0, 0, -4.0]), BASELINE, ALL_EQUAL
        ),
    }


def simulate(
    name: str,
    design: Callable[[np.random.Generator, int], Table],
    questions: int,
    tables: int,
    *,
    drawn: bool = False,
) -> Outcome:
    """Return how often intervals hold the truth and equal models are called different."""
    rng = np.random.default_rng([questions, *name.encode()])
    intervals = covered = false = compared = 0
    for _ in range(tables):
        scores, truth, equal = design(rng, questions)
        names = list(dict.fromkeys(name for two in equal for name in two))
        for row in summarize(scores):
            interval = row.mean.interval
            if row["model"] in truth and interval is not None:
                intervals += 1
                covered += interval.low - 1e-9 <= truth[row["model"]] <= interval.high + 1e-9
        comparisons = compare(scores, names, drawn=drawn)
        twins = [comparisons.between(*two) for two in equal]
        compared += any(row.p is not None for row in twins)
        false += any(row.better is not None for row in twins)
    return Outcome(name, questions, intervals, covered, tables, false, compared)


def true_grades() -> dict[str, float]:
    """Return the true means of `grades`, from a table of many questions."""
    rng = np.random.default_rng(0)
    scores = grades(rng, 400_000).scores
    return {row["model"]: row.mean.value for row in summarize(scores)}


# Statements


class Statement(NamedTuple):
    """What a page may say, and how often it is wrong."""

    name: str
    wrong: Callable[[np.random.Generator, int], bool]
    """Simulates a table with some questions; whether what is said of it is wrong."""
    most: float = 0.05
    """The largest share of tables in which it may be."""
    each: int = 1
    """Every how many tables one is simulated; more for what takes long."""
    questions: tuple[int, ...] = (8, 20, 80)


def equal_grades(rng: np.random.Generator, questions: int, models: int) -> Scores:
    """Return grades of equal models in two turns."""
    size = (models, questions, 2)
    value = 6.5 + rng.normal(0, 1, (1, questions, 1)) + rng.normal(0, 1.2, (models, questions, 1))
    value = np.clip(np.round(value + rng.normal(0, 1, size)), 1, 10)
    model, question, turn = (column.ravel() for column in np.indices(size))
    none = np.full(len(model), -1)
    return table(question, turn + 1, model, none, value.ravel(), questions, models)


def equal_pairs(
    rng: np.random.Generator, questions: int, models: int, *, baseline: bool = False
) -> Scores:
    """Return pairs of equal models, each with each or all with the last one."""
    meet = [(at, models - 1) for at in range(models - 1)] if baseline else every(models)
    return pairs(rng, np.zeros(models), meet, (), questions, effect=0.8).scores


def two_in_pairs(rng: np.random.Generator, questions: int) -> bool:
    """Whether one of two equal models is called better in pairs."""
    return rank(equal_pairs(rng, questions, 2)).best is not None


def two_in_grades(rng: np.random.Generator, questions: int) -> bool:
    """Whether one of two equal models is called better by grades."""
    return rank(equal_grades(rng, questions, 2)).best is not None


def anything(rng: np.random.Generator, questions: int) -> bool:
    """Whether of eight equal models any is called better, best, last or of a narrower rank."""
    return any(place != (1, 8) for place in rank(equal_grades(rng, questions, 8)).ranks.values())


def one_against_others(rng: np.random.Generator, questions: int) -> bool:
    """Whether `--model X` calls one of seven equal models better or worse."""
    pairs_of = rank(equal_grades(rng, questions, 8)).comparisons.against("m3")
    return any(pair.better for pair in pairs_of)


def best_of_twins(rng: np.random.Generator, questions: int) -> bool:
    """Whether one of two equal models, six others being far below, is called the best."""
    scores = equal_grades(rng, questions, 8)
    value = np.where(scores.model < 2, scores.value, scores.value - 3)
    return rank(replace(scores, value=value)).best is not None


def printed_interval(rng: np.random.Generator, questions: int) -> bool:
    """Whether the printed interval of the difference of two models of four misses the truth."""
    scores, truth, _ = grades(rng, questions)
    compared = compare(scores).pairs
    pair = compared[rng.integers(len(compared))]
    ends, difference = pair.interval, truth[pair.model_1] - truth[pair.model_2]
    return ends is not None and not ends.low - 1e-9 <= difference <= ends.high + 1e-9


def unread(rng: np.random.Generator, questions: int, share: float) -> Ranking:
    """Return two equal models, the worst grades of one of which were not read."""
    scores = equal_grades(rng, questions, 2)
    own = np.flatnonzero(scores.model == 0)
    worst = own[np.argsort(scores.value[own])[: round(share * len(own))]]
    value = scores.value.copy()
    value[worst] = np.nan
    return rank(replace(scores, value=value))


def few_unread(rng: np.random.Generator, questions: int) -> bool:
    """Whether a model is called better because its worst 8% were not read."""
    return unread(rng, questions, 0.08).best is not None


def many_unread(rng: np.random.Generator, questions: int) -> bool:
    """Whether anything is said with 15% unread."""
    ranking = unread(rng, questions, 0.15)
    return not ranking.incomplete or ranking.best is not None


def baseline_of_equals(rng: np.random.Generator, questions: int) -> bool:
    """Whether any of five equals is said to beat the baseline or to lose to it."""
    scores = equal_pairs(rng, questions, 6, baseline=True)
    ranking = rank(scores, baseline="m5")
    return any(row.verdict for row in against_baseline(scores, ranking, "m5", {}))


def panel_of_three(rng: np.random.Generator, questions: int) -> bool:
    """Whether one of three judges of two equal models, or a turn, is named as saying otherwise."""
    one = equal_grades(rng, questions, 2)
    judges = tuple(Source(f"j{at}", "grade", "s", scale=(1, 10)) for at in range(3))
    parts = [
        replace(
            one,
            source=np.full(len(one), at),
            value=np.clip(np.round(one.value + rng.normal(0, 1, len(one))), 1, 10),
        )
        for at in range(3)
    ]
    whole = replace(parts[0].plus(*parts[1:]), sources=judges)
    whole = replace(whole, row=np.arange(len(whole)))
    (section,) = sections_of(panels(whole), View())
    return "calls" in dissent(section, [section])


def games(rng: np.random.Generator, questions: int, first: float) -> Scores:
    """Return pairs by a judge that takes the first answer with a chance, whatever they are."""
    rows = []
    for question in range(questions):
        for turn in (1, 2):
            shown = [bool(rng.random() < first) for _ in range(2)]
            winners = {
                "g1_winner": "model_1" if shown[0] else "model_2",
                "g2_winner": "model_2" if shown[1] else "model_1",
            }
            row = {"question_id": question, "turn": turn, "model_1": "a", "model_2": "b"}
            rows.append(Judgment(judge=("j", "t"), **row, **winners))  # type: ignore[arg-type]
    return of_rows(rows)


def guesser_prefers(rng: np.random.Generator, questions: int) -> bool:
    """Whether a judge that guesses is said to prefer a side."""
    p = flips(games(rng, questions, 0.5)).to_first.p_half
    return p is not None and p < LEVEL


def first_taker_missed(rng: np.random.Generator, questions: int) -> bool:
    """Whether a judge that takes the first answer in 95% is not said to prefer it."""
    p = flips(games(rng, questions, 0.95)).to_first.p_half
    return p is None or p >= LEVEL


def guesser_missed(rng: np.random.Generator, questions: int) -> bool:
    """Whether a judge that guesses is not said to be perhaps guessing."""
    interval = flips(games(rng, questions, 0.5)).of_decided.interval
    return interval is None or interval.high < 0.5


def equal_length(rng: np.random.Generator, questions: int) -> bool:
    """Whether a model as good as the baseline at equal length is said to beat it or to lose."""
    d = rng.normal(0, 1, 1000)
    t = rng.normal(0, 1, 1000)
    x = (rng.random(1000) < 1 / (1 + np.exp(-0.8 * np.tanh(t)))).astype(float)
    gamed = Gamed(np.tanh(t), d, x, {})
    longer = rng.normal(100, 300, questions)
    chance = 1 / (1 + np.exp(-0.8 * np.tanh(longer / 300)))
    preference = (rng.random(questions) < chance).astype(float)
    fitted = fit(longer, rng.normal(0, 1, questions), preference, gamed)
    p = fitted and fitted.refitted.p_half
    return p is not None and p < LEVEL


# The gate: a run of a model against a stored one

Run = dict[tuple[int | str, int, str], float]


def runs(
    rng: np.random.Generator, questions: int, drops: Sequence[float], judge: float = 0.0
) -> tuple[Run, list[Run], Differences]:
    """Return a stored run, candidates that are worse by so much, and 20 anchors.

    The judge gives `judge` more now than then.
    """
    difficulty = rng.normal(0, 1, (questions, 1))

    def answers(ability: float) -> Floats:
        known = difficulty + rng.normal(0, 0.8, (questions, 1))
        return ability + known + rng.normal(0, 0.8, (questions, 2))

    def graded(quality: Floats, shift: float = 0.0) -> Run:
        grade = np.clip(np.round(quality + shift + rng.normal(0, 0.6, quality.shape)), 1, 10)
        return {(q, t + 1, ""): float(grade[q, t]) for q in range(questions) for t in range(2)}

    stored = answers(6.5)
    old, anew = graded(stored), graded(stored, judge)
    candidates = [graded(answers(6.5 - drop), judge) for drop in drops]
    drawn = rng.permutation(questions)[:20]
    anchors: Differences = {int(q): [anew[int(q), 1, ""] - old[int(q), 1, ""]] for q in drawn}
    return old, candidates, anchors


def gated(new: Run, old: Run, drift: Drift | None = None) -> Gated:
    """Return a candidate compared with the stored run."""
    (row,) = at_levels([compare_model("m", "m", new, old, {"m": "m"}, drift or Drift())])
    return row


def passes(row: Gated, margin: float) -> bool:
    """Whether a candidate passes a margin."""
    lower = row.difference.lower
    return lower is not None and lower >= -margin


def as_bad_as_the_margin(rng: np.random.Generator, questions: int) -> bool:
    """Whether a candidate passes that is worse by the margin."""
    old, (new,), _ = runs(rng, questions, [0.5])
    return passes(gated(new, old), 0.5)


def both_unread(rng: np.random.Generator, questions: int) -> bool:
    """Whether an equal run fails because it lacks 4.5% as the stored one does."""
    old, (new,), _ = runs(rng, questions, [0])
    for run in (old, new):
        run.update({item: math.nan for item in run if rng.random() < 0.045})
    row = gated(new, old)
    return row.missing - row.missing_before > 0.05


def drifted(rng: np.random.Generator, questions: int) -> bool:
    """Whether an equal candidate is worse, with 20 anchors, by a judge that gives 0.5 less."""
    old, (new,), anchors = runs(rng, questions, [0], -0.5)
    return gated(new, old, Drift(anchors, anchored=True)).worse


def drifted_margin(rng: np.random.Generator, questions: int) -> bool:
    """Whether a candidate that is worse by the margin passes by a judge that gives 0.5 more."""
    old, (new,), anchors = runs(rng, questions, [0.5], 0.5)
    return passes(gated(new, old, Drift(anchors, anchored=True)), 0.5)


def drift_seen(rng: np.random.Generator, questions: int) -> bool:
    """Whether a judge that has not changed is said to have, without a margin."""
    _, _, anchors = runs(rng, questions, [])
    return bool(judge_faults(Drift(anchors), None))


def series_of_twenty(rng: np.random.Generator, questions: int) -> bool:
    """Whether any of 20 equal candidates is called worse, or better."""
    old, news, _ = runs(rng, questions, [0] * 20)
    level = nominal_level(20, questions - 1)
    rows = [compare_model("m", "m", new, old, {"m": "m"}, Drift()) for new in news]
    return any(row.worse or row.better for row in at_levels(rows, level))


def three_required(rng: np.random.Generator, questions: int) -> bool:
    """Whether three benchmarks pass, on one of which the candidate is worse by the margin."""
    tables = [runs(rng, questions, [drop])[:2] for drop in (0.5, -0.5, -0.5)]
    return all(passes(gated(new, old), 0.5) for old, (new,) in tables)


def any_of_three(rng: np.random.Generator, questions: int) -> bool:
    """Whether an equal candidate is worse on any of three benchmarks, by Holm over them."""
    tables = [runs(rng, questions, [0])[:2] for _ in range(3)]
    rows = [compare_model("m", "m", new, old, {"m": "m"}, Drift()) for old, (new,) in tables]
    return any(row.worse for row in at_levels(rows))


def of_kinds(questions: int) -> dict[int | str, Question]:
    """Return questions in 28 slices: categories, kinds, tags, levels, lengths."""
    return {
        q: Question(
            question_id=q,
            category=f"c{q * 8 // questions}",
            turns=["x" * (q * 37 % 101 + 1)],
            extra={"kind": f"k{q % 4}", "tags": [f"t{q % 3}", f"u{q % 5}"], "level": q % 5},
        )
        for q in range(questions)
    }


def worst(rng: np.random.Generator, questions: int, drop: float) -> Worst | None:
    """Return the worst slice of a candidate that is worse by so much in one category."""
    known = rng.normal(0, 1.1, (questions, 1)) + rng.normal(0, 1.4, (questions, 2))
    table = np.round(known)
    table[: questions // 8] -= drop
    found: dict[int | str, dict[int, float]] = {
        q: {1: float(a), 2: float(b)} for q, (a, b) in enumerate(table)
    }
    return worst_slice(found, of_kinds(questions), seed=int(rng.integers(1 << 30)))


def slice_named(rng: np.random.Generator, questions: int) -> bool:
    """Whether a slice is named although all are alike."""
    found = worst(rng, questions, 0)
    return found is not None and found.stands_out


def slice_missed(rng: np.random.Generator, questions: int) -> bool:
    """Whether a drop of 3 points in 10 of 80 questions is not named."""
    found = worst(rng, questions, 3)
    return found is None or not (found.stands_out and found.slice.value == "c0")


class Errors(NamedTuple):
    """How three judges' verdicts depend on each other."""

    name: str
    copies: dict[int, int]
    """Which judges repeat another one's verdicts."""
    worth: float


def worth_missed(
    rng: np.random.Generator, questions: int, errors: Errors, right: tuple[float, ...]
) -> bool:
    """Whether the interval of `judge_report worth` misses the truth, with two votes an item."""
    size = 2 * questions
    truth = rng.choice([-0.5, 0.5], size)

    def verdicts(chance: float) -> Floats:
        return np.where(rng.random(size) < chance, truth, -truth)

    judges = [verdicts(chance) for chance in right]
    for copy, of in errors.copies.items():
        judges[copy] = judges[of]
    first, second = verdicts(0.91), verdicts(0.91)  # people agree on 84%, as experts do
    table = np.column_stack([*judges, (first + second) / 2, first * second])
    own = [item // 2 for item in range(size)]
    ends = worth_of(Judges(["a", "b", "c"], own, table, "votes", False))
    low, high = ends.low, ends.high
    return low is None or high is None or not low - 1e-9 <= errors.worth <= high + 1e-9


def corrected_missed(rng: np.random.Generator, questions: int, right: float) -> bool:
    """Whether the interval of `judge_report corrected` misses the truth, 25 questions voted on."""
    truth = 0.6
    judged: dict[Judged, float] = {}
    votes: dict[Judged, float] = {}
    voted = set(rng.choice(questions, 25, replace=False).tolist())
    for question in range(questions):
        chance = np.clip(truth + rng.normal(0, 0.15), 0, 1)
        for turn in (1, 2):
            item, prefers = Judged(question, turn, ("x", "y")), rng.random() < chance
            judged[item] = float(prefers if rng.random() < right else rng.random() < truth + 0.1)
            if question in voted:
                votes[item] = float(prefers)
    interval = correct_rate("x", judged, votes).corrected.interval
    return interval is None or not interval.low <= truth <= interval.high


PANELS = (
    Errors("independent", {}, 3),
    Errors("two copies and one", {1: 0}, 1.8),
    Errors("three copies", {1: 0, 2: 0}, 1),
)
ACCURACIES = ((0.65,) * 3, (0.8,) * 3, (0.9,) * 3, (0.65, 0.8, 0.9))
WORTH = tuple(
    Statement(
        f"worth, {errors.name}, right in {', '.join(map(str, dict.fromkeys(right)))}: missed",
        functools.partial(worth_missed, errors=errors, right=right),
        0.07,
        4,
        (40, 80),
    )
    for errors in PANELS
    for right in ACCURACIES
)

CORRECTED = tuple(
    Statement(
        f"corrected, a judge that knows {right:.0%} of the pairs: missed",
        functools.partial(corrected_missed, right=right),
        0.07,
        2,
        (50, 100),
    )
    for right in (0.55, 0.75, 0.85)
)

STATEMENTS = (
    Statement("two equal models: better, in pairs", two_in_pairs),
    Statement("two equal models: better, by grades", two_in_grades),
    Statement("eight equal models: any word or rank", anything, each=4),
    Statement("--model X of eight equal models: any word", one_against_others, each=4),
    Statement("two equal models far above six: the best", best_of_twins, each=4),
    Statement("the interval of a difference of four models misses the truth", printed_interval),
    # The worst 8% are worse than the tenth percentile of the rest; without the rule it is 13 to 40%.
    Statement("equal models, the worst 8% of one unread: better", few_unread, 0.1, 1, (20, 80)),
    Statement("equal models, the worst 15% of one unread: anything", many_unread, 0),
    Statement("five models equal to the baseline: beats or loses", baseline_of_equals, each=2),
    Statement("three judges and two turns, equal models: one is named", panel_of_three, each=4),
    Statement("a judge that guesses: prefers a side", guesser_prefers),
    Statement("a judge that takes the first in 95%: not said", first_taker_missed, 0.01),
    Statement("a judge that guesses: may be guessing is not said", guesser_missed),
    Statement("equal at equal length: beats or loses", equal_length, each=10, questions=(200, 805)),
    Statement("a run that is worse by the margin passes", as_bad_as_the_margin),
    Statement("equal runs that lack 4.5% each: one fails for it", both_unread, questions=(80,)),
    Statement("judge -0.5, equal models, 20 anchors: worse", drifted, questions=(40, 80)),
    Statement(
        "judge +0.5, worse by the margin, 20 anchors: passes", drifted_margin, questions=(80,)
    ),
    Statement("the same judge: said to have changed", drift_seen, questions=(20, 80)),
    Statement("20 equal candidates in a series: any is called worse", series_of_twenty, each=4),
    Statement("three benchmarks, worse by the margin in one: passes", three_required),
    Statement("--any of three benchmarks, equal models: worse", any_of_three),
    Statement("no slice is worse: one is named", slice_named, each=4, questions=(40, 80)),
    Statement("3 points less in 10 questions: not named", slice_missed, 0.15, 10, (80,)),
)


def check(statement: Statement, questions: int, tables: int) -> bool:
    """Simulate a statement, print its line, and return whether it passes."""
    rng = np.random.default_rng([questions, *statement.name.encode()])
    count = max(1, tables // statement.each)
    rate = sum(statement.wrong(rng, questions) for _ in range(count)) / count
    allowed = statement.most + 3 * math.sqrt(statement.most * (1 - statement.most) / count)
    mark = "" if rate <= allowed else "  <--"
    print(f"{statement.name:<64} {questions:9} {rate:8.1%} {allowed:13.1%} {count:9}{mark}")
    return rate <= allowed


# Reach

WAVES, TEMPLATES, SPREAD = 4, 26, 2.0
"""Of `run_bench --levels`; by how many levels templates are easier or harder than they say."""


def climb(rng: np.random.Generator, reach: float, harder: Floats) -> Attempts:
    """Return the waves of a model that passes half at its reach, some templates being harder."""
    level, waves = 5, []
    template = np.arange(len(harder))
    for _ in range(WAVES):
        levels = np.clip(level + rng.integers(-1, 2, len(harder)), LOWEST, HIGHEST)
        chance = 1 / (1 + np.exp(levels + harder - reach))
        passed = rng.random(len(harder)) < chance
        waves.append(Attempts(template, levels.astype(np.float64), passed.astype(np.float64)))
        level = next_level(level, float(waves[-1].passed.mean()))
    return Attempts(
        np.concatenate([wave.template for wave in waves]),
        np.concatenate([wave.level for wave in waves]),
        np.concatenate([wave.passed for wave in waves]),
    )


def check_reach(reach: float, tables: int) -> bool:
    """Simulate pairs of equal models, print their line, and return whether it passes."""
    rng = np.random.default_rng([int(reach), 7])
    values, held, better, none = [], 0, 0, 0
    for _ in range(tables):
        common = rng.normal(0, SPREAD / math.sqrt(2), TEMPLATES)
        own = rng.normal(0, SPREAD / math.sqrt(2), (2, TEMPLATES))
        one, other = (reach_of(climb(rng, reach, common + o), TEMPLATES)[0] for o in own)
        for estimate in (one, other):
            ends = estimate.interval
            none += ends is None
            if ends is not None:
                values.append(estimate.value)
                held += ends.low <= reach <= ends.high
        ends = (one - other).interval
        better += ends is not None and not ends.low <= 0 <= ends.high
    bias, share, false = float(np.mean(values)) - reach, held / len(values), better / tables
    three = [3 * math.sqrt(p * (1 - p) / n) for p, n in ((0.91, 2 * tables), (0.05, tables))]
    passes = bool(abs(bias) <= 0.2 and 0.91 - three[0] <= share <= 0.97 + three[0])
    passes = passes and false <= 0.05 + three[1]
    mark = "" if passes else "  <--"
    print(
        f"reach {reach:<58} {TEMPLATES:9} {share:8.1%} {false:13.1%} bias {bias:+.2f}, "
        f"{none / 2 / tables:.1%} without{mark}",
        flush=True,
    )
    return passes


GRADES: dict[str, float] = {}


def main() -> int:
    """Simulate every design and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000, metavar="N", help="tables of a design")
    parser.add_argument("--statements", action="store_true", help="only what pages say")
    options = parser.parse_args()
    GRADES.update(true_grades())
    designs: dict[str, Callable[[np.random.Generator, int], Table]] = {
        "grades, two turns": grades,
        "shares of 0.97": shares,
        "shares of 0.97, two turns": lambda rng, n: shares(rng, n, 2),
    }
    designs |= pair_designs(0.0)
    designs |= {f"{name}; question effects": d for name, d in pair_designs(0.8).items()}
    if options.statements:
        designs = {}
    print(f"{'design':<64} questions  covered  false better  compared")
    failed = 0
    for name, design in designs.items():
        for questions in (10, 20, 80):
            drawn = DRAWN in name
            line = simulate(name, design, questions, options.tables, drawn=drawn)
            covered = f"{line.covered / line.intervals:.1%}" if line.intervals else "-"
            false, compared = line.false / line.tables, line.compared / line.tables
            mark = "" if line.passes else "  <--"
            failed += not line.passes
            print(
                f"{name:<64} {questions:9} {covered:>8} {false:13.1%} {compared:9.0%}{mark}",
                flush=True,
            )
    print(f"\n{'statement':<64} questions    wrong       allowed    tables")
    for statement in (*STATEMENTS, *WORTH, *CORRECTED):
        for questions in statement.questions:
            failed += not check(statement, questions, options.tables)
    print(f"\n{'run_bench --levels, two equal models':<64} templates  covered  false better")
    for reach in (2, 5, 9):
        failed += not check_reach(reach, max(50, options.tables // 4))
    print(f"{failed} lines fail" if failed else "every line passes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Where one model is worse: the slice of the questions that differs most from the rest of them.

    slices     values of the questions' fields (category, kind, tags, …), turns, thirds by length,
               each of five questions or more, as the rest
    t          (mean of the slice − mean of the rest) / its error by Welch; of a turn the mean of
               (this turn − the other turns) over its error, question by question
    p          how often the least t of all slices is as small, if the questions are permuted
               (the turns of each question among themselves)
    interval   difference ± c · error, c the 95% point of the greatest −t of the permutations

So a slice is named exactly where its interval excludes zero, and if all slices are alike, one is
named in 5% of the tables, however many there are. Coding −2.9 on 10 questions, the rest −0.6 on 70:
"worse in coding than elsewhere by 2.3".

Sources: Westfall and Young 1993, "Resampling-Based Multiple Testing", for the distribution of the
greatest statistic; Chung and Romano 2013, Annals of Statistics 41:484, for studentised permutation
tests where the variances differ.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.results.estimate import LEAST, LEVEL, Bools, Floats, Interval
from harness.results.panels import Panel
from harness.results.scores import Scores
from harness.types import Question, QuestionId

Differences: TypeAlias = Mapping[QuestionId, Mapping[int, float]]
"""By question and turn."""
PERMUTATIONS = 1999
ALIKE = 1e-9
"""An error below this is rounding: such a slice has no t."""


class Slice(NamedTuple):
    """A part of the questions, or one turn of them."""

    field: str
    value: str

    def __str__(self) -> str:
        """Return it as words after "in"."""
        if self.field == "turn":
            return f"turn {self.value}"
        if self.field == "length":
            return f"{self.value} questions"
        return self.value if self.field == "category" else f"{self.field} {self.value}"


class Worst(NamedTuple):
    """The slice in which a model is worse than elsewhere, most surely."""

    slice: Slice
    less: float
    """By how much it is worse there than elsewhere."""
    p: float
    """Over all slices."""
    interval: Interval
    questions: int
    slices: int
    """How many were looked at."""

    @property
    def stands_out(self) -> bool:
        """Whether it is significantly worse there than elsewhere."""
        return self.interval.low > 0


def worst_slice(
    differences: Differences, questions: Mapping[QuestionId, Question], *, seed: int = 0
) -> Worst | None:
    """Return where differences (of a model less another) are worst; None: there are no slices.

    Args:
        differences: by question and turn.
        questions: what the slices are made of.
        seed: of the permutations.
    """
    ids = [question for question in differences if question in questions]
    turns = sorted({turn for question in ids for turn in differences[question]})
    table = np.array([[differences[q].get(turn, math.nan) for turn in turns] for q in ids])
    names, members = _members([questions[question] for question in ids])
    by_turn = turns if len(turns) > 1 and len(ids) >= LEAST else []
    names = [*names, *(Slice("turn", str(turn)) for turn in by_turn)]
    if not names:
        return None
    means = np.nanmean(table, axis=1)
    less, t = _statistics(means[None], table[None], members, turns=bool(by_turn))
    rng = np.random.default_rng(seed)
    greatest = []
    for size in [200] * (PERMUTATIONS // 200) + [PERMUTATIONS % 200]:
        orders = rng.permuted(np.tile(np.arange(len(ids)), (size, 1)), axis=1)
        shuffled = rng.permuted(np.tile(table, (size, 1, 1)), axis=2) if by_turn else table[None]
        _, drawn = _statistics(means[orders], shuffled, members, turns=bool(by_turn))
        greatest.append(drawn.max(axis=1))
    null = np.concatenate(greatest)
    at = int(t[0].argmax())
    if not math.isfinite(t[0, at]):
        return None
    p = (1 + int((null >= t[0, at] - ALIKE).sum())) / (len(null) + 1)
    rank = math.ceil((1 - LEVEL) * (len(null) + 1)) - 1
    critical = float(np.sort(null)[rank])
    error = less[0, at] / t[0, at] if t[0, at] else 0.0
    size = int(members[at].sum()) if at < len(members) else len(ids)
    ends = Interval(less[0, at] - critical * error, less[0, at] + critical * error)
    return Worst(names[at], float(less[0, at]), p, ends, size, len(names))


def _members(questions: Sequence[Question]) -> tuple[list[Slice], Bools]:
    """Return the slices by fields of the questions, and which question is in which."""
    found: dict[Slice, set[int]] = defaultdict(set)
    lengths = np.array([sum(map(len, question.turns)) for question in questions])
    cuts = np.quantile(lengths, [1 / 3, 2 / 3]) if len(lengths) else (0, 0)
    for at, question in enumerate(questions):
        for name, value in _fields(question):
            found[Slice(name, value)].add(at)
        third = int(lengths[at] > cuts[0]) + int(lengths[at] > cuts[1])
        found[Slice("length", ("short", "middling", "long")[third])].add(at)
    distinct: dict[frozenset[int], Slice] = {}
    for part, members in found.items():
        if LEAST <= len(members) <= len(questions) - LEAST:
            distinct.setdefault(frozenset(members), part)
    table = np.zeros((len(distinct), len(questions)), dtype=bool)
    for row, chosen in enumerate(distinct):
        table[row, list(chosen)] = True
    return list(distinct.values()), table


def _fields(question: Question) -> Iterator[tuple[str, str]]:
    """Yield the values by which a question may be one of several: texts, numbers, lists of them."""
    yield "category", question.category
    for name, value in question.extra.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int | bool) and len(str(one)) <= 60:
                yield name, str(one)


def _statistics(
    means: Floats, tables: Floats, members: Bools, *, turns: bool
) -> tuple[Floats, Floats]:
    """Return by how much each slice is less than the rest, and that over its error: a row a table.

    Args:
        means: of each question, a row for each permutation.
        tables: of each question and turn, for each permutation.
        members: which question is in which slice.
        turns: whether each turn is a slice, too.
    """
    inside = members.astype(np.float64)
    n = inside.sum(axis=1)
    rest = means.shape[1] - n
    sums, squares = means @ inside.T, (means**2) @ inside.T
    all_sums, all_squares = means.sum(axis=1)[:, None], (means**2).sum(axis=1)[:, None]
    mean, other = sums / n, (all_sums - sums) / rest
    spread = (squares / n - mean**2) / (n - 1)
    spread = spread + ((all_squares - squares) / rest - other**2) / (rest - 1)
    less, error = other - mean, np.sqrt(np.maximum(spread, 0))
    if turns:
        count = (~np.isnan(tables)).sum(axis=2, keepdims=True)
        total = np.nansum(tables, axis=2, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = (total - tables) / (count - 1) - tables  # others less this turn
        both = np.where(count > 1, apart, np.nan)
        judged = (~np.isnan(both)).sum(axis=1)
        judged = np.where(judged < LEAST, 0, judged)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.nansum(both, axis=1) / judged
            around = np.nansum((both - middle[:, None]) ** 2, axis=1) / (judged - 1) / judged
        rows = len(means)
        less = np.hstack([less, np.broadcast_to(middle, (rows, middle.shape[1]))])
        error = np.hstack([error, np.broadcast_to(np.sqrt(around), (rows, middle.shape[1]))])
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(error > ALIKE, less / error, -np.inf)
    return less, np.where(np.isnan(t), -np.inf, t)


def differences_of(scores: Scores, model: str, other: str) -> Differences:
    """Return by question and turn how much better one model is than another, on what both did.

    Of pairs it is the share of their games against each other that it won, less one half.
    """
    questions = scores.question_ids
    scores = scores.mirrored() if scores.paired else scores
    scores = scores.take(scores.valid)
    sums: dict[QuestionId, dict[int, list[list[float]]]] = defaultdict(dict)
    names = [*scores.models, ""]
    for q, turn, who, opponent, value in zip(
        *(
            column.tolist()
            for column in (
                scores.question,
                scores.turn,
                scores.model,
                scores.opponent,
                scores.value,
            )
        ),
        strict=True,
    ):
        side = (model, other).index(names[who]) if names[who] in (model, other) else None
        if side is None or names[opponent] not in ("", other if side == 0 else model):
            continue
        sums[questions[q]].setdefault(turn, [[], []])[side].append(value)
    return {
        q: {t: float(np.mean(a) - np.mean(b)) for t, (a, b) in by_turn.items() if a and b}
        for q, by_turn in sums.items()
        if any(a and b for a, b in by_turn.values())
    }


def differences_between(new: Panel, old: Panel, model: str, before: str) -> Differences:
    """Return by question and turn how much better a run's model is than a stored run's."""
    here, there = (_values(panel, name) for panel, name in ((new, model), (old, before)))
    found: dict[QuestionId, dict[int, float]] = defaultdict(dict)
    for (question, turn), value in here.items():
        if (question, turn) in there:
            found[question][turn] = value - there[question, turn]
    return found


def _values(panel: Panel, model: str) -> dict[tuple[QuestionId, int], float]:
    """Return the mean verdict on a model by question and turn."""
    scores = panel.combined.of(metric=panel.metrics[0]).mirrored()
    scores = scores.take(scores.valid)
    code = scores.models.index(model) if model in scores.models else -1
    own = scores.take(scores.model == code)
    found: dict[tuple[QuestionId, int], list[float]] = defaultdict(list)
    for at, turn, value in zip(
        own.question.tolist(), own.turn.tolist(), own.value.tolist(), strict=True
    ):
        found[own.questions[at].question_id, turn].append(value)
    return {item: sum(values) / len(values) for item, values in found.items()}

"""Repeated verdicts -> how much of their variance comes from the question, the model, the order, the judge, and chance.

    score = mean + question + model + question × model + order + judge + rest

with a variance for each. For every facet f, T_f = sum over its levels of (sum of scores)² / n, for the mean
T_0 = (sum of all)² / N, and T = sum of squares. Each has an expectation that is linear in the variances,

    E T_f = N mean² + sum over facets g of k_fg * variance_g + levels_f * rest
    k_fg  = sum over levels a of f and b of g of n_ab² / n_a

and the variances are the numbers that make all of them equal to the observed ones (method of moments). With complete
data these are the usual analysis-of-variance estimates; with missing or unequal numbers they stay unbiased. An
estimate may fall below 0: then there is no sign of that facet, and its share is 0.

`rest` is the remaining (residual) variance between verdicts on the same answer: chance, and effects of a judge or an
order on some answers only. `repeat` is the part of it that is chance alone: the variance between verdicts of one
judge on one answer in one order, if there are several.

Questions 1, 2, models x, y, one judge asked twice: x 8, 8 and 6, 6; y 6, 8 and 3, 3. Sums of squares: question 18,
model 8, question × model 2, within 2; each of the first three has one degree of freedom, the last 4. Mean squares 18,
8, 2 and 0.5: rest = repeat = 0.5, question × model = (2 - 0.5) / 2 = 0.75, model = (8 - 2) / 4 = 1.5, question =
(18 - 2) / 4 = 4. Order and judge are named as missing: one level each.

Intervals resample questions (see `bootstrap`): the jackknife's pseudo-values of the questions. The levels of a facet
that are all there are (two orders) or were chosen (these models, these judges) are fixed effects: the variance is that
among exactly these, and its interval is for other questions.

A decision study shows what other numbers of questions and samples would detect (`results.planning`): the difference of
two models on a question has variance 2 * (question × model + rest - repeat + repeat / samples); of the win rates of a
pair 4 times that sum, the last three over the number of orders.

Source: Henderson 1953 (Biometrics 9, 226), method 1; Searle, Casella and McCulloch, Variance Components (1992), ch. 5.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from harness.old.errors import UsageError
from harness.old.judgments.observations import numbered
from harness.old.meta_evaluation.contingency import quotient
from harness.old.meta_evaluation.report import Report, asked, left_out, of_turn
from harness.old.records import Mode, Observation
from harness.old.results.matrix import Floats, tally
from harness.old.results.planning import MORE, Spread, alternatives, design_rows
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import LEAST, NONE, Estimate, Resampling, jackknifed
from harness.old.written import takes_only

Facet: TypeAlias = Literal["question", "model", "question × model", "order", "judge", "rest", "repeat"]
Records: TypeAlias = npt.NDArray[np.void]

_AXES: dict[Facet, str] = {"question": "q", "model": "m", "question × model": "qm", "order": "o", "judge": "j"}
"""The facets whose variances are estimated, the first of two that the data cannot separate is kept."""
_RECORD = np.dtype([("question", "i8"), ("model", "i8"), ("order", "i8"), ("judge", "i8"), ("score", "f8")])
_SAME = 1e-7
_NO_SPREAD = 1e-12
"""A variance below this is one of equal verdicts."""


@dataclass(frozen=True, slots=True)
class Component:
    """The variance that one facet adds."""

    facet: Facet
    variance: Estimate = NONE
    """May fall below 0, which means that nothing was seen of it."""
    share: float | None = None
    """Of the sum of all variances but `repeat`, those below 0 counted as 0; None where nothing varies."""
    levels: int | None = None
    """Of `rest`: verdicts; of `repeat`: verdicts beyond the first on one answer by one judge in one order."""
    why_not: str | None = None
    """Why this facet cannot be estimated from the data; None if it can."""


@dataclass(frozen=True, slots=True)
class RepeatReport:
    """Where the variance of the verdicts comes from."""

    components: list[Component]
    """Facets that the data have, in the order question, model, question × model, order, judge, rest, repeat."""
    missing: list[Component]
    """Facets that are missing; their variance is unknown, not 0, and included in one of the others."""
    n: int
    """Verdicts with a score."""
    left_out: int
    """Verdicts without one."""


def records(rows: Iterable[tuple[int, int, int, int, float]]) -> Records:
    """Return a record array of verdicts.

    Fields: `question`, `model`, `order`, `judge` (whole numbers for the levels, from 0), and `score` (NaN
    if the judge gave none). Rows equal in the first four are repeats of one judgment. `question` is the resampled unit:
    code each turn of a question as a separate question only if you want them resampled separately.
    """
    return np.array(list(rows), dtype=_RECORD)


def records_of(observations: Iterable[Observation]) -> Records:
    """Return the observations of one turn as records, questions numbered as they come.

    Of grades the order of all is 0. Of pairs each game is a record, the model is the pair, and the score is 1 if the
    first by name won, 0.5 for a tie; order 0 shows the first by name first, so the variance of `order` is a general
    position bias, and a position bias that depends on the answers is in `rest`.

    Raises:
        UsageError: the observations are of several turns, which differ for other reasons.
    """
    rows = list(observations)
    if len(turns := sorted({row.turn for row in rows})) > 1:
        there = ", ".join(map(str, turns))
        raise UsageError(f"the variance of verdicts is split for one turn at a time; choose one with --turns: {there}")
    found: list[tuple[Any, ...]] = []
    for row in rows:
        about = row.question_id, (row.source.judge, row.source.set_text, row.source.sampling)
        if row.opponent is None:
            found.append((*about, row.model, 0, np.nan if row.value is None else row.value))
            continue
        turned = row.model > row.opponent
        for number, game in enumerate(row.games):
            won = np.nan if game is None else 1.0 if game > 0.5 else 0.0 if game < 0.5 else 0.5
            pair = tuple(sorted((row.model, row.opponent)))
            found.append((*about, pair, number ^ turned, 1.0 - won if turned else won))
    questions, judges, models, orders, scores = zip(*found, strict=True) if found else ((),) * 5
    codes = [numbered(levels)[1] for levels in (questions, models)]
    return records(zip(*codes, orders, numbered(judges)[1], scores, strict=True))


def repeat_report(verdicts: Records, **how: Unpack[Resampling]) -> RepeatReport:
    """Return the variance of the verdicts, a record array as `records` returns it, split by where it comes from."""
    scored = verdicts[~np.isnan(verdicts["score"])]
    left_out = len(verdicts) - len(scored)
    if len(scored) < 2:
        facets: tuple[Facet, ...] = (*_AXES, "rest", "repeat")
        missing = [Component(facet, why_not="fewer than two verdicts") for facet in facets]
        return RepeatReport([], missing, len(scored), left_out)
    cells = _cells(scored)
    kept, missing = _kept(cells)
    found = _variances(cells, kept)
    again = cells.count - (cells.count > 0)
    names: list[Facet] = [*kept, "rest"]
    if again.sum() > 0:
        found = np.concatenate([found, _within(cells)[:, None]], axis=1)
        names.append("repeat")
    else:
        missing.append(Component("repeat", why_not="nothing was judged twice by one judge in one order; see --samples"))
    intervals = _estimated(found, how)
    positive = np.maximum(found[0], 0.0)
    total = float(positive[: len(kept) + 1].sum())
    shares = [float(own / total) if total else None for own in positive]
    levels = [_levels(cells, facet, int(again.sum())) for facet in names]
    components = list(map(Component, names, intervals, shares, levels))
    return RepeatReport(components, missing, len(scored), left_out)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The verdicts, counted and summed; all arrays are questions × models × orders × judges."""

    count: Floats
    total: Floats
    """Sum of the scores, from which the mean of all was taken off (which changes no variance)."""
    squares: Floats
    """Sum of their squares."""


def _cells(scored: Records) -> _Cells:
    codes = [np.unique(scored[name], return_inverse=True)[1] for name in ("question", "model", "order", "judge")]
    shape = tuple(int(code.max()) + 1 for code in codes)
    score = scored["score"] - scored["score"].mean()
    count, total, squares = (tally(shape, *codes, weights=weight) for weight in (None, score, score**2))
    return _Cells(count, total, squares)


def _levels(cells: _Cells, facet: Facet, again: int) -> int:
    if facet == "repeat":
        return again
    if facet == "rest":
        return int(cells.count.sum())
    return int(np.count_nonzero(_margin(cells.count, _AXES[facet])))


def _kept(cells: _Cells) -> tuple[list[Facet], list[Component]]:
    """Return the facets whose variance can be estimated, and why the others' can't."""
    kept: list[Facet] = []
    missing = []
    for facet, axes in _AXES.items():
        single = [name for name in axes if cells.count.shape["qmoj".index(name)] < 2]
        if single:
            word = {"q": "question", "m": "model", "o": "order", "j": "judge"}[single[0]]
            missing.append(Component(facet, why_not=f"there is only one {word}"))
            continue
        system = _system(cells, [*kept, facet])[0]
        system = system / np.abs(system).max(axis=0)
        if np.linalg.matrix_rank(system, tol=_SAME) < len(system):
            rest = not kept or _levels(cells, facet, 0) == int(cells.count.sum())
            other = "rest: no answer was judged twice" if rest else "the facets before it: their levels coincide"
            missing.append(Component(facet, why_not=f"it cannot be separated from {other}"))
            continue
        kept.append(facet)
    return kept, missing


def _variances(cells: _Cells, facets: Sequence[Facet]) -> Floats:
    """Return the variances (facets, then rest) of all questions, and in the next rows without each in turn."""
    system = _system(cells, facets)
    squares = [_without(cells.squares.sum(axis=(1, 2, 3)))]
    for axes in (*(_AXES[facet] for facet in facets), ""):
        squares.append(_over_levels(axes, lambda total, n: _divided(total**2, n), cells.total, cells.count))
    solved = np.linalg.pinv(system, rcond=1e-12) @ np.stack(squares, axis=1)[:, :, None]
    variances: Floats = solved[:, :-1, 0]
    return variances


def _system(cells: _Cells, facets: Sequence[Facet]) -> Floats:
    """Return the expectations' coefficients: equations T, T_f, T_0; unknowns the facets, rest, squared mean."""
    axes = [_AXES[facet] for facet in facets]
    n = _without(cells.count.sum(axis=(1, 2, 3)))
    rows = [np.stack([n] * (len(axes) + 2), axis=1)]
    for own in (*axes, ""):
        columns = [_coefficient(cells.count, own, other) for other in axes]
        occupied = _over_levels(own, lambda own_n: (own_n > 0.5).astype(np.float64), cells.count)
        rows.append(np.stack([*columns, occupied, n], axis=1))
    return np.stack(rows, axis=1)


def _coefficient(count: Floats, own: str, other: str) -> Floats:
    """Return k: the sum over levels a of `own` and b of `other` of n_ab² / n_a, of all and without each question."""
    both = "".join(axis for axis in "qmoj" if axis in own + other)
    pairs = _margin(count, both)
    if "q" in own:
        return _without(_sum_but_first(_divided(_margin(pairs**2, own, both), _margin(count, own))))
    margin = _without(_margin(count, "q" + own))
    if "q" in other:
        return _sum_but_first(_divided(_without(_margin(pairs**2, "q" + own, both)), margin))
    apart = _without(_margin(count, "q" + both))
    return _sum_but_first(_divided(_margin(apart**2, "q" + own, "q" + both), margin))


def _over_levels(axes: str, value: Callable[..., Floats], *cells: Floats) -> Floats:
    """Return the sum over levels of a value of each level's sums of cells, of all questions and without each."""
    if "q" in axes:  # a level is of one question, and goes with it
        return _without(_sum_but_first(value(*(_margin(own, axes) for own in cells))))
    return _sum_but_first(value(*(_without(_margin(own, "q" + axes)) for own in cells)))


def _within(cells: _Cells) -> Floats:
    """Return the variance between repeats, of all questions and without each; NaN where nothing was repeated."""
    squares = cells.squares - _divided(cells.total**2, cells.count)
    again = cells.count - (cells.count > 0)
    above, below = (_without(own.sum(axis=(1, 2, 3))) for own in (squares, again))
    return quotient(above, below)


def _estimated(found: Floats, how: Resampling) -> list[Estimate]:
    """Return each column's first row with an interval that resamples the pseudo-values of the others."""
    value, without = found[0], found[1:]
    n = len(without)
    if np.isnan(without).any() or n < 2:
        return [Estimate(float(own), None, None, n, None) for own in value]
    return jackknifed(value, without, **how)


def _margin(values: Floats, axes: str, has: str = "qmoj") -> Floats:
    """Return sums over all axes that are not named."""
    result: Floats = values.sum(axis=tuple(at for at, axis in enumerate(has) if axis not in axes))
    return result


def _without(by_question: Floats) -> Floats:
    """Return the sums over questions, the first axis, then those without each question in turn."""
    total = by_question.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - by_question])


def _sum_but_first(values: Floats) -> Floats:
    result: Floats = values.reshape(len(values), -1).sum(axis=1)
    return result


def _divided(above: Floats, below: Floats) -> Floats:
    """Return the quotients; 0 where nothing was counted."""
    return np.nan_to_num(quotient(above, np.where(below > 0.5, below, 0.0)))


def spread_of(report: RepeatReport, *, paired: bool) -> Spread | None:
    """Return the variances of the difference of two models on a question; None where nothing was repeated.

    Of pairs it is the difference of the two models' win rates, over both orders where both were judged.
    """
    found = {own.facet: max(0.0, own.variance.value or 0.0) for own in report.components}
    orders = next((own.levels or 1 for own in report.components if own.facet == "order"), 1)
    if "repeat" not in found or not report.n:
        return None
    own = found.get("question × model", 0.0) if "model" in found else found.get("question", 0.0)
    times = 4.0 if paired else 2.0
    between = own + max(0.0, found["rest"] - found["repeat"]) / orders
    return Spread(times * between, times * found["repeat"] / orders, f"{report.n} verdicts, some of them repeated")


def _answer(turn: int, designs: Sequence[dict[str, Any]], what: str) -> str:
    """Return what another sample and more questions bring to the difference of two models' `what`, in words."""
    now = designs[0]["smallest_difference"]
    again, more = (
        next((row["smallest_difference"] for row in designs if row[name] == designs[0][name] + by), now)
        for name, by in (("samples", 1), ("questions", MORE))
    )
    return (
        f"turn {turn}: {designs[0]['questions']} questions judged once show a difference of {now:.2g} or more between "
        f"two models' {what} (power 80%, at the level of a table of all models); a second sample lowers that to "
        f"{again:.2g}, {MORE} more questions to {more:.2g}"
    )


_LEVELS: dict[Facet, str] = {"question": "a sample", "order": "all there are", "model": "these", "judge": "these"}
"""Whether the levels of a facet are a sample of others like them, or all that there are."""


@takes_only(Words.__annotations__)
def judge_repeat(mode: Mode | None = None, **words: Unpack[Words]) -> Report:
    """Return the sources of the verdicts' variance, turn by turn, with all samples.

    Several files of one judge count as its repeats, several judges as another facet. A facet that is missing in the
    data has no variance, and a reason in `why_not`. See `Words` for the keywords.
    """
    given = asked(Query.of(mode, **words)._replace(every_sample=True))
    records, sources = given.verdicts, given.sources
    rows: list[dict[str, Any]] = []
    without = 0
    designs: list[dict[str, Any]] = []
    answers: list[str] = []
    alike: list[str] = []
    for turn in sorted({case.turn for case in records.cases}):
        own = records.keep(case=partial(of_turn, turn))
        result = repeat_report(records_of(own), seed=given.query.seed)
        without += result.left_out
        models, questions = len({model for case in own.cases for model in case.models}), len(own.questions())
        spread = spread_of(result, paired=own.paired)
        if spread is not None and spread.between + spread.noise < _NO_SPREAD:
            alike.append(str(turn))
        elif spread is not None and questions >= LEAST:  # what other numbers of questions and samples would show
            family = max(1, models * (models - 1) // 2)
            planned = design_rows(spread, alternatives(spread, questions, 1), family=family)
            designs += [{"turn": turn, **row} for row in planned]
            answers.append(_answer(turn, planned, "win rates" if own.paired else "averages"))
        for one in (*result.components, *result.missing):
            levels_are = None if one.why_not else _LEVELS.get(one.facet)
            about = {"turn": turn, "facet": one.facet, "variance": one.variance, "share": one.share}
            rows.append(about | {"levels": one.levels, "levels_are": levels_are, "why_not": one.why_not})
    notes = []
    if len(sources) > 1:
        notes.append(f"counted together: {', '.join(source.text for source in sources)}")
    if records.paired:  # of a pair one game may count without the other
        notes += left_out({"without a verdict": without}, "game")
    notes += answers
    if alike:
        notes.append(
            f"turn {', '.join(alike)}: the verdicts do not vary, so they do not say which difference could be found"
        )
    notes.append(
        "intervals are for other questions; variances of models, orders and judges are those among exactly these, "
        "which are all that exist or were chosen, not sampled"
    )
    return given.report("repeat", rows, notes, {"designs": designs}, lost=not records.paired)

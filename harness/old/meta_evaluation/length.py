"""Pairs and the lengths of their answers -> how often the longer one wins, and win rates at equal length.

    longer_wins  = decided pairs that the longer answer won / decided pairs of unequal length
    slope        P(model_1 wins) = 1 / (1 + exp(-slope * d)),   d = (length_1 - length_2) / spread
    with models  P(model_1 wins) = 1 / (1 + exp(-(s_1 - s_2 + slope * d)))
    equal_length of a model = mean over its pairs of 1 / (1 + exp(-(s_model - s_opponent))): the fit at d = 0

spread is the root mean square of the differences in characters: which model a row names first is arbitrary, so there
is no mean to subtract and no intercept. A tie counts as half a win. s is a strength of each model (Bradley-Terry);
the fitted win rate of a model at the real lengths is its real one, so equal_length - win_rate is the effect of length.
The slope alone mixes two things: longer answers may win because they are long, or because better models write more;
the slope with models compares lengths at equal strengths.

Two models, 100 pairs: x is 500 characters longer in 60 of them and wins 45, and 500 shorter in 40 and wins 20. Spread
500; the longer wins 65 of 100. Log odds log(45 / 15) = 1.099 and log(20 / 20) = 0: with models, s_x - s_y = 0.549 and
slope = 0.549. Win rate of x 65.0%, at equal length 1 / (1 + exp(-0.549)) = 63.4%.

Fitted by `logistic`. If a model won or lost everything (more exactly: if not every model reaches every other by
"won or tied against"), strengths have no estimate; then half a virtual tie at equal length is added for each
compared pair of models, and `prior` says so. If length alone decides every pair, there is no slope.

Pairs without an outcome or without both lengths are left out and counted. Intervals resample questions (see
`bootstrap`): for the fits, the jackknife's pseudo-values of the questions, each one Newton step without the question.

Source: Dubois et al. 2024 (arXiv 2404.04475), which fits each model alone, with tanh of the difference and a term for
the difficulty of the question; Bradley and Terry 1952; Papke and Wooldridge 1996 for halves as outcomes; Pregibon 1981
for the step.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import is_there
from harness.old.meta_evaluation.contingency import quotient
from harness.old.meta_evaluation.report import Report, asked, last_if_none, left_out, ratio
from harness.old.names import counted
from harness.old.results.answers import home_of
from harness.old.results.common import common_questions
from harness.old.results.matrix import Floats, Pairs, tally
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.pairs.existence import all_reach
from harness.old.results.pairs.length_control import answer_lengths
from harness.old.results.pairs.logistic import Fit, NoFitError, Rows, chance, fit
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import LEAST, Estimate, Resampling, estimates, jackknifed
from harness.old.written import takes_only

PRIOR = "half a virtual tie at equal length for each pair of models that were compared"


@dataclass(frozen=True, slots=True)
class LengthReport:
    """What length does to the verdicts of a judge."""

    longer_wins: Estimate
    decided: int
    """Decided pairs of unequal length: those in longer_wins."""
    ties: int
    equal: int
    """Decided pairs of answers of equal length."""
    slope: Estimate
    """Change in the log odds to win for each spread that an answer is longer."""
    slope_with_models: Estimate
    """The same at equal strengths of the models."""
    spread: float | None
    """Root mean square of the differences, in characters; None where all lengths are equal."""
    prior: bool
    """Whether `PRIOR` was added to the fit with models, because it has no estimate without."""
    rows: list[dict[str, Any]]
    """A row for each model, best at equal length first: its win rate over the `n` pairs that count here, a tie half;
    the fitted rate at equal length, None without a fit; and by how many characters its
    answers are longer than its opponents', on average."""
    n: int
    """Pairs with an outcome and both lengths."""
    left_out: int
    """Pairs without one of them."""
    unmeasured: int
    """Of these, pairs with an outcome, but without both lengths."""
    variants: list[dict[str, Any]]
    """In the order in which they were named: both rates, and their differences from those of the first one."""


def length_report(
    pairs: Pairs, length_1: Floats, length_2: Floats, *, variants: Sequence[str] = (), **how: Unpack[Resampling]
) -> LengthReport:
    """Return what length does to the outcomes.

    Args:
        pairs: of one judge.
        length_1: for each pair, the characters of model_1's answer in that turn; NaN where it is not known.
        length_2: the same for model_2.
        variants: versions of one model, by how much they move its rates; each has pairs that count.
        how: how questions are resampled.
    """
    known = np.flatnonzero(~np.isnan(pairs.outcome) & ~np.isnan(length_1) & ~np.isnan(length_2))
    apart = (length_1 - length_2)[known].astype(np.float64)
    spread = float(np.sqrt(np.mean(apart**2))) if len(known) else 0.0
    games = Rows(
        pairs.question[known],
        pairs.model_1[known],
        pairs.model_2[known],
        (apart / (spread or 1.0))[:, None],
        pairs.outcome[known],
        np.ones(len(known)),
        len(pairs.questions),
        np.ones(len(pairs.models), dtype=bool),
    )
    prior = not _connected(games)
    alone = _fitted(games, models=False) if spread else None
    full = _fitted(_with_prior(games) if prior else games, models=True) if spread else None
    present = np.bincount(games.question, minlength=games.questions) > 0

    def resampled(value: Floats, without: Floats, bounds: tuple[float, float] | None = None) -> list[Estimate]:
        without = np.where(np.isnan(without), value, without)  # a model that is in one question only
        return jackknifed(value, without, present=present, bounds=bounds, **how)

    no_slope = Estimate(None, None, None, int(present.sum()), None)
    slopes = [resampled(fit.whole[-1:], fit.without[:, -1:])[0] if fit else no_slope for fit in (alone, full)]
    decided = games.y != 0.5
    counted = decided & (apart != 0)
    longer = np.where(apart > 0, games.y, 1.0 - games.y)
    share = ratio(games.question[counted], longer[counted], 1.0, games.questions, bounds=(0.0, 1.0), **how)
    rates = estimates(*_sums(games), bounds=(0.0, 1.0), **how)
    at_equal = resampled(*_equal_length(games, full), (0.0, 1.0)) if full else [no_slope] * games.models
    n = np.bincount(games.one, minlength=games.models) + np.bincount(games.other, minlength=games.models)
    difference = np.bincount(games.one, apart, games.models) - np.bincount(games.other, apart, games.models)
    rows: list[dict[str, Any]] = [
        {"model": model, "win_rate": rates[at], "equal_length": _sure(at_equal[at], rates[at].questions)}
        | {"mean_difference": float(difference[at] / n[at]), "n": int(n[at])}
        for at, model in enumerate(pairs.models)
        if n[at]
    ]
    of_model = {row["model"]: row for row in rows}
    if absent := [name for name in variants if name not in of_model]:
        raise UsageError(f"no pair of {', '.join(absent)} counts; the models are: {', '.join(sorted(of_model))}")
    places = [pairs.models.index(name) for name in variants]
    moved = resampled(*_moves(games, full, places), (-1.0, 1.0)) if variants else []
    for own in (0, len(places)) if variants else ():  # the first less itself is 0, which no question changes
        moved[own] = replace(moved[own], low=None, high=None, questions=0, method=None)
    versions = [
        {name: of_model[model][name] for name in ("model", "win_rate", "equal_length")}
        | {"win_rate_moved": moved[at], "equal_length_moved": moved[len(places) + at]}
        | {"mean_difference": of_model[model]["mean_difference"]}
        for at, model in enumerate(variants)
    ]
    rows.sort(
        key=lambda row: (-last_if_none(row["equal_length"].value), -last_if_none(row["win_rate"].value), row["model"])
    )
    ties = int((~decided).sum())
    left_out = len(pairs.outcome) - len(known)
    unmeasured = int((~np.isnan(pairs.outcome)).sum()) - len(known)
    tally = int(counted.sum()), ties, int((decided & (apart == 0)).sum())
    return LengthReport(
        share, *tally, slopes[0], slopes[1], spread or None, prior, rows, len(known), left_out, unmeasured, versions
    )


def _sure(estimate: Estimate, questions: int) -> Estimate:
    """Return the estimate, without its interval if the model is in too few questions, whose noise others don't show."""
    return estimate if questions >= LEAST else replace(estimate, low=None, high=None, questions=questions, method=None)


def _moves(games: Rows, found: Fit | None, places: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the differences of these models' rates from the first one's, raw and at equal length, and without each
    question."""
    sums, counts = _sums(games)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = sums.sum(axis=0) / counts.sum(axis=0)
        without = (sums.sum(axis=0) - sums) / (counts.sum(axis=0) - counts)
    equal = _equal_length(games, found) if found else (whole * np.nan, without * np.nan)
    value = [rates[places] - rates[places[0]] for rates in (whole, equal[0])]
    rest = [rates[:, places] - rates[:, places[:1]] for rates in (without, equal[1])]
    return np.concatenate(value), np.concatenate(rest, axis=1)


def _sums(games: Rows) -> tuple[Floats, Floats]:
    """Return by question and model the wins, a tie half, and the pairs."""
    shape, value = (games.questions, games.models), np.concatenate([games.y, 1.0 - games.y])
    at = np.tile(games.question, 2), np.concatenate([games.one, games.other])
    return tally(shape, *at, weights=value), tally(shape, *at)


def _fitted(games: Rows, *, models: bool) -> Fit | None:
    """Return the coefficients that maximise the likelihood, the slope last; None if there are none."""
    free = np.arange(0 if models else games.models, games.models + 1)
    with contextlib.suppress(NoFitError):
        return fit(games, free, least=True)
    return None


def _equal_length(games: Rows, found: Fit) -> tuple[Floats, Floats]:
    """Return each model's win rate at equal length, and those without each question (questions × models)."""
    met = tally((games.questions, games.models, games.models), games.question, games.one, games.other)
    met = met + met.swapaxes(1, 2)
    total = met.sum(axis=0)
    return _rates(total, found.whole), _rates(total - met, found.without)


def _rates(met: Floats, coefficients: Floats) -> Floats:
    strength = coefficients[..., :-1]
    won = chance(strength[..., :, None] - strength[..., None, :])
    return quotient((met * won).sum(axis=-1), met.sum(axis=-1))


def _connected(games: Rows) -> bool:
    """Return whether every model that played reaches every other by "won or tied against"."""
    beat = np.zeros((games.models, games.models), dtype=bool)
    beat[games.one[games.y > 0], games.other[games.y > 0]] = True
    beat[games.other[games.y < 1], games.one[games.y < 1]] = True
    played = np.unique(np.concatenate([games.one, games.other]))
    return bool(all_reach(beat[None, played[:, None], played])[0])


def _with_prior(games: Rows) -> Rows:
    """Return the pairs with half a virtual tie for each two models that met, which is in no question."""
    one, other = np.unique(np.sort(np.stack([games.one, games.other]), axis=0), axis=1)
    size = len(one)
    return games._replace(
        question=np.append(games.question, np.full(size, games.questions)),
        one=np.append(games.one, one),
        other=np.append(games.other, other),
        z=np.append(games.z, np.zeros((size, 1)), axis=0),
        y=np.append(games.y, np.full(size, 0.5)),
        weight=np.append(games.weight, np.full(size, 0.5)),
    )


@takes_only(Words.__annotations__)
def judge_length(variants: Sequence[str] = (), **words: Unpack[Words]) -> Report:
    """Return how often the longer answer wins, the slope, and (`models`) win rates at equal length.

    Lengths are characters of the answers in the benchmark's `model_answer/`; for a file given, in the folder that
    contains it unless `bench_name` names another. `variants` are versions of one model, such as one prompted to be
    concise and one prompted to be verbose: the table of that name shows how their rates differ. See
    `Words` for the keywords.

    Raises:
        MissingError: there is no answer of the judged models.
    """
    given = asked(Query.of("pairwise-all", **words))
    judged, path = given.verdicts, given.sources[0].path
    bench = home_of(given.query, path)
    given = given._replace(subject=given.subject._replace(bench=given.subject.bench or bench.name))
    found = pair_arrays(judged, given.subject.categories or None)
    lengths = answer_lengths(judged, bench)
    result = length_report(found, *lengths, variants=variants, seed=given.query.seed)
    if not result.n:
        raise MissingError(
            f"no pair of {path} has both answers in {bench.folder / 'model_answer'}; "
            "name their folder with --bench-name and --data-dir"
        )
    rows: list[dict[str, Any]] = [
        {"measure": "longer wins", "value": result.longer_wins, "n": result.decided},
        {"measure": "slope", "value": result.slope, "n": result.n},
        {"measure": "slope with models", "value": result.slope_with_models, "n": result.n},
    ]
    notes = [_spread_note(result.variants)] if result.variants else []
    notes.append(
        f"longer wins: of {result.decided} pairs that are decided and of unequal length "
        f"({counted(result.ties, 'tie')} and {result.equal} of equal length not counted)"
    )
    if result.spread is None:
        notes.append("in all pairs with a verdict both answers are equally long: there is no slope")
    else:
        notes.append(
            f"slope: change in the log odds to win for each {counted(round(result.spread), 'character')} "
            "that an answer is longer; with models: at equal strength of the two models"
        )
        if lacking := [row["measure"] for row in rows[1:] if row["value"].value is None]:
            notes.append(f"no {' and no '.join(lacking)}: length alone decides these pairs")
    if result.prior:
        notes.append(f"some models won or lost everything: the fit with models has {PRIOR}")
    if absent := [model for model in found.models if not is_there(bench.answer_file(model))]:
        notes.append(f"no answers of {', '.join(absent)} in {bench.folder / 'model_answer'}")
    notes += left_out({"without both answers, whose lengths are thus unknown,": result.unmeasured}, "pair")
    apart = common_questions(judged).apart
    models = sorted(result.rows, key=lambda row: row["model"] in apart)
    more = {"models": models} | ({"variants": result.variants} if result.variants else {})
    return given.report("length", rows, notes, more, few="judged on far fewer questions than other models, and last")


def _spread_note(variants: Sequence[dict[str, Any]]) -> str:
    """Return the spread of a model's versions, raw and at equal length."""
    spreads = []
    for name in ("win_rate", "equal_length"):
        known = [value for row in variants if (value := row[name].value) is not None]
        spreads.append(f"{100 * (max(known) - min(known)):.1f} points" if known else "unknown")
    names = ", ".join(row["model"] for row in variants)
    apart = f"raw win rates lie {spreads[0]} apart, those at equal length {spreads[1]}"
    return f"{names}: {apart}; moved: less {variants[0]['model']}"

"""Pairs with a baseline and the lengths of answers -> each model's win rate at equal length.

One logistic regression for each model, without an intercept, of x, the preference for its answer (0 to 1):

    P(x) = 1 / (1 + exp(-(a t + b d + c)))           t = tanh((length of the baseline's answer - own length) / s)
    length-controlled win rate = mean over questions of 1 / (1 + exp(-(b d + c)))          the fit at equal length

Lengths are characters; s is the standard deviation (n - 1) of the model's differences; d is the difficulty of the
question, looked up by question (alpaca_eval looks it up by row number, which shifts it if rows are missing). The
fit minimises |a| + |b| + |c| + C * sum of w * log-loss, where w is 1, and 0.1 for each row of two baselines that were
asked to be verbose and concise (`Gamed`, in which c is 0): they keep the fit from attributing the effect of length to
the model. C is `USUAL_C`, the value that alpaca_eval's own search finds for most models; the search's results vary by
noise, and move the rate by up to 0.15 points. A benchmark without difficulties has no term b, and one without gamed
rows is fitted without them.

x of 0.9 for 50 answers 100 characters longer than the baseline's and 0.6 for 50 that are 100 shorter: the raw rate is
0.75, a = -1.118, c = 1.259, and the controlled rate 0.779.

Intervals and tests include the fit: the jackknife's pseudo-value of each question, n * rate - (n - 1) * rate without
it, one Newton step from the whole fit; questions are resampled (`bootstrap`), and two models compared by sign flips of
the differences of their pseudo-values (`paired`). Questions without a verdict are predicted, but have no pseudo-value.
s, d and C are taken as fixed, and so are a and b where the penalty keeps them at 0. alpaca_eval's `lc_standard_error`
is the spread of the fit over questions: it is not a sampling error, and is shown under that name only.

With `compatible`, scikit-learn fits as alpaca_eval does: C by cross-validation, d by row number.

Source: Dubois et al. 2024 (arXiv 2404.04475); alpaca_eval 0.6.6, `metrics/glm_winrate.py`; Tukey (1958) for
pseudo-values; Pregibon (1981) for the step.
"""

import csv
import gzip
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from harness.old.bench import Bench
from harness.old.errors import DataError, UsageError
from harness.old.records import Observation, QuestionId
from harness.old.results.answers import of_sides
from harness.old.results.grades.scores import average_of
from harness.old.results.matrix import Floats, Ints, Matrix, Pairs, as_numbers
from harness.old.results.pairs.logistic import chance
from harness.old.results.statistics.bootstrap import NONE, RESAMPLINGS, Estimate
from harness.old.results.statistics.paired import PairedTable, paired
from harness.old.results.table import Line, Table, best_first, ends

USUAL_C = 10 ** (4 / 9)
"""2.78: of the ten values from 1e-4 to 1e4 that alpaca_eval searches, the one that it finds for most models."""
GAMED_WEIGHT = 0.1
GAMED_FILES = ("df_gamed.csv", "df_gamed.csv.gz")
"""The file of gamed rows and difficulties, as the data set tatsu-lab/alpaca_eval on Hugging Face has it."""
_STEPS = 100
_CS = np.logspace(-4, 4, 10)


class Gamed(NamedTuple):
    """The rows of two baselines asked to be verbose and concise, and the difficulties that belong to them."""

    t: Floats
    d: Floats
    x: Floats
    difficulty: Mapping[int, float]
    """By the question's place in the benchmark; the first is 0."""


@dataclass(frozen=True, slots=True)
class ControlTable:
    """Length-controlled win rates against one baseline."""

    table: Table
    """A line for each model, best first.

    `spread_error` is alpaca_eval's `lc_standard_error`, from 0 to 1: the spread of the fit over questions / sqrt(n);
    `length`, `difficulty` (None without difficulties) and `model_term` are a, b and c, and `c` is C. `n` are the pairs
    with both lengths, whose `rate` is predicted, `without_verdict` those of them that are not fitted because the judge
    gave none, and `without_length` those left out because an answer is not there.
    """
    pairs: PairedTable
    """Every two models compared on their questions."""
    gamed: bool
    difficulties: bool
    compatible: bool

    def added(self, line: Line) -> Line:
        """Return a model's line with the further columns."""
        rate = next((own.fields["rate"] for own in self.table.lines if own.model == line.model), NONE)
        return line._replace(fields={**line.fields, **ends("length_controlled_winrate", rate)})

    @property
    def note(self) -> str:
        """Return how the rates were made."""
        how = (
            "scikit-learn as in alpaca_eval, C by search, difficulty by row" if self.compatible else f"C {USUAL_C:.2f}"
        )
        parts = ["length", *(["difficulty of the question"] if self.difficulties else [])]
        lacks = [] if self.difficulties else ["no term for the difficulty of questions, which is unknown"]
        lacks += [] if self.gamed else ["no gamed rows"]
        absent = f"; {', '.join(lacks)} ({GAMED_FILES[0]}, see the README)" if lacks else ""
        held = [line.model for line in self.table.lines if line.fields["model_term"] == 0.0]
        absent += (
            f"; of {', '.join(held)} length and model cannot be separated here, or there are too few questions: the "
            "fit gives 0.5"
            if held
            else ""
        )
        return f"length_controlled_winrate: logistic fit of each model by {' and '.join(parts)}, {how}{absent}"


class _Rows(NamedTuple):
    """The rows of one model."""

    question: Ints
    t: Floats
    d: Floats
    x: Floats
    """NaN where there is no verdict."""
    without_length: int


def gamed_of(bench: Bench) -> Gamed | None:
    """Return the gamed rows and difficulties that lie in a benchmark's folder; None where none do.

    Raises:
        DataError: the file is not what it must be.
    """
    path = next((bench.folder / name for name in GAMED_FILES if (bench.folder / name).is_file()), None)
    return None if path is None else read_gamed(path)


def read_gamed(path: pathlib.Path) -> Gamed:
    """Return the gamed rows of a file.

    Raises:
        DataError: it is not what it must be.
    """
    try:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        rows = list(csv.DictReader(text.decode("utf-8").splitlines()))
        named = ("std_delta_len", "instruction_difficulty", "preference")
        t, d, x = (np.array([float(row[name]) for row in rows]) for name in named)
        difficulty = dict(zip((int(row["index"]) for row in rows), d.tolist(), strict=True))
    except KeyError as error:
        raise DataError(f"lacks the column {error}", path=path) from None
    except (OSError, EOFError, UnicodeError, ValueError, TypeError, csv.Error) as error:
        raise DataError(f"is not a file of gamed rows: {error}", path=path) from None
    if not rows or not all(np.isfinite(own).all() for own in (t, d, x)) or not ((x >= 0) & (x <= 1)).all():
        raise DataError("is not a file of gamed rows: it needs numbers, and preferences from 0 to 1", path=path)
    return Gamed(np.tanh(t), d, x, difficulty)


def answer_lengths(comparisons: Sequence[Observation], bench: Bench) -> tuple[Floats, Floats]:
    """Return for each pair the characters of both answers in its turn; NaN where one is not there."""
    one, other = of_sides(comparisons, bench, len)
    return as_numbers(one), as_numbers(other)


def length_controlled(
    pairs: Pairs,
    length_1: Floats,
    length_2: Floats,
    baseline: str,
    *,
    gamed: Gamed | None = None,
    places: Mapping[QuestionId, int] | None = None,
    c: float = USUAL_C,
    compatible: bool = False,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> ControlTable:
    """Return the length-controlled win rate of each model against the baseline.

    Args:
        pairs: of one judge.
        length_1: for each pair, the characters of model_1's answer; NaN if it is missing.
        length_2: the same of model_2.
        baseline: the model in every pair that counts.
        gamed: gamed rows and difficulties; None: the term of difficulty is left out.
        places: for each question its position in the benchmark, by which its difficulty is looked up.
        c: how much the data weigh against the penalty.
        compatible: whether alpaca_eval's own fit is made, with scikit-learn.
        resamplings: how many times the questions are drawn; 0 for no intervals.
        seed: of the drawing.

    Raises:
        UsageError: there is no such baseline, or scikit-learn is needed and not there.
    """
    if baseline not in pairs.models:
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {', '.join(sorted(pairs.models))}")
    known = places or {}
    aligned = gamed is not None and all(known.get(q, -1) in gamed.difficulty for q in pairs.questions)
    difficulty = gamed.difficulty if gamed is not None and (aligned or compatible) else None
    base, longer = pairs.models.index(baseline), length_2 - length_1
    lines: list[Line] = []
    pseudo: list[Floats] = []
    for own, model in enumerate(pairs.models):
        if model == baseline:
            continue
        data = _rows_of(pairs, longer, own, base, known, difficulty or {})
        if compatible and difficulty is not None:
            data = data._replace(d=np.array([difficulty.get(row, 0.0) for row in range(len(data.d))]))
        if len(data.x) < 2 or np.isnan(data.x).all():
            continue
        fit = _compatible(data, gamed) if compatible else (c, _fitted(*_training(data, gamed), c))
        found, values = _controlled(model, data, len(pairs.questions), gamed, *fit)
        lines.append(found)
        pseudo.append(values)
    names = tuple(line.model for line in lines)
    by_question = np.array(pseudo).reshape(len(names), len(pairs.questions), 1).swapaxes(0, 1)
    nothing = np.zeros(len(names), dtype=np.int64)
    each = Matrix(
        pairs.questions, pairs.groups, names, (1,), by_question, nothing, (0.0, 1.0), fixed_mix=pairs.fixed_mix
    )
    drawn = average_of(each, resamplings=resamplings, seed=seed)
    for at, line in enumerate(lines):
        rate = replace(drawn[line.model], value=line.fields["rate"].value)
        lines[at] = line._replace(fields={**line.fields, "rate": rate})
    compared = paired(each, resamplings=resamplings, seed=seed)
    table = Table(best_first(lines, "rate"), "pairs")
    return ControlTable(table, compared, gamed is not None, difficulty is not None, compatible)


def _rows_of(
    pairs: Pairs, longer: Floats, own: int, base: int, places: Mapping[QuestionId, int], difficulty: Mapping[int, float]
) -> _Rows:
    """Return the rows of a model against the baseline, in the order of the benchmark's questions; `longer` is by how
    much model_2's answer is longer than model_1's."""
    first = (pairs.model_1 == own) & (pairs.model_2 == base)
    mine = np.flatnonzero(first | ((pairs.model_2 == own) & (pairs.model_1 == base)))
    place = [places.get(pairs.questions[q], q) for q in pairs.question[mine].tolist()]
    mine = mine[np.lexsort((pairs.turn[mine], place))]
    there = ~np.isnan(longer[mine])
    lost, mine = int((~there).sum()), mine[there]
    share = np.where(first[mine], pairs.share[mine], 1.0 - pairs.share[mine])
    apart = np.where(first[mine], 1.0, -1.0) * longer[mine]
    spread = float(np.std(apart, ddof=1)) if len(apart) > 1 else 0.0
    t = np.tanh(apart / spread) if spread else np.zeros(len(mine))
    at = [places.get(pairs.questions[q], -1) for q in pairs.question[mine].tolist()]
    return _Rows(pairs.question[mine], t, np.array([difficulty.get(k, 0.0) for k in at]), share, lost)


def _training(data: _Rows, gamed: Gamed | None) -> tuple[Floats, Floats, Floats]:
    """Return features, shares and weights: the gamed rows first, then the model's rows with a verdict."""
    good = ~np.isnan(data.x)
    own = np.stack([data.t, data.d, np.ones(len(data.t))], axis=1)[good]
    if gamed is None:
        return own, data.x[good], np.ones(len(own))
    others = np.stack([gamed.t, gamed.d, np.zeros(len(gamed.t))], axis=1)
    weight = np.concatenate([np.full(len(others), GAMED_WEIGHT), np.ones(len(own))])
    return np.concatenate([others, own]), np.concatenate([gamed.x, data.x[good]]), weight


def _fitted(features: Floats, x: Floats, weight: Floats, c: float) -> Floats:
    """Return the coefficients of least |theta| + c * sum of w * log-loss; exact up to rounding.

    Each step goes to the least penalised quadratic around the last one.
    """
    theta = np.zeros(features.shape[1])
    value = _objective(features, x, weight, c, theta)
    for _ in range(_STEPS):
        p = chance(features @ theta)
        gradient = c * (features.T @ (weight * (p - x)))
        curvature = c * (features.T @ (features * (weight * p * (1 - p))[:, None])) + 1e-12 * np.eye(len(theta))
        goal = theta - np.linalg.solve(curvature, gradient + np.sign(theta))
        if (goal * theta <= 0).any():  # a coefficient is, or would pass, 0, where the penalty has a corner
            goal = _corner(theta, gradient, curvature)
        step, size = goal - theta, 1.0
        while size > 1e-8 and _objective(features, x, weight, c, theta + size * step) > value:
            size /= 2
        theta = theta + size * step
        value = _objective(features, x, weight, c, theta)
        if np.abs(step).max() < 1e-11 or size <= 1e-8:
            break
    return theta


def _corner(theta: Floats, gradient: Floats, curvature: Floats) -> Floats:
    """Return where the quadratic plus |theta| is least, coordinate by coordinate: there are three."""
    goal = theta.copy()
    for _ in range(1000):
        before = goal.copy()
        for j in range(len(goal)):
            slope = gradient[j] + curvature[j] @ (goal - theta) - curvature[j, j] * goal[j]
            goal[j] = -np.sign(slope) * max(abs(slope) - 1.0, 0.0) / curvature[j, j]
        if np.abs(goal - before).max() < 1e-14:
            break
    return goal


def _objective(features: Floats, x: Floats, weight: Floats, c: float, theta: Floats) -> float:
    z = features @ theta
    return float(np.abs(theta).sum() + c * (weight * (np.logaddexp(0.0, z) - x * z)).sum())


def _controlled(
    model: str, data: _Rows, questions: int, gamed: Gamed | None, c: float, theta: Floats
) -> tuple[Line, Floats]:
    """Return what was found of a model, its rate without an interval, and its pseudo-values by question (NaN: none)."""
    features, _, weight = _training(data, gamed)
    good = ~np.isnan(data.x)
    own = features[len(features) - int(good.sum()) :]
    p = chance(features @ theta)
    # Of the rows of each question: gradient and curvature of the loss, which leave the sums when it is left out.
    pull = np.zeros((questions, len(theta)))
    bend = np.zeros((questions, len(theta), len(theta)))
    here = p[len(features) - len(own) :]
    np.add.at(pull, data.question[good], own * (here - data.x[good])[:, None])
    np.add.at(bend, data.question[good], own[:, :, None] * own[:, None, :] * (here * (1 - here))[:, None, None])
    rest = features.T @ (features * (weight * p * (1 - p))[:, None]) - bend
    # The model's own term is 0 where the penalty outweighs few or even verdicts. Other verdicts could have moved it
    # from there, so taken as given it would make 0.5 look certain.
    free = np.union1d(np.flatnonzero(theta), [2])
    steps = np.zeros((questions, len(theta)))
    rest = rest[:, free[:, None], free] + 1e-12 * np.eye(len(free))
    steps[:, free] = np.linalg.solve(rest, pull[:, free, None])[:, :, 0]
    at = np.unique(data.question)
    q = chance(theta[2] + theta[1] * data.d)
    rate = float(q.mean())
    # The sum over all rows after each step, to the second order: steps are small, and rows times questions many.
    z = np.stack([data.d, np.ones(len(q))], axis=1)
    moved = steps[at][:, 1:]
    first = moved @ (z.T @ (q * (1 - q)))
    second = ((moved @ (z.T @ (z * (q * (1 - q) * (1 - 2 * q))[:, None]))) * moved).sum(axis=1)
    place = np.searchsorted(at, data.question)
    inside = np.bincount(place, chance((z * (theta[1:] + moved[place])).sum(axis=1)), len(at))
    left = len(q) - np.bincount(place, minlength=len(at))
    every = q.sum() + first + second / 2
    without = np.divide(every - inside, left, out=np.full(len(at), rate), where=left > 0)
    pseudo = np.full(questions, np.nan)
    judged = np.isin(at, data.question[good])  # the others were not fitted, and are no evidence of how sure the fit is
    pseudo[at[judged]] = rate + (int(judged.sum()) - 1) * (without[judged].mean() - without[judged])
    found = {
        "spread_error": float(np.std(q, ddof=1)) / math.sqrt(len(q)) if len(q) > 1 else None,
        "length": float(theta[0]),
        "difficulty": float(theta[1]) if np.any(data.d) else None,
        "model_term": float(theta[2]),
        "c": c,
        "n": len(q),
        "without_verdict": int((~good).sum()),
        "without_length": data.without_length,
        "rate": Estimate(rate, None, None, len(at), None),
    }
    return Line(model, found), pseudo


def _compatible(data: _Rows, gamed: Gamed | None) -> tuple[float, Floats]:
    """Return C and the coefficients as alpaca_eval fits them: liblinear, C by five folds of rows.

    Each row is used twice, as a win and as a loss, weighted by its share; the score of a fold is its log-loss.
    """
    try:
        import sklearn
        from sklearn.linear_model import LogisticRegressionCV
        from sklearn.metrics import make_scorer
        from sklearn.model_selection import GroupKFold
    except ImportError:
        raise UsageError("the compatible fit needs scikit-learn: pip install 'turnbench[compatible]'") from None
    import warnings

    features, x, weight = _training(data, gamed)
    n = len(x)
    twice = np.concatenate([features, features])
    y = np.concatenate([np.ones(n), np.zeros(n)])
    share, row_weight = np.concatenate([x, 1 - x]), np.concatenate([weight, weight])

    def loss(truth: Any, predicted: Any, share: Any, row_weight: Any) -> float:
        p = np.clip(predicted, 1e-15, 1 - 1e-15)
        won = np.where(truth == 1, share, 1 - share)
        return float(-np.mean(row_weight * (won * np.log(p) + (1 - won) * np.log(1 - p))))

    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorer = make_scorer(loss, response_method="predict_proba", greater_is_better=False)
        scorer = scorer.set_score_request(share=True, row_weight=True)
        fit = LogisticRegressionCV(
            cv=GroupKFold(n_splits=5),
            scoring=scorer,
            Cs=_CS,
            random_state=123,
            penalty="l1",
            solver="liblinear",
            fit_intercept=False,
        ).set_fit_request(sample_weight=True)
        groups = np.tile(np.arange(n), 2)
        fit.fit(twice, y, sample_weight=share * row_weight, groups=groups, share=share, row_weight=row_weight)
    return float(np.ravel(fit.C_)[0]), np.asarray(fit.coef_[0], dtype=np.float64)

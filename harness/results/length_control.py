"""Length-controlled win rates as alpaca_eval computes them, to the digit, by scikit-learn.

    better      the interval of the rate excludes one half: rate ± t(n − 1) · refit error

The refit error is the standard deviation of the rate when instructions are drawn anew with
replacement and everything is fitted again, at the C that was chosen, REFITS times.

For each model a logistic regression of x, the preference for it, without an intercept:

    P = 1 / (1 + exp(−(a t + b d + c)))     t = tanh((baseline's length − own length) / s)
    rate = mean over questions of 1 / (1 + exp(−(b d + c)))     its fit where both are equally long

Lengths are characters, s is the standard deviation (n − 1) of the model's differences, d the
difficulty of the instruction, c of the model. The 1,610 rows of `df_gamed.csv` (the baseline asked
to be verbose and to be concise) enter with weight 0.1 and c = 0: they keep the fit from giving the
model what is length's. The penalty is L1; C is chosen by five folds of ten values.

The difficulty is looked up by instruction. alpaca_eval looks it up by row number, so its published
rates of models with missing rows are shifted: gpt35_turbo_instruct 17.73, aligned 14.96. Its
`lc_standard_error` is the spread of the fit over questions; that the fit is estimated is left out,
so no word rests on it.

Source: Dubois et al. 2024 (arXiv:2404.04475); alpaca_eval 0.6.6, `metrics/glm_winrate.py`;
Efron 1979 for the bootstrap.
"""

import csv
import gzip
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.bench import Bench
from harness.errors import DataError, require
from harness.results.estimate import LEAST, Floats, Interval, t_critical, t_tails
from harness.results.scores import Scores
from harness.results.strengths import answer_numbers

log = logging.getLogger("turnbench")
GAMED_FILES = ("df_gamed.csv", "df_gamed.csv.gz")
"""As in the data set tatsu-lab/alpaca_eval on Hugging Face."""
LIBRARY = "alpaca", "sklearn"
"""The extra that fits the regressions, and what it installs."""
GAMED_WEIGHT = 0.1
FOLDS = 5
CS = np.logspace(-4, 4, 10)
REFITS = 200


class Gamed(NamedTuple):
    """The rows of the verbose and the concise baseline, and the difficulty of instructions."""

    t: Floats
    d: Floats
    x: Floats
    difficulty: Mapping[int, float]
    """By the instruction's place in the benchmark."""


@dataclass(frozen=True)
class Controlled:
    """One model's length-controlled win rate in percent; None: not estimated."""

    model: str
    length_controlled_winrate: float | None
    lc_standard_error: float | None
    rate: "Refitted | None" = None
    """The same rate with the error of fitting it anew; from 0 to 1."""


@dataclass(frozen=True)
class Refitted:
    """A rate whose error is that of fitting it anew to other instructions."""

    value: float
    error: float
    n: int
    """Instructions."""

    @property
    def p_half(self) -> float | None:
        """The p-value of its being one half, by the t-test."""
        if self.n < LEAST or not self.error:
            return None
        return t_tails((self.value - 0.5) / self.error, self.n - 1)

    def interval_at(self, level: float) -> Interval | None:
        """Return the interval that leaves out a rate with p < `level`."""
        if self.n < LEAST or not self.error:
            return None
        half = t_critical(level, self.n - 1) * self.error
        return Interval(max(0.0, self.value - half), min(1.0, self.value + half))


class Fit(NamedTuple):
    """One model's rate, from 0 to 1, and what it is made from."""

    rate: float
    spread: float
    """Of the fit over questions, / √n: alpaca_eval's standard error."""
    refitted: Refitted


def read_gamed(bench: Bench) -> Gamed | None:
    """Return the gamed rows in a benchmark's folder; None if there is no such file.

    Raises:
        DataError: the file is not what it must be.
    """
    paths = [folder / name for folder in (bench.folder, bench.source) for name in GAMED_FILES]
    path = next(filter(Path.is_file, paths), None)
    return None if path is None else parse_gamed(path)


def parse_gamed(path: Path) -> Gamed:
    """Return the gamed rows of a file.

    Raises:
        DataError: the file is not what it must be.
    """
    names = ("std_delta_len", "instruction_difficulty", "preference")
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        rows = list(csv.DictReader(data.decode().splitlines()))
        delta, d, x = (np.array([float(row[name]) for row in rows]) for name in names)
        if not rows or not np.isfinite([delta, d, x]).all():
            raise ValueError("it needs numbers")
        places = [int(row["index"]) for row in rows]
    except (OSError, EOFError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise DataError(f"is no file of gamed rows: {error}", path) from None
    return Gamed(np.tanh(delta), d, x, dict(zip(places, d.tolist(), strict=True)))


def fit(longer: Floats, difficulty: Floats, preference: Floats, gamed: Gamed) -> Fit | None:
    """Return one model's rate at equal length.

    Args:
        longer: by how many characters the baseline's answer is longer, in the benchmark's order.
        difficulty: of each row's instruction.
        preference: for the model, from 0 to 1; NaN: no verdict, which is predicted but not fitted.
        gamed: the rows that regularise.

    Returns:
        None if the model's term is 0, as of too few rows: nothing was estimated.

    Raises:
        MissingError: scikit-learn is not installed.
    """
    spread = float(np.std(longer, ddof=1)) if len(longer) > 1 else 0.0
    judged = ~np.isnan(preference)
    if not spread or judged.sum() < FOLDS:
        return None
    features, share, weight = _rows(longer / spread, difficulty, preference, gamed)
    theta, c = _liblinear(features, share, weight)
    if theta[2] == 0:
        return None
    equal = 1 / (1 + np.exp(-(theta[1] * difficulty + theta[2])))
    rate = float(equal.mean())
    error = _refit_error(longer, difficulty, preference, gamed, c)
    return Fit(
        rate, float(np.std(equal, ddof=1) / np.sqrt(len(equal))), Refitted(rate, error, len(equal))
    )


def _rows(
    length: Floats, difficulty: Floats, preference: Floats, gamed: Gamed
) -> tuple[Floats, Floats, Floats]:
    """Return features, shares and weights of the rows that are fitted, the gamed ones first."""
    judged = ~np.isnan(preference)
    rows = np.stack([np.tanh(length), difficulty, np.ones(len(length))], axis=1)[judged]
    others = np.stack([gamed.t, gamed.d, np.zeros(len(gamed.t))], axis=1)
    weight = np.concatenate([np.full(len(others), GAMED_WEIGHT), np.ones(len(rows))])
    share = np.concatenate([gamed.x, preference[judged]])
    return np.concatenate([others, rows]), share, weight


def _refit_error(
    longer: Floats, difficulty: Floats, preference: Floats, gamed: Gamed, c: float
) -> float:
    """Return the standard deviation of the rate over instructions drawn anew; always the same."""
    from sklearn.linear_model import LogisticRegression

    rng, n, rates = np.random.default_rng(0), len(longer), []
    for _ in range(REFITS):
        drawn = rng.integers(n, size=n)
        spread = float(np.std(longer[drawn], ddof=1)) or 1.0
        part = longer[drawn] / spread, difficulty[drawn], preference[drawn]
        features, share, weight = _rows(*part, gamed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(
                C=c, penalty="l1", solver="liblinear", fit_intercept=False, random_state=123
            ).fit(
                np.concatenate([features, features]),
                np.repeat([1.0, 0.0], len(share)),
                sample_weight=np.concatenate([share, 1 - share]) * np.tile(weight, 2),
            )
        theta = model.coef_[0]
        equal = 1 / (1 + np.exp(-(theta[1] * difficulty[drawn] + theta[2])))
        rates.append(float(equal.mean()))
    return float(np.std(rates, ddof=1))


def _liblinear(features: Floats, share: Floats, weight: Floats) -> tuple[Floats, float]:
    """Return the coefficients and C: each row is a win and a loss, weighted by its share."""
    require(*LIBRARY)
    import sklearn
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import GroupKFold

    def loss(won: Any, p: Any, part: Any, row_weight: Any) -> float:
        p = np.clip(p, 1e-15, 1 - 1e-15)
        share = np.where(won == 1, part, 1 - part)
        return float(-np.mean(row_weight * (share * np.log(p) + (1 - share) * np.log(1 - p))))

    n = len(share)
    parts, weights = np.concatenate([share, 1 - share]), np.concatenate([weight, weight])
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parameters that newer versions rename
        scorer = make_scorer(loss, response_method="predict_proba", greater_is_better=False)
        model = LogisticRegressionCV(
            Cs=CS,
            cv=GroupKFold(n_splits=FOLDS),
            scoring=scorer.set_score_request(part=True, row_weight=True),
            penalty="l1",
            solver="liblinear",
            fit_intercept=False,
            random_state=123,
        ).set_fit_request(sample_weight=True)
        model.fit(
            np.concatenate([features, features]),
            np.repeat([1.0, 0.0], n),
            sample_weight=parts * weights,
            groups=np.tile(np.arange(n), 2),
            part=parts,
            row_weight=weights,
        )
    return np.asarray(model.coef_[0], dtype=np.float64), float(model.C_[0])


def length_controlled(
    scores: Scores, bench: Bench, baseline: str, gamed: Gamed | None
) -> list[Controlled]:
    """Return the length-controlled win rate of each model against the baseline.

    A line of the log says why there is no estimate.

    Raises:
        MissingError: scikit-learn is not installed.
    """
    names = [name for name in scores.models_present if name != baseline]
    if gamed is None or len(gamed.difficulty) != len(bench.questions):
        what = f"{GAMED_FILES[0]} of these instructions is not in {bench.folder}"
        where = "the data set tatsu-lab/alpaca_eval has it"
        log.warning("no win rates at equal length: %s (%s)", what, where)
        return [Controlled(name, None, None) for name in names]
    both = scores.mirrored()
    pairs = both.take(both.opponent == scores.models.index(baseline))
    pairs = pairs.take(np.lexsort((pairs.turn, pairs.question)))
    lengths, baseline_lengths = answer_numbers(pairs, bench, lambda text: (float(len(text)),))
    longer = (baseline_lengths - lengths)[:, 0]
    places = enumerate(bench.questions)
    by_id = {q.question_id: gamed.difficulty.get(place, np.nan) for place, q in places}
    difficulty = np.array([by_id.get(q.question_id, np.nan) for q in scores.questions])
    rates = []
    for name in names:
        rows = (pairs.model == scores.models.index(name)) & ~np.isnan(longer)
        fitted = fit(longer[rows], difficulty[pairs.question[rows]], pairs.value[rows], gamed)
        if fitted is None:
            log.warning("%s: too few pairs and answers for a win rate at equal length", name)
            rates.append(Controlled(name, None, None))
            continue
        rates.append(Controlled(name, 100 * fitted.rate, 100 * fitted.spread, rate=fitted.refitted))
    return rates

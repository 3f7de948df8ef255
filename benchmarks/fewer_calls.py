"""What fewer calls cost: Kendall's tau and false "better" by replay of published judgments.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.fewer_calls FOLDER

The folder holds FastChat's published files: GPT-4's grades of 34 models on MT-Bench, and GPT-4's
pairs of six of them. A pair of any two models is drawn as GPT-4's published pairs came out at the
same difference of the grades (won, tie, lost; both orders count as one outcome), with new chance
for each seed. Designs, each with its own choice of the pairs of every question and turn:

    all pairs       and each ranking is compared with the one by all pairs of the same seed
    baseline        each model against the one in the middle of the ranking
    random share    `gen_judgment --share`
    Swiss           neighbours by the strengths so far, as in tournaments
    information     the pairs whose verdict tells most about the strengths so far: p(1-p) times the
                    variance of the difference (D-optimal; Glickman and Jensen 2005)

False "better": each two neighbours of the ranking swap their grades on half of the questions, so
that they are equally good; counted is how often p < 0.05 for them. "Apart" is how many of all
pairs of models have p < 0.05. The second part replays `gen_judgment --until` on random sets of models.
"""

import argparse
import itertools
import json
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.coverage import table
from harness.judging.draw import drawn_pairs
from harness.results import Scores, compare
from harness.results.compare import find_undecided
from harness.results.looks import LOOKS
from harness.results.strengths import strengths
from harness.results.until import look_of
from harness.types import Question

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
TURNS = 2
EIGHT = (
    "gpt-4",
    "gpt-3.5-turbo",
    "claude-v1",
    "vicuna-33b-v1.3",
    "vicuna-13b-v1.3",
    "alpaca-13b",
    "llama-13b",
    "rwkv-4-raven-14b",
)


class Published(NamedTuple):
    """What is replayed."""

    models: tuple[str, ...]
    grades: Floats
    """models × questions × turns"""
    chances: Floats
    """By the difference of grades from 0 to 9: won and tie of the better graded answer."""

    def of(self, names: tuple[str, ...]) -> "Published":
        """Return the same with some of the models."""
        rows = [self.models.index(name) for name in names]
        return self._replace(models=names, grades=self.grades[rows])


def read(folder: pathlib.Path) -> Published:
    """Return the published grades, and how pairs come out at each difference of them."""
    grade: dict[tuple[str, int, int], float] = {}
    path = folder / "model_judgment" / "gpt-4_single.scores_only.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        grade[row["model"], row["question_id"], row["turn"]] = row["score"]
    models = tuple(sorted({key[0] for key in grade}))
    questions = sorted({key[1] for key in grade})
    grades = np.array([[[grade[m, q, t] for t in (1, 2)] for q in questions] for m in models])
    counts = np.full((10, 3), 0.5)
    path = folder / "human_judgment" / "gpt4_pair.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        keys = [(row[side], row["question_id"], row["turn"]) for side in ("model_a", "model_b")]
        if all(key in grade for key in keys):
            gap = grade[keys[0]] - grade[keys[1]]
            won = {"model_a": 1, "model_b": -1}.get(row["winner"], 0)
            for side in (1, -1) if gap == 0 else (1 if gap > 0 else -1,):
                counts[min(round(abs(gap)), 9), 1 - won * side] += 1
    for gap in range(4, 10):  # few pairs are so far apart
        counts[gap] = counts[4:].sum(axis=0)
    return Published(models, grades, counts[:, :2] / counts.sum(axis=1, keepdims=True))


def verdicts(rng: np.random.Generator, published: Published) -> Floats:
    """Return the outcome of every pair: questions · turns × models × models."""
    grades = published.grades.reshape(len(published.models), -1).T
    gap = grades[:, :, None] - grades[:, None, :]
    chances = published.chances[np.minimum(np.abs(gap).round().astype(int), 9)]
    draw = rng.random(gap.shape)
    better = np.where(draw < chances[..., 0], 1.0, np.where(draw < chances.sum(-1), 0.5, 0.0))
    upper = np.triu(np.where(gap >= 0, better, 1 - better), 1)
    return upper + np.tril(1 - upper.transpose(0, 2, 1), -1)


# Designs: which pairs are judged, as rows (question and turn, model, model)


def everything(outcomes: Floats, share: float, seed: int) -> Ints:
    """Return all pairs."""
    items, models, _ = outcomes.shape
    first, second = np.triu_indices(models, 1)
    item = np.repeat(np.arange(items), len(first))
    return np.stack([item, np.tile(first, items), np.tile(second, items)])


def baseline(outcomes: Floats, share: float, seed: int) -> Ints:
    """Return each model with the one in the middle."""
    items, models, _ = outcomes.shape
    middle = int(np.argsort(outcomes.sum(axis=(0, 2)))[models // 2])
    others = np.array([model for model in range(models) if model != middle])
    item = np.repeat(np.arange(items), len(others))
    return np.stack([item, np.tile(others, items), np.full(len(item), middle)])


def random_share(outcomes: Floats, share: float, seed: int) -> Ints:
    """Return what `gen_judgment --share` draws."""
    items, models, _ = outcomes.shape
    names = [str(model) for model in range(models)]
    rows = [
        (item, *sorted(int(name) for name in pair))
        for item in range(items)
        for pair in drawn_pairs(f"{seed} {item // TURNS}", item % TURNS, names, share)
    ]
    return np.array(rows).T


def swiss(outcomes: Floats, share: float, seed: int) -> Ints:
    """Return neighbours by strength: next ones, those two places apart, and so on."""

    def chosen(rng: np.random.Generator, number: int, theta: Floats, covariance: Floats) -> Ints:
        order = np.argsort(-theta + rng.normal(0, 1e-6, len(theta)))
        found: list[tuple[int, int]] = []
        for apart in range(1, len(order)):
            for start in (0, apart):  # no model twice before the others have played
                places = [p for p in range(len(order) - apart) if p // apart % 2 == start // apart]
                found += [(order[place], order[place + apart]) for place in places]
            if len(found) >= number:
                break
        return np.array(found[:number])

    return _adaptive(outcomes, share, seed, chosen)


def information(outcomes: Floats, share: float, seed: int) -> Ints:
    """Return the pairs that tell most, one after the other, each counted as judged by the next."""

    def chosen(rng: np.random.Generator, number: int, theta: Floats, covariance: Floats) -> Ints:
        covariance = covariance.copy()
        first, second = np.triu_indices(len(theta), 1)
        p = 1 / (1 + np.exp(theta[second] - theta[first]))
        weight, noise = p * (1 - p), 1 + rng.normal(0, 1e-6, len(p))
        found = []
        for _ in range(number):
            diagonal = np.diag(covariance)
            spread = diagonal[first] + diagonal[second] - 2 * covariance[first, second]
            best = int(np.argmax(weight * spread * noise))
            weight_of, spread_of = weight[best], spread[best]
            column = covariance[:, first[best]] - covariance[:, second[best]]
            covariance -= np.outer(column, column) * weight_of / (1 + weight_of * spread_of)
            noise[best] = 0
            found.append((first[best], second[best]))
        return np.array(found)

    return _adaptive(outcomes, share, seed, chosen)


def _adaptive(
    outcomes: Floats,
    share: float,
    seed: int,
    chosen: Callable[[np.random.Generator, int, Floats, Floats], Ints],
) -> Ints:
    """Choose the pairs of each question and turn by the strengths from those before."""
    rng = np.random.default_rng(seed)
    items, models, _ = outcomes.shape
    wins, theta, rows = np.zeros((models, models)), np.zeros(models), []
    covariance = np.eye(models)
    for step, item in enumerate(rng.permutation(items).tolist()):
        number = int(share * models * (models - 1) / 2 + rng.random())
        if not number:
            continue
        if step % 4 == 0:
            theta, covariance = fit(wins, theta)
        first, second = chosen(rng, number, theta, covariance).T
        won = outcomes[item, first, second]
        np.add.at(wins, (first, second), won)
        np.add.at(wins, (second, first), 1 - won)
        rows.append(np.stack([np.full(len(first), item), first, second]))
    return np.concatenate(rows, axis=1)


def fit(wins: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Return strengths with a normal prior of variance 4, and their covariance."""
    games = wins + wins.T
    for _ in range(6):
        p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        weight = games * p * (1 - p)
        hessian = np.diag(weight.sum(axis=1) + 0.25) - weight
        theta = theta + np.linalg.solve(hessian, (wins - games * p).sum(axis=1) - theta / 4)
    covariance = np.linalg.inv(hessian).astype(np.float64)
    return theta, covariance


# Measures


def scores_of(outcomes: Floats, rows: Ints) -> Scores:
    """Return the judged pairs as scores."""
    item, first, second = rows
    question, turn = item // TURNS, item % TURNS + 1
    value = outcomes[item, first, second]
    return table(question, turn, first, second, value, len(outcomes) // TURNS, outcomes.shape[1])


def tau(one: Floats, other: Floats) -> float:
    """Return Kendall's rank correlation."""
    first, second = np.triu_indices(len(one), 1)
    signs = np.sign(one[first] - one[second]) * np.sign(other[first] - other[second])
    return float(signs.mean())


def ranking(outcomes: Floats, rows: Ints) -> Floats:
    """Return each model's strength."""
    item, first, second = rows
    wins = np.zeros(outcomes.shape[1:])
    np.add.at(wins, (first, second), outcomes[item, first, second])
    np.add.at(wins, (second, first), 1 - outcomes[item, first, second])
    return fit(wins, np.zeros(len(wins)))[0]


def ps(outcomes: Floats, rows: Ints, *, drawn: bool) -> dict[tuple[int, int], float]:
    """Return the unadjusted p-value of every two models."""
    scores, size = scores_of(outcomes, rows), outcomes.shape[1]
    found: dict[tuple[int, int], float] = {}
    if drawn:
        ratings = strengths(scores)
        for one, other in itertools.combinations(range(size), 2):
            a, b = ratings.get(f"m{one}"), ratings.get(f"m{other}")
            p = None if a is None or b is None else (a - b).p
            found[one, other] = 1.0 if p is None else p
        return found
    names = [f"m{model}" for model in range(size)]
    for pair in compare(scores, names).pairs:
        p = pair.difference.p
        found[int(pair.model_1[1:]), int(pair.model_2[1:])] = 1.0 if p is None else p
    return found


def equalled(rng: np.random.Generator, published: Published) -> tuple[Published, list[int]]:
    """Return neighbours made equal by swapping their grades on half of the questions."""
    order = np.argsort(published.grades.mean(axis=(1, 2))).tolist()
    grades = published.grades.copy()
    for one, other in zip(order[::2], order[1::2], strict=False):
        swap = np.flatnonzero(rng.random(grades.shape[1]) < 0.5)
        both = grades[one, swap].copy()
        grades[one, swap], grades[other, swap] = grades[other, swap], both
    return published._replace(grades=grades), order


DESIGNS: dict[str, Callable[[Floats, float, int], Ints]] = {
    "all pairs": everything,
    "baseline": baseline,
    "random share": random_share,
    "Swiss": swiss,
    "information": information,
}
WITHOUT_SHARE = ("all pairs", "baseline")
"""Designs of fixed pairs; their models are compared on common opponents."""


def replay(published: Published, name: str, share: float, seeds: int, tested: int) -> None:
    """Print a line about a design: tau by all seeds, p-values by the first `tested`."""
    taus, false, equal, apart, pairs = [], 0, 0, [], 0
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        outcomes = verdicts(rng, published)
        rows = DESIGNS[name](outcomes, share, seed)
        pairs = rows.shape[1]
        whole = outcomes.sum(axis=(0, 2))
        taus.append(tau(ranking(outcomes, rows), whole))
        if seed >= tested:
            continue
        drawn = name not in WITHOUT_SHARE
        apart.append(np.mean([p < 0.05 for p in ps(outcomes, rows, drawn=drawn).values()]))
        rng = np.random.default_rng([seed, 2])
        same, order = equalled(rng, published)
        outcomes = verdicts(rng, same)
        found = ps(outcomes, DESIGNS[name](outcomes, share, seed + 1000), drawn=drawn)
        for one, other in zip(order[::2], order[1::2], strict=False):
            false += found[min(one, other), max(one, other)] < 0.05
            equal += 1
    total = len(published.models) * (len(published.models) - 1) * len(outcomes) / 2
    bar = "#" * round(max(float(np.mean(taus)) - 0.8, 0.0) * 150)
    print(
        f"{name:<13} {pairs / total:>5.0%} {2 * pairs:>8,} {np.mean(taus):>6.3f} "
        f"{np.std(taus):>6.3f} {false / equal:>7.1%} {np.mean(apart):>6.0%}  {bar}",
        flush=True,
    )


# Looks


def looks_replay(published: Published, size: int, within: float, runs: int) -> None:
    """Print how many grades `--until` saves on random sets of models, and how often it errs."""
    saved, false = [], 0
    for run in range(runs):
        rng = np.random.default_rng([run, size])
        chosen = rng.choice(len(published.models), size, replace=False)
        grades = published.grades[chosen]
        saved.append(_saved(grades, within, run)[0])
        swap = rng.random(grades.shape[1]) < 0.5
        grades = grades.copy()
        grades[:2, swap] = grades[1::-1, swap]
        false += _saved(grades, within, run)[1]
    print(f"{size:>6} {np.mean(saved):>7.0%} {false / runs:>12.1%}", flush=True)


def _saved(grades: Floats, within: float, run: int) -> tuple[float, bool]:
    """Return the share of the grades that is saved, and whether the first two are told apart."""
    models, questions, _ = grades.shape
    names = tuple(f"m{model}" for model in range(models))
    asked = [
        Question(question_id=f"{run} {q}", category=str(q // 10), turns=[])
        for q in range(questions)
    ]
    order = look_of(asked)
    looks = np.array([order[question.question_id] for question in asked])
    until = np.full(models, LOOKS)
    active = names
    model, question, turn = (column.ravel() for column in np.indices(grades.shape))
    scores = table(
        question, turn + 1, model, np.full(len(model), -1), grades.ravel(), questions, models
    )
    for look in range(1, LOOKS + 1):
        judged = scores.take(looks[scores.question] <= np.minimum(until, look)[scores.model])
        left = find_undecided(judged, names, within, looks, active)
        for name in set(active) - set(left):
            until[int(name[1:])] = look
        active = left
        if not active or look == LOOKS:
            break
    first = compare(judged, names[:2], looks=looks).pairs[0]
    taken = sum(int((looks <= end).sum()) for end in until)
    return 1 - taken / (models * questions), first.better is not None


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="FastChat's published files")
    parser.add_argument("--seeds", type=int, default=50, metavar="N", help="of each design")
    parser.add_argument("--tested", type=int, default=20, metavar="N", help="seeds with p-values")
    options = parser.parse_args()
    published = read(options.folder)
    for models, parts in ((EIGHT, (0.1, 0.25, 0.5)), (published.models, (0.05, 0.1))):
        print(
            f"\n{len(models)} models\n{'design':<13} share    calls    tau    +-     false  apart"
        )
        for name in DESIGNS:
            for share in (1.0,) if name in WITHOUT_SHARE else parts:
                tested = options.tested if len(models) > 8 else options.seeds
                replay(published.of(models), name, share, options.seeds, tested)
    print("\n--until 0.5: grades saved, and equal models that are called different")
    print("models   saved  false better")
    for size, runs in ((2, 1000), (3, 300), (5, 200), (8, 100), (34, 10)):
        looks_replay(published, size, 0.5, runs)


if __name__ == "__main__":
    main()

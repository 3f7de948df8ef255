"""Random small benchmarks, made by a seed with the real commands, and what is true of them.

Answers are judged by built-in judges (one of which guesses, so pairs flip), people vote, and then
things happen as they do to users: answers are replaced, verdicts are missing or unreadable, rows
are written twice.
"""

import itertools
import pathlib
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

import harness

NAMES = ("org/model:7b", "model", "ő-model 2", "Größe", "model_low", "n")
CATEGORIES = ("math_low", "kitchen", "failed", "writing")
JUDGES = ("builtin/random", "builtin/first", "builtin/longest")
GRADER = "builtin/overlap"


class Pair(NamedTuple):
    """A pair that counts: model_1's share of the game that shows it first, and of the other."""

    question: int
    turn: int
    model_1: str
    model_2: str
    first: float | None
    second: float | None

    @property
    def value(self) -> float | None:
        """Its outcome for model_1: of two games that differ a tie."""
        if self.first is None or self.second is None:
            return None
        return self.first if self.first == self.second else 0.5


class Small(NamedTuple):
    """A benchmark and its rows, as they are on disk."""

    data_dir: pathlib.Path
    models: tuple[str, ...]
    questions: dict[int, int]
    """Turns by question."""
    judges: tuple[str, ...]
    stale: set[tuple[int, str]]
    """The answers that were replaced: question, model."""
    missing: int
    """Pairs that are not on disk."""

    @property
    def words(self) -> dict[str, Any]:
        """The keywords of each command."""
        return {"bench_name": "small", "data_dir": str(self.data_dir)}

    def rows(self, judge: str) -> Iterator[dict[str, Any]]:
        """Yield the last good rows of a judge's pairs that are of today's answers."""
        last: dict[Any, dict[str, Any]] = {}
        for row in read(self.path(judge)):
            key = row["question_id"], row["turn"], frozenset((row["model_1"], row["model_2"]))
            if key not in last or "error" not in (row["g1_winner"], row["g2_winner"]):
                last[key] = row
        for row in last.values():
            if (
                not {(row["question_id"], row[name]) for name in ("model_1", "model_2")}
                & self.stale
            ):
                yield row

    def pairs(self, judge: str) -> list[Pair]:
        """Return a judge's pairs that count."""
        share = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0, "error": None}
        return [
            Pair(
                row["question_id"],
                row["turn"],
                row["model_1"],
                row["model_2"],
                share[row["g1_winner"]],
                share[row["g2_winner"]],
            )
            for row in self.rows(judge)
        ]

    def path(self, judge: str) -> pathlib.Path:
        """Return the file of a judge's pairs."""
        name = judge.replace("/", "%2F")
        return self.data_dir / "small" / "model_judgment" / f"{name}_pair.jsonl"

    def votes(self) -> list[dict[str, Any]]:
        """Return people's votes, of equal keys the last."""
        last = {}
        for path in sorted((self.data_dir / "small" / "human_judgment").glob("*.jsonl")):
            for row in read(path):
                models = frozenset((row["model_a"], row["model_b"]))
                last[row["judge"], row["question_id"], row["turn"], models] = row
        return list(last.values())


def read(path: pathlib.Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    if not path.exists():
        return []
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def write(path: pathlib.Path, rows: list[Any]) -> None:
    """Write the rows of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def make(folder: pathlib.Path, seed: int) -> Small:
    """Return the benchmark of a seed, in a folder."""
    rng = random.Random(seed)
    home = folder / "small"
    models = tuple(rng.sample(NAMES, rng.randint(2, 4)))
    questions = {key: rng.randint(1, 2) for key in range(1, rng.randint(6, 9))}
    write(
        home / "question.jsonl",
        [
            {"question_id": key, "category": rng.choice(CATEGORIES), "turns": ["Q?"] * turns}
            for key, turns in questions.items()
        ],
    )
    for model in models:
        write(home / "model_answer" / f"{stem(model)}.jsonl", answers(rng, model, questions))
    judges = tuple(rng.sample(JUDGES, rng.randint(1, 2)))
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(folder)}
    harness.gen_judgment(judges, mode="pairwise-all", **words)
    harness.gen_judgment(GRADER, mode="single", **words)
    small = Small(folder, models, questions, judges, set(), 0)
    missing = 0
    for judge in judges:
        missing += spoil(rng, small.path(judge))
    voted = vote(rng, models, questions)
    for voter, rows in itertools.groupby(voted, key=lambda row: row["judge"]):
        write(home / "human_judgment" / f"{voter}.jsonl", list(rows))
    stale = replace_answers(rng, home, models)
    return small._replace(stale=stale, missing=missing)


def stem(model: str) -> str:
    """Return a model's name as a file name."""
    return model.replace("/", "%2F").replace(":", "%3A")


def answers(rng: random.Random, model: str, questions: dict[int, int]) -> list[dict[str, Any]]:
    """Return a model's answers, each different from every other."""
    return [
        {"question_id": key, "model_id": model, "choices": [{"index": 0, "turns": turns}]}
        for key, number in questions.items()
        for turns in [[f"{model} {turn} {'x' * rng.randint(1, 40)}" for turn in range(number)]]
    ]


def spoil(rng: random.Random, path: pathlib.Path) -> int:
    """Take rows away, make games unreadable, write rows twice; return how many are gone."""
    rows = read(path)
    kept = [row for row in rows if rng.random() > 0.05]
    for row in kept:
        if rng.random() < 0.05:
            row[rng.choice(["g1_winner", "g2_winner"])] = "error"
    again = [dict(row) for row in kept if rng.random() < 0.1]
    for row in again:
        row["g1_winner"] = rng.choice(["model_1", "model_2", "tie", "error"])
    write(path, kept + again)
    return len(rows) - len(kept)


def vote(
    rng: random.Random, models: tuple[str, ...], questions: dict[int, int]
) -> list[dict[str, Any]]:
    """Return the votes of some people."""
    rows = []
    for voter in ("ann", "bob", "cy")[: rng.randint(0, 3)]:
        for key, turns in questions.items():
            for pair in itertools.combinations(models, 2):
                first, second = rng.sample(pair, 2)
                rows.append(
                    {
                        "question_id": key,
                        "model_a": first,
                        "model_b": second,
                        "winner": rng.choice(["model_a", "model_b", "tie", "tie (bothbad)"]),
                        "judge": voter,
                        "turn": rng.randint(1, turns),
                    }
                )
    return rows


def replace_answers(
    rng: random.Random, home: pathlib.Path, models: tuple[str, ...]
) -> set[tuple[int, str]]:
    """Write new answers in place of some; return which."""
    stale = set()
    for model in models:
        path = home / "model_answer" / f"{stem(model)}.jsonl"
        rows = read(path)
        for row in rows:
            if rng.random() < 0.06:
                stale.add((row["question_id"], model))
                row["choices"][0]["turns"] = [text + " new" for text in row["choices"][0]["turns"]]
        write(path, rows)
    return stale

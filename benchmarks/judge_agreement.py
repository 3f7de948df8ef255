"""How often `builtin/overlap` agrees with MT-Bench's expert votes, beside GPT-4, the experts and two baselines.

    python benchmarks/judge_agreement.py FOLDER

FOLDER holds the published files: `question.jsonl`, `model_answer/`, `reference_answer/gpt-4.jsonl` and
`human_judgment/` with `human.jsonl` and `gpt4_pair.jsonl`. Setup S1 takes a tie for a third label; S2 leaves out
every pair of votes in which either is a tie. What is counted is pairs of votes: two experts who voted on one pair of
answers give two comparisons with a judge. The `coin` is exact: the expected number of agreements of a judge that
names either side with equal chance.
"""

import argparse
import asyncio
import json
import pathlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.judging.overlap import OverlapJudge
from harness.records import Facts, Message, Question, Request

MODELS = ("alpaca-13b", "claude-v1", "gpt-3.5-turbo", "gpt-4", "llama-13b")


class Key(NamedTuple):
    """One pair of answers to one turn, the models in the order of their names."""

    question_id: int
    turn: int
    first: str
    second: str


Votes: TypeAlias = Mapping[Key, Mapping[str, str]]
"""By pair and voter: `first`, `second` or `tie`."""


class Agreement(NamedTuple):
    """How many pairs of votes agree, of how many."""

    agree: float
    total: int

    @property
    def percent(self) -> float:
        """The share in per cent; 0 of nothing."""
        return 100 * self.agree / self.total if self.total else 0.0


def read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_votes(path: pathlib.Path) -> dict[Key, dict[str, str]]:
    """Return the votes of a file; every kind of tie is a tie, and a voter's last vote on a pair counts."""
    votes: dict[Key, dict[str, str]] = defaultdict(dict)
    for row in read_rows(path):
        first, second = sorted((row["model_a"], row["model_b"]))
        winner = row.get(row["winner"], "tie")
        key = Key(row["question_id"], row["turn"], first, second)
        votes[key][row["judge"]] = "tie" if winner == "tie" else "first" if winner == first else "second"
    return dict(votes)


def only(votes: Votes, wanted: Callable[[str], bool]) -> dict[Key, dict[str, str]]:
    """Return the votes of the voters that are wanted."""
    kept = {key: {voter: vote for voter, vote in by.items() if wanted(voter)} for key, by in votes.items()}
    return {key: by for key, by in kept.items() if by}


def between(left: Votes, right: Votes, setup: str) -> Agreement:
    """Return the agreement of every vote of the one side with every vote of the other on the same pair."""
    return _counted(
        (
            (one, other)
            for key in left.keys() & right.keys()
            for one in left[key].values()
            for other in right[key].values()
        ),
        setup,
    )


def within(votes: Votes, setup: str) -> Agreement:
    """Return the agreement of different voters on the same pair."""
    found = (list(by.values()) for by in votes.values())
    return _counted(((one, other) for by in found for i, one in enumerate(by) for other in by[:i]), setup)


def of_coin(votes: Votes, setup: str) -> Agreement:
    """Return the expected agreement of a judge that names either side with equal chance and never a tie."""
    found = [vote for by in votes.values() for vote in by.values() if setup == "S1" or vote != "tie"]
    return Agreement(sum(0.5 for vote in found if vote != "tie"), len(found))


def _counted(pairs: Iterable[tuple[str, str]], setup: str) -> Agreement:
    kept = [pair for pair in pairs if setup == "S1" or "tie" not in pair]
    return Agreement(sum(1 for one, other in kept if one == other), len(kept))


class Material(NamedTuple):
    """The questions, references and answers that are judged."""

    questions: Mapping[int, Question]
    references: Mapping[int, tuple[str, ...]]
    answers: Mapping[tuple[str, int], tuple[str, ...]]


def read_material(folder: pathlib.Path) -> Material:
    """Return what a folder in the published shape holds about the five models."""
    questions = {
        row["question_id"]: Question(row["question_id"], row["category"], tuple(row["turns"]))
        for row in read_rows(folder / "question.jsonl")
    }
    references = {
        row["question_id"]: tuple(row["choices"][0]["turns"])
        for row in read_rows(folder / "reference_answer" / "gpt-4.jsonl")
    }
    answers = {
        (model, row["question_id"]): tuple(row["choices"][0]["turns"])
        for model in MODELS
        for row in read_rows(folder / "model_answer" / f"{model}.jsonl")
    }
    return Material(questions, references, answers)


async def overlap_votes(material: Material, keys: Iterable[Key]) -> dict[Key, dict[str, str]]:
    """Return the verdicts of `builtin/overlap`, each pair judged in both orders; two that disagree are a tie."""
    judge = OverlapJudge()
    votes = {}
    for key in keys:
        games = [
            await _game(judge, material, key, order) for order in ((key.first, key.second), (key.second, key.first))
        ]
        mirrored = {"first": "second", "second": "first", "tie": "tie"}[games[1]]
        votes[key] = {judge.name: games[0] if games[0] == mirrored else "tie"}
    return votes


async def _game(judge: OverlapJudge, material: Material, key: Key, order: tuple[str, str]) -> str:
    question = material.questions[key.question_id]
    facts = Facts(
        question,
        key.turn,
        reference=material.references.get(key.question_id),
        answers=tuple(material.answers[model, key.question_id] for model in order),
        verdict_format="[[A]]",
    )
    reply = await judge.reply(Request((Message("user", question.turns[key.turn - 1]),), facts=facts))
    return {"[[A]]": "first", "[[B]]": "second", "[[C]]": "tie"}[reply.text.rsplit("\n", 1)[-1]]


def longer_votes(material: Material, keys: Iterable[Key]) -> dict[Key, dict[str, str]]:
    """Return the verdicts of a judge that takes the answer with more characters."""
    votes = {}
    for key in keys:
        first, second = (
            len(material.answers[model, key.question_id][key.turn - 1]) for model in (key.first, key.second)
        )
        votes[key] = {"longer": "tie" if first == second else "first" if first > second else "second"}
    return votes


class Row(NamedTuple):
    """One line of the table."""

    judge: str
    turn: int
    setup: str
    questions: str
    agreement: Agreement


def measure(folder: pathlib.Path) -> list[Row]:
    """Return the agreement of every judge with the experts, by turn, setup and half of the questions."""
    material = read_material(folder)
    experts = only(read_votes(folder / "human_judgment" / "human.jsonl"), lambda voter: voter.startswith("expert"))
    experts = {key: by for key, by in experts.items() if key.first in MODELS and key.second in MODELS}
    gpt4 = read_votes(folder / "human_judgment" / "gpt4_pair.jsonl")
    overlap = asyncio.run(overlap_votes(material, experts))
    longer = longer_votes(material, experts)
    rows = []
    for questions, remainder in (("all", None), ("odd ids", 1), ("even ids", 0)):
        kept = {key: by for key, by in experts.items() if remainder is None or key.question_id % 2 == remainder}
        for turn in (1, 2):
            votes = {key: by for key, by in kept.items() if key.turn == turn}
            for setup in ("S1", "S2"):
                figures = {
                    "builtin/overlap": between(overlap, votes, setup),
                    "gpt-4 (pair)": between(gpt4, votes, setup),
                    "experts": within(votes, setup),
                    "longer wins": between(longer, votes, setup),
                    "coin": of_coin(votes, setup),
                }
                rows += [Row(judge, turn, setup, questions, agreement) for judge, agreement in figures.items()]
    return rows


def printed(rows: Sequence[Row]) -> str:
    """Return the table as text: a line for every judge, a column for every turn and setup."""
    columns = [(turn, setup) for turn in (1, 2) for setup in ("S1", "S2")]
    found = []
    for questions in dict.fromkeys(row.questions for row in rows):
        found.append(
            f"{'questions: ' + questions:<22}" + "".join(f"{f'turn {turn}, {setup}':>20}" for turn, setup in columns)
        )
        for judge in dict.fromkeys(row.judge for row in rows):
            cells = {
                (row.turn, row.setup): row.agreement for row in rows if (row.judge, row.questions) == (judge, questions)
            }
            found.append(
                f"{judge:<22}"
                + "".join(f"{f'{cells[c].percent:.1f}% {cells[c].agree:g}/{cells[c].total}':>20}" for c in columns)
            )
        found.append("")
    return "\n".join(found)


def main() -> None:
    """Print the table for the folder that the command names."""
    parser = argparse.ArgumentParser(
        description="Measure how often builtin/overlap agrees with the experts' votes of MT-Bench."
    )
    parser.add_argument("folder", type=pathlib.Path, help="folder with the published questions, answers and votes")
    print(printed(measure(parser.parse_args().folder)))


if __name__ == "__main__":
    main()

"""How often `builtin/overlap` agrees with MT-Bench's expert votes, compared with GPT-4, the experts and two baselines.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.old.judging.builtin_model import BuiltinJudge
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.verdict_agreement import SETUPS, Setup
from harness.old.meta_evaluation.votes import (
    TIE,
    Item,
    Meeting,
    Vote,
    Votes,
    met_between,
    met_within,
    votes_of,
)
from harness.old.records import Facts, Message, Question, QuestionId, Request
from tests.old.observed import Origin, pair

__all__ = [
    "Agreement",
    "Row",
    "between",
    "main",
    "measure",
    "only",
    "printed",
    "read_votes",
    "within",
]

MODELS = ("alpaca-13b", "claude-v1", "gpt-3.5-turbo", "gpt-4", "llama-13b")


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


def read_votes(path: pathlib.Path) -> dict[Item, list[Vote]]:
    """Return the votes of a file by item; a voter's last vote on a pair counts."""
    return votes_of(read_judgments(path).observations)


def only(votes: Votes, wanted: Callable[[str], bool]) -> dict[Item, list[Vote]]:
    """Return the votes of the voters that are wanted."""
    kept = {item: [vote for vote in cast if wanted(vote.judge)] for item, cast in votes.items()}
    return {item: cast for item, cast in kept.items() if cast}


def of_coin(votes: Votes, setup: str) -> Agreement:
    """Return the expected agreement of a judge that names either side with equal chance and never a tie."""
    labels = [vote.said for cast in votes.values() for vote in cast]
    decided = [label for label in labels if label != TIE]
    return Agreement(0.5 * len(decided), len(labels if setup == "S1" else decided))


class Material(NamedTuple):
    """The questions, references and answers that are judged."""

    questions: Mapping[QuestionId, Question]
    references: Mapping[QuestionId, tuple[str, ...]]
    answers: Mapping[tuple[str, QuestionId], tuple[str, ...]]


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


async def overlap_votes(material: Material, items: Iterable[Item]) -> dict[Item, list[Vote]]:
    """Return the verdicts of `builtin/overlap`, each pair judged in both orders; two that disagree are a tie."""
    judge = BuiltinJudge()
    pairs = []
    for item in items:
        sides = [await _game(judge, material, item, order) for order in (item[2:], item[2:][::-1])]
        named = {"A": ("model_1", "model_2"), "B": ("model_2", "model_1"), "C": ("tie", "tie")}
        winners = tuple(named[side][game] for game, side in enumerate(sides))
        pairs.append(pair(*item, winners, Origin(judge.name)))
    return votes_of(pairs)


async def _game(judge: BuiltinJudge, material: Material, item: Item, order: tuple[str, str]) -> str:
    question = material.questions[item.question_id]
    facts = Facts(
        question,
        item.turn,
        reference=material.references.get(item.question_id),
        answers=tuple(material.answers[model, item.question_id] for model in order),
        verdict_format="[[A]]",
    )
    reply = await judge.reply(
        Request((Message("user", question.turns[item.turn - 1]),), facts=facts)
    )
    return reply.text.rsplit("\n", 1)[-1].strip("[]")


def longer_votes(material: Material, items: Iterable[Item]) -> dict[Item, list[Vote]]:
    """Return the verdicts of a judge that takes the answer with more characters."""
    pairs = []
    for item in items:
        first, second = (
            len(material.answers[model, item.question_id][item.turn - 1]) for model in item[2:]
        )
        winner = "tie" if first == second else "model_1" if first > second else "model_2"
        pairs.append(pair(*item, (winner,), Origin("longer")))
    return votes_of(pairs)


def between(left: Votes, right: Votes, setup: Setup) -> tuple[int, int]:
    """Return the agreement of every vote of the one side with every vote of another judge on the other side."""
    return _count(met_between(left, right), setup)


def within(votes: Votes, setup: Setup) -> tuple[int, int]:
    """Return the agreement of different judges of one side with each other."""
    return _count(met_within(votes), setup)


def _count(met: Iterable[Meeting], setup: Setup) -> tuple[int, int]:
    kept = [(one, other) for _, one, other in met if setup == "S1" or TIE not in (one, other)]
    return sum(one == other for one, other in kept), len(kept)


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
    experts = only(
        read_votes(folder / "human_judgment" / "human.jsonl"),
        lambda voter: voter.startswith("expert"),
    )
    experts = {
        item: cast
        for item, cast in experts.items()
        if item.first in MODELS and item.second in MODELS
    }
    gpt4 = read_votes(folder / "human_judgment" / "gpt4_pair.jsonl")
    overlap = asyncio.run(overlap_votes(material, experts))
    longer = longer_votes(material, experts)
    rows = []
    for questions, remainder in (("all", None), ("odd ids", 1), ("even ids", 0)):
        for turn in (1, 2):
            votes = {
                item: cast
                for item, cast in experts.items()
                if item.turn == turn
                and (remainder is None or int(item.question_id) % 2 == remainder)
            }
            for setup in SETUPS:
                figures = {
                    "builtin/overlap": between(overlap, votes, setup),
                    "gpt-4 (pair)": between(gpt4, votes, setup),
                    "experts": within(votes, setup),
                    "longer wins": between(longer, votes, setup),
                    "coin": of_coin(votes, setup),
                }
                rows += [
                    Row(judge, turn, setup, questions, Agreement(*found))
                    for judge, found in figures.items()
                ]
    return rows


def printed(rows: Sequence[Row]) -> str:
    """Return the table as text: a line for every judge, a column for every turn and setup."""
    columns = [(turn, setup) for turn in (1, 2) for setup in ("S1", "S2")]
    found = []
    for questions in dict.fromkeys(row.questions for row in rows):
        found.append(
            f"{'questions: ' + questions:<22}"
            + "".join(f"{f'turn {turn}, {setup}':>20}" for turn, setup in columns)
        )
        for judge in dict.fromkeys(row.judge for row in rows):
            cells = {
                (row.turn, row.setup): row.agreement
                for row in rows
                if (row.judge, row.questions) == (judge, questions)
            }
            found.append(
                f"{judge:<22}"
                + "".join(
                    f"{f'{cells[c].percent:.1f}% {cells[c].agree:g}/{cells[c].total}':>20}"
                    for c in columns
                )
            )
        found.append("")
    return "\n".join(found)


def main() -> None:
    """Print the table for the folder that the command names."""
    parser = argparse.ArgumentParser(
        description="Measure how often builtin/overlap agrees with the experts' votes of MT-Bench."
    )
    parser.add_argument(
        "folder", type=pathlib.Path, help="folder with the published questions, answers and votes"
    )
    print(printed(measure(parser.parse_args().folder)))


if __name__ == "__main__":
    main()

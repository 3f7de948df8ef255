"""What is run: how many calls, how many at once, how long each waits; and the generated benchmark folder for it."""

import json
import pathlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.runner_parts.latency import Latency, mark, one_worker_each, turns_first
from benchmarks.runner_parts.server import words

BENCH = "load"
JUDGE = "gpt-4"
"""The name that every judge goes by: FastChat takes only names that it knows."""
ANSWERER = "gpt-4"
CATEGORIES = ("writing", "roleplay", "stem", "humanities")
"""Categories that nobody judges with a reference."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One row of the table."""

    name: str
    title: str
    kind: Literal["single", "pairs", "answers"]
    questions: int
    models: int
    parallel: int
    latency: Latency

    @property
    def calls(self) -> int:
        """How many calls it takes: every question has two turns."""
        groups = self.models * (self.models - 1) if self.kind == "pairs" else self.models
        return self.questions * 2 * groups

    def draws(self) -> list[tuple[float, float]]:
        """Return the waits of both turns of every conversation."""
        return [
            (self.latency.of(mark(q, 1)), self.latency.of(mark(q, 2)))
            for q in range(1, self.questions + 1)
        ]

    @property
    def records(self) -> int:
        """How many good records a run must leave: one a judgment (a pair's two games are one), one a conversation."""
        return (
            self.questions
            if self.kind == "answers"
            else self.calls // (2 if self.kind == "pairs" else 1)
        )

    @property
    def ideal(self) -> float:
        """Seconds from the first request to the last reply if nothing but the server's waits took time."""
        if self.kind == "answers":
            return turns_first(self.draws(), self.parallel)
        return -(-self.calls // self.parallel) * self.latency.median

    @property
    def one_worker_each(self) -> float | None:
        """The same, for workers that hold one conversation after the other."""
        return one_worker_each(self.draws(), self.parallel) if self.kind == "answers" else None


WORKLOADS = (
    Workload("judge-160", "160 judgments, 1 s, 32 at once", "single", 80, 1, 32, Latency(1.0)),
    Workload(
        "judge-2000", "2,000 judgments, 200 ms, 64 at once", "single", 100, 10, 64, Latency(0.2)
    ),
    Workload(
        "answer-160",
        "160 two-turn answers, lognormal 1 s, 16 at once",
        "answers",
        160,
        1,
        16,
        Latency(1.0, 0.8, 7),
    ),
    Workload(
        "judge-cpu", "5,000 judgments, 5 ms, 128 at once", "single", 250, 10, 128, Latency(0.005)
    ),
    Workload(
        "judge-many", "20,000 judgments, 5 ms, 128 at once", "single", 1000, 10, 128, Latency(0.005)
    ),
)
MEMORY = Workload(
    "memory",
    "104,000 games of pairs planned, 5 ms, 128 at once",
    "pairs",
    80,
    26,
    128,
    Latency(0.005),
)


def write_folder(workload: Workload, folder: pathlib.Path) -> None:
    """Make the data folder anew: questions, answers to be judged, and FastChat's prompt file."""
    shutil.rmtree(folder, ignore_errors=True)
    bench = folder / "data" / BENCH
    _write(bench / "question.jsonl", _questions(workload))
    (bench / "reference_answer").mkdir()
    if workload.kind == "answers":
        return
    for number in range(1, workload.models + 1):
        _write(bench / "model_answer" / f"model-{number:02d}.jsonl", _answers(workload, number))
    _write(folder / "data" / "judge_prompts.jsonl", fastchat_prompts())


def forget_results(folder: pathlib.Path, workload: Workload) -> None:
    """Remove what a run left, so that the next one begins with nothing."""
    bench = folder / "data" / BENCH
    for name in (
        ".turnbench",
        "model_judgment",
        *(["model_answer"] if workload.kind == "answers" else []),
    ):
        shutil.rmtree(bench / name, ignore_errors=True)


def rows(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file; none if it is not there."""
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                yield json.loads(line)


def _questions(workload: Workload) -> Iterable[Mapping[str, Any]]:
    for number in range(1, workload.questions + 1):
        turns = [
            f"{words(60, ('question', number, turn))} item-{mark(number, turn)}" for turn in (1, 2)
        ]
        yield {
            "question_id": number,
            "category": CATEGORIES[number % len(CATEGORIES)],
            "turns": turns,
        }


def _answers(workload: Workload, model: int) -> Iterable[Mapping[str, Any]]:
    for number in range(1, workload.questions + 1):
        turns = [words(200, ("answer", model, number, turn)) for turn in (1, 2)]
        yield {
            "question_id": number,
            "answer_id": f"answer-{model}-{number}",
            "model_id": f"model-{model:02d}",
            "choices": [{"index": 0, "turns": turns}],
            "tstamp": 1767225600.0,
        }


def fastchat_prompts() -> Iterable[Mapping[str, Any]]:
    """Yield judge prompts in FastChat's form, about as long as ours, in our own words."""
    asked = f"{words(120, 'instruction')} End with a number from 1 to 10 in this form: Rating: [[rating]]\n\n"
    once = "Question:\n{question}\n\nAnswer:\n{answer}\n"
    twice = "Question:\n{question_1}\n\nAnswer:\n{answer_1}\n\nQuestion:\n{question_2}\n\nAnswer:\n{answer_2}\n"
    for name, shown in (
        ("v1", once),
        ("v1-multi-turn", twice),
        ("math-v1", once),
        ("math-v1-multi-turn", twice),
    ):
        yield {
            "name": f"single-{name}",
            "type": "single",
            "system_prompt": "Grade the answer.",
            "prompt_template": asked + shown,
            "description": "for measuring",
            "category": "general",
            "output_format": "[[rating]]",
        }


def _write(path: pathlib.Path, lines: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

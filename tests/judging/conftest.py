"""A small benchmark with two models' answers, and a hand that plays the judge."""

import json
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from harness import bench, store
from harness.judging.plan import JudgePlan, plan_judgments
from harness.options import GenJudgment, build
from harness.types import Judgment, Reply

QUESTIONS = [
    {"question_id": 1, "category": "writing", "turns": ["Write a line.", "Make it rhyme."]},
    {"question_id": 2, "category": "math", "turns": ["2 + 2?", "And doubled?"]},
]


class Folder:
    """A benchmark's folder, and what a test does with it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.write("question.jsonl", QUESTIONS)
        reference = {"choices": [{"index": 0, "turns": ["4", "8"]}]}
        self.write("reference_answer/human.jsonl", [{"question_id": 2, **reference}])
        for model, text in (("alpha", "one"), ("beta", "two")):
            self.answer(model, {1: [text, f"{text} more"], 2: ["4", f"{text} 8"]})

    def write(self, name: str, rows: Iterable[Any]) -> None:
        """Write a file of the benchmark."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def answer(self, model: str, turns: dict[int, list[str]], **more: Any) -> None:
        """Write a model's answers by question."""
        rows = [
            {"question_id": key, "choices": [{"index": 0, "turns": texts, **more}]}
            for key, texts in turns.items()
        ]
        self.write(f"model_answer/{model}.jsonl", rows)

    def plan(self, **options: Any) -> JudgePlan:
        """Return what is to be judged."""
        reasoning = options.get("reasoning", "split")
        loaded = bench.load(self.folder.name, self.folder.parent, reasoning)
        more = {
            name: options.pop(name)
            for name in ("awaited", "categories", "configs")
            if name in options
        }
        values = {"judge_model": "builtin/overlap", **options}
        return plan_judgments(loaded, build(GenJudgment, values), key_needed=False, **more)

    def judge(self, plan: JudgePlan, says: str | Callable[[str], str]) -> list[Judgment]:
        """Carry out a plan with one text for every reply, or one that depends on the prompt."""
        rows = []
        for job in plan.jobs():
            steps = job.steps()
            with store.Writer(job.path, Judgment) as writer:
                try:
                    request = next(steps)
                    while True:
                        prompt = request.messages[-1].content
                        text = says if isinstance(says, str) else says(prompt)
                        reply = Reply(text=text)
                        reply.detail.finish_reason = "stop"
                        request = steps.send(reply)
                except StopIteration as end:
                    writer.append(end.value)
                    rows.append(end.value)
        return rows

    def written(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a judgment file."""
        path = self.folder / "model_judgment" / name
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Folder:
    """Return the benchmark `small`."""
    return Folder(tmp_path / "small")


def counts(plan: JudgePlan) -> Sequence[int]:
    """Return how much of a plan is left, done and superseded."""
    tasks = plan.tasks
    return (plan.total, sum(t.split.done for t in tasks), sum(t.split.changed for t in tasks))

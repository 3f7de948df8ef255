"""What answers and judgments took."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import bench, show_result, store
from harness.results import ratio, read
from harness.results.spent import Cost, efficiency, spent
from harness.types import Answer, Choice, Detail, Judgment, Usage


class TokenCost(Cost):
    """A millionth of a dollar for a token; `odd` has no price."""

    def __call__(self, model: str, detail: Detail) -> float | None:
        usage = detail.usage
        if model == "odd" or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return (usage.prompt_tokens + usage.completion_tokens) / 1e6


COST = TokenCost()


def call(prompt: int, reply: int, **more: object) -> Detail:
    usage = Usage(prompt_tokens=prompt, completion_tokens=reply, reasoning_tokens=reply // 2)
    return Detail(usage=usage, **more)  # type: ignore[arg-type]


@pytest.fixture
def small(tmp_path: Path) -> bench.Bench:
    folder = tmp_path / "data" / "b"
    folder.mkdir(parents=True)
    (folder / "question.jsonl").write_text('{"question_id": 1, "category": "c", "turns": ["?"]}\n')
    details = {
        "m": [call(100, 50, seconds=2.0), call(0, 0, from_cache=True), Detail()],
        "odd": [call(10, 300, seconds=1.0, finish_reason="length")],
    }
    for model, row in details.items():
        with store.Writer(folder / "model_answer" / f"{model}.jsonl", Answer) as writer:
            turns = ["text"] * len(row)
            writer.append(
                Answer(question_id=1, model_id=model, choices=[Choice(turns=turns, details=row)])
            )
    earlier = call(
        30, 5, earlier_attempts=[{"usage": {"prompt_tokens": 30, "completion_tokens": 5}}]
    )
    with store.Writer(folder / "model_judgment" / "j_single.jsonl", Judgment) as writer:
        writer.append(
            Judgment(question_id=1, model="m", judge=("j", "t"), score=8, turn=1, details=[earlier])
        )
        writer.append(Judgment(question_id=1, model="odd", judge=("j", "t"), score=8, turn=1))
    return bench.load("b", tmp_path / "data")


def test_calls_tokens_and_dollars_are_summed_by_model(small: bench.Bench) -> None:
    rows = {(row.what, row.model): row for row in spent(small, read(small), COST)}
    m, odd, judge = rows["answers", "m"], rows["answers", "odd"], rows["judgments", "j"]
    assert (m.calls, m.unstated, m.reply_tokens) == (2, 1, 50)
    assert m.dollars == pytest.approx(150e-6)
    assert (odd.calls, odd.dollars) == (1, None)
    assert (judge.calls, judge.unstated, judge.prompt_tokens) == (3, 1, 60)


@pytest.mark.parametrize(
    ("flags", "calls", "whose"),
    [
        ({}, {"m": 2, "odd": 1, "j": 3}, "answers and judgments of b"),
        ({"model_list": "m"}, {"m": 2, "j": 2}, "answers of m and judgments"),
        ({"judge_model": "j"}, {"m": 2, "odd": 1, "j": 3}, "answers of b and judgments of j"),
        ({"mode": "pairwise-all"}, {"m": 2, "odd": 1}, "answers and judgments of b"),
        ({"turns": 3}, {"m": 1}, "answers and judgments of b"),
        ({"question_begin": 1}, {}, "answers and judgments of b"),
    ],
)
def test_the_flags_choose_whose_calls_count(
    small: bench.Bench, flags: dict[str, Any], calls: dict[str, int], whose: str
) -> None:
    line = '{"question_id": 2, "category": "c", "turns": ["?"]}\n'
    with (small.folder / "question.jsonl").open("a") as file:
        file.write(line)
    result = show_result(cost=True, bench_name="b", data_dir=small.folder.parent, **flags)
    assert {row["model"]: row["calls"] for row in result.rows()} == calls
    assert result.page.outcome.startswith(f"The {whose} cost")


def test_a_judgment_that_is_not_current_costs_nothing(small: bench.Bench) -> None:
    (small.folder / "question.jsonl").write_text(
        '{"question_id": 2, "category": "c", "turns": ["?"]}\n'
    )
    again = bench.load("b", small.folder.parent)
    rows = spent(again, read(again, needed=False), COST)
    assert {row.what for row in rows} == {"answers"}


def test_quality_stands_beside_what_a_turn_takes(small: bench.Bench) -> None:
    score = ratio(np.array([8.0]), np.ones(1))
    rows = {row.model: row for row in efficiency(small, {"m": score, "odd": score}, COST)}
    assert (rows["odd"].reply_tokens, rows["odd"].cut, rows["odd"].seconds) == (300, 1, 1)
    assert (rows["odd"].dollars, rows["odd"].frontier) == (None, False)
    assert rows["m"].characters == 4

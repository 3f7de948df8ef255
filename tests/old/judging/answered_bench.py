"""A benchmark whose questions all have answers, and what is gathered of it for judging."""

import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.old.bench import Bench
from harness.old.judging.asking import request_about
from harness.old.judging.gathering import gather
from harness.old.judging.materials import Materials
from harness.old.judging.options import JudgeOptions
from harness.old.judging.planned import plan_matches
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.judgments.judgment import Match
from harness.old.records import Question
from tests.old.small_bench import answer, small_bench, write

WITH_REFERENCE = {"reasoning", "math", "coding", "extraction"}


def answered(
    data_dir: pathlib.Path, *questions: Mapping[str, Any], models: str = "ab", references: bool = True
) -> Bench:
    """Return a benchmark whose questions all have answers `<model><id>.<turn>` and references `r<id>.<turn>`."""
    bench = small_bench(data_dir, *questions)
    for model in models:
        write(bench.answer_file(model), [_said(q, model) for q in bench.questions])
    if references:
        known = [_said(q, "r") for q in bench.questions if q.category in WITH_REFERENCE]
        write(bench.folder / "reference_answer" / "teacher.jsonl", known)
    return bench


def _said(question: Question, who: str) -> dict[str, Any]:
    turns = [f"{who}{question.question_id}.{turn}" for turn in range(1, len(question.turns) + 1)]
    return answer(int(question.question_id), who, *turns)


def gathered(bench: Bench, models: Sequence[str] = ("a", "b"), judge_set: str = "mt_bench", **more: Any) -> Materials:
    return gather(bench, load_judge_set(judge_set, bench.folder), models, bench.questions, JudgeOptions(**more))[0]


def matches(
    questions: Iterable[Question], groups: Sequence[tuple[str, ...]], turns: Sequence[int] | None = None
) -> Iterator[Match]:
    """Yield the matches of a set without criteria, in both orders."""
    judge_set = JudgeSet(name="plain", path=pathlib.Path(), templates={})
    options = JudgeOptions(turns=tuple(turns) if turns is not None else None)
    nothing: Any = None
    return plan_matches(Materials(nothing, judge_set, {}, {}, options=options), questions, groups)


def prompt(materials: Materials, match: Match) -> str:
    return request_about(materials, match).messages[-1].content

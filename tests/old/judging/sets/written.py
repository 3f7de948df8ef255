"""Judge sets written for a test, a benchmark to judge, and a run of one with a judge behind a real server."""

import inspect
import pathlib
from collections.abc import Mapping
from typing import Any

from harness.old.bench import Bench
from harness.old.judging.run import JudgeOptions, JudgmentReport, plan_judgments, run_judgments
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.records import Mode, Question
from harness.old.running.options import RunOptions
from tests.old.protocol_server import ProtocolServer
from tests.old.small_bench import answer, question, small_bench, write

GRADE = 'kind = "grade"\nuser = "Grade {answer} to {question}."\n'
COMPARE = 'kind = "compare"\nuser = "Compare {answer_a} with {answer_b}."\n'


def written(path: pathlib.Path, settings: str = "", **templates: str) -> pathlib.Path:
    """Write a judge set and return its folder."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "judge_set.toml").write_text(inspect.cleandoc(settings), encoding="utf-8")
    for name, text in templates.items():
        (path / f"{name}.toml").write_text(text, encoding="utf-8")
    return path


def loaded(path: pathlib.Path, settings: str = "", **templates: str) -> JudgeSet:
    """Write a judge set and return it; with one template to grade, if none is given."""
    return load_judge_set(str(written(path, settings, **(templates or {"grade": GRADE}))))


def asked(category: str = "writing", turns: int = 1, **extra: Any) -> Question:
    """Return a question."""
    return Question(1, category, tuple(f"turn {n}" for n in range(1, turns + 1)), (), extra)


def answered(data_dir: pathlib.Path, *questions: Mapping[str, Any], models: str = "ab") -> Bench:
    """Return a benchmark (of one question of one turn, if none are given) with answers `<model><id>.<turn>`."""
    bench = small_bench(data_dir, *(questions or (question(1, turns=["Why?"]),)))
    for model in models:
        said = [
            answer(int(q.question_id), model, *(f"{model}{q.question_id}.{n}" for n in range(1, len(q.turns) + 1)))
            for q in bench.questions
        ]
        write(bench.answer_file(model), said)
    return bench


def judged(
    server: ProtocolServer, bench: Bench, judge_set: pathlib.Path, mode: Mode = "single", **more: Any
) -> JudgmentReport:
    """Judge everything with the judge `j` on a server."""
    options = JudgeOptions(judge_set=str(judge_set), base_url=server.openai_url, **more)
    return run_judgments(plan_judgments(["j"], bench, mode, options), RunOptions(4))

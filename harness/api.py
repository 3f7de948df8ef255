"""The commands as functions: plan and run in one call, for programs and notebooks."""

import pathlib
from collections.abc import Sequence

from harness.answering import AnswerOptions, AnswerReport, plan_answers, run_answers
from harness.bench import load_bench
from harness.judging.run import JudgeOptions, JudgmentReport, plan_judgments, run_judgments
from harness.records import Mode
from harness.running.watch import Watcher, nobody


def gen_answer(
    models: str | Sequence[str],
    bench_name: str = "mt_bench",
    *,
    data_dir: pathlib.Path | str = "data",
    options: AnswerOptions = AnswerOptions(),
    parallel: int = 8,
    watch: Watcher = nobody,
) -> AnswerReport:
    """Let each model answer every question that it has not answered yet; return what was done.

    Raises:
        TurnbenchError: see `plan_answers` and `run_answers`.
    """
    names = [models] if isinstance(models, str) else models
    return run_answers(plan_answers(names, load_bench(bench_name, data_dir), options), parallel=parallel, watch=watch)


def gen_judgment(
    judges: str | Sequence[str],
    bench_name: str = "mt_bench",
    *,
    mode: Mode = "single",
    models: Sequence[str] | None = None,
    data_dir: pathlib.Path | str = "data",
    options: JudgeOptions = JudgeOptions(),
    parallel: int = 8,
    watch: Watcher = nobody,
) -> JudgmentReport:
    """Let each judge judge every match that it has not judged yet; return what was done.

    Raises:
        TurnbenchError: see `plan_judgments` and `run_judgments`.
    """
    names = [judges] if isinstance(judges, str) else judges
    plan = plan_judgments(names, load_bench(bench_name, data_dir), mode, options, models=models)
    return run_judgments(plan, parallel=parallel, watch=watch)

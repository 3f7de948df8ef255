"""turnbench: which of several chat models is better, at what, and how sure are we.

The names below are the Python interface; what a command does, a program does with the same words:

    import harness

    harness.gen_answer(["gpt-4o", "builtin/eliza"])
    harness.gen_judgment("gpt-4.1", mode="pairwise-all")
    result = harness.show_result("pairwise-all")

They are imported when they are first used, so that every command starts at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AnswerOptions": "harness.answering.options",
    "Bench": "harness.bench",
    "BenchStatus": "harness.status",
    "JudgeOptions": "harness.judging.run",
    "JudgeSet": "harness.judging.sets.judge_set",
    "Report": "harness.results.judges.report",
    "Result": "harness.results.result",
    "RunOptions": "harness.running.options",
    "TurnbenchError": "harness.errors",
    "bench_status": "harness.status",
    "estimate_plan": "harness.estimating",
    "fetch_bench": "harness.importing.originals.fetching",
    "gen_answer": "harness.api",
    "gen_judgment": "harness.api",
    "import_data": "harness.importing.run",
    "judge_agreement": "harness.results.judges.votes_report",
    "judge_attack": "harness.attacking",
    "judge_corrected": "harness.results.judges.votes_report",
    "judge_length": "harness.results.judges.report",
    "judge_page": "harness.showing.judge_report",
    "judge_position": "harness.results.judges.report",
    "judge_prompts": "harness.judging.prompts",
    "judge_ranking": "harness.results.judges.models_report",
    "judge_repeat": "harness.results.judges.report",
    "judge_self": "harness.results.judges.models_report",
    "load_bench": "harness.bench",
    "load_judge_set": "harness.judging.sets.loading",
    "plan_answers": "harness.answering.plan",
    "plan_bench": "harness.pipeline",
    "plan_judgments": "harness.judging.run",
    "read_judgments": "harness.results.reading.read",
    "result_page": "harness.showing.show_result",
    "run_answers": "harness.answering.work",
    "run_bench": "harness.api",
    "run_judgments": "harness.judging.run",
    "run_plan": "harness.pipeline",
    "show_cost": "harness.results.cost",
    "show_result": "harness.results.show",
}

if TYPE_CHECKING:
    from harness.answering.options import AnswerOptions
    from harness.answering.plan import plan_answers
    from harness.answering.work import run_answers
    from harness.api import gen_answer, gen_judgment, run_bench
    from harness.attacking import judge_attack
    from harness.bench import Bench, load_bench
    from harness.errors import TurnbenchError
    from harness.estimating import estimate_plan
    from harness.importing.originals.fetching import fetch_bench
    from harness.importing.run import import_data
    from harness.judging.prompts import judge_prompts
    from harness.judging.run import JudgeOptions, plan_judgments, run_judgments
    from harness.judging.sets.judge_set import JudgeSet
    from harness.judging.sets.loading import load_judge_set
    from harness.pipeline import plan_bench, run_plan
    from harness.results.cost import show_cost
    from harness.results.judges.models_report import judge_ranking, judge_self
    from harness.results.judges.report import Report, judge_length, judge_position, judge_repeat
    from harness.results.judges.votes_report import judge_agreement, judge_corrected
    from harness.results.reading.read import read_judgments
    from harness.results.result import Result
    from harness.results.show import show_result
    from harness.running.options import RunOptions
    from harness.showing.judge_report import judge_page
    from harness.showing.show_result import result_page
    from harness.status import BenchStatus, bench_status

__all__ = [
    "AnswerOptions",
    "Bench",
    "BenchStatus",
    "JudgeOptions",
    "JudgeSet",
    "Report",
    "Result",
    "RunOptions",
    "TurnbenchError",
    "bench_status",
    "estimate_plan",
    "fetch_bench",
    "gen_answer",
    "gen_judgment",
    "import_data",
    "judge_agreement",
    "judge_attack",
    "judge_corrected",
    "judge_length",
    "judge_page",
    "judge_position",
    "judge_prompts",
    "judge_ranking",
    "judge_repeat",
    "judge_self",
    "load_bench",
    "load_judge_set",
    "plan_answers",
    "plan_bench",
    "plan_judgments",
    "read_judgments",
    "result_page",
    "run_answers",
    "run_bench",
    "run_judgments",
    "run_plan",
    "show_cost",
    "show_result",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

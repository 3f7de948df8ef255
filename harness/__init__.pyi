"""The Python interface: the names that `harness` offers, each from the module that defines it."""

from harness.answering.options import AnswerOptions as AnswerOptions
from harness.answering.plan import plan_answers as plan_answers
from harness.answering.work import run_answers as run_answers
from harness.api import auto_checks as auto_checks
from harness.api import auto_metrics as auto_metrics
from harness.api import gen_answer as gen_answer
from harness.api import gen_judgment as gen_judgment
from harness.api import run_bench as run_bench
from harness.bench import Bench as Bench
from harness.bench import load_bench as load_bench
from harness.errors import TurnbenchError as TurnbenchError
from harness.estimating import estimate_plan as estimate_plan
from harness.importing.originals.fetching import fetch_bench as fetch_bench
from harness.importing.run import import_data as import_data
from harness.judging.prompts import judge_prompts as judge_prompts
from harness.judging.run import JudgeOptions as JudgeOptions
from harness.judging.run import plan_judgments as plan_judgments
from harness.judging.run import run_judgments as run_judgments
from harness.judging.sets.judge_set import JudgeSet as JudgeSet
from harness.judging.sets.loading import load_judge_set as load_judge_set
from harness.judgments.reading import read_judgments as read_judgments
from harness.meta_evaluation.agreement import judge_agreement as judge_agreement
from harness.meta_evaluation.attack import judge_attack as judge_attack
from harness.meta_evaluation.checks import judge_checks as judge_checks
from harness.meta_evaluation.corrected import judge_corrected as judge_corrected
from harness.meta_evaluation.disagreement import judge_disagreement as judge_disagreement
from harness.meta_evaluation.length import judge_length as judge_length
from harness.meta_evaluation.position import judge_position as judge_position
from harness.meta_evaluation.ranking import judge_ranking as judge_ranking
from harness.meta_evaluation.reference import judge_reference as judge_reference
from harness.meta_evaluation.repeat import judge_repeat as judge_repeat
from harness.meta_evaluation.report import Report as Report
from harness.meta_evaluation.self_preference import judge_self as judge_self
from harness.pipeline import plan_bench as plan_bench
from harness.pipeline import run_plan as run_plan
from harness.results.cost import show_cost as show_cost
from harness.results.result import Result as Result
from harness.results.show import show_result as show_result
from harness.running.options import RunOptions as RunOptions
from harness.showing.judge_report import judge_page as judge_page
from harness.showing.show_result import result_page as result_page
from harness.status import BenchStatus as BenchStatus
from harness.status import bench_status as bench_status

__version__: str

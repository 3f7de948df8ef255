"""The Python interface: the names that `harness` offers, each from the module that defines it."""

from harness.answering import AnswerReport as AnswerReport
from harness.answering import gen_answer as gen_answer
from harness.answering import plan_answers as plan_answers
from harness.bench import Bench as Bench
from harness.bench import load_bench as load_bench
from harness.bench.check import BenchReport as BenchReport
from harness.bench.check import check_bench as check_bench
from harness.cli.run_bench import run_bench as run_bench
from harness.errors import TurnbenchError as TurnbenchError
from harness.extras.importing.back import import_back as import_back
from harness.extras.importing.originals import fetch_bench as fetch_bench
from harness.extras.importing.originals import originals as originals
from harness.extras.importing.reading import ImportReport as ImportReport
from harness.extras.importing.reading import import_data as import_data
from harness.extras.judges import judge_report as judge_report
from harness.judging.plan import plan_judgments as plan_judgments
from harness.judging.preview import judge_prompts as judge_prompts
from harness.judging.run import JudgmentReport as JudgmentReport
from harness.judging.run import gen_judgment as gen_judgment
from harness.judging.sets import JudgeSet as JudgeSet
from harness.judging.sets import load_judge_set as load_judge_set
from harness.metrics.commands import auto_checks as auto_checks
from harness.metrics.commands import auto_metrics as auto_metrics
from harness.reporting.html import write_html as write_html
from harness.reporting.page import Page as Page
from harness.reporting.show_result import Result as Result
from harness.reporting.show_result import show_result as show_result
from harness.results import Estimate as Estimate
from harness.results import Scores as Scores
from harness.types import Answer as Answer
from harness.types import Judgment as Judgment
from harness.types import Measurement as Measurement
from harness.types import Question as Question
from harness.types import Vote as Vote

__version__: str

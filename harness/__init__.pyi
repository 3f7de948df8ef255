"""The Python interface: the names that `harness` offers, each from the module that defines it."""

from harness.answering.plan import plan_answers as plan_answers
from harness.bench import Bench as Bench
from harness.bench import load_bench as load_bench
from harness.bench.check import BenchReport as BenchReport
from harness.cli.auto_checks import auto_checks as auto_checks
from harness.cli.auto_metrics import auto_metrics as auto_metrics
from harness.cli.check_bench import check_bench as check_bench
from harness.cli.export import export as export
from harness.cli.fetch_bench import fetch_bench as fetch_bench
from harness.cli.gen_answer import AnswerReport as AnswerReport
from harness.cli.gen_answer import gen_answer as gen_answer
from harness.cli.gen_judgment import JudgmentReport as JudgmentReport
from harness.cli.gen_judgment import gen_judgment as gen_judgment
from harness.cli.import_data import import_data as import_data
from harness.cli.init import init as init
from harness.cli.judge_report import judge_report as judge_report
from harness.cli.new_questions import new_questions as new_questions
from harness.cli.plan import plan as plan
from harness.cli.prove import prove as prove
from harness.cli.run_bench import RunReport as RunReport
from harness.cli.run_bench import run_bench as run_bench
from harness.cli.show_result import show_result as show_result
from harness.cli.status import status as status
from harness.errors import TurnbenchError as TurnbenchError
from harness.extras.exporting.export import ExportReport as ExportReport
from harness.extras.importing.originals import originals as originals
from harness.extras.importing.reading import ImportReport as ImportReport
from harness.judging.plan import plan_judgments as plan_judgments
from harness.judging.preview import judge_prompts as judge_prompts
from harness.judging.sets import JudgeSet as JudgeSet
from harness.judging.sets import load_judge_set as load_judge_set
from harness.metrics import MetricReport as MetricReport
from harness.reporting.html import write_html as write_html
from harness.reporting.page import Page as Page
from harness.reporting.show_result import Result as Result
from harness.results import Estimate as Estimate
from harness.results import Scores as Scores
from harness.types import Answer as Answer
from harness.types import Judgment as Judgment
from harness.types import Measurement as Measurement
from harness.types import Question as Question
from harness.types import Vote as Vote

__version__: str

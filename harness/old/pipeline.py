"""Answers judged as soon as they exist: both kinds of jobs in one run of the engine.

    plan = plan_bench(["gpt-4o", "builtin/eliza"], ["gpt-4.1"], load_bench("mt_bench"))  # checks all; calls nothing
    report = run_plan(plan)                                  # calls, writes model_answer/ and model_judgment/

A complete answer creates the jobs that judge it; a pair is judged when both answers exist. Answers from before the run
are judged too. Anything that would stop gen_judgment before its first call (a missing reference, key or
template) stops this before its first call. Of jobs that compete for the same slots, first turns come
before second ones and those before judgments: jobs that others depend on go first, which leaves the shortest tail.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.old.answering import AnswerOptions, AnswerPlan, AnswerReport, AnswerWork, plan_answers
from harness.old.bench import Bench
from harness.old.chat import ChatModel
from harness.old.judging.planned import JudgmentPlan
from harness.old.judging.run import JudgeOptions, JudgmentReport, plan_judgments, report_of
from harness.old.judging.work import JudgmentWork
from harness.old.metrics.run import MetricReport
from harness.old.records import Answer, Mode, Question
from harness.old.running.cache import Cache
from harness.old.running.engine import run
from harness.old.running.jobs import Course
from harness.old.running.options import RunOptions
from harness.old.running.watch import Tally, Watcher, nobody
from harness.old.written import takes_only

if TYPE_CHECKING:
    from harness.old.checks.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """Everything that `run_plan` will do; nothing has been called or written yet."""

    answers: AnswerPlan
    judgments: JudgmentPlan
    sandbox: "Sandbox | None" = None
    """Where checks run a model's code; None: they don't."""

    @property
    def jobs(self) -> int:
        """Conversations to hold, and grades and games to judge."""
        return self.answers.jobs + self.judgments.jobs

    @property
    def calls(self) -> int:
        """Calls in all, if none has to be repeated."""
        return self.answers.calls + self.judgments.calls


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What `run_plan` did."""

    answers: AnswerReport
    judgments: JudgmentReport
    unjudged: int
    """Calls to judges that could not be made because an answer is missing."""
    checks: "MetricReport | None" = None
    """What was checked; None if no question has checks, or nothing is answered."""
    metrics: MetricReport | None = None
    """The metrics measured afterwards, if requested."""

    @property
    def tally(self) -> Tally:
        """The counts of both kinds of jobs together."""
        return self.answers.tally

    @property
    def complete(self) -> bool:
        """Whether no row is missing, and most judgments have a verdict."""
        return self.answers.complete and self.judgments.complete


@takes_only()
def plan_bench(
    models: Sequence[str],
    judges: Sequence[str],
    bench: Bench,
    mode: Mode | None = None,
    answering: AnswerOptions | None = None,
    judging: JudgeOptions | None = None,
    *,
    model_list: Sequence[str] | None = None,
    questions: Sequence[Question] | None = None,
    run_code: bool = False,
    redo: bool = False,
    skip_missing: bool = False,
) -> BenchPlan:
    """Return the plan: what is left to do so that every model has answered every question and every judge has judged
    it.

    `model_list` are the models to judge (default: `models`); others than `models` must have answers already, as must a
    baseline; with a list, `models` may be empty. `run_code` lets checks run code that a model wrote. With `redo`,
    everything is done again; the old rows are kept in `.turnbench/`. `skip_missing` leaves out questions without turns
    to supply (`AnswerOptions.history`).

    Raises:
        UsageError, MissingError, DataError: see `plan_answers` and `plan_judgments`.
    """
    options = answering or AnswerOptions()
    answers = AnswerPlan(bench, options, [], redo)
    if models or not model_list:
        answers = plan_answers(models, bench, options, questions=questions, redo=redo, skip_missing=skip_missing)
    awaited = {plan.endpoint.name: [todo.question.question_id for todo in plan.todo] for plan in answers.models}
    judgments = plan_judgments(
        judges,
        bench,
        mode,
        judging or JudgeOptions(),
        models=model_list or [plan.endpoint.name for plan in answers.models],
        questions=questions,
        redo=redo,
        awaited=awaited,
    )
    sandbox = None
    if run_code:
        from harness.old.checks.sandbox import open_sandbox

        sandbox = open_sandbox()
    return BenchPlan(answers, judgments, sandbox)


def run_plan(plan: BenchPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody) -> BenchReport:
    """Carry out a plan, and write each row as soon as it is complete.

    Raises:
        EndpointError: a model or a judge cannot be called at all.
        StorageError: a file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case finished work is kept.
    """
    plan.answers.check(running)
    with (
        Cache(running.cache) as cache,
        AnswerWork(plan.answers, cache) as answers,
        JudgmentWork(plan.judgments, cache) as judgments,
    ):
        models, names = _models(plan, answers.models(), judgments.models())

        def named(courses: Iterable[Course[Any]]) -> Iterator[Course[Any]]:
            for course in courses:
                yield replace(course, job=replace(course.job, model=names[course.job.model]))

        def then(answer: Answer) -> Iterable[Course[Any]]:
            return named(judgments.about(answer))

        def sync() -> None:
            answers.sync()
            judgments.sync()

        courses = itertools.chain(answers.courses(then), named(judgments.courses()))
        tally = run(courses, models, running, planned=plan.jobs, watch=watch, sync=sync)
    waits = plan.judgments.awaits
    every = (plan.judgments.every_match(judge.sample) for judge in plan.judgments.judges) if tally.failures else ()
    unjudged = sum(waits(match) for matches in every for match in matches)
    return BenchReport(answers.report(tally), report_of(judgments, tally), unjudged, _checked(plan))


def _checked(plan: BenchPlan) -> "MetricReport | None":
    """Check the answers to questions that have checks."""
    bench, questions = plan.answers.bench, plan.judgments.questions
    answered = set(bench.answered_models())
    named = [model.endpoint.name for model in plan.answers.models] or plan.judgments.models
    models = [name for name in named if name in answered]
    if not models or not any(any(question.checks) for question in questions):
        return None
    from harness.old.metrics.checks import plan_checks
    from harness.old.metrics.run import run_metrics

    return run_metrics(plan_checks(bench, models=models, questions=questions, sandbox=plan.sandbox))


def _models(
    plan: BenchPlan, answerers: Mapping[str, Sequence[ChatModel]], judges: Mapping[str, Sequence[ChatModel]]
) -> tuple[dict[str, Sequence[ChatModel]], dict[str, str]]:
    """Return all chat models, and the name among them of each judge.

    A model that judges at the address where it answers is one chat model, with one set of limits.
    """
    endpoints = {model.endpoint.name: model.endpoint for model in plan.answers.models}
    names: dict[str, str] = {}
    models = dict(answerers)
    for judge in plan.judgments.judges:
        name = judge.judge
        shared = name in answerers and endpoints[name] == judge.endpoint
        names[name] = f"{name} as judge" if name in answerers and not shared else name
        if name in judges and not shared:
            models[names[name]] = judges[name]
    return models, names

"""Wave after wave: answers by gen_answer's jobs, checks, and the level of the next wave."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec.structs import replace

from harness import options
from harness.answering.answer import estimate_answers
from harness.answering.plan import AnswerPlan, plan_answers
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import is_bench_named
from harness.cli.run_bench import RunReport
from harness.errors import UsageError
from harness.extras.levels.questions import START, Questions, Wanted, nudge
from harness.metrics import Metric, Setup, load, run
from harness.metrics.run import plan as plan_metrics
from harness.models import ModelConfig
from harness.options import GenAnswer, RunBench
from harness.reporting import Page
from harness.reporting.show_result import results_of
from harness.results import read
from harness.results.passed import passes
from harness.running import Outcome, Progress, limits_after
from harness.types import Question
from harness.words import counted, percent

_STEP = 6
"""Levels from a wave of which all is passed to one of which nothing is: by simulation, so that the
last two of four waves lie about the reach (`benchmarks/coverage.py`)."""
_FLAGS = frozenset(
    {"levels", "waves", "run_code"}
    | {
        f.name
        for group in (
            options.Models,
            options.BenchName,
            options.AnswerSampling,
            options.Address,
            options.Limits,
            options.Output,
        )
        for f in options.fields(group)
    }
)


@dataclass
class Climber:
    """One model on its way."""

    flags: options.Models
    name: str = ""
    level: int = START
    ended: set[str] = field(default_factory=set)
    """Templates of which a check was not decided."""
    over: bool = False
    """Whether nothing could be decided."""


@dataclass
class Climbed:
    """What the waves did."""

    bench: options.BenchName
    models: list[str]
    outcomes: list[Outcome]
    ended: dict[str, list[str]]
    """By model, the templates that an undecided check ended."""
    page: Page | None = None
    """Of a dry run what it would take."""

    @property
    def complete(self) -> bool:
        """Whether no answer is missing."""
        return all(not one.failures and one.stopped is None for one in self.outcomes)


def climb(
    record: RunBench,
    configs: Mapping[str, ModelConfig] | None = None,
    console: Console | None = None,
) -> Climbed:
    """Ask each model some waves of questions, and check the answers.

    Raises:
        UsageError: an option cannot be; see `plan_answers` and `Questions`.
    """
    console = console or Console()
    check(record)
    checks = load(["checks"], Setup(run_code=record.run_code))
    dry_run, limits = record.limits.dry_run, record.limits
    questions = Questions(record.bench, keep=not dry_run)
    names: Sequence[str | None] = record.models.model or (None,)
    climbers = [
        Climber(record.models if name is None else replace(record.models, model=(name,)))
        for name in dict.fromkeys(names)
    ]
    climbed = Climbed(record.bench, [], [], {})
    for wave in range(1, record.waves + 1):
        going = [climber for climber in climbers if not climber.over]
        wanted = [_wanted(climber, questions, wave) for climber in going]
        asked = questions.ask(one for of_model in wanted for one in of_model)
        own = [[asked[one] for one in of_model] for of_model in wanted]
        plans = [
            plan_answers(
                questions.bench,
                _answering(record, climber),
                configs=configs,
                questions=part,
                key_needed=not dry_run,
            )
            for climber, part in zip(going, own, strict=True)
            if part
        ]
        if not plans:
            break
        for climber, plan in zip(going, plans, strict=True):
            climber.name = plan.models[0].name
            console.tell(f"wave {wave}: {climber.name} at level {climber.level}")
        whole = AnswerPlan(questions.bench, [plan.models[0] for plan in plans])
        outcome = _carry_out(whole, limits, record.waves + 1 - wave, console, climbed)
        if climbed.page is not None:
            break
        climbed.outcomes.append(outcome)
        if not climbed.complete:
            break
        limits = replace(limits_after(limits, outcome), yes=True)
        for climber, part in zip(going, own, strict=True):
            _follow(climber, record, questions, part, checks, console)
    climbed.models = [climber.name for climber in climbers]
    climbed.ended = {climber.name: sorted(climber.ended) for climber in climbers if climber.ended}
    return climbed


def check(record: RunBench) -> None:
    """Raise UsageError if an option has no meaning with --levels."""
    for name in sorted(record.typed - _FLAGS):
        raise UsageError(
            f"{options.option(name)} has no meaning with --levels: no judge is asked, and "
            "the questions are those of the templates"
        )


def _wanted(climber: Climber, questions: Questions, wave: int) -> list[Wanted]:
    """Return the questions of a model's wave."""
    return [
        Wanted(name, min(max(climber.level + nudge(name, wave), 1), 10), wave)
        for name in questions.templates
        if name not in climber.ended
    ]


def _answering(record: RunBench, climber: Climber) -> GenAnswer:
    return GenAnswer(
        models=climber.flags,
        bench=record.bench,
        sampling=record.sampling,
        endpoint=record.endpoint,
        limits=record.limits,
    )


def _follow(
    climber: Climber,
    record: RunBench,
    questions: Questions,
    asked: Sequence[Question],
    checks: Sequence[Metric],
    console: Console,
) -> None:
    """Check a wave's answers, and choose the level of the next wave by the share that passes."""
    bench, only = questions.bench, options.Slice(model_list=(climber.name,))
    flags = options.AutoChecks(bench=record.bench, slice=only, run_code=record.run_code)
    if questions.keep:
        run(plan_metrics(flags, bench, asked, checks, every_choice=True))
    passed = passes(read(bench, metrics=["checks"]).of(models=[climber.name]))
    passed = passed.of(questions=[question.question_id for question in asked])
    undecided = np.unique(passed.question[~passed.valid]).tolist()
    decided = {passed.questions[code].question_id for code in np.unique(passed.question).tolist()}
    decided -= {passed.questions[code].question_id for code in undecided}
    climber.ended |= {
        str(question.extra["template"]) for question in asked if question.question_id not in decided
    }
    values = passed.value[passed.valid]
    climber.over = not len(values)
    if not climber.over:
        share = float(values.mean())
        console.tell(f"{climber.name} passes {percent(share)}")
        climber.level = next_level(climber.level, share)


def next_level(level: int, share: float) -> int:
    """Return the level of the wave after one of a level, of which a share was passed."""
    return min(max(level + round(_STEP * (share - 0.5)), 1), 10)


def _carry_out(
    plan: AnswerPlan, limits: options.Limits, waves: int, console: Console, climbed: Climbed
) -> Outcome:
    """Ask before the first wave, for all of them; of a dry run show the first that is not done."""

    def estimates() -> list[Any]:
        return [_times(one, waves) for one in estimate_answers(plan, batch=limits.batch)]

    if limits.dry_run:
        if plan.total:
            console.tell(f"an estimate for the {counted(waves, 'wave')} that are left")
            climbed.page = calls.estimate_page(estimates())
        return Outcome(0, [], Progress())
    return calls.carry_out(
        plan,
        limits,
        functools.cache(estimates),
        console,
        unit="answers",
        questions=waves * max(len(model.todo) for model in plan.models),
    )


def _times(one: Any, waves: int) -> Any:
    numbers = ("calls", "prompt_tokens", "reply_tokens_low", "reply_tokens_high")
    costs = {
        name: None if getattr(one, name) is None else getattr(one, name) * waves
        for name in ("cost_low", "cost_high")
    }
    return replace(one, **{name: getattr(one, name) * waves for name in numbers}, **costs)


# The command


def run_levels(record: RunBench, console: Console) -> RunReport:
    """Ask in waves, then show the reach."""
    if not is_bench_named(record):
        record = replace(record, bench=replace(record.bench, bench_name="levels"))
    with calls.served(record, console) as addressed:
        climbed = climb(addressed, calls.configs(), console)
    for model, templates in climbed.ended.items():
        what = counted(len(templates), "template")
        console.warn(f"{model}: an undecided check ended {what}: {', '.join(templates)}")
    outcome = climbed.outcomes[-1] if climbed.outcomes else Outcome(0, [], Progress())
    code = 0 if climbed.complete else 1
    report = RunReport(plan=None, outcome=outcome, page=climbed.page, code=code)
    if climbed.page is not None:
        console.show(climbed.page)
    if (
        record.limits.dry_run
        or not (climbed.complete or len(climbed.outcomes) > 1)
        or not climbed.outcomes
    ):
        return report
    shown = options.ShowResult(
        bench=record.bench.shown,
        slice=options.ShownSlice(model_list=tuple(climbed.models)),
        reach=True,
        output=record.output,
    )
    report.page = results_of(shown).page
    console.show(report.page, record.output.format)
    return report

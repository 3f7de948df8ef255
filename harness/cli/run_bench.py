"""The command `run_bench`: answers judged as soon as they exist, in one run; then results."""

import copy
import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

import harness
from harness import ImportReport, metrics, models, options, registry, running
from harness import bench as benches
from harness.answering import AnswerPlan, estimate_answers, plan_answers
from harness.answering.plan import ModelPlan
from harness.bench import Bench
from harness.cli import calls, gen_answer, gen_judgment, import_data, measured
from harness.cli.command import log, show
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.judging.plan import JudgePlan, plan_judgments
from harness.judging.run import JudgmentReport, estimate_judgments
from harness.models import ModelConfig
from harness.options import GenAnswer, GenJudgment, RunBench
from harness.reporting import Note, pages
from harness.reporting.against import forecast
from harness.reporting.show_result import results_of
from harness.results.board import Origin, check_board
from harness.running import Job, Outcome, Progress
from harness.running.estimate import Estimate
from harness.types import Answer, Choice, Question


class BenchPlan(Struct):
    """What is to be answered and judged; nothing was called or written yet."""

    bench: Bench
    judgments: JudgePlan
    answers: AnswerPlan | None = None
    """None: only answers that exist are judged."""

    @property
    def total(self) -> int:
        """The number of jobs."""
        return self.judgments.total + (0 if self.answers is None else self.answers.total)

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs; an answer makes those possible that judge it, which come last."""
        ready = list(self.judgments.jobs())  # now: later on answers of this run are there too
        if self.answers is not None:
            yield from self.answers.jobs(then=self.judgments.about)
        yield from ready


class BenchReport(Struct):
    """What `run_bench` did."""

    outcome: Outcome
    plan: BenchPlan

    @property
    def unjudged(self) -> int:
        """Judgments that could not be made because their answers are missing."""
        progress = self.outcome.progress
        return self.plan.total - progress.done - progress.failed

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return not self.outcome.failures and self.outcome.stopped is None


def run_bench(
    model: str | Sequence[str] = (),
    judge_model: str | Sequence[str] = (),
    bench_name: str = "mt_bench",
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> BenchReport:
    """Let each model answer, and each judge judge each answer as soon as it exists.

    `words` are options of the command, such as `first_n=8`; checks, metrics and results have
    functions of their own.

    Raises:
        TurnbenchError: see `plan_answers`, `plan_judgments` and `running.run`.
    """
    values = {"model": model, "judge_model": judge_model, "bench_name": bench_name, **words}
    record = options.build(RunBench, values)
    if record.levels:
        raise UsageError("levels from Python: harness.extras.levels.climb(record)")
    plan = plan_bench(record)
    outcome = running.run(
        plan.jobs(),
        record.limits,
        state=plan.bench.state,
        total=plan.total,
        redo=record.judging.redo is not None,
        progress=progress,
    )
    return BenchReport(outcome, plan)


def plan_bench(
    record: RunBench,
    configs: Mapping[str, ModelConfig] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    *,
    key_needed: bool = True,
) -> BenchPlan:
    """Return the plan of both; whatever would stop gen_judgment stops it before the first call.

    `configs` are the models of turnbench.toml, `categories` the criteria of each category.

    Raises:
        UsageError, MissingError, DataError: see `plan_answers` and `plan_judgments`.
    """
    bench = benches.load_named(record.bench)
    part, flags = record.slice, record.judging
    questions = [q for q in bench.take(part) if categories is None or q.category in categories]
    answers, awaited = None, {}
    if record.models.model or record.models.model_path:
        shared = ("models", "bench", "slice", "history", "user", "sampling", "endpoint", "limits")
        answering = GenAnswer(
            redo=flags.redo == "all",
            skip_missing=flags.skip_missing,
            **{name: getattr(record, name) for name in shared},
        )
        answers = plan_answers(
            bench, answering, configs=configs, questions=questions, key_needed=key_needed
        )
        awaited = {
            model.name: [todo.question.question_id for todo in model.todo]
            for model in answers.models
        }
    elif not part.model_list:
        raise UsageError("name the models to ask with --model, or answered ones with --model-list")
    if flags.mode is None and flags.baseline_model is not None:
        flags = replace(flags, mode="pairwise-baseline")
    judging = GenJudgment(
        judging=flags,
        bench=record.bench,
        slice=replace(part, model_list=part.model_list or tuple(awaited)),
        sampling=record.judge_sampling,
        endpoint=record.judge,
        limits=record.limits,
    )
    judgments = plan_judgments(
        bench,
        judging,
        configs=_judges(record, configs or {}),
        questions=questions,
        categories=categories,
        awaited=awaited,
        key_needed=key_needed,
    )
    return BenchPlan(bench, judgments, answers)


def estimate_bench(plan: BenchPlan, *, batch: bool = False) -> list[Estimate]:
    """Return what a plan will take, by chat model; stand-ins are its answers."""
    estimates: list[Estimate] = []
    judgments = copy.deepcopy(plan.judgments)
    if plan.answers is not None:
        estimates = estimate_answers(plan.answers, batch=batch)
        for model in plan.answers.models:
            for todo in model.todo:
                list(judgments.about(_stand_in(model, todo.question)))
    return estimates + estimate_judgments(judgments, batch=batch)


def _stand_in(model: ModelPlan, question: Question) -> Answer:
    """Return an answer of a usual length; models differ, since equal answers are not compared."""
    text = f"{model.name} " + "word " * 600
    turns = question.user.most_turns if question.user is not None else len(question.turns)
    choice = Choice(index=0, turns=[text] * turns, user=[text] * turns if question.user else [])
    return Answer(question_id=question.question_id, model_id=model.name, choices=[choice])


def _judges(record: RunBench, configs: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Return the models of turnbench.toml, and judges that nothing but --base-url tells of."""
    judges = dict(configs)
    address = record.endpoint
    if record.judge.base_url is None and address.base_url is not None:
        for name in record.judging.judge_model:
            try:
                models.resolve(name, ModelConfig(), configs, key_needed=False)
            except UsageError:
                config = ModelConfig(base_url=address.base_url, api_key_env=address.api_key_env)
                judges[name] = config
    return judges


# The command


def work(parsed: Parsed) -> int:
    """Answer, judge and show in one go; return the exit code."""
    record: RunBench = parsed.options
    if record.levels:
        code: int = registry.find("levels", "work")(parsed)
        return code
    evaluation = None
    if record.config is not None:
        evaluation = registry.find("judge_file", "colossalai_config")(record.config)
    left_out, imported = 0, list[str]()
    if record.import_:
        record, report = _imported(record, parsed, evaluation)
        left_out, imported = len(report.bad), list(report.answers)
    if evaluation is not None or record.import_[:1] == ("colossalai",):
        record = replace(record, judging=_as_colossalai(record, evaluation, imported))
    dry_run = record.limits.dry_run
    with calls.served(record.models, record.endpoint, dry_run=dry_run) as (weights, endpoint):
        record = replace(record, models=weights, endpoint=endpoint)
        code = _run(parsed, record, evaluation)
    return code or int(left_out > 0)


def _imported(record: RunBench, parsed: Parsed, evaluation: Any) -> tuple[RunBench, ImportReport]:
    """Import answers first; the benchmark is called after the first file unless it is named."""
    form, *files = record.import_
    if not files:
        raise UsageError(f"--import {form} needs files: --import FORMAT FILE ...")
    name = record.bench.bench_name
    if "bench_name" not in parsed.typed and parsed.project.bench_name is None:
        name = pathlib.Path(files[0]).stem
    report = harness.import_data(
        form,
        files,
        name,
        data_dir=record.bench.data_dir,
        model_id=() if record.models.model_path else record.models.model_id,
        language=record.metrics.language or ("en" if evaluation is None else evaluation.language),
    )
    import_data.report_import(report)
    if not report.answers and not record.models.model:
        raise UsageError(f"{', '.join(files)}: no answers; add files of answers, or --model")
    part = record.slice
    if report.answers and not part.model_list:
        part = replace(part, model_list=(*record.models.model, *report.answers))
    return replace(record, bench=replace(record.bench, bench_name=name), slice=part), report


def _as_colossalai(record: RunBench, evaluation: Any, imported: Sequence[str]) -> options.Judging:
    """Fill in what is not typed: two imported models are compared, others graded."""
    flags = record.judging
    pairs = len(imported) == 2 and not record.models.model
    mode = flags.mode or ("pairwise-all" if pairs else "single")
    language = "en" if evaluation is None else evaluation.language
    judge_set = flags.judge_set or f"{'metrics' if mode == 'single' else 'battle'}_{language}"
    return replace(flags, mode=mode, judge_set=judge_set)


def _run(parsed: Parsed, record: RunBench, evaluation: Any) -> int:
    """Answer and judge, check and measure, show; return the exit code."""
    if evaluation is not None and not record.judging.judge_model:
        if record.models.model:
            raise UsageError(
                f"{record.config} names nothing to judge; use gen_answer, turnbench auto_metrics"
            )
        names = _measured(record)
        return _shown(
            options.ShowResult(bench=record.bench.shown, metric=names, output=record.output)
        )

    plan = plan_bench(
        record,
        calls.configs(parsed.project),
        None if evaluation is None else evaluation.criteria,
        key_needed=not record.limits.dry_run,
    )
    estimates = functools.partial(estimate_bench, plan, batch=record.limits.batch)
    _check_board(record.board, plan.judgments)
    said = _check_gate(record, plan)
    if plan.answers is not None:
        gen_answer.tell(plan.answers)
    gen_judgment.tell(plan.judgments)
    if record.limits.dry_run:
        page = calls.estimate_page(estimates())
        show(dataclasses.replace(page, notes=[Note(said)] if said else []))
        return 0
    if said:
        log.info("%s", said)
    outcome = calls.carry_out(
        plan,
        record.limits,
        estimates,
        unit="jobs",
        questions=len(plan.judgments.questions),
        redo=record.judging.redo is not None,
    )
    report = BenchReport(outcome, plan)
    if report.unjudged and not outcome.stopped:
        log.warning("%d judgments wait for answers that are missing", report.unjudged)
    gen_judgment.tell_unread(JudgmentReport(outcome, plan.judgments))
    files = tuple(task.path for task in plan.judgments.tasks if task.path.exists())
    if not files:
        log.warning("there is nothing to show yet")
        return 1
    everyone = replace(record.slice, model_list=())
    if any(any(question.checks) for question in plan.judgments.questions):
        checks = options.AutoChecks(bench=record.bench, slice=everyone, run_code=record.run_code)
        measured.carry_out(metrics.plan_checks(checks), "turn")
    names = _measured(record) if record.metrics.metrics or evaluation is not None else ()
    chosen = _results(record, plan, files)
    code = _shown(chosen)
    if names and record.output.format not in ("json", "csv"):
        print()
        measures = replace(chosen, select=options.Select(), metric=names)
        _shown(replace(measures, board=options.Board(), gate=options.Gate()))
    return max(code, 0 if report.complete else 1)


def _results(
    record: RunBench, plan: BenchPlan, files: tuple[pathlib.Path, ...]
) -> options.ShowResult:
    """Return what is shown at the end."""
    judged, part = plan.judgments, record.slice
    baseline = judged.judge_set.baseline if judged.mode == "pairwise-baseline" else None
    names = part.model_list
    if record.gate.against and not names:  # what this run asked is in question, and nothing else
        names = tuple(name for name in judged.models if name != baseline)
    return options.ShowResult(
        select=options.Select(
            mode=judged.mode,
            input_file=files,
            judge_model=record.judging.judge_model,
            baseline_model=baseline,
        ),
        bench=record.bench.shown,
        slice=options.ShownSlice(model_list=names),
        output=record.output,
        board=record.board,
        gate=record.gate,
    )


def _check_gate(record: RunBench, plan: BenchPlan) -> str:
    """Refuse a gate that could not be, before anything is paid for; return what may come of it."""
    pages.checked(_results(record, plan, ()))
    return forecast(plan.bench, record.gate) if record.gate.against else ""


def _check_board(board: options.Board, plan: JudgePlan) -> None:
    """Refuse a board that the results could not be added to, before anything is paid for."""
    if board.board is None:
        return
    judge_set, baseline = plan.judge_set, plan.judge_set.baseline
    if plan.mode != "pairwise-baseline" or baseline is None:
        raise UsageError("--board is for pairs with a baseline: --mode pairwise-baseline")
    judges = ", ".join(dict.fromkeys(task.name for task in plan.tasks))
    check_board(
        board.board,
        Origin(judges, f"{judge_set.name} {judge_set.version}".rstrip(), baseline),
        [model for model in plan.models if model != baseline],
        overwrite=board.overwrite,
        sort=board.sort,
        allow=board.allow,
    )


def _measured(record: RunBench) -> tuple[str, ...]:
    """Compute the metrics that are asked for; return their names."""
    reference = None if record.judging.reference == "none" else record.judging.reference
    measuring = options.AutoMetrics(
        options=record.metrics,
        config=record.config,
        reference=reference,
        bench=record.bench,
        slice=replace(record.slice, model_list=()),
        device=record.models.device,
        batch_size=record.models.batch_size or 8,
        redo=record.judging.redo == "all",
    )
    plan = metrics.plan_metrics(measuring)
    measured.carry_out(plan, "number")
    return tuple(work.metric.name for work in plan.works)


def _shown(chosen: options.ShowResult) -> int:
    """Print results; return the exit code of showing them."""
    result = results_of(chosen)
    show(result.page, chosen.output.format)
    return result.exit_code

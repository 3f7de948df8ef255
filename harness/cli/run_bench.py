"""The command `run_bench`: answers judged as soon as they exist, in one run; then results."""

import copy
import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness import ImportReport, metrics, models, options, registry
from harness import bench as benches
from harness.answering.answer import estimate_answers
from harness.answering.plan import AnswerPlan, ModelPlan, plan_answers
from harness.bench import Bench
from harness.cli import calls, gen_answer, gen_judgment, import_data, measured
from harness.cli.console import Console
from harness.cli.parser import is_bench_named, record_from
from harness.errors import TurnbenchError, UsageError, require
from harness.judging.plan import JudgePlan, plan_judgments
from harness.judging.run import estimate_judgments
from harness.models import ModelConfig
from harness.options import GenAnswer, GenJudgment, RunBench
from harness.reporting import Note, Page, pages
from harness.reporting.against import check_comparable, forecast
from harness.reporting.show_result import results_of
from harness.results.board import Origin, check_board
from harness.results.length_control import LIBRARY
from harness.running import Job, Outcome, Progress
from harness.running.estimate import CallEstimate
from harness.types import Answer, Choice, Question
from harness.words import counted


class BenchPlan(Struct):
    """What is to be answered and judged; nothing was called or written yet."""

    bench: Bench
    judgments: JudgePlan
    answers: AnswerPlan | None = None
    """None: only answers that exist are judged."""

    def __repr__(self) -> str:
        return f"<BenchPlan {self.bench.name[:100]}: {self.total:,} to do>"

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


class RunReport(calls.CallReport, kw_only=True):
    """What `run_bench` did; `page` are the results."""

    plan: BenchPlan | None = None
    """None: the configuration named metrics alone."""
    measured: Page | None = None
    """The numbers of metrics that need no judge."""
    code: int = 0
    """1 if records of imported files were left out, or something could not be measured or shown."""

    @property
    def unjudged(self) -> int:
        """Judgments that could not be made because their answers are missing."""
        progress = self.outcome.progress
        return 0 if self.plan is None else self.plan.total - progress.done - progress.failed

    @property
    def exit_code(self) -> int:
        """The command's."""
        return self.code or super().exit_code

    def __repr__(self) -> str:
        return "<RunReport: metrics alone>" if self.plan is None else super().__repr__()


def run_bench(
    model: str | Sequence[str] = (),
    judge_model: str | Sequence[str] = (),
    bench_name: str | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> RunReport:
    """Let each model answer, each judge judge each answer as soon as it exists; return the results.

    `words` are options of the command, such as `first_n=8`.

    Raises:
        TurnbenchError: see `plan_answers`, `plan_judgments` and `running.run`.
    """
    words |= {"model": model, "judge_model": judge_model, "bench_name": bench_name}
    return run(record_from(RunBench, **words), Console(progress))


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


def estimate_bench(plan: BenchPlan, *, batch: bool = False) -> list[CallEstimate]:
    """Return what a plan will take, by chat model; stand-ins are its answers."""
    estimates: list[CallEstimate] = []
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


def run(record: RunBench, console: Console) -> RunReport:
    """Answer, judge and show in one go; with --levels, ask in waves."""
    if record.levels:
        climbed: RunReport = registry.find("levels", "run")(record, console)
        return climbed
    evaluation = None
    if record.config is not None:
        evaluation = registry.find("judge_file", "colossalai_config")(record.config)
    left_out, imported = 0, list[str]()
    if record.import_:
        record, report = _imported(record, evaluation, console)
        left_out, imported = len(report.bad), list(report.answers)
    if evaluation is not None or record.import_[:1] == ("colossalai",):
        record = replace(record, judging=_as_colossalai(record, evaluation, imported))
    with calls.served(record, console) as record:
        if evaluation is not None and not record.judging.judge_model:
            done = _measure_alone(record, console)
        else:
            done = _run(record, evaluation, console)
    done.code = done.code or int(left_out > 0)
    return done


def _imported(record: RunBench, evaluation: Any, console: Console) -> tuple[RunBench, ImportReport]:
    """Import answers first; the benchmark is called after the first file unless it is named."""
    form, *files = record.import_
    if not files:
        raise UsageError(f"--import {form} needs files: --import FORMAT FILE ...")
    name = record.bench.bench_name
    if not is_bench_named(record):
        name = pathlib.Path(files[0]).stem
    report: ImportReport = registry.find("importing", "import_data")(
        form,
        files,
        name,
        data_dir=record.bench.data_dir,
        model_id=() if record.models.model_path else record.models.model_id,
        language=record.metrics.language or ("en" if evaluation is None else evaluation.language),
    )
    import_data.report_import(report, console)
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


def _measure_alone(record: RunBench, console: Console) -> RunReport:
    """Compute the metrics of a configuration that names nothing to judge."""
    if record.models.model:
        text = f"{record.config} names nothing to judge; use gen_answer, turnbench auto_metrics"
        raise UsageError(text)
    plan = metrics.plan_metrics(_measuring(record))
    report = RunReport(outcome=Outcome(0, [], Progress()))
    if not record.limits.dry_run:
        names = _measure(plan, console)
        chosen = options.ShowResult(bench=record.bench.shown, metric=names, output=record.output)
        report.measured, report.code = _show(chosen, console)
    return report


def _run(record: RunBench, evaluation: Any, console: Console) -> RunReport:
    """Answer and judge, check and measure, show."""
    plan = plan_bench(
        record,
        calls.configs(),
        None if evaluation is None else evaluation.criteria,
        key_needed=not record.limits.dry_run,
    )
    estimates = functools.partial(estimate_bench, plan, batch=record.limits.batch)
    has_metrics = bool(record.metrics.metrics) or evaluation is not None
    # What would stop the run after the calls stops it before them, in a dry run too.
    forecast_of_gate = _check_gate(record, plan)
    _check_board(record.board, plan.judgments)
    _check_measuring(record, plan, has_metrics)
    if plan.answers is not None:
        gen_answer.tell(plan.answers, console)
    gen_judgment.tell(plan.judgments, console)
    if record.limits.dry_run:
        page = calls.estimate_page(estimates())
        notes = [Note(forecast_of_gate)] if forecast_of_gate else []
        page = dataclasses.replace(page, notes=notes)
        console.show(page)
        return RunReport(plan=plan, outcome=calls.nothing_done(plan), page=page)
    if forecast_of_gate:
        console.tell(forecast_of_gate)
    outcome = calls.carry_out(
        plan,
        record.limits,
        estimates,
        console,
        unit="jobs",
        questions=len(plan.judgments.questions),
        redo=record.judging.redo is not None,
    )
    report = RunReport(plan=plan, outcome=outcome)
    if report.unjudged and not outcome.stopped:
        waiting = counted(report.unjudged, "judgment waits", "judgments wait")
        console.warn(f"{waiting} for answers that are missing")
    judged = gen_judgment.JudgmentReport(plan=plan.judgments, outcome=outcome)
    gen_judgment.tell_unread(judged, console)
    files = tuple(task.path for task in plan.judgments.tasks if task.path.exists())
    if not files:
        console.warn("there is nothing to show yet")
        report.code = 1
        return report
    try:
        _check(record, plan)
        names = _measure(metrics.plan_metrics(_measuring(record)), console) if has_metrics else ()
    except TurnbenchError as error:  # the judgments are paid for: they are shown all the same
        console.warn(f"{error}; the judgments are shown without")
        names, report.code = (), 1
    chosen = _results(record, plan, files)
    report.page, code = _show(chosen, console)
    report.code = max(report.code, code)
    if names:
        measures = replace(chosen, select=options.Select(), metric=names)
        measures = replace(measures, board=options.Board(), gate=options.Gate())
        alone = record.output.format in ("json", "csv")  # one table a file
        report.measured, _ = _show(measures, Console() if alone else console)
    return report


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
    shown, judged = _results(record, plan, ()), plan.judgments
    pages.check_page(shown)
    if not record.gate.against:
        return ""
    stored = check_comparable(
        plan.bench,
        record.gate,
        judges={task.name for task in judged.tasks},
        judge_set=judged.judge_set.name,
        paired=judged.mode != "single",
        models=shown.slice.model_list,
        allow=record.board.allow,
    )
    return forecast(stored, record.gate.margin)


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


def _check_measuring(record: RunBench, plan: BenchPlan, has_metrics: bool) -> None:
    """Refuse metrics and checks that could not be computed, before anything is paid for."""
    bench, questions = plan.bench, plan.judgments.questions
    if has_metrics:
        metrics.load_metrics(_measuring(record), bench, questions)
    checked = [question for question in questions if any(question.checks)]
    if checked:
        bench.validate_checks(checked)
        metrics.load(["checks"], metrics.Setup(run_code=record.run_code))
    if record.board.length_control == "alpaca":
        require(*LIBRARY)


def _check(record: RunBench, plan: BenchPlan) -> None:
    """Check the answers to questions with checks; nobody asked, so nothing is said."""
    if any(any(question.checks) for question in plan.judgments.questions):
        everyone = replace(record.slice, model_list=())
        checks = options.AutoChecks(bench=record.bench, slice=everyone, run_code=record.run_code)
        measured.carry_out(metrics.plan_checks(checks), "turn", Console())


def _measuring(record: RunBench) -> options.AutoMetrics:
    """Return the command that computes the metrics that are asked for."""
    reference = None if record.judging.reference == "none" else record.judging.reference
    return options.AutoMetrics(
        options=record.metrics,
        config=record.config,
        reference=reference,
        bench=record.bench,
        slice=replace(record.slice, model_list=()),
        device=record.models.device,
        batch_size=record.models.batch_size or 8,
        redo=record.judging.redo == "all",
    )


def _measure(plan: metrics.MetricPlan, console: Console) -> tuple[str, ...]:
    """Compute metrics; return their names."""
    measured.carry_out(plan, "number", console)
    return tuple(work.metric.name for work in plan.works)


def _show(chosen: options.ShowResult, console: Console) -> tuple[Page, int]:
    """Show results; return their page and the exit code of showing them."""
    result = results_of(chosen)
    console.show(result.page, chosen.output.format)
    return result.page, result.exit_code

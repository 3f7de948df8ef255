"""The command `run_bench`: answers judged as soon as they exist, in one run; then results."""

import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

import harness
from harness import bench as benches
from harness import models, options, registry, running
from harness.answering import AnswerPlan, estimate_answers, plan_answers
from harness.answering.plan import ModelPlan
from harness.bench import Bench
from harness.cli import calls, gen_answer, gen_judgment
from harness.cli.command import log, run, show
from harness.cli.parser import Parsed
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging.plan import JudgePlan, plan_judgments
from harness.judging.run import JudgmentReport, estimate_judgments
from harness.models import ModelConfig
from harness.options import GenAnswer, GenJudgment, RunBench
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
    given = {"model": model, "judge_model": judge_model, "bench_name": bench_name, **words}
    record = options.build(RunBench, given)
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
    bench = benches.load(record.bench.bench_name, record.bench.data_dir)
    questions = _questions(bench, record, categories)
    flags = record.judging
    answers, awaited = None, {}
    if record.models.model or record.models.model_path:
        asked = GenAnswer(
            models=record.models,
            bench=record.bench,
            slice=record.slice,
            redo=flags.redo == "all",
            skip_missing=flags.skip_missing,
            history=record.history,
            user=record.user,
            sampling=record.sampling,
            endpoint=record.endpoint,
            limits=record.limits,
        )
        answers = plan_answers(
            bench, asked, configs=configs, questions=questions, key_needed=key_needed
        )
        awaited = {
            model.name: [todo.question.question_id for todo in model.todo]
            for model in answers.models
        }
    elif not record.slice.model_list:
        raise UsageError("name the models to ask with --model, or answered ones with --model-list")
    names = record.slice.model_list or tuple(awaited)
    mode = flags.mode
    if mode is None and flags.baseline_model is not None:
        mode = "pairwise-baseline"
    judged = GenJudgment(
        judging=replace(flags, mode=mode),
        bench=record.bench,
        slice=replace(record.slice, model_list=names),
        sampling=record.judge_sampling,
        endpoint=record.judge,
        limits=record.limits,
    )
    judgments = plan_judgments(
        bench,
        judged,
        configs=_judges(record, configs or {}),
        questions=questions,
        categories=categories,
        awaited=awaited,
        key_needed=key_needed,
    )
    return BenchPlan(bench, judgments, answers)


def estimate_bench(plan: BenchPlan, *, batch: bool = False) -> list[Estimate]:
    """Return what a plan will take, by chat model. It is used up: stand-ins are its answers."""
    found: list[Estimate] = []
    if plan.answers is not None:
        found = estimate_answers(plan.answers, batch=batch)
        for model in plan.answers.models:
            for todo in model.todo:
                list(plan.judgments.about(_stand_in(model, todo.question)))
    return found + estimate_judgments(plan.judgments, batch=batch)


def _stand_in(model: ModelPlan, question: Question) -> Answer:
    """Return an answer of a usual length; models differ, since equal answers are not compared."""
    text = f"{model.name} " + "word " * 600
    turns = question.user.most_turns if question.user is not None else len(question.turns)
    choice = Choice(index=0, turns=[text] * turns, user=[text] * turns if question.user else [])
    return Answer(question_id=question.question_id, model_id=model.name, choices=[choice])


def _questions(
    bench: Bench, record: RunBench, categories: Mapping[str, Sequence[str]] | None
) -> list[Question]:
    part = record.slice
    bounds = part.question_begin, part.question_end, part.first_n, part.sample_n
    questions = benches.take(bench.questions, *bounds)
    return [q for q in questions if categories is None or q.category in categories]


def _judges(record: RunBench, configs: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Return the models of turnbench.toml, and judges that nothing but --base-url tells of."""
    known = dict(configs)
    address = record.endpoint
    if record.judge.base_url is not None or address.base_url is None:
        return known
    for name in record.judging.judge_model:
        try:
            models.resolve(name, ModelConfig(), configs, key_needed=False)
        except UsageError:
            known[name] = ModelConfig(base_url=address.base_url, api_key_env=address.api_key_env)
    return known


# The command


def main(argv: Sequence[str] | None = None) -> int:
    """Answer, judge and show in one go; return the exit code."""
    return run("run_bench", RunBench, _work, argv)


def _work(parsed: Parsed) -> int:
    record: RunBench = parsed.options
    evaluation = None
    if record.config is not None:
        evaluation = registry.find("judge_file", "colossalai_config")(record.config)
    imported: list[str] = []
    left_out = 0
    if record.imports:
        record, report = _imported(record, parsed, evaluation)
        imported, left_out = list(report.answers), len(report.bad)
    record = _settled(record, evaluation, imported)

    def needed(models: options.Models, endpoint: options.Endpoint) -> bool:
        return not record.limits.dry_run

    with calls.served(record.models, record.endpoint, needed) as (served, endpoint):
        record = replace(record, models=served, endpoint=endpoint)
        code = _judged(parsed, record, evaluation)
    return code or int(left_out > 0)


def _judged(parsed: Parsed, record: RunBench, evaluation: Any) -> int:
    """Answer and judge, check and measure, show; return the exit code."""
    if evaluation is not None and not record.judging.judge_model:
        if record.models.model:
            raise UsageError(
                f"{record.config} names nothing to judge; use gen_answer, auto_metrics"
            )
        names = _measure(record)
        return _print(options.ShowResult(bench=record.bench, metric=names, output=record.output))

    def planned(share: float | None = record.judging.share) -> BenchPlan:
        categories = None if evaluation is None else evaluation.criteria
        judging = replace(record.judging, share=share)
        return plan_bench(
            replace(record, judging=judging),
            calls.configs(parsed),
            categories,
            key_needed=not record.limits.dry_run,
        )

    def at(share: float) -> JudgePlan:
        return planned(share).judgments

    plan = planned()
    if plan.answers is not None:
        gen_answer.tell(plan.answers)
    gen_judgment.tell(plan.judgments)
    outcome = calls.carry_out(
        parsed,
        record.limits,
        plan.jobs,
        lambda: estimate_bench(planned(), batch=record.limits.batch),
        total=plan.total,
        unit="jobs",
        questions=len(plan.judgments.questions),
        also=lambda estimates: gen_judgment.shares(plan.judgments, at, estimates),
        state=plan.bench.state,
        redo=record.judging.redo is not None,
    )
    if outcome is None:
        return 0
    done = BenchReport(outcome, plan)
    if done.unjudged and not outcome.stopped:
        log.warning("%d judgments wait for answers that are missing", done.unjudged)
    gen_judgment.tell_unread(JudgmentReport(outcome, plan.judgments))
    _check(record, plan)
    metrics: tuple[str, ...] = ()
    if record.metrics.metrics or evaluation is not None:
        metrics = _measure(record)
    shown = _show(record, plan, metrics)
    return max(shown, 0 if done.complete else 1)


def _settled(record: RunBench, evaluation: Any, imported: Sequence[str]) -> RunBench:
    """Fill in what is not typed: two models of ColossalAI's files are compared, others graded."""
    judging, part = record.judging, record.slice
    theirs = evaluation is not None or (record.imports and record.imports[0] == "colossalai")
    if theirs:
        pairs = len(imported) == 2 and not record.models.model
        mode = judging.mode or ("pairwise-all" if pairs else "single")
        language = "en" if evaluation is None else evaluation.language
        usual = f"{'metrics' if mode == 'single' else 'battle'}_{language}"
        judging = replace(judging, mode=mode, judge_set=judging.judge_set or usual)
    if imported and not part.model_list:
        part = replace(part, model_list=(*record.models.model, *imported))
    return replace(record, judging=judging, slice=part)


def _imported(record: RunBench, parsed: Parsed, evaluation: Any) -> tuple[RunBench, Any]:
    """Import answers first; the benchmark is called after the first file unless it is named."""
    form, *files = record.imports
    if not files:
        raise UsageError(f"--import {form} needs files: --import FORMAT FILE ...")
    name = record.bench.bench_name
    if "bench_name" not in parsed.typed and parsed.project.bench_name is None:
        name = pathlib.Path(files[0]).stem
    language = record.metrics.language or ("en" if evaluation is None else evaluation.language)
    report = harness.import_data(
        form,
        files,
        name,
        data_dir=record.bench.data_dir,
        model_id=() if record.models.model_path else record.models.model_id,
        language=language,
    )
    for fault in report.bad[:10]:
        log.warning("left out: %s", fault)
    if not report.answers and not record.models.model:
        raise UsageError(f"{', '.join(files)}: no answers; add files of answers, or --model")
    return replace(record, bench=replace(record.bench, bench_name=name)), report


def _check(record: RunBench, plan: BenchPlan) -> None:
    """Check the answers to questions that have checks."""
    if not any(any(question.checks) for question in plan.judgments.questions):
        return
    from harness.metrics import plan_checks
    from harness.metrics import run as measure

    asked = options.AutoChecks(
        bench=record.bench,
        slice=replace(record.slice, model_list=tuple(plan.judgments.models)),
        run_code=record.run_code,
    )
    try:
        report = measure(plan_checks(asked))
    except MissingError as error:  # nothing is answered
        log.warning("%s", error)
        return
    log.info("checked %d turns; show_result %s --metric checks", report.written, plan.bench.flags)


def _measure(record: RunBench) -> tuple[str, ...]:
    """Compute the metrics that are asked for; return their names."""
    from harness.metrics import plan_metrics
    from harness.metrics import run as measure

    reference = None if record.judging.reference == "none" else record.judging.reference
    asked = options.AutoMetrics(
        options=record.metrics,
        config=record.config,
        reference=reference,
        bench=record.bench,
        slice=replace(record.slice, model_list=()),
        device=record.models.device,
        batch_size=record.models.batch_size or 8,
        redo=record.judging.redo == "all",
    )
    plan = plan_metrics(asked)
    for notice in plan.notices:
        log.warning("%s", notice)
    report = measure(plan)
    log.info("measured %d numbers", report.written)
    return tuple(work.metric.name for work in plan.works)


def _show(record: RunBench, plan: BenchPlan, metrics: tuple[str, ...]) -> int:
    """Print the results of these judges, and of metrics; return the exit code of showing them."""
    judgments = plan.judgments
    files = tuple(dict.fromkeys(task.path for task in judgments.tasks if task.path.exists()))
    if not files:
        log.warning("there is nothing to show yet")
        return 1
    against = judgments.judge_set.baseline if judgments.mode == "pairwise-baseline" else None
    chosen = options.ShowResult(
        select=options.Select(
            mode=judgments.mode,
            input_file=files,
            judge_model=record.judging.judge_model,
            baseline_model=against,
        ),
        bench=record.bench,
        slice=options.Slice(model_list=record.slice.model_list),
        output=record.output,
        board=record.board,
    )
    code = _print(chosen)
    if metrics and record.output.format not in ("json", "csv"):
        print()
        _print(replace(chosen, select=options.Select(), metric=metrics, board=options.Board()))
    return code


def _print(chosen: options.ShowResult) -> int:
    from harness.reporting.show_result import results_of

    try:
        result = results_of(chosen)
    except TurnbenchError as error:
        log.warning("there is nothing to show yet: %s", error)
        return 1
    show(result.page, chosen.output.format)
    return result.exit_code


if __name__ == "__main__":
    raise SystemExit(main())

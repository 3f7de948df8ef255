"""Answer, judge and show in one go."""

import argparse
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.old.cli import auto_checks, auto_metrics, command, flags, gen_answer, gen_judgment, messages, output
from harness.old.errors import MissingError, TurnbenchError, UsageError
from harness.old.names import listed

if TYPE_CHECKING:
    from harness.old.bench import Bench
    from harness.old.evaluation import Evaluation, Planned
    from harness.old.importing.records import ImportReport
    from harness.old.judging.run import JudgeOptions
    from harness.old.pipeline import BenchPlan

NAME = "run_bench"
PURPOSE = "Answer, judge and show: every answer is judged as soon as it exists."
EXAMPLES = (
    "run_bench --model builtin/reference builtin/eliza --judge-model builtin/overlap",
    "run_bench --model gpt-4.1-mini claude-opus-4-5 --judge-model gpt-4.1 --mode pairwise-all",
    "run_bench --import alpaca_eval out.json --bench-name alpaca_eval --judge-set alpaca_eval_gpt4 --judge-model gpt-4",
    "run_bench --config config.json --import colossalai targets.json a.json b.json --judge-model gpt-4.1",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--model")
    models = p.group("models")
    models.add(
        "--model NAME ...",
        "models to ask: gpt-..., claude-..., builtin/..., or any name with --base-url (default: none; this or "
        "--import is required)",
    )
    models.add(
        "--import FILE",
        "import answers from files of another project instead of asking models, as import_data does: for colossalai "
        "the target file and then a file of answers for each model; for alpaca_eval outputs, matched to the "
        "questions of an existing benchmark (patterns such as 'outputs/*.json' too)",
        dest="imported",
        nargs="+",
        metavar=("FORMAT", "FILE"),
    )
    models.add(
        "--model-id NAME ...",
        "models of the files of answers, in order (default: as their records say, else the file's name)",
    )
    models.add(
        "--config FILE",
        "criteria and metrics of each category: a configuration of ColossalAI's chat evaluation, or the same "
        "as TOML; chooses judge set, criteria and metrics",
    )
    flags.add_redo(models, "answer and judge again what is done")
    auto_checks.add_run_code(models)
    judging = gen_judgment.add_judging(p, "those of --model and --import", required=False)
    judging.add("--judge-temperature T", "the judge's temperature (default: the judge set's)")
    judging.add("--judge-max-tokens N", "the most tokens of a judgment (default: the judge set's)")
    metrics = p.group("metrics")
    metrics.add(
        "--metrics NAME ...",
        "also compute these metrics, which need no judge: text (all that need no model), bleu, rouge, ...; see "
        "auto_metrics",
    )
    auto_metrics.add_setup(p, metrics)
    flags.add_slice(flags.add_bench(p))
    gen_answer.add_history(p)
    gen_answer.add_user(p)
    gen_answer.add_sampling(p)
    endpoint = flags.add_endpoint(p, "the models")
    gen_answer.add_template(endpoint)
    flags.add_params(endpoint, "the judges", "--judge-param")
    endpoint.add(
        "--judge-base-url URL",
        "address of an OpenAI-compatible server for the judges (default: OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else "
        "the provider's; never --base-url)",
    )
    flags.add_key(endpoint, "judge-")
    flags.add_running(p)
    form = p.group("output")
    form.add("--format table|json|csv|markdown", "output format; json and csv are not rounded", default="table")
    flags.add_board(form)
    form.add(
        "--allow NAME ...", "with --board: what may differ from its rows: judge, judge-set, baseline (default: nothing)"
    )
    form.add("--sort COLUMN", "column by which models, or the board, are sorted (default: the judge set's)")
    p.set_defaults(mode=None, judge_set=None, bench_name=None)  # `_settle` fills in what the user has not set
    return p


def work(args: argparse.Namespace) -> int:
    """Plan, ask, call, report, show."""
    from harness.old.bench import load_bench
    from harness.old.evaluation import planned_metrics, read_evaluation
    from harness.old.judging.run import NO_REFERENCE
    from harness.old.metrics.run import check_metrics
    from harness.old.pipeline import plan_bench, run_plan
    from harness.old.results.query import Query
    from harness.old.results.wanted import Wanted
    from harness.old.showing import FORMATS

    if args.board is not None and len(set(args.judge_model or ())) > 1:
        raise UsageError("a board is for one judge; name one with --judge-model")
    if args.board is not None:
        from harness.old.results.pairs.board import read_board

        read_board(pathlib.Path(args.board))  # a file that is not a board stops the run before the first call
    for_programs = FORMATS[args.format].for_programs
    if for_programs and len(set(args.judge_model or ())) > 1:
        raise UsageError(
            f"--format {args.format} shows one judge; choose another format, or run show_result for each judge"
        )
    evaluation = None if args.config is None else read_evaluation(args.config)
    taken = _imported(args, evaluation)
    imported = list(taken.answers) if taken else []
    left_out = len(taken.bad) if taken else 0
    _settle(args, evaluation, imported)
    bench = load_bench(args.bench_name, args.data_dir)
    reference = None if args.reference == NO_REFERENCE else args.reference  # metrics use references all the same
    planned = planned_metrics(
        args.metrics or (),
        bench,
        flags.questions(args, bench),
        given=auto_metrics.setup(args, bench),
        reference=reference,
        evaluation=evaluation,
        mode=args.mode,
        judge_set=args.judge_set,
    )
    check_metrics(planned.metrics, bench, reference)
    metrics = _Metrics(args, bench, planned, reference)
    for notice in (*planned.notices, *metrics.forewarned):
        messages.warn(NAME, f"warning: {notice}")
    if not args.judge_model:
        if args.model:
            raise UsageError(
                f"{args.config} names nothing to judge; answer with gen_answer and measure with auto_metrics --config"
            )
        if not args.dry_run:
            metrics.measure(imported)
            metrics.show(imported)
        return 1 if left_out else 0
    plan = plan_bench(
        args.model or [],
        args.judge_model,
        bench,
        args.mode,
        gen_answer.options(args),
        _judging(args, planned),
        model_list=args.model_list or [*(args.model or []), *imported],
        questions=planned.questions,
        run_code=args.run_code,
        redo=args.redo,
        skip_missing=args.skip_missing,
    )
    args.mode = plan.judgments.mode
    board = None if args.board is None else pathlib.Path(args.board)
    shown = Wanted(Query.of(args.mode), length_control=args.length_control, board=board, overwrite=args.overwrite)
    shown.check()  # what cannot be shown is an error before the first call
    if args.model:
        gen_answer.tell_plan(args, plan.answers)
    gen_judgment.tell_plan(args, plan.judgments, NAME)
    missing = plan.answers.calls
    if planned.metrics and not missing and not args.dry_run:  # an error in them stops the run before the first call
        metrics.measure(plan.judgments.models)
    if not output.go_on(args, plan.answers, plan.judgments, reach=plan.judgments):
        return 0
    with messages.bar(plan.jobs, "job", quiet=args.quiet) as watch:
        report = run_plan(plan, flags.running(args), watch=watch)
    if args.model:
        gen_answer.tell_report(args, plan.answers, report.answers, NAME)
    gen_judgment.tell_report(args, plan.judgments, report.judgments, NAME)
    if report.checks:
        messages.say(args, f"checked {messages.counted(report.checks.written, 'turn')}; see {report.checks.paths[0]}")
    messages.report_failures(NAME, report.tally.failures)
    if report.unjudged:
        calls = messages.counted(report.unjudged, "call")
        messages.warn(NAME, f"{calls} to judges could not be made because their answers are missing")
    if planned.metrics and missing:
        metrics.measure(plan.judgments.models, complete=report.complete)
    _show(args, plan, left_out, complete=report.complete)
    if planned.metrics and not for_programs:
        messages.results("")
        metrics.show(plan.judgments.models)
    return 0 if report.complete and not left_out else 1


def _imported(args: argparse.Namespace, evaluation: "Evaluation | None") -> "ImportReport | None":
    """Make a benchmark from the files of --import; return the report, None without --import."""
    from harness.old.cli import import_data
    from harness.old.importing import FORMATS

    if args.imported is None:
        if not args.model:
            raise UsageError("name the models to ask with --model, or the answers to import with --import FORMAT FILE")
        if args.model_id:
            raise UsageError("--model-id names the models of --import; leave it out without --import")
        return None
    args.format_name, *args.files = args.imported
    if not args.files:
        raise UsageError(f"--import {args.format_name} needs files: --import FORMAT FILE ...")
    args.bench_name = args.bench_name or pathlib.Path(args.files[0]).stem
    language = args.language or (evaluation.language if evaluation else None)
    form = FORMATS.get(args.format_name)
    there = (pathlib.Path(args.data_dir) / args.bench_name / "question.jsonl").is_file()
    if there and form is not None and form.answer is not None and not form.names:  # the records name their questions
        return import_data.answers_imported(args, args.format_name, name=NAME)
    report = import_data.imported(args, args.format_name, language=language, name=NAME)
    if not report.answers and not args.model:
        raise UsageError(f"{', '.join(args.files)}: no answers; add files of answers, or models to ask with --model")
    return report


def _settle(args: argparse.Namespace, evaluation: "Evaluation | None", imported: Sequence[str]) -> None:
    """Fill in what the user has not set: two models of ColossalAI's files are compared, others are graded."""
    from harness.old.evaluation import usual_judge_set

    args.bench_name = args.bench_name or "mt_bench"
    theirs = evaluation is not None or (args.imported is not None and args.imported[0] == "colossalai")
    if theirs or args.judge_set is None:  # a named judge set may state the mode itself
        args.mode = args.mode or ("pairwise-all" if theirs and len(imported) == 2 and not args.model else "single")
    if args.judge_set is None:
        language = evaluation.language if evaluation else args.language or "en"
        args.judge_set = usual_judge_set(language, args.mode) if theirs else "mt_bench"
    if not args.judge_model and (evaluation is None or evaluation.judges(args.mode)):
        raise UsageError("name the judge with --judge-model (builtin/overlap needs no key, for trying things out)")


def _judging(args: argparse.Namespace, planned: "Planned") -> "JudgeOptions":
    """Return the options of judging; flags of gen_judgment that here apply to the answers have other names."""
    from dataclasses import replace

    return replace(
        gen_judgment.options(args),
        temperature=args.judge_temperature,
        max_tokens=args.judge_max_tokens,
        params=dict(args.judge_param),
        base_url=args.judge_base_url,
        api_key_env=args.judge_api_key_env,
        categories=planned.criteria if args.mode == "single" else {},
    )


def _show(args: argparse.Namespace, plan: "BenchPlan", left_out: int, *, complete: bool) -> None:
    """Print the results, a table for each judge, with notes on what is missing from it."""
    from harness.old.jsonl import is_there

    models, answered = plan.judgments.models, plan.judgments.bench.answered_models()
    named = args.model_list or (None if args.imported is None else models)
    absent = [model for model in models if named is None and model not in answered]
    notes = [f"not answered, so not in the table: {listed(absent)}"] if absent else []
    notes += [f"left out of what was imported: {messages.counted(left_out, 'record')}"] if left_out else []
    for judge in plan.judgments.judges:
        if is_there(judge.path):
            _print_result(
                args,
                None if complete else "there is nothing to show yet",
                notes=notes,
                mode=args.mode,
                input_file=judge.path,
                model_list=named,
                baseline_model=plan.judgments.baseline,
                length_control=args.length_control,
                board=args.board,
                overwrite=args.overwrite,
                sort=args.sort,
                allow=args.allow or (),
            )
        else:
            messages.warn(NAME, f"there is nothing to show for {judge.judge}: it has made no judgment")


def _print_result(
    args: argparse.Namespace,
    otherwise: str | None,
    sort: str | None = None,
    notes: Sequence[str] = (),
    **words: Any,
) -> None:
    """Print results with these notes; where there are none to print, say so in the words `otherwise`, if any."""
    from harness.old.cli.show_result import print_result
    from harness.old.results.show import show_result

    words |= {"bench_name": args.bench_name, "data_dir": args.data_dir}
    try:
        try:
            result = show_result(sort=sort, **words)
        except UsageError as error:
            if sort is None:
                raise
            result = show_result(**words)  # the calls are made: rather another order than no results
            messages.warn(NAME, f"warning: {error}")
    except TurnbenchError as error:
        if otherwise is None:
            raise
        messages.warn(NAME, f"{otherwise}: {error}")
    else:
        result.notes.extend(notes)
        print_result(args, result)


class _Metrics:
    """The metrics of a run, measured and shown beside the judgments."""

    def __init__(self, args: argparse.Namespace, bench: "Bench", planned: "Planned", reference: str | None) -> None:
        from harness.old.metrics.run import forewarned

        self.args, self.bench, self.planned, self.reference = args, bench, planned, reference
        self.forewarned = forewarned(planned.metrics, bench, planned.questions, reference)

    def measure(self, models: Sequence[str], *, complete: bool = True) -> None:
        """Compute the metrics of what is answered."""
        from harness.old.metrics.run import plan_metrics

        about: dict[str, Any] = {"questions": self.planned.questions, "reference": self.reference}
        try:
            plan = plan_metrics(self.planned.metrics, self.bench, models=models, redo=self.args.redo, **about)
        except MissingError as error:
            if complete:
                raise
            messages.warn(NAME, f"there is nothing to measure yet: {error}")
            return
        plan.notices = [notice for notice in plan.notices if notice not in self.forewarned]
        auto_metrics.measured(self.args, plan, NAME)

    def show(self, models: Sequence[str]) -> None:
        """Print the metrics' means."""
        names = [metric.name for metric in self.planned.metrics]
        variants = {metric.variant for metric in self.planned.metrics}
        variant = variants.pop() if len(variants) == 1 else None
        _print_result(self.args, "the metrics are not shown", metric=names, variant=variant, model_list=models)


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

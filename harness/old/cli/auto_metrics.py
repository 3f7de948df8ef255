"""Compute metrics that need no judge."""

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

from harness.old.cli import command, flags, messages
from harness.old.errors import UsageError
from harness.old.metrics import METRICS, TEXT_METRICS

if TYPE_CHECKING:
    from harness.old.bench import Bench
    from harness.old.metrics.metric import Metric
    from harness.old.metrics.run import MetricPlan, MetricReport
    from harness.old.metrics.setup import Setup

NAME = "auto_metrics"
PURPOSE = "Compute metrics of every answer that need no judge, most of them against the reference answers."
EXAMPLES = (
    "auto_metrics",
    "auto_metrics --metrics bleu rouge --variant colossalai --bench-name mt_bench_zh",
    "auto_metrics --metrics bert_score --bert-model ./roberta-large",
    "auto_metrics --metrics unieval --unieval-model dialogue=MingZhong/unieval-dialog --device cuda:0",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--metrics")
    group = p.group("metrics")
    group.add(
        "--metrics NAME ...",
        f"{', '.join(TEXT_METRICS)} (all of these: text), "
        f"{', '.join(name for name in METRICS if name not in TEXT_METRICS)} (default: text)",
    )
    group.add(
        "--config FILE",
        "compute the metrics that a configuration of ColossalAI's chat evaluation (JSON, or the same as TOML) names "
        "for each category, instead of --metrics",
    )
    add_setup(p, group)
    group.add("--model-list NAME ...", "the models to measure (default: all that have answers)")
    flags.add_reference(group)
    flags.add_redo(group, "measure answers again that are measured")
    flags.add_slice(flags.add_bench(p))
    return p


def add_setup(p: command.Parser, group: command.Flags) -> None:
    """Add the flags that say how metrics are computed; those of metrics by a model get a group of their own."""
    group.add(
        "--variant NAME",
        "default, or colossalai: the formulas and tokens of ColossalAI's evaluation, for numbers comparable with its "
        "own; metrics that it lacks are as by default",
        default="default",
    )
    group.add(
        "--tokenizer NAME",
        "how texts are split into tokens: words (of any language; Chinese and other scripts without spaces by "
        "character), characters, whitespace, or jieba (extra [zh]) (default: words; for bleu, sacrebleu's for the "
        "language)",
    )
    group.add("--language CODE", "the language of the texts, such as en, zh, hu (default: the benchmark's)")
    models = p.group(
        "metrics by a model",
        "They need the extra [models]. DIR_OR_REPO is a folder with a checkpoint, or a repository of the Hugging Face "
        "hub, with @REVISION for another than the newest.",
    )
    models.add("--bert-model DIR_OR_REPO", "the model of bert_score")
    models.add(
        "--bert-layer N",
        "the layer whose vectors bert_score compares (default: that of bert-score for models it knows, else the last)",
    )
    models.add(
        "--unieval-model [TASK=]DIR_OR_REPO ...",
        "the checkpoint of unieval for a task (summarization, dialogue, data2text, fact or one in "
        "--unieval-questions), or for all others",
    )
    models.add(
        "--dimension TASK/NAME ...",
        "the dimensions of unieval, such as dialogue/naturalness (default: every dimension of the tasks that have a "
        "model)",
    )
    models.add(
        "--unieval-questions FILE",
        "the questions of unieval, as TOML; the wording that the published checkpoints were trained on comes with "
        "fetch_bench unieval_questions (default: stand-ins in our own words)",
    )
    models.add("--device NAME", "device for the models: cpu, cuda:0, ... (default: a GPU if there is one)")
    models.add("--batch-size N", "texts in one batch of a model", default=8)


def setup(args: argparse.Namespace, bench: "Bench") -> "Setup":
    """Return the setup that the flags of `add_setup` state."""

    from harness.old.metrics.setup import Setup, by_task

    own: dict[str, Any] = {
        "language": args.language or bench.settings.language,
        "unieval_models": by_task(args.unieval_model or ()),
        "unieval_dimensions": tuple(args.dimension or ()),
        "unieval_questions": None if args.unieval_questions is None else pathlib.Path(args.unieval_questions),
    }
    return Setup(**flags.words(args, Setup, **own))


def work(args: argparse.Namespace) -> int:
    """Plan, compute, report."""
    from harness.old.bench import load_bench
    from harness.old.evaluation import planned_metrics, read_evaluation
    from harness.old.metrics.run import plan_metrics

    bench = load_bench(args.bench_name, args.data_dir)
    questions = flags.questions(args, bench)
    if args.config is not None and args.metrics:
        raise UsageError("--config names the metrics; leave out --metrics")
    planned = planned_metrics(
        args.metrics or (["text"] if args.config is None else []),
        bench,
        questions,
        given=setup(args, bench),
        reference=args.reference,
        evaluation=None if args.config is None else read_evaluation(args.config),
    )
    for notice in planned.notices:
        messages.warn(NAME, f"warning: {notice}")
    plan = plan_metrics(
        planned.metrics,
        bench,
        models=args.model_list,
        questions=planned.questions,
        reference=args.reference,
        redo=args.redo,
    )
    report = measured(args, plan)
    messages.result_paths(report.paths)
    return 1 if report.lost else 0


def measured(args: argparse.Namespace, plan: "MetricPlan", name: str = NAME, unit: str = "number") -> "MetricReport":
    """Carry out a plan, print notes on it, and return the report."""
    from harness.old.metrics.run import run_metrics

    for notice in plan.notices:
        messages.warn(name, f"warning: {notice}")
    against = f", reference: {plan.reference}" if plan.reference else ""
    messages.say(args, f"{plan.bench.name}: {messages.counted(len(plan.models), 'model')}{against}")
    for todo in plan.works:
        left = f"{messages.counted(len(todo.todo), 'turn')} to measure" if todo.todo else ""
        messages.say(args, f"{_shown(todo.metric)}: {messages.work_text('measure', 'measured', todo, left)}")
        messages.detail(args, f"  numbers: {todo.path}")
    with messages.bar(plan.rows, unit, quiet=args.quiet) as watch:
        report = run_metrics(plan, watch=watch)
    if report.undefined:
        written = messages.counted(report.written, "row")
        messages.warn(name, f"{report.undefined} of {written} have no number; each states why, and means leave it out")
    messages.moved(args, report.superseded, "older row", plan.bench.metric_state)
    return report


def _shown(metric: "Metric") -> str:
    """Return a metric's name with its variant, tokenizer and library."""
    variant = None if metric.variant == "default" else metric.variant
    how = ", ".join(filter(None, [variant, metric.tokenizer and f"tokens: {metric.tokenizer}", metric.library]))
    return f"{metric.name} ({how})" if how else metric.name


main = command.main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())

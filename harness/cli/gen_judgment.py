"""The command `gen_judgment`."""

from collections.abc import Sequence

from harness import bench, options
from harness.cli import calls
from harness.cli.command import log, run
from harness.cli.parser import Parsed
from harness.judging import (
    JudgePlan,
    JudgeTask,
    JudgmentReport,
    estimate_judgments,
    plan_judgments,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Let judges grade or compare answers; return the exit code."""
    return run("gen_judgment", options.GenJudgment, _work, argv)


def _work(parsed: Parsed) -> int:
    record: options.GenJudgment = parsed.options
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)
    plan = plan_judgments(
        loaded,
        record,
        configs=calls.configs(parsed),
        key_needed=not record.limits.dry_run,
    )
    tell(plan)
    outcome = calls.carry_out(
        parsed,
        record.limits,
        plan.jobs,
        lambda: estimate_judgments(plan, batch=record.limits.batch),
        total=plan.total,
        unit="judgments",
        questions=len(plan.questions),
        state=loaded.state,
        redo=record.judging.redo is not None,
    )
    if outcome is None:
        return 0
    report = JudgmentReport(outcome, plan)
    tell_unread(report)
    print("\n".join(map(str, report.paths)))
    return 0 if report.complete else 1


def tell(plan: JudgePlan) -> None:
    """Say what is judged, what each judge has done and what is left."""
    for notice in plan.notices:
        log.info("%s", notice)
    judge_set, against = plan.judge_set, ""
    if plan.mode == "pairwise-baseline":
        against = f" against {judge_set.baseline}"
    log.info(
        "%s, %s%s, judge set %s %s: %s, %s",
        plan.bench.name,
        plan.mode,
        against,
        judge_set.name,
        judge_set.version,
        calls.counted(len(plan.questions), "question"),
        calls.counted(len(plan.models), "model"),
    )
    if plan.kind == "pair1":
        log.info("each pair is shown in one order only (%s)", judge_set.order.replace("_", " "))
    for task in plan.tasks:
        parts = []
        if task.already:
            parts.append(calls.already(task.already, task.newest, "judged"))
        if task.superseded:
            parts.append(f"{task.superseded} to judge again because something changed")
        parts.append(_left(plan, task) if task.todo else "nothing left to judge")
        sample = f", sample {task.sample}" if task.sample else ""
        log.info("%s%s: %s", task.name, sample, ", ".join(parts))


def _left(plan: JudgePlan, task: JudgeTask) -> str:
    if plan.mode == "single":
        judgments = calls.counted(len(task.todo), "judgment")
        return f"{judgments} to make, {calls.counted(task.calls, 'call')}"
    both = plan.kind == "pair"
    most = len(task.todo) * (2 if both else 1)
    equal = " (equal answers are a tie without a call)" if task.calls < most else ""
    orders = " in both orders" if both else ""
    return f"{len(task.todo):,} pairs to compare{orders}, {task.calls:,} calls{equal}"


def tell_unread(report: JudgmentReport) -> None:
    """Warn of the judgments of this run that give no verdict, with the most frequent reason."""
    reasons = report.unread()
    if reasons:
        log.warning(
            "%d of %d judgments give no verdict (most often: %s); they are kept and left out of "
            "means, gen_judgment --redo failed asks again",
            reasons.total(),
            report.plan.total,
            reasons.most_common(1)[0][0],
        )


if __name__ == "__main__":
    raise SystemExit(main())

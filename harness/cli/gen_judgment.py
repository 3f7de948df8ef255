"""The command `gen_judgment`."""

import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from harness import bench, options
from harness.cli import calls
from harness.cli.command import log, show
from harness.cli.parser import Parsed
from harness.judging.plan import JudgePlan, JudgeTask, plan_judgments
from harness.judging.run import JudgmentReport, estimate_judgments, stages
from harness.reporting import Column, Page, Table
from harness.reporting.page import counted
from harness.running.estimate import Estimate, total_cost

PlanAt: TypeAlias = Callable[..., JudgePlan]
"""`plan_judgments` of the benchmark."""


def work(parsed: Parsed) -> int:
    """Let judges grade or compare answers; return the exit code."""
    record: options.GenJudgment = parsed.options
    loaded = bench.load_named(record.bench)
    configs, key_needed = calls.configs(parsed.project), not record.limits.dry_run
    plan_at = functools.partial(plan_judgments, loaded, configs=configs, key_needed=key_needed)
    whole = plan_at(record)
    tell(whole)
    if record.limits.dry_run:
        show(_dry_run(whole, record, plan_at))
        return 0
    reports: list[JudgmentReport] = []
    for plan, limits in stages(whole, record, plan_at, reports):
        if record.until is not None:
            of = f"{counted(len(plan.questions), 'question')}, {plan.total:,} to judge"
            log.info("look %d: %s on %s", len(reports) + 1, ", ".join(plan.models), of)
        outcome = calls.carry_out(
            plan,
            limits if not reports else replace(limits, yes=True),
            functools.partial(estimate_judgments, whole, batch=limits.batch),
            unit="judgments",
            questions=len(whole.questions),
            redo=record.judging.redo is not None,
        )
        reports.append(JudgmentReport(outcome, plan))
        tell_unread(reports[-1])
    report = reports[-1]
    if record.until is not None and report.complete:
        size = len(report.plan.questions)
        log.info("decided, or all is judged, after %d of %d questions", size, len(whole.questions))
    print("\n".join(map(str, report.paths)))
    return 0 if report.complete else 1


SHARES = (0.05, 0.1, 0.25, 1.0)


def _dry_run(whole: JudgePlan, record: options.GenJudgment, plan_at: PlanAt) -> Page:
    """Return what the plan would take, by looks with `--until`, of pairs also by shares of them."""
    estimates = estimate_judgments(whole, batch=record.limits.batch)
    tables = []
    if record.until is not None:
        tables = [_looks(whole, record, plan_at)]
    elif whole.mode == "pairwise-all" and len(whole.models) > 2 and whole.votes is None:
        tables = [_shares(whole, record, plan_at, estimates)]
    return calls.estimate_page(estimates, tables)


def _looks(whole: JudgePlan, record: options.GenJudgment, plan_at: PlanAt) -> Table:
    """Return the calls up to each look, if no model is decided before."""
    from harness.results.until import look_of  # with numpy, which other runs do not need

    looks = look_of(whole.questions)
    rows = []
    for look in sorted(set(looks.values())):
        part = [q for q in whole.questions if looks[q.question_id] <= look]
        calls_made = plan_at(record, questions=part, looks=looks).calls
        rows.append({"look": look, "questions": len(part), "calls": calls_made})
    title = f"From {rows[0]['calls']:,} calls, if all is decided at the first look, to "
    title += f"{rows[-1]['calls']:,}, if nothing is before the last"
    columns = [Column("look"), Column("questions", always=True), Column("calls", always=True)]
    return Table(title, columns, rows, name="looks")


def _shares(
    plan: JudgePlan, record: options.GenJudgment, plan_at: PlanAt, estimates: Sequence[Estimate]
) -> Table:
    """Return what shares of all pairs would take, and the difference between models they show."""
    from harness.results.strengths import expected_detectable, win_rate  # with numpy

    total = sum(estimate.calls for estimate in estimates)
    low, high = total_cost(estimates) or (None, None)
    turns = sum(len(plan.turns(q)) for q in plan.questions) / max(len(plan.questions), 1)
    if record.judging.share is not None:
        plan = plan_at(replace(record, judging=replace(record.judging, share=None)))
    rows = []
    for share, number in zip(SHARES, plan.calls_by_share(SHARES), strict=True):
        points = expected_detectable(share, len(plan.models), len(plan.questions), turns)
        rows.append(
            {
                "share": share,
                "calls": number,
                "cost_low": low and number * low / total,
                "cost_high": high and number * high / total,
                "points": points,
                "win_rate": None if points is None else win_rate(points),
            }
        )
    columns = [
        Column("share", "% of the pairs", "%"),
        Column("calls", always=True),
        Column("cost_low", "cost from", "$"),
        Column("cost_high", "to", "$"),
        Column("points", "shows points", ".0"),
        Column("win_rate", "win rate", ".2"),
    ]
    title = "Shares of the pairs (--share), and the difference of two models that each would show"
    return Table(title, columns, rows, name="shares")


def tell(plan: JudgePlan) -> None:
    """Say what is judged, what each judge has done and what is left."""
    for notice in plan.notices:
        log.info("%s", notice)
    judge_set = plan.judge_set
    against = f" against {judge_set.baseline}" if plan.mode == "pairwise-baseline" else ""
    by = f"judge set {judge_set.name} {judge_set.version}"
    size = f"{counted(len(plan.questions), 'question')}, {counted(len(plan.models), 'model')}"
    log.info("%s, %s%s, %s: %s", plan.bench.name, plan.mode, against, by, size)
    if plan.kind == "pair1":
        log.info("each pair is shown in one order only (%s)", judge_set.order.replace("_", " "))
    for task in plan.tasks:
        todo = _todo(plan, task) if task.todo else ""
        state = calls.state_of("judge", task.split, todo)
        log.info("%s%s: %s", task.name, f", sample {task.sample}" if task.sample else "", state)


def _todo(plan: JudgePlan, task: JudgeTask) -> str:
    if plan.mode == "single":
        judgments = counted(len(task.todo), "judgment")
        return f"{judgments} to make, {counted(task.calls, 'call')}"
    orders = " in both orders" if plan.kind == "pair" else ""
    return f"{len(task.todo):,} pairs to compare{orders}, {task.calls:,} calls"


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

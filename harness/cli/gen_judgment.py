"""The command `gen_judgment`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from harness import bench, options
from harness.cli import calls
from harness.cli.command import log, run
from harness.cli.parser import Parsed
from harness.judging.plan import JudgePlan, JudgeTask, plan_judgments
from harness.judging.run import JudgmentReport, estimate_judgments, stages
from harness.reporting import Column, Table
from harness.running.estimate import Estimate, total_cost


def main(argv: Sequence[str] | None = None) -> int:
    """Let judges grade or compare answers; return the exit code."""
    return run("gen_judgment", options.GenJudgment, _work, argv)


def _work(parsed: Parsed) -> int:
    record: options.GenJudgment = parsed.options
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)
    configs, key_needed = calls.configs(parsed), not record.limits.dry_run
    plan_at = functools.partial(plan_judgments, loaded, configs=configs, key_needed=key_needed)
    whole = plan_at(record)
    tell(whole)

    def at(share: float) -> JudgePlan:
        return plan_at(replace(record, judging=replace(record.judging, share=share)))

    def also(estimates: Sequence[Estimate]) -> list[Table]:
        if record.until is not None:
            return [_looks(whole, record, plan_at)]
        return shares(whole, at, estimates)

    reports: list[JudgmentReport] = []
    for plan, limits in stages(whole, record, plan_at, reports):
        if record.until is not None and not record.limits.dry_run:
            of = f"{calls.counted(len(plan.questions), 'question')}, {plan.total:,} to judge"
            log.info("look %d: %s on %s", len(reports) + 1, ", ".join(plan.models), of)
        outcome = calls.carry_out(
            parsed,
            limits if not reports else replace(limits, yes=True),
            plan.jobs,
            functools.partial(estimate_judgments, whole, batch=limits.batch),
            total=plan.total,
            unit="judgments",
            questions=len(whole.questions),
            also=also,
            state=loaded.state,
            redo=record.judging.redo is not None,
        )
        if outcome is None:
            return 0
        reports.append(JudgmentReport(outcome, plan))
        tell_unread(reports[-1])
    if record.until is not None and reports[-1].complete:
        size = len(reports[-1].plan.questions)
        log.info("decided, or all is judged, after %d of %d questions", size, len(whole.questions))
    print("\n".join(map(str, reports[-1].paths)))
    return 0 if reports[-1].complete else 1


def _looks(
    whole: JudgePlan, record: options.GenJudgment, plan_at: Callable[..., JudgePlan]
) -> Table:
    """Return the calls up to each look, if no model is decided before; the last are the most."""
    from harness.results.until import look_of  # with numpy, which other runs do not need

    looks = look_of(whole.questions)
    rows = []
    for look in sorted(set(looks.values())):
        part = [q for q in whole.questions if looks[q.question_id] <= look]
        number = plan_at(record, questions=part, looks=looks).calls
        rows.append({"look": look, "questions": len(part), "calls": number})
    title = f"From {rows[0]['calls']:,} calls, if all is decided at the first look, to "
    title += f"{rows[-1]['calls']:,}, if nothing is before the last"
    columns = [Column("look"), Column("questions", always=True), Column("calls", always=True)]
    return Table(title, columns, rows, name="looks")


SHARES = (0.05, 0.1, 0.25, 1.0)


def shares(
    plan: JudgePlan, at: Callable[[float], JudgePlan], estimates: Sequence[Estimate]
) -> list[Table]:
    """Return what shares of all pairs would take, and the difference between models they show.

    Args:
        plan: what is to be judged.
        at: returns the plan of a share.
        estimates: what the plan will take, by chat model.
    """
    from harness.results.strengths import expected_detectable, win_rate  # with numpy

    if plan.mode != "pairwise-all" or len(plan.models) < 3 or plan.votes is not None:
        return []
    judges = {task.name for task in plan.tasks}
    own = [one for one in estimates if one.model in judges]
    calls_estimated, costs = sum(one.calls for one in own), total_cost(own)
    turns = plan.turns_judged / max(len(plan.questions), 1)
    rows = []
    for share in SHARES:
        number = at(share).calls
        row: dict[str, Any] = {"share": share, "calls": number}
        for name, cost in zip(("cost_low", "cost_high"), costs, strict=True):
            row[name] = cost and number * cost / calls_estimated
        points = expected_detectable(share, len(plan.models), len(plan.questions), turns)
        row |= {"points": points, "win_rate": None if points is None else win_rate(points)}
        rows.append(row)
    columns = [
        Column("share", "% of the pairs", "%"),
        Column("calls", always=True),
        Column("cost_low", "cost from", "$"),
        Column("cost_high", "to", "$"),
        Column("points", "shows points", ".0"),
        Column("win_rate", "win rate", ".2"),
    ]
    title = "Shares of the pairs (--share), and the difference of two models that each would show"
    return [Table(title, columns, rows, name="shares")]


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

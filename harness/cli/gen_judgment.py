"""The command `gen_judgment`."""

import functools
import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from harness import bench, options, store
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.judging.plan import JudgePlan, JudgeTask, plan_judgments
from harness.judging.run import estimate_judgments, stages
from harness.reporting import Column, Page, Table
from harness.running import Progress
from harness.running.estimate import CallEstimate, total_cost
from harness.types import Judgment
from harness.words import counted

PlanAt: TypeAlias = Callable[..., JudgePlan]
"""`plan_judgments` of the benchmark."""


class JudgmentReport(calls.CallReport, kw_only=True):
    """What `gen_judgment` did."""

    plan: JudgePlan

    @property
    def paths(self) -> list[pathlib.Path]:
        """The judgment files, one for each judge and sample."""
        return [task.path for task in self.plan.tasks]

    def unread(self) -> Counter[str]:
        """Count this run's judgments that give no verdict, by reason."""
        reasons = Counter[str]()
        for task in self.plan.tasks:
            keys = {match.key for match in task.todo}
            for key, row in store.latest(task.path, Judgment).items() if keys else ():
                if key in keys and row.failed:
                    game = row.games.index(None) if row.model is None and None in row.games else 0
                    details = row.details[game : game + 1]
                    reasons[(details[0].verdict_reason if details else None) or ""] += 1
        return reasons


def gen_judgment(
    judge_model: str | Sequence[str] = (),
    mode: str | None = None,
    bench_name: str | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    **words: Any,
) -> JudgmentReport:
    """Let each judge judge every answer that it has not judged yet; return what was done.

    `words` are the options of the command, such as `judge_set="prometheus"` or `first_n=8`.

    Raises:
        TurnbenchError: see `plan_judgments` and `running.run`.
    """
    words |= {"judge_model": judge_model, "mode": mode, "bench_name": bench_name}
    return run(record_from(options.GenJudgment, **words), Console(progress))


def run(record: options.GenJudgment, console: Console) -> JudgmentReport:
    """Let judges grade or compare answers."""
    loaded = bench.load_named(record.bench)
    key_needed = not record.limits.dry_run
    plan_at = functools.partial(
        plan_judgments, loaded, configs=calls.configs(), key_needed=key_needed
    )
    whole = plan_at(record)
    tell(whole, console)
    if record.limits.dry_run:
        page = _dry_run(whole, record, plan_at)
        console.show(page)
        return JudgmentReport(plan=whole, outcome=calls.nothing_done(whole), page=page)
    reports: list[JudgmentReport] = []
    for plan, limits in stages(whole, record, plan_at, reports):
        if record.until is not None:
            of = f"{counted(len(plan.questions), 'question')}, {plan.total:,} to judge"
            console.tell(f"look {len(reports) + 1}: {', '.join(plan.models)} on {of}")
        outcome = calls.carry_out(
            plan,
            limits if not reports else replace(limits, yes=True),
            functools.partial(estimate_judgments, whole, batch=limits.batch),
            console,
            unit="judgments",
            questions=len(whole.questions),
            redo=record.judging.redo is not None,
        )
        reports.append(JudgmentReport(plan=plan, outcome=outcome))
        tell_unread(reports[-1], console)
    report = reports[-1]
    if record.until is not None and report.complete:
        of = f"{len(report.plan.questions)} of {counted(len(whole.questions), 'question')}"
        console.tell(f"decided, or all is judged, after {of}")
    console.write("\n".join(map(str, report.paths)))
    return report


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
    plan: JudgePlan, record: options.GenJudgment, plan_at: PlanAt, estimates: Sequence[CallEstimate]
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


def tell(plan: JudgePlan, console: Console) -> None:
    """Say what is judged, what each judge has done and what is left."""
    for notice in plan.notices:
        console.tell(notice)
    judge_set = plan.judge_set
    against = f" against {judge_set.baseline}" if plan.mode == "pairwise-baseline" else ""
    by = f"judge set {judge_set.name} {judge_set.version}"
    size = f"{counted(len(plan.questions), 'question')}, {counted(len(plan.models), 'model')}"
    console.tell(f"{plan.bench.name}, {plan.mode}{against}, {by}: {size}")
    if plan.kind == "pair1":
        order = judge_set.order.replace("_", " ")
        console.tell(f"each pair is shown in one order only ({order})")
    for task in plan.tasks:
        todo = _todo(plan, task) if task.todo else ""
        state = calls.state_of("judge", task.split, todo)
        console.tell(f"{task.name}{f', sample {task.sample}' if task.sample else ''}: {state}")


def _todo(plan: JudgePlan, task: JudgeTask) -> str:
    if plan.mode == "single":
        judgments = counted(len(task.todo), "judgment")
        return f"{judgments} to make, {counted(task.calls, 'call')}"
    orders = " in both orders" if plan.kind == "pair" else ""
    if equal := task.calls_of.count(0):
        orders += f" ({equal:,} of equal answers, a tie without a call)"
    return f"{counted(len(task.todo), 'pair')} to compare{orders}, {counted(task.calls, 'call')}"


def tell_unread(report: JudgmentReport, console: Console) -> None:
    """Warn of the judgments of this run that give no verdict, with the most frequent reason."""
    reasons = report.unread()
    if reasons:
        console.warn(
            f"{reasons.total()} of {report.plan.total} judgments give no verdict (most often: "
            f"{reasons.most_common(1)[0][0]}); they are kept and left out of means, "
            "gen_judgment --redo failed asks again"
        )

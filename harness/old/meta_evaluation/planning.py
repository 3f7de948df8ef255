"""A planned run of judgments -> the smallest difference between two models that it would detect, and its cost.

The variances are those of existing judgments, by the same judge with the same judge set (`repeat`); without any,
typical ones (`results.planning`). Alternatives are another sample, more questions and twice the questions.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.old.errors import TurnbenchError
from harness.old.judging.planned import JudgmentPlan
from harness.old.judgments.observations import Observations
from harness.old.meta_evaluation.repeat import records_of, repeat_report, spread_of
from harness.old.meta_evaluation.report import of_turn
from harness.old.results.finding import ask
from harness.old.results.matrix import matrix
from harness.old.results.planning import PAIRS, Spread, alternatives, assumed, design_rows
from harness.old.results.query import Query
from harness.old.results.statistics.paired import least_of, paired
from harness.old.running.estimate import Estimate

_FEWEST = 10
"""With fewer questions judged than this, usual variances are used."""


def planned_rows(plan: JudgmentPlan, costs: Sequence[Estimate] = ()) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each design, the planned one first, and notes; nothing of labels, or of fewer than two models.

    `costs` are the estimates of the judgments that are left; each design's cost is that of all its calls.
    """
    models, questions = len(plan.models), len(plan.questions)
    match = next(iter(plan.every_match(0)), None) if plan.mode == "single" else None
    # There is none of labels, or where there are several.
    scale = None if match is None else plan.materials.form(match).scale
    if models < 2 or not questions or (plan.mode == "single" and scale is None):
        return [], []
    samples, judges = len({own.sample for own in plan.judges}), len({own.judge for own in plan.judges})
    spread = _measured(plan) or (PAIRS if plan.mode != "single" else assumed(scale[1] - scale[0] if scale else 1.0))
    family = models * (models - 1) // 2
    calls = sum(1 for _ in plan.every_match(0)) / questions * judges
    known = [(own.cost.high, own.calls) for own in costs if own.cost is not None]
    priced = sum(number for _, number in known) if len(known) == len(costs) else 0
    price = sum(cost for cost, _ in known) / priced if priced else None
    rows = design_rows(spread, alternatives(spread, questions, samples), judges=judges, family=family)
    for row in rows:
        row["calls"] = round(calls * row["questions"] * row["samples"])
        row["cost"] = None if price is None else price * row["calls"]
        row["smallest_difference"] = row["smallest_difference"] if row["questions"] >= least_of(family) else None
    few = any(row["smallest_difference"] is None for row in rows)
    what = "grades" if plan.mode == "single" else "win rates"
    notes = [
        f"smallest difference: between two models' {what}, detected with 80% power at the level of a table of {family} "
        f"{'pair' if family == 1 else 'pairs'} of models; variances: {spread.told_by}",
        *([f"fewer than {least_of(family)} questions show no difference, however large"] if few else []),
        "calls and cost are for all judgments of a design, including those already made",
    ]
    return rows, notes


def _measured(plan: JudgmentPlan) -> Spread | None:
    """Return the variances of the judgments that are there, as far as they tell."""
    bench, judge = plan.bench, plan.judges[0].judge
    query = Query.of(
        plan.mode, judge_model=judge, judge_set=plan.judge_set.name, bench_name=bench.name, data_dir=bench.folder.parent
    )
    try:
        found = Observations.joined([one.observations for one in ask(query._replace(every_sample=True))])
    except TurnbenchError:
        return None
    if len(found.questions()) < _FEWEST or found.cases[0].source.form not in {"grade", "pair"}:
        return None
    turns = sorted({case.turn for case in found.cases})
    of_turns = [found.keep(partial(of_turn, turn)) for turn in turns]
    spreads = [spread_of(repeat_report(records_of(own), resamplings=2), paired=found.paired) for own in of_turns]
    known = [own for own in spreads if own is not None]
    if known and len(known) == len(turns):  # the turns of a question are alike; what repeats change is not
        between, noise = (sum(getattr(own, name) for own in known) / len(known) for name in ("between", "noise"))
        return Spread(between, noise / len(turns), f"{len(found)} existing judgments, some repeated")
    sds = [] if found.paired else [pair.sd for pair in paired(matrix(found), resamplings=0).pairs if pair.sd]
    if not sds:
        return None
    told = f"{len(found)} existing judgments; the gain of a second sample is unknown until some are repeated"
    return Spread(sorted(sds)[len(sds) // 2] ** 2, 0.0, told)

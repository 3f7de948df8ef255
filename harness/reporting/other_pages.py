"""The pages of flags that show something in place of results.

--against            another run of the same questions: is this one worse?
--style              strengths at equal length, headers, lists, bold
--first-turn-effect  what second turns lose because of the first
--cost, --efficiency dollars and tokens; quality beside them
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.bench import Bench
from harness.reporting.outcome import Measure
from harness.reporting.page import Column, Note, Page, Row, Table, counted, dollars, listed, rounded
from harness.reporting.section import measure_of, put, scale_of
from harness.results import Estimate, Panel, Scores, rank
from harness.results.first_turn import Effect, first_turn_effect
from harness.results.gate import Gated, GateResult
from harness.results.spent import Cost, Efficiency, Spent, efficiency, spent
from harness.results.strengths import styled


def against_page(
    gated: GateResult,
    panel: Panel,
    bench: str,
    rows: Sequence[Row],
    margin: float | None,
    *,
    gating: bool,
) -> Page:
    """Return the page of a run compared with another one; `rows` are the run's results."""
    measure, form = measure_of(panel, panel.combined)
    if panel.form == "pair":
        measure = Measure("pairs")
    lines = [_run_in_words(model, measure, margin) for model in gated.models[:3]]
    if len(gated.models) > 3:
        worse = [model.model for model in gated.models if model.worse]
        said = f"Worse: {listed(worse)}." if worse else "None of them is worse."
        lines = [f"{counted(len(gated.models), 'model')} compared with the other run. {said}"]
    if gating:
        lines += [f"Does not pass: {fault}." for fault in gated.faults] or ["The run passes."]
    renamed = any(model.model != model.old for model in gated.models)
    compared = []
    for model in gated.models:
        row: dict[str, Any] = {"model_1": model.model, "model_2": model.old}
        put(row, "difference", model.difference)
        compared.append(
            row
            | {
                "p": model.difference.p,
                "p_holm": model.p,
                "questions": model.difference.n,
                "missing": model.missing,
                "smallest_detectable": model.difference.detectable,
                "verdict": _verdict(model),
            }
        )
    other = [Column("model_2", "other run", always=True)] if renamed else []
    columns = [
        Column("model_1", "this run" if renamed else "model"),
        *other,
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True, draw="whisker"),
        Column("verdict", always=True),
        Column("questions", always=True),
        Column("missing", format="%", help="of what the other run has, in percent"),
    ]
    title = f"{bench}, this run less the other, question by question"
    notes = [Note(note) for note in gated.notes[:2]]
    tables = [Table(title, columns, compared, name="against")]
    return Page("\n".join(lines), tables, notes=notes, title=f"{bench}: two runs", rows=rows)


def _verdict(model: Gated) -> str:
    if model.p is None:
        return "too few questions"
    if model.worse:
        return "worse"
    better = model.p < 0.05 and model.difference.value > 0
    return "better" if better else "no difference seen"


def _run_in_words(model: Gated, measure: Measure, margin: float | None) -> str:
    """Return a sentence about one model of the run."""
    name = model.model if model.model == model.old else f"{model.model} (before: {model.old})"
    difference = model.difference
    gap = measure.gap(difference.value) + measure.ends(difference)
    on = f"on {counted(difference.n, 'question')}"
    if abs(difference.value) < 1e-12 and difference.se == 0:
        return f"{name} has the same verdicts as in the other run {on}."
    verdict = _verdict(model)
    if verdict in ("better", "worse"):
        return f"{name} is {verdict} than in the other run {on}: difference {gap}."
    size = difference.detectable
    unseen = "" if size is None else f"; a drop under {measure.gap(size)} would not have been seen"
    if margin is not None and not model.fault:
        unseen = f"; not worse by more than {measure.gap(margin)}"
    return f"{name} is not seen to differ from the other run {on}: difference {gap}{unseen}."


def style_page(scores: Scores, bench: Bench, features: Sequence[str]) -> Page:
    """Return strengths at equal style, and what each feature is worth."""
    fit = styled(scores, bench, features)
    rows = []
    for model, rating in fit.ratings.items():
        row: dict[str, Any] = {"model": model}
        for key, estimate in (
            ("rating", rating),
            ("as_is", fit.as_is[model]),
            ("shift", fit.shift(model)),
        ):
            put(row, key, estimate)
        rows.append(row)
    effects = []
    for name, coefficient in fit.coefficients.items():
        effect: dict[str, Any] = {"feature": name}
        put(effect, "coefficient", coefficient)
        effects.append(effect)
    moved = max(rows, key=lambda row: abs(row["shift"]))
    change = f"{moved['model']} moves most: {rounded(moved['shift'], 0)} points"
    first = rows[0]["model"]
    outcome = (
        f"At equal {listed(features)} {first} is the strongest of {len(rows)} models on "
        f"{counted(fit.pairs, 'pair')}; {change}."
    )
    columns = [
        Column("model"),
        Column("rating", "at equal style", ".0", always=True),
        Column("rating", "95% interval", "interval.0", always=True, draw="whisker"),
        Column("as_is", "as it is", ".0", always=True),
        Column("shift", "moved", ".0", always=True),
    ]
    effect_columns = [
        Column("feature", "log odds to win by", always=True),
        Column("coefficient", "effect", ".2", always=True),
        Column("coefficient", "95% interval", "interval.2", always=True, draw="whisker"),
    ]
    title = f"{bench.name}, Bradley-Terry strengths; 400 points are odds of 10 to 1"
    tables = [
        Table(title, columns, rows),
        Table("", effect_columns, effects, name="features"),
    ]
    left_out = f"Left out: {counted(fit.left_out, 'pair')} without both answers."
    notes = [Note(left_out)] if fit.left_out else []
    return Page(outcome, tables, notes=notes, title=f"{bench.name}: style", facts=_facts(bench))


def first_turn_page(panel: Panel, bench: Bench) -> Page:
    """Return what second turns lose because of the model's own first turn."""
    scores = panel.combined.of(metric=panel.metrics[0])
    effects = first_turn_effect(scores)
    measure, form = measure_of(panel, scores)
    rows = []
    for effect in effects:
        row: dict[str, Any] = {"model": effect.model, "history": effect.history}
        row["first_turn"] = None if effect.first == "all" else effect.first
        put(row, "own_history", effect.own)
        put(row, "given_history", effect.given)
        put(row, "difference", effect.difference.difference)
        rows.append(row | {"p_holm": effect.difference.p, "questions": effect.difference.questions})
    whole = [effect for effect in effects if effect.first == "all"]
    lines = [_effect_in_words(effect, measure) for effect in whole[:3]]
    columns = [
        Column("model"),
        Column("first_turn", "own first turn", always=True),
        Column("own_history", "after own", form, always=True),
        Column("given_history", "after given", form, always=True),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True, draw="whisker"),
        Column("questions", always=True, optional=True),
    ]
    scale = scale_of(panel, scores)
    ends = "" if scale is None else f" from {scale[0]:g} to {scale[1]:g}"
    title = f"{bench.name}, turn 2 graded{ends} by {listed(panel.judges)}"
    note = Note("A first turn is good from the median grade of all first turns on.")
    facts = {**_facts(bench), "judge": ", ".join(panel.judges)}
    return Page(
        "\n".join(lines), [Table(title, columns, rows)], notes=[note], title=title, facts=facts
    )


def _effect_in_words(effect: Effect, measure: Measure) -> str:
    difference = effect.difference.difference
    gap = f"{measure.gap(abs(difference.value))}"
    on = f"on {counted(effect.difference.questions, 'question')}"
    ends = measure.ends(difference)
    if effect.difference.better is None:
        size = difference.detectable
        unseen = "" if size is None else f"; under {measure.gap(size)} would not have been seen"
        return f"{effect.model}'s second turns are not seen to depend on its first {on}{unseen}."
    less = "lose" if difference.value > 0 else "gain"
    return f"{effect.model}'s second turns {less} {gap}{ends} by its own first turns {on}."


def cost_page(bench: Bench, cost: Cost, models: Sequence[str], judges: Sequence[str]) -> Page:
    """Return what answers and judgments cost, by model."""
    spendings = spent(bench, cost, models=models or None, judges=judges or None)
    rows = [_spent_row(spending) for spending in spendings]
    priced = [
        spending.dollars
        for spending in spendings
        if spending.dollars is not None and spending.calls > spending.unstated
    ]
    total = sum(priced)
    unknown = [spending.model for spending in spendings if spending.dollars is None]
    outcome = f"The answers and judgments of {bench.name} cost {dollars(total)}"
    outcome += f", without {listed(unknown)}, whose price is unknown." if unknown else "."
    if not priced:
        outcome = f"What the answers and judgments of {bench.name} cost is unknown."
    columns = [
        Column("what", always=True),
        Column("model", always=True),
        Column("calls", always=True),
        Column("prompt_tokens", always=True),
        Column("reply_tokens", always=True),
        Column("cost", format="$", always=True),
        *(
            [Column("unstated", "without tokens", always=True)]
            if any(o.unstated for o in spendings)
            else []
        ),
    ]
    note = Note("Calls that failed, and rows that newer ones replaced, are not counted.")
    facts: dict[str, Any] = {"total": total if priced else None}
    return Page(outcome, [Table("", columns, rows)], notes=[note], facts=facts)


def _spent_row(spending: Spent) -> dict[str, Any]:
    row = asdict(spending)
    dollars = row.pop("dollars")
    return row | {"cost": None if spending.calls == spending.unstated else dollars}


def efficiency_page(panel: Panel, bench: Bench, cost: Cost, models: Sequence[str]) -> Page:
    """Return quality beside cost, tokens, seconds and length."""
    scores = panel.combined.of(metric=panel.metrics[0])
    form = measure_of(panel, scores)[1]
    ranking = rank(scores, models=models or None)
    means: dict[str, Estimate] = {model["model"]: model.mean for model in ranking.models}
    rated = efficiency(bench, means, cost)
    rows = [_efficiency_row(model) for model in rated]
    best = [model.model for model in rated if model.frontier]
    outcome = (
        f"{listed(best)} {'is' if len(best) == 1 else 'are'} on the frontier of {len(rated)} "
        "models: no other is at least as good for at most the same money."
        if best
        else "Prices are unknown, so no frontier is said."
    )
    columns = [
        Column("model"),
        Column("score", format=form, always=True),
        Column("score", "95% interval", f"interval{form}", hidden_in_text=True, draw="whisker"),
        Column("cost", "$ / 1,000", "$", help="for a thousand turns", always=True),
        Column("frontier", always=True),
        Column("seconds", format=".1", help="the median call", always=True),
        Column("reply_tokens", "tokens", ".0", help="of a reply, with reasoning", always=True),
        Column("characters", format=".0", always=True, optional=True),
        Column("reasoning_share", "reasoning", "%", optional=True),
        Column("cut", format="%", always=True, optional=True),
        Column("refused", format="%", optional=True),
    ]
    title = f"{bench.name}, quality by {listed(panel.judges)}, shares in percent"
    facts = {**_facts(bench), "judge": ", ".join(panel.judges)}
    return Page(outcome, [Table(title, columns, rows)], title=title, facts=facts)


def _efficiency_row(model: Efficiency) -> dict[str, Any]:
    row = {name: getattr(model, name) for name in Efficiency.__dataclass_fields__}
    put(row, "score", model.score)
    return row | {"cost": row.pop("dollars")}


def _facts(bench: Bench) -> dict[str, Any]:
    return {"bench": bench.name}

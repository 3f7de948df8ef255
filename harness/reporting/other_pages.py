"""The pages of flags that show something in place of results.

--against            another run of the same questions: is this one worse?
--style              strengths at equal length, headers, lists, bold
--first-turn-effect  what second turns lose because of the first
--cost, --efficiency dollars and tokens; quality beside them
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.bench import Bench
from harness.reporting.outcome import UNSEEN, Measure
from harness.reporting.page import Column, Note, Page, Row, Table, counted, dollars, listed, rounded
from harness.reporting.section import interval_columns, measure_of, put
from harness.results import Panel, Scores, rank
from harness.results.first_turn import Effect, first_turn_effect
from harness.results.gate import Gated, GateResult
from harness.results.spent import Cost, efficiency, spent
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
    measure = measure_of(panel)
    lines = [_run_in_words(model, measure, margin) for model in gated.models[:3]]
    if len(gated.models) > 3:
        worse = [model.model for model in gated.models if model.worse]
        said = f"Worse: {listed(worse)}." if worse else "None of them is worse."
        lines = [f"{counted(len(gated.models), 'model')} compared with the other run. {said}"]
    if gating:
        lines += [f"Does not pass: {fault}." for fault in gated.faults] or ["The run passes."]
    compared = []
    for model in gated.models:
        row: dict[str, Any] = {"model_1": model.model, "model_2": model.old}
        put(row, "difference", model.difference)
        row |= {"p": model.difference.p, "p_holm": model.p, "questions": model.difference.n}
        row |= {"missing": model.missing, "smallest_detectable": model.difference.detectable}
        compared.append({**row, "verdict": _verdict(model)})
    renamed = any(model.model != model.old for model in gated.models)
    columns = [
        Column("model_1", "this run" if renamed else "model"),
        *([Column("model_2", "other run", always=True)] if renamed else []),
        *interval_columns("difference", "", measure.form),
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
    unseen = "" if size is None else f"; a drop under {measure.gap(size)} {UNSEEN}"
    if margin is not None and not model.fault:
        unseen = f"; not worse by more than {measure.gap(margin)}"
    return f"{name} is not seen to differ from the other run {on}: difference {gap}{unseen}."


def style_page(scores: Scores, bench: Bench, features: Sequence[str]) -> Page:
    """Return strengths at equal style, and what each feature is worth."""
    fit = styled(scores, bench, features)
    rows = []
    for model, rating in fit.ratings.items():
        row: dict[str, Any] = {"model": model}
        put(row, "rating", rating)
        put(row, "as_is", fit.as_is[model])
        put(row, "shift", fit.shift(model))
        rows.append(row)
    effects: list[dict[str, Any]] = [{"feature": name} for name in fit.coefficients]
    for effect in effects:
        put(effect, "coefficient", fit.coefficients[effect["feature"]])
    moved = max(rows, key=lambda row: abs(row["shift"]))
    change = f"{moved['model']} moves most: {rounded(moved['shift'], 0)} points"
    first = rows[0]["model"]
    outcome = (
        f"At equal {listed(features)} {first} is the strongest of {len(rows)} models on "
        f"{counted(fit.pairs, 'pair')}; {change}."
    )
    columns = [
        Column("model"),
        *interval_columns("rating", "at equal style", ".0"),
        Column("as_is", "as it is", ".0", always=True),
        Column("shift", "moved", ".0", always=True),
    ]
    effect_columns = [
        Column("feature", "log odds to win by", always=True),
        *interval_columns("coefficient", "effect", ".2"),
    ]
    title = f"{bench.name}, Bradley-Terry strengths; 400 points are odds of 10 to 1"
    tables = [Table(title, columns, rows), Table("", effect_columns, effects, name="features")]
    left_out = f"Left out: {counted(fit.left_out, 'pair')} without both answers."
    notes = [Note(left_out)] if fit.left_out else []
    return Page(outcome, tables, notes=notes, title=title, facts={"bench": bench.name})


def first_turn_page(panel: Panel, bench: Bench) -> Page:
    """Return what second turns lose because of the model's own first turn."""
    scores = panel.combined.of(metric=panel.metrics[0])
    effects, measure = first_turn_effect(scores), measure_of(panel)
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
        Column("own_history", "after own", measure.form, always=True),
        Column("given_history", "after given", measure.form, always=True),
        *interval_columns("difference", "", measure.form),
        Column("questions", always=True, optional=True),
    ]
    table = Table(f"{bench.name}, turn 2 graded by {listed(panel.judges)}", columns, rows)
    note = Note("A first turn is good from the median grade of all first turns on.")
    facts = {"bench": bench.name, "judge": ", ".join(panel.judges)}
    return Page("\n".join(lines), [table], notes=[note], title=table.title, facts=facts)


def _effect_in_words(effect: Effect, measure: Measure) -> str:
    difference = effect.difference.difference
    on = f"on {counted(effect.difference.questions, 'question')}"
    if effect.difference.better is None:
        size = difference.detectable
        unseen = "" if size is None else f"; under {measure.gap(size)} {UNSEEN}"
        return f"{effect.model}'s second turns are not seen to depend on its first {on}{unseen}."
    less = "lose" if difference.value > 0 else "gain"
    gap = f"{measure.gap(abs(difference.value))}{measure.ends(difference)}"
    return f"{effect.model}'s second turns {less} {gap} by its own first turns {on}."


def cost_page(bench: Bench, cost: Cost, models: Sequence[str], judges: Sequence[str]) -> Page:
    """Return what answers and judgments cost, by model."""
    spendings = spent(bench, cost, models=models or None, judges=judges or None)
    rows = [asdict(spending) for spending in spendings]
    for row in rows:
        row["cost"] = None if row["calls"] == row["unstated"] else row["dollars"]
        del row["dollars"]
    priced = [row["cost"] for row in rows if row["cost"] is not None]
    unknown = [spending.model for spending in spendings if spending.dollars is None]
    total = dollars(sum(priced)) if priced else "an unknown sum"
    outcome = f"The answers and judgments of {bench.name} cost {total}"
    outcome += f", without {listed(unknown)}, whose price is unknown." if unknown else "."
    names = ("what", "model", "calls", "prompt_tokens", "reply_tokens")
    columns = [*(Column(name, always=True) for name in names), Column("cost", "", "$", always=True)]
    if any(row["unstated"] for row in rows):
        columns.append(Column("unstated", "without tokens", always=True))
    note = Note("Calls that failed, and rows that newer ones replaced, are not counted.")
    facts = {"total": sum(priced) if priced else None}
    return Page(outcome, [Table("", columns, rows)], notes=[note], facts=facts)


def efficiency_page(panel: Panel, bench: Bench, cost: Cost, models: Sequence[str]) -> Page:
    """Return quality beside cost, tokens, seconds and length."""
    scores = panel.combined.of(metric=panel.metrics[0])
    form = measure_of(panel).form
    ranking = rank(scores, models=models or None)
    rated = efficiency(bench, {own["model"]: own.mean for own in ranking.models}, cost)
    rows: list[dict[str, Any]] = []
    for model in rated:
        row = dict(vars(model))
        put(row, "score", model.score)
        row["cost"] = row.pop("dollars")
        rows.append(row)
    best = [model.model for model in rated if model.frontier]
    outcome = (
        f"{listed(best)} {'is' if len(best) == 1 else 'are'} on the frontier of {len(rated)} "
        "models: no other is at least as good for at most the same money."
        if best
        else "Prices are unknown, so no frontier is said."
    )
    score, interval = interval_columns("score", "", form)
    columns = [
        Column("model"),
        score,
        replace(interval, hidden_in_text=True),
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
    facts = {"bench": bench.name, "judge": ", ".join(panel.judges)}
    return Page(outcome, [Table(title, columns, rows)], title=title, facts=facts)

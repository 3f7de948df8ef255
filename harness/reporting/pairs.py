"""Pairs and votes: win rates, flips, each model against each other."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting import charts
from harness.reporting.columns import (
    Section,
    View,
    base_rows,
    caveats_of,
    charts_of,
    comparison_tables,
    group_table,
    interval_tables,
    put,
    put_groups,
    put_judges,
    put_turns,
    questions_of,
    rank_column,
    rows_by_judge,
    shaded_columns,
    sorted_rows,
    title,
    turn_columns,
)
from harness.reporting.outcome import Evidence, Measure, flips
from harness.reporting.page import Chart, Column, Table
from harness.results import (
    Panel,
    Ranking,
    Scores,
    rank,
    ratio,
    summarize,
)
from harness.results.scores import FLIPPED, ONCE
from harness.results.strengths import strengths


def pairs(panel: Panel, view: View) -> Section:
    """Return the section of pairs or votes."""
    scores = panel.combined.of(metric=panel.metrics[0])
    ranking = rank(scores, models=view.models or None, baseline=view.baseline)
    rows = base_rows(ranking)
    key = "win_rate" if panel.method == "logprobs" else "win_rate_adjusted"
    for own in ranking.models:
        row = rows[own["model"]]
        total = own.win + own.tie + own.loss
        row |= {"win": own.win, "loss": own.loss, "tie": own.tie}
        if key != "win_rate":
            shares = [count / total if total else None for count in (own.win, own.loss, own.tie)]
            row |= dict(zip(("win_rate", "loss_rate", "tie_rate"), shares, strict=True))
        else:
            row["discrete_win_rate"] = (own.win + own.tie / 2) / total if total else None
            row["standard_error"] = own.mean.se
        put(row, key, own.mean)
        row |= {"flipped": own.flipped, "one_sided": own.one_sided}
    turns = put_turns(rows, scores)
    for own in ranking.models:
        rows[own["model"]] |= {"n": own.n, "questions": own.questions, "failed": own.failed}
    judges = put_judges(rows, panel, panel.metrics[0], key, view)
    groups = put_groups(rows, scores, view.group)
    listed_rows = sorted_rows(list(rows.values()), view)
    both = bool((scores.flip != ONCE).any())
    head = [*rank_column(ranking), Column("model"), Column(key, "win rate", ".2", always=True)]
    head += [Column(key, "95% interval", "interval.2", always=True, draw="whisker")]
    head += [Column(f"judge_{name}", name, ".2", always=True) for name in judges]
    counts = [Column(name, always=True, optional=True) for name in ("win", "tie", "loss")]
    counts += [Column("flipped", always=True, optional=True)] if both else []
    if any(row["failed"] for row in listed_rows):
        counts.append(Column("failed", hidden_in_text=True))
    bar = Column("", "win/tie/loss", draw="record", hidden_in_text=True)
    board = shaded_columns(groups, view.group, ".2")
    by_turn = turn_columns(turns, ".2")
    if judges:
        by_turn = [replace(column, optional=True) for column in by_turn]
    columns = [*head, *by_turn, *counts, *board, bar]
    two = len(ranking.names) == 2 and view.baseline is None
    own_title = title(panel, view, scores)
    tables = [Table(own_title, columns, listed_rows, only="html" if two else "")]
    if two:
        tables.append(_two_models(scores, ranking, own_title, both=both))
    one_side = listed_rows[:1] if two else listed_rows
    tables += group_table("win rate", one_side, groups, view, ".2")
    measure = Measure("pairs")
    evidence = Evidence(measure, ranking, questions_of(scores), view.noun, len(panel.judges))
    made = Section(
        panel, [evidence], rows_by_judge(listed_rows, panel, panel.metrics[0], view), tables
    )
    made.said = _flips(scores)
    made.caveats = caveats_of(panel, scores)
    if not both and panel.form == "pair" and len(panel.judges) == 1:
        made.caveats.append("Each pair was judged in one order, so flips cannot be seen.")
    intervals = interval_tables(listed_rows, turns, groups, view, ".2")
    made.more = [*intervals, *comparison_tables(ranking, ".2"), *_strengths(scores)]
    made.charts = charts_of(listed_rows, key, groups, view, measure, None, ranking)
    made.charts += _matrix(scores, ranking)
    return made


def _two_models(scores: Scores, ranking: Ranking, own_title: str, *, both: bool) -> Table:
    """Return one row a turn from the side of the better model; the other's is its complement."""
    model = ranking.names[0]
    rows = []
    for own in summarize(scores, by=("model", "turn")):
        if own["model"] == model:
            rows.append(_side(f"{model} in turn {own['turn']}", own))
    if len(rows) > 1:
        whole = next(own for own in summarize(scores) if own["model"] == model)
        rows.append(_side(f"{model} in {'both' if len(rows) == 2 else 'all'}", whole))
    columns = [
        Column("label", "pairs in both orders" if both else "pairs", always=True),
        Column("win", always=True),
        Column("tie_flipped" if both else "tie", "tie (flipped)" if both else "tie", always=True),
        Column("loss", always=True),
        Column("rate", "win rate", ".2", always=True),
        Column("rate", "95% interval", "interval.2", always=True),
    ]
    return Table(own_title, columns, rows, only="text")


def _side(label: str, own: Any) -> dict[str, Any]:
    row = {"label": label, "win": own.win, "tie": own.tie, "loss": own.loss}
    put(row, "rate", own.mean)
    return row | {"tie_flipped": f"{own.tie} ({own.flipped})"}


def _flips(scores: Scores) -> str:
    """Return the sentence about flips, if there are many."""
    judged = scores.take(scores.valid & (scores.flip != ONCE))
    flipped = judged.flip == FLIPPED
    decided = flipped | (judged.value != 0.5)
    size = len(judged.questions)
    share = ratio(
        np.bincount(judged.question[flipped], minlength=size).astype(np.float64),
        np.bincount(judged.question[decided], minlength=size).astype(np.float64),
        share=True,
    )
    return flips(int(flipped.sum()), len(judged), share)


def _matrix(scores: Scores, ranking: Ranking) -> list[Chart]:
    """Return the heat map of each model against each other."""
    if len(ranking.names) < 3:
        return []
    values = {
        (own["model"], own["opponent"]): own.mean.value
        for own in summarize(scores, by=("model", "opponent"))
        if own.n and own["opponent"] in ranking.names and own["model"] in ranking.names
    }
    if not values:
        return []
    label = "win rate of the row's model against the column's, in percent"
    draw = functools.partial(
        charts.heat_map,
        ranking.names,
        ranking.names,
        values,
        label,
        middle=0.5,
        percent=True,
        places=0,
    )
    return [Chart("Every two models", draw, "matrix")]


def _strengths(scores: Scores) -> list[Table]:
    """Return the models' strengths, for reading; who is better is not said by them."""
    rows = []
    for model, rating in strengths(scores).items():
        row: dict[str, Any] = {"model": model}
        put(row, "strength", rating)
        rows.append(row)
    rows.sort(key=lambda row: -(row["strength"] or -np.inf))
    title = "Bradley-Terry strengths, ties as half a win; 400 points are odds of 10 to 1"
    columns = [
        Column("model"),
        Column("strength", format=".0", always=True),
        Column("strength", "95% interval", "interval.0", always=True, draw="whisker"),
    ]
    return [Table(title, columns, rows, name="strengths")] if len(rows) > 2 else []

"""Pairs and votes: win rates, flips, each model against each other."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting import charts
from harness.reporting.outcome import Measure, flips
from harness.reporting.page import Chart, Column, Table, rounded
from harness.reporting.ranked import MOST_IN_MATRIX, Ranked
from harness.reporting.section import Section, View, put
from harness.results import Panel, Ranking, Scores, Summary, ratio, summarize
from harness.results.scores import FLIPPED, ONCE
from harness.results.strengths import strengths, win_rate


def pairs(panel: Panel, view: View) -> Section:
    """Return the section of pairs or votes."""
    weighed = panel.method.startswith("logprobs")  # preferences, in percent as alpaca_eval shows
    tie = "n_draws" if weighed else "tie"

    def fill(row: dict[str, Any], summary: Summary) -> None:
        total = (summary.win + summary.tie + summary.loss) or None
        row |= {"win": summary.win, "loss": summary.loss, tie: summary.tie}
        if weighed:
            row["discrete_win_rate"] = total and (summary.win + summary.tie / 2) / total
            row["standard_error"] = summary.mean.se
        else:
            for name, count in (("win", summary.win), ("loss", summary.loss), ("tie", summary.tie)):
                row[f"{name}_rate"] = total and count / total
        row |= {"flipped": summary.flipped, "one_sided": summary.one_sided}
        if (controlled := view.controlled.get(summary["model"])) is not None:
            for name in ("length_controlled_winrate", "lc_standard_error"):
                percent = getattr(controlled, name)
                row[name] = None if percent is None else percent / 100

    column = Ranked(
        panel,
        view,
        panel.metrics[0],
        key="win_rate" if weighed else "win_rate_adjusted",
        heading="win rate",
        measure=Measure("pairs", places=1 if weighed else 2, percent=weighed),
        form="%.1" if weighed else ".2",
        fill=fill,
    )
    scores, ranking = column.scores, column.ranking
    both = bool((scores.flip != ONCE).any())
    two = len(ranking.names) == 2 and view.baseline is None
    names = [("win", ""), (tie, "tie"), ("loss", ""), *([("flipped", "")] if both else [])]
    counts = [Column(name, heading, always=True, optional=True) for name, heading in names]
    columns = [*column.head(), *(_controlled(column.form) if view.controlled else [])]
    columns += [*column.turn_columns(), *counts, *column.tail()]
    columns.append(Column("", "win/tie/loss", draw="record", hidden_in_text=True))
    tables = [Table(column.title(), columns, column.rows, only="html" if two else "")]
    if two:
        tables.append(_two_models(scores, ranking, column.title(), both=both))
    tables += column.group_table("win rate", column.rows[:1] if two else None)
    section = column.section(tables)
    if len(column.rows) == 1:
        rate = column.rows[0].get("length_controlled_winrate")
        section.evidence = [replace(section.evidence[0], equal_length=rate)]
    section.said = _flips(scores)
    if column.drawn is not None:
        section.caveats.insert(0, _drawn(column.drawn, ranking))
    if not both and panel.form == "pair" and len(panel.judges) == 1:
        section.caveats.append("Each pair was judged in one order, so flips cannot be seen.")
    section.more += [] if ranking.strengths else _strengths(scores)
    section.charts += _matrix(scores, ranking)
    return section


def _drawn(share: float, ranking: Ranking) -> str:
    """Return how much of the pairs was judged, and what difference that could have shown."""
    parts = f"{rounded(share, 0 if share > 0.02 else 1, 2)}% of the pairs, drawn at random, are"
    said = f"{parts} judged, and models are ranked and compared by strength (Bradley-Terry)"
    if (size := ranking.detectable) is None:
        return f"{said}; that is too little to tell neighbours apart."
    rate = rounded(win_rate(size), 2)
    seen = f"between neighbours {rounded(size, 0)} rating points, a win rate of {rate},"
    return f"{said}; {seen} would have been seen."


def _controlled(form: str) -> list[Column]:
    """Return the columns of win rates at equal length."""
    about = "as alpaca_eval computes it; leaves out that the fit is estimated"
    return [
        Column("length_controlled_winrate", "LC win rate", form, always=True),
        Column("lc_standard_error", "se", form, help=about, always=True),
    ]


def _two_models(scores: Scores, ranking: Ranking, own_title: str, *, both: bool) -> Table:
    """Return one row a turn from the side of the better model; the other's is its complement."""
    model = ranking.names[0]
    rows = []
    for summary in summarize(scores, by=("model", "turn")):
        if summary["model"] == model:
            rows.append(_side(f"{model} in turn {summary['turn']}", summary))
    if len(rows) > 1:
        whole = next(summary for summary in summarize(scores) if summary["model"] == model)
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


def _side(label: str, summary: Any) -> dict[str, Any]:
    row = {"label": label, "win": summary.win, "tie": summary.tie, "loss": summary.loss}
    put(row, "rate", summary.mean)
    return row | {"tie_flipped": f"{summary.tie} ({summary.flipped})"}


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
        (summary["model"], summary["opponent"]): summary.mean.value
        for summary in summarize(scores, by=("model", "opponent"))
        if summary.n and summary["opponent"] in ranking.names and summary["model"] in ranking.names
    }
    if not values:
        return []
    names = ranking.names[:MOST_IN_MATRIX]
    label = "win rate of the row's model against the column's, in percent"
    draw = functools.partial(
        charts.heat_map,
        names,
        names,
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

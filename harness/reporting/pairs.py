"""Pairs and votes: win rates, flips, strengths."""

import statistics
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting.outcome import flips
from harness.reporting.page import Column, Table, rounded
from harness.reporting.ranked import Ranked, Rows
from harness.reporting.section import Section, View, interval_columns, measure_of, row_of
from harness.results import Panel, Ranking, Scores, Summary, ratio, summarize
from harness.results.scores import FLIPPED, ONCE
from harness.results.strengths import strengths, win_rate


def pairs(panel: Panel, view: View) -> Section:
    """Return the section of pairs or votes."""
    weighed = measure_of(panel).percent
    tie = "n_draws" if weighed else "tie"

    def fill(rows: Rows, scores: Scores) -> None:
        for summary in summarize(scores.of(metric=panel.metrics[0])):
            if (row := rows.get(summary["model"])) is not None:
                _put_counts(row, summary, tie)
                rate = view.controlled.get(summary["model"])
                for name in _CONTROLLED if rate is not None else ():
                    percent = getattr(rate, name)
                    row[name] = None if percent is None else percent / 100

    key = "win_rate" if weighed else "win_rate_adjusted"
    column = Ranked(panel, view, panel.metrics[0], key, "win rate", fill=fill)
    scores, names, form = column.scores, column.names, column.measure.form
    both = bool((scores.flip != ONCE).any())
    two = len(names) == 2 and view.baseline is None
    counts = [("win", ""), (tie, "tie"), ("loss", ""), *([("flipped", "")] if both else [])]
    extra = [Column(name, heading, always=True, optional=True) for name, heading in counts]
    if view.controlled:
        about = "as alpaca_eval computes it; leaves out that the fit is estimated"
        titles = zip(_CONTROLLED, ("LC win rate", "se"), strict=True)
        extra = [*(Column(name, head, form, about, always=True) for name, head in titles), *extra]
    extra.append(Column("", "win/tie/loss", draw="record", hidden_in_text=True))
    section = column.section(
        extra,
        table=_two_models(scores, names[0], both=both) if two else None,
        grouped=column.rows[:1] if two else (),
    )
    if len(column.rows) == 1:
        rate = column.rows[0].get(_CONTROLLED[0])
        section.evidence = [replace(section.evidence[0], equal_length=rate)]
    if column.ranking.strengths:
        section.caveats.insert(0, _drawn(column.ranking))
    section.said = " ".join(filter(None, [section.said, _flips(scores)]))
    if not both and panel.form == "pair" and len(panel.judges) == 1:
        section.caveats.append("Each pair was judged in one order, so flips cannot be seen.")
    if len(names) > 2:
        section.more += [] if column.ranking.strengths else [_strengths(scores)]
    return section


def _drawn(ranking: Ranking) -> str:
    """Return how models of drawn pairs are compared, and what difference that could have shown."""
    said = "Models are ranked and compared by strength (Bradley-Terry)"
    sizes = [n for pair in ranking.neighbours if (n := pair.difference.detectable) is not None]
    if not sizes:
        return f"{said}; that is too little to tell neighbours apart."
    size = statistics.median(sizes)
    rate = rounded(win_rate(size), 2)
    seen = f"between neighbours {rounded(size, 0)} rating points, a win rate of {rate},"
    return f"{said}; {seen} would have been seen."


_CONTROLLED = ("length_controlled_winrate", "lc_standard_error")
"""Fields of rows, and of `Controlled`: win rates at equal length."""


def _put_counts(row: dict[str, Any], summary: Summary, tie: str) -> None:
    counts = {"win": summary.win, tie: summary.tie, "loss": summary.loss}
    row |= {**counts, "flipped": summary.flipped, "one_sided": summary.one_sided}
    total = sum(counts.values()) or None
    if tie == "tie":
        row |= {f"{name}_rate": total and count / total for name, count in counts.items()}
    else:  # alpaca_eval's names
        row["discrete_win_rate"] = total and (summary.win + summary.tie / 2) / total
        row["standard_error"] = summary.mean.se


def _two_models(scores: Scores, model: str, *, both: bool) -> Table:
    """Return one row a turn from the side of one model; the other's is its complement."""
    by_turn = summarize(scores, by=("model", "turn"))
    parts = {f"{model} in turn {own['turn']}": own for own in by_turn if own["model"] == model}
    if len(parts) > 1:
        whole = next(summary for summary in summarize(scores) if summary["model"] == model)
        parts[f"{model} in {'both' if len(parts) == 2 else 'all'}"] = whole
    rows = []
    for label, own in parts.items():
        ties = f"{own.tie} ({own.flipped})" if both else own.tie
        names = {"label": label, "win": own.win, "tie": ties, "loss": own.loss}
        rows.append(row_of(names, rate=own.mean))
    columns = [
        Column("label", "pairs in both orders" if both else "pairs"),
        Column("win", always=True),
        Column("tie", "tie (flipped)" if both else "", always=True),
        Column("loss", always=True),
        *interval_columns("rate", "win rate", ".2"),
    ]
    return Table("", columns, rows)


def _flips(scores: Scores) -> str:
    """Return the sentence about flips, if there are many."""
    judged = scores.take(scores.valid & (scores.flip != ONCE))
    flipped = judged.flip == FLIPPED
    size = len(judged.questions)
    counts = [
        np.bincount(judged.question[which], minlength=size)
        for which in (flipped, flipped | (judged.value != 0.5))
    ]
    return flips(int(flipped.sum()), len(judged), ratio(counts[0], counts[1], share=True))


def _strengths(scores: Scores) -> Table:
    """Return the models' strengths, for reading; who is better is not said by them."""
    rows = [row_of({"model": model}, strength=own) for model, own in strengths(scores).items()]
    rows.sort(key=lambda row: -(row["strength"] or -np.inf))
    title = "Bradley-Terry strengths, ties as half a win; 400 points are odds of 10 to 1"
    columns = [Column("model"), *interval_columns("strength", "", ".0")]
    return Table(title, columns, rows, name="strengths")

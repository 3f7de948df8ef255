"""A section of each kind: grades, labels and short facts, pairs and votes; several side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting.page import METRIC, Cell, Column, Table, interval_columns, row_of
from harness.reporting.ranked import MANY, Ranked, Rows, several
from harness.reporting.section import METHOD, ONE_ORDER, Caveat, Section, View, measure_of
from harness.results import Panel, Scores, summarize
from harness.results.estimate import LEVEL
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.position import flips
from harness.results.scores import ONCE, present
from harness.results.strengths import strengths
from harness.results.summarize import split
from harness.results.weighted import weighted_rates
from harness.words import percent


def sections_of(panels: Sequence[Panel], view: View) -> list[Section]:
    """Return a section for each panel, pairs first and built-in judges last; of metrics one."""
    metrics = [panel for panel in panels if panel.form == "metric"]
    if metrics and len(panels) > 1:  # several, or --metric bleu score
        return [several([*metrics, *(panel for panel in panels if panel not in metrics)], view)]
    sections = [_section_of(panel, view) for panel in panels]
    sections.sort(key=lambda section: section.panel.form != "pair")
    return sorted(sections, key=lambda section: section.panel.judges[0].startswith("builtin/"))


def _section_of(panel: Panel, view: View) -> Section:
    """Return the section of a panel."""
    if panel.form in ("pair", "vote"):
        return pairs(panel, view)
    main, *others = panel.metrics
    if panel.form == "label" and is_facts(panel.combined):
        return short_facts(panel, view)
    if panel.form == "label":
        return Ranked(panel, view, Column(METRIC, main.lower(), of=main), others=others).section()
    if others:
        return several([panel], view)
    if panel.form == "metric":
        return Ranked(panel, view, Column(METRIC, of=main)).section()
    heading = "all" if len(panel.judges) > 1 else "score"
    return Ranked(panel, view, Column("average", heading)).section()


def short_facts(panel: Panel, view: View) -> Section:
    """Return the section of questions of fact: correct, of tried, F1; stated confidence."""
    rates = [
        Column("incorrect", "wrong", "%", always=True),
        Column("not_attempted", "not tried", "%", always=True),
        Column("given_attempted", "of tried", "%", "correct of the answers tried", always=True),
        Column("f1", "F1", ".2", "harmonic mean of correct and of tried", always=True),
    ]
    correct = Column("correct")
    column = Ranked(panel, view, correct, metric=CORRECT, further=_facts, extra=rates)
    confidence = [
        Column("model", "stated confidence"),
        Column("mean_confidence", "mean", "%", always=True),
        Column("right_of_stated", "correct", "%", always=True),
        Column("calibration_error", "error", "%", "expected calibration error", always=True),
    ]
    stated = [row for row in column.rows if "mean_confidence" in row]
    return column.section([Table("", confidence, stated)])


def _facts(scores: Scores, by: Sequence[str]) -> Rows:
    rows: Rows = {}
    parts = {(): scores} if not by else {(value,): part for value, part in split(scores, *by)}
    for key, part in parts.items():
        for model in facts(part):
            rates = {"correct": model.correct, "incorrect": model.wrong}
            rates |= {"not_attempted": model.not_tried, "given_attempted": model.of_tried}
            row = row_of({}, **rates, f1=model.f1)
            if model.confidence.n:
                row["mean_confidence"] = model.confidence.value
                row["right_of_stated"] = model.right.value
                row["calibration_error"] = model.calibration_error
            rows[model.model, *key] = row
    return rows


MANY_FLIPS = 1 / 3
"""The share of flips above which they are said in words."""
_CONTROLLED = ("length_controlled_winrate", "lc_standard_error")
"""Fields of rows, and of `Controlled`: win rates at equal length."""


def pairs(panel: Panel, view: View) -> Section:
    """Return the section of pairs or votes: win rates, wins and losses, flips, strengths."""
    measure = measure_of(panel)
    tie = "n_draws" if measure.percent else "tie"  # alpaca_eval's names
    judged = panel.scores.of(metric=panel.metrics[0])  # every judge's pairs, with their games

    weighted = weighted_rates(judged)

    def further(scores: Scores, by: Sequence[str]) -> Rows:
        rows: Rows = {}
        own = scores.of(metric=panel.metrics[0])
        # What a mean of samples or judges is of has flips, the mean itself has none.
        each = {} if panel.form == "vote" else panel.by_judge
        names = [name for name, alone in each.items() if alone is scores]
        games = own if (own.flip != ONCE).any() else judged.of(judges=names or None)
        flips = {group.key: group for group in summarize(games, ("model", *by))}
        for summary in summarize(own, ("model", *by)):
            counts = {"win": summary.win, tie: summary.tie, "loss": summary.loss}
            group = flips.get(summary.key)  # a judge may have judged nothing of a model
            row: dict[str, Any] = {**counts, "flipped": group.flipped if group else 0}
            row["one_sided"] = group.one_sided if group else 0
            total = sum(counts.values()) or None
            if measure.percent:
                row["discrete_win_rate"] = total and (summary.win + summary.tie / 2) / total
                row["standard_error"] = summary.mean.se
            else:
                row |= {f"{name}_rate": total and count / total for name, count in counts.items()}
            if not by and (rate := view.controlled.get(summary["model"])):
                for name in _CONTROLLED:
                    number = getattr(rate, name)
                    row[name] = None if number is None else number / 100
            if not by and summary["model"] in weighted:
                row["weighted_win_rate"] = Cell.of(weighted[summary["model"]])
            rows[summary.key] = row
        return rows

    key = "win_rate" if measure.percent else "win_rate_adjusted"
    column = Ranked(panel, view, Column(key, "win rate"), further=further)
    both_orders = bool((judged.flip != ONCE).any())
    about = "as alpaca_eval computes it; leaves out that the fit is estimated"
    heads = dict(zip(_CONTROLLED, ("LC win rate", "se"), strict=True))
    extra = [
        Column(name, head, measure.form, help=about, always=True) for name, head in heads.items()
    ]
    if weighted:
        about = "much better counts three times, as Arena-Hard counts"
        extra.append(Column("weighted_win_rate", "weighted", measure.form, help=about))
    counts = {"win": "", tie: "tie", "loss": ""} | ({"flipped": ""} if both_orders else {})
    extra += [Column(name, head, always=True, optional=True) for name, head in counts.items()]
    extra.append(Column("", "win/tie/loss", draw="record", hidden_in_text=True))
    column.extra = extra
    section = column.section()
    main = section.tables[0]
    if column.evidence.head_to_head:
        first, second = column.ranking.names
        by_turn = _two_models(column.scores, first, second, judged if both_orders else None)
        section.tables[:1] = [replace(main, only="html"), replace(by_turn, title=main.title)]
    elif len(column.rows) > 2 and view.baseline is None:
        section.tables.append(_each_pair(column.scores, column.ranking.names[:MANY]))
    if column.ranking.strengths:
        text = "Models are ranked and compared by strength (Bradley-Terry)."
        section.caveats.append(Caveat(METHOD, text))
    elif len(column.rows) > 2:
        section.more.append(_strengths(column.scores))
    section.remark = " ".join(filter(None, [section.remark, _flips(judged)]))
    if not both_orders and panel.form == "pair" and len(panel.judges) == 1:
        text = "Each pair was judged in one order, so flips cannot be seen."
        section.caveats.append(Caveat(ONE_ORDER, text))
    return section


def _two_models(scores: Scores, model: str, other: str, judged: Scores | None) -> Table:
    """Return one row a turn from the side of one model; the other's is its complement.

    Args:
        scores: the pairs, of several judges their mean.
        model: the one whose side it is.
        other: the other one.
        judged: those of every judge and sample, with their games; None: in one order each.
    """
    turns = present(scores.turn)
    parts = {f"turn {turn}": scores.of(turns=[turn]) for turn in turns}
    if len(parts) > 1:
        parts["both" if len(parts) == 2 else "all"] = scores
    once = judged is None or len(judged) == len(scores)  # else flips are of more than the ties
    rows = []
    for name, part in parts.items():
        group = next(group for group in summarize(part) if group["model"] == model)
        counts: dict[str, Any] = {"win": group.win, "tie": group.tie, "loss": group.loss}
        if judged is not None:
            games = judged.of(turns=present(part.turn))
            flipped = next(own for own in summarize(games) if own["model"] == model).flipped
            if once:
                counts["tie"] = f"{group.tie} ({flipped})"
            else:
                counts["flipped"] = flipped
        turn = int(part.turn[0]) if part is not scores else None
        names = {"label": f"{model} in {name}", "model": model, "opponent": other, "turn": turn}
        rows.append(row_of({**names, **counts}, rate=group.mean))
    columns = [
        Column("label", "pairs in both orders" if judged is not None else "pairs"),
        Column("win", always=True),
        Column("tie", "tie (flipped)" if judged is not None and once else "", always=True),
        Column("loss", always=True),
        *[Column("flipped", always=True)] * (judged is not None and not once),
        *interval_columns("rate", "win rate", ".2"),
    ]
    return Table("", columns, rows, only="text")


def _each_pair(scores: Scores, names: Sequence[str]) -> Table:
    """Return the win rate of each model against each other one, with the number of pairs."""
    rows: dict[str, dict[str, Any]] = {
        name: {"model": name, "against": {}, "pairs": {}} for name in names
    }
    for group in summarize(scores.of(models=names), ("model", "opponent")):
        row = rows[group["model"]]
        row["against"][group["opponent"]] = Cell.of(group.mean)
        row["pairs"][group["opponent"]] = group.n
    about = "win rate of the row's model against this one, in brackets the number of pairs"
    columns = [
        Column("against", name, ".2", about, of=name, count="pairs", always=True) for name in names
    ]
    heading = "win rate against each other model (pairs)"
    return Table(heading, [Column("model"), *columns], list(rows.values()), only="html")


def _flips(scores: Scores) -> str:
    """Return what is said of pairs whose winner changed with the order, if there are many."""
    found = flips(scores)
    count, pairs = found.flipped, found.pairs
    if count <= MANY_FLIPS * pairs:
        return ""
    changed = f"In {percent(count / pairs)} of the pairs ({count} of {pairs}) the verdict changed "
    changed += "with the order of the two answers; these are ties"
    first, p = found.counts["to_first"], found.to_first.p_half
    if p is not None and p < LEVEL:
        side, most = ("first", first) if 2 * first > count else ("second", count - first)
        return f"{changed}: it prefers the answer shown {side}, {most} of {count}."
    interval = found.of_decided.interval
    guesses = "where a judge that guesses changes half"
    if interval and interval.high >= 0.5:
        guesses = "so it may be guessing: a judge that guesses changes half"
    return f"{changed}: {percent(found.of_decided.value)} of the pairs that it decides, {guesses}."


def _strengths(scores: Scores) -> Table:
    """Return the models' strengths, for reading; who is better is not said by them."""
    rows = [row_of({"model": name}, strength=rating) for name, rating in strengths(scores).items()]
    rows.sort(key=lambda row: -(row["strength"].value or -np.inf))
    heading = "Bradley-Terry strengths, ties as half a win; 400 points are odds of 10 to 1"
    columns = [Column("model"), *interval_columns("strength", "", ".0")]
    return Table(heading, columns, rows, name="strengths")

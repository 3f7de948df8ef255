"""A section of each kind: grades, labels and short facts, pairs and votes; several side by side."""

import functools
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting.page import METRIC, Column, Table, interval_columns, percent, rounded, row_of
from harness.reporting.ranked import Ranked, Rows, several
from harness.reporting.section import Section, View, measure_of
from harness.results import Panel, Ranking, Scores, ratio, summarize
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.scores import FLIPPED, ONCE
from harness.results.strengths import strengths, win_rate
from harness.results.summarize import split


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

    def further(scores: Scores, by: Sequence[str]) -> Rows:
        rows: Rows = {}
        for summary in summarize(scores.of(metric=panel.metrics[0]), ("model", *by)):
            counts = {"win": summary.win, tie: summary.tie, "loss": summary.loss}
            row: dict[str, Any] = {**counts, "flipped": summary.flipped}
            row["one_sided"] = summary.one_sided
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
            rows[summary.key] = row
        return rows

    key = "win_rate" if measure.percent else "win_rate_adjusted"
    column = Ranked(panel, view, Column(key, "win rate"), further=further)
    both_orders = bool((column.scores.flip != ONCE).any())
    about = "as alpaca_eval computes it; leaves out that the fit is estimated"
    heads = dict(zip(_CONTROLLED, ("LC win rate", "se"), strict=True))
    extra = [
        Column(name, head, measure.form, help=about, always=True) for name, head in heads.items()
    ]
    counts = {"win": "", tie: "tie", "loss": ""} | ({"flipped": ""} if both_orders else {})
    extra += [Column(name, head, always=True, optional=True) for name, head in counts.items()]
    extra.append(Column("", "win/tie/loss", draw="record", hidden_in_text=True))
    column.extra = extra
    section = column.section()
    main = section.tables[0]
    if column.evidence.head_to_head:
        by_turn = _two_models(column.scores, column.ranking.names[0], both_orders=both_orders)
        section.tables[:1] = [replace(main, only="html"), replace(by_turn, title=main.title)]
    if len(column.rows) == 1:
        equal_length = column.rows[0].get(_CONTROLLED[0])
        section.evidence = [replace(column.evidence, equal_length=equal_length)]
    if column.ranking.strengths:
        section.caveats.insert(0, _drawn(column.ranking))
    elif len(column.rows) > 2:
        section.more.append(_strengths(column.scores))
    section.remark = " ".join(filter(None, [section.remark, _flips(column.scores)]))
    if not both_orders and panel.form == "pair" and len(panel.judges) == 1:
        section.caveats.append("Each pair was judged in one order, so flips cannot be seen.")
    return section


def _drawn(ranking: Ranking) -> str:
    """Return how models of drawn pairs are compared, and what difference that could have shown."""
    words = "Models are ranked and compared by strength (Bradley-Terry)"
    sizes = [n for pair in ranking.neighbours if (n := pair.difference.detectable) is not None]
    if sizes:
        size = statistics.median(sizes)
        seen = f"{rounded(size, 0)} rating points, a win rate of {rounded(win_rate(size), 2)},"
        words += f"; between neighbours {seen} would have been seen"
    return f"{words}."


def _two_models(scores: Scores, model: str, *, both_orders: bool) -> Table:
    """Return one row a turn from the side of one model; the other's is its complement."""
    turns = np.unique(scores.turn).tolist()
    parts = {f"turn {turn}": scores.of(turns=[turn]) for turn in turns}
    if len(parts) > 1:
        parts["both" if len(parts) == 2 else "all"] = scores
    rows = []
    for name, part in parts.items():
        group = next(group for group in summarize(part) if group["model"] == model)
        ties = f"{group.tie} ({group.flipped})" if both_orders else group.tie
        counts = {"win": group.win, "tie": ties, "loss": group.loss}
        rows.append(row_of({"label": f"{model} in {name}", **counts}, rate=group.mean))
    columns = [
        Column("label", "pairs in both orders" if both_orders else "pairs"),
        Column("win", always=True),
        Column("tie", "tie (flipped)" if both_orders else "", always=True),
        Column("loss", always=True),
        *interval_columns("rate", "win rate", ".2"),
    ]
    return Table("", columns, rows, only="text")


def _flips(scores: Scores) -> str:
    """Return what is said of pairs whose winner changed with the order, if there are many."""
    judged = scores.take(scores.valid & (scores.flip != ONCE))
    flipped = judged.flip == FLIPPED
    count, pairs = int(flipped.sum()), len(judged)
    if count <= MANY_FLIPS * pairs:
        return ""
    decided = flipped | (judged.value != 0.5)
    by_question = functools.partial(np.bincount, minlength=len(judged.questions))
    sums, counts = by_question(judged.question[flipped]), by_question(judged.question[decided])
    interval = ratio(sums, counts, share=True).interval
    maybe = "The judge may be guessing: one" if interval and interval.high >= 0.5 else "A judge"
    return (
        f"In {percent(count / pairs)} of the pairs ({count} of {pairs}) the verdict changed with "
        f"the order of the two answers; these are ties. {maybe} that guesses changes about half."
    )


def _strengths(scores: Scores) -> Table:
    """Return the models' strengths, for reading; who is better is not said by them."""
    rows = [row_of({"model": name}, strength=rating) for name, rating in strengths(scores).items()]
    rows.sort(key=lambda row: -(row["strength"].value or -np.inf))
    heading = "Bradley-Terry strengths, ties as half a win; 400 points are odds of 10 to 1"
    columns = [Column("model"), *interval_columns("strength", "", ".0")]
    return Table(heading, columns, rows, name="strengths")

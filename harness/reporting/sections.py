"""One kind of judgments on a page: its rows for programs, its tables for people, what it says.

A section is what one judge set, form, scale and sampling gives (`results.Panel`): grades, pairs,
labels, several criteria, votes or metrics. All are values of the same `summarize`; they differ in
columns and words.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.reporting import charts
from harness.reporting.charts import Mark
from harness.reporting.outcome import Evidence, Measure, flips
from harness.reporting.page import Chart, Column, Note, Row, Table, counted, listed
from harness.results import (
    Comparison,
    Estimate,
    Panel,
    Ranking,
    Scores,
    compare,
    conversations,
    rank,
    ratio,
    summarize,
)
from harness.results.scores import FLIPPED, ONCE
from harness.results.summarize import Aggregate
from harness.types import UNSTATED

MANY = 12
"""Models above which text has no table by category, and lists only neighbours compared."""
KINDS = {"grade": "grades", "pair": "pairs", "vote": "votes", "metric": "numbers"}
"""What people call the verdicts of a form."""


@dataclass(frozen=True)
class View:
    """How the judgments are to be shown."""

    bench: str = ""
    by: tuple[str, ...] = ()
    """Fields to group by; none: category, where the width allows."""
    models: tuple[str, ...] = ()
    baseline: str | None = None
    aggregate: Aggregate | None = None
    sort: str | None = None
    details: bool = False
    noun: str = "question"

    @property
    def group(self) -> str:
        """The field of the tables by group."""
        return next((name for name in self.by if name != "turn"), "category")


@dataclass
class Section:
    """One kind of judgments, ready for a page."""

    panel: Panel
    evidence: list[Evidence]
    """One for each column that is ranked; the first is the main one."""
    rows: list[dict[str, Any]]
    tables: list[Table]
    charts: list[Chart] = field(default_factory=list)
    more: list[Table] = field(default_factory=list)
    """For --details."""
    caveats: list[str] = field(default_factory=list)
    """What a reader must know, the most important first."""
    said: str = ""
    """A sentence after the outcome: flips, judges that do not agree."""

    @property
    def ranking(self) -> Ranking:
        """The main column's."""
        return self.evidence[0].ranking

    @property
    def kind(self) -> str:
        """What it is of: grades, pairs, labels, …"""
        return KINDS.get(self.panel.form, self.panel.form)


def section(panel: Panel, view: View) -> Section:
    """Return the section of a panel."""
    if panel.form in ("pair", "vote"):
        return _pairs(panel, view)
    if panel.form == "label":
        return _labels(panel, view)
    return _graded(panel, view) if len(panel.metrics) == 1 else _several(panel, view)


# Columns that several kinds share


def _estimate(row: dict[str, Any], key: str, estimate: Estimate | None) -> None:
    """Put a number and its interval into a row."""
    value = None if estimate is None or np.isnan(estimate.value) else estimate.value
    interval = None if estimate is None else estimate.interval
    row[key] = value
    row[f"{key}_low"], row[f"{key}_high"] = interval or (None, None)


def _base(ranking: Ranking) -> dict[str, dict[str, Any]]:
    """Return a row for each model, in the order of ranks."""
    ranked = len(ranking.names) > 1
    rows = {}
    for name in ranking.names:
        rank_of = ranking.ranks[name]
        ends = {"rank_first": rank_of.first, "rank_last": rank_of.last} if ranked else {}
        rows[name] = {"model": name, **ends}
    return rows


def _turns(rows: dict[str, dict[str, Any]], scores: Scores) -> list[int]:
    """Put the number of each turn into the rows; return the turns."""
    found = summarize(scores, by=("model", "turn"))
    turns = sorted({own["turn"] for own in found})
    for row in rows.values():
        row |= {f"turn_{turn}": None for turn in turns}
    for own in found:
        if own["model"] in rows and own.n:
            _estimate(rows[own["model"]], f"turn_{own['turn']}", own.mean)
    return turns


def _turn_columns(turns: Sequence[int], form: str) -> list[Column]:
    """Return turn 1 and turn 2; of longer conversations the first and the last two."""
    if len(turns) < 2:
        return []
    shown = turns if len(turns) <= 3 else [turns[0], *turns[-2:]]
    return [Column(f"turn_{turn}", f"turn {turn}", form) for turn in shown]


def _groups(rows: dict[str, dict[str, Any]], scores: Scores, field_name: str) -> list[str]:
    """Put the number of each group of questions into the rows; return the groups."""
    found = summarize(scores, by=("model", field_name))
    names = [str(name) for name in dict.fromkeys(own[field_name] for own in found) if name]
    for own in found:
        if own["model"] in rows and own[field_name]:
            _estimate(rows[own["model"]], f"{field_name}_{own[field_name]}", own.mean)
    return names


def _group_table(
    section_kind: str, rows: Sequence[Row], names: Sequence[str], view: View, form: str
) -> list[Table]:
    """Return the table by category for text; with --by it is divided where it is too wide."""
    asked = bool(view.by)
    if len(names) < 2:
        return []
    columns = [Column("model", section_kind)]
    columns += [Column(f"{view.group}_{name}", name, form, always=True) for name in names]
    instead = None if asked else Note("", f"By {view.group}: --by {view.group}")
    return [Table("", columns, rows, only="text", instead=instead)]


def _rank_column(ranking: Ranking) -> list[Column]:
    return [Column("rank", format="ranks", always=True)] if len(ranking.names) > 2 else []


def _board_columns(names: Sequence[str], group: str, form: str) -> list[Column]:
    return [
        Column(f"{group}_{name}", name, form, draw="shade", hidden_in_text=True) for name in names
    ]


def _sorted(rows: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return rows by the column of --sort: a field, a category, or a name as text shows it."""
    if view.sort is None:
        return rows
    wanted = view.sort.replace(" ", "_")
    names = (wanted, f"{view.group}_{view.sort}", f"judge_{view.sort}")
    key = next((name for name in names if any(name in row for row in rows)), None)
    if key is None:
        known = [name for name in rows[0] if not name.endswith(("_low", "_high"))] if rows else []
        raise UsageError(
            f"--sort {view.sort}: there is no such column; there are {listed(known, 9)}"
        )
    words = any(isinstance(row.get(key), str) for row in rows)
    present = [row for row in rows if row.get(key) is not None]
    present.sort(key=lambda row: row[key], reverse=not words)
    return present + [row for row in rows if row.get(key) is None]


def _compared(ranking: Ranking, form: str) -> list[Table]:
    """Return the models compared with each other for --details; of many only neighbours."""
    pairs = ranking.comparisons.pairs
    if not pairs:
        return []
    rows = [_comparison_row(pair) for pair in pairs]
    columns = [
        Column("model_1", "model 1"),
        Column("model_2", "model 2"),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True),
        Column("p_holm", "p (Holm)", always=True),
        Column("smallest_detectable", "detectable", form),
        Column("questions"),
        Column("opponents"),
    ]
    if len(ranking.names) > MANY:
        shown = [_comparison_row(pair) for pair in ranking.neighbours]
        title = "Each model compared with the next one"
        return [
            Table(title, columns, shown),
            Table("", columns, rows, name="compared", only="json"),
        ]
    return [Table("Each two models compared on what both did", columns, rows, name="compared")]


def _comparison_row(pair: Comparison) -> dict[str, Any]:
    row: dict[str, Any] = {"model_1": pair.model_1, "model_2": pair.model_2}
    _estimate(row, "difference", pair.difference if pair.questions else None)
    return row | {
        "p": pair.difference.p,
        "p_holm": pair.p,
        "better": pair.better,
        "smallest_detectable": pair.difference.detectable,
        "questions": pair.questions,
        "opponents": pair.opponents or None,
    }


# Grades, points, one metric


def _measure(panel: Panel, scores: Scores) -> tuple[Measure, str]:
    """Return how numbers are said in words, and how columns write them."""
    if panel.form == "metric":
        return Measure("numbers", noun=panel.metrics[0], places=3), ".3"
    scale = scale_of(panel, scores)
    if panel.form == "points":
        return Measure("labels", noun="of the points met"), "%"
    return Measure("grades", top=None if scale is None else scale[1]), ".2"


def scale_of(panel: Panel, scores: Scores) -> tuple[float, float] | None:
    """Return the scale of grades; of rows that do not say it 1 to 10, if that can be."""
    if panel.scale is not None or panel.form not in ("grade", "dimensions"):
        return panel.scale
    valid = scores.value[scores.valid]
    within = not len(valid) or (valid.min() >= 1 and 5 < valid.max() <= 10)
    return (1, 10) if within else None


def _graded(panel: Panel, view: View) -> Section:
    metric = panel.metrics[0]
    pooled = panel.combined.of(metric=metric)
    measure, form = _measure(panel, pooled)
    key = "average" if panel.form != "metric" else metric
    scores = pooled
    if view.aggregate is not None:
        scores, key = conversations(pooled, view.aggregate), _AGGREGATES[view.aggregate]
    ranking = rank(scores, models=view.models or None)
    rows = _base(ranking)
    for own in ranking.models:
        _estimate(rows[own["model"]], key, own.mean)
    turns = _turns(rows, pooled)
    for own in ranking.models:
        rows[own["model"]] |= {"n": own.n, "questions": own.questions, "failed": own.failed}
    judges = _by_judge(rows, panel, metric, key, view)
    groups = _groups(rows, scores, view.group)
    listed_rows = _sorted(list(rows.values()), view)
    kind = KINDS.get(panel.form, "score")
    model, score = Column("model"), Column(key, _HEADINGS.get(key, key), form, always=True)
    if judges:
        score = Column(key, "all", form, always=True)
    interval = Column(key, "95% interval", f"interval{form}", always=True, draw="whisker")
    more = [Column("failed", always=True)] if any(row["failed"] for row in listed_rows) else []
    head = [*_rank_column(ranking), model, score, interval]
    by_turn = _turn_columns(turns, form)
    by_judge = [Column(f"judge_{name}", name, form, always=True) for name in judges]
    if judges:
        by_turn = [Column(c.key, c.title, c.format, optional=True) for c in by_turn]
    own_title = title(panel, view, scores)
    columns = [*head, *by_judge, *by_turn, *more, *_board_columns(groups, view.group, ".1")]
    tables = [Table(own_title, columns, listed_rows)]
    pair = _leading(ranking)
    said = ""
    if judges and pair is not None:
        table, said = _judges_differ(panel, metric, pair, form)
        tables.append(table)
    tables += _group_table(kind, listed_rows, groups, view, ".1" if form == ".2" else form)
    evidence = Evidence(measure, ranking, _questions(scores), view.noun, len(panel.judges))
    made = Section(panel, [evidence], _with_judges(listed_rows, panel, metric, view), tables)
    made.said = said
    made.caveats = _caveats(panel, scores)
    made.more = [
        *_interval_tables(listed_rows, turns, groups, view, form),
        *_compared(ranking, form),
    ]
    made.charts = _charts(listed_rows, key, groups, view, measure, scale_of(panel, scores), ranking)
    return made


_AGGREGATES = {
    "mean": "mean_of_turns",
    "min": "min_of_turns",
    "first": "first_turn",
    "last": "last_turn",
}
_HEADINGS = {
    "average": "score",
    "mean_of_turns": "mean of turns",
    "min_of_turns": "lowest turn",
    "first_turn": "first turn",
    "last_turn": "last turn",
}


def _questions(scores: Scores) -> int:
    return len(np.unique(scores.question[scores.valid]))


def _leading(ranking: Ranking) -> tuple[str, str] | None:
    """Return the two models at the top, whose difference is shown by judge."""
    return (ranking.names[0], ranking.names[1]) if len(ranking.names) > 1 else None


def _by_judge(
    rows: dict[str, dict[str, Any]], panel: Panel, metric: str, key: str, view: View
) -> list[str]:
    """Put each judge's number into the rows; return the judges, if there are several."""
    if len(panel.judges) < 2:
        return []
    for judge, scores in panel.by_judge.items():
        own = scores.of(metric=metric)
        own = own if view.aggregate is None else conversations(own, view.aggregate)
        for group in summarize(own, by=("model",)):
            if group["model"] in rows:
                rows[group["model"]][f"judge_{judge}"] = group.mean.value if group.n else None
    return list(panel.judges)


def _with_judges(
    rows: Sequence[dict[str, Any]], panel: Panel, metric: str, view: View
) -> list[dict[str, Any]]:
    """Return the rows for programs: of a panel one for each judge, and one for all together."""
    if len(panel.judges) < 2:
        return list(rows)
    by_judge: dict[str, dict[str, dict[str, Any]]] = {}
    for judge, scores in panel.by_judge.items():
        own = scores.of(metric=metric)
        by_judge[judge] = {}
        for group in summarize(own, by=("model",)):
            row = {"model": group["model"], "judge": judge}
            _estimate(row, "average", group.mean)
            by_judge[judge][group["model"]] = row | {"n": group.n, "failed": group.failed}
        _turns(by_judge[judge], own)
    found = []
    for row in rows:
        model = row["model"]
        found += [by_judge[judge][model] for judge in panel.judges if model in by_judge[judge]]
        plain = {name: value for name, value in row.items() if not name.startswith("judge_")}
        found.append({"model": model, "judge": "all together", **plain})
    return found


def _judges_differ(
    panel: Panel, metric: str, pair: tuple[str, str], form: str
) -> tuple[Table, str]:
    """Return the difference of two models by judge, and whether the judges agree on it."""
    rows, verdicts = [], {}
    for judge, scores in {"all": panel.combined, **panel.by_judge}.items():
        own = scores.of(metric=metric)
        compared = compare(own, pair).between(*pair)
        row: dict[str, Any] = {"judge": judge}
        _estimate(row, "difference", compared.difference)
        for turn in np.unique(own.turn).tolist():
            of_turn = compare(own.of(turns=[turn]), pair).between(*pair).difference
            row[f"turn_{turn}"] = of_turn.value if of_turn.n else None
        rows.append(row)
        verdicts[judge] = compared.better
    turns = [name for name in rows[0] if name.startswith("turn_")]
    columns = [
        Column("judge", f"{pair[0]} less {pair[1]}"),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True, draw="whisker"),
        *_turn_columns([int(name[5:]) for name in turns], form),
    ]
    table = Table("", columns, rows, name="by_judge")
    return table, _agreement(verdicts, pair)


def _agreement(verdicts: dict[str, str | None], pair: tuple[str, str]) -> str:
    """Return what is said where judges come to other results on the two leading models."""
    whole = verdicts["all"]
    each = [verdict for judge, verdict in verdicts.items() if judge != "all"]
    if all(verdict == whole for verdict in each):
        return ""
    said = []
    for model in pair:
        if count := each.count(model):
            said.append(f"{_number(count)} of them call{'s' if count == 1 else ''} {model} better")
    if count := each.count(None):
        said.append(f"{_number(count)} see{'s' if count == 1 else ''} no difference")
    return f"The judges do not agree on {pair[0]} and {pair[1]}: {', '.join(said)}."


def _number(count: int) -> str:
    return ("no", "one", "two", "three", "four", "five")[count] if count < 6 else str(count)


def _interval_tables(
    rows: Sequence[Row], turns: Sequence[int], groups: Sequence[str], view: View, form: str
) -> list[Table]:
    """Return the intervals by turn and by group, for --details."""
    found = []
    for what, names in (
        ("turn", [f"turn_{turn}" for turn in turns if len(turns) > 1]),
        (view.group, [f"{view.group}_{name}" for name in groups]),
    ):
        if names:
            headings = [name.partition("_")[2] if what != "turn" else "" for name in names]
            columns = [Column("model")]
            columns += [
                Column(name, heading, f"interval{form}", always=True)
                for name, heading in zip(names, headings, strict=True)
            ]
            found.append(Table(f"95% intervals by {what}", columns, rows, only="text"))
    return found


def title(panel: Panel, view: View, scores: Scores) -> str:
    """Return what a table is of: benchmark, scale, judges, judge set."""
    parts = [view.bench]
    who = listed(panel.judges)
    if panel.form == "metric":
        parts.append(f"computed: {panel.judge_set}")
    elif panel.form == "vote":
        parts.append(f"votes of {counted(len(panel.judges), 'person', 'people')}")
    elif panel.form == "pair":
        against = f" against {view.baseline}" if view.baseline else ""
        parts.append(f"pairs{against} judged by {who}")
    elif panel.form == "label":
        parts.append(f"labelled by {who}, in percent")
    else:
        scale = scale_of(panel, scores)
        ends = "" if scale is None else f" from {scale[0]:g} to {scale[1]:g}"
        parts.append(f"graded{ends} by {who}")
    if panel.judge_set not in (UNSTATED, view.bench) and panel.form not in ("metric", "vote"):
        parts.append(f"judge set {panel.judge_set}")
    if view.aggregate is not None:
        parts.append(f"{_HEADINGS[_AGGREGATES[view.aggregate]]} of each conversation")
    if len(panel.judges) > 1 and panel.form not in ("vote", "metric"):
        parts.append("`all` is the mean of the judges")
    return ", ".join(parts)


def _caveats(panel: Panel, scores: Scores) -> list[str]:
    """Return what a reader must know of these judgments, the most important first."""
    found = []
    builtin = [judge for judge in panel.judges if judge.startswith("builtin/")]
    if builtin and panel.form != "metric":
        found.append(
            f"Verdicts of {listed(builtin)} are for trying the tool out, not for judging models."
        )
    if panel.unknown and panel.unknown < len(panel.scores):
        found.append(
            f"{panel.unknown} of the {len(panel.scores)} judgments do not say their judge set."
        )
    if len(panel.versions) > 1:
        found.append(f"Versions {' and '.join(panel.versions)} of the judge set are together.")
    failed = int((~scores.valid).sum())
    if failed:
        found.append(f"{counted(failed, 'judgment')} without a verdict left out.")
    if panel.left_out:
        found.append(f"{counted(panel.left_out, 'judgment')} that not all judges gave left out.")
    if panel.scores.outdated:
        found.append(
            f"{counted(panel.scores.outdated, 'judgment')} of questions that are not in the "
            "benchmark, or were changed, left out."
        )
    return found


def _charts(
    rows: Sequence[Row],
    key: str,
    groups: Sequence[str],
    view: View,
    measure: Measure,
    scale: tuple[float, float] | None,
    ranking: Ranking,
) -> list[Chart]:
    """Return the charts of one column: models, categories, pairs."""
    percent = measure.kind in ("labels", "pairs")
    name = "win rate" if measure.kind == "pairs" else measure.noun or "score"
    marks = {row["model"]: _mark(row, key) for row in rows}
    reference = 0.5 if measure.kind == "pairs" else None
    draw = functools.partial(charts.dots, marks, name, percent=percent, reference=reference)
    found = [Chart(name.capitalize(), draw, "scores")]
    cells = {
        (row["model"], group): row[f"{view.group}_{group}"]
        for row in rows
        for group in groups
        if row.get(f"{view.group}_{group}") is not None
    }
    label = f"{name} by {view.group}"
    if len(groups) > 1:
        draw = functools.partial(
            charts.heat_map,
            list(marks),
            groups,
            cells,
            label,
            percent=percent,
            places=0 if percent else 1,
        )
        found.append(Chart(label.capitalize(), draw, "categories"))
    if len(groups) > 2 and len({model for model, _ in cells} or ()) > 1:
        series = {
            model: {group: cells[model, group] for group in groups if (model, group) in cells}
            for model in list(marks)[:4]
        }
        ends = (0.0, 1.0) if percent else scale
        if ends is not None:
            draw = functools.partial(charts.radar, series, label, scale=ends)
            found.append(Chart(f"{label.capitalize()}, the first models", draw, "radar"))
    if len(ranking.names) > 2 and measure.kind == "grades":
        values = {}
        for pair in ranking.comparisons.pairs:
            if pair.questions:
                values[pair.model_1, pair.model_2] = pair.difference.value
                values[pair.model_2, pair.model_1] = -pair.difference.value
        names = ranking.names
        said = "the row's model less the column's"
        draw = functools.partial(charts.heat_map, names, names, values, said, middle=0.0)
        found.append(Chart("Differences", draw, "differences"))
    return found


def _mark(row: Row, key: str) -> Mark:
    return Mark(row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"))


# Pairs and votes


def _pairs(panel: Panel, view: View) -> Section:
    scores = panel.combined.of(metric=panel.metrics[0])
    ranking = rank(scores, models=view.models or None, baseline=view.baseline)
    rows = _base(ranking)
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
        _estimate(row, key, own.mean)
        row |= {"flipped": own.flipped, "one_sided": own.one_sided}
    turns = _turns(rows, scores)
    for own in ranking.models:
        rows[own["model"]] |= {"n": own.n, "questions": own.questions, "failed": own.failed}
    judges = _by_judge(rows, panel, panel.metrics[0], key, view)
    groups = _groups(rows, scores, view.group)
    listed_rows = _sorted(list(rows.values()), view)
    both = bool((scores.flip != ONCE).any())
    head = [*_rank_column(ranking), Column("model"), Column(key, "win rate", ".2", always=True)]
    head += [Column(key, "95% interval", "interval.2", always=True, draw="whisker")]
    head += [Column(f"judge_{name}", name, ".2", always=True) for name in judges]
    counts = [Column(name, always=True, optional=True) for name in ("win", "tie", "loss")]
    counts += [Column("flipped", always=True, optional=True)] if both else []
    if any(row["failed"] for row in listed_rows):
        counts.append(Column("failed", always=True))
    bar = Column("", "win/tie/loss", draw="record", hidden_in_text=True)
    board = _board_columns(groups, view.group, ".2")
    columns = [*head, *_turn_columns(turns, ".2"), *counts, *board, bar]
    two = len(ranking.names) == 2 and view.baseline is None
    own_title = title(panel, view, scores)
    tables = [Table(own_title, columns, listed_rows, only="html" if two else "")]
    if two:
        tables.append(_two_models(scores, ranking, own_title, both=both))
    one_side = listed_rows[:1] if two else listed_rows
    tables += _group_table("win rate", one_side, groups, view, ".2")
    measure = Measure("pairs")
    evidence = Evidence(measure, ranking, _questions(scores), view.noun, len(panel.judges))
    made = Section(
        panel, [evidence], _with_judges(listed_rows, panel, panel.metrics[0], view), tables
    )
    made.said = _flips(scores)
    made.caveats = _caveats(panel, scores)
    if not both and panel.form == "pair" and len(panel.judges) == 1:
        made.caveats.append("Each pair was judged in one order, so flips cannot be seen.")
    intervals = _interval_tables(listed_rows, turns, groups, view, ".2")
    made.more = [*intervals, *_compared(ranking, ".2"), *_strengths(scores, view)]
    made.charts = _charts(listed_rows, key, groups, view, measure, None, ranking)
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
    _estimate(row, "rate", own.mean)
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


def _strengths(scores: Scores, view: View) -> list[Table]:
    return []


# Labels


def _labels(panel: Panel, view: View) -> Section:
    return _several(panel, view)


# Several criteria, dimensions or metrics side by side


def _several(panel: Panel, view: View) -> Section:
    scores = panel.combined
    names = list(panel.metrics)
    rows: dict[str, dict[str, Any]] = {}
    evidence = []
    measure, form = _measure(panel, scores)
    for metric in names:
        own_scores = scores.of(metric=metric)
        ranking = rank(own_scores, models=view.models or None)
        own_measure = Measure(measure.kind, measure.top, metric, measure.places)
        evidence.append(Evidence(own_measure, ranking, _questions(own_scores), view.noun))
        for own in ranking.models:
            row = rows.setdefault(own["model"], {"model": own["model"]})
            _estimate(row, metric, own.mean)
            ranks = ranking.ranks[own["model"]]
            row |= {f"{metric}_rank_first": ranks.first, f"{metric}_rank_last": ranks.last}
            row["failed"] = row.get("failed", 0) + own.failed
    listed_rows = _sorted(list(rows.values()), view)
    columns = [Column("model"), *(Column(name, name, form, always=True) for name in names)]
    if any(row["failed"] for row in listed_rows):
        columns.append(Column("failed", always=True))
    tables = [Table(title(panel, view, scores), columns, listed_rows)]
    made = Section(panel, evidence, listed_rows, tables)
    made.caveats = _caveats(panel, scores)
    groups = _group_rows(scores, names, view)
    if view.by:
        key = [Column("model"), Column(view.group, always=True)]
        rest = [Column(name, name, form, always=True) for name in names]
        tables.append(Table(f"By {view.group}", [*key, *rest], groups, name="groups"))
    intervals = [Column(name, name, f"interval{form}", always=True) for name in names]
    made.more = [Table("95% intervals", [Column("model"), *intervals], listed_rows, only="text")]
    made.charts = _bars(listed_rows, names, scale_of(panel, scores), measure)
    return made


def _group_rows(scores: Scores, names: Sequence[str], view: View) -> list[dict[str, Any]]:
    rows: dict[tuple[str, Any], dict[str, Any]] = {}
    for own in summarize(scores, by=("model", view.group, "metric")):
        if own["metric"] in names and own[view.group]:
            key = own["model"], own[view.group]
            row = rows.setdefault(key, {"model": key[0], view.group: key[1]})
            _estimate(row, own["metric"], own.mean)
    return list(rows.values())


def _bars(
    rows: Sequence[Row], names: Sequence[str], scale: tuple[float, float] | None, measure: Measure
) -> list[Chart]:
    bars = {name: {row["model"]: _mark(row, name) for row in rows[:MANY]} for name in names}
    label = "score" if measure.kind == "grades" else "share" if measure.kind == "labels" else ""
    draw = functools.partial(charts.bars, bars, label, scale=scale)
    return [Chart("By criterion" if label == "score" else "Numbers", draw, "criteria")]

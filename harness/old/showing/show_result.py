"""What `show_result` shows: one table, how sure it is, charts, notes; the HTML report is the same page.

With intervals the first table stays as it is; turns, pairs of models and groups of questions follow with theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.old.judgments.reading import read_judgments
from harness.old.names import counted
from harness.old.records import Scale
from harness.old.results.result import Result
from harness.old.results.table import ALL
from harness.old.results.table import Table as Lines
from harness.old.showing.items import Chart, Column, Item, Note, Page, Row, Table, columns_of, flat
from harness.old.showing.values import interval_text, p_text, rounded, to_places, with_interval
from harness.old.showing.words import heading_of

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.old.results.detail import Detail, PairsOnly
    from harness.old.results.statistics.bootstrap import Estimate
    from harness.old.results.statistics.paired import Paired, PairedTable
    from harness.old.results.table import Line

_WHOLE = to_places(0)
_MOST_BARS, _MOST_GROUPS = 12, 40
"""Models in a chart of bars; groups of questions that have charts of their own."""
TURN_BY_TURN = "Turn by turn"
"""The title of the chart that follows models from the first turn to the last."""
_WITH_INTERVAL = ("length_controlled_winrate",)
"""Columns of the first table whose interval is in their own cell."""
_SAID = 3
"""Pairs of neighbours that the outcome is said of."""


def result_page(result: Result, *, intervals: bool = False) -> Page:
    """Return the page of a result; with `intervals` csv has a row for each number of a criterion or metric."""
    facts = {"mode": result.mode, "questions": result.bench or "unstated"}
    facts |= {"judge": result.judge, "judge set": result.judge_set} if result.judged else {"metrics": result.judge_set}
    facts |= {} if result.baseline is None else {"baseline": result.baseline}
    models = len(dict.fromkeys(row["model"] for row in result.rows()))
    what = "Scores" if result.mode == "single" else "Win rates"
    title = f"{what} of {models} model{'' if models == 1 else 's'} on {result.bench or result.path.stem}"
    items = [*(_outcome(result.detail) if result.detail else ()), *_tables(result)]
    if result.users is not None:
        from harness.old.showing.users import user_items

        items += user_items(result.users)
    items += _sure(result)
    return Page(title, facts, items, result.notes, _data(result, intervals), _rows(result, intervals))


def sampling_of(result: Result) -> str:
    """Return the judge's requested sampling: that of the first judgment, since a table has only one."""
    return read_judgments(result.path).observations[0].source.sampling


def _rows(result: Result, intervals: bool) -> Sequence[Row]:
    """Return the one table that programs get: intervals, ranks, categories and the judge set in the model's row."""
    rows = result.table_rows() if result.panel is not None else result.table.flat_rows(intervals=intervals)
    own = {
        row["model"]: {f"category_{name}": value for name, value in row.items() if name != "model"}
        for row in result.categories
    }
    return [{**row, **own.get(row["model"], {}), "judge_set": result.judge_set} for row in rows]


def _data(result: Result, intervals: bool) -> dict[str, Any]:
    """Return the JSON form: the rows, the notes on them, and the further results that were requested."""
    data: dict[str, Any] = {
        "mode": result.mode,
        "bench": result.bench,
        "judge": result.judge,
        "rows": result.table_rows(),
        "judge_set": result.judge_set,
        "notes": list(result.notes),
        "categories": result.categories,
    }
    if result.panel is not None:
        panel = result.panel
        data["panel"] = {"judges": panel.judges, "rule": panel.rule, "disagreement": panel.disagreement.table_rows()}
    if result.detail is not None:
        data["intervals"] = _intervals(result.detail)
    if result.control is not None:
        data["length_control"] = {
            "note": result.control.note,
            "rows": result.control.table.table_rows(),
            "compared": _compared(result.control.pairs),
        }
    if result.runs is not None:
        data["against"] = _compared(result.runs.table)
    if result.users is not None:
        variance = result.users.variance
        data["users"] = result.users.parts
        data["user_variance"] = None if variance is None else variance.row()
    return data | result.together.json(intervals=intervals)


def _compared(table: "PairedTable") -> list[Row]:
    """Return compared pairs of models for JSON."""
    from harness.old.results.detail import pair_row

    return [pair_row(pair) for pair in table.pairs]


def _intervals(detail: "Detail") -> dict[str, Any]:
    """Return what JSON shows of how sure the results are."""
    table = detail.table
    data: dict[str, Any] = {
        "by": table.by,
        "seed": table.seed,
        "rows": detail.rows(),
        "groups": table.group_rows(),
        "pairs": detail.pair_rows(),
        "told_apart": detail.pairs.told_apart,
        "smallest_detectable": detail.pairs.smallest_detectable,
    }
    if detail.grades is not None:
        data["by_turn"] = table.turn_rows()
    if detail.only is not None:
        data["turns"], data["compared"] = table.turn_rows(), _compared(detail.pairs)
        strengths = detail.only.strengths
        data["strengths"] = {"scale": strengths.scale, "nu": strengths.nu, "why_not": detail.only.without_strengths()}
    return data


def _tables(result: Result) -> Iterator[Item]:
    """Yield what every result has: its table, then those of groups of questions."""
    table = result.table
    # The column whose interval and ranks stand beside it.
    lead = next(iter(table.ranks)) if len(table.ranks) == 1 else result.column
    ranks = {row["model"]: row.get(lead) for row in table.rank_rows()}
    rows: Sequence[Row] = [{**row, "rank": ranks.get(row["model"])} for row in result.table_rows()]
    columns = [
        Column(column.name, _own_name(column.name, table), "both" if column.name in _WITH_INTERVAL else "value")
        for column in columns_of(table.rows())
    ]
    more = [Column("rank")] if lead in table.ranks and len(ranks) > 1 else []  # of one model there is no first
    at = len(columns)
    if any(f"{lead}_low" in row for row in rows):
        more.insert(0, Column(lead, "95% interval", "interval"))
        at = [column.name for column in columns].index(lead) + 1
    columns[at:at] = more
    yield Table("", rows, columns, places=table.places, keys=1 if result.panel is None else 2)
    if table.named:
        yield from _verdicts(result.together, ", of all judges together" if result.panel is not None else "", lead)
    if result.categories and (result.mode != "single" or result.detail is None or result.detail.table.by != "category"):
        what = heading_of(result.column) if result.mode == "single" else "score"
        rows, title = result.categories, f"{what} by category".capitalize()
        yield Table(title, rows, _verbatim(rows), across="groups", scale=result.scale)


def _own_name(column: str, table: Lines) -> str | None:
    """Return the heading of a column that a judge set named, which is its name as it is."""
    return column if column in table.names else None


def _verbatim(rows: Sequence[Row]) -> list[Column]:
    """Return columns whose names are headings as they are: those of models, categories, criteria."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [Column(name, name) for name in names]


def _verdicts(table: Lines, of_all: str, lead: str) -> Iterator[Item]:
    """Yield the intervals, ranks and groups of labels, dimensions or several criteria, but for those shown already."""
    rows: list[Row] = [{"model": line.model, **line.estimates()} for line in table.whole]
    fields = dict.fromkeys(name for row in rows for name in row if name != "model")
    if table.sure and fields.keys() - ({lead} if lead in table.ranks else ()):
        order = [name for name in table.names if name in fields] or list(fields)
        columns = [Column("model"), *(Column(name, _own_name(name, table), "interval") for name in order)]
        title = f"95% intervals{of_all} (bootstrap over questions{_within(table.strata)}, seed {table.seed})"
        yield Table(title, rows, columns, places=table.places)
    if len(table.ranks) > 1 and len(ranks := table.rank_rows()) > 1:
        columns = [Column("model"), *(Column(name, _own_name(name, table)) for name in table.ranks)]
        yield Table("Ranks (for each column: sign-flip tests, Holm)", ranks, columns)
    groups = table.group_rows(intervals=False)
    if groups:
        columns = [Column(column.name, _own_name(column.name, table)) for column in columns_of(groups)]
        yield Table(f"By {table.by}{of_all}", groups, columns, places=table.places, keys=2)
    if table.bins:
        yield Table("Confidence of attempted answers, and how many are right", table.bins, places=3, keys=3)
    if table.names:
        yield from _bars(table)


def _bars(table: Lines) -> Iterator[Chart]:
    """Yield a chart for each group of questions, with its criteria, and one for each criterion, with its groups."""
    from harness.old.showing import charts

    groups = table.groups if len(table.groups) <= _MOST_GROUPS else []
    models = list(dict.fromkeys(line.model for line in table.lines))
    note = f"The first {_MOST_BARS} models of the table." if len(models) > _MOST_BARS else None

    def chart(title: str, bars: Mapping[str, Mapping[str, "Estimate"]], scale: Scale | None) -> Chart:
        few = {name: {m: own[m] for m in models[:_MOST_BARS] if m in own} for name, own in bars.items()}
        return Chart(title, partial(charts.bar_chart, few, label=title, scale=scale), note)

    for group in groups or [ALL]:
        found = table.of_group(group)
        for scale in dict.fromkeys(table.scales.get(name) for name in found):  # one axis has one scale
            same = {name: own for name, own in found.items() if table.scales.get(name) == scale}
            of = f" from {scale[0]:g} to {scale[1]:g}" if scale is not None and len(same) < len(found) else ""
            what = f"each {table.kind}{of}"
            yield chart(f"{'All questions' if group is ALL else group}: {what}", same, scale)
    if len(groups) > 1:
        by_group = {group: table.of_group(group) for group in groups}
        for name in table.names:
            own = {str(group): found[name] for group, found in by_group.items() if name in found}
            yield chart(f"{name}: by {table.by}", own, table.scales.get(name))


def _within(field: str | None) -> str:
    return f" within {field}" if field else ""


def _sure(result: Result) -> Iterator[Item]:
    """Yield what says how sure the numbers are."""
    if result.panel is not None:
        note = f"All together: {result.panel.rule}."
        yield Table("How often the judges disagree", result.panel.disagreement.table_rows(), note=note, places=3)
    if result.detail is not None:
        order = list(dict.fromkeys(line.model for line in result.table.lines))
        detail = result.detail.in_order({model: at for at, model in enumerate(order)})
        yield from _grades(detail, order) if detail.only is None else _pairs(detail, detail.only)
    if result.control is not None and result.detail is not None and result.control.pairs.pairs:
        yield compared("Length-controlled win rates compared", result.control.pairs.pairs, None, 3)
    if result.runs is not None:
        title = "This run (model 1) against the other (model 2), question by question"
        pairs, places = result.runs.table.pairs, 2 if result.mode == "single" else 3
        alone = f"Each interval is of its row alone; p allows for all {len(pairs)} (Holm)."
        yield compared(title, pairs, alone if len(pairs) > 1 else None, places)


def _grades(detail: "Detail", order: Sequence[str]) -> Iterator[Item]:
    """Yield how sure grades are."""
    from harness.old.showing import charts

    table, models = detail.table, detail.models
    resampled = _resampled(table)
    ranks = detail.ranks if len(models) > 1 else None  # of one model there is no first
    drawn = partial(charts.score_chart, table, column=detail.column, ranks=ranks)
    yield Chart("Scores", drawn, resampled)
    if len(table.groups) >= 3:
        # A model that was judged on few questions has but one or two in a group: its spikes would be the longest.
        ranked = [model for model in models if model in detail.ranks] or models
        drawn = partial(charts.radar_chart, table, detail.column, models=ranked[: charts.MOST], scale=detail.scale)
        first = f"The first {charts.MOST} models of the table." if len(ranked) > charts.MOST else ""
        without = "Without models judged on too few questions to be ranked." if len(ranked) < len(models) else ""
        yield Chart(f"By {table.by}", drawn, f"{first} {without}".strip() or None)
    if len(models) > 1:
        drawn = partial(charts.difference_chart, detail.pairs, order=order)
        yield Chart("Differences between models", drawn, "Significant differences are bold.")
    yield from turn_charts(detail, models)
    turns = [{"model": line.model, **_turns_of(line)} for line in table.whole]
    if sum(name.startswith("turn_") for name in turns[0]) > 1:
        yield Table("By turn", turns, note=resampled)
    if detail.grades is not None:
        yield from _turn_tables(detail, models)
    if detail.pairs.pairs:
        yield _next_ones(detail.pairs, detail.neighbours(), 2)
    title = f"{heading_of(detail.column).capitalize()} by {table.by}"
    yield from _by_group(table, detail.column, title, detail.scale, resampled)


def _turns_of(line: "Line") -> dict[str, "Estimate"]:
    """Return a model's number of each turn, and the drop."""
    return {name: own for name, own in line.estimates().items() if name.startswith("turn_") or name == "drop"}


def turn_charts(detail: "Detail", models: Sequence[str]) -> list[Chart]:
    """Return how models hold up from the first turn to the last, and how the first two differ at each turn."""
    from harness.old.showing import charts

    turned = detail.by_turn()
    if not turned:
        return []
    curves = {name: {at: line.fields["score"] for at, line in turned[name].items()} for name in models[: charts.MOST]}
    note = "Later turns are over the questions that have them; for the change on the same questions see the table."
    found = [Chart(TURN_BY_TURN, partial(charts.turn_chart, curves), note)]
    if len(models) > 1:
        one, other = models[0], models[1]
        name = f"{one} less {other}"
        curve = {name: {turn: pair.difference for turn, pair in detail.between(one, other).items()}}
        drawn = partial(charts.turn_chart, curve, label="difference", reference=0.0)
        found.append(Chart(f"{name}, turn by turn", drawn, "On the questions that both have."))
    return found


def _turn_tables(detail: "Detail", order: Sequence[str]) -> Iterator[Table]:
    """Yield the change from turn 1, and how the first two models differ at each turn."""
    from harness.old.results.detail import pair_row

    rows: list[Row] = [
        {"model": name, **{f"turn_{turn}": line.fields["change"] for turn, line in detail.by_turn()[name].items()}}
        for name in order
    ]
    columns = [column for column in columns_of([flat(row) for row in rows]) if column.name != "turn_1"]
    yield Table("Change from turn 1", rows, columns, "On the questions that have both turns.")
    if len(order) > 1:
        pairs = detail.between(order[0], order[1])
        rows = [{"turn": turn, **pair_row(pair), "p_holm": p_text(pair.p_holm)} for turn, pair in pairs.items()]
        columns = [Column("turn"), Column("difference"), Column("p_holm"), Column("n", "questions")]
        note = "On the questions that both have; all turns are one family of tests."
        yield Table(f"{order[0]} less {order[1]}, turn by turn", rows, columns, note)


_NAMED = 6
"""Models whose names stand over the columns of a matrix; those of more would leave no room for its numbers."""


def _pairs(detail: "Detail", only: "PairsOnly") -> Iterator[Item]:
    """Yield how sure wins, losses and ties are."""
    from harness.old.showing import charts

    table, resampled = detail.table, _resampled(detail.table)
    drawn = partial(charts.rate_chart, table, detail.column)
    yield Chart("Win rates", drawn, f"A tie counts half. {resampled}")
    names = list(dict.fromkeys(line.model for line in only.matrix.lines))
    if len(names) > 2:
        cells = {(line.model, line.group): line.fields[detail.column].value for line in only.matrix.lines}
        met = [pair for pair, rate in cells.items() if rate is not None]
        baseline = next((name for name in names if met and all(name in pair for pair in met)), None)
        others = names if baseline is None else [baseline]  # a matrix would be empty but for its row and its column
        rows = [
            {"model": one, **{other: cells.get((one, other)) for other in others}} for one in names if one != baseline
        ]
        columns, places, keys = _verbatim(rows), 3, 1
        if len(others) > _NAMED:  # numbers stand over the columns, and those of the rows beside their names
            rows = [{"model": row["model"], "number": at, **row} for at, row in enumerate(rows, 1)]
            numbered = [Column(name, str(at)) for at, name in enumerate(names, 1)]
            columns, places, keys = [Column("model"), Column("number", ""), *numbered], 2, 2
        title = "Win rate of the row's model against the column's, ties half"
        listed = Table(title, rows, columns, places=places, across="models", scale=(0.0, 1.0), keys=keys)
        drawn = partial(charts.win_rate_chart, only.matrix, detail.column)
        yield listed if baseline else Chart("Every two models", drawn, instead=listed)
    if only.position and only.position[0]["n"]:
        yield Chart(
            "Position bias: does the order of the answers change the verdict?",
            partial(charts.position_chart, only.position),
        )
        total = only.position[0]
        first = total["first_share"]
        share = f"won {with_interval(first.value, first.low, first.high, to_places(3))} of decided games"
        yield Note(
            f"position: of {total['n']} pairs {total['consistent']} got the same verdict in both orders, "
            f"{total['biased_first']} for the first answer, {total['biased_second']} for the second answer, "
            f"{total['one_sided_tie']} a tie in one order only; "
            + ("no game was decided" if first.value is None else f"the answer shown first {share}")
        )
    rows = detail.rows()
    columns = [
        Column(column.name, form=_WHOLE if column.name == "strength" else None)
        for column in columns_of(rows, detail.column, "rank", "n", "excluded")
    ]
    scale = "; ".join(only.without_strengths()) if only.strengths.why_not else f"Strength: {only.strengths.scale}"
    yield Table("Rates and strengths", rows, columns, f"{scale}. {resampled}", places=3)
    if detail.pairs.pairs:
        neighbours = detail.neighbours()
        shown = _next_ones(detail.pairs, neighbours, 3)
        if any(pair.n and _by_strength(detail, pair) for pair in neighbours):
            shown = shown._replace(note=f"{shown.note} Differences are of strengths, from the pairs of all models.")
        yield shown
    turns = table.turn_rows()
    if len({row["turn"] for row in turns}) > 1:
        yield Table("By turn", turns, note=resampled, places=3, keys=2)
    yield from _by_group(table, detail.column, f"Win rate, ties half, by {table.by}", (0.0, 1.0))
    yield from _by_group(table, "strength", f"Strength by {table.by}")


def _resampled(table: Lines) -> str:
    if not table.has_intervals:
        from harness.old.results.statistics.bootstrap import LEAST

        return f"No intervals: they take {LEAST} questions that do not all agree."
    return f"95% intervals: bootstrap over questions{_within(table.strata)}, seed {table.seed}."


def _by_group(
    table: Lines, name: str, title: str, scale: tuple[float, float] | None = None, note: str | None = None
) -> Iterator[Table]:
    """Yield a table of a number and its interval with a row for each model and a column for each group."""
    rows, places = table.wide_rows(name), table.places
    groups = list(dict.fromkeys(group for row in rows for group in row if group != "model"))
    if len(groups) > 1:
        form = _WHOLE if name == "strength" else None
        columns = [Column("model"), *(Column(group, group, form=form) for group in groups)]
        yield Table(title, rows, columns, note, places, across="groups", scale=scale)


def _outcome(detail: "Detail") -> Iterator[Note]:
    """Yield the outcome in words: how the first models of the table differ."""
    pairs = detail.neighbours()[:_SAID]
    if pairs:
        few = any(0 < pair.n < pair.least for pair in pairs)
        least = f" On fewer than {pairs[0].least} questions no difference is significant." if few else ""
        yield Note("; ".join(_said(detail, pair) for pair in pairs) + f".{least}")


def _said(detail: "Detail", pair: "Paired") -> str:
    """Return how two models differ, and on what that rests."""
    one, other, own, paired = pair.model_1, pair.model_2, pair.difference, detail.only is not None
    if not pair.n:
        why = "no chain of pairs links them" if paired else "they have no question in common"
        return f"{one} and {other} were not compared: {why}"
    form = to_places(detail.table.places)
    own = pair.turned().difference if pair.better == "model_2" else own  # worse by 0.30, not by -0.30
    by = f"{with_interval(own.value, None, None, form)} {'in win rate' if paired else 'points'}"
    interval = "" if own.low is None else interval_text(own.low, own.high, form) + _although(pair)
    if pair.told_apart:
        told = f"{one} is {pair.verdict} than {other} by {by}{interval and f' ({interval})'}"
    else:
        told = f"{one} and {other} do not differ significantly on {counted(pair.n, 'question')} "
        told += f"({by}{interval and f', {interval}'})"
    return told + _by_strength(detail, pair)


def _by_strength(detail: "Detail", pair: "Paired") -> str:
    """Return that pairs of other models count, where one of the two was not judged on all questions that do."""
    judged = {line.model: line.fields[detail.column].questions for line in detail.table.whole}
    one, other = judged[pair.model_1], judged[pair.model_2]
    if detail.only is None or min(one, other) == pair.n:
        return ""
    return (
        f", by strength over the pairs of all models ({pair.model_1} was judged on {counted(one, 'question')}, "
        f"{pair.model_2} on {other})"
    )


def _although(pair: "Paired") -> str:
    """Return why the interval of a pair and its test do not say the same; nothing where they do."""
    from harness.old.results.statistics.paired import LEVEL

    if pair.p is None or not pair.at_odds:
        return ""
    p = p_text(pair.p_holm)
    if pair.told_apart or pair.p > LEVEL:  # it resamples questions, or knows nothing of how pairs were chosen
        chosen = pair.p_method == "mixture"
        return f", but p = {p} {'if earlier results chose the pairs' if chosen else 'by the sign-flip test'}"
    return f" for these two alone, but p = {p} among all {pair.family} pairs of models"


def _next_ones(table: "PairedTable", neighbours: Sequence["Paired"], places: int) -> Table:
    """Return each model beside the next one, and what these questions can show."""
    blind = all(pair.n < pair.least for pair in table.pairs)
    smallest = None if blind else table.smallest_detectable
    shows = (
        "" if smallest is None else f"; differences of {rounded(smallest, places)} or more can be detected (power 80%)"
    )
    stated = next((pair.stated for pair in neighbours if pair.questions_needed is not None), None)
    if stated is not None:
        shows += f"; questions needed: to detect a difference of {rounded(stated, places)} (--difference)"
    chosen = any(pair.p_method == "mixture" for pair in table.pairs)
    test = f"sign-flip test{' that accounts for pairs chosen by earlier results' if chosen else ''}, Holm"
    found = f"{table.told_apart} of {len(table.pairs)} pairs of models differ significantly ({test})"
    if blind:
        found += f"; on fewer than {table.pairs[0].least} questions none can"
    return compared("Each model and the next one (intervals of single pairs)", neighbours, f"{found}{shows}.", places)


def compared(title: str, pairs: Sequence["Paired"], note: str | None, places: int = 2) -> Table:
    """Return the table of compared pairs of models."""
    from harness.old.results.detail import pair_row

    rows = [pair_row(pair) for pair in pairs]
    rows = [row | {"p_holm": p_text(row["p_holm"])} for row in rows]
    columns = [
        Column("model_1"),
        Column("model_2"),
        Column("verdict", "model 1 is"),
        Column("difference", part="value"),
        Column("difference", "95% interval", "interval"),
        Column("p_holm"),
        Column("n", "questions"),
        *([Column("questions_needed")] if any(row["questions_needed"] is not None for row in rows) else []),
    ]
    notes = [note] if note else []
    notes += [at_odds] if (at_odds := at_odds_note(pairs)) else []
    return Table(title, rows, columns, " ".join(notes) or None, places, keys=2)


def at_odds_note(pairs: Sequence["Paired"]) -> str | None:
    """Return what decides where an interval and its p do not say the same; None where they do."""
    if not any(pair.at_odds for pair in pairs):
        return None
    return "Where an interval and its p do not say the same, p decides (sign-flip test, Holm)."


def report_page(page: Page, **facts: str) -> Page:
    """Return the page with further facts for a report: when, by which command and version, at what cost."""
    return page._replace(facts={**page.facts, **{name.replace("_", " "): fact for name, fact in facts.items() if fact}})

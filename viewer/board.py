"""The tab Board: who is better and how sure, and one table with a row a model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from harness.bench import Bench
from harness.errors import MissingError
from harness.options import Select, ShownBench, ShownSlice, ShowResult
from harness.reporting.formats import csv
from harness.reporting.html import table_html
from harness.reporting.page import METRIC, Cell, Column, Page, Row, Table
from harness.reporting.results_page import Shown, results
from harness.reporting.section import Section
from harness.reporting.selecting import select
from harness.results import Panel, of_models, summarize
from viewer import pages
from viewer.controls import Fields, named
from viewer.data import RUN, Data, Verdicts
from viewer.pages import Site
from viewer.state import View

WIDTH = 1240
"""Pixels of a table that is seen whole on a screen of 1,320."""


class Board(NamedTuple):
    """The results of a view, and the tables that show them."""

    shown: Shown
    main: Section
    """Of the view's verdicts."""
    wide: Table
    """A row for each model."""
    is_text: bool
    """Whether they are shown as the terminal shows them: one or two models, nothing compared."""
    tables: Sequence[Table]
    pairs: str
    """The verdicts that stand beside grades."""


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    chosen = data.chosen(view.verdicts)
    if chosen is None:
        return _nothing(data.bench)
    try:
        made = _board(data, view, chosen)
    except MissingError as error:
        return pages.notice(str(error))
    shown, main, pairs = made.shown, made.main, made.pairs
    page = shown.page

    def drawn(table: Table) -> Markup:
        tables_of = ((part, part.tables) for part in shown.sections)
        own = next((part for part, parts in tables_of if any(table is t for t in parts)), main)
        panel = own.panel
        name = pairs if own is not main and panel.form == "pair" else chosen.name
        behind = Behind(view, name, pairs, panel.judges[0] if len(panel.judges) == 1 else "")

        def link(row: Row, column: Column) -> str | None:
            leads = behind.of(row, column)
            return site.href(leads) or None if leads is not None else None

        title = table.title or table.columns[0].heading
        return Markup(
            table_html(replace(_as_text(table) if made.is_text else table, title=title), link)
        )

    return pages.render(
        "board.html",
        outcome=page.outcome.splitlines(),
        tables=[(table.title.replace("`", ""), drawn(table)) for table in made.tables],
        notes=[note.text for note in [*page.causes, *page.notes] if note.text],
        charts=[(chart.title, Markup(chart.draw())) for chart in page.charts],
    )


def file(data: Data, view: View, kind: str) -> str:
    """Return the tables as csv."""
    chosen = data.chosen(view.verdicts)
    if chosen is None:
        return ""
    made = _board(data, view, chosen)
    return csv(made.shown.page if made.is_text else Page("", rows=made.wide.rows))


def _board(data: Data, view: View, chosen: Verdicts) -> Board:
    """Return the results and their tables.

    Raises:
        MissingError: there are none of the view's models.
    """
    shown = results_of(data, view, chosen)
    page, main = shown.page, _main(shown.sections, chosen)
    pairs = next((beside.name for beside in _pairs_beside(data, chosen.panel)), chosen.name)
    wide = _wide(page.tables, main)
    beside = [own for own in shown.sections if _is_beside(own.panel, main.panel)][:1]
    for section in beside:
        wide = _joined(wide, section)
    other = data.compared(chosen, view.other)
    compared = other is not None and other is not chosen.of(view.judge)
    if other is not None and compared:
        for same_models in of_models([other], view.model):
            wide = _compared(wide, main.panel, same_models, _sides(data, view, chosen))
    is_text = (len(view.model) or len(main.ranking.names)) < 3 and not compared
    if is_text:
        tables = [table for table in page.tables if table.only in ("", "text")]
    else:
        every = [table for section in (main, *beside) for table in section.tables]
        tables = [*_fitted(wide), *(t for t in every if t.columns[-1].key == "against")]
    return Board(shown, main, wide, is_text, tables, pairs)


def results_of(data: Data, view: View, chosen: Verdicts) -> Shown:
    """Return the results as `show_result` makes them: of the first judges', or of chosen ones.

    Raises:
        MissingError: there are none of the view's models.
    """
    scores, votes = data.scores.by("judge"), data.scores.by("person")
    names = data.judges
    if view.verdicts or view.judge or not chosen.panel.is_judged:
        panel = chosen.of(view.judge)
        judges = panel.judges if view.judge else None
        pairs = [own.panel.scores.of(judges=judges) for own in _pairs_beside(data, panel)]
        parts = [panel.scores, *pairs]
        shown = {code: s for part in parts for code, s in part.sources_present.items()}
        left_out = [row for row in data.scores.not_current if row.source in shown.values()]
        scores = data.scores.take(np.isin(data.scores.source, list(shown)))
        scores = replace(scores, not_current=left_out)
        names = tuple({source.judge for source in shown.values()})
    options = ShowResult(
        metric=(chosen.panel.judge_set,) if chosen.panel.form == "metric" else (),
        select=Select(judge_model=names),
        bench=ShownBench(bench_name=(data.bench.name,)),
        slice=ShownSlice(model_list=view.model),
    )
    votes = votes if chosen.panel.form != "vote" else votes.of(models=())  # which the page is of
    return results(options, select(options, data.bench, scores, votes))


def _main(sections: Sequence[Section], chosen: Verdicts) -> Section:
    """Return the section of the chosen verdicts, else the first."""
    panel = chosen.panel
    for section in sections:
        if (section.panel.form, section.panel.judge_set) == (panel.form, panel.judge_set):
            return section
    return sections[0]


def _pairs_beside(data: Data, panel: Panel) -> list[Verdicts]:
    """Return the pairs that the judges of some grades compared too."""
    return [own for own in data.verdicts.values() if _is_beside(own.panel, panel)][:1]


def _is_beside(pairs: Panel, panel: Panel) -> bool:
    both = pairs.form == "pair" and panel.form == "grade"
    return both and bool(set(pairs.judges) & set(panel.judges))


def _fitted(table: Table) -> list[Table]:
    """Return a table, as two if it is too wide: the numbers by category are a table of their own.

    A character is 7 pixels wide, a cell 16 more, a drawing about 90.
    """
    width = 0
    for column in table.columns:
        cells = [] if column.draw == "record" else [column.cell(row) for row in table.rows]
        drawing = 140 if column.draw == "record" else 90 if column.draw == "whisker" else 0
        width += 7 * max(map(len, [column.heading, *cells])) + 16 + drawing
    shaded = [column for column in table.columns if column.draw == "shade"]
    if width < WIDTH or not shaded:
        return [table]
    others = [column for column in table.columns if column.draw != "shade"]
    by_category = replace(table, title="by category", columns=[Column("model"), *shaded])
    return [replace(table, columns=others), by_category]


def _as_text(table: Table) -> Table:
    """Return a table with the columns that the terminal shows."""
    return replace(table, columns=[c for c in table.columns if not c.hidden_in_text])


def _wide(tables: Sequence[Table], main: Section) -> Table:
    """Return the main section's table as HTML shows it; of several columns' tables the first."""
    tables = [table for table in tables if table.rows and table.only in ("", "html")]
    by_model = [table for table in tables if "model" in table.rows[0]]
    for table in by_model:
        if table.rows[0] in main.rows or table.rows == main.tables[0].rows:
            by_model.insert(0, table)
            break
    table = by_model[0] if by_model else main.tables[0]
    if any(column.draw == "record" for column in table.columns):  # which says these three
        columns = [c for c in table.columns if c.key not in ("win", "tie", "loss")]
        table = replace(table, columns=columns)
    return table


def _joined(table: Table, pairs: Section) -> Table:
    """Return a table with each model's win rate and its wins, ties and losses in pairs."""
    by_model = {row["model"]: row for row in pairs.rows}
    key = next(key for key in ("win_rate_adjusted", "win_rate") if key in pairs.rows[0])
    names = (key, "win", "tie", "loss", "flipped")
    rows: list[Row] = []
    for row in table.rows:
        record = by_model.get(row["model"], {})
        rows.append({**row, "pair": {name: record.get(name) for name in names}})
    if not any(row["pair"][key] is not None for row in rows):
        return table
    columns = [
        Column("pair", "win rate", ".2", of=key, help="in pairs; a tie is half a win"),
        Column("pair", "win/tie/loss", draw="record"),
        Column("pair", "flipped", of="flipped", help="pairs that changed with the order: ties"),
    ]
    return replace(table, rows=rows, columns=_before_groups(table.columns, columns))


def _before_groups(columns: Sequence[Column], more: Sequence[Column]) -> list[Column]:
    """Return columns with more of them before those by category, which are many."""
    shaded = [column for column in columns if column.draw == "shade"]
    return [*(column for column in columns if column.draw != "shade"), *more, *shaded]


def _sides(data: Data, view: View, chosen: Verdicts) -> tuple[str, str]:
    """Return what the numbers are called, and what they are compared with."""
    if view.other == RUN:
        return "this run", "the other run"
    if view.other in data.verdicts:
        return chosen.label, data.verdicts[view.other].label
    return view.judge or "all judges", view.other


def _compared(table: Table, panel: Panel, other: Panel, sides: tuple[str, str]) -> Table:
    """Return a table with the other judge's or file's number of each model, and the difference.

    It is above 0 where these numbers, which stand before it, are the higher ones.
    """
    metric = panel.metrics[0]
    if other.metrics[0] not in panel.metrics:
        return table
    means, others = (
        {group["model"]: group.mean for group in summarize(side.combined.of(metric=metric))}
        for side in (panel, other)
    )
    rows = [dict(row) for row in table.rows]
    for row in rows:
        model = row["model"]
        if model in means and model in others:
            row["other"] = others[model].value
            row["change"] = Cell.of(means[model] - others[model])
    own, name = sides
    about = f"above 0: {own} is higher than {name}"
    columns = [
        Column("other", name, ".2"),
        Column("change", f"{own} less {name}", ".2", help=about),
        Column("change", "95% interval", "interval.2"),
    ]
    return replace(table, rows=rows, columns=_before_groups(table.columns, columns))


class Behind(NamedTuple):
    """What is behind the cells of a table."""

    view: View
    name: str
    """Of the table's verdicts."""
    pairs: str
    """Of the pairs that stand beside them."""
    judge: str
    """Whose verdicts they are; empty: several judges'."""

    def of(self, row: Row, column: Column) -> View | None:
        """Return the questions or verdicts behind a cell: of its model, the worst first."""
        view, key = self.view, column.key
        verdicts = View("verdicts", view.bench, judge=self.judge, model=view.model)
        if "opponent" in row:  # one model against the other, in a turn
            only = key if key in ("win", "tie", "loss") else "pairs"
            both, turn = (row["model"], row["opponent"]), str(row["turn"] or "")
            return verdicts.to(turn=turn, model=both, only=only)
        if "judge" in row and "model" not in row:
            return verdicts.to(judge="" if row["judge"] == "all" else row["judge"])
        if "model" not in row:
            return None
        questions = View(
            "questions", view.bench, self.name, view.judge, model=(row["model"],), sort="low"
        )
        if key == "against":
            if row[key].get(column.of) is None:
                return None
            return verdicts.to(model=(row["model"], column.of), only="pairs")
        if key == "category" and len(view.model) == 2:
            return questions.to(category=column.of, model=view.model, sort="difference")
        if key == "category":
            return questions.to(category=column.of)
        if key == "failed" and row.get("failed"):
            return questions.to(tab="verdicts", only="none", sort="")
        if key == "pair":
            return questions.to(verdicts=self.pairs)
        if key == METRIC:
            return questions.to(criterion=column.of)
        if key == "change" and view.other == RUN:
            return verdicts.to(model=(row["model"],), sort="change")
        if key == "change":
            return questions.to(tab="verdicts", only="judges", judge="", sort="-spread")
        is_number = key in ("average", "turn", "first_turn", "last_turn") and not column.draw
        return questions if key == "model" or is_number else None


def fields(data: Data, view: View) -> Fields:
    """Return what can be chosen."""
    chosen = data.chosen(view.verdicts)
    if chosen is None:
        return Fields(view)
    others = [name for name in chosen.choices if name != view.judge]
    compared = named(others, "nothing")
    if data.other is not None:
        compared[RUN] = f"the other run: {data.other.bench.folder.parent.name}"
    for verdicts in data.verdicts.values():
        if verdicts.panel.form == chosen.panel.form and verdicts is not chosen:
            compared[verdicts.name] = verdicts.label
    options = {
        "verdicts": {verdicts.name: verdicts.label for verdicts in data.verdicts.values()},
        "judge": named(chosen.choices, "all together"),
        "other": compared,
    }
    return Fields(view, options, chosen.ranked, ("csv",))


def _nothing(bench: Bench) -> str:
    if not bench.answered_models():
        return pages.notice(f"There are no answers in {bench.name} yet; gen_answer makes them.")
    return pages.notice("No judge has judged the answers yet; gen_judgment lets one do so.")

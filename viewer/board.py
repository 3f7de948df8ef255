"""The tab Board: who is better and how sure, and one table with a row a model."""

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from harness.bench import Bench
from harness.reporting.formats import csv
from harness.reporting.html import table_html
from harness.reporting.page import METRIC, Cell, Column, Page, Row, Table
from harness.reporting.results_page import results_page, sections_of
from harness.reporting.section import Section
from harness.reporting.section import View as Shown
from harness.results import Panel, of_models, summarize
from harness.words import listed
from viewer import pages
from viewer.data import Data, Verdicts
from viewer.pages import Site
from viewer.state import View


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    chosen = data.chosen(view.verdicts)
    if chosen is None:
        return _nothing(data.bench)
    shown = [chosen.of(view.judge)]
    beside = _pairs_beside(data, shown[0])
    shown += [verdicts.panel for verdicts in beside]
    pairs = next((verdicts.name for verdicts in beside), chosen.name)
    baseline = data.baseline if any(panel.form == "pair" for panel in shown) else None
    kept = [*view.model, *([baseline] if baseline else [])] if view.model else []
    shown = of_models(shown, kept)
    if not shown:
        names = listed(view.model)
        return _choices(data, chosen, view) + pages.notice(f"There are no verdicts on {names}.")
    panel = shown[0]
    section_view = Shown(bench=data.bench.name, models=view.model, baseline=baseline)
    sections = sections_of(shown, section_view)
    page = results_page(sections, section_view)
    main = next(section for section in sections if section.panel is panel)
    table = _wide(page.tables, main)
    for section in sections:
        if section is not main:
            table = _joined(table, section)
    other = data.compared(chosen, view.other)
    if other is not None and other is not chosen.of(view.judge):
        for same_models in of_models([other], view.model):
            table = _compared(table, panel, same_models, view.other)

    def link(row: Row, column: Column) -> str | None:
        questions = _behind(view, chosen, pairs, row, column)
        return site.href(questions) or None if questions is not None else None

    return pages.render(
        "board.html",
        outcome=page.outcome.splitlines(),
        caption=table.title.replace("`", ""),
        table=Markup(table_html(replace(table, title="results"), link)),
        csv=csv(Page("", rows=table.rows)) if site.live else "",
        notes=[note.text for note in [*page.causes, *page.notes] if note.text],
        choices=_choices(data, chosen, view) if site.live else "",
        charts=[(chart.title, Markup(chart.draw())) for chart in page.charts],
    )


def _pairs_beside(data: Data, panel: Panel) -> list[Verdicts]:
    """Return the pairs that the judges of some grades compared too."""
    if panel.form != "grade":
        return []
    pairs = [verdicts for verdicts in data.verdicts.values() if verdicts.panel.form == "pair"]
    return [pair for pair in pairs if set(pair.panel.judges) & set(panel.judges)][:1]


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


def _compared(table: Table, panel: Panel, other: Panel, name: str) -> Table:
    """Return a table with the other judge's or file's number of each model, and the difference."""
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
            row["change"] = Cell.of(others[model] - means[model])
    columns = [
        Column("other", "compared", ".2", help=name),
        Column("change", "Δ", ".2", help=f"{name} less these"),
        Column("change", "95% interval", "interval.2"),
    ]
    return replace(table, rows=rows, columns=_before_groups(table.columns, columns))


def _behind(view: View, chosen: Verdicts, pairs: str, row: Row, column: Column) -> View | None:
    """Return the questions behind a cell: of its model, the worst first."""
    questions = View(
        "questions", view.bench, chosen.name, view.judge, model=(row["model"],), sort="low"
    )
    key = column.key
    if key == "category":
        return questions.to(category=column.of)
    if key == "failed" and row.get("failed"):
        return questions.to(tab="verdicts", only="none", sort="")
    if key == "pair":
        return questions.to(verdicts=pairs, judge="")
    if key == METRIC:
        return questions.to(criterion=column.of)
    if key == "change":
        return questions.to(tab="verdicts", only="judges", judge="", sort="-spread")
    is_number = key in ("average", "turn", "first_turn", "last_turn") and not column.draw
    return questions if key == "model" or is_number else None


def _choices(data: Data, chosen: Verdicts, view: View) -> Markup:
    labels = {verdicts.name: verdicts.label for verdicts in data.verdicts.values()}
    others = {name: name for name in chosen.choices if name != view.judge}
    for verdicts in data.verdicts.values():
        if verdicts.panel.form == chosen.panel.form and verdicts is not chosen:
            others[verdicts.name] = verdicts.label
    fields = [
        pages.choice(view, "verdicts", "Verdicts", labels),
        pages.choice(view, "judge", "Judge", {"": "all together", **chosen.choices}),
        pages.choice(view, "other", "Compare with", {"": "nothing", **others}),
    ]
    return pages.form(view, fields) + pages.boxes(view, chosen.ranked)


def _nothing(bench: Bench) -> str:
    if not bench.answered_models():
        return pages.notice(f"There are no answers in {bench.name} yet; gen_answer makes them.")
    return pages.notice("No judge has judged the answers yet; gen_judgment lets one do so.")

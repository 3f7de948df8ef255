"""The tab Board: who is better and how sure, and one table with a row a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.bench import Bench
from harness.reporting.html import table_html
from harness.reporting.page import Column, Page, Row, Table, put
from harness.reporting.results_page import results_page, sections_of
from harness.reporting.section import Section
from harness.reporting.section import View as Shown
from harness.results import Panel, summarize
from viewer import pages
from viewer.data import Data, Verdicts
from viewer.pages import Site
from viewer.state import View


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    chosen = data.chosen(view.verdicts)
    if chosen is None:
        return _nothing(data.bench)
    made = board(data, chosen, view)

    def leads(row: Row, column: Column) -> str | None:
        return _link(view, site, chosen, row, column)

    return pages.render(
        "board.html",
        outcome=made.page.outcome.splitlines(),
        caption=made.table.title.replace("`", ""),
        table=Markup(table_html(replace(made.table, title="results"), leads)),
        notes=[note.text for note in [*made.page.causes, *made.page.notes] if note.text],
        choices=_choices(data, chosen, view) if site.live else "",
        charts=[(chart.title, Markup(chart.draw())) for chart in made.page.charts],
    )


class Board(NamedTuple):
    """The page of results, and its one table."""

    page: Page
    table: Table


def board(data: Data, chosen: Verdicts, view: View) -> Board:
    """Return the board of some verdicts, with the same judges' pairs beside grades."""
    panel = chosen.of(view.judge)
    shown = Shown(bench=data.bench.name, models=view.model)
    sections = sections_of([panel, *_pairs_beside(data, panel)], shown)
    page = results_page(sections, shown)
    main = next(section for section in sections if section.panel is panel)
    table = _wide(page.tables, main)
    for other in sections:
        if other is not main:
            table = _joined(table, other)
    if view.other:
        table = _compared(table, panel, chosen, data, view)
    return Board(page, table)


def _pairs_beside(data: Data, panel: Panel) -> list[Panel]:
    """Return the pairs that the judges of some grades compared too."""
    if panel.form != "grade":
        return []
    pairs = [verdicts.panel for verdicts in data.verdicts.values() if verdicts.panel.form == "pair"]
    return [other for other in pairs if set(other.judges) & set(panel.judges)][:1]


def _wide(tables: Sequence[Table], main: Section) -> Table:
    """Return the main section's table as HTML shows it; of several columns' tables the first."""
    shown = [table for table in tables if table.rows and table.only in ("", "html")]
    named = [table for table in shown if "model" in table.rows[0]]
    for table in named:
        if table.rows[0] in main.rows or table.rows == main.tables[0].rows:
            return table
    return named[0] if named else main.tables[0]


def _joined(table: Table, pairs: Section) -> Table:
    """Return a table with each model's win rate and its wins, ties and losses in pairs."""
    by_model = {row["model"]: row for row in pairs.tables[0].rows}
    key = next((k for k in ("win_rate_adjusted", "win_rate") if k in pairs.tables[0].rows[0]), "")
    names = (key, f"{key}_low", f"{key}_high", "win", "tie", "loss", "flipped")
    rows: list[Row] = []
    for row in table.rows:
        other = by_model.get(row["model"], {})
        rows.append({**row, **{f"pair_{name}": other.get(name) for name in names}})
    columns = [
        Column(f"pair_{key}", "win rate", ".2", help="in pairs; a tie is half a win"),
        Column("pair_", "win/tie/loss", draw="record"),
    ]
    return replace(table, rows=rows, columns=_before_groups(table.columns, columns))


def _before_groups(columns: Sequence[Column], more: Sequence[Column]) -> list[Column]:
    """Return columns with more of them before those by category, which are many."""
    shaded = [column for column in columns if column.draw == "shade"]
    return [*(column for column in columns if column.draw != "shade"), *more, *shaded]


def _compared(table: Table, panel: Panel, chosen: Verdicts, data: Data, view: View) -> Table:
    """Return a table with the other judge's or file's number of each model, and the difference."""
    other = chosen.of(view.other) if view.other in chosen.sources else None
    if other is None and (named := data.verdicts.get(view.other)) is not None:
        other = named.panel
    if other is None or other is panel or other.metrics[0] not in panel.metrics:
        return table
    metric = panel.metrics[0]
    means = [
        {group["model"]: group.mean for group in summarize(side.combined.of(metric=metric))}
        for side in (panel, other)
    ]
    rows: list[Row] = []
    for row in table.rows:
        model, added = row["model"], {}
        if model in means[0] and model in means[1]:
            added["other"] = means[1][model].value
            put(added, "change", means[1][model] - means[0][model])
        rows.append({**row, **added})
    columns = [
        Column("other", "compared", ".2", help=view.other),
        Column("change", "Δ", ".2", help=f"{view.other} less these"),
        Column("change", "95% interval", "interval.2"),
    ]
    return replace(table, rows=rows, columns=_before_groups(table.columns, columns))


def _link(
    view: View, site: Site, chosen: Verdicts, row: Mapping[str, Any], column: Column
) -> str | None:
    """Return where a cell leads: to the questions of its model, the worst first."""
    base = View("questions", view.bench, chosen.name, view.judge, model=(row["model"],), sort="low")
    if column.key == "model":
        return site.href(base) or None
    if column.draw == "shade" and column.key.startswith("category_"):
        return site.href(base.to(category=column.key.removeprefix("category_"))) or None
    if column.key == "failed" and row.get("failed"):
        return site.href(base.to(only="failed")) or None
    if column.key.startswith("pair_win"):
        return site.href(base.to(verdicts="", judge="", only="flipped")) or None
    if column.key in chosen.panel.metrics:
        return site.href(base.to(criterion=column.key)) or None
    if column.key.startswith(("average", "turn_", "first_turn", "last_turn")) and not column.draw:
        return site.href(base) or None
    if column.key == "change":
        return site.href(base.to(sort="disagreement", other=view.other)) or None
    return None


def _choices(data: Data, chosen: Verdicts, view: View) -> Markup:
    names = {verdicts.name: verdicts.label for verdicts in data.verdicts.values()}
    now = replace(view, verdicts=chosen.name)
    alone = chosen.sources if len(chosen.sources) <= 12 else {}  # voters are many
    judges = {"": "all together", **{name: name for name in alone}} if len(alone) > 1 else {}
    same = [v for v in data.verdicts.values() if v.panel.form == chosen.panel.form]
    others = {name: name for name in alone if name != view.judge} if len(alone) > 1 else {}
    others |= {v.name: v.label for v in same if v is not chosen}
    fields = [
        pages.choice(now, "verdicts", "Verdicts", names),
        pages.choice(now, "judge", "Judge", judges),
        pages.choice(now, "other", "Compare with", {"": "nothing", **others} if others else {}),
    ]
    return pages.form(now, fields) + Markup(
        pages.render("models.html", view=now, models=chosen.ranked, address=now.query())
    )


def _nothing(bench: Bench) -> str:
    if not bench.answered_models():
        return pages.notice(f"There are no answers in {bench.name} yet; gen_answer makes them.")
    return pages.notice("No judge has judged the answers yet; gen_judgment lets one do so.")

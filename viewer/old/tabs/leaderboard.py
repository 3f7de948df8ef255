"""The tab Leaderboard: scores, or wins, losses and ties, how sure they are, and the way to the questions behind each.

The table comes first, from `show_result`; slower parts (intervals, significant differences) follow in place.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from harness.old.errors import DataError, MissingError, UsageError
from harness.old.showing import Chart, Column, Html, Note, Table
from harness.old.showing.charts import MOST, radar_chart, score_chart
from harness.old.showing.html import table_html
from harness.old.showing.items import Item, Row
from harness.old.showing.show_result import TURN_BY_TURN, result_page, turn_charts
from harness.old.showing.values import percent
from harness.old.showing.words import heading_of
from viewer.old import markup
from viewer.old.context import Context, Tab
from viewer.old.later import NotYet
from viewer.old.state import State
from viewer.old.text import escaped

if TYPE_CHECKING:
    from harness.old.results.detail import Detail
    from harness.old.results.result import Result

_FEW = 6
"""Models of which a table of every two has room beside a chart."""
_NOTES = 3
"""Notes that stand between the table and the pictures; of more the others are folded away."""
_FIRST = {"single": "Scores", "pairwise-baseline": "Wins, ties and losses", "pairwise-all": "Wins, ties and losses"}


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        if state.judge:
            return state
        try:
            file = context.store.judgment_file(state)
        except MissingError:
            return state
        return state.to(judge=file.judge, judge_set=file.judge_set)

    return Tab("leaderboard", "Leaderboard", lambda state: _show(context, state), settle)


def _show(context: Context, state: State) -> str:
    more = _baseline(context, state) if state.mode == "pairwise-baseline" else ""
    choices = markup.choices(context, state, "bench", "mode", "judge", more=more)
    bench = context.store.bench(state.bench)
    if not context.store.judgment_files(bench):
        return choices + _nothing_yet(context, state) + _metrics(context, state)
    sure = ""
    try:
        result = context.store.result(state, intervals=False)
    except NotYet as wait:
        sure = markup.waiting(wait)
        if wait.before is None:
            return choices + sure
        result = wait.before.value  # rows have come since: they are in the table in a moment
    except (MissingError, UsageError) as error:
        if more and not state.looked_for("baseline"):
            return choices + markup.notice("No model is in every pair here: choose the baseline above.")
        return choices + markup.notice(str(error), kind="fault")
    try:
        result = result if sure else context.store.result(state)
    except NotYet as wait:
        sure = markup.waiting(wait)
    except MissingError as error:  # all answers have been replaced since
        return choices + markup.notice(str(error), kind="fault")
    except DataError as error:  # such as a damaged answer: how sure the table is cannot be said, what it says can
        sure = markup.notice(str(error), kind="fault")
    head = f'<h2 class="tb-title">{escaped(result.bench or bench.name)}</h2>'
    title = f"{bench.settings.title}: " if bench.settings.title else ""
    told = f"{title}{markup.MODE_NAMES[state.mode]} by {result.judge}, judge set {result.judge_set}"
    faults = "" if sure else "".join(markup.notice(f, kind="fault") for f in _faults(context, result.path))
    about = f'<p class="tb-quiet">{escaped(told)}</p>'
    first, *others = list(_View(state, result).sections()) or [""]
    found = choices + head + about + faults + first + _notes(result.notes) + "".join(others) + sure
    if sure:  # one after another: what is made at the same time would keep the table waiting
        return found
    found += _price(context, state, result)
    return found + (_metrics(context, state) if state.mode == "single" else "")


def _notes(notes: Sequence[str]) -> str:
    """Return what must be known of a table; of many notes the others on request, but never how much is lacking."""
    notes = sorted(notes, key=lambda note: " give no verdict" not in note)
    if len(notes) <= _NOTES:
        return markup.notes(notes)
    others = notes[_NOTES - 1 :]
    return markup.notes(notes[: _NOTES - 1]) + markup.details(
        f"{len(others)} more notes", markup.notes(others), name="tb-notes"
    )


def _price(context: Context, state: State, result: "Result") -> str:
    """Return what the answers cost and how long they took, in a part of its own; nothing if no reply says."""
    from harness.old.showing.efficiency import efficiency_page

    try:
        found = context.store.efficiency(state, result)
    except NotYet as wait:
        if wait.before is None:
            return markup.waiting(wait)
        found = wait.before.value
    except (MissingError, UsageError, DataError):
        return ""
    if all(row.reply_tokens is None and row.seconds is None for row in found.rows):
        return ""
    page = efficiency_page(found)
    shown = [
        table_html(item, label="Quality and price")
        if isinstance(item, Table)
        else markup.section(item.title, markup.chart(item.draw(), item.title), note=item.note or "")
        for item in page.items
        if isinstance(item, Table | Chart)
    ]
    own = [note for note in page.notes if note not in result.notes]
    return markup.details("Quality and price", markup.notes(own) + "".join(shown), name="tb-price")


@markup.in_place
def _metrics(context: Context, state: State) -> str:
    """Return what metrics say that need no judge, in a part of its own; nothing if there are none."""
    result = context.store.measured(state)
    if result is None:
        return ""
    inside = markup.notes(result.notes) + "".join(_View(state, result).sections())
    return markup.details("Metrics that need no judge", inside, name="tb-metrics")


def _baseline(context: Context, state: State) -> str:
    """Return the field that chooses the baseline; empty takes the model that is in every pair."""
    names = context.store.bench(state.bench).answered_models()
    chosen = state.looked_for("baseline")
    options = {"": "the model in every pair", **{name: name for name in (*names, chosen) if name}}
    inside = markup.select("f.baseline", "Baseline", options, chosen)
    return markup.form(state, inside, names={"f.baseline"}, label="Baseline")


def _faults(context: Context, path: Any) -> list[str]:
    try:
        return context.store.faults(path)
    except NotYet:
        return []


def _nothing_yet(context: Context, state: State) -> str:
    """Return what to do where there are no judgments, or not even answers."""
    bench = context.store.bench(state.bench)
    answered = bench.answered_models()
    judge = markup.command(f"gen_judgment --bench-name {bench.name} --mode {state.mode} --judge-model NAME")
    if answered:
        read = markup.link(state.to(tab="answers", question="", models=()), "Read the answers")
        names = ", ".join(answered[:8]) + (" and others" if len(answered) > 8 else "")
        return markup.notice(f"{names} answered; there are no judgments yet. Create them with:", then=judge + read)
    answer = markup.command(f"gen_answer --bench-name {bench.name} --model NAME")
    text = (
        f"{bench.name} has {len(bench.questions):,} questions and no answers yet. Let a model answer them, then judge:"
    )
    read = markup.link(state.to(tab="answers", question="", models=()), "Read the questions")
    return markup.notice(text, then=answer + judge + read)


class _View:
    """A result's page as HTML: its tables with links to the judgments behind each number, its charts with switches."""

    def __init__(self, state: State, result: "Result") -> None:
        self.state, self.result = state, result

    def sections(self) -> Iterator[str]:
        """Yield the sections, first that of the main table; charts that follow each other share the width."""
        items = list(self._of_chosen(result_page(self.result).items))
        main = next((at for at, item in enumerate(items, 1) if isinstance(item, Table)), 0)
        if main:
            yield "".join(map(self._drawn, items[:main]))
            items = items[main:]
        for is_chart, some in groupby(items, key=_beside_others):
            shown = "".join(map(self._drawn, some))
            yield f'<div class="tb-charts">{shown}</div>' if is_chart else shown

    def _of_chosen(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the items; what follows models from turn to turn follows those that were ticked."""
        detail = self.result.detail
        if detail is None or detail.grades is None:
            yield from items
            return
        own = detail.models
        usual = {chart.title for chart in turn_charts(detail, own)}
        for item in items:
            if isinstance(item, Chart) and item.title in usual:
                if item.title == TURN_BY_TURN:
                    yield from turn_charts(detail, [name for name in own if name in self.state.models] or own)
            else:
                yield item

    def _drawn(self, item: Item) -> str:
        """Return an item; what cannot be drawn says why."""
        try:
            return self._item(item)
        except UsageError as error:
            return markup.notice(str(error))

    def _item(self, item: Item) -> str:
        if isinstance(item, Note):
            return f'<p class="tb-outcome-said">{escaped(item.text)}</p>'
        if isinstance(item, Table):
            return markup.section(item.title or _FIRST[self.result.mode], self._table(item), note=item.note or "")
        if item.instead is not None:
            return markup.section(item.title, self._table(item.instead), note=item.instead.title)
        detail = self.result.detail
        if detail is not None and detail.kind == "grades" and item.title == "Scores":
            return markup.section("How sure", self._columns(detail), note=item.note or "")
        if detail is not None and detail.kind == "grades" and item.title == f"By {detail.table.by}":
            return markup.section("Profile", self._radar(detail))
        return markup.section(item.title, markup.chart(item.draw(), item.title), note=item.note or "")

    def _table(self, table: Table) -> str:
        """Return a table; a number leads to the judgments behind it."""

        def link(row: Row, column: str) -> str | None:
            model = str(row.get("model", ""))
            if table.across == "models" and column not in ("model", "number"):
                return self._behind(model, column)
            if table.across == "groups" and column != "model":
                return self._behind(model, category=column)
            turn = re.fullmatch(r"turn_(\d+)", column)
            if turn or column in {"average", self.result.column}:
                return self._behind(model, turn=int(turn[1]) if turn else row.get("turn"))
            return None

        if self.result.mode != "single" and not table.title:
            table = self._with_bars(table)
        return table_html(table, label=table.title or _FIRST[self.result.mode], link=link)

    def _behind(self, *models: str, category: str = "", turn: int | None = None) -> str:
        """Return the address of the judgments behind a number."""
        there = self.state.to(tab="find", models=models, question="", turn=turn, filter={})
        return there.where(category=category).query()

    def _with_bars(self, table: Table) -> Table:
        """Return the table of pairs with the shares of wins, ties and losses as a bar."""
        bars = {row["model"]: Html(_bar(row)) for row in self.result.rows()}
        rows = [{**row, "bar": bars.get(row["model"])} for row in table.rows]
        first, *others = table.columns or ()
        return table._replace(rows=rows, columns=[first, Column("bar", "win, tie, loss"), *others])

    def _columns(self, detail: "Detail") -> str:
        """Return the chart of scores, and links to those of other columns."""
        there = {detail.column: heading_of(detail.column)}
        numbers = detail.table.whole[0].estimates()
        there |= {name: heading_of(name) for name in numbers if name.startswith("turn_") or name == "drop"}
        chosen = self.state.looked_for("column")
        chosen = chosen if chosen in there else detail.column
        links = [
            markup.link(self.state.where(column=name), text, current=name == chosen) for name, text in there.items()
        ]
        ranks = detail.ranks if chosen == detail.column else None
        drawn = markup.chart(score_chart(detail.table, column=chosen, ranks=ranks), f"{chosen} of each model")
        return markup.switch("Column", links, seen=False) + drawn

    def _radar(self, detail: "Detail") -> str:
        """Return the radar of the models that were ticked."""
        there = detail.models
        chosen = [name for name in there if name in self.state.models][:MOST]
        chosen = chosen if len(chosen) > 1 else there[:MOST]
        drawn = radar_chart(detail.table, detail.column, models=chosen, scale=detail.scale)
        chart = markup.chart(drawn, "profile by category")
        if len(there) == 1:
            return chart
        boxes = "".join(markup.checkbox("model", name, name, checked=name in chosen) for name in there)
        form = markup.form(self.state, f'<div class="tb-boxes">{boxes}</div>', names={"model"}, label="Models shown")
        return chart + markup.details(f"Models shown (2 to {MOST})", form, name="tb-radar-models")


def _beside_others(item: Item) -> bool:
    """Return whether an item shares the width with others: charts do, and small tables that replace them."""
    return isinstance(item, Chart) and (item.instead is None or len(item.instead.rows) <= _FEW)


def _bar(row: Row) -> str:
    """Return the shares of wins, ties and losses as one bar."""
    parts, tie, n = [], row.get("tie", row.get("n_draws")), row["n"]
    for kind, count in (("win", row["win"]), ("tie", tie), ("loss", row["loss"])):
        if count:
            share = count / n
            text = percent(share) if share >= 0.12 else ""
            parts.append(f'<span class="tb-{kind}" style="width: {100 * share:.2f}%">{text}</span>')
    told = f"{row['win']} wins, {tie} ties, {row['loss']} losses"
    return f'<div class="tb-outcome" role="img" aria-label="{told}" title="{told}">{"".join(parts)}</div>'

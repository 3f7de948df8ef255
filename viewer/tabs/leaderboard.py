"""The tab Leaderboard: scores, or wins, losses and ties, how sure they are, and the way to the questions behind each.

The table comes first, from `show_result`; what takes longer (intervals, what can be told apart) follows in place.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from harness.errors import MissingError, UsageError
from harness.showing import Table
from harness.showing.charts import difference_chart, radar_chart, rate_chart, score_chart
from harness.showing.charts.radar import MOST, USUAL_SCALE
from harness.showing.html import table_html
from harness.showing.show_result import result_page
from harness.showing.values import percent
from viewer import markup
from viewer.context import Context, Tab
from viewer.later import NotYet
from viewer.markup import Html
from viewer.questions import scrolling
from viewer.state import State
from viewer.text import escaped

_MANY = 10
"""Models of which the matrix of differences takes the width of the page."""
_COLUMNS = {"average": "average", "turn_1": "turn 1", "turn_2": "turn 2", "drop": "turn 1 less turn 2"}


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
        return choices + _nothing_yet(context, state)
    try:
        result = context.store.result(state, intervals=False)
    except NotYet as wait:
        return choices + markup.waiting(wait)
    except (MissingError, UsageError) as error:
        if more and not state.looked_for("baseline"):
            return choices + markup.notice("No model is in every pair here: choose the baseline above.")
        return choices + markup.notice(str(error), kind="fault")
    detail, sure = None, ""
    try:
        detail = context.store.result(state).detail
    except NotYet as wait:
        sure = markup.waiting(wait)
    view = _Grades(context, state, result, detail) if state.mode == "single" else _Pairs(context, state, result, detail)
    head = f'<h2 class="tb-title">{escaped(result.bench or bench.name)}</h2>'
    told = f"{markup.MODE_NAMES[state.mode]} by {result.judge}, judge set {result.judge_set}"
    faults = "".join(markup.notice(f, kind="fault") for f in _faults(context, result.path))
    return (
        choices
        + head
        + f'<p class="tb-quiet">{escaped(told)}</p>'
        + faults
        + markup.notes(result.notes)
        + view.html(sure)
    )


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
        return markup.notice(f"{names} answered; nobody has judged the answers yet. Let a judge:", then=judge + read)
    answer = markup.command(f"gen_answer --bench-name {bench.name} --model NAME")
    text = (
        f"{bench.name} has {len(bench.questions):,} questions and no answers yet. Let a model answer them, then judge:"
    )
    read = markup.link(state.to(tab="answers", question="", models=()), "Read the questions")
    return markup.notice(text, then=answer + judge + read)


class _View:
    """What both kinds of tables have in common: the way to the questions, and charts that are drawn once."""

    def __init__(self, context: Context, state: State, result: Any, detail: Any) -> None:
        self.context, self.state, self.result, self.detail = context, state, result, detail

    def html(self, sure: str) -> str:
        """Return the sections; `sure` stands in place of those that need intervals, until they are there."""
        parts = list(self.first())
        if self.detail is not None:
            parts += self.then()
        return "".join(parts) + sure

    def first(self) -> Iterator[str]:
        """Yield what needs no intervals."""
        yield ""

    def then(self) -> Iterator[str]:
        """Yield what needs them."""
        yield ""

    def behind(self, text: str, *models: str, category: object = "", turn: int | None = None) -> Html:
        """Return a link to the judgments behind a number."""
        there = self.state.to(tab="find", models=models, question="", turn=turn, filter={})
        return Html(markup.link(there.where(category=category), text), number=True)

    def chart(self, name: str, label: str, draw: Callable[[], str]) -> str:
        """Return a chart, drawn beside the page and kept; a word in place where it cannot be drawn."""
        key = ("chart", name, self.state.to(tab="", models=() if name != "radar" else self.state.models))
        try:
            return markup.chart(self.context.store.made(key, f"drawing {label}", draw, self.result.path), label)
        except NotYet as wait:
            return markup.waiting(wait)
        except UsageError as error:
            return markup.notice(str(error))

    def heat(self, rows: Sequence[dict[str, Any]], low: float, high: float, text: Callable[[float], str]) -> str:
        """Return a table with a shade behind each number, between the least and the greatest there can be."""
        shaded = []
        for row in rows:
            cells: dict[str, object] = {"model": markup.named(row["model"])}
            for name, value in row.items():
                if name != "model":
                    cells[name] = self._shade(row["model"], name, value, low, high, text)
            shaded.append(cells)
        return markup.table(shaded, label="by category")

    def _shade(
        self, model: str, category: str, value: float | None, low: float, high: float, text: Callable[[float], str]
    ) -> object:
        if value is None:
            return None
        share = min(1.0, max(0.0, (value - low) / (high - low)))
        inside = self.behind(text(value), model, category=category).text
        return Html(f'<div class="tb-heat" style="--share: {share:.2f}">{inside}</div>', number=True)


class _Grades(_View):
    """Grades."""

    def first(self) -> Iterator[str]:
        if self.result.verdicts is not None:
            yield from self._verdicts()
            return
        rows = []
        ranks = self.detail.ranks if self.detail else {}
        sure = {row.model: row.average for row in self.detail.scores} if self.detail else {}
        for row in self.result.single:
            estimate = sure.get(row.model)
            interval = None
            if estimate is not None and estimate.low is not None:
                interval = f"{markup.number(estimate.low)} to {markup.number(estimate.high)}"
            turns = {
                f"turn {turn}": None if value is None else self.behind(markup.number(value), row.model, turn=turn)
                for turn, value in row.turns.items()
            }
            average = None if row.average is None else self.behind(markup.number(row.average), row.model)
            rank = {"rank": str(ranks[row.model])} if row.model in ranks else {}
            rows.append(
                {
                    "model": markup.named(row.model),
                    **turns,
                    "average": average,
                    **({"95% interval": interval} if sure else {}),
                    **rank,
                    "n": row.n,
                    "excluded": row.excluded,
                }
            )
        yield markup.section("Scores", markup.table(rows, label="scores"))
        if self.result.categories:
            least, greatest = self.result.scale or USUAL_SCALE
            table = self.heat(self.result.category_table(), least, greatest, lambda value: markup.number(value, 1))
            yield markup.section(
                "By category", table, note="Average of both turns; a number leads to the judgments behind it."
            )

    def _verdicts(self) -> Iterator[str]:
        """Yield the tables of labels, dimensions or several criteria."""
        for item in result_page(self.result).items:
            if isinstance(item, Table):
                yield markup.section(item.title or "Results", table_html(item), note=item.note or "")

    def then(self) -> Iterator[str]:
        scores = self.detail.scores
        column = self.state.looked_for("column")
        column = column if column in _COLUMNS else "average"
        there = [name for name in _COLUMNS if name != "drop" or scores[0].drop is not None]
        there = [name for name in there if not name.startswith("turn_") or int(name[5:]) in scores[0].turns]
        links = "".join(
            markup.link(self.state.where(column=name), _COLUMNS[name], current=name == column) for name in there
        )
        switch = f'<nav class="tb-field tb-switch" aria-label="Column"><span>{links}</span></nav>'
        ranks = list(self.detail.ranks.values()) if column == "average" else ()
        drawn = self.chart("scores", f"{column} of each model", lambda: score_chart(scores, column=column, ranks=ranks))
        note = f"Whiskers are 95% intervals: questions resampled within {self.detail.by}."
        charts = [markup.section("How sure", switch + drawn, note=note)]
        if len(scores[0].groups) >= 3:
            least, greatest = self.detail.scale or USUAL_SCALE
            note = f"Average score by category, from {least:g} to {greatest:g}."
            charts.append(markup.section("Profile", self._radar(), note=note))
        many = len(scores) > _MANY
        if len(scores) > 1:
            apart = markup.section("What can be told apart", self._told_apart() + ("" if many else self._differences()))
            charts[-1 if many else 0] = f"<div>{charts[-1 if many else 0]}{apart}</div>"
        yield f'<div class="tb-charts">{"".join(charts)}</div>'
        if many:
            yield markup.section("Every two models", self._differences())

    def _radar(self) -> str:
        there = [row.model for row in self.detail.scores]
        chosen = [name for name in there if name in self.state.models][:MOST]
        chosen = chosen if len(chosen) > 1 else there[:MOST]
        boxes = "".join(markup.checkbox("model", name, name, checked=name in chosen) for name in there)
        form = markup.form(self.state, f'<div class="tb-boxes">{boxes}</div>', names={"model"}, label="Models shown")
        chart = self.chart(
            "radar",
            "profile by category",
            lambda: radar_chart(self.detail.scores, models=chosen, scale=self.detail.scale),
        )
        if len(there) == 1:
            return chart
        return chart + markup.details(f"Models shown (2 to {MOST})", form, name="tb-radar-models")

    def _told_apart(self) -> str:
        pairs = self.detail.pairs
        lines = []
        for pair in self.detail.neighbours()[:30]:
            least = pair.smallest_detectable
            said = {"better": "is better than", "worse": "is worse than"}.get(pair.verdict, "cannot be told apart from")
            p = (
                ""
                if pair.p_holm is None
                else f", p {'below 0.001' if pair.p_holm < 0.001 else markup.number(pair.p_holm, 3)}"
            )
            need = "" if pair.told_apart or least is None else f"; {pair.n} questions would show {markup.number(least)}"
            lines.append(
                f"{pair.model_1} {said} {pair.model_2} (difference {markup.number(pair.difference.value)}{p}{need})"
            )
        told = f"{pairs.told_apart} of {len(pairs.pairs)} pairs are told apart (p adjusted for all of them)."
        return f"<p>{escaped(told)}</p>{scrolling(markup.notes(lines), 'apart')}"

    def _differences(self) -> str:
        order = [row.model for row in self.detail.scores]
        drawn = partial(difference_chart, self.detail.pairs, order=order)
        return self.chart("differences", "differences between models", drawn)


class _Pairs(_View):
    """Pairs."""

    def first(self) -> Iterator[str]:
        rows = []
        sure = {row.model: row.overall.win_rate_adjusted for row in self.detail.rates} if self.detail else {}
        for row in self.result.pairwise:
            estimate = sure.get(row.model)
            interval = None
            if estimate is not None and estimate.low is not None and estimate.high is not None:
                interval = f"{percent(estimate.low)} to {percent(estimate.high)}"
            rate = row.win_rate_adjusted
            rows.append(
                {
                    "model": markup.named(row.model),
                    "win, tie, loss": Html(self._bar(row)),
                    "win": row.win,
                    "tie": row.tie,
                    "loss": row.loss,
                    "win rate": None if rate is None else self.behind(percent(rate), row.model),
                    **({"95% interval": interval} if sure else {}),
                    "n": row.n,
                    "excluded": row.excluded,
                }
            )
        note = "In the win rate a tie counts half. A pair whose verdict changes when the answers are swapped is a tie."
        yield markup.section("Wins, ties and losses", markup.table(rows, label="wins, ties and losses"), note=note)

    def _bar(self, row: Any) -> str:
        """Return the shares of wins, ties and losses as one bar."""
        parts = []
        for kind, count in (("win", row.win), ("tie", row.tie), ("loss", row.loss)):
            share = row.rate(count)
            if count and share is not None:
                text = percent(share) if share >= 0.12 else ""
                parts.append(f'<span class="tb-{kind}" style="width: {100 * share:.2f}%">{text}</span>')
        told = f"{row.win} wins, {row.tie} ties, {row.loss} losses"
        return f'<div class="tb-outcome" role="img" aria-label="{told}" title="{told}">{"".join(parts)}</div>'

    def then(self) -> Iterator[str]:
        detail = self.detail
        note = f"Whiskers are 95% intervals: questions resampled within {detail.by}."
        chart = self.chart("rates", "win rate of each model", lambda: rate_chart(detail.rates))
        parts = [markup.section("How sure", chart, note=note)]
        if len(detail.matrix) > 1:
            note = "Win rate of the row's model against the column's, ties half; a number leads to the pairs behind it."
            parts.append(markup.section("Every two models", self._matrix(), note=note))
        yield f'<div class="tb-charts">{"".join(parts)}</div>'
        groups = [
            {"model": row.model, **{str(g): own.win_rate_adjusted.value for g, own in row.groups.items()}}
            for row in detail.rates
        ]
        if groups and len(groups[0]) > 1:
            note = "Win rate, ties half; a number leads to the pairs behind it."
            yield markup.section("By category", self.heat(groups, 0.0, 1.0, percent), note=note)

    def _matrix(self) -> str:
        names = [row[0].model for row in self.detail.matrix if row]
        rows = []
        for at, row in enumerate(self.detail.matrix):
            cells: dict[str, object] = {"model": Html(f"{at + 1}&ensp;{markup.named(names[at]).text}")}
            cell_of = {cell.opponent: cell for cell in row}
            for number, other in enumerate(names, 1):
                cell = cell_of.get(other)
                value = None if cell is None else cell.win_rate_adjusted.value
                if cell is None or value is None:
                    cells[str(number)] = None
                    continue
                inside = self.behind(percent(value), cell.model, other).text
                tip = f"{cell.model} against {other}: {cell.win} wins, {cell.tie} ties, {cell.loss} losses"
                cells[str(number)] = Html(
                    f'<div class="tb-heat" style="--share: {value:.2f}" title="{escaped(tip)}">{inside}</div>',
                    number=True,
                )
            rows.append(cells)
        return markup.table(rows, label="every two models")

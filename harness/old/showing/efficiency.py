"""What `show_result --efficiency` shows: quality beside money, time and length, and the models that none undercuts."""

from functools import partial

from harness.old.chat.prices import price_list
from harness.old.results.efficiency import EfficiencyTable
from harness.old.showing.items import Chart, Column, Item, Page, Row, Table
from harness.old.showing.values import counted, dollars, percent, to_places

_ONE = to_places(1)


def efficiency_page(found: EfficiencyTable) -> Page:
    """Return the page of quality beside its price."""
    result = found.result
    rows = [each.row() for each in found.rows]
    facts = {"questions": result.bench or "unstated", "judge": result.judge, "judge set": result.judge_set}
    notes = [
        f"on {found.questions} questions; tokens as the providers counted them; seconds of one call, without those "
        "neither from the cache nor in a batch",
        f"dollars for 1,000 turns, at the prices of models.toml, else of the list of {price_list().date}; frontier: no "
        "other ranked model is at least as good for at most the same money",
        *found.notes,
        *result.notes,
    ]
    title = f"Quality and price of {len(rows)} model{'s' * (len(rows) != 1)} on {result.bench or result.path.stem}"
    told = [row | {"score": [row["score"].value, row["score"].low, row["score"].high]} for row in rows]
    data = {"bench": result.bench, "judge": result.judge, "questions": found.questions, "rows": told}
    return Page(title, facts, efficiency_items(found), notes, data, rows)


def efficiency_items(found: EfficiencyTable) -> list[Item]:
    """Return the table and, where two models have prices, the chart."""
    rows: list[Row] = [{**each.row(), "frontier": "yes" if each.frontier else ""} for each in found.rows]
    places = 2 if found.result.mode == "single" else 3
    columns = [
        Column("model"),
        Column("score"),
        Column("cost", "$ per 1,000 turns", form=dollars),
        Column("frontier"),
        Column("seconds", "seconds (median)", form=_ONE),
        Column("seconds_95", "seconds (95%)", form=_ONE),
        Column("prompt_tokens", form=counted),
        Column("reply_tokens", form=counted),
        Column("reasoning_share", "reasoning", form=percent),
        Column("reasoning_cost", "$ of it reasoning", form=dollars),
        Column("characters", form=counted),
        Column("cut", form=percent),
        Column("refused", form=percent),
    ]
    items: list[Item] = [Table("", rows, columns, places=places)]
    priced = [each for each in found.rows if each.cost is not None and each.score.value is not None]
    if len(priced) > 1 and any(each.cost for each in priced):
        from harness.old.showing.charts.scatter import Point, scatter_chart

        points = [Point(each.model, each.cost or 0.0, each.score) for each in priced]
        edge = [(each.cost or 0.0, each.score.value or 0.0) for each in priced if each.frontier]
        drawn = partial(
            scatter_chart, points, x_label="dollars for 1,000 turns", y_label="score", frontier=edge, y_percent=False
        )
        items.append(Chart("Quality against price", drawn, "The line joins the models of the Pareto front."))
    return items

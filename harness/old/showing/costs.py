"""What --dry-run and `show_result --cost` show: calls, tokens and dollars that are to come, or that were spent."""

from collections.abc import Sequence
from typing import Any

from harness.old.chat.prices import price_list
from harness.old.results.cost import CostRow
from harness.old.running.estimate import Estimate, Span
from harness.old.showing.items import Column, Page, Row, Table
from harness.old.showing.values import Form, counted, dollars

_UNKNOWN = "unknown price"
NOT_IN_IT = "calls that failed, and rows that newer ones replaced, are not counted"
"""What stored tokens do not say of what was spent."""


def estimate_page(estimates: Sequence[Estimate], title: str = "") -> Page:
    """Return the page of what calls will take, with a row for each model."""
    judged = [each for each in estimates if each.mode is not None]
    whose = ["mode"] if judged else []
    whose += [name for name in ("judge_set", "sample") if len({getattr(each, name) for each in judged}) > 1]
    rows: list[dict[str, Any]] = [
        {
            "what": each.what,
            "model": each.model,
            **{name: getattr(each, name) if each in judged else "" for name in whose},
            "calls": each.calls,
            "prompt_tokens": round(each.prompt_tokens),
            "reply_tokens": _span(each.reply_tokens, counted),
            "cost": _UNKNOWN if each.cost is None else _span(each.cost, dollars),
        }
        for each in estimates
    ]
    if len(rows) > 1:
        whole: dict[str, Any] = {"what": "all", "reply_tokens": ""} | dict.fromkeys(["model", *whose], "")
        whole |= {name: sum(row[name] for row in rows) for name in ("calls", "prompt_tokens")}
        rows.append({**whole, "cost": _all_of(estimates) or _UNKNOWN})
    prices = f"prices: models.toml, else the list of {price_list().date}"
    notes = [f"prompt tokens are estimated from the texts, within 20%; {prices}"]
    for each in estimates:
        why = "no earlier replies to estimate from; from short replies to the token limit"
        if each.past:
            why = f"reply tokens by {each.past:,} earlier replies (interquartile range, widened to their mean)"
        notes.append(f"{_named(each)}: {why}")
    for each in estimates:
        if each.cached:
            notes.append(
                f"{_named(each)}: {counted(each.cached)} of the prompt tokens are counted as coming from "
                "the provider's cache, which keeps prompt prefixes for minutes"
            )
    again = sum(each.again for each in estimates)
    if again:
        known = [each.cost_again for each in estimates if each.cost_again]
        more = f" and {dollars(sum(known))}" if known else ""
        notes.append(
            "a reply that is cut off at its limit is requested again with a larger one (--retry-cut): if all were, "
            f"{counted(again)} reply tokens{more} more"
        )
    columns = [*map(Column, ("what", "model", *whose)), Column("calls", form=counted)]
    columns += [Column("prompt_tokens", form=counted), Column("reply_tokens"), Column("cost")]
    table = Table(title, rows, columns, keys=2 + len(whose))
    return Page("Estimate", {}, [table], list(dict.fromkeys(notes)))


def _named(each: Estimate) -> str:
    return f"{each.what} by {each.model}" + (f", {each.mode}" if each.mode else "")


def _all_of(estimates: Sequence[Estimate]) -> str:
    """Return the cost of all of them as a text; empty if no price is known."""
    costs = [each.cost for each in estimates if each.cost is not None]
    every = Span(sum(cost.low for cost in costs), sum(cost.high for cost in costs))
    partly = ", of the priced ones only" if len(costs) < len(estimates) else ""
    return _span(every, dollars) + partly if costs else ""


def cost_told(estimates: Sequence[Estimate]) -> str:
    """Return what calls will cost, in a few words."""
    cost = _all_of(estimates)
    return f"estimated cost {cost}" if cost else "cost unknown (models.toml can state prices)"


def reach_page(rows: Sequence[Row], notes: Sequence[str]) -> Page:
    """Return the page of what a planned run would show, and what else would."""
    columns = [*map(Column, ("questions", "samples", "judges", "smallest_difference")), Column("calls", form=counted)]
    title = "What the judgments would detect, and what more would"
    return Page("Reach", {}, [Table(title, rows, [*columns, Column("cost", "cost at most", form=dollars)])], notes)


def cost_page(costs: Sequence[CostRow]) -> Page:
    """Return the page of what calls have cost."""
    date = price_list().date
    priced = [cost for each in costs if isinstance(cost := _shown_cost(each), float)]
    known = sum(priced)
    notes = [f"in all {dollars(known)}, by models.toml, else by the list prices of {date}"]
    if costs and not priced:
        notes = ["the cost of all this is unknown"]
    if any(each.cost is None for each in costs):
        notes.append("without what has an unknown price; state the price in models.toml")
    notes.append(NOT_IN_IT)
    if any(each.unstated for each in costs):
        notes.append("without tokens: calls without stored token counts; they are not in the sums")
    rows = [each.row() for each in costs]
    data = {"rows": rows, "total": known if priced or not costs else None, "prices": date.isoformat()}
    shown = [row | {"cost": _shown_cost(each)} for each, row in zip(costs, rows, strict=True)]
    cached = [name for name in ("cached_tokens", "written_tokens") if any(row[name] for row in rows)]
    if cached:
        notes.append("cached: prompt tokens read from the provider's cache; written: those written to it")
    columns = [one for one in COST_COLUMNS if one.name in cached or one.name not in ("cached_tokens", "written_tokens")]
    return Page("Cost", {}, [Table("", shown, columns, keys=2)], notes, data, rows)


def _shown_cost(each: CostRow) -> float | str | None:
    """Return a cost as people see it: of calls of which no tokens are stored nothing is known, least of all nought."""
    if each.calls and each.unstated == each.calls:
        return None
    return _UNKNOWN if each.cost is None else each.cost


COST_COLUMNS = [
    *map(Column, ("what", "model")),
    Column("calls", form=counted),
    Column("prompt_tokens", form=counted),
    Column("cached_tokens", "cached", form=counted),
    Column("written_tokens", "written", form=counted),
    Column("reply_tokens", form=counted),
    Column("cost", form=dollars),
    Column("unstated", "without tokens"),
]


def _span(span: Span, form: Form) -> str:
    low, high = form(span.low), form(span.high)
    return low if low == high else f"{low} to {high}"

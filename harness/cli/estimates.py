"""What --dry-run and `show_result --cost` print: calls, tokens and dollars that are to come, or that were spent."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import messages

if TYPE_CHECKING:
    from harness.results.cost import CostRow
    from harness.running.estimate import Estimate, Span


def print_estimates(args: argparse.Namespace, estimates: Sequence["Estimate"]) -> None:
    """Print a table with a row for each model, and what a reader must know about it."""
    from harness.chat.prices import price_list
    from harness.cli.tables import as_table
    from harness.running.estimate import Span

    if not estimates:
        messages.results("nothing is left to do: no call would be made")
        return
    rows = [
        {
            "what": each.what,
            "model": each.model,
            "calls": each.calls,
            "prompt tokens": f"{round(each.prompt_tokens):,}",
            "reply tokens": _span(each.reply_tokens),
            "cost": "unknown price" if each.cost is None else _dollars(each.cost),
        }
        for each in estimates
    ]
    costs = [each.cost for each in estimates if each.cost is not None]
    if len(rows) > 1:
        both = Span(sum(cost.low for cost in costs), sum(cost.high for cost in costs))
        total = _dollars(both) if costs else "unknown price"
        partly = ", the priced ones alone" if 0 < len(costs) < len(rows) else ""
        rows.append(
            {
                "what": "all",
                "model": "",
                "calls": sum(each.calls for each in estimates),
                "prompt tokens": f"{round(sum(each.prompt_tokens for each in estimates)):,}",
                "reply tokens": "",
                "cost": total + partly,
            }
        )
    notes = [
        f"prompt tokens are told from the texts, within 20%; prices: models.toml, else the list of {price_list().date}"
    ]
    for each in estimates:
        why = "no earlier replies to go by; from short replies to the limit on tokens"
        if each.past:
            why = f"reply tokens by {each.past:,} earlier replies (the middle half, and their mean)"
        notes.append(f"{each.what} by {each.model}: {why}")
    messages.results("\n\n".join([as_table(rows), "\n".join(f"note: {note}" for note in notes)]))


def _span(span: "Span") -> str:
    low, high = round(span.low), round(span.high)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _dollars(span: "Span") -> str:
    low, high = _amount(span.low), _amount(span.high)
    return low if low == high else f"{low} to {high}"


def _amount(dollars: float) -> str:
    """Return dollars with cents, or with more places where the amount needs them."""
    places = 2 if dollars >= 0.095 or dollars == 0 else 3 if dollars >= 0.01 else 4
    return f"${dollars:,.{places}f}"


def print_costs(args: argparse.Namespace, costs: Sequence["CostRow"]) -> None:
    """Print what calls have cost, in the form that --format names."""
    from harness.chat.prices import price_list
    from harness.cli.tables import as_csv, as_json, as_markdown, as_table

    rows = [each.row() for each in costs]
    known = sum(each.cost for each in costs if each.cost is not None)
    if args.format == "json":
        messages.results(as_json({"rows": rows, "total": known, "prices": price_list().date.isoformat()}))
        return
    if args.format == "csv":
        messages.results(as_csv(rows))
        return
    draw = as_markdown if args.format == "markdown" else as_table
    shown = [
        {
            "what": each.what,
            "model": each.model,
            "calls": each.calls,
            "prompt tokens": f"{each.prompt_tokens:,}",
            "reply tokens": f"{each.reply_tokens:,}",
            "cost": "unknown price" if each.cost is None else _amount(each.cost),
            "unstated": each.unstated,
        }
        for each in costs
    ]
    notes = [f"in all {_amount(known)}, by models.toml, else by the list prices of {price_list().date}"]
    if any(each.cost is None for each in costs):
        notes.append("what has an unknown price is not in it; state the price in models.toml")
    if any(each.unstated for each in costs):
        notes.append("unstated: calls of which no tokens are stored; they are not in the sums")
    mark = "-" if args.format == "markdown" else "note:"
    messages.results("\n\n".join([draw(shown), "\n".join(f"{mark} {note}" for note in notes)]))

"""A page on stdout, in the form that --format names; on a terminal in its width."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli import messages

if TYPE_CHECKING:
    from harness.answering import AnswerPlan
    from harness.judging.planned import JudgmentPlan
    from harness.running.estimate import Estimate
    from harness.showing import Page


def show(args: argparse.Namespace, page: "Page", name: str = "") -> None:
    """Print a page; notes that its form has no place for go to stderr after the command's name, if that is given."""
    from harness.showing import FORMATS, text

    form = FORMATS[getattr(args, "format", "table")]
    if form.write is text:
        width = terminal_width()
        bold = width is not None and "NO_COLOR" not in os.environ
        messages.results(text(page, width=width, bold=bold))
        return
    messages.results(form.write(page))
    for note in page.notes if name and form.for_programs else ():
        messages.say(args, f"{name}: note: {note}")


def estimates_of(args: argparse.Namespace, *plans: "AnswerPlan | JudgmentPlan") -> "list[Estimate]":
    """Return what the calls of plans will take; a plan of judgments may await the answers of those before it."""
    from harness.estimating import estimate_plan

    found: list[Estimate] = []
    for plan in plans:
        found += estimate_plan(plan, answers=found, batch=args.batch)
    return found


def go_on(args: argparse.Namespace, *plans: "AnswerPlan | JudgmentPlan", reach: "JudgmentPlan | None" = None) -> bool:
    """Return whether to make the calls of plans: with --dry-run print what they will take, else ask on a terminal.

    `reach` is the plan whose smallest difference is shown beside an estimate. Asked is, with calls and cost, only
    before models are called that run elsewhere and may cost something.

    Raises:
        Interrupted: the user said no.
    """
    if args.dry_run:
        _show_estimates(args, estimates_of(args, *plans), reach)
        return False
    if not messages.may_ask(args):
        return True
    from harness.chat.prices import FREE
    from harness.showing.costs import cost_told

    asked = [each for each in estimates_of(args, *plans) if each.calls and each.price != FREE]
    if asked:
        calls = messages.counted(sum(each.calls for each in asked), "call")
        names = ", ".join(dict.fromkeys(each.model for each in asked))
        messages.ask_to_go_on(args, f"{calls} to {names}, {cost_told(asked)}")
    return True


def _show_estimates(args: argparse.Namespace, estimates: Sequence["Estimate"], reach: "JudgmentPlan | None") -> None:
    """Print what calls not yet made will take, and where the output is for people what planned judgments would show."""
    from harness.meta_evaluation.planning import planned_rows
    from harness.showing import FORMATS
    from harness.showing.costs import estimate_page, reach_page

    if estimates:
        show(args, estimate_page(estimates))
    else:
        messages.results("nothing is left to do: no call would be made")
    if reach is not None and not FORMATS[getattr(args, "format", "table")].for_programs:
        rows, notes = planned_rows(reach, [each for each in estimates if each.what == "judgments"])
        if rows:
            messages.results("")
            show(args, reach_page(rows, notes))


def terminal_width() -> int | None:
    """Return the columns of the terminal that stdout is; None for a pipe or a file, so that lines can be parsed."""
    try:
        terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return None
    return (os.get_terminal_size(sys.stdout.fileno()).columns or 80) if terminal else None

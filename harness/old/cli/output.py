"""Print a page on stdout in the format that --format names, fitted to the terminal."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.old.cli import messages

if TYPE_CHECKING:
    from harness.old.answering import AnswerPlan
    from harness.old.judging.planned import JudgmentPlan
    from harness.old.running.estimate import Estimate
    from harness.old.showing import Page


def show(args: argparse.Namespace, page: "Page", name: str = "") -> None:
    """Print a page; notes that the format cannot hold go to stderr after the command's name, if that is given."""
    from harness.old.showing import FORMATS, text

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
    """Return estimates of the calls of plans; a plan of judgments may depend on answers of the plans before it."""
    from harness.old.estimating import estimate_plan

    found: list[Estimate] = []
    for plan in plans:
        found += estimate_plan(plan, answers=found, batch=args.batch)
    return found


def go_on(args: argparse.Namespace, *plans: "AnswerPlan | JudgmentPlan", reach: "JudgmentPlan | None" = None) -> bool:
    """Return whether to make the calls of plans: with --dry-run print their estimates, else ask on a terminal.

    `reach` is the plan whose smallest detectable difference is shown with an estimate. The user is asked, with calls
    and cost, only before calls to remote models that may cost something.

    Raises:
        Interrupted: the user said no.
    """
    if args.dry_run:
        _show_estimates(args, estimates_of(args, *plans), reach)
        return False
    if not messages.may_ask(args):
        return True
    from harness.old.chat.prices import FREE
    from harness.old.showing.costs import cost_told

    asked = [each for each in estimates_of(args, *plans) if each.calls and each.price != FREE]
    if asked:
        calls = messages.counted(sum(each.calls for each in asked), "call")
        names = ", ".join(dict.fromkeys(each.model for each in asked))
        messages.ask_to_go_on(args, f"{calls} to {names}, {cost_told(asked)}")
    return True


def _show_estimates(args: argparse.Namespace, estimates: Sequence["Estimate"], reach: "JudgmentPlan | None") -> None:
    """Print the estimates of calls and, in formats for people, the smallest difference that they would detect."""
    from harness.old.meta_evaluation.planning import planned_rows
    from harness.old.showing import FORMATS
    from harness.old.showing.costs import estimate_page, reach_page

    if estimates:
        show(args, estimate_page(estimates))
    else:
        messages.results("nothing is left to do: no calls would be made")
    if reach is not None and not FORMATS[getattr(args, "format", "table")].for_programs:
        rows, notes = planned_rows(reach, [each for each in estimates if each.what == "judgments"])
        if rows:
            messages.results("")
            show(args, reach_page(rows, notes))


def terminal_width() -> int | None:
    """Return the terminal's width; None if stdout is a pipe or a file, so that lines can be parsed."""
    try:
        terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return None
    return (os.get_terminal_size(sys.stdout.fileno()).columns or 80) if terminal else None

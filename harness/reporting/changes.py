"""The page of `--changes`: which verdicts changed between two models, or since another run.

22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way.

question  turn  model  from  to  change  reason
      81     1  ant       8   5      -3  The answer misses ...
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import MissingError, UsageError
from harness.options import ShowResult
from harness.reporting import Column, Note, Page, Table
from harness.reporting.pages import PageKind, Result
from harness.reporting.selecting import Judged, other_run, read_judged
from harness.results import Panel
from harness.results.changes import Change, Changes, changes_of_models, changes_of_runs
from harness.results.reading import whole_rows
from harness.results.spent import Cost
from harness.types import Judgment
from harness.words import counted

WORDS = 60
"""Characters of a reason."""


def changed_in_words(worse: int, better: int, least: float, noise: float | None) -> str:
    """Return how many verdicts changed, and how many noise alone would.

    >>> changed_in_words(22, 19, 1.0, 18.2)
    "22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way"
    """
    by = f" by {least:g} or more" if least else ""
    known = f"gives about {noise:.0f} each way" if noise is not None else "is not known"
    return f"{worse:,} got worse{by}, {better:,} better; the judge's own noise {known}"


def _check(options: ShowResult) -> None:
    if options.compare_with is None and len(options.slice.model_list) != 2:
        advice = "--model-list OLD NEW, or another run: --compare-with DIR"
        raise UsageError(f"--changes compares two models: {advice}")
    if options.compare_with is not None and not options.compare_with.exists():
        raise MissingError(f"--compare-with {options.compare_with}: no such folder or file")


def _show(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    panel = judged.groups[0]
    if options.compare_with is not None:
        other = other_run(judged.bench, options.compare_with, panel)
        found = changes_of_runs(panel, other, judged.view.baseline)
        if not found.items:
            raise MissingError(f"{options.compare_with}: no verdict on the same model and question")
    else:
        old, new = options.slice.model_list
        found = changes_of_models(panel, old, new)
        if not found.items:
            text = f"{old} and {new} have no verdicts on the same questions"
            if panel.form == "pair":
                text += "; name an opponent: --mode pairwise-baseline --baseline-model NAME"
            raise MissingError(text)
    return Result(_page(judged, panel, found))


CHANGES = PageKind(_show, _check)


def _page(judged: Judged, panel: Panel, found: Changes) -> Page:
    changed = [*found.worse, *reversed(found.better)]
    noise = found.noise.each_way(len(found.items), found.least)
    outcome = changed_in_words(len(found.worse), len(found.better), found.least, noise) + "."
    reasons, several = _reasons(panel, changed), len(panel.judges) > 1
    rows: list[dict[str, Any]] = [
        {
            "question_id": change.question,
            "turn": change.turn,
            "judge": change.judge if several else None,
            "model": change.model,
            "opponent": change.opponent or None,
            "from": change.old,
            "to": change.new,
            "change": change.by,
            "reason": reasons.get(change.row, ""),
        }
        for change in changed
    ]
    columns = [
        Column("question_id", "question"),
        Column("turn"),
        Column("judge", optional=True),
        Column("model"),
        Column("opponent", "against", optional=True),
        Column("from", format=".1", always=True),
        Column("to", format=".1", always=True),
        Column("change", format=".1", always=True),
        Column("reason"),
    ]
    title = f"{judged.bench.name}: of {counted(len(found.items), 'verdict')} those that changed"
    notes = []
    if noise is None:
        text = "What noise gives is known from answers that were judged twice: --samples 2."
        notes.append(Note(text))
    facts = {
        "bench": judged.bench.name,
        "compared": len(found.items),
        "worse": len(found.worse),
        "better": len(found.better),
        "noise_each_way": noise,
    }
    return Page(outcome, [Table(title, columns, rows)], notes=notes, title=title, facts=facts)


def _reasons(panel: Panel, changed: Sequence[Change]) -> dict[int, str]:
    """Return the judge's first words on each of these verdicts, by its row."""
    rows = np.isin(panel.scores.row, [change.row for change in changed])
    found: dict[int, str] = {}
    for number, row in whole_rows(panel.scores.take(rows)):
        if isinstance(row, Judgment):
            text = " ".join((row.judgment or row.g1_judgment or "").split())
            found[number] = text if len(text) <= WORDS else text[:WORDS].rstrip() + "…"
    return found

"""The page of `--changes`: which verdicts changed between two models, or since another run.

22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way.

question  turn  model  from  to  change  reason
      81     1  ant       8   5      -3  The answer misses ...
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.errors import MissingError, UsageError
from harness.options import ShowResult
from harness.reporting import Column, Note, Page, Table
from harness.reporting.pages import PageKind, Result
from harness.reporting.selecting import Judged, other_run, read_judged
from harness.results import Scores
from harness.results.changes import (
    Change,
    Changes,
    both_runs,
    changes_of_models,
    changes_of_runs,
    least_of,
)
from harness.results.reading import whole_rows
from harness.results.scores import Form
from harness.results.spent import Cost
from harness.types import Judgment
from harness.words import beginning, counted

WORDS = 60
"""Characters of a reason."""
_FORMS: dict[Form, str] = {
    "grade": "Grades",
    "dimensions": "Grades of dimensions",
    "pair": "Pairs",
    "label": "Labels",
    "points": "Checklists",
}


class Counts(NamedTuple):
    """How many verdicts of a form changed, and how many noise alone would, each way."""

    form: Form
    worse: int
    better: int
    noise: float | None


def changed_in_words(every: Sequence[Counts]) -> str:
    """Return how many verdicts changed, by form where there are several.

    >>> changed_in_words([Counts("grade", 22, 19, 18.2)])
    "22 got worse by 1 or more, 19 better; the judge's own noise gives about 18 each way."
    """
    sentences = []
    for form, worse, better, noise in every:
        least = least_of(form)
        by = f" by {least:g} or more" if least else ""
        known = f"gives about {noise:.0f} each way" if noise is not None else "is not known"
        name = f"{_FORMS[form]}: " if len(every) > 1 else ""
        changed = f"{name}{worse:,} got worse{by}, {better:,} better"
        sentences.append(f"{changed}; the judge's own noise {known}.")
    return " ".join(sentences)


def first_words(row: Judgment, most: int) -> str:
    """Return the beginning of what a judge says."""
    return beginning(row.judgment or row.g1_judgment or "", most)


def _check(options: ShowResult) -> None:
    if options.compare_with is None and len(options.slice.model_list) != 2:
        advice = "--model-list OLD NEW, or another run: --compare-with DIR"
        raise UsageError(f"--changes compares two models: {advice}")
    if options.compare_with is not None and not options.compare_with.exists():
        raise MissingError(f"--compare-with {options.compare_with}: no such folder or file")


def _show(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    if options.compare_with is not None:
        runs = both_runs(
            judged.groups, other_run(judged.bench, options.compare_with, options.slice)
        )
        found = changes_of_runs(runs, judged.view.baseline)
        if not found:
            raise MissingError(f"{options.compare_with}: no verdict on the same model and question")
    else:
        old, new = options.slice.model_list
        found = changes_of_models(judged.groups, old, new)
        if not found:
            text = f"{old} and {new} have no verdicts on the same questions"
            if judged.groups[0].form == "pair":
                text += "; name an opponent: --mode pairwise-baseline --baseline-model NAME"
            raise MissingError(text)
    return Result(_page(judged, found))


CHANGES = PageKind(_show, _check)


def _page(judged: Judged, found: Sequence[Changes]) -> Page:
    counts = [
        Counts(
            of_form.form,
            len(of_form.worse),
            len(of_form.better),
            of_form.noise.each_way(len(of_form.items), of_form.least),
        )
        for of_form in found
    ]
    changed = [c for of_form in found for c in [*of_form.worse, *reversed(of_form.better)]]
    reasons = _reasons(judged.scores, changed)
    several = len({change.judge for of_form in found for change in of_form.items}) > 1
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
    compared = sum(len(of_form.items) for of_form in found)
    title = f"{judged.bench.name}: of {counted(compared, 'verdict')} those that changed"
    notes = []
    if any(of_form.noise is None for of_form in counts):
        text = "What noise gives is known from answers that were judged twice: --samples 2."
        notes.append(Note(text))
    facts = {
        "bench": judged.bench.name,
        "compared": compared,
        "worse": sum(of_form.worse for of_form in counts),
        "better": sum(of_form.better for of_form in counts),
        "noise_each_way": {of_form.form: of_form.noise for of_form in counts},
    }
    outcome, tables = changed_in_words(counts), [Table(title, columns, rows)]
    return Page(outcome, tables, notes=notes, title=title, facts=facts)


def _reasons(scores: Scores, changed: Sequence[Change]) -> dict[int, str]:
    """Return the judge's first words on each of these verdicts, by its row."""
    rows = np.isin(scores.row, [change.row for change in changed])
    return {
        number: first_words(row, WORDS)
        for number, row in whole_rows(scores.take(rows))
        if isinstance(row, Judgment)
    }

"""Does the judge notice what a program can check?

    less             on one question and turn, by one judge: the mean grade of answers that break
                     no check − of those that break one; the mean of this over all such
    top grades       answers with a top grade (9 of 10, or --top) / answers, broken or not
    win rate         of pairs in which only one answer breaks a check: how often that one wins

On one question answers that keep a limit got 8 and 9, one that breaks it 7: 1.5 less; on another
all got 6: 0 less; 0.75 on average. Questions on which all answers break a check, or none, say
nothing. It is what they got, not what the check cost: models that break checks may be worse in
other ways. Judges that do not count words grade a broken limit like a kept one. Needs
`auto_checks`.
"""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import RaterVerdict, itself, load
from harness.extras.judges.estimates import mean, page, share
from harness.extras.judges.truth import list_checked
from harness.options import JudgeReport
from harness.reporting import Column, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import words
from harness.results import Estimate
from harness.results.spent import Cost
from harness.types import QuestionId
from harness.words import percent


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return what answers with broken checks get in grades or wins."""
    data = load(options)
    reading = "loose" if options.loose else "strict"
    broken = {}
    for item, _, row in list_checked(data):
        results = {check.get(reading) for check in row.checks} - {None}
        if results:
            broken[item] = False in results
    verdicts = data.verdicts()
    rows: list[dict[str, Any]] = []
    if verdicts[0].paired:
        won = []
        for v in verdicts:
            first, second = (broken.get(v.item.answer_of(model)) for model in v.item.models)
            if None not in (first, second) and first != second:
                won.append((v.item.question, v.number if first else 1 - v.number))
        rate = share(won)
        rows.append(row_of({"measure": "win rate, a check broken", "n": len(won)}, value=rate))
        outcome = f"An answer that breaks a check wins {words(rate)} against one that breaks none."
    else:
        graded = [v for v in verdicts if v.item in broken]
        bad = [v for v in graded if broken[v.item]]
        good = [v for v in graded if not broken[v.item]]
        less = mean(_less(good, bad))
        about = {"measure": "less with a check broken, same question", "n": len(graded)}
        rows.append(row_of(about, value=less))
        for name, part in (("a check broken", bad), ("none broken", good)):
            top = share((v.item.question, v.number >= _top(options, v.scale)) for v in part)
            rows.append(row_of({"measure": f"top grades, {name}", "n": len(part)}, value=top))
        outcome = (
            f"{_in_words(less)} Of answers that break one {percent(rows[1]['value'].value or 0)} "
            f"have a top grade, of others {percent(rows[2]['value'].value or 0)}."
        )
    if not rows[0]["n"]:
        raise MissingError("no judged answer has a check; run turnbench auto_checks first")
    columns = [Column("measure"), Column("n"), *interval_columns("value", "value", ".2")]
    return Result(page("checks", outcome, columns, rows, notes=itself(data.judges)))


REPORT = PageKind(_show)


def _less(
    good: Sequence[RaterVerdict], bad: Sequence[RaterVerdict]
) -> Iterator[tuple[QuestionId, float]]:
    """Yield of each question and turn of a judge how much less answers with a broken check got."""
    grades: dict[Any, tuple[list[float], list[float]]] = {}
    for at, part in enumerate((good, bad)):
        for v in part:
            key = v.item.question, v.item.turn, v.judge, v.judge_set
            grades.setdefault(key, ([], []))[at].append(v.number)
    for (question, *_), (kept, broke) in grades.items():
        if kept and broke:
            yield question, statistics.fmean(kept) - statistics.fmean(broke)


def _in_words(less: Estimate) -> str:
    if not less.count:
        return "On no question did some answers break a check and others none."
    change = "less" if less.value >= 0 else "more"
    number = words(less if less.value >= 0 else less.scaled(-1.0), ".1")
    return f"On the same question, answers with a broken check got {number} {change}."


def _top(options: JudgeReport, scale: tuple[float, float]) -> float:
    low, high = scale
    return low + (high - low) * 8 / 9 if options.top is None else options.top

"""Does the judge notice what a program can check?

    grade lost       the mean grade of answers that break no check − of those that break one
    top grades       answers with a top grade (9 of 10, or --top) / answers, broken or not
    win rate         of pairs in which only one answer breaks a check: how often that one wins

Twelve answers that break a limit average 6.5, thirty that keep theirs 8.0: 1.5 grades lost. Judges
that do not count words grade a broken limit like a kept one. Needs `auto_checks`.
"""

from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import load
from harness.extras.judges.estimates import mean, page, share, words
from harness.extras.judges.truth import checked
from harness.options import JudgeReport
from harness.reporting import Column, Page, interval_columns, row_of


def report(options: JudgeReport) -> Page:
    """Return what broken checks cost in grades or wins."""
    data = load(options)
    reading = "loose" if options.loose else "strict"
    broken = {}
    for item, _, row in checked(data):
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
        questions = [v.item.question for v in graded]
        bad = [v for v in graded if broken[v.item]]
        good = [v for v in graded if not broken[v.item]]
        good_mean, bad_mean = (
            mean(((v.item.question, v.number) for v in part), questions) for part in (good, bad)
        )
        lost = good_mean - bad_mean
        rows.append(row_of({"measure": "grade lost", "n": len(graded)}, value=lost))
        for name, part in (("a check broken", bad), ("none broken", good)):
            top = share((v.item.question, v.number >= _top(options, v.scale)) for v in part)
            rows.append(row_of({"measure": f"top grades, {name}", "n": len(part)}, value=top))
        outcome = (
            f"A broken check costs {words(lost, '.1')} grades; of answers that "
            f"break one {100 * (rows[1]['value'].value or 0):.0f}% have a top grade, of others "
            f"{100 * (rows[2]['value'].value or 0):.0f}%."
        )
    if not rows[0]["n"]:
        raise MissingError("no judged answer has a check; run turnbench auto_checks first")
    columns = [Column("measure"), Column("n"), *interval_columns("value", "value", ".2")]
    return page("checks", outcome, columns, rows)


def _top(options: JudgeReport, scale: tuple[float, float]) -> float:
    low, high = scale
    return low + (high - low) * 8 / 9 if options.top is None else options.top

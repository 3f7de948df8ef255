"""Does the judge notice what a program can check?

    grade lost       the mean grade of answers that break no check − of those that break one
    top grades       answers with a top grade (9 of 10, or --top) / answers, broken or not
    win rate         of pairs in which only one answer breaks a check: how often that one wins

Twelve answers that break a limit average 6.5, thirty that keep theirs 8.0: 1.5 grades lost. Judges
that do not count words grade a broken limit like a kept one. Needs `auto_checks`.
"""

from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import (
    difference,
    interval_columns,
    kind_of,
    load,
    mean,
    named,
    shares,
    words,
)
from harness.extras.judges.truth import checked
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table


def report(options: JudgeReport) -> Page:
    """Return what broken checks cost in grades or wins."""
    data = load(options)
    reading = "loose" if options.loose else "strict"
    broken = {}
    for item, row in checked(data).items():
        results = [check.get(reading) for check in row.checks]
        decided = [result for result in results if result is not None]
        if decided:
            broken[item] = False in decided
    verdicts = [v for v in data.verdicts() if isinstance(v.value, int | float)]
    rows: list[dict[str, Any]] = []
    if any(kind_of(v) == "pair" for v in verdicts):
        won = []
        for v in verdicts:
            both = [broken.get(v.item._replace(models=(m,), choice=0)) for m in v.item.models]
            if None not in both and both[0] != both[1]:
                assert isinstance(v.value, int | float)
                won.append((v.item.question, v.value if both[0] else 1 - v.value, 1.0))
        rate = mean(won, share=True)
        rows.append({"measure": "win rate, a check broken", "n": len(won)} | named("value", rate))
        outcome = f"An answer that breaks a check wins {words(rate)} against one that breaks none."
    else:
        graded = [(v, broken[v.item]) for v in verdicts if v.item in broken]
        kept = [(v.item, float(v.value)) for v, bad in graded if not bad and v.value is not None]
        bad = [(v.item, float(v.value)) for v, is_bad in graded if is_bad and v.value is not None]
        lost = difference(kept, bad)
        rows.append({"measure": "grade lost", "n": len(graded)} | named("value", lost))
        for name, own in (("a check broken", bad), ("none broken", kept)):
            top = shares((item.question, value >= _top(options, verdicts)) for item, value in own)
            rows.append({"measure": f"top grades, {name}", "n": len(own)} | named("value", top))
        outcome = (
            f"A broken check costs {words(lost, percent=False, places=1)} grades; of answers that "
            f"break one {100 * (rows[1]['value'] or 0):.0f}% have a top grade, of others "
            f"{100 * (rows[2]['value'] or 0):.0f}%."
        )
    if not any(row["n"] for row in rows):
        raise MissingError("no judged answer has a check; run auto_checks on this benchmark")
    columns = [Column("measure"), Column("n"), *interval_columns("value", "value", ".2")]
    return Page(outcome, [Table("", columns, rows)], title="checks", facts={"report": "checks"})


def _top(options: JudgeReport, verdicts: list[Any]) -> float:
    if options.top is not None:
        return options.top
    scale = next((v.scale for v in verdicts if v.scale is not None), (1.0, 10.0))
    return scale[0] + (scale[1] - scale[0]) * 8 / 9

"""Length bias: how often does the longer answer win?

    longer wins = pairs that the longer answer won / pairs that were won, of unequal length

Of four decided pairs the longer answer won three: 75%. It is a count, not a cause: longer answers
may be better. `show_result --style length` shows models at equal length.

Source: Dubois et al. 2024 (arXiv:2404.04475).
"""

from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import MissingError
from harness.extras.judges.data import Verdict, interval_columns, load, named, shares, words
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table


def report(options: JudgeReport) -> Page:
    """Return how often the longer answer wins, by judge, category and turn."""
    data = load(options)
    text = data.answers()
    pairs: list[Verdict] = []
    longer: dict[int, bool] = {}
    skipped = 0
    for v in data.verdicts("pair"):
        if v.value in (None, 0.5):
            continue
        texts = [text(model, v.item) for model in v.item.models]
        if None in texts or len(texts[0] or "") == len(texts[1] or ""):
            skipped += 1
            continue
        longer[len(pairs)] = len(texts[0] or "") > len(texts[1] or "")
        pairs.append(v)
    if not pairs:
        raise MissingError("no decided pair has both answers in model_answer/, of unequal length")
    won = {at: (v.value == 1.0 or (isinstance(v.value, float) and v.value > 0.5)) == longer[at]
           for at, v in enumerate(pairs)}  # fmt: skip

    def row(by: str, group: Any, which: Sequence[int]) -> dict[str, Any]:
        estimate = shares((pairs[at].item.question, won[at]) for at in which)
        return {"by": by, "group": group, "n": len(which)} | named("longer_wins", estimate)

    every = range(len(pairs))
    rows = [row("all", None, every)]
    groupings: dict[str, Callable[[Verdict], Any]] = {
        "judge": lambda v: v.judge if not v.voter else "people",
        "category": lambda v: data.category(v.item.question),
        "turn": lambda v: v.item.turn,
    }
    for by, key in groupings.items():
        names = dict.fromkeys(key(v) for v in pairs)
        if len(names) > 1:
            rows += [
                row(by, name, [at for at in every if key(pairs[at]) == name]) for name in names
            ]
    whole = shares((pairs[at].item.question, won[at]) for at in every)
    columns = [Column("by"), Column("group", always=True), Column("n", "pairs")]
    columns += interval_columns("longer_wins", "longer wins %", "%")
    tables = [Table("", columns, rows)]
    if options.list:
        tables.append(_lost(pairs, won))
    notes = (
        [Note(f"{skipped} decided pairs of unknown or equal length are left out")]
        if skipped
        else []
    )
    notes.append(Note("At equal length", "show_result --style length"))
    outcome = (
        f"The longer answer wins {words(whole)} of {len(pairs)} decided pairs of unequal length."
    )
    return Page(outcome, tables, notes=notes, title="length", facts={"report": "length"})


def _lost(pairs: Sequence[Verdict], won: dict[int, bool]) -> Table:
    names = ("question", "turn", "model_1", "model_2", "judge")
    rows = [
        dict(zip(names, (v.item.question, v.item.turn, *v.item.models, v.judge), strict=True))
        for at, v in enumerate(pairs)
        if not won[at]
    ]
    return Table("the longer answer lost", [Column(name) for name in names], rows, "lost")

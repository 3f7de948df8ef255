"""Length bias: how often does the longer answer win?

    longer wins = pairs that the longer answer won / pairs that were won, of unequal length

Of four decided pairs the longer answer won three: 75%. It is a count, not a cause: longer answers
may be better. `show_result --style length` shows models at equal length.

Source: Dubois et al. 2024 (arXiv:2404.04475).
"""

from harness.errors import MissingError
from harness.extras.judges.data import Data, RaterVerdict, groups, load
from harness.extras.judges.estimates import listing, page, share
from harness.options import JudgeReport
from harness.reporting import Column, Note, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import words
from harness.results.spent import Cost


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how often the longer answer wins, by judge, category and turn."""
    data = load(options)
    pairs = []
    for v in data.verdicts(paired=True):
        longer_won = _longer_won(data, v)
        if longer_won is not None:
            pairs.append(v._replace(value=float(longer_won)))
    if not pairs:
        raise MissingError("no decided pair has both answers in model_answer/, of unequal length")
    rows = []
    for by, name, group in groups(data, pairs):
        wins = share((v.item.question, v.number) for v in group)
        rows.append(row_of({"by": by, "group": name, "n": len(group)}, longer_wins=wins))
    columns = [Column("by"), Column("group", always=True), Column("n", "pairs")]
    columns += interval_columns("longer_wins", "longer wins %", "%")
    tables = []
    if options.list:
        names = ("question", "turn", "model_1", "model_2", "judge")
        lost = [(*v.item[:2], *v.item.models, v.judge) for v in pairs if not v.value]
        tables.append(listing("the longer answer lost", "lost", names, lost))
    whole = share((v.item.question, v.number) for v in pairs)
    outcome = (
        f"The longer answer wins {words(whole)} of {len(pairs)} decided pairs of unequal length."
    )
    notes = [Note("At equal length", "show_result --style length")]
    return Result(page("length", outcome, columns, rows, *tables, notes=notes))


REPORT = PageKind(_show)


def _longer_won(data: Data, v: RaterVerdict) -> bool | None:
    """Return whether the longer answer won; None: a tie, or of equal or unknown length."""
    first, second = map(len, data.texts(v.item) or ("", ""))
    return None if v.value == 0.5 or first == second else (v.number > 0.5) == (first > second)

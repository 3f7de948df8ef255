"""Position bias: does the order of two answers change the verdict?

    consistent      both games have the same outcome
    biased_first    both games were won by the answer shown first
    biased_second   both games were won by the answer shown second
    one_sided_tie   one of the games is a tie
    first_share     games won by the answer shown first / games that were won

x won when shown first and y won when shown first: biased_first, a position flip. A judge that
guesses flips half of its decided pairs and has a first_share of one half.

Source: Zheng et al. 2023 (arXiv:2306.05685), table 2.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.extras.judges.data import load
from harness.extras.judges.estimates import listing, page
from harness.options import JudgeReport
from harness.reporting import Column, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import words
from harness.results import Scores
from harness.results.agreement import items
from harness.results.position import Flips, flips
from harness.results.scores import FLIPPED
from harness.results.spent import Cost

KINDS = {
    "consistent": "consistent",
    "to_first": "biased_first",
    "to_second": "biased_second",
    "one_sided": "one_sided_tie",
}
"""Names of `Flips`, and of the rows."""


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return the position bias of each judge, by category and by turn."""
    pairs = load(options).pairs()
    counted = [(by, group, flips(part)) for by, group, part in _groups(pairs)]
    rows = [_row(by, group, of_group) for by, group, of_group in counted]
    columns = [
        Column("by"),
        Column("group", always=True),
        Column("n", "pairs"),
        Column("consistent"),
        Column("biased_first", "flipped to first"),
        Column("biased_second", "to second"),
        Column("one_sided_tie", "one-sided tie"),
        *interval_columns("first_share", "first wins %", "%"),
        Column("errors", "no verdict", optional=True),
    ]
    tables = []
    if options.list:
        title = "flipped pairs: the answer shown first or second won both games"
        names = ("question", "turn", "model_1", "model_2", "judge", "won")
        flipped = pairs.take(pairs.flip == FLIPPED)
        columns_of = zip(items(flipped), flipped.source, flipped.shown_first, strict=True)
        listed = [
            (*item[:2], *item.models, pairs.sources[code].judge, "first" if won else "second")
            for item, code, won in columns_of
        ]
        tables.append(listing(title, "flipped", names, listed))
    return Result(page("position", _outcome(pairs, counted[0][2]), columns, rows, *tables))


REPORT = PageKind(_show)


def _groups(pairs: Scores) -> Iterator[tuple[str, str | int | None, Scores]]:
    """Yield all pairs, then those of each judge, category and turn, with the names of these."""
    yield "all", None, pairs
    categories = [question.category for question in pairs.questions]
    judges = [source.judge for source in pairs.sources]
    for by, names, codes in (
        ("judge", judges, pairs.source),
        ("category", categories, pairs.question),
        ("turn", range(int(pairs.turn.max()) + 1), pairs.turn),
    ):
        present, starts = np.unique(codes, return_index=True)
        present = present[np.argsort(starts)]
        for name in dict.fromkeys(names[code] for code in present.tolist()):
            if name != "":
                of_name = [code for code in present.tolist() if names[code] == name]
                yield by, name, pairs.take(np.isin(codes, of_name))


def _row(by: str, group: str | int | None, found: Flips) -> dict[str, Any]:
    row = {"by": by, "group": group, "n": found.pairs, "errors": found.errors}
    for kind, name in KINDS.items():
        row[name] = found.counts[kind]
        row |= row_of({}, **{f"{name}_share": found.shares[kind]})
    row |= {"first_games": found.first_games, "decided_games": found.decided_games}
    return row_of(row, first_share=found.first_share)


def _outcome(pairs: Scores, found: Flips) -> str:
    if not found.pairs:
        return "No pair was judged in both orders, so nothing shows a position bias."
    judges = ", ".join(dict.fromkeys(s.judge for s in pairs.sources_present.values()))
    return (
        f"{judges} changed the winner with the order in {words(found.rate)} of {found.pairs} pairs "
        f"({found.counts['to_first']} for the first answer, {found.counts['to_second']} for the "
        "second). A judge that guesses changes about half of the decided ones."
    )

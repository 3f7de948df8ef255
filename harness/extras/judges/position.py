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

from collections.abc import Sequence
from typing import Any

from harness.extras.judges.data import Verdict, groups, load
from harness.extras.judges.estimates import listing, page, share, words
from harness.options import JudgeReport
from harness.reporting import Column, Page, interval_columns, row_of

KINDS = ("consistent", "biased_first", "biased_second", "one_sided_tie")


def report(options: JudgeReport) -> Page:
    """Return the position bias of each judge, by category and by turn."""
    data = load(options)
    judged = data.verdicts(paired=True, failed=True)
    rows = [{"by": by, "group": name} | counted(group) for by, name, group in groups(data, judged)]
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
    pairs = [v for v in judged if len(v.games) == 2]
    if options.list:
        title = "flipped pairs: the answer shown first or second won both games"
        names = ("question", "turn", "model_1", "model_2", "judge", "won")
        items = [
            (*v.item[:2], *v.item.models, v.judge, kind(v).removeprefix("biased_"))
            for v in pairs
            if kind(v).startswith("biased")
        ]
        tables.append(listing(title, "flipped", names, items))
    return page("position", _outcome(pairs, rows[0]), columns, rows, *tables)


def kind(verdict: Verdict) -> str:
    """Return what a pair's two games show."""
    first, second = sorted(verdict.games, key=lambda game: not game.first)
    side = [(game.value > 0.5) - (game.value < 0.5) for game in (first, second)]
    if side[0] == side[1]:
        return "consistent"
    if 0 in side:
        return "one_sided_tie"
    return "biased_first" if side[0] > 0 else "biased_second"


def counted(judged: Sequence[Verdict]) -> dict[str, Any]:
    """Return the counts of pairs by kind, their shares, and the share of games won by the first."""
    pairs = [v for v in judged if len(v.games) == 2]
    kinds = [(v.item.question, kind(v)) for v in pairs]
    row: dict[str, Any] = {"n": len(pairs), "errors": sum(v.value is None for v in judged)}
    for name in KINDS:
        parts = [(question, pair_kind == name) for question, pair_kind in kinds]
        row |= row_of({name: sum(is_so for _, is_so in parts)}, **{f"{name}_share": share(parts)})
    won = [
        (v.item.question, (game.value > 0.5) == game.first)
        for v in pairs
        for game in v.games
        if game.value != 0.5
    ]
    row |= {"first_games": sum(first for _, first in won), "decided_games": len(won)}
    return row_of(row, first_share=share(won))


def _outcome(pairs: Sequence[Verdict], row: dict[str, Any]) -> str:
    if not pairs:
        return "No pair was judged in both orders, so nothing shows a position bias."
    judges = ", ".join(dict.fromkeys(v.judge for v in pairs))
    flipped = share((v.item.question, kind(v).startswith("biased")) for v in pairs)
    return (
        f"{judges} changed the winner with the order in {words(flipped)} of {len(pairs)} pairs "
        f"({row['biased_first']} for the first answer, {row['biased_second']} for the second). "
        "A judge that guesses changes about half of the decided ones."
    )

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

from collections.abc import Callable, Sequence
from typing import Any

from harness.extras.judges.data import (
    Data,
    Verdict,
    interval_columns,
    load,
    mean,
    named,
    shares,
    words,
)
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table
from harness.results.estimate import Estimate

KINDS = ("consistent", "biased_first", "biased_second", "one_sided_tie")


def report(options: JudgeReport) -> Page:
    """Return the position bias of each judge, by category and by turn."""
    data = load(options)
    judged = [v for v in data.verdicts("pair") if not v.voter]
    pairs = [v for v in judged if len(v.games) == 2]
    errors = [v for v in judged if v.row is not None and v.value is None]
    rows = [{"by": "all", "group": None} | counted(pairs) | {"errors": len(errors)}]
    for by, key in _groupings(data):
        for name in dict.fromkeys(key(v) for v in pairs):
            if name is not None:
                row = {"by": by, "group": name} | counted([v for v in pairs if key(v) == name])
                rows.append(row | {"errors": sum(key(v) == name for v in errors)})
    tables = [Table("", _columns(), rows)]
    if options.list:
        tables.append(_flipped(pairs))
    once = len(judged) - len(pairs) - len(errors)
    notes = [Note(f"{once} pairs were judged in one order and say nothing here")] if once else []
    return Page(
        _outcome(pairs), tables, notes=notes, title="position bias", facts={"report": "position"}
    )


def kind(verdict: Verdict) -> str:
    """Return what a pair's two games show."""
    one, other = sorted(verdict.games, key=lambda game: not game.first)
    side = [(game.value > 0.5) - (game.value < 0.5) for game in (one, other)]
    if side[0] == side[1]:
        return "consistent"
    if 0 in side:
        return "one_sided_tie"
    return "biased_first" if side[0] > 0 else "biased_second"


def counted(pairs: Sequence[Verdict]) -> dict[str, Any]:
    """Return the counts of pairs by kind, their shares, and the share of games won by the first."""
    kinds = [(v.item.question, kind(v)) for v in pairs]
    row: dict[str, Any] = {"n": len(pairs), "errors": 0}
    row |= {name: sum(own == name for _, own in kinds) for name in KINDS}
    for name in KINDS:
        row |= named(f"{name}_share", shares((question, own == name) for question, own in kinds))
    won = [
        (v.item.question, (game.value > 0.5) == game.first)
        for v in pairs
        for game in v.games
        if game.value != 0.5
    ]
    row |= {"first_games": sum(first for _, first in won), "decided_games": len(won)}
    return row | named("first_share", shares(won))


def flip_share(pairs: Sequence[Verdict]) -> Estimate:
    """Return the share of decided pairs (wins, losses and flips) whose winner changed."""
    decided = []
    for v in pairs:
        own = kind(v)
        if own.startswith("biased") or (own == "consistent" and v.value != 0.5):
            decided.append((v.item.question, own != "consistent"))
    return shares(decided)


def _groupings(data: Data) -> list[tuple[str, Callable[[Verdict], str | int | None]]]:
    return [
        ("judge", lambda v: v.judge),
        ("category", lambda v: data.category(v.item.question)),
        ("turn", lambda v: v.item.turn),
    ]


def _outcome(pairs: Sequence[Verdict]) -> str:
    if not pairs:
        return "No pair was judged in both orders, so nothing shows a position bias."
    judges = ", ".join(dict.fromkeys(v.judge for v in pairs))
    row = counted(pairs)
    flipped = shares((v.item.question, kind(v).startswith("biased")) for v in pairs)
    text = f"{judges} changed the winner with the order in {words(flipped)} of {len(pairs)} pairs"
    first, second = row["biased_first"], row["biased_second"]
    if first + second:
        lean = mean(
            (v.item.question, (kind(v) == "biased_first") - (kind(v) == "biased_second"), 1.0)
            for v in pairs
        )
        if lean.p is not None and lean.p < 0.05:
            text += f", more often for the {'first' if first > second else 'second'} answer"
        text += f" ({first} for the first answer, {second} for the second)"
    return f"{text}. A judge that guesses changes about half of the decided ones."


def _columns() -> list[Column]:
    return [
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


def _flipped(pairs: Sequence[Verdict]) -> Table:
    rows = [
        {
            "question": v.item.question,
            "turn": v.item.turn,
            "model_1": v.item.models[0],
            "model_2": v.item.models[1],
            "judge": v.judge,
            "won": kind(v).removeprefix("biased_"),
        }
        for v in pairs
        if kind(v).startswith("biased")
    ]
    columns = [Column(name) for name in ("question", "turn", "model_1", "model_2", "judge", "won")]
    return Table(
        "flipped pairs: the answer shown first or second won both games", columns, rows, "flipped"
    )

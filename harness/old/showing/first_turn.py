"""What `show_result --first-turn-effect` shows: second turns after the model's own first turn and a given one."""

from collections.abc import Iterator

from harness.old.results.first_turn import FirstTurnEffect
from harness.old.showing.items import Column, Item, Page, Row, Table, flat
from harness.old.showing.show_result import at_odds_note
from harness.old.showing.values import p_text, rounded


def first_turn_page(found: FirstTurnEffect) -> Page:
    """Return the page of the effect of the first turn."""
    facts = {
        "mode": "single",
        "questions": found.bench or "unstated",
        "judge": found.judge,
        "judge set": found.judge_set,
    }
    rows = [flat(effect.row(found.by)) for effect in found.effects]
    notes = [
        *found.notes,
        "difference: turn 2 with given history less turn 2 with the model's own, on the questions that have both; what "
        "is above 0 was lost by the model's own first turn",
        f"a good first turn has a grade of {rounded(found.good, 2)} or more (the median); a bad one a lower grade",
        f"intervals: questions resampled{found.within and f' within {found.within}'}, seed {found.seed}; p: sign-flip "
        "test, Holm over models",
    ]
    data = {"bench": found.bench, "judge": found.judge, "good": found.good, "seed": found.seed, "rows": rows}
    return Page("Effect of the first turn", facts, list(_items(found)), notes, data, rows)


def _items(found: FirstTurnEffect) -> Iterator[Item]:
    """Yield the tables: all questions, by how good the first turn was, by category."""
    every = [effect for effect in found.effects if effect.category is None and effect.first is None]
    split = [effect for effect in found.effects if effect.first is not None]
    within = [effect for effect in found.effects if effect.category is not None]
    for title, effects, more in (
        ("Turn 2 with own and with supplied history", every, ()),
        ("After a good and after a bad first turn", split, ("first_turn",)),
        (f"By {found.by}", within, (found.by,)),
    ):
        if effects:
            rows: list[Row] = [effect.row(found.by) for effect in effects]
            rows = [{**row, "p_holm": p_text(row["p_holm"])} for row in rows]
            names = ("model", "history", *more, "own_history", "given_history", "difference", "p_holm", "questions")
            columns = [Column(name) for name in (*names, *(("left_out",) if any(r["left_out"] for r in rows) else ()))]
            at_odds = at_odds_note([effect.difference for effect in effects])
            yield Table(title, rows, columns, at_odds, keys=2 + len(more))

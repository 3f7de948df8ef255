"""Counts that SQLite gives where values are missing; then after some changes."""

import contextlib
import random
import sqlite3
from typing import NamedTuple

from turnbench_questions.template import (
    TOWNS,
    Made,
    Turn,
    aside,
    by_level,
    different,
    number_in_words,
    numbered,
    redraw_if,
)

QUESTION_ID = 1046
CATEGORY = "coding"
LEVEL = 5


class Level(NamedTuple):
    """What a level sets.

    By hand each statement goes over each boat, in both turns, and each change over each row: 4,300
    steps at level 8, 24,000 at level 9, 50,000 at level 10, those of pairs of rows not counted.
    """

    boats: int
    fees: int
    queries: int
    further: int = 0
    """How many changes turn 2 makes beside the first."""
    wide: bool = False
    """Whether the rows that level 3 doesn't have are of many values."""


LEVELS = by_level(
    Level(5, 4, 4),
    Level(6, 5, 6),
    Level(8, 7, 8),  # as it was before there were levels
    Level(9, 8, 9),
    Level(10, 9, 10, 1),
    Level(14, 12, 14, 2),
    Level(18, 15, 18, 3, wide=True),
    Level(68, 52, 28, 8, wide=True),
    Level(380, 300, 28, 8, wide=True),
    Level(800, 640, 28, 8, wide=True),
)
_QUERIES = (
    "SELECT COUNT(*) FROM boat WHERE berth NOT IN (SELECT berth FROM fee)",
    "SELECT COUNT(*) FROM boat WHERE NOT (length > {cut} AND berth > {low})",
    "SELECT COUNT(*) FROM boat LEFT JOIN fee ON boat.berth = fee.berth AND fee.paid > {paid}",
    "SELECT COUNT(*) FROM boat LEFT JOIN fee ON boat.berth = fee.berth WHERE fee.paid <= {paid}",
    "SELECT COUNT(length) - COUNT(DISTINCT length) FROM boat",
    "SELECT COUNT(*) FROM (SELECT berth FROM fee GROUP BY berth HAVING SUM(paid) > {paid} OR "
    "COUNT(paid) = 0)",
    "SELECT COUNT(*) FROM boat a JOIN boat b ON a.id < b.id AND a.length = b.length",
    "SELECT COUNT(*) FROM (SELECT berth FROM boat EXCEPT SELECT berth FROM fee)",
    "SELECT COUNT(*) FROM boat WHERE length = (SELECT MAX(length) FROM boat b WHERE b.berth = "
    "boat.berth)",
    "SELECT COUNT(*) FROM boat LEFT JOIN fee ON boat.berth = fee.berth",
    "SELECT SUM(length * berth) FROM boat WHERE COALESCE(berth, 0) <> {low}",
    "SELECT COUNT(*) FROM boat WHERE berth IN (SELECT berth FROM fee WHERE paid IS NULL) OR length "
    "IS NULL",
    "SELECT COUNT(*) FROM boat a WHERE EXISTS (SELECT 1 FROM boat b WHERE b.length < a.length AND "
    "b.berth = a.berth)",
    "SELECT COUNT(*) FROM boat a JOIN boat b ON a.length <= b.length AND a.id <> b.id LEFT JOIN "
    "fee ON fee.berth = a.berth AND fee.paid >= {paid} WHERE fee.paid IS NULL",
    "SELECT COUNT(*) FROM (SELECT berth, COUNT(length) AS n FROM boat GROUP BY berth HAVING "
    "COUNT(*) > COUNT(length) OR MAX(length) > {cut})",
    "SELECT SUM(boat.length * fee.paid) FROM boat JOIN fee ON fee.berth = boat.berth",
    "SELECT SUM(a.length - b.length) FROM boat a JOIN boat b ON b.id = a.id + 1",
    "SELECT SUM((SELECT COUNT(*) FROM fee WHERE fee.paid > 3 * boat.length AND fee.berth <> "
    "boat.berth)) FROM boat",
    "SELECT SUM(d) FROM (SELECT length - LAG(length) OVER (ORDER BY berth, id) AS d FROM boat "
    "WHERE berth IS NOT NULL) WHERE d > 0",
    "SELECT COUNT(*) FROM boat a JOIN boat b ON a.berth = b.berth AND a.length <> b.length JOIN "
    "fee ON fee.berth = b.berth AND fee.paid <= {paid}",
    "SELECT SUM(n * n) FROM (SELECT COUNT(length) AS n FROM boat GROUP BY berth)",
    "SELECT SUM(id) FROM boat WHERE length > (SELECT AVG(b.length) FROM boat b WHERE b.berth = "
    "boat.berth)",
    "SELECT COUNT(*) FROM boat, fee WHERE boat.berth < fee.berth AND NOT (fee.paid <= {paid} OR "
    "boat.length > {cut})",
    "SELECT SUM(id) FROM boat a WHERE NOT EXISTS (SELECT 1 FROM boat b WHERE b.berth = a.berth AND "
    "b.length > a.length)",
    "SELECT SUM(MIN(length, berth + 4)) FROM boat",
    "SELECT SUM(r * paid) FROM (SELECT paid, ROW_NUMBER() OVER (PARTITION BY berth ORDER BY paid) "
    "AS r FROM fee)",
    "SELECT COUNT(*) FROM (SELECT length FROM boat UNION SELECT berth FROM fee UNION SELECT paid "
    "- {cut} FROM fee)",
    "SELECT SUM(COALESCE(length, berth, 1) * (CASE WHEN berth > {low} THEN 3 WHEN length > {cut} "
    "THEN 2 ELSE 1 END)) FROM boat",
)
_CHANGES = (
    "UPDATE boat SET length = NULL WHERE length = 9 AND NOT berth = {low}",
    "UPDATE fee SET paid = paid + 10 WHERE paid < 40 OR berth IS NULL",
    "DELETE FROM boat WHERE berth NOT IN (2, {low}, 5) AND length > 7",
    "UPDATE boat SET berth = berth - 1 WHERE berth > {low}",
)
_MORE_CHANGES = (
    "UPDATE boat SET length = length + berth WHERE id % 3 = 1",
    "UPDATE fee SET paid = (SELECT MAX(length) FROM boat WHERE boat.berth = fee.berth) + paid "
    "WHERE paid > {paid}",
    "UPDATE boat SET berth = (SELECT MIN(fee.berth) FROM fee WHERE fee.berth > boat.berth) WHERE "
    "length > {cut}",
    "DELETE FROM fee WHERE paid < (SELECT AVG(f.paid) FROM fee f WHERE f.berth = fee.berth)",
)
"""Of the levels whose rows are of many values."""
Row = tuple[int | None, ...]


def make(rng: random.Random, level: int) -> Made:
    """Return a question about some counts, then about the same after an update."""
    sets, usual = LEVELS[level], LEVELS[3]
    more = aside(rng)
    boats = [_boat(rng, n) for n in range(1, usual.boats + 1)]
    fees = [_fee(rng) for _ in range(usual.fees)]
    boat, fee = (_wide_boat, _wide_fee) if sets.wide else (_boat, _fee)
    boats += [boat(more, n) for n in range(len(boats) + 1, sets.boats + 1)]
    fees += [fee(more) for _ in range(sets.fees - len(fees))]
    boats, fees = boats[: sets.boats], fees[: sets.fees]
    values = {"cut": 8, "low": rng.randint(1, 3), "paid": rng.choice([20, 30])}
    queries = [query.format(**values) for query in _QUERIES[: sets.queries]]
    before = counts(boats, fees, queries)
    redraw_if(sum(berth is None for berth, _ in fees) != 1)
    redraw_if(sum(None in row for row in boats) < min(3, level + 1))
    new = rng.choice([1, 2, 3])
    updates = [f"UPDATE fee SET berth = {new} WHERE berth IS NULL"]
    changes = _CHANGES + (_MORE_CHANGES if sets.wide else ())
    updates += [change.format(**values) for change in more.sample(changes, sets.further)]
    after = counts(boats, fees, queries, updates)
    two_valued = counts(_zeroed(boats), _zeroed(fees), queries)
    changed = different(before, after)
    redraw_if(changed < 3 - (level < 3) or different(before, two_valued) < 3 - (level < 3))
    redraw_if(None in before or None in after)
    by_one = counts(boats, fees, queries, updates[:1])
    listing = numbered(queries, "{}. {};")
    number = number_in_words(sets.queries)
    turn_1 = Turn(
        f"The harbour office of {rng.choice(TOWNS)} has two SQLite tables. boat(id, length, "
        f"berth): {_rows(boats)}. fee(berth, paid): {_rows(fees)}. All columns are integers. What "
        f"number does each statement give?\n\n```sql\n{listing}\n```\n\nI'd like to know why, too, "
        "wherever NULL makes a difference.",
        shape=f"the {number} numbers",
        result=before,
        work="A comparison with NULL is neither true nor false: NOT IN over a list with NULL is "
        "never true, WHERE drops such rows, ON doesn't join them; COUNT(column), SUM and DISTINCT "
        "leave NULL out, while GROUP BY and EXCEPT treat NULLs as one value.",
        traps={"treats NULL as an ordinary value": two_valued},
        points=["Explains that NOT IN over a list with NULL is never true."],
    )
    done = f"`{updates[0]}` is carried out, then the {number} run again."
    if sets.further:
        listed = numbered(updates, "{}. {};")
        done = (
            "These are carried out one after the other, each on what the one before left:\n\n"
            f"```sql\n{listed}\n```\n\nThen the {number} run again."
        )
    turn_2 = Turn(
        f"{done} What do they give now, and how many of the numbers you gave have changed?",
        shape=f"the {number} numbers; how many changed",
        result=(*after, changed),
        work=f"The row with NULL now belongs to berth {new}; {changed} of the numbers change.",
        traps={
            "takes the update for harmless": (*before, 0),
            "carries out the first change alone": (*by_one, different(before, by_one)),
        },
        points=[
            "Sees that the first statement can now find rows.",
            "[state] Compares with its own " + ("eight " if level == 3 else "") + "numbers.",
        ],
    )
    return Made((turn_1, turn_2), "the numbers you gave", "change_premise")


def counts(
    boats: list[Row], fees: list[Row], queries: list[str], updates: list[str] | None = None
) -> tuple[int, ...]:
    """Return what SQLite gives, after some changes."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE boat (id INTEGER, length INTEGER, berth INTEGER)")
        base.execute("CREATE TABLE fee (berth INTEGER, paid INTEGER)")
        base.executemany("INSERT INTO boat VALUES (?, ?, ?)", boats)
        base.executemany("INSERT INTO fee VALUES (?, ?)", fees)
        for update in updates or []:
            base.execute(update)
        return tuple(base.execute(query).fetchone()[0] for query in queries)


def _boat(rng: random.Random, number: int) -> Row:
    return number, rng.choice([None, 7, 8, 9, 9, 11]), rng.choice([None, 1, 2, 3, 4, 5])


def _fee(rng: random.Random) -> Row:
    return rng.choice([None, 1, 2, 3, 4, 4]), rng.choice([None, 20, 30, 40])


def _wide_boat(rng: random.Random, number: int) -> Row:
    length = rng.choice([None, *range(5, 16)])
    return number, length, rng.choice([None, *range(1, 7), *range(1, 7)])


def _wide_fee(rng: random.Random) -> Row:
    return rng.randint(1, 6), rng.choice([None, *range(14, 47)])


def _zeroed(rows: list[Row]) -> list[Row]:
    return [tuple(0 if value is None else value for value in row) for row in rows]


def _rows(rows: list[Row]) -> str:
    return ", ".join(map(str, rows)).replace("None", "NULL")

"""Counts that SQLite gives where values are missing; then after one update."""

import random
import sqlite3

from turnbench_questions.template import TOWNS, Made, Turn, different, numbered, redraw_if

QUESTION_ID = 1046
CATEGORY = "coding"
LEVEL = 3

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
)
Row = tuple[int | None, ...]


def make(rng: random.Random) -> Made:
    """Return a question about eight counts, then about the same after an update."""
    boats: list[Row] = [
        (n, rng.choice([None, 7, 8, 9, 9, 11]), rng.choice([None, 1, 2, 3, 4, 5]))
        for n in range(1, 9)
    ]
    fees: list[Row] = [
        (rng.choice([None, 1, 2, 3, 4, 4]), rng.choice([None, 20, 30, 40])) for _ in range(7)
    ]
    values = {"cut": 8, "low": rng.randint(1, 3), "paid": rng.choice([20, 30])}
    queries = [query.format(**values) for query in _QUERIES]
    before = counts(boats, fees, queries)
    redraw_if(sum(berth is None for berth, _ in fees) != 1)
    redraw_if(sum(None in row for row in boats) < 3)
    new = rng.choice([1, 2, 3])
    updated: list[Row] = [(new if berth is None else berth, paid) for berth, paid in fees]
    after = counts(boats, updated, queries)
    two_valued = counts(_zeroed(boats), _zeroed(fees), queries)
    changed = different(before, after)
    redraw_if(changed < 3 or different(before, two_valued) < 3)
    listing = numbered(queries, "{}. {};")
    turn_1 = Turn(
        f"The harbour office of {rng.choice(TOWNS)} has two SQLite tables. boat(id, length, "
        f"berth): {_rows(boats)}. fee(berth, paid): {_rows(fees)}. All columns are integers. What "
        f"number does each statement give?\n\n```sql\n{listing}\n```\n\nI'd like to know why, too, "
        "wherever NULL makes a difference.",
        shape="the eight numbers",
        result=before,
        work="A comparison with NULL is neither true nor false: NOT IN over a list with NULL is "
        "never true, WHERE drops such rows, ON doesn't join them; COUNT(column), SUM and DISTINCT "
        "leave NULL out, while GROUP BY and EXCEPT treat NULLs as one value.",
        traps={"treats NULL as an ordinary value": two_valued},
        points=["Explains that NOT IN over a list with NULL is never true."],
    )
    turn_2 = Turn(
        f"`UPDATE fee SET berth = {new} WHERE berth IS NULL` is carried out, then the eight run "
        "again. What do they give now, and how many of the numbers you gave have changed?",
        shape="the eight numbers; how many changed",
        result=(*after, changed),
        work=f"The row with NULL now belongs to berth {new}; {changed} of the numbers change.",
        traps={"takes the update for harmless": (*before, 0)},
        points=[
            "Sees that the first statement can now find rows.",
            "[state] Compares with its own eight numbers.",
        ],
    )
    return Made((turn_1, turn_2), "the numbers you gave", "change_premise")


def counts(boats: list[Row], fees: list[Row], queries: list[str]) -> tuple[int, ...]:
    """Return what SQLite gives."""
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE boat (id INTEGER, length INTEGER, berth INTEGER)")
        base.execute("CREATE TABLE fee (berth INTEGER, paid INTEGER)")
        base.executemany("INSERT INTO boat VALUES (?, ?, ?)", boats)
        base.executemany("INSERT INTO fee VALUES (?, ?)", fees)
        return tuple(base.execute(query).fetchone()[0] for query in queries)


def _zeroed(rows: list[Row]) -> list[Row]:
    return [tuple(0 if value is None else value for value in row) for row in rows]


def _rows(rows: list[Row]) -> str:
    return ", ".join(map(str, rows)).replace("None", "NULL")

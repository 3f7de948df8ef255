"""A tariff of clauses that refer to each other, four amendments; then as if two weren't made."""

import random
from typing import NamedTuple

from harness.extras.questions.template import TOWNS, WORDS, Made, Trap, Turn, attempt, listed, point

_SHARES = {"the whole of": (1, 1), "twice": (2, 1), "half": (1, 2)}
_WORKS = WORDS["works"]


class Clause(NamedTuple):
    """A fee: an amount, and a share of the fee under another clause."""

    work: str
    amount: int
    share: str = ""
    other: str = ""


class Change(NamedTuple):
    """An amendment; its numbers mean the clauses as numbered when it is made."""

    kind: str
    number: int
    amount: int = 0
    clause: Clause | None = None
    second: int = 0


def make(rng: random.Random) -> Made:
    """Return a question about fees after four amendments."""
    return attempt(rng, _draw)


def _draw(rng: random.Random) -> Made | None:
    works = rng.sample(_WORKS, 22)
    clauses: list[Clause] = []
    for number, work in enumerate(works[:20]):
        share, other = "", ""
        if number > 2 and rng.random() < 0.75:
            share, other = rng.choice(list(_SHARES)), rng.choice(works[max(0, number - 9) : number])
        clauses.append(Clause(work, 2 * rng.randint(2, 20), share, other))
    new = [
        Clause(
            works[20 + n], 2 * rng.randint(2, 20), rng.choice(list(_SHARES)), rng.choice(works[:5])
        )
        for n in range(2)
    ]
    changes = [
        Change("insert", rng.randint(5, 7), clause=new[0]),
        Change("raise", rng.randint(8, 12), 2 * rng.randint(3, 9)),
        Change("repeal", rng.randint(8, 14)),
        Change("exchange", rng.randint(4, 9), second=rng.randint(12, 17)),
        Change("raise", rng.randint(8, 14), 2 * rng.randint(3, 9)),
        Change("insert", rng.randint(3, 12), clause=new[1]),
    ]
    undone = rng.choice([[0, 1], [0, 2], [0, 3], [2, 3]])
    kept = [change for number, change in enumerate(changes) if number not in undone]
    final, again = amended(clauses, changes), amended(clauses, kept)
    wrong = amended(clauses, changes, renumber=False)
    if not (final and again and wrong):
        return None
    asked = sorted(rng.sample(range(9, 20), 4))
    result, after, slip = (tuple(fee(law, n) for n in asked) for law in (final, again, wrong))
    if sum(a != b for a, b in zip(result, after, strict=True)) < 3 or slip == result:
        return None
    if min(depth(final, n) for n in asked) < 1 or sum(depth(final, n) > 2 for n in asked) < 2:
        return None
    law = "\n".join(f"{n}. {written(clause, clauses)}" for n, clause in enumerate(clauses, 1))
    acts = "\n".join(
        f"Amendment {letter}. {_change(change, final)}"
        for letter, change in zip("ABCDEF", changes, strict=True)
    )
    numbers = listed([f"clause {n}" for n in asked])
    one = Turn(
        ask=(
            f"By-law of {rng.choice(TOWNS)} on the use of streets (fees in crowns a "
            f"month):\n\n{law}\n\nIt was then amended, in this order:\n\n{acts}\n\nRules for "
            "amending: clauses are numbered through again after each insertion or repeal, and "
            "an amendment's numbers mean the clauses as they are then numbered. A reference "
            "from one clause to another always stays with the clause it was made to, whatever "
            "that is numbered later. A reference to a repealed clause lapses, with its share; "
            f"the amount stays. What is the fee under what are now {numbers}?"
        ),
        shape="the four fees",
        result=result,
        work="\n".join(f"{n}: {final[n - 1].work}: {_sum(final, n)}" for n in asked),
        traps=[Trap(slip, "reads the amendments by the numbers of the original")],
        points=[
            point("Numbers the clauses again after each insertion and repeal.", 1, "state"),
            point("Lets references follow their clause, and lapse on repeal.", 1, "state"),
        ],
    )
    letters = listed(["ABCDEF"[n] for n in undone])
    two = Turn(
        ask=(
            f"A court has declared amendments {letters} void from the beginning: they were "
            "never made. The other four stand word for word, with the numbers they have. What "
            "are the fees you gave, for the clauses that have those four numbers now?"
        ),
        shape="the four fees",
        result=after,
        work="\n".join(f"{n}: {again[n - 1].work}: {_sum(again, n)}" for n in asked),
        traps=[Trap(result, "takes the judgment to have no effect on these numbers")],
        points=[
            point("Applies the four others by their numbers to another numbering.", 1, "state"),
            point("Names the objects that now have these numbers.", 1),
        ],
    )
    return Made((one, two), "the fees you gave", "change_premise")


def amended(
    clauses: list[Clause], changes: list[Change], renumber: bool = True
) -> list[Clause] | None:
    """Return the clauses after the changes; None where one doesn't fit."""
    law = list(clauses)
    for change in changes:
        names = [clause.work for clause in (law if renumber else clauses)]
        at = [clause.work for clause in law]
        if names[change.number - 1] not in at:
            return None
        here = at.index(names[change.number - 1])
        old = law[here]
        if change.kind == "insert" and change.clause is not None:
            if change.clause.other not in at:
                return None
            law.insert(here + 1, change.clause)
        elif change.kind == "raise":
            law[here] = old._replace(amount=old.amount + change.amount)
        elif change.kind == "repeal":
            del law[here]
            law = [c._replace(share="", other="") if c.other == old.work else c for c in law]
        else:
            if names[change.second - 1] not in at:
                return None
            there = at.index(names[change.second - 1])
            law[here] = old._replace(amount=law[there].amount)
            law[there] = law[there]._replace(amount=old.amount)
    return law if all(fee(law, n) % 1 == 0 for n in range(1, len(law) + 1)) else None


def fee(law: list[Clause], number: int) -> int:
    """Return the fee under a clause; a half is rounded down."""
    clause = law[number - 1]
    if not clause.share:
        return clause.amount
    up, down = _SHARES[clause.share]
    return clause.amount + fee(law, _number(law, clause.other)) * up // down


def depth(law: list[Clause], number: int) -> int:
    """Return how many references a fee goes through."""
    clause = law[number - 1]
    return 1 + depth(law, _number(law, clause.other)) if clause.share else 0


def written(clause: Clause, law: list[Clause]) -> str:
    """Return a clause in words."""
    share = ""
    if clause.share:
        rounded = " (rounded down)" if clause.share == "half" else ""
        share = f", and {clause.share} the fee under clause {_number(law, clause.other)}{rounded}"
    return f"For {clause.work}: {clause.amount}{share}."


def _number(law: list[Clause], work: str) -> int:
    return [clause.work for clause in law].index(work) + 1


def _sum(law: list[Clause], number: int) -> str:
    clause = law[number - 1]
    if not clause.share:
        return str(clause.amount)
    other = _number(law, clause.other)
    return (
        f"{clause.amount} + {clause.share} {fee(law, other)} (clause {other}) = {fee(law, number)}"
    )


def _change(change: Change, law: list[Clause]) -> str:
    if change.kind == "insert" and change.clause is not None:
        clause = change.clause
        share = f", and {clause.share} the fee for {clause.other}"
        rounded = " (rounded down)" if clause.share == "half" else ""
        return (
            f"After clause {change.number} a new clause is inserted: “For {clause.work}: "
            f"{clause.amount}{share}{rounded}.”"
        )
    return {
        "raise": f"In clause {change.number} the amount is raised by {change.amount}.",
        "repeal": f"Clause {change.number} is repealed.",
        "exchange": f"The amounts in clauses {change.number} and {change.second} are exchanged; "
        "their references stay.",
    }[change.kind]

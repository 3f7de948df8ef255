"""A tariff of clauses that refer to each other, amended; then as if some changes weren't made."""

import random
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    TOWNS,
    WORDS,
    Made,
    Turn,
    aside,
    by_level,
    different,
    listed,
    numbered,
    redraw_if,
)

QUESTION_ID = 1071
CATEGORY = "humanities"
LEVEL = 5


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: some 2,000 fees at level 8, 25,000 at 9 and 75,000 at 10, each of which
    is a sum and a division.
    """

    amendments: int
    fees: int
    undone: int
    """How many amendments turn 2 takes back."""
    references: int
    """How many the fees asked for go through at least, all together."""
    swapped: bool = False
    """Whether turn 2 also makes two amendments in the opposite order."""
    years: int = 1
    """How many years the by-law runs; each year's amounts come from the fees of the one before."""


LEVELS = by_level(
    Level(3, 2, 1, 3),
    Level(4, 3, 1, 5),
    Level(6, 4, 2, 8),  # as it was before there were levels
    Level(7, 4, 2, 9),
    Level(8, 5, 2, 12),
    Level(9, 5, 3, 13, True),
    Level(10, 6, 3, 15, True),
    Level(14, 8, 4, 19, True, 50),
    Level(16, 10, 5, 19, True, 570),
    Level(16, 10, 5, 19, True, 1700),
)
_SHARES = {"the whole of": 1.0, "twice": 2.0, "half": 0.5}

_RING = 60
"""What is taken off an amount as often as it can be, where the by-law runs for years."""
_SHOWN = 900
"""About how many amounts a worked answer shows at most."""
_LETTERS = "ABCDEFGHIJKLMNOP"


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
    value: int = 0
    """By how much an amount is raised; with which clause it is exchanged."""
    clause: Clause | None = None


def make(rng: random.Random, level: int) -> Made:
    """Return a question about fees after amendments."""
    sets, more = LEVELS[level], aside(rng)
    works = rng.sample(WORDS["works"], 22)
    clauses: list[Clause] = []
    for number, work in enumerate(works[:20]):
        share, other = "", ""
        if number > 2 and rng.random() < 0.75:
            share, other = rng.choice(list(_SHARES)), rng.choice(works[max(0, number - 9) : number])
        clauses.append(Clause(work, 2 * rng.randint(2, 20), share, other))
    first, last = (
        Clause(work, 2 * rng.randint(2, 20), rng.choice(list(_SHARES)), rng.choice(works[:5]))
        for work in works[20:]
    )
    changes = [
        Change("insert", rng.randint(5, 7), clause=first),
        Change("raise", rng.randint(8, 12), 2 * rng.randint(3, 9)),
        Change("repeal", rng.randint(8, 14)),
        Change("exchange", rng.randint(4, 9), rng.randint(12, 17)),
        Change("raise", rng.randint(8, 14), 2 * rng.randint(3, 9)),
        Change("insert", rng.randint(3, 12), clause=last),
    ][: sets.amendments]
    names = [work for work in WORDS["works"] if work not in works]
    changes += [_further(more, clauses, names) for _ in range(sets.amendments - 6)]
    undone = rng.choice([[0, 1], [0, 2], [0, 3], [2, 3]])
    left = [n for n in range(2, sets.amendments) if n not in undone]
    undone = sorted([*undone, *more.sample(left, max(0, sets.undone - 2))][: sets.undone])
    order = [n for n in range(sets.amendments) if n not in undone]
    early, late = sorted(more.sample(range(len(order)), 2))
    pair = listed([_LETTERS[order[n]] for n in (early, late)])
    if sets.swapped:
        redraw_if(late - early < 2)
        order[early], order[late] = order[late], order[early]
    standing = [changes[n] for n in order]
    final, again = amended(clauses, changes), amended(clauses, standing)
    unswapped = amended(clauses, [changes[n] for n in sorted(order)])
    wrong = amended(clauses, changes, renumber=False)
    numbers = rng.sample(range(9, 20), 4)
    spare = [n for n in range(6, 20) if n not in numbers]
    numbers = sorted([*numbers[: sets.fees], *more.sample(spare, max(0, sets.fees - 4))])
    redraw_if(min(map(len, (final, again, wrong))) < max(numbers))
    result, after, slip = (tuple(fee(law, n) for n in numbers) for law in (final, again, wrong))
    redraw_if(different(result, after) < sets.fees * 3 // 4 or slip == result)
    redraw_if(sets.swapped and after == tuple(fee(unswapped, n) for n in numbers))
    depths = [depth(final, n) for n in numbers]
    redraw_if(min(depths) < 1 or sum(n > 2 for n in depths) < sets.fees // 2)
    redraw_if(sum(depths) < sets.references)
    in_last = sets.years > 1
    years, years_now, years_slip = (in_years(law, sets.years) for law in (final, again, wrong))
    result, after, slip, as_made = (
        tuple(fee(law, n) for n in numbers)
        for law in (years[-1], years_now[-1], years_slip[-1], final)
    )
    redraw_if(in_last and len({after, result, slip}) < 3)
    for some in (years, years_now):
        redraw_if(len({tuple(clause.amount for clause in law) for law in some}) < sets.years)
    asked = NUMBERS[sets.fees]
    law = numbered(written(clause, clauses) for clause in clauses)
    acts = "\n".join(
        f"Amendment {letter}. {_change(change)}"
        for letter, change in zip(_LETTERS, changes, strict=False)
    )
    clause_list = listed([f"clause {n}" for n in numbers])
    run = in_year = ""
    if in_last:
        run = (
            " As it then stands, after the last amendment, it holds for the first year. At each "
            "New Year after that all amounts are set anew, and nothing else changes: the amount in "
            "each clause becomes the fee that was due in the year just past under the clause with "
            "the next higher number (in the last clause: under clause 1), with "
            f"{_RING} taken off as often as it can be, so that 0 to {_RING - 1} is left."
        )
        in_year = f" in the {sets.years}th year"
    turn_1 = Turn(
        f"By-law of {rng.choice(TOWNS)} on the use of streets (fees in crowns a "
        f"month):\n\n{law}\n\nIt was then amended, in this order:\n\n{acts}\n\nRules for amending: "
        "clauses are numbered through again after each insertion or repeal, and an amendment's "
        "numbers mean the clauses as they are then numbered. A reference from one clause to "
        "another always stays with the clause it was made to, whatever that is numbered later. A "
        f"reference to a repealed clause lapses, with its share; the amount stays.{run} What is "
        f"the fee under what are now {clause_list}{in_year}?",
        shape=f"the {asked} fees",
        result=result,
        work=_work(years, numbers),
        traps={"reads the amendments by the numbers of the original": slip},
        points=[
            "[state] Numbers the clauses again after each insertion and repeal.",
            "[state] Lets references follow their clause, and lapse on repeal.",
        ],
    )
    if in_last:
        turn_1.traps["gives the fees of the first year"] = as_made
    letters, others = listed([_LETTERS[n] for n in undone]), NUMBERS[len(order)]
    were = "amendments {} void from the beginning: they were never made"
    if len(undone) == 1:
        were = "amendment {} void from the beginning: it was never made"
    swap = ""
    if sets.swapped:
        one, two = _LETTERS[order[late]], _LETTERS[order[early]]
        swap = (
            f" And {pair} were in truth made in the opposite order: {two} stood where the list has "
            f"{one}, and {one} where it has {two}."
        )
    again_last = f", in the {sets.years}th year, all years reckoned anew" if in_last else ""
    turn_2 = Turn(
        f"A court has declared {were.format(letters)}. The other {others} stand word "
        f"for word, with the numbers they have.{swap} What are the fees you gave, for the clauses "
        f"that have those {asked} numbers now{again_last}?",
        shape=f"the {asked} fees",
        result=after,
        work=_work(years_now, numbers),
        traps={"takes the judgment to have no effect on these numbers": result},
        points=[
            f"[state] Applies the {others} others by their numbers to another numbering.",
            "Names the objects that now have these numbers.",
        ],
    )
    return Made((turn_1, turn_2), "the fees you gave", "change_premise")


def _further(more: random.Random, clauses: list[Clause], names: list[str]) -> Change:
    """Return an amendment of any kind; a new clause takes its work from the names."""
    kind = more.choice(["insert", "raise", "repeal", "exchange"] if names else ["raise"])
    if kind == "insert":
        share, other = more.choice(list(_SHARES)), more.choice(clauses[:9]).work
        clause = Clause(
            names.pop(more.randrange(len(names))), 2 * more.randint(2, 20), share, other
        )
        return Change(kind, more.randint(3, 12), clause=clause)
    if kind == "exchange":
        return Change(kind, more.randint(4, 9), more.randint(11, 17))
    return Change(kind, more.randint(5, 15), 2 * more.randint(3, 9) if kind == "raise" else 0)


def amended(clauses: list[Clause], changes: list[Change], renumber: bool = True) -> list[Clause]:
    """Return the clauses after the changes."""
    law = list(clauses)
    for change in changes:
        meant = list(law) if renumber else clauses
        last = max(change.number, change.value if change.kind == "exchange" else 0)
        redraw_if(last > len(meant))
        index = number_of(law, meant[change.number - 1].work) - 1
        old = law[index]
        if change.clause:
            law.insert(index + 1, change.clause)
        elif change.kind == "raise":
            law[index] = old._replace(amount=old.amount + change.value)
        elif change.kind == "repeal":
            del law[index]
            law = [c._replace(share="", other="") if c.other == old.work else c for c in law]
        else:
            second = number_of(law, meant[change.value - 1].work) - 1
            law[index] = old._replace(amount=law[second].amount)
            law[second] = law[second]._replace(amount=old.amount)
    return law


def in_years(law: list[Clause], years: int) -> list[list[Clause]]:
    """Return the clauses as they stand in each year."""
    found = [law]
    for _ in range(years - 1):
        last = found[-1]
        fees = [one % _RING for one in _fees(last)]
        found.append(
            [
                clause._replace(amount=amount)
                for clause, amount in zip(last, fees[1:] + fees[:1], strict=True)
            ]
        )
    return found


def number_of(law: list[Clause], work: str) -> int:
    """Return the number of the clause about a work."""
    works = [clause.work for clause in law]
    redraw_if(work not in works)
    return works.index(work) + 1


def fee(law: list[Clause], number: int) -> int:
    """Return the fee under a clause; a half is rounded down."""
    clause = law[number - 1]
    if not clause.share:
        return clause.amount
    return clause.amount + int(fee(law, number_of(law, clause.other)) * _SHARES[clause.share])


def _fees(law: list[Clause]) -> list[int]:
    """Return the fees under all clauses."""
    clauses = {clause.work: clause for clause in law}
    found: dict[str, int] = {}

    def under(clause: Clause) -> int:
        if clause.work not in found:
            total = clause.amount
            if clause.share:
                redraw_if(clause.other not in clauses)
                total += int(under(clauses[clause.other]) * _SHARES[clause.share])
            found[clause.work] = total
        return found[clause.work]

    return [under(clause) for clause in law]


def depth(law: list[Clause], number: int) -> int:
    """Return how many references a fee goes through."""
    clause = law[number - 1]
    return 1 + depth(law, number_of(law, clause.other)) if clause.share else 0


def written(clause: Clause, law: list[Clause]) -> str:
    """Return a clause in words; without a law it names the object it refers to."""
    text = f"For {clause.work}: {clause.amount}"
    if clause.share:
        other = f"under clause {number_of(law, clause.other)}" if law else f"for {clause.other}"
        rounded = " (rounded down)" if clause.share == "half" else ""
        text += f", and {clause.share} the fee {other}{rounded}"
    return f"{text}."


def _work(years: list[list[Clause]], numbers: list[int]) -> str:
    """Return the fees asked for in the last year, and of long runs the amounts before."""
    every = -(-len(years) * len(years[0]) // _SHOWN)
    lines = [
        f"Year {year}, amounts: {' '.join(str(clause.amount) for clause in law)}"
        for year, law in enumerate(years, 1)
        if len(years) > 1 and year % every == 0
    ]
    law = years[-1]
    lines += [f"{n}: {law[n - 1].work}: {_sum(law, n)}" for n in numbers]
    return "\n".join(lines)


def _sum(law: list[Clause], number: int) -> str:
    clause, total = law[number - 1], fee(law, number)
    if not clause.share:
        return str(total)
    other = number_of(law, clause.other)
    return f"{clause.amount} + {clause.share} {fee(law, other)} (clause {other}) = {total}"


def _change(change: Change) -> str:
    number, value = change.number, change.value
    if change.clause:
        return f"After clause {number} a new clause is inserted: “{written(change.clause, [])}”"
    return {
        "raise": f"In clause {number} the amount is raised by {value}.",
        "repeal": f"Clause {number} is repealed.",
        "exchange": f"The amounts in clauses {number} and {value} are exchanged; their references "
        "stay.",
    }[change.kind]

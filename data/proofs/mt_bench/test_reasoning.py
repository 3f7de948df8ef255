"""Proofs of the shipped reasoning questions: every answer found by enumeration, and unique."""

import functools
import re
from itertools import combinations, permutations, product

from data.proofs.shipped import question, reference, stands

Rows = tuple[int, ...]


def shell_moves(rows: Rows) -> list[tuple[int, int, Rows]]:
    """Return every move as (shells taken, place of the first of them in its row, rows that are left)."""
    found = []
    for at, row in enumerate(rows):
        for taken in (1, 2):
            for start in range(row - taken + 1):
                left = (*rows[:at], *rows[at + 1 :], start, row - taken - start)
                found.append((taken, start + 1, tuple(sorted(part for part in left if part))))
    return found


@functools.cache
def mover_wins(rows: Rows, last_loses: bool) -> bool:
    """Say whether the player to move wins, by going through every move."""
    if not rows:
        return last_loses
    return any(not mover_wins(left, last_loses) for _, _, left in shell_moves(rows))


def test_1021_eleven_shells() -> None:
    """Eleven shells in a row, one or two neighbours are taken: which first moves win.

    Tempting: mirroring, which finds shell 6 only. Turn 2: the last shell loses.
    """

    def winning(last_loses: bool) -> list[tuple[int, ...]]:
        found = []
        for taken, start, left in shell_moves((11,)):
            if not mover_wins(left, last_loses):
                found.append(tuple(range(start, start + taken)))
        return found

    def said(moves: list[tuple[int, ...]]) -> str:
        return ", ".join("+".join(map(str, move)) for move in moves)

    first, second = winning(False), winning(True)
    assert first[0] == (6,)
    assert len(first) == 7
    pairs = said(first[1:])
    stands(
        1021,
        1,
        f"shell 6 alone, or one of the pairs {pairs}.",
        f"take 6 alone, or one of the pairs {pairs}",
    )
    assert second == [(start, start + 1) for start in range(1, 11)]
    new = [move for move in second if move not in first]
    assert [move for move in first if move not in second] == [(6,)]
    listed = said(new[:-1])
    assert f"{listed} and {said(new[-1:])} are new" in reference(1021)[1]
    assert f"new are {said(new)}" in question(1021)["reference"][1]
    # The tables of the worked answers
    numbers = [0]
    for size in range(1, 11):
        reached = {
            numbers[a] ^ numbers[size - taken - a]
            for taken in (1, 2)
            if taken <= size
            for a in range(size - taken + 1)
        }
        numbers.append(next(n for n in range(size + 9) if n not in reached))
    assert f"| number | {' | '.join(map(str, numbers))} |" in reference(1021)[0]
    lost = [(a, b) for a in range(1, 10) for b in range(a, 11 - a) if not mover_wins((a, b), True)]
    named = re.findall(
        r"\((\d+),(\d+)\)", reference(1021)[1].split("Lost pairs")[1].split("First moves")[0]
    )
    assert sorted((int(a), int(b)) for a, b in named) == lost
    assert [n for n in range(1, 12) if not mover_wins((n,), True)] == [1, 4, 9]


def test_1025_kiln_shelf() -> None:
    """Five people, two statements each, exactly one of each pair true: who did which thing.

    Turn 2: the uncle is right that Óscar, and nobody else, can be left out.
    """
    people = ["Lucía", "Mateo", "Nora", "Óscar", "Pilar"]

    def true_of(shelf: str, door: str) -> dict[str, int]:
        """Return how many of each person's two statements are true."""
        said = {
            "Lucía": (shelf == "Mateo", door != "Nora"),
            "Mateo": (shelf != door, door == "Pilar"),
            "Nora": (shelf in ("Lucía", "Óscar"), door in ("Lucía", "Pilar")),
            "Óscar": (shelf != "Óscar", "Mateo" in (shelf, door)),
            "Pilar": ("Nora" in (shelf, door), door == "Lucía"),
        }
        return {name: sum(pair) for name, pair in said.items()}

    def fitting(without: str | None) -> list[tuple[str, str]]:
        return [
            (shelf, door)
            for shelf, door in product(people, repeat=2)
            if all(true == 1 for name, true in true_of(shelf, door).items() if name != without)
        ]

    [(shelf, door)] = fitting(None)
    stands(
        1025,
        1,
        f"Answer: {shelf} broke the shelf, and {door} left the door unlocked.",
        f"{shelf} broke the shelf; {door} left the door unlocked",
    )
    assert [name for name in people if fitting(name) == [(shelf, door)]] == ["Óscar"]
    assert question(1025)["claim"] == "right"
    assert reference(1025)[1].startswith("Yes, he is right on both points.")
    for name in people:
        others = set(fitting(name)) - {(shelf, door)}
        if not others:
            continue
        [line] = re.findall(rf"^- without {name}: (.*)$", reference(1025)[1], re.MULTILINE)
        assert set(re.findall(r"\((\w+), (\w+)\)", line)) == others
        [part] = re.findall(rf"[Ww]ithout {name} also ([^;]*)", question(1025)["reference"][1])
        assert set(re.findall(r"\((\w+), (\w+)\)", part)) == others


def test_1027_rash_after_supper() -> None:
    """Seven suppers, three with a rash: one ingredient or one pair is the cause.

    Turn 2: the nurse is right that the answer hangs on Tuesday and on Wednesday.
    """
    text = question(1027)["turns"][0]
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    suppers = {
        day: (frozenset(listed.split(", ")), result == "rash")
        for day, listed, result in re.findall(r"(\w+day): ([a-z, ]+); (rash|no rash)\.", text)
    }
    assert list(suppers) == days
    ingredients = sorted(frozenset[str]().union(*(eaten for eaten, _ in suppers.values())))
    assert len(ingredients) == 7
    causes = [frozenset(c) for size in (1, 2) for c in combinations(ingredients, size)]

    def possible(*lost: str) -> list[str]:
        kept = [record for day, record in suppers.items() if day not in lost]
        fit = [cause for cause in causes if all((cause <= eaten) == rash for eaten, rash in kept)]
        return [" + ".join(sorted(cause)) for cause in fit]

    answer = "plum + walnut"
    assert possible() == [answer]
    stands(1027, 1, "Answer: walnut and plum together", "Walnut and plum together")
    more = {day: set(possible(day)) - {answer} for day in days}
    assert {day: others for day, others in more.items() if others} == {
        "Tuesday": {"coriander + walnut"},
        "Wednesday": {"coriander + plum"},
    }
    left = possible("Tuesday", "Wednesday")
    assert left == ["coriander", "coriander + plum", "coriander + walnut", answer]
    assert question(1027)["claim"] == "right"
    stands(
        1027,
        2,
        "Answer: she is right: Tuesday (walnut and coriander would fit too) and Wednesday (coriander and plum would "
        "fit too). Without both, four causes are left: coriander alone, coriander and plum, coriander and walnut, "
        "plum and walnut.",
        "She is right: Tuesday (walnut + coriander would fit too) and Wednesday (coriander + plum would fit too); "
        "without both, four are left: coriander alone, coriander + plum, coriander + walnut, plum + walnut",
    )


def test_1028_dhow_overhaul() -> None:
    """Seven jobs, two men, some jobs wait for others: the smallest number of hours.

    Tempting: half of the 42 hours, 21, or to begin with the longest jobs (turn 2), which gives 24.
    """
    jobs: dict[str, tuple[int, set[str]]] = {
        "strip": (6, set()),
        "saw": (4, set()),
        "sew": (7, set()),
        "oil": (4, {"strip"}),
        "fit": (7, {"strip", "saw"}),
        "rig": (7, {"sew"}),
        "caulk": (7, {"oil", "fit"}),
    }

    def shortest(begin: set[str] | None) -> int:
        """Search all schedules; a man may also wait until the other one finishes a job."""
        best = [sum(hours for hours, _ in jobs.values())]

        def go(now: int, done: frozenset[str], busy: tuple[tuple[int, str], ...]) -> None:
            active = {job for _, job in busy}
            left = [job for job in jobs if job not in done and job not in active]
            if not left:
                best[0] = min(best[0], max((end for end, _ in busy), default=now))
                return
            ready = [job for job in left if jobs[job][1] <= done]
            for count in range(min(2 - len(busy), len(ready)) + 1):
                for chosen in combinations(ready, count):
                    if now == 0 and begin is not None and set(chosen) != begin:
                        continue
                    running = [*busy, *((now + jobs[job][0], job) for job in chosen)]
                    if running:
                        then = min(end for end, _ in running)
                        over = {job for end, job in running if end == then}
                        rest = tuple(sorted(pair for pair in running if pair[0] > then))
                        go(then, done | over, rest)

        go(0, frozenset(), ())
        return best[0]

    least = shortest(None)
    half = sum(hours for hours, _ in jobs.values()) // 2
    assert half == 21
    assert half < least
    stands(1028, 1, f"Answer: {least} hours", f"{least} hours")
    at_once = [job for job, (_, after) in jobs.items() if not after]
    optimal = [set(pair) for pair in combinations(at_once, 2) if shortest(set(pair)) == least]
    assert optimal == [{"strip", "saw"}]
    assert all(shortest({job}) > least for job in at_once)
    longest = set(sorted(at_once, key=lambda job: jobs[job][0])[-2:])
    assert longest == {"sew", "strip"}
    slower = shortest(longest)
    stands(
        1028,
        2,
        f"Answer: {slower} hours at best, {slower - least} more than before",
        f"{slower} hours ({slower - least} more)",
    )


def test_1030_folded_paper() -> None:
    """A sheet of 6 by 6 squares is folded three times and punched: which squares have holes, where is the cross.

    Turn 2: the sheet seen from the back, which exchanges left and right, not top and bottom.
    """
    Square = tuple[int, int]
    span = range(1, 7)
    # From the bottom: the squares of the sheet that lie there, each with whether its front is up.
    stacks: dict[Square, list[tuple[Square, bool]]] = {
        (r, c): [((r, c), True)] for r in span for c in span
    }

    def fold(what: Square, onto: Square) -> None:
        stacks[onto] += [(square, not front) for square, front in reversed(stacks.pop(what))]

    for row in span:
        fold((row, 2), (row, 3))
        fold((row, 1), (row, 4))
    for row in span:
        fold((row, 5), (row, 4))
        fold((row, 6), (row, 3))
    for column in (3, 4):
        fold((5, column), (4, column))
        fold((6, column), (3, column))
    assert sorted(stacks) == [(r, c) for r in range(1, 5) for c in (3, 4)]
    holes = {square for place in ((1, 3), (3, 4), (4, 3)) for square, _ in stacks[place]}
    cross, front_up = stacks[3, 3][-1]
    assert (cross, front_up) == ((6, 3), False)
    assert cross not in holes
    rows = {r: [c for r2, c in sorted(holes) if r2 == r] for r in span}
    listed = "; ".join(
        f"row {r} columns {', '.join(map(str, found))}" for r, found in rows.items() if found
    )
    stands(
        1030,
        1,
        f"Answer: {len(holes)} holes: {listed}. The cross is in row 6, column 3, on the back",
        listed,
    )
    assert question(1030)["reference"][0].startswith(f"{len(holes)} holes")

    def drawn(columns: list[int]) -> list[str]:
        marks = {**dict.fromkeys(holes, "O"), cross: "X"}
        return ["".join(marks.get((r, c), ".") for c in columns) for r in span]

    back = drawn([6, 5, 4, 3, 2, 1])
    assert reference(1030)[1] == "\n".join(back)
    assert question(1030)["reference"][1] == " / ".join(back)
    assert drawn([1, 2, 3, 4, 5, 6]) != back
    assert drawn([1, 2, 3, 4, 5, 6])[::-1] != back


def test_1029_five_boats() -> None:
    """Every order that the log allows; what holds in all, in none, in some."""
    orders = []
    for order in permutations(("auk", "brent", "coot", "diver", "eider")):
        at = {boat: place for place, boat in enumerate(order, 1)}
        if (
            at["auk"] < at["coot"] < at["diver"]
            and abs(at["brent"] - at["diver"]) == 2
            and at["eider"] not in (1, 5)
            and (at["brent"] > at["auk"] or at["eider"] < at["auk"])
        ):
            orders.append(at)
    assert len(orders) == 3
    holds = [
        lambda at: at["auk"] == 1,
        lambda at: at["diver"] == 5,
        lambda at: at["coot"] == 3,
        lambda at: at["brent"] < at["coot"],
        lambda at: at["eider"] == 4,
        lambda at: at["brent"] == 5,
        lambda at: at["auk"] < at["eider"],
        lambda at: abs(at["coot"] - at["diver"]) == 1,
    ]
    words = {frozenset({True}): "certain", frozenset({False}): "impossible"}
    verdicts = [words.get(frozenset(map(one, orders)), "open") for one in holds]
    result = "; ".join(
        f"{letter} {word}" for letter, word in zip("abcdefgh", verdicts, strict=True)
    )
    stands(1029, 1, result, result)
    stands(1029, 2, "Wrong: none", "none")

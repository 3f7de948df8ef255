"""Proofs of the shipped reasoning questions: every answer found by enumeration, and unique."""

import functools
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import NamedTuple

from tests.data.shipped import question, reference


class Thing(NamedTuple):
    """A kind of museum object (question 1029)."""

    red: bool
    fragile: bool
    loan: bool
    room_b: bool
    case: bool


def stands(question_id: int, turn: int, in_answer: str, in_short: str) -> None:
    """Assert that a computed result stands in the worked answer and in the short reference."""
    assert in_answer in reference(question_id)[turn - 1]
    assert in_short in question(question_id)["reference"][turn - 1]


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


def test_1022_lacquer_coats() -> None:
    """Eight coats, one hour each, 26 h of drying, open Mon-Sat 8-17: when is the last finished.

    Tempting: one coat each working day (Tuesday); turn 2: the longest drying that meets Tuesday,
    where the tempting answer is 23 h (24 h from start to start).
    """
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    def finished(drying: int, coats: int = 8) -> tuple[int, int]:
        hour, done = 8, 0
        while True:
            day, clock = divmod(hour, 24)
            if day % 7 != 6 and clock >= 8 and clock + 1 <= 17:
                done += 1
                if done == coats:
                    return day, clock + 1
                hour += 1 + drying
            else:
                hour += 1

    def spoken(end: tuple[int, int]) -> str:
        assert 7 <= end[0] < 14
        return f"{days[end[0] % 7]} of the second week at {end[1]}:00"

    end = finished(26)
    one_each_working_day = [day for day in range(14) if day % 7 != 6][7]
    assert days[one_each_working_day % 7] == "Tuesday"
    assert one_each_working_day != end[0]
    stands(1022, 1, f"is finished on {spoken(end)}", spoken(end))
    meets = [drying for drying in range(1, 60) if finished(drying) <= (8, 17)]
    longest = max(meets)
    assert meets == list(range(1, longest + 1))
    assert longest != 23
    assert spoken(finished(longest)) != spoken(finished(23))
    stands(1022, 2, f"Answer: {longest} hours at most", f"{longest} hours")
    stands(1022, 2, f"then finished on {spoken(finished(longest))}", spoken(finished(longest)))


def test_1023_honey_fair() -> None:
    """Five stands in a row: who stood where, with which honey and how many jars (seven notes).

    Turn 2: the sellers on stands 1 and 3 change places; which notes no longer hold.
    """
    sellers = ["Ana", "Bojan", "Cene", "Darja", "Eva"]
    honeys = ["acacia", "chestnut", "heather", "linden", "spruce"]
    jars = [12, 15, 20, 24, 30]
    Row = list[tuple[str, str, int]]

    def broken(row: Row) -> list[int]:
        """Return the numbers of the notes that do not hold for the row, west to east."""
        at = {seller: place for place, (seller, _, _) in enumerate(row)}
        stand = {honey: place for place, (_, honey, _) in enumerate(row)}
        sold = {seller: count for seller, _, count in row}
        of = {honey: count for _, honey, count in row}
        heather = stand["heather"]
        holds = {
            1: at["Darja"] == at["Ana"] + 1,
            2: sold["Ana"] > sold["Cene"] > sold["Eva"],
            3: heather > 0 and of["heather"] == 2 * row[heather - 1][2],
            4: of["chestnut"] < of["linden"] < of["spruce"],
            5: abs(at["Cene"] - stand["acacia"]) == 1,
            6: at["Bojan"] < stand["linden"] < at["Darja"],
            7: row[stand["spruce"]][0] != "Darja" and sold["Ana"] != 30,
        }
        return [note for note, true in holds.items() if not true]

    found: list[Row] = []
    for order in permutations(sellers):
        if order.index("Darja") != order.index("Ana") + 1:
            continue  # note 1, checked early for speed
        for counts in permutations(jars):
            sold = dict(zip(order, counts, strict=True))
            if not sold["Ana"] > sold["Cene"] > sold["Eva"]:
                continue  # note 2, likewise
            for kinds in permutations(honeys):
                row = list(zip(order, kinds, counts, strict=True))
                if not broken(row):
                    found.append(row)
    assert len(found) == 1
    row = found[0]
    table = "\n".join(
        f"| {place} | {seller} | {honey} | {count} |"
        for place, (seller, honey, count) in enumerate(row, start=1)
    )
    short = "; ".join(
        f"{place} {seller} {honey} {count}"
        for place, (seller, honey, count) in enumerate(row, start=1)
    )
    stands(1023, 1, table, short)
    changed = [row[2], row[1], row[0], *row[3:]]
    notes = " and ".join(map(str, broken(changed)))
    stands(1023, 2, f"Answer: notes {notes}.", f"Notes {notes}")


def test_1024_crates_and_labels() -> None:
    """Six exchanges of crates, labels or contents: the label and content in each bay at the end.

    Tempting: take "the crate labelled X" for the one that holds X. Turn 2: fewest label exchanges.
    """
    names = ["mask", "loom", "drum", "kite", "bell"]
    steps = [
        ("crate", ("bay", "1"), ("bay", "3")),
        ("label", ("bay", "2"), ("bay", "5")),
        ("content", ("label", "bell"), ("bay", "1")),
        ("crate", ("label", "mask"), ("content", "bell")),
        ("label", ("content", "loom"), ("bay", "4")),
        ("content", ("label", "kite"), ("label", "loom")),
    ]

    def final(label_is_content: bool) -> list[tuple[str, str]]:
        bays = [{"label": name, "content": name} for name in names]

        def where(how: str, which: str) -> int:
            if how == "bay":
                return int(which) - 1
            key = "content" if label_is_content else how
            return [bay[key] for bay in bays].index(which)

        for what, one, two in steps:
            i, j = where(*one), where(*two)
            assert label_is_content or i != j
            for key in ("label", "content"):
                if what in ("crate", key):
                    bays[i][key], bays[j][key] = bays[j][key], bays[i][key]
        return [(bay["label"], bay["content"]) for bay in bays]

    state = final(label_is_content=False)
    tempting = final(label_is_content=True)
    assert tempting == [
        ("mask", "mask"),
        ("kite", "kite"),
        ("drum", "bell"),
        ("bell", "loom"),
        ("loom", "drum"),
    ]
    assert tempting != state
    table = "\n".join(
        f"| {bay} | {label.upper()} | {content} |"
        for bay, (label, content) in enumerate(state, start=1)
    )
    short = "; ".join(
        f"{bay}: {label.upper()}/{content}" for bay, (label, content) in enumerate(state, start=1)
    )
    stands(1024, 1, table, short)

    contents = tuple(content for _, content in state)
    ways = {tuple(label for label, _ in state): 1}
    exchanges = 0
    while contents not in ways:
        exchanges += 1
        more: Counter[tuple[str, ...]] = Counter()
        for labels, count in ways.items():
            for i, j in combinations(range(5), 2):
                after = list(labels)
                after[i], after[j] = after[j], after[i]
                more[tuple(after)] += count
        ways = dict(more)
    right = [bay for bay, (label, content) in enumerate(state, start=1) if label == content]
    assert len(right) == 2
    text = f"{exchanges} exchanges; bays {right[0]} and {right[1]} can be left alone; {ways[contents]} different sequences"
    stands(1024, 2, f"Answer: {text}.", text)


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


def test_1026_rolling_cube() -> None:
    """A cube with six animals is rolled ten times: top, north, and prints on its last square.

    Turn 2: the third roll goes east instead of north.
    """
    Vector = tuple[int, int, int]
    way: dict[str, Vector] = {
        "north": (0, 1, 0),
        "south": (0, -1, 0),
        "east": (1, 0, 0),
        "west": (-1, 0, 0),
    }
    up, down = (0, 0, 1), (0, 0, -1)

    def cross(a: Vector, b: Vector) -> Vector:
        return (
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        )

    def turned(face: Vector, to: Vector) -> Vector:
        """Rotate a face by 90 degrees about the axis up x to, which carries up into to."""
        axis = cross(up, to)
        along = sum(x * y for x, y in zip(axis, face, strict=True))
        side = cross(axis, face)
        return (axis[0] * along + side[0], axis[1] * along + side[1], axis[2] * along + side[2])

    def roll(path: list[str]) -> tuple[str, str, tuple[int, int], list[str]]:
        """Return the top, the north face, the last square and the prints on it."""
        faces: dict[str, Vector] = {
            "heron": up,
            "frog": down,
            "otter": way["north"],
            "pike": way["south"],
            "newt": way["east"],
            "crab": way["west"],
        }

        def at(side: Vector) -> str:
            return next(name for name, face in faces.items() if face == side)

        square = (0, 0)
        prints = {square: [at(down)]}
        for step in path:
            to = way[step]
            faces = {name: turned(face, to) for name, face in faces.items()}
            square = (square[0] + to[0], square[1] + to[1])
            prints.setdefault(square, []).append(at(down))
        return at(up), at(way["north"]), square, prints[square]

    assert turned(up, way["east"]) == way["east"]
    assert turned(way["east"], way["east"]) == down
    path = ["east", "east", "north", "west", "south", "south", "west", "north", "north", "east"]
    assert ", ".join(path) in question(1026)["turns"][0]
    top, north, _, seen = roll(path)
    assert len(seen) == 2
    stands(
        1026,
        1,
        f"the {top} is on top, the {north} faces north; the last square bears the prints of "
        f"the {seen[0]} and the {seen[1]}",
        f"{top.capitalize()} on top, {north} to the north; prints on the last square: {seen[0]} and {seen[1]}",
    )
    path[2] = "east"
    top, north, square, seen = roll(path)
    assert square == (2, 0)
    assert Counter(seen) == {"heron": 2, "frog": 1}
    stands(
        1026,
        2,
        f"the {top} is on top, the {north} faces north; the cube lies two squares east of the "
        "start, on a square with the prints of the heron (twice) and the frog",
        f"{top.capitalize()} on top, {north} to the north; two squares east of the start; "
        "prints heron (twice) and frog",
    )


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


def test_1029_museum_rules() -> None:
    """Four rules on red tags, loans, room B and glass cases: which of eight statements follow.

    Tempting: read the rules (1) and (3) as "if and only if", so that B seems to follow too.
    Turn 2: what is certain about two single objects.
    """
    kinds = [Thing(*values) for values in product((False, True), repeat=len(Thing.__annotations__))]

    def allowed(thing: Thing) -> bool:
        """Rules 1 to 3, which speak of every object."""
        return (
            (not thing.red or thing.fragile or thing.loan)
            and not (thing.loan and thing.room_b)
            and (not (thing.fragile and thing.room_b) or thing.case)
        )

    def both_ways(thing: Thing) -> bool:
        """The tempting reading."""
        return (
            thing.red == (thing.fragile or thing.loan)
            and not (thing.loan and thing.room_b)
            and (not thing.room_b or thing.fragile == thing.case)
        )

    every: dict[str, Callable[[Thing], bool]] = {
        "A": lambda t: not (t.red and t.room_b) or t.case,
        "B": lambda t: not (t.case and t.room_b) or t.red,
        "E": lambda t: not (t.room_b and not t.case) or not t.red,
        "F": lambda t: not (t.loan and t.case),
        "G": lambda t: not (t.red and not t.room_b) or t.loan,
        "H": lambda t: not (t.red and not t.fragile and t.room_b),
    }
    some: dict[str, Callable[[Thing], bool]] = {
        "C": lambda t: t.fragile and not t.loan,
        "D": lambda t: t.red and t.loan,
    }

    def follows(rules: Callable[[Thing], bool]) -> str:
        """Return the letters of the statements that hold in every museum that keeps the rules."""
        possible = [thing for thing in kinds if rules(thing)]
        museums = [
            museum
            for size in range(1, 4)
            for museum in combinations(possible, size)
            if any(thing.red and thing.room_b for thing in museum)
        ]
        assert museums
        letters = [
            letter for letter, test in every.items() if all(all(map(test, m)) for m in museums)
        ]
        letters += [
            letter for letter, test in some.items() if all(any(map(test, m)) for m in museums)
        ]
        return "".join(sorted(letters))

    true, tempting = follows(allowed), follows(both_ways)
    assert tempting == "ABCEH"
    assert tempting != true
    listed = ", ".join(true[:-1]) + f" and {true[-1]}"
    stands(1029, 1, f"Answer: {listed} follow", listed)

    possible = [thing for thing in kinds if allowed(thing)]
    number_17 = [t for t in possible if t.red and not t.loan and not t.case]
    number_23 = [t for t in possible if t.fragile and t.room_b and t.case]

    def verdict(values: set[bool]) -> str:
        return "open" if len(values) == 2 else str(values.pop()).lower()

    verdicts = [
        verdict({t.fragile for t in number_17}),
        verdict({t.room_b for t in number_17}),
        verdict({t.red for t in number_23}),
        verdict({t.loan for t in number_23}),
    ]
    numerals = ("(i)", "(ii)", "(iii)", "(iv)")
    text = "; ".join(f"{at} {value}" for at, value in zip(numerals, verdicts, strict=True))
    stands(1029, 2, f"Answer: {text}.", text)


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

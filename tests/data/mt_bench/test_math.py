"""Proofs of the shipped math questions: both turns' results, computed from the problem's data."""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product

from tests.data.shipped import question, reference


def stands(question_id: int, turn: int, in_answer: str, in_short: str) -> None:
    """Assert that a computed result stands in the worked answer and in the short reference."""
    assert in_answer in reference(question_id)[turn - 1]
    assert in_short in question(question_id)["reference"][turn - 1]


def test_1031_stepped_tank() -> None:
    """Five square shafts, 1.5 m deep each, 4 m to 16 m wide: time until the water is 5 m deep.

    Turn 2: the lowest shaft is silted up and water leaks above the floor of the third.
    """
    deep, inflow, leak = Fraction(3, 2), Fraction(20), Fraction(6)
    sides = [4 + 3 * level for level in range(5)]

    def hours(surface: Fraction, silted: int, leaks_above: Fraction | None) -> Fraction:
        total = Fraction(0)
        for level, side in enumerate(sides):
            floor = level * deep
            if level < silted or surface <= floor:
                continue
            volume = side * side * (min(surface, floor + deep) - floor)
            rate = inflow - (leak if leaks_above is not None and floor >= leaks_above else 0)
            total += volume / rate
        return total

    first = hours(Fraction(5), 0, None)
    second = hours(Fraction(5), 1, 2 * deep)
    whole, minutes = divmod(first * 60, 60)
    assert minutes.denominator == 1
    text = f"{whole} hours {minutes} minutes"
    stands(1031, 1, f"Answer: {text}", text)
    whole, seconds = divmod(second * 3600, 3600)
    minutes_2, seconds = divmod(seconds, 60)
    text = f"{whole} hours {minutes_2} minutes {seconds} seconds"
    stands(1031, 2, f"Answer: {text}", text)


def test_1032_brass_weights() -> None:
    """Weights of 3, 5, 8 and 17 g on two pans: how many masses; turn 2: how many in several ways.

    Tempting: (3^4 - 1) / 2 = 40, which overlooks that 3 + 5 = 8 makes layouts coincide.
    """
    weights = (3, 5, 8, 17)
    ways: Counter[int] = Counter()
    for sides in product((-1, 0, 1), repeat=len(weights)):
        ways[sum(side * weight for side, weight in zip(sides, weights, strict=True))] += 1
    masses = sorted(mass for mass in ways if mass > 0)
    tempting = (3 ** len(weights) - 1) // 2
    assert tempting == 40
    assert tempting != len(masses)
    assert tempting > sum(weights)
    missing = [mass for mass in range(1, sum(weights) + 1) if mass not in masses]
    assert missing == [18, 21, 24, 26, 29, 31, 32]
    stands(1032, 1, f"Answer: {len(masses)} different masses", f"{len(masses)} masses")
    several = [mass for mass in masses if ways[mass] > 1]
    assert ", ".join(map(str, several)) in reference(1032)[1]
    assert f"stays **{len(masses)}**" in reference(1032)[1]
    assert sum(ways[mass] for mass in masses) == 39
    stands(
        1032,
        2,
        f"{len(several)} masses can be weighed",
        f"stays {len(masses)}; {len(several)} masses",
    )


def test_1033_check_digit() -> None:
    """Check digit of 3a + 8b + 9c + d: numbers with an unnoticed swap of neighbouring digits.

    Turn 2: which multipliers of b and d (1-9) catch every such swap; does one catch single errors.
    """
    numbers = list(product(range(10), repeat=4))

    def check(digits: tuple[int, ...], by: tuple[int, ...]) -> int:
        return sum(digit * factor for digit, factor in zip(digits, by, strict=True)) % 10

    def unnoticed(digits: tuple[int, ...], by: tuple[int, ...]) -> bool:
        right = check(digits, by)
        for at in range(3):
            if digits[at] != digits[at + 1]:
                swapped = (*digits[:at], digits[at + 1], digits[at], *digits[at + 2 :])
                if check(swapped, by) == right:
                    return True
        return False

    count = sum(unnoticed(digits, (3, 8, 9, 1)) for digits in numbers)
    stands(1033, 1, f"Answer: {count} of the 10,000 numbers", str(count))

    def swaps_caught(by: tuple[int, ...]) -> bool:
        # A swap's change of the sum depends on the two digits only, so two places suffice.
        return all((p - q) * (x - y) % 10 for p, q in pairwise(by) for x in range(10) for y in range(x))

    good = [(p, q) for p in range(1, 10) for q in range(1, 10) if swaps_caught((3, p, 9, q))]
    assert not any(unnoticed(digits, (3, *good[0][:1], 9, *good[0][1:])) for digits in numbers)
    catches_single = [
        (p, q) for p, q in good if all(factor * error % 10 for factor in (3, p, 9, q) for error in range(1, 10))
    ]
    assert catches_single == []
    stands(
        1033,
        2,
        ", ".join(f"({p}, {q})" for p, q in good),
        ", ".join(f"({p},{q})" for p, q in good) + "; none",
    )
    assert "**none of them** catches" in reference(1033)[1]


def test_1034_tea_sachets() -> None:
    """3 ginger, 4 mint, 5 hibiscus drawn at random: probability that ginger runs out first.

    Turn 2, given that: probability that hibiscus lasts longest, mean number of sachets left.
    """
    size = 12
    first, hibiscus_last, left_over, total = 0, 0, 0, 0
    for ginger in combinations(range(size), 3):
        rest = [place for place in range(size) if place not in ginger]
        for mint in combinations(rest, 4):
            hibiscus = [place for place in rest if place not in mint]
            total += 1
            if ginger[-1] < mint[-1] and ginger[-1] < hibiscus[-1]:
                first += 1
                hibiscus_last += hibiscus[-1] == size - 1
                left_over += size - 1 - ginger[-1]
    assert total == 27720
    chance = Fraction(first, total)
    given = Fraction(hibiscus_last, first)
    mean = Fraction(left_over, first)
    stands(1034, 1, f"Answer: {chance}**", str(chance))
    stands(1034, 2, f"Answer: {given} for hibiscus last; on average {mean} sachets", f"{given}; {mean}")


def test_1035_garden_path() -> None:
    """Pave 14 m with slabs of 1, 2 and 3 m, no two 3 m slabs touching: how many sequences.

    Turn 2: only those that read the same from both ends and hold at least one 3 m slab.
    """

    def ways(left: int, last: int = 0) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for slab in (1, 2, 3):
            if slab <= left and not slab == last == 3:
                for more in ways(left - slab, slab):
                    yield (slab, *more)

    every = list(ways(14))
    assert len(set(every)) == len(every)
    assert all(sum(way) == 14 for way in every)
    stands(1035, 1, f"Answer: {len(every)} ways", str(len(every)))
    symmetric = [way for way in every if way == way[::-1]]
    with_black = [way for way in symmetric if 3 in way]
    assert f"{len(symmetric)} − {len(symmetric) - len(with_black)} = {len(with_black)}." in reference(1035)[1]
    stands(1035, 2, f"Answer: {len(with_black)} ways", str(len(with_black)))


def test_1036_three_basins() -> None:
    """Basins of 2, 3 and 10 m touch each other: radius of the ring through the touching points.

    Turn 2 asks for 2.5 m by changing only the largest. Tempting: solve 6c / (5 + c) = 6.25 and
    report the 125 of c = -125; in truth the ring stays below sqrt(6) m.
    """
    # Sides 5, 12, 13: the 2 m basin at the origin, the others on the axes; all coordinates exact.
    small, middle, large = Fraction(2), Fraction(3), Fraction(10)
    at_middle, at_large = (small + middle, Fraction(0)), (Fraction(0), small + large)
    assert at_middle[0] ** 2 + at_large[1] ** 2 == (middle + large) ** 2
    share = middle / (middle + large)
    points = [
        (small, Fraction(0)),
        (Fraction(0), small),
        (at_middle[0] * (1 - share), at_large[1] * share),
    ]
    centre = (Fraction(2), Fraction(2))  # on x = y, as the first two points ask; the third confirms
    squares = {(x - centre[0]) ** 2 + (y - centre[1]) ** 2 for x, y in points}
    assert len(squares) == 1
    radius = Fraction(2)
    assert squares == {radius**2}
    stands(1036, 1, f"Answer: {radius} m.", f"{radius} m")

    def ring_squared(third: Fraction) -> Fraction:
        return small * middle * third / (small + middle + third)

    assert ring_squared(large) == radius**2
    wanted = Fraction(5, 2) ** 2
    # 6c = wanted * (5 + c), solved for c
    solved = wanted * (small + middle) / (small * middle - wanted)
    tempting = abs(solved)
    assert (solved, tempting) == (Fraction(-125), Fraction(125))
    assert ring_squared(tempting) != wanted
    radii = [Fraction(10) ** power for power in range(-3, 9)]
    assert all(ring_squared(c) < ring_squared(10 * c) < small * middle for c in radii)
    assert small * middle < wanted
    limit = math.sqrt(small * middle)
    assert "it can't be done" in reference(1036)[1]
    stands(
        1036,
        2,
        f"below √{small * middle} m ≈ {limit:.3f} m",
        f"below √{small * middle} m ≈ {limit:.3f} m",
    )
    assert "No radius" in question(1036)["reference"][1]


def test_1037_tesserae_packs() -> None:
    """187 sheets from packs of 9 (EUR 20), 14 (EUR 30) and 25 (EUR 52) at the least cost.

    Tempting: as many of the pack that is cheapest per sheet as fit, then top up: EUR 394.
    Turn 2: surplus sheets are bought back at EUR 1.50; tempting is to stay with turn 1's packs.
    """
    need = 187
    packs = ((9, 20), (14, 30), (25, 52))

    def cheapest(refund: Fraction) -> list[tuple[Fraction, tuple[int, ...]]]:
        offers = []
        for counts in product(range(need // 9 + 4), range(need // 14 + 4), range(need // 25 + 4)):
            sheets = sum(n * size for n, (size, _) in zip(counts, packs, strict=True))
            price = sum(n * cost for n, (_, cost) in zip(counts, packs, strict=True))
            if sheets >= need:
                offers.append((price - refund * (sheets - need), counts))
        least = min(offers)[0]
        return [offer for offer in offers if offer[0] == least]

    best = cheapest(Fraction(0))
    assert len(best) == 1
    cost, counts = best[0]
    full = need // 25
    top_up = min(price for size, price in packs if size >= need - 25 * full)
    tempting = full * 52 + top_up
    assert tempting == 394
    assert tempting != cost
    assert counts == (1, 2, 6)
    stands(
        1037,
        1,
        f"Answer: €{cost}, with one pack of 9, two packs of 14 and six packs of 25",
        f"€{cost}: one 9-pack, two 14-packs, six 25-packs",
    )
    best = cheapest(Fraction(3, 2))
    assert len(best) == 1
    net, counts = best[0]
    assert net != cost
    assert counts == (0, 1, 7)
    stands(
        1037,
        2,
        f"Answer: €{net} on balance, with one pack of 14 and seven packs of 25 and no pack of 9",
        f"€{net}: one 14-pack and seven 25-packs",
    )


def solve(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve a system of linear equations given as rows [coefficients..., right side]."""
    size = len(rows)
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column:
                factor = rows[row][column]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def test_1038_tile_pattern() -> None:
    """Tiles amber 1/2, blue 1/3, clear 1/6: mean number until amber, blue, amber.

    The colleague's (tempting) 12 is the mean for amber, amber, blue only, and his even bet fails.
    """
    chances = {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}
    # The last two tiles ("" and single letters at the beginning) are a sufficient state.
    states = ["", *chances, *(x + y for x in chances for y in chances)]

    def equations(ends: dict[str, Fraction], step: Fraction) -> list[Fraction]:
        rows = []
        for state in states:
            row = [Fraction(0)] * (len(states) + 1)
            row[states.index(state)] += 1
            row[-1] += step
            for tile, chance in chances.items():
                seen = state + tile
                if seen in ends:
                    row[-1] += chance * ends[seen]
                else:
                    row[states.index(seen[-2:])] -= chance
            rows.append(row)
        return solve(rows)

    mean = equations({"aba": Fraction(0)}, Fraction(1))[0]
    other = equations({"aab": Fraction(0)}, Fraction(1))[0]
    tempting = 1 / (chances["a"] * chances["b"] * chances["a"])
    assert tempting == 12
    assert tempting != mean
    assert tempting == other
    stands(1038, 1, f"Answer: {mean} tiles on average", str(mean))
    sooner = equations({"aba": Fraction(1), "aab": Fraction(0)}, Fraction(0))[0]
    assert sooner != Fraction(1, 2)
    stands(
        1038,
        2,
        f"The average is {mean}, and amber, blue, amber comes first with probability {sooner}",
        f"the average is {mean}; the probability is {sooner}",
    )


def test_1039_mower_cable() -> None:
    """Cable of 10 m fastened to a hexagon with sides of 4 m: area mown, in terms of pi.

    Turn 2: fastened to the middle of a wall; the difference. Sectors, then a grid of real points.
    """
    side, cable = 4, Fraction(10)

    def sectors(to_next_corner: int, outside: int) -> Fraction:
        """Return area / pi: one sector where it is fastened, then 60 degrees about each corner."""
        area = Fraction(outside, 360) * cable**2
        left = cable - to_next_corner
        while left > 0:
            area += 2 * Fraction(60, 360) * left**2
            left -= side
        return area

    corner = sectors(side, 240)
    middle = sectors(side // 2, 180)

    corners = [(side * math.cos(math.radians(60 * k)), side * math.sin(math.radians(60 * k))) for k in range(6)]
    apothem = side * math.sqrt(3) / 2
    normals = [(math.cos(math.radians(60 * k + 30)), math.sin(math.radians(60 * k + 30))) for k in range(6)]

    def mown(start: tuple[float, float], ahead: list[int], offset: float) -> float:
        """Return the area whose points the cable reaches by the shorter way round the walls."""

        def visible(from_point: tuple[float, float], to_point: tuple[float, float]) -> bool:
            # Some wall has both points on its outer side, so the segment misses the inside.
            low, high = 0.0, 1.0
            for nx, ny in normals:
                before = nx * from_point[0] + ny * from_point[1] - apothem + 1e-9
                after = nx * to_point[0] + ny * to_point[1] - apothem + 1e-9
                if before >= 0 and after >= 0:
                    return True
                if before != after:
                    cut = before / (before - after)
                    if before > after:
                        low = max(low, cut)
                    else:
                        high = min(high, cut)
            return low >= high

        step = 0.17
        cells = 0
        span = int(15 / step)
        for column in range(-span, span + 1):
            for row in range(-span, span + 1):
                point = ((column + 0.5) * step, (row + 0.5) * step)
                if all(nx * point[0] + ny * point[1] < apothem for nx, ny in normals):
                    continue
                reach = math.inf
                if visible(start, point):
                    reach = math.dist(start, point)
                else:
                    for way in (ahead, ahead[::-1]):
                        for walked, at in enumerate(way):
                            if visible(corners[at], point):
                                along = offset + walked * side
                                reach = min(reach, along + math.dist(corners[at], point))
                                break
                cells += reach <= cable
        return cells * step * step

    at_corner = mown(corners[0], [1, 2, 3, 4, 5], float(side))
    half_way = ((corners[0][0] + corners[5][0]) / 2, (corners[0][1] + corners[5][1]) / 2)
    at_middle = mown(half_way, [0, 1, 2, 3, 4, 5], side / 2)
    assert abs(at_corner / math.pi - corner) < Fraction(1, 2)
    assert abs(at_middle / math.pi - middle) < Fraction(1, 2)
    assert corner.denominator == 1
    stands(1039, 1, f"Answer: {corner}π m²", f"{corner}π m²")
    loss = corner - middle
    assert loss > 0
    text = f"{loss.numerator}π/{loss.denominator} m²"
    stands(1039, 2, f"Answer: it loses {text}", f"loses {text}")
    assert f"{middle.numerator}π/{middle.denominator}" in reference(1039)[1]


def test_1040_shelf_marks() -> None:
    """Three-digit numbers that are sixteen times the sum of their digits.

    Turn 2: the smallest multiple of the middle one written with sixes and sevens only.
    """
    marks = [mark for mark in range(100, 1000) if mark == 16 * sum(map(int, str(mark)))]
    text = ", ".join(map(str, marks))
    stands(1040, 1, f"Answer: {text}.", text)
    assert len(marks) == 3
    middle = marks[1]
    multiple = middle
    while set(str(multiple)) - set("67"):
        multiple += middle
    stands(1040, 2, f"Answer: {multiple}.", str(multiple))
    assert f"{multiple} = {multiple // middle} × {middle}" in reference(1040)[1]

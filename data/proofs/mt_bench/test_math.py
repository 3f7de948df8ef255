"""Proofs of the shipped math questions: both turns' results, computed from the problem's data."""

import math
from fractions import Fraction
from itertools import pairwise, product

from data.proofs.shipped import question, reference, stands


def test_1031_bracelets() -> None:
    """Rings of 4 red, 4 white and 4 green beads, no equal neighbours: how many bracelets.

    Turn 2: how many of them are their own mirror image, and how many versions if they can't be flipped.
    """
    size = 12
    rings: list[tuple[int, ...]] = []

    def lay(beads: tuple[int, ...], left: tuple[int, ...]) -> None:
        if len(beads) == size:
            if beads[0] != beads[-1]:
                rings.append(beads)
            return
        for colour in range(3):
            if left[colour] and beads[-1:] != (colour,):
                lay((*beads, colour), tuple(n - (c == colour) for c, n in enumerate(left)))

    lay((), (4, 4, 4))

    def turned(ring: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [ring[k:] + ring[:k] for k in range(size)]

    bracelets = {min(turned(ring) + turned(ring[::-1])) for ring in rings}
    versions = {min(turned(ring)) for ring in rings}
    own_image = sum(bracelet[::-1] in turned(bracelet) for bracelet in bracelets)
    stands(1031, 1, f"Answer: {len(bracelets)} bracelets.", str(len(bracelets)))
    assert f"268 · 12 / 4 = {len(rings)} rings" in reference(1031)[0]
    fixed = [sum(turned(ring)[k] == ring for ring in rings) for k in range(size)]
    assert fixed == [804, 0, 0, 6, 0, 0, 24, 0, 0, 6, 0, 0]
    flipped = [sum(turned(ring[::-1])[k] == ring for ring in rings) for k in range(size)]
    assert (sum(flipped), set(flipped)) == (144, {0, 24})
    assert sum(fixed) + sum(flipped) == 24 * len(bracelets)
    stands(
        1031,
        2,
        f"Answer: {own_image} of the {len(bracelets)} look the same",
        f"{own_image} of them are their own",
    )
    stands(1031, 2, f"= {len(versions)} different ones", f"{len(versions)} versions in total")
    assert own_image + 2 * (len(bracelets) - own_image) == len(versions)


def test_1032_brass_weights() -> None:
    """Weights of 3, 5, 8 and 17 g on two pans: how many masses.

    Tempting: (3^4 - 1) / 2 = 40, which overlooks that 3 + 5 = 8 makes layouts coincide. Turn 2: the brother-in-law is
    wrong about 40 and right that no weight in place of the 17 g one reaches 40; the best such weight.
    """
    weights = (3, 5, 8, 17)

    def results(chosen: tuple[int, ...]) -> set[int]:
        return {
            sum(side * weight for side, weight in zip(sides, chosen, strict=True))
            for sides in product((-1, 0, 1), repeat=len(chosen))
        }

    def count(*chosen: int) -> int:
        return sum(mass > 0 for mass in results(chosen))

    masses = sorted(mass for mass in results(weights) if mass > 0)
    tempting = (3 ** len(weights) - 1) // 2
    assert tempting == 40
    assert tempting != len(masses)
    missing = [mass for mass in range(1, sum(weights) + 1) if mass not in masses]
    assert missing == [18, 21, 24, 26, 29, 31, 32]
    stands(1032, 1, f"Answer: {len(masses)} different masses", f"{len(masses)} masses")
    small = results(weights[:3])
    assert len(small) == 19
    apart = {a - b for a in small for b in small}
    # A weight above every difference gives the bound, so trying up to there is enough.
    replaced = {weight: count(*weights[:3], weight) for weight in range(1, max(apart) + 2)}
    most = max(replaced.values())
    assert most == (3 * len(small) - 1) // 2 < tempting
    lightest = min(weight for weight, found in replaced.items() if found == most)
    assert set(range(1, lightest)) <= apart
    assert not {lightest, 2 * lightest} & apart
    assert count(3, 5, 17, 43) == tempting
    assert question(1032)["claim"] == "half"
    assert f"stays **{len(masses)}**" in reference(1032)[1]
    stands(
        1032,
        2,
        f"The most is {most} masses, and the lightest weight that does it is {lightest} g",
        f"It stays {len(masses)}, he is wrong there; he is right that no replacement of the 17 g weight alone reaches "
        f"{tempting}; the most is {most}, first with {lightest} g",
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
        return all(
            (p - q) * (x - y) % 10 for p, q in pairwise(by) for x in range(10) for y in range(x)
        )

    good = [(p, q) for p in range(1, 10) for q in range(1, 10) if swaps_caught((3, p, 9, q))]
    assert not any(unnoticed(digits, (3, *good[0][:1], 9, *good[0][1:])) for digits in numbers)
    catches_single = [
        (p, q)
        for p, q in good
        if all(factor * error % 10 for factor in (3, p, 9, q) for error in range(1, 10))
    ]
    assert catches_single == []
    stands(
        1033,
        2,
        ", ".join(f"({p}, {q})" for p, q in good),
        ", ".join(f"({p},{q})" for p, q in good) + "; none",
    )
    assert "**none of them** catches" in reference(1033)[1]


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
    # What 125 m is: the radius of a basin that encloses the two others. Their centres at (0, 0) and (5, 0), its own at
    # (27, 120), 123 and 122 m away; the ring about (2, -2.5) goes through all three touching points.
    assert ring_squared(-tempting) == wanted
    outer = (Fraction(27), Fraction(120))
    assert outer[0] ** 2 + outer[1] ** 2 == (tempting - small) ** 2
    assert (outer[0] - 5) ** 2 + outer[1] ** 2 == (tempting - middle) ** 2
    touching = [(small, Fraction(0))]
    for x, basin in ((Fraction(0), small), (Fraction(5), middle)):
        part = basin / (tempting - basin)
        touching.append((x + part * (x - outer[0]), -part * outer[1]))
    assert {(x - 2) ** 2 + (y + Fraction(5, 2)) ** 2 for x, y in touching} == {wanted}
    assert "touched them from inside would have a ring of 2.5 m" in reference(1036)[1]
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
                rows[row] = [
                    value - factor * other
                    for value, other in zip(rows[row], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def test_1038_tile_pattern() -> None:
    """Tiles amber 1/2, blue 1/3, clear 1/6: mean number until amber, blue, amber.

    Turn 2: the colleague's rule gives the right mean for every pattern, and his bet of 2 to 1 is fair.
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

    def mean(pattern: str) -> Fraction:
        return equations({pattern: Fraction(0)}, Fraction(1))[0]

    def rule(pattern: str) -> Fraction:
        """The colleague's rule: 1 / probability of every beginning that is also an ending."""
        ends = [pattern[:k] for k in range(1, 4) if pattern.endswith(pattern[:k])]
        return sum(
            (1 / math.prod((chances[tile] for tile in end), start=Fraction(1)) for end in ends),
            Fraction(0),
        )

    stands(1038, 1, f"Answer: {mean('aba')} tiles on average", str(mean("aba")))
    assert all(
        rule("".join(pattern)) == mean("".join(pattern)) for pattern in product(chances, repeat=3)
    )
    later = 1 - equations({"aba": Fraction(1), "aab": Fraction(0)}, Fraction(0))[0]
    assert later == Fraction(2, 3)  # 2 to 1
    assert question(1038)["claim"] == "right"
    stands(
        1038,
        2,
        f"{mean('aba')} and {mean('aab')} are the averages, and amber, amber, blue comes first with probability "
        f"{later}. For amber, amber, amber the rule gives {mean('aaa')}, and that is true.",
        f"12 + 2 = {mean('aba')}; {mean('aab')}; amber, amber, blue comes first with probability {later}. "
        f"For amber, amber, amber the rule gives {mean('aaa')}, which is right",
    )


def test_1040_factorial_in_base_12() -> None:
    """Zeros at the end of 1000! in base 12, and the last digit before them.

    Tempting: the larger prime decides, which would give 498.
    """
    left, zeros = math.factorial(1000), 0
    while left % 12 == 0:
        left //= 12
        zeros += 1
    threes = sum(1000 // 3**k for k in range(1, 7))
    twos = sum(1000 // 2**k for k in range(1, 10))
    assert (threes, twos) == (498, 994)
    assert zeros == twos // 2 != threes
    stands(1040, 1, f"Answer: {zeros} zeros.", str(zeros))
    stands(1040, 2, f"Answer: {left % 12}.", str(left % 12))
    of_form = [(1000 // 2**k + 1) // 4 for k in range(10)]
    assert sum(of_form) == 498
    assert (
        f"{', '.join(map(str, of_form[:-1]))} and {of_form[-1]}, together 498" in reference(1040)[1]
    )

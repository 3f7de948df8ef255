"""Proofs for the coding questions.

The code of each reference answer is taken out of its fenced block and run
against cases; a plausible wrong solution, written here, must fail them.
"""

import datetime
import itertools
import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

import pytest

from tests.data.shipped import code_blocks, question, reference


def namespace(question_id: int, turn: int, block: int = -1) -> dict[str, Any]:
    """Run a Python block of a reference answer and return what it defines."""
    names: dict[str, Any] = {"__name__": "answer"}
    exec(code_blocks(reference(question_id)[turn])[block], names)
    return names


def short(question_id: int) -> list[str]:
    """Return the short final answers."""
    answers: list[str] = question(question_id)["reference"]
    return answers


class Belt:
    """An iterable that counts how many crates have been read from it."""

    def __init__(self, crates: Iterable[tuple[str, int]]) -> None:
        """Keep the crates; nothing is read yet."""
        self.crates = crates
        self.read = 0

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Hand out the crates one by one and count them."""
        for crate in self.crates:
            self.read += 1
            yield crate


def timeline(
    loads: Callable[..., Iterator[list[str]]],
    crates: Iterable[tuple[str, int]],
    limit: int,
    **options: int | None,
) -> list[tuple[list[str], int]]:
    """Return each load with the number of crates read when it came."""
    belt = Belt(crates)
    return [(list(load), belt.read) for load in loads(belt, limit, **options)]


def loads_by_rule(crates: list[tuple[str, int]], limit: int, most: int, fragile: bool) -> list[tuple[list[str], int]]:
    """Cut the crates into loads by looking at whole slices, and time them."""
    result: list[tuple[list[str], int]] = []
    start = 0
    while start < len(crates):
        stop = start + 1
        while stop < len(crates):
            part = crates[start : stop + 1]
            closed = fragile and crates[stop - 1][0].endswith("!")
            if closed or len(part) > most or sum(kg for _, kg in part) > limit:
                break
            stop += 1
        part = crates[start:stop]
        certain = sum(kg for _, kg in part) >= limit or len(part) == most or (fragile and part[-1][0].endswith("!"))
        read = stop if certain else min(stop + 1, len(crates))
        result.append(([label for label, _ in part], read))
        start = stop
    return result


def test_1041_trolley_loads() -> None:
    """A lazy generator that groups crates into loads; then a cap and fragile ones.

    Wrong: look at a load only when the next crate has come (one crate too late).
    """
    first, second = namespace(1041, 0)["loads"], namespace(1041, 1)["loads"]

    def late(crates: Iterable[tuple[str, int]], limit: int) -> Iterator[list[str]]:
        load: list[str] = []
        weight = 0
        for label, kg in crates:
            if load and weight + kg > limit:
                yield load
                load, weight = [], 0
            load.append(label)
            weight += kg
        if load:
            yield load

    late_fails = 0
    for size in range(6):
        for weights in itertools.product((1, 2, 3, 5), repeat=size):
            plain = [(str(i), kg) for i, kg in enumerate(weights)]
            crates = [(f"{i}!" if int(i) % 3 else i, kg) for i, kg in plain]
            wanted = loads_by_rule(plain, 4, size + 1, False)
            assert timeline(first, plain, 4) == wanted
            assert timeline(second, plain, 4) == wanted
            late_fails += timeline(late, plain, 4) != wanted
            for cap in (1, 2, 3):
                wanted = loads_by_rule(plain, 4, cap, False)
                assert timeline(second, plain, 4, max_crates=cap) == wanted
                wanted = loads_by_rule(crates, 4, cap, True)
                assert timeline(second, crates, 4, max_crates=cap) == wanted
            wanted = loads_by_rule(crates, 4, size + 1, True)
            assert timeline(second, crates, 4, max_crates=None) == wanted
    assert late_fails > 100
    example = [("a", 4), ("b", 6), ("c", 12), ("d", 3), ("e", 8)]
    assert timeline(first, example, 10)[:2] == [(["a", "b"], 2), (["c"], 3)]
    endless = first((("x", 2) for _ in itertools.count()), 4)
    assert list(itertools.islice(endless, 2)) == [["x", "x"], ["x", "x"]]
    assert "`weight >= limit`" in reference(1041)[0]
    assert "at least the limit" in short(1041)[0]
    assert "max_crates" in reference(1041)[1]
    assert "max_crates" in short(1041)[1]


Row = tuple[str, str, int]


def heaviest_by_rule(rows: list[Row]) -> dict[str, tuple[str, int]]:
    """Find the heaviest chest of each garden without sorting or grouping."""
    best: dict[str, tuple[str, int]] = {}
    for garden, chest, kg in rows:
        name = garden.lower()
        if name not in best or kg > best[name][1]:
            best[name] = (chest, kg)
    return best


def test_1042_groupby_faults() -> None:
    """A groupby over rows sorted by another key; a colleague defends the sort.

    Tempting: only take `list` away. Rows of one garden are then still split.
    """
    broken: dict[str, Any] = {}
    exec(code_blocks(question(1042)["turns"][0])[0], broken)
    colleague: dict[str, Any] = {}
    source = code_blocks(question(1042)["turns"][0])[0]
    alone = source.replace("list(groupby(", "(groupby(")
    assert alone != source
    exec(alone, colleague)
    fixed = namespace(1042, 0)["heaviest"]
    assert "groupby(" in code_blocks(reference(1042)[0])[0]

    names = ("HALEM", "HAPJAN", "Halem", "Dikom")
    wrong = 0
    for gardens in itertools.product(names, repeat=3):
        for weights in itertools.product((48, 55, 62), repeat=3):
            chests = ("c2", "c1", "c3")
            rows: list[Row] = list(zip(gardens, chests, weights, strict=True))
            before = list(rows)
            truth = heaviest_by_rule(rows)
            assert fixed(rows) == truth
            assert rows == before
            assert set(broken["heaviest"](list(rows)).values()) == {None}
            theirs = {garden: row[1:] for garden, row in colleague["heaviest"](list(rows)).items()}
            wrong += theirs != truth
    assert wrong > 100

    sample: list[Row] = [("Halem", "a", 3), ("Dikom", "b", 9), ("HALEM", "c", 7)]
    theirs = {g: r[1:] for g, r in colleague["heaviest"](list(sample)).items()}
    assert theirs == heaviest_by_rule(sample)
    proof: dict[str, Any] = {}
    exec(code_blocks(reference(1042)[1])[0], proof)
    shown = colleague["heaviest"](list(proof["rows"]))
    truth = heaviest_by_rule(proof["rows"])
    assert {g: r[1:] for g, r in shown.items()} != truth
    assert str(shown) in reference(1042)[1]
    assert f"`{truth}`" in reference(1042)[1]
    assert reference(1042)[1].startswith("No.")
    assert "case-sensitive" in short(1042)[0]
    assert "wrong" in short(1042)[1]


Test = tuple[int, str, int | None, int]


def germination(
    species: dict[int, str], tests: list[Test], days: int, broken_off: bool
) -> list[tuple[str, int, int, int]]:
    """Count weak and untested accessions per species, in plain Python."""
    counts = {name: [0, 0, 0] for name in species.values()}
    for accession, name in species.items():
        row = counts[name]
        row[0] += 1
        own = [
            (datetime.date.fromisoformat(day), sown or 0, sprouted)
            for owner, day, sown, sprouted in tests
            if owner == accession and (sown or not broken_off)
        ]
        if not own:
            row[2] += 1
            continue
        last = max(day for day, _, _ in own)
        near = [t for t in own if (last - t[0]).days <= days]
        sown = sum(t[1] for t in near)
        row[1] += Fraction(sum(t[2] for t in near), sown) < Fraction(4, 5)
    return [(name, n, weak, none) for name, (n, weak, none) in sorted(counts.items())]


def test_1043_seed_bank_sql() -> None:
    """One SELECT per species: accessions, weak ones by pooled latest tests, untested.

    Wrong: integer division; the latest date taken before broken-off tests go.
    """
    ddl = code_blocks(question(1043)["turns"][0], "sql")[0]
    first = code_blocks(reference(1043)[0], "sql")[0]
    second = code_blocks(reference(1043)[1], "sql")[0]
    assert first.count(";") == second.count(";") == 1
    dividing = first.replace("p.sprouted * 100 < p.sown * 80", "p.sprouted / p.sown < 0.8")
    latest_first = second.replace("MAX(tested_on) AS day\n  FROM valid", "MAX(tested_on) AS day\n  FROM test")
    one_year = second.replace("'-365 days'", "'-1 year'")
    wrong = {dividing: 0, latest_first: 0, one_year: 0}
    assert len(wrong) == 3
    assert not {first, second} & set(wrong)
    days = ["2023-04-17", "2023-03-01", "2024-02-29", "2024-02-28", "2022-04-17"]
    days += ["2022-04-16", "2024-04-16", "2024-04-17"]
    dice = random.Random(1043)
    for trial in range(600):
        species = {i: dice.choice("ABC") for i in range(1, dice.randint(2, 9))}
        later = trial % 2 == 1
        tests: list[Test] = []
        for _ in range(dice.randint(0, 14)):
            sown = dice.choice([1, 5, 20, 1000])
            edge = sown * 4 // 5
            good = dice.choice([edge, max(edge - 1, 0), sown, 0])
            broken_off = later and dice.random() < 0.3
            tests.append(
                (
                    dice.choice(list(species)),
                    dice.choice(days),
                    dice.choice([0, None]) if broken_off else sown,
                    0 if broken_off else good,
                )
            )
        base = sqlite3.connect(":memory:")
        base.executescript(ddl.replace("sown INTEGER NOT NULL", "sown INTEGER"))
        base.executemany("INSERT INTO accession VALUES (?, ?)", species.items())
        base.executemany("INSERT INTO test VALUES (NULL, ?, ?, ?, ?)", tests)
        truth = germination(species, tests, 365 if later else 0, later)
        cursor = base.execute(second if later else first)
        columns = [column[0] for column in cursor.description]
        assert columns == ["species", "accessions", "weak", "untested"]
        assert cursor.fetchall() == truth
        for statement in wrong:
            if later == (statement != dividing):
                wrong[statement] += base.execute(statement).fetchall() != truth
        base.close()
    assert min(wrong.values()) >= 2
    assert "sprouted * 100 < sown * 80" in short(1043)[0]
    assert "'-365 days'" in short(1043)[1]


def shell(program: list[str], script: str, text: str, folder: Path) -> str:
    """Run a shell script on a file with that text and return what it prints."""
    (folder / "script").write_text(script, encoding="utf-8")
    (folder / "times.txt").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [*program, str(folder / "script"), str(folder / "times.txt")],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )
    return done.stdout.strip() + done.stderr


def test_1044_working_times(tmp_path: Path) -> None:
    """A bash script that should sum times and prints 0; then plain sh and `17h05`.

    Wrong: repair the subshell only; 08 is then octal and the last line is lost.
    """
    bash = shutil.which("bash")
    assert bash, "the proof runs the script: install bash"
    broken = code_blocks(question(1044)["turns"][0], "bash")[0]
    half = broken.replace('cat "$1" | while', "while")
    half = half.replace("done\n", 'done < "$1"\n')
    first = code_blocks(reference(1044)[0], "bash")[0]
    second = code_blocks(reference(1044)[1], "sh")[0]
    sh = [shutil.which("dash") or "sh"]
    example = "08:09 a\n\n# 12:30 lunch\n01:30 b"
    cases = [
        example,
        "",
        "\n\n",
        "#08:00 x",
        "00:40 cleaned finds",
        "00:05 x\n00:09 y\n",
        "07:45 sieved * the east \\\n09:08 drew profile: 12:30",
        "\n".join(["10:18 long day"] * 10),
        "10:25 a\n06:40 b\n# end",
    ]
    assert shell([bash], broken, "07:10 a\n07:30 b\n", tmp_path) == "0"
    for text in cases:
        minutes = sum(
            int(line[:2]) * 60 + int(line[3:5]) for line in text.split("\n") if line and not line.startswith("#")
        )
        hours = f"{minutes // 60}h{minutes % 60:02}"
        assert shell([bash], first, text, tmp_path) == str(minutes)
        assert shell(sh, second, text, tmp_path) == hours
        assert shell([bash, "--posix"], second, text, tmp_path) == hours
        if text == example:
            assert shell([bash], half, text, tmp_path) != str(minutes)
            assert f"it prints {minutes}" in reference(1044)[0]
    assert shell([bash], half, "07:10 a\n07:30 b", tmp_path) == "430"
    assert not re.search(r"<<<|\[\[|10#|\b(?:awk|sed|cut|bc|python|cat)\b", second)
    assert "10#" in short(1044)[0]
    assert "${h#0}" in short(1044)[1]


def mark_by_rule(mark: str) -> bool:
    """Check a shelf mark step by step, without a regular expression."""
    capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def number(text: str, most: int) -> bool:
        plain = text != "" and not set(text) - set("0123456789")
        return plain and text == str(int(text)) and 1 <= int(text) <= most

    fonds, space, rest = mark.partition(" ")
    if not space or len(fonds) not in (2, 3) or set(fonds) - set(capitals):
        return False
    first, sign, part = rest.partition("#")
    if part and part[-1] in set(capitals.lower()) - set("ilo"):
        part = part[:-1]
    return number(first, 9999) and (number(part, 99) if sign else True)


def test_1045_shelf_marks() -> None:
    """A pattern for shelf marks, called with `match`; then in verbose mode.

    Tempting: `$` and the digit class; then a bare space and `#` in verbose mode.
    """
    first, second = namespace(1045, 0)["PATTERN"], namespace(1045, 1)["PATTERN"]
    assert second.flags & re.VERBOSE
    tempting = re.compile(r"[A-Z]{2,3} [1-9]\d{0,3}(#[1-9]\d?[a-hjkmnp-z]?)?$")
    bare = code_blocks(reference(1045)[1])[0]
    bare = bare.replace("    [ ] ", "     ").replace("    [#](", "    #(")
    names: dict[str, Any] = {}
    exec(bare, names)
    assert names["PATTERN"].match("KA7")
    assert not names["PATTERN"].match("KA 7")
    arabic = "\u0667"
    marks = [
        "".join(parts)
        for parts in itertools.product(
            ("KA", "MSB", "K", "KABC", "ka", "", "K\u0410"),
            (" ", "", "  ", "\t", "\u00a0"),
            ("7", "07", "0", "4105", "41055", arabic, "1" + arabic, ""),
            ("", "#", "#1", "#12", "#01", "#0", "#123", "#1" + arabic, "#30", "12"),
            ("", "c", "l", "z", "cc", "C", "\n", "c\n", " ", "i", "o", "é"),
        )
    ]
    listed = re.findall(r"`([A-Zka]+ [0-9#a-z]+)`", question(1045)["turns"][0])
    assert [mark_by_rule(mark) for mark in listed] == [True] * 3 + [False] * 4
    wrong = []
    for mark in marks + listed:
        truth = mark_by_rule(mark)
        assert bool(first.match(mark)) == truth, mark
        found = second.match(mark)
        assert bool(found) == truth, mark
        if bool(tempting.match(mark)) != truth:
            wrong.append(mark)
        if found:
            fonds, number, part, leaf = found.group("fonds", "number", "part", "leaf")
            tail = f"#{part}{leaf or ''}" if part else ""
            assert mark == f"{fonds} {number}{tail}"
    assert "KA 7\n" in wrong
    assert f"KA {arabic}" not in wrong
    assert f"KA 1{arabic}" in wrong
    letters = [c for c in map(chr, range(128)) if first.match(f"KA 1#1{c}")]
    assert "".join(letters) == "0123456789abcdefghjkmnpqrstuvwxyz"
    numbers = [n for n in range(20000) if first.match(f"KA {n}")]
    assert numbers == list(range(1, 10000))
    pattern = short(1045)[0].split(", with")[0]
    assert re.compile(pattern).pattern == first.pattern
    prose = reference(1045)[1].split("```")[-1].strip()
    assert len(re.findall(r"[.](?:\s|$)", prose)) == 2
    assert "escaped" in short(1045)[1]


def test_1046_rewriting(tmp_path: Path) -> None:
    """A context manager that swaps a file in atomically; then why, and its mode.

    Wrong: write to the file itself; a reader in between sees a torn schedule.
    """
    target = tmp_path / "schedule.txt"
    old_mask = os.umask(0o077)
    try:
        for turn in (0, 1):
            rewriting = namespace(1046, turn)["rewriting"]
            target.unlink(missing_ok=True)
            with rewriting(target) as out:
                out.write("05:00 Música\n")
                out.flush()
                assert not target.exists()
                inside = [entry.name for entry in tmp_path.iterdir()]
                assert len(inside) == 1  # the temporary file lies beside it
            assert target.read_bytes() == "05:00 Música\n".encode()
            if turn == 1:
                assert stat.S_IMODE(target.stat().st_mode) == 0o644
            number = target.stat().st_ino
            reader = target.open(encoding="utf-8")
            target.chmod(0o664)
            with rewriting(target) as out:
                out.write("06:00 Farm news\n")
                out.flush()
                assert target.read_text(encoding="utf-8") == "05:00 Música\n"
            assert target.read_text(encoding="utf-8") == "06:00 Farm news\n"
            assert reader.read() == "05:00 Música\n"
            reader.close()
            assert target.stat().st_ino != number
            if turn == 1:
                assert stat.S_IMODE(target.stat().st_mode) == 0o664
            for error in (ValueError, KeyboardInterrupt, SystemExit):
                with pytest.raises(error), rewriting(target) as out:
                    out.write("torn")
                    raise error
                assert [entry.name for entry in tmp_path.iterdir()] == [target.name]
                assert target.read_text(encoding="utf-8") == "06:00 Farm news\n"
            assert [entry.name for entry in tmp_path.iterdir()] == [target.name]
    finally:
        os.umask(old_mask)

    with pytest.raises(ValueError), target.open("w", encoding="utf-8") as out:
        out.write("torn")
        raise ValueError
    assert target.read_text(encoding="utf-8") == "torn"  # what `open` would do
    reasons = reference(1046)[1].split("```")[0].strip()
    assert len(re.findall(r"[.](?:\s|$)", reasons)) == 2
    assert "os.replace" in short(1046)[0]
    assert "0o644" in short(1046)[1]


def test_1047_parcel_fees() -> None:
    """Flatten a fee function without changing it; then mend its second oddity.

    Wrong: read 0 as 0 grams and as a year of membership, as one would expect.
    """
    original: dict[str, Any] = {}
    exec(code_blocks(question(1047)["turns"][0])[0], original)
    old, flat = original["fee"], namespace(1047, 0)["fee"]
    new = namespace(1047, 1)["fee"]
    weights = [None, 0, 1, 499, 500, 501, 1999, 2000, 2001, 9000]
    zones = [None, 1, 2, 3, 4, 5]
    years = [None, 0, 1, 2, 30]

    def expected(grams: int | None, zone: int | None, member: int | None) -> int:
        base = 900 if (grams or 1) > 2000 else 500 if (grams or 1) > 500 else 300
        if member is None:
            base = {300: 350, 500: 600, 900: 1050}[base]
        return base + {1: 0, 2: 300, 3: 450, 4: 500, 5: 650}[zone or 1]

    changed = set()
    for grams, zone, member in itertools.product(weights, zones, years):
        assert flat(grams, zone, member) == old(grams, zone, member)
        assert flat(grams, zone) == old(grams, zone) == old(grams, zone, None)
        assert new(grams, zone, member) == expected(grams, zone, member)
        if new(grams, zone, member) != old(grams, zone, member):
            changed.add(member)
    assert changed == {0}
    assert old(600, 1, 0) != expected(600, 1, 0)  # the wrong rewrite differs
    assert old(600, 1, 0) == old(600, 1, None) + 20
    for turn in (0, 1):
        code = code_blocks(reference(1047)[turn])[0]
        assert not re.search(r"^ {5,}(?:el)?if\b", code, re.MULTILINE)
    bases = {old(grams, 1, m) - 20 * (m == 0) for grams in weights for m in years}
    assert bases == {300, 500, 900, 350, 600, 1050}
    assert 450 not in bases
    assert "base fee **450**" in reference(1047)[0]
    assert "450" in short(1047)[0]
    pairs = []
    for grams, zone in itertools.product((500, 501, 2001), (None, 4)):
        before, after = old(grams, zone, 0), new(grams, zone, 0)
        assert f"| {grams} | {zone} | {before} | {after} |" in reference(1047)[1]
        pairs.append(f"{before} → {after}")
    assert ", ".join(pairs) in short(1047)[1]


def mixed(amount: Fraction) -> str:
    """Write an amount as a whole number, a fraction or a mixed number."""
    whole = amount.numerator // amount.denominator
    top = amount.numerator - whole * amount.denominator
    parts = [str(whole)] if whole or not top else []
    parts += [f"{top}/{amount.denominator}"] if top else []
    return " ".join(parts)


def measured(amount: Fraction) -> Fraction:
    """Round to the kitchen's measures by searching the nearest one."""
    step = Fraction(1, 8) if amount < 3 else Fraction(1, 2)
    marks = [step * n for n in range(int(amount / step) + 3)]
    best = min(marks, key=lambda mark: (abs(mark - amount), -mark))
    return best or Fraction(1, 8)


def test_1048_recipes() -> None:
    """Scale the quantity that begins a recipe line; then round to measures.

    Wrong: Python's `round`, which sends a tie to the even neighbour.
    """
    exact, rounded = namespace(1048, 0)["scale"], namespace(1048, 1)["scale"]
    factors = [Fraction(n, d) for n in range(1, 10) for d in (1, 2, 3, 7, 9, 16)]
    written = {"2": Fraction(2), "3/4": Fraction(3, 4), "1 1/2": Fraction(3, 2)}
    written |= {"12": Fraction(12), "4/2": Fraction(2), "0 1/16": Fraction(1, 16)}
    bankers = 0
    for (text, amount), factor in itertools.product(written.items(), factors):
        for rest in ("", " cups masa", "  14-oz tins, 1/2 full", " 14-oz tins"):
            result = amount * factor
            assert exact(text + rest, factor) == mixed(result) + rest
            assert rounded(text + rest, factor) == mixed(measured(result)) + rest
        parts = 8 if result < 3 else 2
        even = max(Fraction(round(result * parts), parts), Fraction(1, 8))
        bankers += even != measured(result)
    assert bankers > 5
    for line in ("a pinch of anise", "", " 2 eggs", "/2", "salt 1/2"):
        assert exact(line, Fraction(5, 3)) == rounded(line, Fraction(5, 3)) == line
    masa = exact("1 1/2 cups masa", Fraction(3, 2))
    tins = exact("2 14-oz tins tomatoes", Fraction(2))
    for line in (masa, tins):
        assert f'`"{line}"`' in question(1048)["turns"][0]
    broth = mixed(measured(5 * Fraction(5, 7))) + " cups broth"
    cloves = mixed(measured(Fraction(1, 2) * Fraction(1, 9))) + " tsp cloves"
    for line in (broth, cloves):
        assert f"**`{line}`**" in reference(1048)[1]
        assert f'"{line}"' in short(1048)[1]


def test_1049_check_letters() -> None:
    """Check letters of herbarium sheets; then repair a code with one `?`.

    Tempting: every weight that shares a factor with 24 is ambiguous (position 2).
    """
    text = question(1049)["turns"][0]
    letters: str = re.findall(r"`([A-Z]{24})`", text)[0]
    weights = [1, 2, 3, 4, 6, 8]
    assert "1, 2, 3, 4, 6 and 8" in text
    assert len(set(letters)) == 24
    names: dict[str, Any] = {}
    exec(code_blocks(reference(1049)[0])[0], names)
    exec(code_blocks(reference(1049)[1])[0], names)
    check, valid, repair = names["check_letter"], names["is_valid"], names["repair"]

    def letter(digits: str) -> str:
        total = sum(w * int(d) for w, d in zip(weights, digits, strict=True))
        return letters[total % 24]

    all_digits = ["".join(d) for d in itertools.product("0123456789", repeat=6)]
    dice = random.Random(1049)
    for digits in dice.sample(all_digits, 300):
        assert check(digits) == letter(digits)
        assert [c for c in letters if valid(f"{digits}-{c}")] == [letter(digits)]
    odd = ("", "20451", "2045188", "20451a", "20451²", "20451٣", " 20451", "+20451")
    for bad in odd:
        with pytest.raises(ValueError):
            check(bad)
        assert not valid(bad)
        assert not valid(f"{bad}-A")
        assert not valid(f"-{bad}")
    good = letter("204518")
    for bad in (good * 2, good.lower(), "", f"{good}\n", f" {good}"):
        assert not valid(f"204518-{bad}")
    assert not valid(f"204518{good}")

    most = [0] * 6
    for digits in dice.sample(all_digits, 120):
        sign = dice.choice(letters)
        assert repair(f"{digits}-?") == [f"{digits}-{letter(digits)}"]
        for place in range(6):
            code = f"{digits[:place]}?{digits[place + 1 :]}-{sign}"
            trials = [code.replace("?", d) for d in "0123456789"]
            wanted = [c for c in trials if letter(c[:6]) == sign]
            assert repair(code) == wanted
    for place, weight in enumerate(weights):
        remainders = [weight * digit % 24 for digit in range(10)]
        most[place] = max(map(remainders.count, remainders))
    ambiguous = [place + 1 for place, count in enumerate(most) if count > 1]
    tempting = [i + 1 for i, weight in enumerate(weights) if gcd(weight, 24) > 1]
    assert tempting == [2, 3, 4, 5, 6]
    assert tempting != ambiguous
    assert ambiguous == [3, 4, 5, 6]
    counts = [str(most[place - 1]) for place in ambiguous]
    said = f"{', '.join(counts[:-1])} and {counts[-1]}"
    assert f"at most **{said}**" in reference(1049)[1]
    assert f"at most {said} candidates" in short(1049)[1]
    assert "**3, 4, 5 and 6**" in reference(1049)[1]
    for code in ("204518-?", "20451?-J"):
        shown = str(repair(code)).replace("'", '"')
        assert f'`repair("{code}")` is `{shown}`' in reference(1049)[1]
    assert f"is **{good}**" in reference(1049)[0]
    assert f"letter {good}." in short(1049)[0]


def fares(taps: list[int], from_paying: bool, double_by_raw: bool = False) -> int:
    """Charge a day's taps, for the proofs, with either start of the window."""
    times = sorted(taps)
    kept: list[int] = []
    for i, tap in enumerate(times):
        before = (times[i - 1] if i else None) if double_by_raw else None
        if not double_by_raw and kept:
            before = kept[-1]
        if before is None or tap - before >= 3:
            kept.append(tap)
    paying: list[int] = []  # positions in kept
    for i, tap in enumerate(kept):
        if paying and i - paying[-1] <= 2:
            start = kept[paying[-1]] if from_paying else kept[i - 1]
            if tap - start <= 75:
                continue
        paying.append(i)
    return 220 * len(paying)


def test_1050_ferry_fares() -> None:
    """Fares with free transfers within 75 minutes of the paying tap; new rules then.

    Tempting: 75 minutes from the previous tap (1100 cents instead of 1320), or
    double readings measured from an ignored tap (880).
    """
    taps = [712, 480, 482, 484, 556, 634, 631, 633, 700, 1180, 1181, 1183, 1186, 1190]
    assert str(taps) in question(1050)["turns"][0]
    old, new = namespace(1050, 0)["charge"], namespace(1050, 1)["charge"]
    truth = fares(taps, from_paying=True)
    tempting = fares(taps, from_paying=False)
    doubles = fares(taps, from_paying=True, double_by_raw=True)
    assert (tempting, doubles) == (1100, 880)
    assert truth not in (tempting, doubles)
    uncapped = fares(taps, from_paying=False)
    capped = min(uncapped, 500)
    before = list(taps)
    assert (old(taps), new(taps)) == (truth, capped)
    assert taps == before
    for count in range(6):
        for steps in itertools.product((0, 2, 3, 74, 75, 76), repeat=count):
            day = [400, *itertools.accumulate(steps, initial=400)][:0:-1]
            assert old(day) == fares(day, from_paying=True)
            assert new(day) == min(500, fares(day, from_paying=False))
    assert old([]) == new([]) == 0
    assert f"**{truth} cents**" in reference(1050)[0]
    assert f"{truth} cents" in short(1050)[0]
    assert f"**{capped} cents with the cap and {uncapped} cents" in reference(1050)[1]
    assert f"{capped} cents with the cap, {uncapped} without" in short(1050)[1]

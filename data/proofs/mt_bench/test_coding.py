"""Proofs for the coding questions.

The code of each reference answer is taken out of its fenced block and run
against cases; a plausible wrong solution, written here, must fail them.
"""

import datetime
import itertools
import json
import random
import re
import sqlite3
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from data.proofs.shipped import code_blocks, question, reference, short


def namespace(question_id: int, turn: int, block: int = -1) -> dict[str, Any]:
    """Run a Python block of a reference answer and return what it defines."""
    names: dict[str, Any] = {"__name__": "answer"}
    exec(code_blocks(reference(question_id)[turn])[block], names)
    return names


NODE, _ = compute_driver_executable()  # the browser tests' own JavaScript engine


def javascript(module: str, calls: str, folder: Path) -> Any:
    """Run a module and return what the expression over its exports, `m`, gives."""
    (folder / "tides.js").write_text(module, encoding="utf-8")
    script = f"const m = require('./tides.js'); process.stdout.write(JSON.stringify({calls}))"
    done = subprocess.run(
        [NODE, "-e", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


Reading = dict[str, Any]


def readings_by_rule(text: str) -> list[Reading]:
    """Read the lines of a tide table, without a regular expression."""
    found: dict[str, Reading] = {}
    for line in text.split("\n"):
        data, _, note = line.strip().partition("#")
        parts = data.split()
        if (
            len(parts) == 2
            and len(parts[0]) == 5
            and parts[0][2] == ":"
            and parts[1].lstrip("-").isdigit()
        ):
            found[parts[0]] = {
                "time": parts[0],
                "level": int(parts[1]),
                "note": note.strip() or None,
            }
    return [found[time] for time in sorted(found)]


def windows_by_rule(readings: list[Reading], least: int) -> list[dict[str, Any]]:
    """Cut the readings into runs that are high enough."""
    found = []
    for high, run in itertools.groupby(
        range(len(readings)), key=lambda i: readings[i]["level"] >= least
    ):
        if high:
            places = list(run)
            start, end = (
                readings[places[0]]["time"],
                readings[min(places[-1] + 1, len(readings) - 1)]["time"],
            )
            first, last = (int(time[:2]) * 60 + int(time[3:]) for time in (start, end))
            found.append({"from": start, "to": end, "length": last - first})
    return found


def test_1042_tides(tmp_path: Path) -> None:
    """A JavaScript module with ten faults; then a colleague who is right about `sort()` and wrong about `g`.

    Wrong: to repair each fault but leave the `g`, or to call the bare sort a fault.
    """
    broken = code_blocks(question(1042)["turns"][0], "javascript")[0]
    fixed = code_blocks(reference(1042)[0], "javascript")[0]
    dice = random.Random(1042)
    texts = ["", "no reading\n", "06:40 182\n07:00 190", "10:00 -5 #\n09:30 200 # x \n10:00 7#rain"]
    for _ in range(60):
        lines = [
            f"{dice.randint(0, 23):02}:{dice.choice((0, 20, 40)):02} {dice.randint(-9, 120)}"
            for _ in range(9)
        ]
        lines = [line + dice.choice(["", "", " # wind", "  #", "#a b "]) for line in lines]
        texts.append(
            "\n".join([*lines, dice.choice(["", "# only a note", "8:00 12", "12:00", "09:00 1.5"])])
        )
    calls = (
        "(t) => { const r = m.parse(t), w = m.windows(r, 60), before = JSON.stringify(w); const l = m.longest(w); "
        "return [r, w, l, m.mean(r), before === JSON.stringify(w), m.minutes('06:40')] }"
    )

    def results(module: str) -> Any:
        return javascript(module, f"{json.dumps(texts)}.map({calls})", tmp_path)

    truth = []
    for text in texts:
        readings = readings_by_rule(text)
        found = windows_by_rule(readings, 60)
        longest = max(found, key=lambda window: window["length"], default=None)
        mean = None
        if readings:
            tenths = Fraction(10 * sum(r["level"] for r in readings), len(readings)) + Fraction(
                1, 2
            )
            mean = float(Fraction(tenths.numerator // tenths.denominator, 10))
        truth.append([readings, found, longest, mean, True, 400])
    assert results(fixed) == truth
    wrong = [a != b for a, b in zip(results(broken), truth, strict=True)]
    assert all(wrong)
    # Each fault by itself does harm: put it back into the corrected module.
    faults = [
        ("?$/;", "?$/g;"),
        ("Number(m[2])", "m[2]"),
        ('(m[3] || "").trim() || null', "m[3] || null"),
        ("map(Number)", "map(parseInt)"),
        ("readings.length - 1)", "readings.length)"),
        ("      from = null;\n", ""),
        ("b.length - a.length", "a.length < b.length"),
        ("[...list].sort", "list.sort"),
        ("Math.round((10 * sum) / readings.length) / 10", "(sum / readings.length).toFixed(1)"),
        (
            "  if (readings.length === 0) return null;\n",
            '  if (readings.length === 0) return "NaN";\n',
        ),
    ]
    assert f"\n{len(faults)}. " in reference(1042)[0]
    assert f"\n{len(faults) + 1}. " not in reference(1042)[0]
    for good, bad in faults:
        assert fixed.count(good) == 1, good
        assert results(fixed.replace(good, bad)) != truth, bad
    assert ".sort().map" in fixed
    assert question(1042)["claim"] == "half"
    two = code_blocks(reference(1042)[1], "")[0].strip()
    with_g = fixed.replace("?$/;", "?$/g;")
    assert javascript(fixed, f"m.parse({json.dumps(two)})", tmp_path) == readings_by_rule(two)
    shown = json.loads(code_blocks(reference(1042)[1], "json")[0])
    assert (
        javascript(with_g, f"m.parse({json.dumps(two)})", tmp_path)
        == shown
        == readings_by_rule(two)[:1]
    )


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
    latest_first = second.replace(
        "MAX(tested_on) AS day\n  FROM valid", "MAX(tested_on) AS day\n  FROM test"
    )
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


def test_1048_rehearsal_rooms() -> None:
    """A module of bookings with eleven faults; then two more methods.

    Every operation is compared with a house that is a set of minutes for each room; every fault that is put back into
    the corrected module must make a difference.
    """
    broken = code_blocks(question(1048)["turns"][0])[0]
    fixed, more = code_blocks(reference(1048)[0])[0], code_blocks(reference(1048)[1])[0]
    open_, close = 480, 1320
    Taken = tuple[int, int, str]

    def price(rate: int, start: int, end: int) -> int:
        cents = Fraction(0)
        for minute in range(start, end):
            if (minute - start) % 15 == 0:
                cents += Fraction(rate, 4) * (Fraction(3, 2) if minute >= 18 * 60 else 1)
        return int(cents + Fraction(1, 2))

    def gaps(taken: list[Taken], least: int) -> list[tuple[int, int]]:
        busy = {minute for start, end, _ in taken for minute in range(start, end)}
        found = []
        for free, run in itertools.groupby(
            range(open_, close), key=lambda minute: minute not in busy
        ):
            minutes = list(run)
            if free and len(minutes) >= least:
                found.append((minutes[0], minutes[-1] + 1))
        return found

    def rush(house: dict[str, list[Taken]]) -> tuple[int, int] | None:
        count = [0] * 1441
        for taken in house.values():
            for start, end, _ in taken:
                for minute in range(start, end):
                    count[minute] += 1
        best: tuple[int, int] | None = None
        for full, run in itertools.groupby(range(1441), key=lambda minute: count[minute] >= 2):
            minutes = list(run)
            if full and (best is None or len(minutes) > best[1] - best[0]):
                best = (minutes[0], minutes[-1] + 1)
        return best

    def agrees(source: str, seed: int, methods: bool = False) -> bool:
        """Play 120 random operations and say whether the module does what its docstrings say."""
        names: dict[str, Any] = {}
        exec(source, names)
        if methods:
            exec(more, names)
            names["House"].move, names["House"].rush = names["move"], names["rush"]
        dice = random.Random(seed)
        rooms = {
            name: (dice.choice((4, 4, 8)), dice.choice((1001, 1001, 1502, 2000))) for name in "CABD"
        }
        house = names["House"]([names["Room"](name, *facts) for name, facts in rooms.items()])
        truth: dict[str, list[Taken]] = {name: [] for name in rooms}
        times = [*range(450, 1351, 30), 545, 1075, 1080, 1085]

        def fits(name: str, start: int, end: int) -> bool:
            return all(end <= s or e <= start for s, e, _ in truth[name])

        def fails(name: str, start: int, end: int) -> bool:
            return not (open_ <= start < end <= close and fits(name, start, end))

        for _ in range(120):
            name, start, group = dice.choice("ABCD"), dice.choice(times), dice.choice("xyz")
            end = start + dice.choice((0, 15, 30, 60, 200, -30))
            try:
                got = tuple(house.book(name, start, end, group))
            except ValueError:
                got = ()
            wanted = () if fails(name, start, end) else (start, end, group)
            if got != wanted:
                return False
            if wanted:
                truth[name] = sorted([*truth[name], (start, end, group)])
            if methods and truth[name]:
                booking = dice.choice([*truth[name], (1, 2, "nobody")])
                at = dice.choice([*times, booking[0] + 15])
                rest = [taken for taken in truth[name] if taken != booking]
                whole, truth[name] = truth[name], rest
                new = (at, at + booking[1] - booking[0], booking[2])
                possible = booking in whole and not fails(name, new[0], new[1])
                truth[name] = sorted([*rest, new]) if possible else whole
                before = list(house.rooms[name].bookings)
                try:
                    moved = tuple(house.move(name, names["Booking"](*booking), at))
                except ValueError:
                    moved = ()
                    if house.rooms[name].bookings != before:
                        return False
                if moved != (new if possible else ()) or house.rush() != rush(truth):
                    return False
            if dice.random() < 0.04:
                removed = sum(
                    taken[2] == group for all_taken in truth.values() for taken in all_taken
                )
                truth = {room: [t for t in taken if t[2] != group] for room, taken in truth.items()}
                if house.cancel(group) != removed:
                    return False
            if any(
                [tuple(b) for b in house.rooms[room].bookings] != taken
                for room, taken in truth.items()
            ):
                return False
            least, people = dice.choice((1, 15, 30, 60)), dice.choice((3, 4, 8, 9))
            fit = [
                room
                for room, (seats, _) in rooms.items()
                if seats >= people and fits(room, start, max(end, start + 1))
            ]
            same = (
                house.gaps(name, least) == gaps(truth[name], least)
                and (
                    start >= end
                    or house.cost(name, start, end) == price(rooms[name][1], start, end)
                )
                and house.free(name, start, max(end, start + 1))
                == fits(name, start, max(end, start + 1))
                and house.suggest(people, start, max(end, start + 1))
                == sorted(fit, key=lambda r: (*rooms[r], r))
            )
            if not same:
                return False
        return True

    seeds = range(25)
    assert all(agrees(fixed, seed, methods=True) for seed in seeds)
    assert not any(agrees(broken, seed) for seed in seeds)
    faults = [
        ("self.bookings = sorted(bookings or [])", "self.bookings = SHARED"),
        ("start < b.end and b.start < end", "start <= b.start < end or start < b.end <= end"),
        ("if start >= end", "if start > end"),
        ("        self.rooms[name].bookings.sort()\n", ""),
        ("if booking.start - at >= least", "if booking.start - at > least"),
        ("        if CLOSE - at >= least:\n            found.append((at, CLOSE))\n", ""),
        ("if at >= EVENING", "if at > EVENING"),
        ("(eighths + 4) // 8", "round(eighths / 8)"),
        ("r.seats >= people", "r.seats > people"),
        ("(r.seats, r.rate, r.name)", "(r.seats, r.rate)"),
    ]
    for good, bad in faults:
        assert fixed.count(good) == 1, good
        source = "SHARED = []\n" + fixed.replace(good, bad)
        assert not all(agrees(source, seed) for seed in seeds), bad
    skips = re.sub(
        r"            kept = .*?room\.bookings = kept\n",
        "            for booking in room.bookings:\n                if booking.group == group:\n"
        "                    room.bookings.remove(booking)\n                    removed += 1\n",
        fixed,
        flags=re.DOTALL,
    )
    assert not all(agrees(skips, seed) for seed in seeds)
    assert f"\n{len(faults) + 1}. " in reference(1048)[0]
    assert f"\n{len(faults) + 2}. " not in reference(1048)[0]
    assert short(1048)[0].startswith("Eleven faults")


Move = tuple[int, int, str, int, str | None]


def store_by_rule(items: list[str], moves: list[Move]) -> dict[str, list[tuple[Any, ...]]]:
    """Work out stock and views of the village store from its moves, in plain Python."""
    own = {item: sorted(m for m in moves if m[1] == number) for number, item in enumerate(items, 1)}
    year, last, peak = [], [], []
    for item, all_own in own.items():
        now = [m[3] for m in all_own if m[2].startswith("2025")]
        year.append((item, sum(q for q in now if q > 0), -sum(q for q in now if q < 0)))
        sold = [m for m in all_own if m[3] < 0]
        if sold:
            _, _, day, qty, buyer = max(sold, key=lambda m: (m[2], m[0]))
            last.append((item, day, -qty, buyer))
        ends = [
            (sum(m[3] for m in all_own if m[2] <= day), day)
            for day in sorted({m[2] for m in all_own})
        ]
        best = max(ends, key=lambda end: end[0], default=(0, None))
        peak.append((item, *best))
    bought = {y: {m[4] for m in moves if m[2].startswith(y) and m[4]} for y in ("2024", "2025")}
    return {
        "item": [(item, sum(m[3] for m in all_own)) for item, all_own in own.items()],
        "year_2025": year,
        "lost_buyer": [(buyer,) for buyer in sorted(bought["2024"] - bought["2025"])],
        "last_sale": last,
        "peak": peak,
    }


def test_1049_village_store() -> None:
    """An SQLite script with triggers and views that have nine faults; then one more view.

    Every fault that is put back into the corrected script must make a difference.
    """
    broken = code_blocks(question(1049)["turns"][0], "sql")[0]
    fixed, peak = (
        code_blocks(reference(1049)[0], "sql")[0],
        code_blocks(reference(1049)[1], "sql")[0],
    )
    items = ["rice", "lentils", "oil", "soap"]
    days = ["2024-03-01", "2024-12-31", "2025-01-01", "2025-06-30", "2025-12-31", "2026-01-01"]

    def agrees(script: str, seed: int) -> bool:
        dice = random.Random(seed)
        base = sqlite3.connect(":memory:", isolation_level=None)
        base.executescript(script + peak)
        base.executemany("INSERT INTO item (name) VALUES (?)", [(item,) for item in items])
        moves: dict[int, Move] = {}
        for number in range(1, dice.choice((3, 20, 30))):
            item, day = dice.randint(1, 3), dice.choice(days)
            qty = dice.choice((40, 25, 7, -5, -9, -30))
            buyer = dice.choice(("Anu", "Biju", "Devi", None)) if qty < 0 else None
            stock = sum(m[3] for m in moves.values() if m[1] == item)
            taken = qty > 0 or -qty <= stock
            try:
                base.execute(
                    "INSERT INTO move VALUES (?, ?, ?, ?, ?)", (number, item, day, qty, buyer)
                )
            except sqlite3.IntegrityError:
                if taken:
                    return False
                continue
            if not taken:
                return False
            moves[number] = (number, item, day, qty, buyer)
            other = dice.choice(list(moves))
            if dice.random() < 0.1:
                base.execute("DELETE FROM move WHERE id = ?", (other,))
                del moves[other]
            elif dice.random() < 0.15:
                _, _, day, qty, buyer = moves[other]
                item, qty = dice.randint(1, 3), qty + (2 if qty > 0 else -2)
                base.execute(
                    "UPDATE move SET item_id = ?, qty = ? WHERE id = ?", (item, qty, other)
                )
                moves[other] = (other, item, day, qty, buyer)
        truth = store_by_rule(items, list(moves.values()))
        got = {
            view: base.execute(f"SELECT * FROM {view}").fetchall()
            for view in truth
            if view != "item"
        }
        got["item"] = base.execute("SELECT name, stock FROM item").fetchall()
        base.close()
        return all(sorted(got[view]) == sorted(rows) for view, rows in truth.items())

    seeds = range(120)
    assert all(agrees(fixed, seed) for seed in seeds)
    assert not any(agrees(broken, seed) for seed in seeds)
    faults = [
        (
            "stock - OLD.qty WHERE id = OLD.item_id;\n  UPDATE item SET stock = stock + NEW.qty",
            "stock + NEW.qty - OLD.qty",
        ),
        (
            "DELETE ON move BEGIN\n  UPDATE item SET stock = stock -",
            "DELETE ON move BEGIN\n  UPDATE item SET stock = stock +",
        ),
        ("AND -NEW.qty >", "AND NEW.qty >"),
        ("  ON m.item_id = i.id AND m.day", "  ON m.item_id = i.id WHERE m.day"),
        (
            "COALESCE(SUM(CASE WHEN m.qty < 0 THEN -m.qty END), 0)",
            "SUM(CASE WHEN m.qty < 0 THEN -m.qty END)",
        ),
        ("LIKE '2025-%' AND buyer IS NOT NULL", "LIKE '2025-%'"),
        ("LIKE '2024-%' AND buyer IS NOT NULL", "LIKE '2024-%'"),
        ("  WHERE m.qty < 0\n)", ")"),
        ("ORDER BY m.day DESC, m.id DESC", "ORDER BY m.day DESC, m.id"),
    ]
    for good, bad in faults:
        assert fixed.count(good) == 1, good
        assert not all(agrees(fixed.replace(good, bad), seed) for seed in seeds), bad
    assert f"\n{len(faults)}. " in reference(1049)[0]
    assert f"\n{len(faults) + 1}. " not in reference(1049)[0]
    by_move = peak.replace(
        "day, SUM(qty) AS qty FROM move GROUP BY item_id, day", "day, qty FROM move"
    )
    assert by_move != peak
    peak = by_move.replace("ORDER BY day) AS", "ORDER BY day ROWS UNBOUNDED PRECEDING) AS")
    assert not all(agrees(fixed, seed) for seed in seeds)


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


def meets(check: dict[str, Any], source: str) -> bool:
    """Run a check's cases on a program, as in a sandbox."""
    names: dict[str, Any] = {"__name__": "answer"}
    try:
        exec("import re\n" + source + "\n" + check.get("tests", ""), names)
        return all(
            names[check["function"]](*case["args"]) == case["returns"]
            for case in check.get("cases", ())
        )
    except Exception:
        return False


CODE_CHECKS = [
    (question_id, turn, check)
    for question_id in range(1041, 1051)
    for turn in (0, 1)
    for check in question(question_id)["checks"][turn]
    if check["kind"] == "code"
]


@pytest.mark.parametrize(("question_id", "turn", "check"), CODE_CHECKS)
def test_the_reference_meets_its_code_check_and_what_was_given_does_not(
    question_id: int, turn: int, check: dict[str, Any]
) -> None:
    """An earlier turn's code, or the code in the question, fails."""
    assert meets(check, code_blocks(reference(question_id)[turn])[-1])
    text = reference(question_id)[0] if turn else question(question_id)["turns"][0]
    if earlier := code_blocks(text):
        assert not meets(check, earlier[-1])


def test_a_line_alone_is_a_right_answer() -> None:
    """Turn 1 of 1045 asks for one line, which uses `re` without importing it."""
    line = re.search(r"PATTERN = re\.compile\(.*?\)$", reference(1045)[0], re.M | re.S)
    assert line is not None
    assert meets(question(1045)["checks"][0][0], line[0])


def test_a_transfer_exactly_75_minutes_later_is_free() -> None:
    code = code_blocks(reference(1050)[0])[-1]
    check = next(c for c in question(1050)["checks"][0] if c["kind"] == "code")
    assert code.count("<= WINDOW") == 1
    assert not meets(check, code.replace("<= WINDOW", "< WINDOW"))


def test_half_a_cent_is_rounded_up() -> None:
    code = code_blocks(reference(1048)[0])[-1]
    check = question(1048)["checks"][0][0]
    worse = code + "\nimport fractions\n"
    worse += "def _even(self, name, start, end):\n"
    worse += "    rate = self.rooms[name].rate\n"
    worse += "    quarters = [3 if at >= EVENING else 2 for at in range(start, end, 15)]\n"
    worse += "    return round(fractions.Fraction(rate * sum(quarters), 8))\n"
    worse += "House.cost = _even\n"
    assert meets(check, code)
    assert not meets(check, worse)

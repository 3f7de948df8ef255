"""Proofs for the extraction questions.

The data of each question stand here a second time, written down separately from
the reference answers; every value must occur in the question's own text, and
the reference answers, parsed, must say the same.
"""

import csv
import datetime
import io
import json
import re
from decimal import Decimal
from typing import Any

from data.proofs.shipped import code_blocks, question, reference, short


def source(question_id: int) -> str:
    """Return the text of the first turn."""
    turn: str = question(question_id)["turns"][0]
    return turn


def json_answer(question_id: int, turn: int) -> Any:
    """Return the single JSON block of a reference answer, parsed."""
    blocks = code_blocks(reference(question_id)[turn], "json")
    assert len(blocks) == 1
    return json.loads(blocks[0])


def csv_answer(question_id: int, turn: int, delimiter: str) -> list[list[str]]:
    """Return the single CSV block of a reference answer as rows."""
    blocks = code_blocks(reference(question_id)[turn], "csv")
    assert len(blocks) == 1
    return list(csv.reader(io.StringIO(blocks[0]), delimiter=delimiter))


def prose_words(text: str) -> int:
    """Count the words of an answer outside its code blocks."""
    return len(re.sub(r"```.*?```", " ", text, flags=re.DOTALL).split())


def only_code(text: str) -> bool:
    """Say whether an answer is one code block and nothing else."""
    return re.fullmatch(r"```\w+\n.*\n```", text, re.DOTALL) is not None


def occurs(text: str, fragments: list[str]) -> None:
    """Assert that every fragment stands in the text."""
    for fragment in fragments:
        assert fragment in text, fragment


def test_1051_survey_diary() -> None:
    """A long diary into what the farms supplied; then by farm, in the valley's own weights.

    Two men of one name who change theirs half-way, weights in three units, goods that another man carried, stones in a
    bag, half of it sent home, a load lost in the river and told of four days later.
    """
    text = source(1051)
    assert 1100 <= len(text.split()) <= 1500
    occurs(text, ["a pund is half a kilogram, ten pund are a fjórðungur, sixteen pund a lispund"])
    pund = Decimal("0.5")
    unit = {"pund": pund, "fjórðungur": 10 * pund, "lispund": 16 * pund}
    hoell, bakki, wife = "Jón of Hóll", "Jón of Bakki", "Guðrún"
    # day, supplier, goods, kilograms, and the diary's words for them
    facts: list[tuple[int, str, str, Decimal, list[str]]] = [
        (
            3,
            hoell,
            "dried fish",
            2 * unit["fjórðungur"] - 4 * pund,
            [
                "Jón himself rode down with two fjórðungar of dried fish",
                "the one from Hóll, he found four pund of stones",
            ],
        ),
        (
            4,
            bakki,
            "butter",
            unit["lispund"] / 2,
            ["came Bakki-Jón", "with a lispund of butter", "we kept half of it"],
        ),
        (5, wife, "skyr", 14 * pund, ["fourteen pund, without the tub"]),
        (
            7,
            hoell,
            "flour",
            50 - 3 * unit["fjórðungur"],
            [
                "Jón sold us a sack of flour",
                "marked it 50 kg",
                "already eaten three fjórðungar of it",
            ],
        ),
        (
            10,
            bakki,
            "dried fish",
            unit["fjórðungur"] + 4 * pund,
            [
                "one fjórðungur and four pund of dried fish",
                'when I now write "Jón", it is the one from Bakki',
            ],
        ),
        (11, "Páll", "coffee", 3 * pund, ["three pund of coffee, his own gift"]),
        (
            11,
            hoell,
            "sugar",
            6 * pund,
            ["From that brother he had a second parcel", "six pund of sugar"],
        ),
        (12, wife, "skyr", 14 * pund, ["the same amount of skyr as the first time"]),
        (
            12,
            bakki,
            "mutton",
            40 * pund / 2,
            [
                "forty pund of mutton were on the way",
                "the river took the whole load",
                "half as much mutton as had been lost",
            ],
        ),
    ]
    assert text.index("Jón came to say good-bye") < text.index("10 August. Jón brought")
    for _, _, _, _, words in facts:
        occurs(text, words)
    rows = [
        {"day": day, "supplier": supplier, "goods": goods, "kg": float(kg)}
        for day, supplier, goods, kg, _ in facts
    ]
    answer = json_answer(1051, 0)
    assert answer == rows
    assert [list(row) for row in answer] == [list(row) for row in rows]
    assert only_code(reference(1051)[0])
    assert short(1051)[0] == "; ".join(
        f"{d} {who} {what} {kg.normalize():f}" for d, who, what, kg, _ in facts
    )

    farms: dict[str, list[Decimal]] = {"Hóll": [], "Bakki": []}
    for _, supplier, _, kg, _ in facts:
        farms["Bakki" if supplier in (bakki, wife) else "Hóll"].append(kg)
    occurs(text, ["Guðrún, who is Bakki-Jón's wife", "lives with him at Hóll"])
    order = sorted(farms, key=lambda farm: -sum(farms[farm]))
    lines = [
        [farm, str(len(farms[farm])), f"{sum(farms[farm], Decimal(0)).normalize():f}"]
        for farm in order
    ]
    assert csv_answer(1051, 1, ",") == [["farm", "deliveries", "kg"], *lines]
    whole, rest = divmod(sum(map(sum, farms.values())) / pund, 10)
    total = f"{whole} fjórðungar {rest:f} pund".replace(".0", "")
    assert reference(1051)[1].endswith(f"```\n{total}")
    assert short(1051)[1] == "; ".join([",".join(line) for line in lines] + [total])


def test_1052_minutes_with_corrections() -> None:
    """Minutes in which later items change earlier ones; then three objections, all of them right.

    Tempting wrong path: read each item on its own and believe items 2 and 3.
    """
    text = source(1052)
    # task, person, deadline, budget, and the item that changed it last
    facts = {
        "pump": ("Ilir", (3, 14), 1870, 7),
        "fence": ("Mirela", (4, 30), 640, 6),
        "roof": ("Ilir", (4, 2), 0, 8),
    }
    occurs(text, ["14 March", "30 April", "2 April", "1,870 euros", "640 euros"])
    occurs(
        text,
        [
            "a fortnight later than planned there",
            "without a budget",
            "deadline unchanged",
            "once she is back",
        ],
    )
    deadlines = {task: datetime.date(2025, *day) for task, (_, day, _, _) in facts.items()}
    deadlines["fence"] += datetime.timedelta(days=14)
    assert deadlines["fence"].month == 5
    truth: list[dict[str, Any]] = [
        {
            "task": task,
            "person": facts[task][0],
            "deadline": deadlines[task].strftime("%m-%d"),
            "budget_eur": facts[task][2],
        }
        for task in sorted(facts, key=lambda name: deadlines[name])
    ]
    tempting = [
        {"task": "pump", "person": "Ilir", "deadline": "03-14", "budget_eur": 1780},
        {"task": "roof", "person": "Ilir", "deadline": "04-02", "budget_eur": 90},
        {"task": "fence", "person": "Dana", "deadline": "04-30", "budget_eur": 640},
    ]
    occurs(text, ["1,780 euros", "up to 90 euros", "Dana takes it on"])
    assert tempting != truth
    assert json_answer(1052, 0) == truth
    said = [f"{row['task']} {row['person']} {row['deadline']} {row['budget_eur']}" for row in truth]
    assert "; ".join(said) in short(1052)[0]
    for row in truth:
        row["item"] = facts[row["task"]][3]
    items = {
        int(number): words
        for number, words in re.findall(r"(\d)\. (.*?)(?= \d\. [A-Z]| Closed)", text)
    }
    changed = {"pump": "1,870", "fence": "Mirela takes on", "roof": "without a budget"}
    for task, words in changed.items():
        assert [number for number, item in items.items() if words in item] == [facts[task][3]]
    assert json_answer(1052, 1) == truth
    assert [list(row) for row in json_answer(1052, 1)] == [list(row) for row in truth]
    assert prose_words(reference(1052)[1]) <= 90
    assert question(1052)["claim"] == "right"
    assert reference(1052)[1].startswith("Yes, on all three.")
    numbered = [f"{words}, item {row['item']}" for words, row in zip(said, truth, strict=True)]
    assert short(1052)[1].endswith("; ".join(numbered))


def clock(text: str) -> int:
    """Return the minutes after midnight of `HH:MM`."""
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def test_1053_lighthouse_log() -> None:
    """Ships that pass a lighthouse; then fog and the minutes between them.

    Rahue is corrected to Bueno; ships heard, awaited or reported did not pass.
    """
    text = source(1053)
    # time, type, name, direction, miles, and the log's words for them
    facts: list[tuple[str, str, str | None, str, float | None, str]] = [
        ("05:20", "freighter", "Maule", "N", 3, "northbound, 3 miles off"),
        ("07:50", "trawler", None, "S", None, "southbound, name hidden"),
        ("09:15", "tanker", "Bueno", "S", 5, "southbound, 5 miles off"),
        ("13:05", "freighter", "Maule", "S", 2, "now southbound, 2 miles off"),
        ("18:45", "ferry", "Petrel", "N", 0.5, "northbound, half a mile off"),
    ]
    horn = [("06:05", "08:30"), ("16:30", "19:20")]
    rows: list[dict[str, Any]] = []
    for time, kind, name, direction, miles, words in facts:
        entry = re.split(r"\. (?=\d\d:\d\d)", text[text.index(f"{time} ") :])[0]
        occurs(entry, [words])
        occurs(text, [kind, name or "name hidden by the fog"])
        rows.append(
            {
                "time": time,
                "type": kind,
                "name": name,
                "direction": direction,
                "miles_off": miles,
            }
        )
    occurs(text, ["was not Rahue but her sister Bueno"])
    assert json_answer(1053, 0) == rows
    assert list(json_answer(1053, 0)[0]) == list(rows[0])
    assert only_code(reference(1053)[0])
    assert "Rahue" not in reference(1053)[0]

    for start, stop in horn:
        assert re.search(rf"{start} fog[a-z ]*, horn started", text)
        assert re.search(rf"{stop} (?:fog lifted, )?horn stopped", text)
    spans = [(clock(start), clock(stop)) for start, stop in horn]
    before: int | None = None
    for row in rows:
        now = clock(row["time"])
        row["fog"] = any(start <= now < stop for start, stop in spans)
        row["minutes_since_previous"] = None if before is None else now - before
        before = now
    total = sum(stop - start for start, stop in spans)
    answer = reference(1053)[1]
    assert json_answer(1053, 1) == rows
    assert list(json_answer(1053, 1)[0]) == list(rows[0])
    assert answer.endswith(f"```\nHorn: {total} min")
    for row in rows:
        occurs(short(1053)[0], [f"{row['time']} {row['type']} {row['name'] or 'null'}"])
        gap = row["minutes_since_previous"]
        said = f"{row['time']} {str(row['fog']).lower()} {gap or 'null'}"
        occurs(short(1053)[1], [said])
    assert short(1053)[1].endswith(f"Horn: {total} min")


def test_1054_band_contract() -> None:
    """A contract into what is owed; then the same performance in a tent that doesn't count as open air.

    Tempting: stop reading before number 13 and add the Sunday, the meals and the rooms.
    """
    text = source(1054)
    occurs(
        text,
        [
            "up to 90 minutes the band receives 4,200 euros",
            "Each further quarter of an hour that has been begun",
        ],
    )
    occurs(
        text,
        [
            "costs 300 euros",
            "Breaks of up to twenty minutes count",
            "40 cents for each kilometre and vehicle",
        ],
    )
    occurs(
        text,
        [
            "for at most two vehicles; the first 100 kilometres of each",
            "18 euros instead",
            "it is 36 euros",
        ],
    )
    occurs(
        text,
        [
            "ends after 22:30, the organiser pays 70 euros",
            "does not live in the town",
            "the band receives 450 euros",
        ],
    )
    occurs(text, ["rises by a tenth", "The numbers 3, 4 and 7 are not part of this contract"])
    occurs(text, ["A tent with fewer than three walls is open air, one with three or more is not"])
    occurs(
        text,
        [
            "Sunday 6 July",
            "started 21:15 and were done 23:05",
            "a quarter of an hour's break",
            "each 260 km one way",
        ],
    )
    annex = text[text.index("Annex: ") :]
    listed = re.findall(r"\bthe (two )?\w+", re.sub(r"\(.*?\)", "", annex))
    people = sum(2 if two else 1 for two in listed)
    assert (people, annex.count("(lives in the town)")) == (9, 1)
    begun = -(-(clock("23:05") - clock("21:15") - 90) // 15)
    fee = 4200 + 300 * begun
    travel = Decimal("0.40") * 2 * (2 * 260 - 100)
    meals = people * (36 if clock("23:05") > clock("23:00") else 18)
    rooms = (people - 1) * 70

    def owed(open_air: bool) -> dict[str, int]:
        found = {
            "fee": fee,
            "sunday": 0 if open_air else fee // 10,
            "travel": int(travel),
            "meals": 0 if open_air else meals,
            "rooms": 0 if open_air else rooms,
            "sound": 450,
        }
        return {**found, "total": sum(found.values())}

    meadow, tent = owed(True), owed(False)
    occurs(question(1054)["turns"][1], ["back and both sides closed, front open"])
    assert json_answer(1054, 0) == meadow
    assert json_answer(1054, 1) == tent
    assert list(json_answer(1054, 0)) == list(json_answer(1054, 1)) == list(meadow)
    assert only_code(reference(1054)[0])
    changed = ", ".join(key for key in meadow if meadow[key] != tent[key])
    assert reference(1054)[1].endswith(f"```\n{changed}")
    assert short(1054)[0] == ", ".join(f"{key} {value}" for key, value in meadow.items())
    assert (
        short(1054)[1]
        == ", ".join(f"{key} {value}" for key, value in tent.items()) + f"; changed: {changed}"
    )


def test_1055_village_wells() -> None:
    """A report whose text overrules its own table: which wells may be named; then where it does so.

    Snags: depths follow the table, units differ, a sample doesn't count, owners refuse in the last sentence.
    """
    text = source(1055)
    table = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].isdigit():
            table[int(cells[0])] = cells[1:]
    assert list(table) == list(range(1, 9))
    occurs(text, ["where this text and the table differ, the text holds", "the table is right"])
    flow = {well: Decimal(cells[2]) for well, cells in table.items()}
    chloride = {well: int(cells[3]) for well, cells in table.items()}
    measured = {well for well, cells in table.items() if not cells[4].endswith("*")}
    occurs(
        text,
        [
            "in May we repeated the sample, and it held 230 milligrams",
            "lifts 3.6 cubic metres an hour",
        ],
    )
    occurs(text, ["240 should read 420", "a barrel of 200 litres was full after four minutes"])
    occurs(
        text,
        [
            "gives three quarters of that",
            "at Chefe we took a bottle of our own",
            "its depth as 34 metres",
        ],
    )
    chloride |= {2: 230, 4: 420}
    flow |= {3: Decimal("3.6") * 1000 / 3600, 7: Decimal(200) / 240, 8: flow[8] * 3 / 4}
    measured |= {3}
    occurs(
        text,
        [
            "Adadi, Dalota and Godino are on its west bank",
            "On the west bank not one of them has agreed",
        ],
    )
    agreed = {
        well for well, cells in table.items() if cells[0] not in ("Adadi", "Dalota", "Godino")
    }
    occurs(text, ["not more than 250 milligrams", "at least 0.8 litres a second"])
    good = [
        w
        for w in table
        if chloride[w] <= 250 and flow[w] >= Decimal("0.8") and w in measured & agreed
    ]
    good.sort(key=lambda well: -flow[well])
    assert len({flow[well] for well in good}) == len(good) == 3
    facts = [
        (
            str(well),
            table[well][0],
            table[well][1],
            f"{flow[well].normalize():f}",
            str(chloride[well]),
        )
        for well in good
    ]
    assert reference(1055)[0] == "\n".join(
        f"{i}. {' – '.join(fact)}" for i, fact in enumerate(facts, 1)
    )
    assert short(1055)[0] == "; ".join(" ".join(fact) for fact in facts)
    # Each snag by itself would change the list.
    assert Decimal(table[3][2]) < Decimal("0.8") < Decimal(table[5][2]) + Decimal("0.1")
    assert int(table[2][3]) > 250 > chloride[5]
    assert flow[7] >= Decimal("0.8") > Decimal(table[7][2])

    rows = json_answer(1055, 1)
    assert only_code(reference(1055)[1])
    assert [list(row) for row in rows] == [["well", "column", "table", "report", "quotation"]] * 2
    wanted = [(2, "chloride mg/l", 260, 230), (8, "flow l/s", 1.1, 0.825)]
    assert [well for well, *_ in wanted] == good[1:]
    for row, (well, column, before, after) in zip(rows, wanted, strict=True):
        assert (row["well"], row["column"], row["table"], row["report"]) == (
            well,
            column,
            before,
            after,
        )
        assert row["quotation"] in text
        assert len(row["quotation"].split()) <= 20
        assert f"{well} {column.split()[0]} {before} → {after}" in short(1055)[1]


Moment = datetime.datetime
Outage = tuple[str, Moment, Moment | None]


def outages(log: str, drill: bool) -> list[Outage]:
    """Collect the outages of a log by replaying it in order of real time."""
    events = []
    for line in log.splitlines():
        stamp, host, *words = line.split()
        moment = Moment.fromisoformat(stamp).astimezone(datetime.UTC)
        if words[0] in ("DOWN", "UP") and (drill or "(drill)" not in words):
            events.append((moment, host, words[0]))
    down: dict[str, Moment] = {}
    found: list[Outage] = []
    for moment, host, what in sorted(events):
        if what == "DOWN":
            down.setdefault(host, moment)
        elif host in down:
            found.append((host, down.pop(host), moment))
    found += [(host, moment, None) for host, moment in down.items()]
    return sorted(found, key=lambda outage: outage[1])


def outage_rows(found: list[Outage]) -> list[list[str]]:
    """Write outages as the rows of the table that the question asks for."""
    rows = [["host", "start_utc", "end_utc", "seconds"]]
    for host, start, end in found:
        seconds = "" if end is None else str(int((end - start).total_seconds()))
        stamps = [f"{t:%Y-%m-%dT%H:%M:%SZ}" if t else "" for t in (start, end)]
        rows.append([host, *stamps, seconds])
    return rows


def test_1057_outages() -> None:
    """A log with offsets into outages in UTC; then merged ones and the overlap.

    Tempting: subtract the local times as they stand (an hour too much in Oslo),
    and take the overlap from the first table.
    """
    text = source(1057)
    log = text.split("```")[1].strip()
    first = outages(log, drill=False)
    assert csv_answer(1057, 0, ",") == outage_rows(first)
    assert only_code(reference(1057)[0])
    occurs(log, ["2024-03-31T01:30:00+01:00 oslo-2 DOWN", "T03:15:00+02:00 oslo-2 UP"])
    naive = clock("03:15") - clock("01:30")
    real = next(end - start for _, start, end in first if end and start.hour == 0)
    assert naive * 60 == 6300
    assert real.total_seconds() == 2700

    close = Moment(2024, 3, 31, 1, 50, tzinfo=datetime.UTC)
    gap = datetime.timedelta(minutes=20)
    merged: list[tuple[str, Moment, Moment]] = []
    for host, start, end in outages(log, drill=True):
        same = [i for i, outage in enumerate(merged) if outage[0] == host]
        if same and start - merged[same[-1]][2] <= gap:
            merged[same[-1]] = (host, merged[same[-1]][1], end or close)
        else:
            merged.append((host, start, end or close))
    assert csv_answer(1057, 1, ",") == outage_rows([*merged])

    def longest_pair(spans: list[tuple[str, Moment, Moment]]) -> Moment:
        best, begin, run = 0, spans[0][1], 0
        moment = min(start for _, start, _ in spans)
        second = datetime.timedelta(seconds=10)
        while moment <= close:
            hosts = {host for host, start, end in spans if start <= moment < end}
            run = run + 1 if len(hosts) >= 2 else 0
            if run > best:
                best, begin = run, moment - (run - 1) * second
            moment += second
        return begin

    truth = longest_pair(merged)
    tempting = longest_pair([(h, start, end or close) for h, start, end in first])
    assert truth != tempting
    stamp = f"{truth:%Y-%m-%dT%H:%M:%SZ}"
    assert reference(1057)[1].endswith(f"```\n{stamp}")
    assert short(1057)[1].endswith(f"from {stamp}")
    for host, start, end in first:
        occurs(short(1057)[0], [f"{host} {start:%H:%M:%S}"])
        if end:
            span = f"{start:%H:%M:%S}–{end:%H:%M:%S}"
            occurs(short(1057)[0], [f"{span} {int((end - start).total_seconds())} s"])
    for host, start, end in merged:
        if host == "tartu-1":
            span = f"{start:%H:%M:%S}–{end:%H:%M:%S}"
            occurs(short(1057)[1], [f"{span} {int((end - start).total_seconds())} s"])


def test_1060_workshop_lease() -> None:
    """A lease into dates and sums; then quotations and reasons for three of them.

    Wrong: 28 February 2028 or 1 March 2028, the first rent in March, old terms.
    """
    text = source(1060)
    occurs(text, ["begins on 1 March and runs for three years", "3 February 2025"])
    occurs(text, ["by the end of the August before", "payable on the fifth"])
    occurs(text, ["540,000 pesos a month", "the first two months are free"])
    occurs(text, ["we agreed on one, at the rent of the first year"])
    occurs(text, ["the painters need a week longer"])
    begin = datetime.date(2025, 3, 1)
    day = datetime.timedelta(days=1)
    last = begin.replace(year=begin.year + 3) - day
    notice = datetime.date(last.year - 1, 9, 1) - day
    payments = [
        (datetime.date(2025 + (2 + m) // 12, (2 + m) % 12 + 1, 5), 540000)
        for m in range(12)
        if m >= 2
    ]
    truth = {
        "begin": begin.isoformat(),
        "last_day_of_three_years": last.isoformat(),
        "last_day_for_notice": notice.isoformat(),
        "first_rent_payment": payments[0][0].isoformat(),
        "rent_first_lease_year": sum(rent for _, rent in payments),
        "deposit": 540000,
        "deposit_payment": (begin + 7 * day).isoformat(),
    }
    assert last.day == 29
    assert json_answer(1060, 0) == truth
    assert list(json_answer(1060, 0)) == list(truth)
    assert only_code(reference(1060)[0])
    for value in truth.values():
        occurs(short(1060)[0], [str(value)])
    doubted = ["last_day_of_three_years", "first_rent_payment", "deposit_payment"]
    items = reference(1060)[1].splitlines()
    assert len(items) == 3
    for i, (item, key) in enumerate(zip(items, doubted, strict=True), 1):
        found = re.fullmatch(rf'{i}\. {key}: "([^"]+)" – (.+)', item)
        assert found is not None
        quotation, reason = found.groups()
        assert quotation in text
        assert len(quotation.split()) <= 12
        assert len(reason.split()) <= 25, reason
        date = datetime.date.fromisoformat(str(truth[key]))
        spoken = f"{date.day} {date:%B}"
        assert f"{spoken} {date.year}" in reason
        assert spoken in short(1060)[1]

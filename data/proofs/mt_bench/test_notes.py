"""Proofs of the notes for judges: open questions whose turn has one right result, computed from the question's data."""

import datetime
import math
import re

from data.proofs.shipped import question


def note(question_id: int, turn: int) -> str:
    """Return what a judge is shown beside the answer."""
    text = question(question_id)["note"][turn - 1]
    assert isinstance(text, str)
    return text


def says(question_id: int, turn: int, *results: str) -> None:
    """Assert that computed results stand in the note."""
    for result in results:
        assert result in note(question_id, turn), result


def test_1002_swimming_teacher() -> None:
    """1989 to 2014 is not thirty-one years; with thirty-one and 2014 the year is another one."""
    first = question(1002)["turns"][0]
    assert "from 1989" in first
    assert "thirty-one years" in first
    assert (2014 - 1989, 2014 - 31) == (25, 1983)
    says(1002, 1, "twenty-five years, not thirty-one")
    says(1002, 2, "now 1983 (2014 − 31)")


def test_1005_the_letter_is_in_bridge() -> None:
    assert "abcdefghij"[1] in "bridge"
    says(1005, 1, "the banned letter is b")


def test_1009_passage() -> None:
    """Six words are wrong; each of them stands in the passage once as it is, and none of the corrections does."""
    passage = question(1009)["turns"][0].split('"')[1]
    pairs = re.findall(r"([\w']+) → ([\w']+)", note(1009, 1))
    assert len(pairs) == 6
    words = re.findall(r"[\w']+", passage)
    for old, new in pairs:
        assert words.count(old) >= 1, old
        assert old != new
    assert "between he and" in passage
    assert "who the panel believes will take over" in passage
    assert "none of the others were" in passage


def test_1017_auction() -> None:
    """Bids by the house's rules: who leads, which are passed over, and the least that is allowed next."""
    bids = re.findall(r"(?:Paddle )?(\d+)(?: again)?: (\d+)!", question(1017)["turns"][0])
    assert len(bids) == 12
    leader, standing = "", 0
    passed: dict[str, list[int]] = {}
    for paddle, amount in ((paddle, int(amount)) for paddle, amount in bids):
        least = 80 if not leader else standing + (10 if standing < 200 else 25)
        if paddle == leader or amount < least:
            passed.setdefault(paddle, []).append(amount)
        else:
            leader, standing = paddle, amount
    assert passed == {"7": [110], "31": [95, 155, 220, 240]}
    says(1017, 1, f"Paddle {leader} leads with {standing}", "7's 110", "31's 95, 155, 220 and 240")
    says(
        1017,
        2,
        f"31 bid {['', 'one', 'two', 'three', 'four'][len(passed['31'])]} times",
        f"The least now is {standing + 25}",
    )


def saturation(celsius: float) -> float:
    """Return the saturation vapour pressure of water in hPa (Magnus, Sonntag's coefficients)."""
    return 6.112 * math.exp(17.62 * celsius / (243.12 + celsius))


def test_1062_cellar_windows() -> None:
    """Water vapour outside and inside, the dew point outside, and the limit below which airing dries."""
    outside, inside = 0.5 * saturation(28), 0.8 * saturation(14)
    dew = next(t / 10 for t in range(400) if saturation(t / 10) >= outside)
    assert 16 < dew < 17
    grams = [
        100 * pressure / (461.5 * (273.15 + t)) * 1000
        for pressure, t in ((outside, 28), (inside, 14))
    ]
    says(
        1062,
        1,
        f"about {grams[0]:.1f} g/m³ ({outside:.0f} hPa)",
        f"about {grams[1]:.1f} g/m³ ({inside:.1f} hPa)",
        "16.5 °C",
    )
    assert abs(dew - 16.5) <= 0.2
    limits = inside / saturation(28), grams[1] / (100 * saturation(28) / (461.5 * 301.15) * 1000)
    assert [5 * round(100 * limit / 5) for limit in limits] == [35, 35]
    says(1062, 2, f"about {100 * limits[0]:.0f} %", "35 %")


def test_1063_old_lye() -> None:
    """4 % of the hydroxide became carbonate: what one litre still neutralises with each indicator."""
    lost = 0.04 * 0.1
    hydroxide, carbonate = 0.1 - lost, lost / 2
    phenolphthalein, methyl_orange = hydroxide + carbonate, hydroxide + 2 * carbonate
    says(
        1063,
        1,
        f"effective {phenolphthalein:.4f} mol/L",
        f"about {100 * (0.1 / phenolphthalein - 1):.1f} % too high",
    )
    says(1063, 2, f"effective {methyl_orange:.4f} mol/L, no error")


def test_1066_pump_at_height() -> None:
    """The height that air pressure allows, and how far down the pump must go with its own losses."""

    def height(kilopascal: float) -> float:
        return (kilopascal - 1.2) / 9.81

    here, low = height(62), height(101.3)
    loss = low - 8
    down = 7 - (here - loss)
    assert here < 7
    assert 2.5 < down < 3.05
    says(1066, 1, f"≈ {here:.1f} m")
    says(
        1066,
        2,
        f"allows {low:.1f} m",
        f"loses {loss:.1f} m",
        f"≈ {here - loss:.1f} m are left",
        f"at least {down:.1f} m down",
    )


def test_1070_earthquake() -> None:
    """Distance and time from the two waves; faster waves; a slow clock and a second station."""
    arrival = datetime.datetime(2000, 1, 1, 8, 14, 20)

    def clock(moment: datetime.datetime) -> str:
        return f"{moment:%H:%M:%S}.{moment.microsecond // 100000}"

    def distance(gap: float, faster: float = 1.0) -> float:
        return gap / (1 / (3.5 * faster) - 1 / (6.0 * faster))

    here, there = distance(24.0), distance(18.0)
    travel = here / 6.0
    says(
        1070,
        1,
        f"= {here:.1f} km",
        f"{travel:.1f} s",
        clock(arrival - datetime.timedelta(seconds=travel)),
    )
    says(1070, 1, f"+{distance(24.0, 1.02) - here:.1f} km")
    assert math.isclose(distance(24.0, 1.02) / (6.0 * 1.02), travel)
    origin = arrival + datetime.timedelta(seconds=7 - travel)
    along = (350**2 + here**2 - there**2) / 700
    aside = math.sqrt(here**2 - along**2)
    assert here + there > 350
    says(1070, 2, clock(origin), f"{there:.1f} km", f"({aside:.1f})", f"about {aside:.0f} km")
    says(
        1070,
        2,
        clock(origin + datetime.timedelta(seconds=there / 6.0)),
        f"= {here + there:.1f} > 350",
    )


def julian_to_gregorian(year: int, month: int, day: int) -> datetime.date:
    """Convert a date of the old calendar, by the day number (E. G. Richards, 2013)."""
    shifted = (month + 9) % 12
    years = year - (month < 3)
    number = 365 * years + years // 4 + (306 * shifted + 5) // 10 + day - 1
    # 1 March of the year 0 in the old calendar is two days before 1 March in the new one.
    return datetime.date.fromordinal(number - 2 + datetime.date(1, 3, 1).toordinal() - 365)


def test_1072_two_calendars() -> None:
    """3 February 1701 in London is 1702 by our count, and eleven days behind Amsterdam."""
    assert julian_to_gregorian(1582, 10, 5) == datetime.date(1582, 10, 15)
    assert julian_to_gregorian(1752, 9, 3) == datetime.date(1752, 9, 14)
    written = julian_to_gregorian(1702, 2, 3)
    assert written == datetime.date(1702, 2, 14)
    assert (written - datetime.date(1702, 2, 3)).days == 11
    clerk = julian_to_gregorian(1702, 3, 28)
    assert (clerk - written).days < 8 * 7
    days = (datetime.date(1702, 2, 20) - written).days
    says(1072, 1, "14 February 1702", f"{days} days later")
    says(1072, 2, "eleven days", f"stays {days} days")


def test_1074_loan_of_drawings() -> None:
    """The date by which the drawings must be back, for both days of closing."""
    day = datetime.timedelta(days=1)
    letter = datetime.date(2023, 4, 20)

    def back(closing: datetime.date) -> datetime.date:
        in_time = closing - 30 * day <= letter < closing
        return closing + (90 + (60 if in_time else 0)) * day

    late, early = back(datetime.date(2023, 5, 31)), back(datetime.date(2023, 5, 17))
    says(1074, 1, f"{late.day} {late:%B}")
    says(1074, 2, f"{early.day} {early:%B}", "17 April to 16 May")
    assert early > late


def test_1078_panel_on_village_life() -> None:
    """The mean age at death, what was left at five, and two villages with this register in which the median differs."""
    mean = 0.4 * 1 + 0.6 * 60
    says(1078, 1, f"= {mean:.1f}", f"{60 - 5} more years")
    infants = [1] * 40
    same_age, spread = [60] * 60, [30] * 12 + [67.5] * 48
    for others in (same_age, spread):
        assert sum(others) / 60 == 60
    dead_at_36 = [sum(age <= 36 for age in infants + others) for others in (same_age, spread)]
    assert dead_at_36 == [40, 52]


def test_1010_six_edits() -> None:
    """The edits are carried out, all of them and then without the first and the third."""
    paragraph = re.findall(r"“([^”]*)”", question(1010)["turns"][0])[-1]

    def edited(*left_out: int) -> str:
        text = re.findall(r"[^.]+\.", paragraph)
        text = [sentence.strip() for sentence in text]
        for edit in (n for n in range(1, 7) if n not in left_out):
            if edit == 1:
                text[0], text[-1] = text[-1], text[0]
            elif edit == 2:
                text[1] = re.sub(r"\w+\.$", "dawn.", text[1])
            elif edit == 3:
                text.remove(min(text, key=len))
            elif edit == 4:
                text = [sentence.replace("smells", "still smells") for sentence in text]
            elif edit == 5:
                text.sort(key=lambda sentence: "bread" in sentence)
            else:
                text[0] = " ".join([*text[0].split()[:2], "bench", *text[0].split()[3:]])
        return " ".join(text)

    says(1010, 1, edited())
    says(1010, 2, edited(1, 3))
    assert question(1010)["checks"][0][0]["text"][0] == edited()
    assert question(1010)["checks"][1][0]["text"][0] == edited(1, 3)

"""Proofs of the references that can be computed: each from its question's data, written down here a second time."""

import csv
import datetime
import io
import json
import re
from fractions import Fraction

from data.proofs.shipped import asked, code_blocks, reference


def test_6013_triangle() -> None:
    """The angle opposite the longest side, by the law of cosines."""
    a, b, c = sorted(map(int, re.findall(r"(\d+) cm", asked(6013))))
    kind = {-1: "obtuse", 0: "right", 1: "acute"}
    assert a + b > c
    assert reference(6013) == [kind[(a * a + b * b > c * c) - (a * a + b * b < c * c)]]


def test_6016_tram() -> None:
    """The last tram whose ride and walk end before boarding does; without the five minutes it would be another."""
    *trams, ferry = [int(h) * 60 + int(m) for h, m in re.findall(r"(\d\d):(\d\d)", asked(6016))]
    in_time = [tram for tram in trams if tram + 17 + 9 <= ferry - 5]
    assert max(in_time) != max(tram for tram in trams if tram + 17 + 9 <= ferry)
    assert reference(6016) == [f"{max(in_time) // 60:02}:{max(in_time) % 60:02}"]


def test_6017_card_game() -> None:
    """The score by the rules; the three other options are what wrong readings give."""
    hand = [
        (colour, int(n))
        for colour, n in re.findall(r"(red|blue|black) (\d)", asked(6017).partition("Lin holds")[2])
    ]
    total = {colour: sum(n for c, n in hand if c == colour) for colour in ("red", "blue", "black")}
    blues, blacks = (sum(c == colour for c, _ in hand) for colour in ("blue", "black"))
    score = total["red"] + total["blue"] * (2 if blues >= 3 else 1) - 2 * blacks
    options = dict(re.findall(r"^([A-D])\) (\d+)$", asked(6017), re.MULTILINE))
    assert options[reference(6017)[0]] == str(score)
    not_doubled, as_printed, forgotten = (
        score - total["blue"],
        score + 2 - total["black"],
        score + 2,
    )
    assert sorted(options.values()) == sorted(map(str, (score, not_doubled, as_printed, forgotten)))


def test_6021_boat() -> None:
    """One entry of a notebook that corrects an earlier one and names two boats."""
    wanted = {"boat": "Kittiwake", "owner": "Okafor", "date": "14 May", "berth": 22, "price": 1350}
    assert json.loads(code_blocks(reference(6021)[0], "json")[0]) == wanted


def test_6022_who_is_coming() -> None:
    """The last word of each, in the order of their first."""
    said = re.findall(r"^(\w+): (.+)$", asked(6022), re.MULTILINE)
    comes = {
        "I'm in.": True,
        "me too": True,
        "Count me in": True,
        "I'll come after all": True,
        "I'll bring the urn": True,
    }
    comes |= {"Can't": False, "without me": False, "Not this time": False, "on shift": False}
    last = {
        name: [yes for words, yes in comes.items() if words in text][-1]
        for name, text in said
        if "coffee?" not in text
    }
    order = dict.fromkeys(name for name, _ in said)
    assert reference(6022) == ["\n".join(name for name in order if last[name])]


def test_6023_what_is_weighed() -> None:
    """All amounts in grams, in the order of the text."""
    found = re.findall(
        r"(\d+ g) of (?:cold )?(butter|rye flour|hard cheese|smoked bacon|\w+)", asked(6023)
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in reference(6023)[0].splitlines()
    ]
    assert len(found) == asked(6023).count(" g of ") == 4
    assert rows == [
        ["Ingredient", "Amount"],
        ["---", "---"],
        *([name, amount] for amount, name in found),
    ]


def test_6024_promises() -> None:
    """Of the mayor's seven sentences, three are neither memory nor wish nor hope."""
    speech = re.findall(r'"(I remember.+)"', asked(6024))[0]
    soft = ("I remember", "I wish", "Perhaps", "And I hope")
    sentences = re.split(r"(?<=\.) ", speech)
    assert len(sentences) == 7
    assert reference(6024)[0].splitlines() == [
        text for text in sentences if not text.startswith(soft)
    ]


def test_6025_notice_board() -> None:
    """What can be had on Tuesday for at most 50 euros and is not free."""
    board = [
        # item, price on Tuesday, room, to be had on Tuesday
        ("Desk lamp", 12, 308, False),
        ("Kettle", 15, 114, True),
        ("Bicycle", 60, 201, True),
        ("Rice cooker", 25, 114, True),
        ("Two chairs", 0, 417, True),
        ("Winter coat", 45, 330, True),
        ("Fridge", 40, 226, False),
    ]
    notices = re.findall(r"^- (.+)$", asked(6025), re.MULTILINE)
    assert len(notices) == len(board)
    for notice, (item, price, room, _) in zip(notices, board, strict=True):
        assert notice.startswith(item)
        assert str(room) in notice
        assert f"{price} euros" in notice or "free" in notice
    wanted = [
        [item, str(price), str(room)]
        for item, price, room, there in board
        if there and 0 < price <= 50
    ]
    rows = list(csv.reader(io.StringIO(code_blocks(reference(6025)[0], "csv")[0])))
    assert rows == [["item", "price", "room"], *wanted]


def test_6033_clock() -> None:
    """The hands are h/12 and h of a turn on; they meet where these differ by a whole number of turns."""
    meetings = [Fraction(12 * n, 11) for n in range(1, 100)]
    assert all((hours - hours / 12) % 1 == 0 for hours in meetings)
    assert reference(6033) == [str(sum(0 < hours <= 12 for hours in meetings))]


def test_6037_times_and_dates() -> None:
    """The notice with every time and date read and written anew."""
    notice = asked(6037).split("\n\n")[1]

    def time(found: re.Match[str]) -> str:
        return datetime.datetime.strptime(found[0].replace(".", ""), "%I:%M %p").strftime("%H:%M")

    def date(found: re.Match[str]) -> str:
        return datetime.datetime.strptime(found[0], "%B %d, %Y").date().isoformat()

    notice = re.sub(r"\d+:\d\d [ap]\.m\.", time, notice)
    notice = re.sub(r"(?:March|April) \d+, \d{4}", date, notice)
    assert reference(6037) == [notice.replace("12 midnight", "24:00")]

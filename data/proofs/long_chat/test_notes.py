"""The results that notes state, computed; and good and bad replies held against the checks of their turns."""

import datetime
import math
import re

import pytest

from data.proofs.shipped import DATA
from harness.bench import load
from harness.extras.checks import check_turn

QUESTIONS = {question.question_id: question for question in load("long_chat", DATA).questions}


def note(number: int, turn: int) -> str:
    return QUESTIONS[number].note[turn - 1] or ""


def minutes(number: float) -> str:
    seconds = round(number * 60)
    return f"{seconds // 60} min {seconds % 60} s"


def is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, math.isqrt(number) + 1))


@pytest.mark.parametrize(
    ("number", "turn", "result"),
    [
        pytest.param(8001, 3, f"{(19 * 60 + 30 - 90) // 60}:00", id="cooking"),
        pytest.param(8002, 5, str(sum(map(int, "417"))), id="locker"),
        pytest.param(8003, 5, str(86 - 5), id="village"),
        pytest.param(8003, 6, f"{1240 + 310:,}", id="chapel"),
        pytest.param(8004, 2, str(600 - 3 * 70), id="room"),
        pytest.param(8004, 3, f"{390 / 4:.2f}", id="a day"),
        pytest.param(8004, 5, f"{(390 - 28) / 4:.2f}", id="with the bus"),
        pytest.param(8009, 4, f"{500 * 1.04**2:.2f}", id="interest"),
        pytest.param(8009, 5, f"{100 * (500 * 1.04**2 - 500) / (500 * 1.04**2):.1f}", id="share"),
        pytest.param(8010, 5, str(7 * (8 - 2)), id="tables"),
        pytest.param(8011, 2, str(4 * 30), id="months of 30"),
        pytest.param(8011, 3, str(365 - 120), id="the others"),
        pytest.param(8011, 5, str(366 - 120), id="leap year"),
        pytest.param(8012, 5, str(12 + 9 + 15), id="words"),
        pytest.param(8013, 1, minutes(240 / 8), id="tank"),
        pytest.param(8013, 2, minutes(240 / 6), id="leak"),
        pytest.param(8013, 3, minutes(120 / 6), id="half full"),
        pytest.param(8013, 4, minutes(120 / 5.5), id="slower"),
        pytest.param(8013, 5, minutes(240 / 7.5), id="put right 1"),
        pytest.param(8013, 5, minutes(240 / 5.5), id="put right 2"),
        pytest.param(8013, 5, minutes(120 / 5.5), id="put right 3"),
        pytest.param(
            8018, 5, f"{datetime.date(2024, 6, 3) + datetime.timedelta(4):%A, %-d %B}", id="date"
        ),
        pytest.param(8023, 3, f"{math.hypot(12, 10):.1f}", id="diagonal"),
        pytest.param(8023, 4, f"{math.sqrt(120):.1f}", id="side"),
        pytest.param(8023, 6, str(round(10.95**2, 4)), id="two decimals"),
        pytest.param(8022, 7, str(sum(filter(is_prime, (91, 97, 119, 221)))), id="primes"),
    ],
)
def test_the_note_states(number: int, turn: int, result: str) -> None:
    assert result in note(number, turn)


def test_the_train_is_reached() -> None:
    at = datetime.datetime(2024, 1, 1, 9, 40)
    spare, ticket, coffee, walk = (datetime.timedelta(minutes=n) for n in (10, 5, 15, 25))
    assert [f"{time:%-H:%M}" for time in (at - spare - walk, at - spare - walk - coffee)] == [
        "9:05",
        "8:50",
    ]
    leave = at - spare - ticket - coffee - walk
    assert f"{leave:%-H:%M}" in note(8019, 4)
    assert all(
        f"{time:%-H:%M}" in note(8019, 5)
        for time in (leave + walk + coffee, leave + walk + coffee + ticket)
    )


def test_the_factors_are_those_of_the_numbers() -> None:
    assert (7 * 13, 7 * 17, 13 * 17) == (91, 119, 221)
    assert round(10.95**2) == 120 != round(11.0**2)


def test_no_planet_is_at_the_same_place_in_both_orders() -> None:
    sun = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]
    kilometres = dict(
        zip(sun, (4879, 12104, 12742, 6779, 139820, 116460, 50724, 49244), strict=True)
    )
    large = sorted(sun, key=lambda name: -kilometres[name])
    assert large == ["Jupiter", "Saturn", "Uranus", "Neptune", "Earth", "Venus", "Mars", "Mercury"]
    assert not [name for place, name in enumerate(sun) if large[place] == name]
    assert [1 + large.index(name) for name in ("Jupiter", "Earth", "Mars", "Mercury")] == [
        1,
        5,
        7,
        8,
    ]


@pytest.mark.parametrize(
    ("number", "turn", "good", "bad"),
    [
        pytest.param(8001, 3, "Start at 18:00.", "Start at 17:30.", id="8001-3"),
        pytest.param(
            8001,
            4,
            "Leek soup: leeks, cream\nPears in wine",
            "Hummus: chickpeas, tahini",
            id="8001-4",
        ),
        pytest.param(
            8002, 7, "Locker 417\nOdile has the key\nCrane", "Locker 417\nOdile\nHeron", id="8002-7"
        ),
        pytest.param(8003, 6, "At 1,550 metres.", "At 1,450 metres.", id="8003-6"),
        pytest.param(8004, 5, "That leaves 90.50 euros.", "That leaves 97.50 euros.", id="8004-5"),
        pytest.param(
            8005,
            6,
            "Anouk, Bram, Dilara: we begin at 16:00.",
            "Chidi, Bram: at 16:00.",
            id="8005-6",
        ),
        pytest.param(
            8007,
            4,
            "Leave it closed until May. (garantía)",
            "Leave it closed until May.",
            id="8007-4",
        ),
        pytest.param(
            8008,
            8,
            "Captain, a tree, a parrot's name and a bath.",
            "A bath, a bird, a tree.",
            id="8008-8",
        ),
        pytest.param(8009, 5, "About 7.5 in every hundred.", "About 7.5%.", id="8009-5"),
        pytest.param(
            8010, 9, "The guest list and the flowers.", "Music, guest list, flowers.", id="8010-9"
        ),
        pytest.param(8013, 4, "It takes 21 min 49 s.", "It takes 21.8 minutes.", id="8013-4"),
        pytest.param(8013, 7, "32 min 0 s", "30 min 0 s", id="8013-7"),
        pytest.param(8014, 5, "At none.", "At one: Mars.", id="8014-5"),
        pytest.param(
            8015, 5, "Tell me when you go and for how long.", "When do you go?", id="8015-5"
        ),
        pytest.param(
            8016, 6, '{"answer": "With pleasure.", "sure": true}', "With pleasure.", id="8016-6"
        ),
        pytest.param(
            8017,
            4,
            "Dear sister, a grey line and gulls.",
            "Dear sister, the sea is grey.",
            id="8017-4",
        ),
        pytest.param(8018, 5, "Friday: it is 7 June.", "Monday: it is 3 June.", id="8018-5"),
        pytest.param(8019, 4, "You are right.\n8:45", "8:45 is too early.\n8:50", id="8019-4"),
        pytest.param(
            8020, 6, "Ash\nBeech\nFir\nLime\nOak", "Oak\nAsh\nFir\nLime\nBeech", id="8020-6"
        ),
        pytest.param(
            8021, 5, "Sydney is larger.\nCanberra", "Sorry, not Canberra.\nSydney", id="8021-5"
        ),
        pytest.param(8022, 6, "It stays.\n13 × 17", "Sorry, not 13 × 17.\nprime", id="8022-6"),
        pytest.param(8023, 6, "Two: 10.95, done", "One: 11.0, done", id="8023-6"),
        pytest.param(8025, 11, "Warden: 83, 20", "Warden: 74, 11", id="8025-11"),
        pytest.param(
            8025, 12, "Pavel Ruiz, 125 cm, Warden", "Ilse Brandt, Warden: 125", id="8025-12"
        ),
        pytest.param(8026, 4, "4. On haste. It warns.", "Amen. It is about haste.", id="8026-4"),
        pytest.param(8026, 12, "12. 11", "12. 12", id="8026-12"),
        pytest.param(
            8027,
            11,
            "quince 26\nplum 19\nfig 12\nrhubarb 13",
            "quince 23\nplum 22\nfig 7\nrhubarb 13",
            id="8027-11",
        ),
        pytest.param(8027, 12, "Altogether 178.", "Altogether 173.", id="8027-12"),
        pytest.param(
            8024,
            6,
            "Right: fruit bats.\nWrong: rodents.",
            "Right: fruit bats. Wrong: rodents.",
            id="8024-6",
        ),
    ],
)
def test_a_good_reply_meets_the_checks_and_a_bad_one_does_not(
    number: int, turn: int, good: str, bad: str
) -> None:
    question = QUESTIONS[number]
    before, said = question.turns[:turn], ["earlier"] * (turn - 1)

    def met(reply: str) -> list[bool | None]:
        specs = question.checks[turn - 1]
        return [v.outcome.passed for v in check_turn(reply, specs, questions=before, earlier=said)]

    assert all(met(good))
    assert not all(met(bad))


def test_the_fee_and_the_jars_are_what_the_changes_make_them() -> None:
    fee, water = (
        int(found)
        for found in re.findall(
            r"fee is (\d+) crowns a year, of which (\d+)", QUESTIONS[8025].turns[0]
        )[0]
    )
    assert f"{fee + 9} crowns, {water + 9} of them" in note(8025, 11)
    stock = {
        fruit: int(jars)
        for jars, fruit in re.findall(r": (\d+) jars of ([a-z ]+)\.", QUESTIONS[8027].turns[0])
    }
    assert len(stock) == 10
    stock["plum"] -= 3
    stock["quince"] += 12
    stock["rhubarb"] //= 2
    now = [stock[fruit] for fruit in ("quince", "plum", "fig", "rhubarb")]
    assert ", ".join(map(str, now)) in note(8027, 11)
    assert note(8027, 12).startswith(str(sum(stock.values())))

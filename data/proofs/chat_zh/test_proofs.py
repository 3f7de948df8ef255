"""Proofs of the Chinese references that can be computed: each from its question's data, written down a second time."""

import csv
import datetime
import io
import json
import math
import re

from data.proofs.shipped import asked, code_blocks, reference


def test_7013_zodiac() -> None:
    """The animal of the lunar year: the calendar year's, or before new year's day the one before."""
    animals = "鼠牛虎兔龙蛇马羊猴鸡狗猪"
    assert "、".join(animals) in asked(7013)
    born, new_year = datetime.date(1998, 1, 20), datetime.date(1998, 1, 28)
    assert all(f"{day.month}月{day.day}日" in asked(7013) for day in (born, new_year))
    year = born.year - (born < new_year)
    assert animals[(1997 - 4) % 12] == "牛"  # as the question says
    assert reference(7013) == [animals[(year - 4) % 12]]


def test_7016_parking() -> None:
    """The fee by the board; two of the wrong options come of the quarter of an hour deducted and of the cap."""
    minutes = (14 * 60 + 5) - (9 * 60 + 50)

    def fee(counted: int) -> int:
        return min(20, 5 + 2 * math.ceil((counted - 60) / 30))

    options = dict(re.findall(r"^([A-D])\. (\d+)元$", asked(7016), re.MULTILINE))
    assert options[reference(7016)[0]] == str(fee(minutes))
    assert set(options.values()) == {
        str(fee(minutes)),
        str(fee(minutes - 15)),
        "20",
        str(5 * math.ceil(minutes / 60)),
    }


def test_7018_museum() -> None:
    """New year's day of 2024 is a Monday, so the day after is the closed one."""
    day = datetime.date(2024, 1, 2)
    new_year = datetime.date(2024, 1, 1)
    assert new_year.weekday() == 0
    closed = day == new_year + datetime.timedelta(1) or (day.weekday() == 0 and day != new_year)
    assert reference(7018) == ["闭馆" if closed else "开馆"]


def test_7020_night_duty() -> None:
    """The five in turn on working days; the night without power is nobody's, and without that rule it is another."""

    def on_duty(dark: set[int]) -> str:
        days = [datetime.date(2026, 3, day) for day in range(2, 14)]
        nights = [day for day in days if day.weekday() < 5 and day.day not in dark]
        return "赵钱孙李周"[(len(nights) - 1) % 5]

    assert datetime.date(2026, 3, 2).weekday() == 0
    assert reference(7020) == [f"老{on_duty({11})}"]
    assert on_duty(set()) != on_duty({11})


def test_7021_order() -> None:
    """An order as it was changed, with another school's and another man's names beside it."""
    wanted = {
        "单位": "石桥小学食堂",
        "联系人": "兰",
        "时间": "早上六点前",
        "货物": {"土豆": 80 - 20, "白菜": 30, "豆芽": 20},
    }
    assert "80斤改成60斤" in asked(7021)
    found = json.loads(code_blocks(reference(7021)[0], "json")[0])
    assert found == wanted
    assert list(found) == list(wanted)


def test_7022_rainy_days() -> None:
    """What each day of the diary says of rain in the village."""
    rain = {"三": False, "四": True, "五": False, "六": True, "七": False, "八": False, "九": True}
    assert re.findall(r"^六月(.)日", asked(7022), re.MULTILINE) == list(rain)
    assert reference(7022) == ["\n".join(f"六月{day}日" for day, wet in rain.items() if wet)]


def test_7023_sowing() -> None:
    """What has a time and a distance."""
    told = [
        ("豆角", "清明前后", "一拃半"),
        ("黄瓜", "立夏", "两拃"),
        ("萝卜", "处暑", "一拃"),
        ("葱", "", ""),
        ("香菜", "白露", ""),
    ]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in reference(7023)[0].splitlines()
    ]
    assert rows == [["菜", "时候", "间距"], ["---"] * 3, *(list(row) for row in told if all(row))]
    places = [asked(7023).index(name) for name, _, _ in told]
    assert places == sorted(places)


def test_7024_sentences_with_numbers() -> None:
    """The guide's sentences that hold a digit other than 一 before a measure word."""
    speech = re.findall(r"“(大家抬头看.+?)”", asked(7024))[0]
    sentences = re.findall(r"[^。]+。", speech)
    assert len(sentences) == 6
    numbers = [text for text in sentences if re.search(r"[0-9二三四五六七八九十百千万]", text)]
    assert reference(7024)[0].splitlines() == numbers


def test_7025_shared_ride() -> None:
    """Cars that leave on the 27th with two seats left."""
    cars = [
        # driver, day, seats left, price, from
        ("二柱", 26, 2, 80, "北站"),
        ("红姐", 27, 0, None, None),
        ("阿光", 27, 1 - 1, 100, "南站"),
        ("建国", 28, 3, 70, "北站"),
        ("小敏", 27, 3, 90, "北站"),
        ("老五", 27, 1, 60, "南站"),
    ]
    said = dict(re.findall(r"【(.+?)】(.*座.*)", asked(7025).partition("【阿光】我这个座")[0]))
    for name, _, seats, price, start in cars:
        if name not in ("红姐", "阿光"):  # full, and given away later
            assert f"{seats}个座" in said[name]
            assert str(price) in said[name]
            assert str(start) in said[name]
    assert list(dict.fromkeys(re.findall(r"【(.+?)】", asked(7025)))) == [car[0] for car in cars]
    wanted = [
        [name, str(seats), str(price), start]
        for name, day, seats, price, start in cars
        if (day, seats >= 2) == (27, True)
    ]
    rows = list(csv.reader(io.StringIO(code_blocks(reference(7025)[0], "csv")[0])))
    assert rows == [["车主", "座位", "价钱", "出发地"], *wanted]


def test_7033_folded_rope() -> None:
    """A rope from 0 to 1, folded to a length of 1/8, is cut wherever its points lie in the middle of the fold."""
    layers, grid = 8, 1000

    def folded(point: float) -> float:
        for _ in range(3):
            point = 2 * min(point, 1 - point)  # the half, stretched to 1 again
        return point

    crossings = sum(
        (folded((n + 0.25) / (layers * grid)) < 0.5) != (folded((n + 1.25) / (layers * grid)) < 0.5)
        for n in range(layers * grid - 1)
    )
    assert reference(7033) == [str(crossings + 1)]


def test_7037_numbers_in_characters() -> None:
    """Every number of the sentence written anew."""
    digits = "〇一二三四五六七八九"

    def small(number: int) -> str:
        tens, ones = divmod(number, 10)
        return (
            ("" if tens < 2 else digits[tens])
            + ("十" if tens else "")
            + (digits[ones] if ones else "")
        )

    sentence = asked(7037).split("\n\n")[1]
    sentence = re.sub(
        r"(\d{4})年", lambda found: "".join(digits[int(d)] for d in found[1]) + "年", sentence
    )
    sentence = re.sub(r"(\d{1,2})(?=[月日])", lambda found: small(int(found[1])), sentence)
    assert re.findall(r"\d+", sentence) == ["1050"]
    assert reference(7037) == [sentence.replace("1050", f"{digits[1]}千零{small(50)}")]

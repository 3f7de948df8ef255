"""Proofs of the shipped Chinese questions: every reference answer computed from its question's data."""

import csv
import io
import json
import math
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any, NamedTuple

from data.proofs.shipped import code_blocks, question, reference, stands


def namespace(question_id: int, turn: int) -> dict[str, Any]:
    """Run the last Python block of a reference answer and return what it defines."""
    names: dict[str, Any] = {"__name__": "answer"}
    exec(code_blocks(reference(question_id)[turn - 1])[-1], names)
    return names


# --- 2005 ------------------------------------------------------------------------------------------------------------


def test_2005_round_table() -> None:
    """Six people at a round table, all facing its middle; four notes fix the order, read clockwise from 孟.

    Turn 2: note 4 was the wrong way round; who has changed places. Left is clockwise, shown with coordinates.
    """
    people = ["孟", "顾", "沈", "陶", "卫", "严"]
    # Six seats clockwise from the north, seen from above; whoever sits there looks to the middle (0, 0).
    seats = [(math.sin(turn * math.pi / 3), math.cos(turn * math.pi / 3)) for turn in range(6)]
    for place, (x, y) in enumerate(seats):
        left = (y, -x)  # the heading (-x, -y), turned by a quarter to the left
        after = seats[(place + 1) % 6]
        assert (after[0] - x) * left[0] + (after[1] - y) * left[1] > 0

    def orders(fourth: Callable[[dict[str, int]], bool]) -> list[list[str]]:
        found = []
        for rest in permutations(people[1:]):
            order = ["孟", *rest]
            at = {name: place for place, name in enumerate(order)}
            beside = {(x, y) for x, y in permutations(people, 2) if (at[x] - at[y]) % 6 in (1, 5)}
            notes = (
                (at["卫"] + 2) % 6 == at["孟"]
                and ("严", "卫") in beside
                and ("孟", "沈") not in beside
            )
            if notes and fourth(at):
                found.append(order)
        return found

    first = orders(lambda at: (at["顾"] + 1) % 6 == at["卫"])
    second = orders(lambda at: (at["卫"] + 1) % 6 == at["顾"])
    assert len(first) == len(second) == 1
    stands(2005, 1, f"答案：{'、'.join(first[0])}。", "、".join(first[0]))
    stands(2005, 2, f"答案：{'、'.join(second[0])}。", "、".join(second[0]))
    moved = [old for old, new in zip(first[0], second[0], strict=True) if old != new]
    assert moved == ["顾", "严"]
    stands(2005, 2, f"只有{'和'.join(moved)}对调了座位", f"只有{'和'.join(moved)}对调")


# --- 2006 ------------------------------------------------------------------------------------------------------------

MEN = ("建平", "国栋", "志远", "文博")
WOMEN = ("晓岚", "玉芬", "美琴", "秋霞")
CHILDREN = ("小米", "大川", "果果", "阿满")


class Household(NamedTuple):
    """A couple with its child; `born` is the sex of the one who is grandmother's own child."""

    man: str
    woman: str
    child: str
    born: str
    rank: int


Family = tuple[Household, ...]


def call(of: Household, to: Household, male: bool) -> str:
    """Return what the child of one household calls the man or the woman of another."""
    if of.born == "M" and to.born == "M":
        elder = to.rank < of.rank
        return ("伯伯" if elder else "叔叔") if male else ("伯母" if elder else "婶婶")
    if of.born == "M":
        return "姑父" if male else "姑姑"
    if to.born == "M":
        return "舅舅" if male else "舅妈"
    return "姨父" if male else "姨妈"


def callers(family: Family, name: str, word: str) -> set[str]:
    """Return the children who call the named person by that word."""
    to = next(home for home in family if name in (home.man, home.woman))
    return {of.child for of in family if of is not to and call(of, to, name == to.man) == word}


def families() -> Iterator[Family]:
    """Yield every way to marry the eight, give out the children, choose who is born here, and rank the homes."""
    for wives, children in product(permutations(WOMEN), permutations(CHILDREN)):
        for born, ranks in product(product("MF", repeat=4), permutations((1, 2, 3, 4))):
            yield tuple(map(Household, MEN, wives, children, born, ranks))


def quickly_possible(family: Family) -> bool:
    """Note 1 as a quick sieve: three children call 晓岚 姑姑, so she is born here and three men are."""
    return sum(home.born == "M" for home in family) == 3 and any(
        home.woman == "晓岚" and home.born == "F" for home in family
    )


def test_2006_four_households() -> None:
    """Seven statements of who calls whom what: four couples, their children, who is born here, the ranks.

    Turn 2's wrong claim: 姑姑 says nothing of age, so 晓岚's rank is open. Without note 7 it is, in 8 ways.
    """
    assert "排行定不下来" in question(2006)["turns"][1]
    six: list[Family] = []
    for family in families():
        if not quickly_possible(family):
            continue
        born = {home.child: home.born for home in family}
        if (
            len(callers(family, "晓岚", "姑姑")) == 3
            and len(callers(family, "秋霞", "伯母")) == 2
            and "大川" in callers(family, "文博", "伯伯")
            and "小米" in callers(family, "美琴", "伯母")
            and "大川" in callers(family, "志远", "叔叔")
            and born["小米"] == born["果果"] == "M"
        ):
            six.append(family)

    def rank(family: Family, name: str) -> int:
        return next(home.rank for home in family if name in (home.man, home.woman))

    # The colleague's claim holds for six notes, and only for them: with the seventh one family is left.
    assert {rank(family, "晓岚") for family in six} == {1, 2, 3, 4}
    seven = [family for family in six if rank(family, "玉芬") < rank(family, "建平")]
    assert len(seven) == 1
    assert rank(seven[0], "晓岚") == 4
    said, in_short = [], []
    for word, home in zip("一二三四", sorted(seven[0], key=lambda home: home.rank), strict=True):
        pair = (home.man, home.woman) if home.born == "M" else (home.woman, home.man)
        title = "老大" if word == "一" else f"老{word}"
        said.append(f"{title}：{pair[0]}（亲生）和{pair[1]}，孩子{home.child}")
        in_short.append(f"{title}{pair[0]}（亲生）和{pair[1]}，孩子{home.child}")
    stands(2006, 1, "答案：\n" + "\n".join(said), "；".join(in_short))
    stands(
        2006,
        2,
        f"晓岚必是老四；去掉第（7）条共有 {len(six)} 种",
        f"晓岚必是老四；去掉第（7）条共有{len(six)}种",
    )


def test_2006_quick_sieve_loses_nothing() -> None:
    """Note 1 needs what the sieve asks for: shown by trying all sexes of the four who are born here."""
    for born, wife in product(product("MF", repeat=4), range(4)):
        wives = [*WOMEN[1 : wife + 1], "晓岚", *WOMEN[wife + 1 :]]
        family = tuple(map(Household, MEN, wives, CHILDREN, born, (1, 2, 3, 4)))
        assert (len(callers(family, "晓岚", "姑姑")) == 3) == quickly_possible(family)


# --- 2007 ------------------------------------------------------------------------------------------------------------

DIGITS = "〇一二三四五六七八九"


def spoken(number: int) -> str:
    """Write 1 to 999 as one says it: 一百零四, 一百一十七, but 十五 and not 一十五."""
    hundreds, tens, ones = number // 100, number // 10 % 10, number % 10
    text = f"{DIGITS[hundreds]}百" if hundreds else ""
    if tens:
        text += "十" if tens == 1 and not hundreds else f"{DIGITS[tens]}十"
    elif hundreds and ones:
        text += "零"
    return text + (DIGITS[ones] if ones else "")


def test_2007_page_numbers() -> None:
    """Characters of the page numbers 1 to 360 as they are spoken.

    Turn 2: written digit by digit, how far does turn 1's total reach, what is left, and how many 〇 are cut.
    """
    examples = {
        10: "十", 15: "十五", 23: "二十三", 104: "一百零四", 110: "一百一十", 117: "一百一十七", 200: "二百",
    }  # fmt: skip
    for number, text in examples.items():
        assert spoken(number) == text
        assert f"“{text}”" in question(2007)["turns"][0]
    total = sum(len(spoken(page)) for page in range(1, 361))
    stands(2007, 1, f"答案：一共要刻 {total} 个字。", f"{total}个字")
    # The slips this invites: 零 forgotten, or 一百十七 for 一百一十七.
    assert sum(len(spoken(page).replace("零", "")) for page in range(1, 361)) != total
    assert sum(len(spoken(page).replace("百一十", "百十")) for page in range(1, 361)) != total

    page, left, zeros = 0, total, 0
    while left >= len(str(page + 1)):
        page += 1
        left -= len(str(page))
        zeros += str(page).count("0")
    stands(2007, 2, f"编到第 {page} 页，剩 {left} 个字，一共刻了 {zeros} 个“〇”",
           f"编到第{page}页，剩{left}个字，共刻{zeros}个“〇”")  # fmt: skip


# --- 2008 ------------------------------------------------------------------------------------------------------------


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Yield every way to divide the items into orders."""
    if not items:
        yield []
        return
    first, *rest = items
    for orders in partitions(rest):
        yield [[first], *orders]
        for place, order in enumerate(orders):
            yield [*orders[:place], [first, *order], *orders[place + 1 :]]


def off(amount: int) -> int:
    """Return what an order of that amount is reduced by."""
    return next((cut for floor, cut in ((500, 90), (300, 50), (200, 30)) if amount >= floor), 0)


def test_2008_orders_with_discount() -> None:
    """Six things in as many orders as one likes, each order reduced once by its highest tier.

    Tempting: 1024 is twice 500, so 180 off (844); no division has two orders of 500. Turn 2, one price down by 8:
    tempting 874 - 8 = 866; in truth an order falls below 200 and the whole gets dearer.
    """
    listed = re.findall(r"(毛笔套装|墨锭|印泥|宣纸|镇纸|砚台) (\d+)", question(2008)["turns"][0])
    prices = {name: int(yuan) for name, yuan in listed}
    assert len(prices) == 6
    assert re.findall(r"满 (\d+) 减 (\d+)", question(2008)["turns"][0]) == [
        ("200", "30"), ("300", "50"), ("500", "90"),
    ]  # fmt: skip
    assert re.search(r"印泥从 102 降到了 94", question(2008)["turns"][1])

    def least(things: dict[str, int]) -> int:
        every = list(partitions(list(things.values())))
        assert len(every) == 203
        return min(sum(sum(order) - off(sum(order)) for order in orders) for orders in every)

    first = least(prices)
    second = least(prices | {"印泥": 94})
    total = sum(prices.values())
    assert total - 180 == 844 != first
    assert not any(
        sum(sum(order) >= 500 for order in orders) > 1
        for orders in partitions(list(prices.values()))
    )
    assert first - 8 == 866 != second
    # The divisions that the answers name.
    assert total - sum(map(off, (284 + 289, 99 + 102, 76 + 174))) == first
    assert total - 8 - sum(map(off, (284 + 289, 76 + 99 + 94 + 174))) == second
    # The combinations of tiers that the worked answers rule out are all there are.
    for budget, want, count in (
        (total, total - first + 1, 3),
        (total - 8, total - 8 - second + 10, 6),
    ):
        combos = [
            (a, b, c)
            for a, b, c in product(range(3), range(4), range(6))
            if 500 * a + 300 * b + 200 * c <= budget and 90 * a + 50 * b + 30 * c >= want
        ]
        assert len(combos) == count
    stands(2008, 1, f"答案：最少付 {first} 元。", f"{first}元")
    stands(2008, 2, f"最少付 {second} 元，比刚才反而多花 {second - first} 元",
           f"{second}元，反而多花{second - first}元")  # fmt: skip
    for turn, small in ((0, (76, 99, 102, 174)), (1, (76, 94, 99, 174))):
        sums = sorted({sum(pick) for pick in product(*((0, x) for x in small))} - {0})
        assert "、".join(map(str, sums)) in reference(2008)[turn]


# --- 2009 ------------------------------------------------------------------------------------------------------------

NOT_FIRST = "，。、；：！？）》」』”’"
NOT_LAST = "（《「『“‘"

Wrap = Callable[[str, int], list[str]]


def word(char: str) -> bool:
    """Say whether a character is an ASCII letter or digit."""
    return re.fullmatch("[A-Za-z0-9]", char) is not None


def obeys(wrap: Wrap, text: str, width: int, revised: bool) -> bool:
    """Say whether the lines are those of the rules: each legal and none could have been longer."""

    def cells(part: str) -> int:
        return sum(2 if revised and not char.isascii() else 1 for char in part)

    def fits(part: str) -> bool:
        hangs = revised and part[-1] in "，。、" and cells(part[:-1]) <= width
        return cells(part) <= width or hangs

    def legal(cut: int) -> bool:
        if cut == len(text):
            return True
        before, after = text[cut - 1], text[cut]
        parted = revised and word(before) and word(after)
        return after not in NOT_FIRST and before not in NOT_LAST and not parted

    lines = wrap(text, width)
    if "".join(lines) != text or not all(lines):
        return False
    start = 0
    for line in lines:
        ends = range(start + 1, len(text) + 1)
        good = [end for end in ends if fits(text[start:end]) and legal(end)]
        forced = [end for end in ends if cells(text[start:end]) <= width]
        if start + len(line) != max(good or forced):
            return False
        start += len(line)
    return True


def texts(seed: int, letters: str) -> Iterator[tuple[str, int]]:
    """Yield random texts rich in punctuation, with widths."""
    dice = random.Random(seed)
    for _ in range(1500):
        yield "".join(dice.choices(letters, k=dice.randrange(0, 26))), dice.randrange(2, 11)


def back_one(text: str, width: int) -> list[str]:
    """Wrap wrongly: step back a single character where a line would begin or end with a forbidden one."""
    lines = []
    while text:
        cut = min(width, len(text))
        if cut < len(text) and cut > 1 and (text[cut] in NOT_FIRST or text[cut - 1] in NOT_LAST):
            cut -= 1
        lines.append(text[:cut])
        text = text[cut:]
    return lines


def heads_only(text: str, width: int) -> list[str]:
    """Wrap wrongly: look at the beginnings of lines only."""
    lines = []
    while text:
        cut = full = min(width, len(text))
        while cut and cut < len(text) and text[cut] in NOT_FIRST:
            cut -= 1
        lines.append(text[: cut or full])
        text = text[cut or full :]
    return lines


def careless_hang(wrap: Wrap) -> Wrap:
    """Wrap wrongly: hang a mark without a look at what comes after it."""

    def wrong(text: str, width: int) -> list[str]:
        lines: list[str] = []
        while text:
            line = wrap(text, width)[0]
            used = sum(1 if char.isascii() else 2 for char in line)
            after = text[len(line) : len(line) + 1]
            if after and after in "，。、" and used <= width:
                line += after
            lines.append(line)
            text = text[len(line) :]
        return lines

    return wrong


def test_2009_wrap_first() -> None:
    """Wrap Chinese text so that no line begins with a closing or ends with an opening mark.

    Wrong: step back one character only, or look at the beginnings of lines only.
    """
    wrap: Wrap = namespace(2009, 1)["wrap"]
    assert wrap("", 5) == []
    assert wrap("他说：“好。”我走了", 6) == ["他说：", "“好。”我走", "了"]
    assert wrap("，，，，，", 2) == ["，，", "，，", "，"]
    assert wrap("一二三四（《", 6) == ["一二三四（《"]
    cases = list(texts(1, "甲乙丙丁，。”“（）《》"))
    assert all(obeys(wrap, text, width, False) for text, width in cases)
    assert not obeys(back_one, "他们都说好。”我走了", 6, False)
    assert not obeys(heads_only, "他们来看（《书》）", 5, False)
    for wrong in (back_one, heads_only):
        assert not all(obeys(wrong, text, width, False) for text, width in cases)
    stands(2009, 1, "def wrap(text: str, width: int) -> list[str]:", "退无可退时硬断的 wrap")
    for mark in (NOT_FIRST, NOT_LAST):
        assert f"`{mark}`" in question(2009)["turns"][0]


def test_2009_wrap_revised() -> None:
    """Turn 2: half-width cells, words kept whole, one of ，。、 may hang where the break stays legal.

    Wrong: turn 1's function as it was, and hanging a mark without a look at the next character.
    """
    wrap: Wrap = namespace(2009, 2)["wrap"]
    assert wrap("", 5) == []
    assert wrap("县志初稿，见下", 8) == ["县志初稿，", "见下"]
    assert wrap("他说修好。”完", 8) == ["他说修", "好。”完"]
    assert wrap("约2600km长", 6) == ["约", "2600km", "长"]
    assert wrap("abcdefgh", 3) == ["abc", "def", "gh"]
    cases = list(texts(2, "甲乙丙ab3 ，。、”“（）；"))
    assert all(obeys(wrap, text, width, True) for text, width in cases)
    for wrong in (namespace(2009, 1)["wrap"], careless_hang(wrap)):
        assert not all(obeys(wrong, text, width, True) for text, width in cases)
    assert not obeys(
        careless_hang(lambda text, width: [text[: width // 2]]), "他说修好。”完", 8, True
    )
    stands(2009, 2, "def wrap(text: str, width: int) -> list[str]:", "悬挂后仍检查断点的 wrap")


# --- 2010 ------------------------------------------------------------------------------------------------------------

VALID = {
    "0.125": 13, "-0.125": -13, "1.005": 101, "2.675": 268, "0.004999999999999999999999999999999999": 0,
    "-0.005": -1, "-0.0049": 0, "１，２３４．５": 123450, " －１２.３4５ ": -1235, "1,234,567.89": 123456789,
    "12345678901234567890.125": 1234567890123456789013, "0": 0, "007": 700, "\u3000１２": 1200,
}  # fmt: skip
INVALID = (
    "", "nan", "1e3", "１２,３４", "①", "1.", ".5", "--1", "+1", "1,23", "1234,567", "1 000", "²", "٣", "1.2,3", "inf",
    "1_000", "1.2.3", "。5",
)  # fmt: skip


def rejects(to_fen: Callable[[str], object], text: str) -> bool:
    """Say whether the text is refused with a ValueError, and with no other exception."""
    try:
        to_fen(text)
    except ValueError:
        return True
    except ArithmeticError:
        return False
    return False


def tempting_to_fen(amount: str) -> int:
    """Convert with the quick repair: add a half and cut off."""
    return int(float(amount.replace(",", "")) * 100 + 0.5)


def test_2010_to_fen() -> None:
    """Yuan as text into fen, halves away from zero, exact, full-width digits, and a strict form.

    Tempting: int(float(x) * 100 + 0.5), which gives 13 for 0.125 but 100 for 1.005 and -12 for -0.125.
    Tempting too: NFKC, by which ① becomes an amount; Decimal, which multiplies to 28 digits first.
    """
    assert round(float("0.125") * 100) == 12
    assert repr(float("1.005") * 100) in reference(2010)[0]
    assert [tempting_to_fen(text) for text in ("0.125", "1.005", "-0.125")] == [13, 100, -12]
    to_fen: Callable[[str], int] = namespace(2010, 1)["to_fen"]
    assert {text: to_fen(text) for text in VALID} == VALID
    assert all(rejects(to_fen, text) for text in INVALID)
    for text in ('""', '"nan"', '"1e3"', '"１２,３４"', '"①"'):
        assert text in question(2010)["turns"][0]
        assert json.loads(text) in INVALID

    def by_decimal(text: str) -> int:
        plain = unicodedata.normalize("NFKC", text).strip().replace(",", "")
        return int((Decimal(plain) * 100).quantize(Decimal(1), ROUND_HALF_UP))

    assert by_decimal("①") == 100
    assert not rejects(by_decimal, "")
    assert by_decimal("0.004999999999999999999999999999999999") == 1
    stands(2010, 1, f'`"1.005"` 得 {VALID["1.005"]}', f"1.005 得 {VALID['1.005']}")
    stands(2010, 1, f'`"-0.125"` 得 {VALID["-0.125"]}', f"-0.125 得 {VALID['-0.125']}")


def shared(total: int, heads: int) -> list[int]:
    """Divide by dealing out the fen one after another."""
    shares = [0] * heads
    for fen in range(abs(total)):
        shares[fen % heads] += 1 if total > 0 else -1
    return shares


def test_2010_split() -> None:
    """Turn 2: divide an amount among heads to the fen, larger absolute values first, losses too.

    Tempting: divmod of the signed total, which rounds down, so that a loss begins with the smaller shares.
    """
    names = namespace(2010, 2)
    split: Callable[..., list[int]] = names["split"]
    assert {text: names["to_fen"](text) for text in VALID} == VALID
    assert all(rejects(names["to_fen"], text) for text in INVALID)

    def tempting(total: int, heads: int) -> list[int]:
        each, rest = divmod(total, heads)
        return [each + 1] * rest + [each] * (heads - rest)

    assert tempting(-5, 3) == [-1, -2, -2] != shared(-5, 3)
    for total, heads in product(range(-41, 42), range(1, 9)):
        sign = "-" if total < 0 else ""
        assert split(f"{sign}{abs(total) // 100}.{abs(total) % 100:02}", heads) == shared(
            total, heads
        )
    assert all(rejects(partial(split, heads=heads), "1") for heads in (0, -1))
    loss, odd = shared(-5, 3), shared(int(Fraction("1.005") * 100 + Fraction(1, 2)), 2)
    assert (split("-0.05", 3), split("1.005", 2)) == (loss, odd)
    stands(2010, 2, f"`{loss}`", str(loss))
    stands(2010, 2, f"`{odd}`", str(odd))


# --- 2011 ------------------------------------------------------------------------------------------------------------

# Event, place, name, class, result as spoken, minutes, seconds or metres in hundredths.
SPORTS = (
    ("男子一百米", 1, "林一帆", "高二（3）班", "十一秒八六", 0, 1186),
    ("男子一百米", 2, "陈卓", "高一（9）班", "十二秒零四", 0, 1204),
    ("男子一百米", 3, "周子墨", "高二（1）班", "十二秒三", 0, 1230),
    ("女子跳远", 1, "阿依古丽", "高一（2）班", "五米零七", 0, 507),
    ("女子跳远", 2, "宋佳音", "高二（3）班", "四米九", 0, 490),
    ("女子跳远", 3, "罗兰", "高一（4）班", "四米八二", 0, 482),
    ("女子八百米", 1, "何静", "高二（5）班", "两分三十九秒六", 2, 3960),
    ("女子八百米", 2, "田苗", "高一（2）班", "两分四十一秒", 2, 4100),
    ("女子八百米", 3, "宋佳怡", "高二（1）班", "两分四十三秒零八", 2, 4308),
)


def in_order(text: str, fragments: Iterable[str]) -> None:
    """Assert that the fragments stand in the text one after another."""
    place = 0
    for fragment in fragments:
        place = text.index(fragment, place) + len(fragment)


def test_2011_sports_results() -> None:
    """Finals of a school sports day from a loudspeaker's transcript into JSON, then a CSV with a line an event.

    Distractor: the shot put, which had heats only; a correction at the end (陈卓's class).
    """
    text = question(2011)["turns"][0]
    for event, place, name, group, result, *_ in SPORTS:
        ordinal = f"第{'一二三'[place - 1]}名"
        heard = "高一（6）班" if name == "陈卓" else group
        in_order(text, [f"{event}决赛：", f"{ordinal}，{heard}{name}，{result}"])
    in_order(text, ["男子铅球上午只比了预赛", "更正", "陈卓同学，班级应该是高一（9）班"])
    wanted = [
        {"项目": event, "名次": place, "姓名": name, "班级": group, "成绩": (6000 * minutes + rest) / 100,
         "单位": "米" if "米" in result else "秒"}
        for event, place, name, group, result, minutes, rest in SPORTS
    ]  # fmt: skip
    blocks = code_blocks(reference(2011)[0], "json")
    assert len(blocks) == 1
    answer = json.loads(blocks[0])
    assert answer == wanted
    assert all(list(row) == ["项目", "名次", "姓名", "班级", "成绩", "单位"] for row in answer)
    assert f"{len(wanted)}个对象" in question(2011)["reference"][0]
    assert "陈卓为高一（9）班，田苗161秒" in question(2011)["reference"][0]
    assert next(row["成绩"] for row in wanted if row["姓名"] == "田苗") == 161

    def cell(name: str, minutes: int, rest: int) -> str:
        whole, part = divmod(rest, 100)
        return f"{name} {minutes}:{whole:02}.{part:02}" if minutes else f"{name} {whole}.{part:02}"

    def grade_and_class(event: str) -> tuple[int, int]:
        group = next(row[3] for row in SPORTS if row[0] == event and row[1] == 1)
        found = re.fullmatch("高([一二])（(\\d+)）班", group)
        assert found is not None
        return "一二".index(found[1]), int(found[2])

    events = sorted(dict.fromkeys(row[0] for row in SPORTS), key=grade_and_class)
    table = [
        [event, *(cell(row[2], row[5], row[6]) for row in SPORTS if row[0] == event)]
        for event in events
    ]
    blocks = code_blocks(reference(2011)[1], "csv")
    assert len(blocks) == 1
    assert list(csv.reader(io.StringIO(blocks[0]))) == [
        ["项目", "第一名", "第二名", "第三名"],
        *table,
    ]
    assert "项目,第一名,第二名,第三名" in question(2011)["turns"][1]
    assert "三行：" + "、".join(events) in question(2011)["reference"][1]
    assert table[2][1].replace("何静 ", "何静写作 ") in question(2011)["reference"][1]


# --- 2012 ------------------------------------------------------------------------------------------------------------

SHIFTS = ("周六上午", "周六下午", "周日上午", "周日下午")
SA, SP, UA, UP = SHIFTS
# Time, who, what, arguments; written down from the chat, message by message.
CHAT: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("09:05", "王珂", "join", (SA,)),
    ("09:06", "何家豪", "join", (SA, UP)),
    ("09:09", "苏芸", "join", (SA,)),
    ("09:15", "赵立", "join", (SP,)),
    ("09:21", "马晓峰", "join", (UA, UP)),
    ("09:40", "何家豪", "quit", (SA,)),
    ("10:12", "周琪", "join", (UP,)),
    ("10:20", "王珂", "swap", ("赵立",)),
    ("10:40", "马晓峰", "move", (UA, SP)),
    ("10:52", "吴桐", "join", (SP,)),
    ("11:05", "苏芸", "join", (UA,)),
    ("11:20", "周琪", "move if waiting", (UP, UA)),
    ("11:31", "何家豪", "quit", (UP,)),
)

Roster = dict[str, tuple[list[str], list[str]]]


def roster(chat: Iterable[tuple[str, str, str, tuple[str, ...]]], condition: bool = True) -> Roster:
    """Play the chat and return for each shift who works and who waits."""
    shifts: Roster = {shift: ([], []) for shift in SHIFTS}

    def join(name: str, shift: str) -> None:
        working, waiting = shifts[shift]
        (working if len(working) < 2 else waiting).append(name)

    def leave(name: str, shift: str) -> None:
        working, waiting = shifts[shift]
        (working if name in working else waiting).remove(name)
        if len(working) < 2 and waiting:
            working.append(waiting.pop(0))

    for _, name, what, values in sorted(chat):
        if what == "join":
            for shift in values:
                join(name, shift)
        elif what == "quit":
            leave(name, values[0])
        elif what == "move" or (
            what == "move if waiting" and (name in shifts[values[0]][1] or not condition)
        ):
            leave(name, values[0])
            join(name, values[1])
        elif what == "swap":
            other = values[0]
            ours = next(working for working, _ in shifts.values() if name in working)
            theirs = next(working for working, _ in shifts.values() if other in working)
            ours[ours.index(name)], theirs[theirs.index(other)] = other, name
    return shifts


def plain(shifts: Roster) -> dict[str, tuple[set[str], list[str]]]:
    """Return the roster with the order of those who work forgotten."""
    return {shift: (set(working), waiting) for shift, (working, waiting) in shifts.items()}


def test_2012_volunteers() -> None:
    """A chat in which volunteers take, leave and swap shifts; waiting lists fill the gaps.

    Turn 2: one late message belongs before 10:12. Tempting: leave the rest as it was, or let 周琪 move all the same;
    in truth the place is free when 周琪 asks for it, the condition fails, and 周琪 stays.
    """
    lines = [
        line for line in question(2012)["turns"][0].splitlines() if re.match(r"\d\d:\d\d ", line)
    ]
    heard = {line[:5]: line for line in lines}
    assert (
        len(heard) == len(lines) == len(CHAT) + 3
    )  # the head's rules, 赵立's word of the swap, 吴桐's "not yet"
    for time, name, what, values in CHAT:
        assert heard[time].startswith(f"{time} {name}：")
        if what != "swap":
            assert all(shift in heard[time] for shift in values)
        if what == "move if waiting":
            assert "没轮到" in heard[time]
            assert "轮到了就不用动" in heard[time]
    assert "我跟王珂说好了，我俩的班对换" in heard["10:18"]
    assert "先别算我" in heard["10:31"]
    assert "09:41" in question(2012)["turns"][1]

    late = tuple(("09:41", *row[1:]) if row[0] == "11:31" else row for row in CHAT)
    first, second = roster(CHAT), roster(late)
    for turn, result in ((0, first), (1, second)):
        blocks = code_blocks(reference(2012)[turn], "json")
        assert len(blocks) == 1
        answer = json.loads(blocks[0])
        assert list(answer) == list(SHIFTS)
        assert {shift: (set(row["值班"]), row["候补"]) for shift, row in answer.items()} == plain(
            result
        )
        assert all(len(row["值班"]) == len(set(row["值班"])) for row in answer.values())
    # The wrong paths.
    assert plain(roster(late, condition=False)) == plain(first) != plain(second)
    without_swap = [row for row in CHAT if row[2] != "swap"]
    assert plain(roster(without_swap)) != plain(first)

    gone = {
        (name, shift)
        for shift in SHIFTS
        for name in first[shift][0]
        if name not in second[shift][0]
    }
    come = {
        (name, shift)
        for shift in SHIFTS
        for name in second[shift][0]
        if name not in first[shift][0]
    }
    assert (gone, come) == ({("周琪", UA)}, {("周琪", UP)})
    stands(2012, 2, "由周日上午改为周日下午", "只有周琪变了：由周日上午改为周日下午")
    short = question(2012)["reference"][0]
    for shift in SHIFTS:
        working, waiting = first[shift]
        said = shift + "、".join(working) + (f"（候补{'、'.join(waiting)}）" if waiting else "")
        assert said in short


# --- the set ---------------------------------------------------------------------------------------------------------


def test_references_are_complete() -> None:
    """Eight questions have references with both turns, and the ids agree."""
    for question_id in range(2005, 2013):
        assert len(reference(question_id)) == len(question(question_id)["reference"]) == 2
        assert all(re.search("[\u4e00-\u9fff]", turn) for turn in question(question_id)["turns"])

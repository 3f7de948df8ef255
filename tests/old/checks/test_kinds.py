"""What each kind lets pass and what not; the vocabulary of docs/checks.md, case by case."""

import time
from typing import Any

import pytest

from tests.old.checks.asked import met, outcome

STORY = "The harbour was quiet. A boat came in! Then the market opened, and boats left."


@pytest.mark.parametrize(
    ("check", "reply", "is_met"),
    [
        # count
        ({"kind": "count", "of": "words", "between": [14, 15]}, STORY, True),
        ({"kind": "count", "of": "words", "at_most": 13}, STORY, False),
        ({"kind": "count", "of": "sentences", "exactly": 3}, STORY, True),
        ({"kind": "count", "of": {"split": "******"}, "exactly": 2}, "one\n******\ntwo", True),
        # contains
        ({"kind": "contains", "words": ["harbour", "boat"]}, STORY, True),
        ({"kind": "contains", "words": ["harbor"]}, STORY, False),
        ({"kind": "contains", "words": "boat*", "exactly": 2}, STORY, True),
        ({"kind": "contains", "words": "boat", "exactly": 1}, STORY, True),
        ({"kind": "contains", "words": "*bour"}, STORY, True),
        ({"kind": "contains", "words": ["ship", "boat"], "any": True}, STORY, True),
        ({"kind": "contains", "words": "Boat", "match_case": True}, STORY, False),
        ({"kind": "contains", "words": "the market"}, "the\nmarket", True),
        ({"kind": "contains", "words": "don't"}, "I don’t know", True),
        ({"kind": "contains", "words": "世界"}, "你好世界啊", True),
        ({"kind": "contains", "text": "our"}, STORY, True),
        ({"kind": "contains", "pattern": r"\d{2}:\d{2}", "at_least": 2}, "10:30 and 11:00", True),
        ({"kind": "contains", "pattern": r"^Yes$"}, "No\nyes\nNo", True),
        # not_contains
        ({"kind": "not_contains", "text": "!"}, STORY, False),
        ({"kind": "not_contains", "words": ["sell*", "sold"]}, "He tells of selling", False),
        ({"kind": "not_contains", "words": ["sell*", "sold"]}, "He tells of soldiers", True),
        ({"kind": "not_contains", "words": "sorry"}, "Sorrylike", True),
        # starts, ends
        ({"kind": "starts", "words": "Ground floor"}, "**Ground floor:** gloves", True),
        ({"kind": "starts", "words": "Ground"}, "Groundless", False),
        ({"kind": "starts", "text": '"'}, '"Yes"', True),
        ({"kind": "starts", "pattern": r"\d{4}-\d{2}"}, " 2026-05 is it", True),
        ({"kind": "not_starts", "words": "You", "each": "sentence"}, "We met. “You came.”", False),
        ({"kind": "not_starts", "words": "You", "each": "sentence"}, "Your hat. I saw you.", True),
        ({"kind": "ends", "words": "OVER"}, "Wait there. OVER.", True),
        ({"kind": "ends", "words": "OVER"}, "Wait there, moreover", False),
        ({"kind": "ends", "text": "Which one?"}, "So. Which one?", True),
        ({"kind": "ends", "text": "done."}, 'He said "done."', True),
        ({"kind": "ends", "pattern": r"\[\[[A-C]\]\]"}, "Verdict: [[B]]\n", True),
        ({"kind": "ends", "pattern": r"\[\[[A-C]\]\]"}, "[[B]] it is", False),
        ({"kind": "not_ends", "text": "?"}, "Really?", False),
        # order, equals
        ({"kind": "order", "words": ["harbour", "boat", "market"]}, STORY, True),
        ({"kind": "order", "words": ["market", "harbour"]}, STORY, False),
        ({"kind": "order", "words": ["harbour", "castle"]}, STORY, False),
        ({"kind": "equals", "text": ["Lisbon", "Lisboa"]}, " **lisbon**. ", True),
        ({"kind": "equals", "text": "Lisbon", "match_case": True}, "lisbon", False),
        # sorted, distinct
        ({"kind": "sorted", "of": "lines", "by": "time"}, "09:05 in\n9:30 up\n14:00 out", True),
        ({"kind": "sorted", "of": "lines", "by": "time"}, "14:00 out\n09:05 in", False),
        ({"kind": "sorted", "of": "items"}, "1. apple\n2. Berry\n3. cherry", True),
        ({"kind": "sorted", "of": "lines", "by": "number", "descending": True}, "1,200 a\n30 b\n-4 c", True),
        ({"kind": "sorted", "of": "lines", "by": "length"}, "a\nbb\nccc", True),
        ({"kind": "sorted", "of": "lines", "by": "number"}, "1\nnone", False),
        ({"kind": "distinct", "of": "items", "by": "first_letter"}, "1. Ask\n2. Bring\n3. Call", True),
        ({"kind": "distinct", "of": "items", "by": "first_letter"}, "1. Ask\n2. “Answer”", False),
        ({"kind": "distinct", "of": "lines", "by": "last_word"}, "a cat.\nthe Cat", False),
        ({"kind": "distinct", "of": "lines", "by": "first_word"}, "a cat\nthe cat", True),
        ({"kind": "distinct", "of": "lines"}, "same\nsame", False),
        # case, language
        ({"kind": "case", "is": "lower"}, "all small, 1.", True),
        ({"kind": "case", "is": "lower"}, "Not all", False),
        ({"kind": "case", "is": "upper"}, "ÁRVÍZ 1!", True),
        ({"kind": "case", "is": "upper"}, "123", False),
        ({"kind": "case", "is": "capitalized"}, "The Old Man 3", True),
        ({"kind": "language", "is": "hu"}, "Ez egy magyar mondat, és nem is olyan rövid.", True),
        ({"kind": "language", "is": "en"}, "Ez egy magyar mondat, és nem is olyan rövid.", False),
        ({"kind": "language", "is": "zh"}, "这是一个用中文写的句子，没有别的语言。", True),
        # number
        ({"kind": "number", "equals": 42}, "First 7, then 42.", True),
        ({"kind": "number", "equals": 7, "which": "first"}, "First 7, then 42.", True),
        ({"kind": "number", "equals": 7, "which": "any"}, "First 7, then 42.", True),
        ({"kind": "number", "equals": 1234.5}, "1,234.5 lira", True),
        ({"kind": "number", "equals": 1234.5}, "1.234,5 líra", True),
        ({"kind": "number", "equals": 1234.5}, "1 234,5 Ft", True),
        ({"kind": "number", "equals": 1234}, "1,234 people", True),
        ({"kind": "number", "equals": 3.14, "tolerance": 0.01}, "about 3.15", True),
        ({"kind": "number", "equals": 3.14, "tolerance": 0.01}, "about 3.16", False),
        ({"kind": "number", "equals": 0.75}, "so 3/4", True),
        ({"kind": "number", "equals": 0.75}, r"\boxed{\frac{3}{4}}", True),
        ({"kind": "number", "equals": 50}, "it is 50%", True),
        ({"kind": "number", "equals": -5}, "so x = −5.", True),
        ({"kind": "number", "equals": 200000}, "2 × 10^5", True),
        ({"kind": "number", "equals": 305}, "一共三百零五个", True),
        ({"kind": "number", "equals": 1}, "none at all", False),
        ({"kind": "number", "equals": 2026}, "10-12-2026", True),
        # choice
        ({"kind": "choice", "equals": "B", "options": ["A", "B", "C"]}, "The answer is (B), since A is wrong.", True),
        ({"kind": "choice", "equals": "B", "options": ["A", "B", "C"]}, "A looks right.\nAnswer: **B**", True),
        ({"kind": "choice", "equals": "B", "options": ["A", "B", "C"]}, "B, because A is wrong", True),
        ({"kind": "choice", "equals": "C", "options": ["A", "B", "C"]}, "故选：C。", True),
        ({"kind": "choice", "equals": "A", "options": ["A", "B", "C"]}, "It is a pity.", False),
        ({"kind": "choice", "equals": "yes", "options": ["yes", "no"]}, "I think: Yes", True),
        # all, any
        ({"kind": "all", "checks": [{"kind": "case", "is": "lower"}, {"kind": "ends", "text": "."}]}, "yes.", True),
        ({"kind": "all", "checks": [{"kind": "case", "is": "lower"}, {"kind": "ends", "text": "."}]}, "yes", False),
        ({"kind": "any", "checks": [{"kind": "case", "is": "upper"}, {"kind": "ends", "text": "."}]}, "yes.", True),
    ],
    ids=lambda value: str(value)[:70] if isinstance(value, dict) else None,
)
def test_a_check_is_met_or_not(check: dict[str, Any], reply: str, is_met: bool) -> None:
    assert met(check, reply) is is_met


BEFORE = "I told him no. The kiln went cold that night!\n\nHe left by the water gate."


@pytest.mark.parametrize(
    ("check", "reply", "is_met"),
    [
        ({"kind": "keeps", "of": "sentences", "exactly": 1}, "Brother! The kiln went cold that night! Sit.", True),
        ({"kind": "keeps", "of": "sentences", "exactly": 1}, "Brother! The kiln got cold that night!", False),
        ({"kind": "keeps", "of": "paragraphs"}, BEFORE + "\n\nMore.", True),
        ({"kind": "keeps", "of": "paragraphs"}, "He left by the water gate.", False),
        ({"kind": "keeps", "of": "lines", "from": {"line": -1}}, "He left by the *water gate*.", True),
        ({"kind": "keeps", "of": "lines", "from": {"line": 9}}, "He left.", False),
        ({"kind": "keeps", "of": "words", "at_least": 4}, "yes, left by the Water", True),
        ({"kind": "keeps", "of": "words", "at_least": 5}, "yes, left by the Water", False),
        ({"kind": "keeps", "of": "sentences", "turn": 2}, "anything", False),
        ({"kind": "quotes", "exactly": 1, "words": [3, 6]}, "You said “the kiln went cold” once.", False),
        ({"kind": "quotes", "exactly": 1, "words": [3, 6]}, "You said “The kiln went cold” once.", True),
        ({"kind": "quotes", "exactly": 1, "words": [3, 6]}, 'You said "went cold".', False),
        ({"kind": "quotes"}, "No quotation at all", False),
        ({"kind": "quotes", "of": "question"}, "Asked «apart from sand», I smiled.", True),
        ({"kind": "shorter"}, "Short.", True),
        ({"kind": "shorter"}, BEFORE + " And more.", False),
        ({"kind": "shorter", "share": 0.5}, "I told him no. The kiln went", True),
        ({"kind": "shorter", "of": "paragraphs"}, "One.\n\nTwo.", False),
    ],
    ids=lambda value: str(value)[:70] if isinstance(value, dict) else None,
)
def test_a_reply_is_held_against_what_was_said_before(check: dict[str, Any], reply: str, is_met: bool) -> None:
    assert met(check, reply, [BEFORE], ["So what goes into it, apart from sand?", "And now?"]) is is_met


def test_there_may_be_no_earlier_reply() -> None:
    assert outcome({"kind": "shorter"}, "Short.").found == "there is no earlier reply"


JSON = '{"name": "Ito", "sums": [1.50, 2], "paid": true}'
GRID = "| Pair | Road |\n|---|---|\n| shirt | 1,000 |\n| ditch | 2.5 |"


@pytest.mark.parametrize(
    ("check", "reply", "is_met"),
    [
        ({"kind": "json"}, JSON, True),
        ({"kind": "json"}, f"```json\n{JSON}\n```", True),
        ({"kind": "json"}, f"Here it is:\n```json\n{JSON}\n```", False),
        ({"kind": "json", "around": True}, f"Here it is:\n```json\n{JSON}\n```\nGood?", True),
        ({"kind": "json"}, "{'a': 1}", False),
        ({"kind": "json"}, '{"a": NaN}', False),
        ({"kind": "json"}, '{"a": 1, "a": 2}', False),
        ({"kind": "json"}, "[" * 100_000, False),
        ({"kind": "json", "equals": {"paid": True, "sums": [1.5, 2], "name": "Ito"}}, JSON, True),
        ({"kind": "json", "equals": {"paid": 1, "sums": [1.5, 2], "name": "Ito"}}, JSON, False),
        ({"kind": "json", "equals": {"paid": True, "sums": [1.5, 2], "name": "Ito"}, "key_order": True}, JSON, False),
        ({"kind": "json", "at": "/sums", "equals": [2, 1.5]}, JSON, False),
        ({"kind": "json", "at": "/sums", "equals": [2, 1.5], "array_order": False}, JSON, True),
        ({"kind": "json", "at": "/sums/0", "equals": "1.50", "numbers": "written"}, JSON, True),
        ({"kind": "json", "at": "/sums/0", "equals": "1.5", "numbers": "written"}, JSON, False),
        ({"kind": "json", "at": "/sums/0", "equals": 1.52, "tolerance": 0.02}, JSON, True),
        ({"kind": "json", "at": "/none"}, JSON, False),
        ({"kind": "json", "keys": ["paid", "name", "sums"]}, JSON, True),
        ({"kind": "json", "keys": ["name"]}, JSON, False),
        ({"kind": "json", "equals": 1}, "1e999999999999999999", False),
        ({"kind": "csv", "columns": ["a", "b"], "rows": 2}, 'a,b\n1,2\n3,"4,5"', True),
        ({"kind": "csv"}, "a,b\n1,2,3", False),
        ({"kind": "csv"}, 'a,b\n"1,2', False),
        ({"kind": "csv", "delimiter": ";", "equals": [["a", "b"], ["x", 2.0]]}, "```csv\na;b\nx;2\n```", True),
        ({"kind": "csv", "equals": [["a"], [1], [2]], "row_order": False}, "a\n2\n1", True),
        ({"kind": "csv", "equals": [["a"], [1], [2]]}, "a\n2\n1", False),
        ({"kind": "table", "columns": ["pair", "road"], "rows": 2}, f"So:\n\n{GRID}\n", True),
        ({"kind": "table", "around": False}, f"So:\n\n{GRID}\n", False),
        ({"kind": "table", "rows": 3}, GRID, False),
        ({"kind": "table", "equals": [["Pair", "Road"], ["shirt", 1000], ["ditch", 2.5]]}, GRID, True),
        ({"kind": "table", "equals": [["Pair", "Road"], ["ditch", 2.5], ["shirt", 1000]]}, GRID, False),
        ({"kind": "table"}, "no table", False),
        ({"kind": "table"}, f"{GRID}\n\nand\n\n{GRID}", False),
    ],
    ids=lambda value: str(value)[:70] if isinstance(value, dict) else None,
)
def test_data_is_read_and_compared(check: dict[str, Any], reply: str, is_met: bool) -> None:
    assert met(check, reply) is is_met


def test_the_place_that_breaks_a_check_is_given() -> None:
    def places(check: dict[str, Any]) -> list[str]:
        return [STORY[start:end] for start, end in outcome(check, STORY).spans]

    assert places({"kind": "not_contains", "text": "!"}) == ["!"]
    assert places({"kind": "count", "of": "words", "at_most": 14}) == ["left"]
    assert places({"kind": "starts", "words": "Harbour"}) == ["The harbour was quiet. A boat "]
    assert places({"kind": "contains", "words": "boat*", "exactly": 1}) == ["boats"]
    assert places({"kind": "contains", "words": "castle"}) == []


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(a|a)*b", id="alternatives"),
        pytest.param("(a+)+$", id="nested"),
        pytest.param("a*a*a*a*b", id="row"),
    ],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.process_time()
    assert not met({"kind": "contains", "pattern": pattern + "c"}, "a" * 100_000 + "!")
    assert time.process_time() - began < 20  # seconds; a backtracking engine would take longer than the universe


@pytest.mark.parametrize("words", ["*b", "b*", "*b*", "a b"])
def test_no_word_takes_long(words: str) -> None:
    began = time.process_time()
    for text in ("a" * 100_000, "a " * 50_000, " " * 100_000):
        met({"kind": "contains", "words": words}, text + "c")
        met({"kind": "starts", "words": words}, text)
        met({"kind": "ends", "words": words}, text)
    assert time.process_time() - began < 20  # seconds


def test_the_longest_common_run_is_found_in_long_texts() -> None:
    reply, before = " ".join(f"w{n % 97}" for n in range(50_000)), " ".join(f"w{n % 89}" for n in range(50_000))
    assert met({"kind": "keeps", "of": "words", "exactly": 89}, reply, [before])

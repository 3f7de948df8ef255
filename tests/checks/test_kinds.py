"""Each kind of check: a right answer in natural wording passes, a plausible wrong one does not."""

from typing import Any

import pytest

from harness.extras.checks import KINDS, check

CASES = [
    pytest.param(
        {"kind": "count", "of": "words", "at_most": 5},
        "Don't sell well-being at 3.5%.",
        "Do not ever sell well-being now",
        id="count words",
    ),
    pytest.param(
        {"kind": "count", "of": "sentences", "exactly": 2},
        "Dr. Ito came at 10 a.m. with No. 7. She left!",
        "She came. She saw. She left.",
        id="count sentences",
    ),
    pytest.param(
        {"kind": "count", "of": "words", "at_most": 6},
        "你好，世界！再见",
        "你好，美丽的世界",
        id="count Chinese characters",
    ),
    pytest.param(
        {"kind": "count", "of": "items", "exactly": 2},
        "(4) does not follow.\n(5) does not follow either.\n\n1. Prices.\n2. Habits.",
        "1. Prices.\n2. Habits.\n3. Weather.",
        id="count items beside the question's numbers",
    ),
    pytest.param(
        {"kind": "count", "of": "items", "exactly": 2},
        "The two are:\n\n(1) Prices.\n(2) Habits.",
        "(1) Prices.",
        id="count items in brackets",
    ),
    pytest.param(
        {"kind": "count", "of": "items", "exactly": 3},
        "| No. | Item | Pesos |\n| --- | --- | --- |\n| 1 | Tuning | 40 |\n| 2 | Felt | 5 |\n"
        "| **3** | Stairs | 0 |\n| | Total | 45 |",
        "| Item | Pesos |\n| --- | --- |\n| Tuning | 40 |\n| Felt | 5 |\n| Stairs | 0 |",
        id="count numbered rows of a table",
    ),
    pytest.param(
        {"kind": "count", "of": "words", "at_most": 3, "each": "line"},
        "one two three\n\n- four\n---",
        "one two three four\nfive",
        id="each line",
    ),
    pytest.param(
        {"kind": "count", "of": "words", "exactly": 2, "in": {"after": "Reasons:"}},
        "many words here\nreasons: two words",
        "two words\nreasons: many words here",
        id="in a place",
    ),
    pytest.param(
        {"kind": "sorted", "of": "lines", "by": "number"},
        "- bus 9\n- train 10",
        "train 10\nbus 9",
        id="sorted",
    ),
    pytest.param(
        {"kind": "distinct", "of": "items", "by": "first_letter"},
        "1. **Apple**\n2. *Banana*",
        "1. Apple\n2. **a**vocado",
        id="distinct",
    ),
    pytest.param(
        {"kind": "contains", "words": ["harbour", "boat*"]},
        "The **Harbour**, full of boats.",
        "The harbourmaster has a boat.",
        id="contains words",
    ),
    pytest.param(
        {"kind": "contains", "words": ["250", "110"]},
        "Two hundred and fifty leads; I passed over one hundred ten.",
        "Two hundred and fifty-one leads, 110 I passed over.",
        id="contains spoken numbers",
    ),
    pytest.param(
        {"kind": "contains", "words": "40"},
        "Forty, I think.",
        "Forty thousand.",
        id="spoken, whole",
    ),
    pytest.param({"kind": "contains", "words": "2"}, "It is 2.", "Two reasons.", id="not spoken"),
    pytest.param(
        {"kind": "contains", "text": "x", "exactly": 2},
        "x and x",
        "x, x and x",
        id="contains, exactly",
    ),
    pytest.param(
        {"kind": "not_contains", "words": ["ill"]},
        "She will still fill it.",
        "He is *ill*.",
        id="not",
    ),
    pytest.param(
        {"kind": "starts", "text": "Dear Mr. O'Neill"},
        "**Dear Mr. O’Neill**, hello",
        "Hello, dear Mr. O'Neill",
        id="starts",
    ),
    pytest.param(
        {"kind": "ends", "words": "over"}, "Roger. *Over!*", "Over and out.", id="ends with words"
    ),
    pytest.param(
        {"kind": "ends", "pattern": r"\([\p{L} ]+\)[.!]?"},
        "Bring an umbrella **(north wind)**",
        "(north wind) bring an umbrella",
        id="ends with a pattern",
    ),
    pytest.param(
        {"kind": "order", "words": ["harbour", "market"]},
        "First the *harbour*, then the market.",
        "From the market to the harbour.",
        id="order",
    ),
    pytest.param({"kind": "equals", "text": "Lisbon"}, "**Lisbon**.", "It is Lisbon.", id="equals"),
    pytest.param(
        {"kind": "json", "at": "/0", "keys": ["a"], "equals": {"a": 1}},
        '```json\n[{"a": 1.0}]\n```',
        '[{"a": true}]',
        id="json",
    ),
    pytest.param(
        {"kind": "json"}, '{"a": [1, 2]}', 'Here it is: {"a": [1, 2]}', id="json and nothing else"
    ),
    pytest.param(
        {"kind": "csv", "equals": [["name", "year"], ["Ada", 1815]]},
        "name,year\nAda,1815",
        "name,year\nAda,1816",
        id="csv",
    ),
    pytest.param(
        {"kind": "table", "columns": ["pair", "road"], "rows": 1},
        "Here:\n\n| **Pair** | Road |\n|---|---|\n| A–B | 3 |",
        "| Pair | Road |\n|---|---|\n| A–B | 3 |\n| A–C | 4 |",
        id="table",
    ),
    pytest.param(
        {"kind": "number", "equals": 4600},
        r"So there are $4{,}600$ of them.",
        "So 4,600 of 10,000.",
        id="number, last",
    ),
    pytest.param(
        {"kind": "number", "equals": 0.75},
        r"It is \frac{3}{4} of all.",
        "It is 0.7 of all.",
        id="number as a fraction",
    ),
    pytest.param(
        {"kind": "number", "equals": 21.96, "tolerance": 0.05},
        r"about $22\,\text{km}$, to be exact 22,0",
        "22.2 km",
        id="number within a tolerance",
    ),
    pytest.param(
        {"kind": "number", "equals": 305}, "一共三百零五个。", "一共三百五十。", id="Chinese"
    ),
    pytest.param(
        {"kind": "choice", "equals": "B", "options": ["A", "B", "C"]},
        "A is tempting. The answer is **B**, not C.",
        "B is tempting, but the correct option is (A).",
        id="choice",
    ),
    pytest.param(
        {
            "kind": "ifeval",
            "instruction": "length_constraints:number_words",
            "arguments": {"relation": "at least", "num_words": 4},
        },
        "Don't be well-off",
        "Be well off",
        id="ifeval counts don't as two words",
    ),
]


@pytest.mark.parametrize(("spec", "right", "wrong"), CASES)
def test_a_right_answer_passes_and_a_wrong_one_does_not(
    spec: dict[str, Any], right: str, wrong: str
) -> None:
    assert check(right, spec).passed is True, check(right, spec).reason
    assert check(wrong, spec).passed is False


EARLIER = [
    pytest.param(
        {"kind": "keeps", "of": "sentences", "exactly": 1},
        "The sea is calm. All changed.",
        "The sea was calm. All changed.",
        id="keeps sentences",
    ),
    pytest.param(
        {"kind": "keeps", "of": "words", "at_least": 3},
        "They say **the sea is** lovely",
        "They say the sea was lovely",
        id="keeps a run of words",
    ),
    pytest.param(
        {"kind": "quotes", "of": "answer", "words": [2, 4]},
        "You wrote “sea is calm.”",
        "You wrote “sea was calm”.",
        id="quotes",
    ),
    pytest.param(
        {"kind": "shorter"},
        "The sea, calm.",
        "The sea is calm. The boats are out, and so are we.",
        id="shorter",
    ),
]


@pytest.mark.parametrize(("spec", "right", "wrong"), EARLIER)
def test_the_reply_is_compared_with_the_one_before(
    spec: dict[str, Any], right: str, wrong: str
) -> None:
    earlier = ["The sea is calm. The boats are in."]
    assert check(right, spec, earlier=earlier).passed is True
    assert check(wrong, spec, earlier=earlier).passed is False
    assert check(right, spec).reason in (
        "there is no earlier reply",
        "“sea is calm.” was not said before",
    )


def test_every_kind_has_a_case() -> None:
    tried = {case.values[0]["kind"] for case in [*CASES, *EARLIER]}  # type: ignore[index]
    assert tried == set(KINDS) - {"code"}  # see test_code.py


def test_an_empty_reply_passes_nothing() -> None:
    assert check(" \n", {"kind": "not_contains", "text": "!"}).passed is False

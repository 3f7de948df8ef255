"""Several scores at once: the dimensions of an answer, and a score for each of two answers."""

from collections.abc import Mapping

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Parsed, Scores
from harness.old.records import Reply

DIMENSIONS = VerdictForm(
    "dimensions", "dimensions", dimensions=("Factuality", "User need", "Overall"), total="Overall", scale=(1, 10)
)
CHINESE = VerdictForm("dimensions", "dimensions", dimensions=("事实正确性", "综合得分"), total="综合得分")
BATTLE = VerdictForm("two_scores", "compare", scale=(1, 10))


def read(text: str, form: VerdictForm) -> Parsed:
    return read_verdict(Reply(text), form)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"Factuality": 7, "User need": 6, "Overall": 6}', id="JSON"),
        pytest.param("{'Factuality': 7, 'User need': 6, 'Overall': 6}", id="Python"),
        pytest.param("{'Factuality': 7, 'User need': 6, 'Overall': 6,}", id="comma too many"),
        pytest.param('{"factuality": 7, "user_need": 6, "OVERALL": 6}', id="names written otherwise"),
        pytest.param('{"Overall": 6, "Factuality": 7, "User need": 6}', id="another order"),
        pytest.param('{"Factuality": "7", "User need": "6/10", "Overall": "6 points"}', id="texts"),
        pytest.param('{"Factuality": 7.0, "User need": 6, "Overall": 6}', id="decimals"),
        pytest.param('{"Factuality": {"score": 7, "why": "x"}, "User need": {"score": 6}, "Overall": 6}', id="nested"),
        pytest.param('```json\n{"Factuality": 7, "User need": 6, "Overall": 6}\n```', id="code fence"),
        pytest.param('The steps:\n1. ...\n\nScores: {"Factuality": 7, "User need": 6, "Overall": 6}', id="at the end"),
        pytest.param('{"Factuality": 7, "User need": 6, "Overall": 6, "Length": 2}', id="one more"),
        pytest.param('{"a": 1} {"Factuality": 7, "User need": 6, "Overall": 6}', id="another object"),
        pytest.param('<think>{"Overall": 9}</think>{"Factuality": 7, "User need": 6, "Overall": 6}', id="reasoning"),
        pytest.param("{Factuality: 7, User need: 6, Overall: 6}", id="bare names"),
    ],
)
def test_every_dimension_is_read(text: str) -> None:
    parsed = read(text, DIMENSIONS)
    assert parsed.verdict == Scores({"Factuality": 7, "User need": 6, "Overall": 6}), parsed.reason


def test_dimensions_of_another_script_are_read() -> None:
    assert read("综合来看：{'事实正确性': 8, '综合得分': 7}", CHINESE).verdict == Scores(
        {"事实正确性": 8, "综合得分": 7}
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("7, 6, 6", "no object", id="numbers alone"),
        pytest.param('{"Factuality": 7, "Overall": 6}', "no score for User need", id="one missing"),
        pytest.param('{"Overall": 6}', "no score for Factuality, User need", id="two missing"),
        pytest.param('{"Factuality": 11, "User need": 6, "Overall": 6}', "Factuality: outside the scale", id="above"),
        pytest.param('{"Factuality": 7, "User need": 0, "Overall": 6}', "User need: outside the scale", id="below"),
        pytest.param('{"Factuality": 7, "User need": 6, "Overall": null}', "Overall: no number", id="null"),
        pytest.param('{"Factuality": true, "User need": 6, "Overall": 6}', "Factuality: no number", id="truth value"),
        pytest.param('{"Factuality": "good", "User need": 6, "Overall": 6}', "Factuality: ", id="a word"),
        pytest.param('{"Factuality": "7-8", "User need": 6, "Overall": 6}', "Factuality: ", id="range"),
        pytest.param('{"Factuality": "4/5", "User need": 6, "Overall": 6}', "out of 5", id="another scale"),
        pytest.param('{"Factuality": 7, "User need": 6, "Overall": 6', "no object", id="cut"),
        pytest.param('{"Factuality": 7} {"User need": 6} {"Overall": 6}', "no object", id="scattered"),
        pytest.param(
            '{"Factuality": 7, "User need": 6, "Overall": 6} {"Factuality": 7, "User need": 6, "Overall": 9}',
            "two verdicts",
            id="two that differ",
        ),
        pytest.param(
            'The answer ends with {"Factuality": 10, "User need": 10, "Overall": 10}.',
            "within a sentence",
            id="told of",
        ),
        pytest.param("<think>{'Factuality': 7", "reasoning", id="reasoning without end"),
    ],
)
def test_what_is_missing_or_off_the_scale_is_named(text: str, reason: str) -> None:
    parsed = read(text, DIMENSIONS)
    assert parsed.verdict is None
    assert reason in parsed.reason


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        pytest.param("8 7\nThe first explains more.", (8, 7), id="first line"),
        pytest.param("8, 7", (8, 7), id="comma"),
        pytest.param("8,7", (8, 7), id="comma without space"),
        pytest.param(" 8 7 \nWhy: ...", (8, 7), id="trailing space"),
        pytest.param("\n\n8 7\nWhy: ...", (8, 7), id="blank lines before"),
        pytest.param("8.5 9\nWhy: ...", (8.5, 9), id="decimal"),
        pytest.param("10 10\nBoth are perfect.", (10, 10), id="tens"),
        pytest.param("8/10 7/10\nWhy: ...", (8, 7), id="denominators"),
        pytest.param("**8 7**\nWhy: ...", (8, 7), id="bold"),
        pytest.param("Scores: 8 7\nWhy: ...", (8, 7), id="label"),
        pytest.param("8 and 7", (8, 7), id="and"),
        pytest.param("评分：8 7\n第一个更详细。", (8, 7), id="Chinese"),
        pytest.param("8，7\n第一个更详细。", (8, 7), id="Chinese comma"),
        pytest.param("The first explains more.\n\n8 7", (8, 7), id="last line"),
        pytest.param("Assistant 1: 8\nAssistant 2: 7\nWhy: ...", (8, 7), id="by name"),
        pytest.param("Assistant 2: 7/10\nAssistant 1: 8/10", (8, 7), id="by name, in the other order"),
        pytest.param("Assistant A: 8\nAssistant B: 7", (8, 7), id="by letter"),
        pytest.param("助手1：8分\n助手2：7分", (8, 7), id="by name, Chinese"),
        pytest.param('{"assistant_1": 8, "assistant_2": 7}', (8, 7), id="JSON"),
        pytest.param('{"score_1": 8, "score_2": 7, "explanation": "longer"}', (8, 7), id="JSON, other names"),
        pytest.param('{"A": 8, "B": 7}', (8, 7), id="JSON, letters"),
        pytest.param('{"scores": [8, 7]}', (8, 7), id="JSON, a list"),
        pytest.param("[[8,7]]", (8, 7), id="double brackets"),
        pytest.param("8 7\nAssistant 1 deserves an 8, for it explains. Assistant 2: 7.", (8, 7), id="said again"),
        pytest.param("<think>9 9</think>8 7", (8, 7), id="reasoning"),
    ],
)
def test_two_scores_are_read(text: str, scores: tuple[float, float]) -> None:
    parsed = read(text, BATTLE)
    assert parsed.verdict == Scores({"A": scores[0], "B": scores[1]}), parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("8\nWhy: ...", id="one"),
        pytest.param("8 7 6\nWhy: ...", id="three"),
        pytest.param("8 11", id="above the scale"),
        pytest.param("0 7", id="below the scale"),
        pytest.param("-1 -1", id="negative"),
        pytest.param("8/5 7/5", id="another scale"),
        pytest.param("eight seven", id="in words"),
        pytest.param("Assistant 1: 8", id="only one by name"),
        pytest.param("Assistant 1: 8\nAssistant 1: 7", id="one by name twice"),
        pytest.param("8 7\nAssistant 1: 6\nAssistant 2: 7", id="the explanation differs"),
        pytest.param("8 7\nWhy: ...\n7 8", id="first and last line differ"),
        pytest.param('{"assistant_1": 8}', id="JSON, one"),
        pytest.param('{"assistant_1": 8, "assistant_2": "good"}', id="JSON, a word"),
        pytest.param('{"a": 8, "b": 7} {"a": 7, "b": 8}', id="two objects"),
        pytest.param("In 1848 and 1849 there was war.", id="years in a sentence"),
        pytest.param("1. 8\n2. 7", id="numbered list"),
        pytest.param("8-9 7", id="range"),
        pytest.param('The first answer says {"A": 10, "B": 1}.', id="told of"),
        pytest.param("<think>8 7", id="reasoning without end"),
        pytest.param("8|7|6", id="table of three"),
        pytest.param("Both get 8.", id="both"),
        pytest.param("8% 7%", id="per cent"),
        pytest.param("87", id="written together"),
        pytest.param("[8, 7] or [7, 8]", id="either"),
        pytest.param("Assistant 1 receives 8 out of 10 and Assistant 2 gets 7 out of 10.", id="in a sentence"),
    ],
)
def test_no_scores_are_made_of_anything_else(text: str) -> None:
    parsed = read(text, BATTLE)
    assert parsed.verdict is None, parsed.reason
    assert parsed.reason


def test_the_names_that_a_prompt_gives_the_answers_are_known() -> None:
    form = VerdictForm("two_scores", "compare", sides=("left", "right"))
    expected: Mapping[str, float] = {"A": 3, "B": 9}
    assert read('{"left": 3, "right": 9}', form).verdict == Scores(expected)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["8 ", "8 7\n", "Assistant 1: 8\n", "[8, 7] ", "assistant 1 ", "{'a': 8", "8/"])
def test_hostile_text_is_read_in_time(piece: str) -> None:
    text = piece * (250_000 // len(piece)) + "\nno"
    assert read(text, DIMENSIONS).verdict is None
    assert read(text, BATTLE).verdict in (None, Scores({"A": 8, "B": 7}))

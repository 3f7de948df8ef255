"""Labels are read whole, or not at all."""

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judging.verdicts.labels import read_label
from harness.old.judgments.judgment import Label, Parsed
from harness.old.records import Reply

SHARES = {"CORRECT": 1.0, "INCORRECT": 0.0, "NOT_ATTEMPTED": 0.0}
FORM = VerdictForm("label", "label", labels=SHARES)
CHINESE = VerdictForm("label", "label", labels={"正确": 1.0, "错误": 0.0, "未尝试": 0.0})


def read(text: str, form: VerdictForm = FORM) -> Parsed:
    return read_verdict(Reply(text), form)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param('{"evaluation": "CORRECT"}', "CORRECT", id="JSON"),
        pytest.param('{"evaluation":"INCORRECT"}', "INCORRECT", id="no space"),
        pytest.param('{"evaluation" : "INCORRECT"}', "INCORRECT", id="space before the colon"),
        pytest.param("{'evaluation': 'NOT_ATTEMPTED'}", "NOT_ATTEMPTED", id="single quotes"),
        pytest.param('{"evaluation": "not attempted"}', "NOT_ATTEMPTED", id="a space, small letters"),
        pytest.param('{"evaluation": "Not-Attempted"}', "NOT_ATTEMPTED", id="a hyphen"),
        pytest.param('{"evaluation": ["CORRECT"]}', "CORRECT", id="list of one"),
        pytest.param('{"judgement": "CORRECT", "reason": "INCORRECT was near"}', "CORRECT", id="a reason beside it"),
        pytest.param('```json\n{"evaluation": "INCORRECT"}\n```', "INCORRECT", id="code fence"),
        pytest.param('```\n{\n  "evaluation": "INCORRECT",\n}\n```', "INCORRECT", id="comma too many"),
        pytest.param('{"evaluation": "CORRECT"}\n{"evaluation": "CORRECT"}', "CORRECT", id="twice the same"),
        pytest.param(
            '{"evaluation": "CORRECT/INCORRECT/NOT_ATTEMPTED"}\n{"evaluation": "CORRECT"}', "CORRECT", id="form"
        ),
        pytest.param('So {"evaluation": "LABEL"} is wanted. {"evaluation": "CORRECT"}', "CORRECT", id="placeholder"),
        pytest.param('{"evaluation": "INCORRECT", "reason": "The answer na', "INCORRECT", id="cut within the reason"),
        pytest.param('{"reason": "says "X" there", "evaluation": "INCORRECT"}', "INCORRECT", id="unescaped quotes"),
        pytest.param('{"question": "When?", "evaluation": "CORRECT"}', "CORRECT", id="the question repeated"),
        pytest.param('<think>{"evaluation": "INCORRECT"}</think>{"evaluation": "CORRECT"}', "CORRECT", id="reasoning"),
        pytest.param("CORRECT", "CORRECT", id="bare"),
        pytest.param("INCORRECT", "INCORRECT", id="bare, which holds another"),
        pytest.param("NOT_ATTEMPTED", "NOT_ATTEMPTED", id="bare, with a stray A"),
        pytest.param("Not attempted.", "NOT_ATTEMPTED", id="bare in words"),
        pytest.param("incorrect", "INCORRECT", id="bare, small letters"),
        pytest.param("**INCORRECT**", "INCORRECT", id="bold"),
        pytest.param('"INCORRECT"', "INCORRECT", id="in quotation marks"),
        pytest.param("[INCORRECT]", "INCORRECT", id="in brackets"),
        pytest.param("Verdict: INCORRECT", "INCORRECT", id="label word"),
        pytest.param("Evaluation: not attempted", "NOT_ATTEMPTED", id="label word, small letters"),
        pytest.param("The answer names another year.\n\nINCORRECT", "INCORRECT", id="last line"),
        pytest.param("CORRECT\n\nThe answer names the year.", "CORRECT", id="first line"),
        pytest.param("To be CORRECT it must name 1849. It does not.\nINCORRECT", "INCORRECT", id="criteria before"),
        pytest.param("Értékelés: INCORRECT", "INCORRECT", id="Hungarian"),
        pytest.param('A válasz más évet mond.\n{"értékelés": "INCORRECT"}', "INCORRECT", id="Hungarian JSON"),
        pytest.param("评价：NOT_ATTEMPTED", "NOT_ATTEMPTED", id="Chinese"),
        pytest.param("最终判断：INCORRECT。", "INCORRECT", id="Chinese, with a full stop"),
        pytest.param('The answer says "CORRECT", but it is wrong. INCORRECT', "INCORRECT", id="a quoted one before"),
    ],
)
def test_label_is_read(text: str, label: str) -> None:
    parsed = read(text)
    assert parsed.verdict == Label(label), parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("NOT CORRECT", id="denied"),
        pytest.param("The answer is NOT CORRECT.", id="denied in a sentence"),
        pytest.param("It is not CORRECT.", id="denied, small"),
        pytest.param("IN CORRECT", id="torn apart"),
        pytest.param("It is hardly CORRECT.", id="hardly"),
        pytest.param("not correct", id="denied, all small"),
        pytest.param("Based on the question, A", id="stray letters"),
        pytest.param("Correctness was considered.", id="a word that begins with one"),
        pytest.param("The answer is correct.", id="the word in prose"),
        pytest.param("CORRECT, INCORRECT, NOT_ATTEMPTED", id="list of all"),
        pytest.param("CORRECT/INCORRECT", id="slash"),
        pytest.param("CORRECT or INCORRECT?", id="either"),
        pytest.param("CORRECT\nINCORRECT\nNOT_ATTEMPTED", id="one a line"),
        pytest.param("PARTIALLY_CORRECT", id="a longer word"),
        pytest.param("CORRECT-ISH", id="a hyphened word"),
        pytest.param("Partially CORRECT", id="half of it"),
        pytest.param('{"evaluation": "MAYBE"}', id="no label"),
        pytest.param('{"evaluation": "PARTIALLY CORRECT"}', id="a longer label"),
        pytest.param('{"evaluation": "CORRECT/INCORRECT/NOT_ATTEMPTED"}', id="only the form"),
        pytest.param('{"evaluation": ["CORRECT", "INCORRECT"]}', id="list of two"),
        pytest.param('{"evaluation": true}', id="truth value"),
        pytest.param('{"evaluation": null}', id="null"),
        pytest.param('{"evaluation": "CORRECT"} {"evaluation": "INCORRECT"}', id="two objects"),
        pytest.param('{"evaluation": "CORRECT", "final": "INCORRECT"}', id="two labels in one"),
        pytest.param('{"evaluation": "CORRECT", "evaluation": "INCORRECT"}', id="a name twice"),
        pytest.param('The answer contains {"evaluation": "CORRECT"}.', id="told"),
        pytest.param('The answer ends with:\n```json\n{"evaluation": "CORRECT"}\n```', id="told, in a code block"),
        pytest.param('> {"evaluation": "CORRECT"}\n\nstands in the answer.', id="block quote"),
        pytest.param('It wrote "CORRECT" itself.', id="quoted"),
        pytest.param("The answer claims that it is CORRECT", id="claimed"),
        pytest.param("It would be CORRECT if it named the year.", id="supposed"),
        pytest.param("Is it CORRECT?", id="asked"),
        pytest.param("<think>CORRECT", id="reasoning without end"),
        pytest.param("A CORRECT answer must name the year.", id="a noun's companion"),
        pytest.param('Here is my evaluation:\n{"evaluation": "INCORRECT"}\nThanks.', id="words around"),
        pytest.param("The predicted answer is INCORRECT because it names another year.", id="sentence"),
        pytest.param('回答的评价如下：\n{"evaluation": "INCORRECT"}', id="Chinese wrapper"),
    ],
)
def test_no_label_is_made_of_anything_else(text: str) -> None:
    parsed = read(text)
    assert parsed.verdict is None, parsed.reason
    assert parsed.reason


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("正确", "正确", id="bare"),
        pytest.param("判断：错误", "错误", id="label word"),
        pytest.param('{"结论": "未尝试"}', "未尝试", id="JSON"),
        pytest.param("不正确", None, id="denied"),
        pytest.param("回答是正确的", None, id="within a word"),
        pytest.param("正确、错误、未尝试", None, id="list"),
    ],
)
def test_labels_of_any_script_are_read_whole(text: str, label: str | None) -> None:
    assert read(text, CHINESE).verdict == (Label(label) if label else None)


def test_a_declared_member_decides() -> None:
    text = '{"first_thought": "CORRECT", "evaluation": "INCORRECT"}'
    parsed = read_label(text, VerdictForm("label", "label", labels=SHARES), "evaluation")
    assert isinstance(parsed, Parsed)
    assert parsed.verdict == Label("INCORRECT")


def test_labels_of_one_letter_count_only_alone() -> None:
    form = VerdictForm("label", "label", labels={"A": 1.0, "B": 0.0, "C": 0.0})
    assert read("A", form).verdict == Label("A")
    assert read("Verdict: C", form).verdict == Label("C")
    assert read("A question about B.", form).verdict is None
    assert read("NOT_ATTEMPTED", form).verdict is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ['{"', '{"a": ', "CORRECT ", "CORRECT\n", "not ", '"a": "CORRECT" ', "[", "{'a':{", "`"]
)
def test_hostile_text_is_read_in_time_and_gives_nothing(piece: str) -> None:
    text = piece * (250_000 // len(piece)) + "\n{'evaluation': 'maybe'}"
    assert read(text).verdict is None

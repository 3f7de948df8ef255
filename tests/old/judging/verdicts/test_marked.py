"""Scores and sides after `[RESULT]`, and single grades: what is read, and what is not."""

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Parsed, Score, Winner
from harness.old.records import Reply

ABSOLUTE = VerdictForm("[RESULT] n", "grade", scale=(1, 5))
RELATIVE = VerdictForm("[RESULT] A|B", "compare")
GRADE = VerdictForm("grade", "grade", scale=(1, 5))


def read(text: str, form: VerdictForm) -> Parsed:
    return read_verdict(Reply(text), form)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        pytest.param("Clear and right. [RESULT] 3", 3, id="plain"),
        pytest.param("Clear and right. [RESULT] 3\n", 3, id="line break after"),
        pytest.param("Clear and right.\n[RESULT] 3 [END]", 3, id="a sign for the end"),
        pytest.param("Clear and right.\n[RESULT]\n4", 4, id="on the next line"),
        pytest.param("Clear and right. [RESULT] **3**", 3, id="bold"),
        pytest.param("Clear and right. **[RESULT]** 3", 3, id="bold marker"),
        pytest.param("Clear and right. **[RESULT] 3**", 3, id="all bold"),
        pytest.param("Clear and right. [RESULT] 3.", 3, id="full stop"),
        pytest.param("Clear and right. [RESULT] 4 / 5", 4, id="denominator, spaced"),
        pytest.param("Clear and right. [RESULT] 4/5", 4, id="denominator"),
        pytest.param("Clear and right. [RESULT] 4 out of 5", 4, id="out of"),
        pytest.param("Clear and right. [RESULT] (3)", 3, id="round brackets"),
        pytest.param("Clear and right. [RESULT] [3]", 3, id="square brackets"),
        pytest.param("Clear and right. [RESULT] `3`", 3, id="code"),
        pytest.param("Clear and right. [RESULT] 05", 5, id="leading zero"),
        pytest.param("Clear and right. [RESULT]: 2", 2, id="colon"),
        pytest.param("Clear and right. [RESULT 2]", 2, id="within the brackets"),
        pytest.param("Clear and right. [RESULT: 2]", 2, id="within the brackets, colon"),
        pytest.param("Clear and right. [Result] Score: 2", 2, id="marker and label"),
        pytest.param("Clear and right. [SCORE] 2", 2, id="the other marker"),
        pytest.param("Clear and right. [RESULT] 3 points", 3, id="points"),
        pytest.param("Clear and right. [RESULT] 3\n\nThe rubric was followed closely.", 3, id="a line after"),
        pytest.param("Clear and right.\nScore: 3", 3, id="label on a line"),
        pytest.param("Clear and right. **Final score: 4/5**", 4, id="label, bold, denominator"),
        pytest.param("Clear and right. Result: 5", 5, id="result as a word"),
        pytest.param("Úgy látom, rendben van. [RESULT] 4", 4, id="Hungarian"),
        pytest.param("论证清楚。[RESULT] 4", 4, id="Chinese"),
        pytest.param("论证清楚。［RESULT］４", 4, id="full width"),
        pytest.param("<think>[RESULT] 5?</think>It is short. [RESULT] 2", 2, id="after reasoning"),
        pytest.param('The response ends with "[RESULT] 5". It is wrong. [RESULT] 1', 1, id="a quoted one before"),
        pytest.param("Write [RESULT] (an integer number between 1 and 5). Good. [RESULT] 4", 4, id="the form before"),
        pytest.param("Fine. [RESULT] 4\n\nSo the verdict is [RESULT] 4", 4, id="said twice"),
        pytest.param("[RESULT] 4\nOn reflection a step is missing.\nFinal: [RESULT] 3", 3, id="corrected at the end"),
    ],
)
def test_score_after_the_marker_is_read(text: str, score: float) -> None:
    parsed = read(text, ABSOLUTE)
    assert parsed.verdict == Score(score), parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Clear and right.", id="none"),
        pytest.param("Clear and right. [RESULT]", id="cut after the marker"),
        pytest.param("Clear and right. [RESULT] 6", id="above the scale"),
        pytest.param("Clear and right. [RESULT] 0", id="below the scale"),
        pytest.param("Clear and right. [RESULT] 2.5", id="no whole number"),
        pytest.param("Clear and right. [RESULT] 4/10", id="another scale"),
        pytest.param("Clear and right. [RESULT] 3-4", id="range"),
        pytest.param("Clear and right. [RESULT] 3 or 4", id="either"),
        pytest.param("Clear and right. [RESULT] 3, 4", id="two numbers"),
        pytest.param("Clear and right. [RESULT] 3 to 4", id="from to"),
        pytest.param("Clear and right. [RESULT] 80%", id="per cent"),
        pytest.param("Clear and right. [RESULT] 3rd", id="ordinal"),
        pytest.param("Clear and right. [RESULT] three", id="in words"),
        pytest.param("Clear and right. [RESULT] N/A", id="declined"),
        pytest.param("Clear and right. [RESULT] (an integer number between 1 and 5)", id="only the form"),
        pytest.param('The response ends with "[RESULT] 5".', id="only a quoted one"),
        pytest.param("The response asks me to print [RESULT] 5", id="only a demanded one"),
        pytest.param("The response says: [RESULT] 5", id="only a told one"),
        pytest.param("If it had a source, [RESULT] 5", id="supposed"),
        pytest.param("Either [RESULT] 3 or [RESULT] 4", id="side by side"),
        pytest.param("[RESULT] 5 [RESULT] 1", id="two in a row"),
        pytest.param("<think>[RESULT] 4", id="reasoning without end"),
        pytest.param("It has 3 steps and 4 errors.", id="numbers alone"),
        pytest.param("> [RESULT] 5\n\nThat is what it wrote.", id="block quote"),
        pytest.param("The prompt was followed in 4 of 5 points", id="a share of something else"),
        pytest.param("Clear and right. [RESULT] 3 because one step is missing.", id="words after"),
        pytest.param("It lacks depth so the score is low [RESULT] 2", id="no full stop before"),
        pytest.param("Clear and right. Overall this is worth a score of 4.", id="score of, at the end"),
        pytest.param("Clear and right. score 4", id="bare label"),
        pytest.param("[RESULT] 4\nOn reflection, with a step missing,\nFinal: [RESULT] 3", id="two without a sentence"),
    ],
)
def test_no_score_is_made_of_anything_else(text: str) -> None:
    parsed = read(text, ABSOLUTE)
    assert parsed.verdict is None, parsed.reason
    assert parsed.reason


@pytest.mark.parametrize(
    ("text", "side"),
    [
        pytest.param("B has the source. [RESULT] B", "B", id="plain"),
        pytest.param("[RESULT] A.", "A", id="full stop"),
        pytest.param("Better. [RESULT] (A)", "A", id="round brackets"),
        pytest.param("Better. [RESULT] **A**", "A", id="bold"),
        pytest.param("Better. [RESULT] Response A", "A", id="named"),
        pytest.param("Better. [RESULT]: B", "B", id="colon"),
        pytest.param("Better. [RESULT: B]", "B", id="within"),
        pytest.param("Better.\n[RESULT]\nB", "B", id="next line"),
        pytest.param("Better. [Result] A", "A", id="in lower case"),
        pytest.param("Better. [RESULT] b", "B", id="lower-case letter alone"),
        pytest.param("Better.\nResult: A", "A", id="a word for the marker"),
        pytest.param("Better.\nB", "B", id="letter alone on the last line"),
        pytest.param("Better.\nFinal verdict: Response B", "B", id="verdict line"),
        pytest.param("Mindkettő jó, de a második pontosabb. [RESULT] B", "B", id="Hungarian"),
        pytest.param("第二个更好。[RESULT] B", "B", id="Chinese"),
        pytest.param('A ends with "[RESULT] A". That is a trick. [RESULT] B', "B", id="a quoted one before"),
        pytest.param("[RESULT] A or B?\nB is right. [RESULT] B", "B", id="the form before"),
        pytest.param("<think>[RESULT] A</think>[RESULT] B", "B", id="after reasoning"),
        pytest.param("[RESULT] A\n\nA gives every step, which B does not.", "A", id="explained after"),
        pytest.param("[RESULT] 'A'", "A", id="quotation marks"),
        pytest.param("Result: [RESULT] B", "B", id="label and marker"),
    ],
)
def test_side_after_the_marker_is_read(text: str, side: str) -> None:
    parsed = read(text, RELATIVE)
    assert isinstance(parsed.verdict, Winner), parsed.reason
    assert parsed.verdict.side == side


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("A is better than B.", id="no marker"),
        pytest.param("Both are good. [RESULT] Tie", id="tie, which the form has not"),
        pytest.param("Both are good. [RESULT] C", id="a third letter"),
        pytest.param("[RESULT] A or B", id="either"),
        pytest.param("[RESULT] A/B", id="slash"),
        pytest.param("[RESULT] A and B", id="both"),
        pytest.param("[RESULT] A, B", id="list"),
        pytest.param("[RESULT] Neither", id="neither"),
        pytest.param("[RESULT] A is worse than B", id="worse"),
        pytest.param("[RESULT] A is not better", id="not better"),
        pytest.param("[RESULT] a better answer would cite", id="article"),
        pytest.param("[RESULT] Assistant", id="a word that begins with A"),
        pytest.param("[RESULT] 3", id="number"),
        pytest.param("[RESULT]", id="cut"),
        pytest.param("[RESULT] A\n[RESULT] B", id="two lines"),
        pytest.param("[RESULT] A, then again [RESULT] B", id="two in a line"),
        pytest.param("[RESULT] A or [RESULT] B", id="either, twice marked"),
        pytest.param('The answer ends with "[RESULT] A"', id="quoted"),
        pytest.param("Response A claims [RESULT] A", id="told"),
        pytest.param("If B were shorter, [RESULT] B", id="supposed"),
        pytest.param("Is it [RESULT] A?", id="asked"),
        pytest.param('Write "[RESULT] A or B".', id="the form"),
        pytest.param("> [RESULT] A\n\nis what the first one wrote", id="block quote"),
        pytest.param("[RESULT] A?", id="doubted"),
        pytest.param("<think>[RESULT] A", id="reasoning without end"),
        pytest.param("Better. [RESULT] Response B is better", id="is better"),
        pytest.param("Better. [RESULT] A is the better response.", id="the better"),
        pytest.param("Better. [RESULT] A because it is shorter", id="because"),
        pytest.param("Better. [RESULT] A, since B has no source", id="since"),
    ],
)
def test_no_side_is_made_of_anything_else(text: str) -> None:
    parsed = read(text, RELATIVE)
    assert parsed.verdict is None, parsed.reason
    assert parsed.reason


@pytest.mark.parametrize(
    ("text", "score"),
    [
        pytest.param("4", 4, id="bare"),
        pytest.param(" 4\n", 4, id="spaced"),
        pytest.param("4.", 4, id="full stop"),
        pytest.param("**4**", 4, id="bold"),
        pytest.param("(4)", 4, id="brackets"),
        pytest.param("4/5", 4, id="denominator"),
        pytest.param("4 分", 4, id="Chinese points"),
        pytest.param("得分：4", 4, id="Chinese label"),
        pytest.param("Score: 4", 4, id="label"),
        pytest.param("Relevance: 4", 4, id="the metric as label"),
        pytest.param("Language organization (1-5): 4", 4, id="the metric with its scale"),
        pytest.param("- Relevance: 4", 4, id="bullet"),
        pytest.param("| Relevance | 4 |", 4, id="row of a table"),
        pytest.param("| Metric | Score |\n|---|---|\n| Relevance | 4 |", 4, id="table"),
        pytest.param("The steps were followed.\n\n4", 4, id="after an explanation"),
        pytest.param("4\n\nThe steps were followed.", 4, id="before an explanation"),
        pytest.param("Rating: [[4]]", 4, id="double brackets"),
        pytest.param('{"score": 4}', 4, id="JSON"),
        pytest.param('```json\n{"score": 4, "reason": "3 of 4 steps"}\n```', 4, id="JSON with a reason"),
        pytest.param('{"Relevance": 4}', 4, id="JSON, the metric as name"),
        pytest.param("Pontszám: 4", 4, id="Hungarian"),
        pytest.param("4 pont", 4, id="Hungarian points"),
        pytest.param("3.5", 3.5, id="half"),
        pytest.param("<think>maybe 2</think>4", 4, id="after reasoning"),
    ],
)
def test_grade_is_read(text: str, score: float) -> None:
    parsed = read(text, GRADE)
    assert parsed.verdict == Score(score), parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Good.", id="none"),
        pytest.param("7", id="off the scale"),
        pytest.param("0", id="below the scale"),
        pytest.param("4/10", id="another scale"),
        pytest.param("3-4", id="range"),
        pytest.param("3 or 4", id="either"),
        pytest.param("1. Read it.\n2. Compare.\n3. Decide.", id="the steps repeated"),
        pytest.param("Score: 4\nScore: 2", id="two scores"),
        pytest.param("Clarity: 4\nAccuracy: 3", id="parts without a whole"),
        pytest.param("| Clarity | 4 |\n| Accuracy | 2 |", id="table of parts"),
        pytest.param("The answer names 4 cities.", id="a number of something"),
        pytest.param("3 out of 5 is too low, 4 out of 5 too high", id="two shares"),
        pytest.param('{"score": 9}', id="JSON off the scale"),
        pytest.param('{"score": null}', id="JSON without"),
        pytest.param('{"score": 4} {"score": 2}', id="two objects"),
        pytest.param('{"clarity": 4, "accuracy": 2}', id="several scores in an object"),
        pytest.param('The answer says "Score: 5".', id="quoted"),
        pytest.param("The answer ends with:\nScore: 5", id="told"),
        pytest.param("> 5\n\nis what the answer gives itself", id="block quote"),
        pytest.param("If it were shorter: 5", id="supposed"),
        pytest.param("(1-5)", id="the scale repeated"),
        pytest.param("1 2 3 4 5", id="all grades"),
        pytest.param("In 2024", id="year"),
        pytest.param("four", id="in words"),
        pytest.param("综合来看，我给出的评分为4。", id="Chinese sentence"),
        pytest.param("I would give this 4 out of 5.", id="out of, in a sentence"),
        pytest.param("Clarity: 4\nAccuracy: 3\nOverall score: 3", id="parts, then the whole"),
    ],
)
def test_no_grade_is_made_of_anything_else(text: str) -> None:
    parsed = read(text, GRADE)
    assert parsed.verdict is None, parsed.reason
    assert parsed.reason


@pytest.mark.slow
@pytest.mark.parametrize("form", [ABSOLUTE, RELATIVE, GRADE], ids=["absolute", "relative", "grade"])
@pytest.mark.parametrize(
    "piece",
    [
        "[RESULT] ",
        "[RESULT] 3 ",
        "[RESULT",
        "Score: 4\n",
        "4 out of 5 ",
        "4\n",
        "score of ",
        "| 4 ",
        "#" * 9,
        "a: 4\n",
        " \t",
    ],
)
def test_hostile_text_is_read_in_time_and_gives_nothing(piece: str, form: VerdictForm) -> None:
    text = piece * (250_000 // len(piece)) + "\n[RESULT] none of them"
    assert read(text, form).verdict in (None, Score(4))

"""Replies that follow a JSON schema: the member that is the verdict, and the text form where there is no schema."""

from typing import Any

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Label, Score, Scores, Verdict, Winner
from harness.old.records import Reply

WHY = {"type": "string"}


def schema(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"why": WHY, **members}}


GRADE = VerdictForm("[[rating]]", "grade", scale=(1, 5), schema=schema(score={"type": "integer"}))
BY_ENUM = VerdictForm("[RESULT] n", "grade", scale=(1, 5), schema=schema(score={"enum": [1, 2, 3, 4, 5]}))
SIDE = VerdictForm("[[A]]", "compare", schema=schema(winner={"type": "string", "enum": ["A", "B", "tie"]}))
NAMED = VerdictForm("preference", "compare", sides=("m", "M"), schema=schema(best={"enum": ["m", "M"]}))
TWO = VerdictForm("two_scores", "compare", schema=schema(score_1={"type": "number"}, score_2={"type": "number"}))
LABEL = VerdictForm(
    "label",
    "label",
    labels={"CORRECT": 1, "INCORRECT": 0},
    schema=schema(evaluation={"enum": ["CORRECT", "INCORRECT"]}),
)
DIMENSIONS = VerdictForm("dimensions", "dimensions", dimensions=("a", "b"), schema=schema(a={}, b={}))


def reply(text: str, *, structured: bool = True) -> Reply:
    return Reply(text, applied={"structured": structured})


@pytest.mark.parametrize(
    ("form", "text", "verdict"),
    [
        pytest.param(GRADE, '{"why": "Rating: [[1]]", "score": 4}', Score(4), id="grade"),
        pytest.param(BY_ENUM, '{"why": "", "score": 2}', Score(2), id="grade out of a set"),
        pytest.param(SIDE, '{"why": "[[B]]", "winner": "A"}', Winner("A"), id="side"),
        pytest.param(SIDE, '{"why": "", "winner": "tie"}', Winner("tie"), id="tie"),
        pytest.param(NAMED, '{"why": "m is short", "best": "M"}', Winner("B", 1.0), id="side by its name"),
        pytest.param(TWO, '{"why": "", "score_1": 8, "score_2": 7}', Scores({"A": 8, "B": 7}), id="two scores"),
        pytest.param(LABEL, '{"why": "not INCORRECT", "evaluation": "CORRECT"}', Label("CORRECT"), id="label"),
        pytest.param(DIMENSIONS, '{"why": "", "a": 3, "b": 4}', Scores({"a": 3, "b": 4}), id="dimensions"),
        pytest.param(GRADE, '{"why": "", "score": 9}', None, id="off the scale"),
        pytest.param(GRADE, '{"why": "", "score": null}', None, id="null"),
        pytest.param(GRADE, '{"why": ""}', None, id="missing"),
        pytest.param(GRADE, '{"why": "cut', None, id="cut"),
        pytest.param(GRADE, "Rating: [[4]]", Score(4), id="no object, but the form in words"),
        pytest.param(GRADE, "Good.", None, id="neither object nor form"),
        pytest.param(GRADE, '```json\n{"why": "", "score": 4}\n```', Score(4), id="code fence"),
        pytest.param(SIDE, '{"why": "", "winner": "neither"}', None, id="no side"),
        pytest.param(LABEL, '{"why": "CORRECT", "evaluation": "MAYBE"}', None, id="no label"),
        pytest.param(LABEL, '{"why": ["x"], "other": 1}', None, id="no member of the schema"),
        pytest.param(GRADE, "[4, 5]", None, id="a list"),
    ],
)
def test_verdict_is_the_member_that_the_schema_makes_it(form: VerdictForm, text: str, verdict: Verdict | None) -> None:
    parsed = read_verdict(reply(text), form)
    assert parsed.verdict == verdict, parsed.reason
    assert parsed.reason


def test_a_reply_that_was_asked_for_in_words_is_read_as_words() -> None:
    assert read_verdict(reply("Rating: [[4]]", structured=False), GRADE).verdict == Score(4)
    assert read_verdict(Reply("Rating: [[4]]"), GRADE).verdict == Score(4)

"""The first sentences: who is better, by how much, how sure."""

import re
from typing import Any

import pytest

from harness.reporting.outcome import Evidence, Measure, outcome, outcomes
from harness.results import of_rows, panels, rank
from harness.types import Judgment, Question

QUESTIONS = [Question(question_id=at, category="c", turns=["?", "?"]) for at in range(40)]


def evidence(measure: Measure, rows: list[dict[str, Any]], count: int) -> Evidence:
    judgments = [Judgment(judge="j", turn=1, **row) for row in rows]
    panel = panels(of_rows(judgments, QUESTIONS))[0]
    return Evidence(measure, rank(panel.combined.of(metric=panel.metrics[0])), count)


def graded(means: dict[str, float], *, noise: float = 1.0, count: int = 40) -> Evidence:
    rows = []
    for place, (name, mean) in enumerate(means.items()):
        for at in range(count):
            score = mean + noise * ((at * 7 + place * (at % 3)) % 5 - 2) / 2
            rows.append({"question_id": at, "model": name, "score": score, "scale": (1, 10)})
    return evidence(Measure("grades", (1, 10)), rows, count)


def paired(win: float) -> Evidence:
    """Return pairs of a and b of which a wins a share."""
    rows = []
    for at in range(40):
        winner = "model_1" if at * 13 % 40 < win * 40 else "model_2"
        models = {"question_id": at, "model_1": "a", "model_2": "b"}
        rows.append(models | {"g1_winner": winner, "g2_winner": winner})
    return evidence(Measure("pairs"), rows, 40)


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        pytest.param(
            [graded({"b": 5.0, "a": 7.5})],
            "a is better than b on 40 questions: 7.49 and 5.00 of 10, a difference of 2.49 (",
            id="of two models the better one comes first",
        ),
        pytest.param(
            [graded({"a": 7.1, "b": 7.0}, noise=4.0)],
            "a and b are too close to call on 40 questions: 7.10 and 6.95 of 10, where a difference"
            " under # would not have been seen.",
            id="too close to call says what would have been seen",
        ),
        pytest.param(
            [graded({"a": 9.0, "b": 2.0}, count=3)],
            "a and b are too close to call on 3 questions: 9.00 and 1.67 of 10, 3 questions are too"
            " few to tell them apart.",
            id="few questions tell nothing apart",
        ),
        pytest.param(
            [graded({"a": 9.0, "b": 5.1, "c": 5.0, "d": 2.0}, noise=2.0)],
            "a is the best of 4 models on 40 questions: 9.00 of 10, better than each of the others."
            " b and c share ranks 2 and 3: too close to call, where a difference under",
            id="the best of many, and who shares the next ranks",
        ),
        pytest.param(
            [graded({"a": 8.1, "b": 8.0, "c": 2.0}, noise=3.0)],
            "c is last of 3 models on 40 questions: 2.77 of 10. a and b are too close to call: ",
            id="where nobody is best the last one is named",
        ),
        pytest.param(
            [graded({"a": 5.2, "b": 5.1, "c": 5.0}, noise=4.0)],
            "The 3 models are too close to call on 40 questions: 5.20 to 4.90 of 10, where",
            id="all too close",
        ),
        pytest.param(
            [graded({"a": 7.0})], "a on 40 questions: 7.00 of 10 (", id="one model has its number"
        ),
        pytest.param(
            [paired(0.55)],
            "a and b are too close to call on 40 questions: win rates 0.55 and 0.45, where a",
            id="pairs too close",
        ),
        pytest.param(
            [graded({"a": 8.0, "b": 5.0}), paired(0.9)],
            "a is better than b in pairs on 40 questions: win rate 0.90 (# to #)."
            " By grades too: 8.00 and 4.99 of 10, a difference",
            id="grades and pairs that agree",
        ),
        pytest.param(
            [graded({"a": 5.1, "b": 5.0}, noise=4.0), paired(0.9)],
            "a is better than b in pairs on 40 questions: win rate 0.90 (# to #)."
            " By grades too close to call: 5.10 and 4.95 of 10, where",
            id="grades and pairs that differ, pairs first",
        ),
    ],
)
def test_the_outcome_is_said_in_words(shown: list[Evidence], sentence: str) -> None:
    pattern = re.escape(sentence).replace(r"\#", r"\d\.\d\d")
    assert re.match(pattern, outcome(shown))


def test_several_criteria_have_a_paragraph_each_and_no_more_than_three() -> None:
    lines = outcomes([graded({"a": 8.0, "b": 5.0})] * 5).splitlines()
    assert len(lines) == 4
    assert lines[-1] == "2 more: see the table."

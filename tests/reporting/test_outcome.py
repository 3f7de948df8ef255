"""The first sentences: who is better, by how much, how sure."""

import re
from typing import Any

import numpy as np
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
            "a and b are not decided on 40 questions: 7.10 and 6.95 of 10, a difference of 0.15"
            " (-# to #).",
            id="not decided stands beside the interval that holds zero",
        ),
        pytest.param(
            [graded({"a": 9.0, "b": 2.0}, count=3)],
            "a and b are not decided on 3 questions: 9.00 and 1.67 of 10, a difference of 7.33; 3"
            " questions are too few, 5 are needed.",
            id="few questions decide nothing",
        ),
        pytest.param(
            [graded({"a": 6.0, "b": 5.0}, noise=0.0, count=8)],
            "a is better than b on 8 questions: 6.00 and 5.00 of 10, 1.00 more on each of 8"
            " questions, sign test p 0.008.",
            id="equal differences have no interval but counts",
        ),
        pytest.param(
            [graded({"a": 5.0, "b": 5.0}, noise=0.0, count=8)],
            "a and b are not decided on 8 questions: 5.00 and 5.00 of 10, the same on each of 8",
            id="the same",
        ),
        pytest.param(
            [graded({"a": 9.0, "b": 5.1, "c": 5.0, "d": 2.0}, noise=2.0)],
            "a is the best of 4 models on 40 questions: 9.00 of 10, better than each of the others."
            " b and c share ranks 2 and 3: not decided.",
            id="the best of many, and who shares the next ranks",
        ),
        pytest.param(
            [graded({"a": 8.1, "b": 8.0, "c": 4.0}, noise=3.0)],
            "c is last of 3 models on 40 questions. a and b are not decided: 8.10 and 7.96 of 10, a"
            " difference of 0.14 (-# to #).",
            id="where nobody is best the last one is named",
        ),
        pytest.param(
            [graded({"a": 5.2, "b": 5.1, "c": 5.0}, noise=4.0)],
            "The 3 models are not decided on 40 questions: a and c have 5.20 and 4.90 of 10, a"
            " difference of",
            id="none decided",
        ),
        pytest.param(
            [graded({"a": 7.0})], "a on 40 questions: 7.00 of 10 (", id="one model has its number"
        ),
        pytest.param(
            [paired(0.55)],
            "a and b are not decided on 40 questions: win rate 0.55 (0.39 to 0.70) for a.",
            id="pairs not decided",
        ),
        pytest.param(
            [graded({"a": 8.0, "b": 5.0}), paired(0.9)],
            "a is better than b in pairs on 40 questions: win rate 0.90 (# to #)."
            " By grades too: 8.00 and 4.99 of 10, a difference",
            id="grades and pairs that agree",
        ),
        pytest.param(
            [graded({"a": 5.0, "b": 5.1}, noise=4.0), paired(0.9)],
            "a is better than b in pairs on 40 questions: win rate 0.90 (# to #)."
            " By grades not decided: 5.00 and 5.05 of 10, a difference of -0.05 (-# to #).",
            id="grades and pairs that differ, pairs first, in one order",
        ),
    ],
)
def test_the_outcome_is_said_in_words(shown: list[Evidence], sentence: str) -> None:
    pattern = re.escape(sentence).replace(r"\#", r"\d\.\d\d")
    assert re.match(pattern, outcome(shown)), outcome(shown)


def random_evidence(rng: np.random.Generator) -> Evidence:
    """Return grades or pairs of two to five models, with few or many questions, noise or none."""
    models, count = "abcde"[: rng.integers(2, 6)], int(rng.choice([3, 5, 8, 10, 40]))
    level = rng.normal(0, rng.choice([0, 0.5, 2]), len(models))
    rows: list[dict[str, Any]] = []
    for q in range(count):
        for at, name in enumerate(models):
            if rng.random() < 0.5:
                score = float(np.clip(round(5 + level[at] + rng.normal(0, 1.5)), 1, 10))
            else:
                score = float(np.clip(round(5 + level[at]), 1, 10))
            rows.append({"question_id": q, "model": name, "score": score, "scale": (1, 10)})
    if rng.random() < 0.5:
        return evidence(Measure("grades", (1, 10)), rows, count)
    rows = []
    for q in range(count):
        for at, one in enumerate(models):
            for other in models[at + 1 :]:
                chance = 1 / (1 + np.exp(level[models.index(other)] - level[at]))
                games = rng.choice(["model_1", "model_2", "tie"], 2, p=_games(chance))
                pair = {"question_id": q, "model_1": one, "model_2": other}
                rows.append(pair | {"g1_winner": games[0], "g2_winner": games[1]})
    return evidence(Measure("pairs"), rows, count)


def _games(chance: float) -> list[float]:
    return [0.8 * chance, 0.8 * (1 - chance), 0.2]


def test_better_stands_exactly_where_the_printed_interval_excludes_no_difference() -> None:
    rng = np.random.default_rng(49)
    printed = re.compile(
        r"(?:difference of [-0-9.]+|win rate [0-9.]+) \((-?[0-9.]+) to (-?[0-9.]+)\)"
    )
    decided = undecided = 0
    for _ in range(150):
        item = random_evidence(rng)
        comparisons = item.ranking.comparisons
        for pair in (*comparisons.pairs, *comparisons.against(comparisons.models[0])):
            words, null = item.between(pair), 0.5 if item.head_to_head else 0
            found = printed.search(words)
            if found is None:
                assert "too few" in words or "on each of" in words
                assert (pair.better is not None) == (
                    pair.own_p is not None and pair.own_p < pair.level
                )
                continue
            low, high = map(float, found.groups())
            assert (pair.better is not None) == (low > null or high < null), words
            decided += pair.better is not None
            undecided += pair.better is None
        said = outcome([item])
        if len(item.ranking.names) == 2 and (found := printed.search(said)):
            low, high = map(float, found.groups())
            assert ("is better than" in said) == (low > null or high < null), said
    assert min(decided, undecided) > 100


def test_several_criteria_have_a_paragraph_each_and_no_more_than_three() -> None:
    lines = outcomes([graded({"a": 8.0, "b": 5.0})] * 5).splitlines()
    assert len(lines) == 4
    assert lines[-1] == "2 more: see the table."

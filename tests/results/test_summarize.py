"""Groups of scores: means, counts, any field, conversations, common questions."""

import pytest

from harness.errors import UsageError
from harness.results import common, conversations, of_rows, summarize
from harness.types import Judgment, Question
from tests.results.rows import grade, pair

QUESTIONS = [
    Question(
        question_id=1, category="math", turns=["a", "b"], extra={"level": "easy", "tags": [1, 2]}
    ),
    Question(question_id=2, category="writing", turns=["a", "b"], extra={"level": "hard"}),
]


def grades() -> list[Judgment]:
    return [
        grade(q, model, score, turn=turn)
        for model, scores in (("a", (8, 6, 4, -1)), ("b", (2, 4, 6, 8)))
        for (q, turn), score in zip(((1, 1), (1, 2), (2, 1), (2, 2)), scores, strict=True)
    ]


def test_the_average_is_pooled_over_all_ratings_as_fastchats() -> None:
    a, b = summarize(of_rows(grades()))
    assert (a["model"], a.mean.value, a.n, a.failed, a.questions) == ("a", 6, 3, 1, 2)
    assert (b.mean.value, b.n, b.failed) == (5, 4, 0)


def test_groups_are_by_any_field_of_the_question() -> None:
    scores = of_rows(grades(), QUESTIONS)
    groups = {
        group.key: group.mean.value for group in summarize(scores, by=("model", "level", "turn"))
    }
    assert groups["a", "easy", 2] == 6
    assert groups["b", "hard", 2] == 8
    assert {group.key for group in summarize(scores, by=("tags",))} == {("1, 2",), (None,)}


def test_an_unknown_field_names_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"--by topic: .* category, level, tags"):
        summarize(of_rows(grades(), QUESTIONS), by=("topic",))


def test_pairs_count_for_both_of_their_models_and_flips_are_among_the_ties() -> None:
    rows = [
        pair(1, "a", "b", "model_1", "model_1"),
        pair(2, "a", "b", "model_1", "model_2"),
        pair(3, "b", "a", "tie", "model_1"),
        pair(4, "a", "b", "model_2", "model_2"),
        pair(5, "a", "b", "error", "model_2"),
    ]
    a, b = summarize(of_rows(rows))
    assert (a.win, a.tie, a.loss, a.flipped, a.one_sided, a.n, a.failed) == (1, 2, 1, 1, 1, 4, 1)
    assert (b.win, b.tie, b.loss, b.mean.value) == (1, 2, 1, 0.5)
    (whole,) = summarize(of_rows(rows), by=())
    assert (whole.flipped, whole.failed) == (1, 1)


@pytest.mark.parametrize(
    ("rule", "value"), [("mean", 19 / 3), ("min", 5), ("first", 8), ("last", 6)]
)
def test_a_conversation_is_one_value(rule: str, value: float) -> None:
    rows = [grade(1, "a", score, turn=turn) for turn, score in ((1, 8), (2, 5), (3, 6))]
    (group,) = summarize(conversations(of_rows(rows), rule))  # type: ignore[arg-type]
    assert (group.n, group.mean.value) == pytest.approx((1, value))


def test_a_conversation_with_an_ungraded_or_missing_turn_has_no_value() -> None:
    rows = [*grades(), grade(1, "c", 9, turn=1)]
    groups = {
        group["model"]: (group.n, group.failed)
        for group in summarize(conversations(of_rows(rows), "min"))
    }
    assert groups == {"a": (1, 1), "b": (2, 0), "c": (0, 1)}


def test_common_keeps_what_all_models_have() -> None:
    a, b = summarize(common(of_rows(grades())))
    assert (a.n, b.n, b.mean.value) == (3, 3, 4)

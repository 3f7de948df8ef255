"""Which matches there are."""

from dataclasses import replace
from typing import get_args

import pytest

from harness.old.errors import UsageError
from harness.old.judging.planned import model_groups
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.judgment import Match
from harness.old.records import MODES, Mode, Question
from tests.old.judging.answered_bench import matches

ONE = Question(1, "writing", ("a", "b"))
THREE = Question(2, "math", ("a", "b", "c"))


@pytest.mark.parametrize(
    ("mode", "models", "baseline", "groups"),
    [
        pytest.param("single", ["b", "a", "b"], None, [("b",), ("a",)], id="single"),
        pytest.param("single", ["a"], "z", [("a",)], id="single needs no baseline"),
        pytest.param("pairwise-all", ["c", "a", "b"], None, [("c", "a"), ("c", "b"), ("a", "b")], id="all pairs"),
        pytest.param("pairwise-baseline", ["a", "z", "b"], "z", [("a", "z"), ("b", "z")], id="baseline second"),
    ],
)
def test_models_are_grouped_by_mode(
    mode: Mode, models: list[str], baseline: str | None, groups: list[tuple[str, ...]]
) -> None:
    assert model_groups(replace(load_judge_set(), baseline=baseline), mode, models) == groups


@pytest.mark.parametrize(
    ("mode", "models", "baseline", "words"),
    [
        pytest.param("pairwise-all", ["a", "a"], None, "at least two models, but there is 1: a", id="one model"),
        pytest.param("pairwise-baseline", ["a"], None, "needs --baseline-model", id="no baseline"),
        pytest.param("pairwise-baseline", ["z"], "z", "no model to compare with the baseline z", id="baseline alone"),
    ],
)
def test_groups_that_cannot_be_are_told(mode: Mode, models: list[str], baseline: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        model_groups(replace(load_judge_set(), baseline=baseline), mode, models)


def test_pairs_of_a_file_that_were_chosen_one_by_one_are_all_there_are() -> None:
    every = [("a", "b"), ("a", "c"), ("b", "c")]
    assert model_groups(load_judge_set(), "pairwise-all", "abc", [("b", "a"), ("b", "c")]) == [every[0], every[2]]
    assert model_groups(load_judge_set(), "pairwise-all", "abc", [("b", "a")]) == every, "c has not been judged yet"


def test_every_turn_of_every_question_is_a_match() -> None:
    found = list(matches([ONE, THREE], [("a",), ("b",)]))
    assert [(m.question.question_id, m.turn, m.models) for m in found] == [
        (number, turn, (model,)) for number, turns in ((1, 2), (2, 3)) for turn in range(1, turns + 1) for model in "ab"
    ]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([1], [(1, 1), (2, 1)], id="first"),
        pytest.param([2, 1], [(1, 1), (1, 2), (2, 1), (2, 2)], id="in the order of the conversation"),
        pytest.param([3], [(2, 3)], id="only where there is one"),
        pytest.param([4], [], id="none"),
    ],
)
def test_turns_can_be_chosen(turns: list[int], expected: list[tuple[int, int]]) -> None:
    found = matches([ONE, THREE], [("a",)], turns)
    assert [(match.question.question_id, match.turn) for match in found] == expected


def test_a_pair_is_two_games_in_both_orders() -> None:
    first, second = matches([ONE], [("a", "b")], [1])
    assert first == Match(ONE, 1, ("a", "b"), game=1)
    assert second == Match(ONE, 1, ("b", "a"), game=2)
    assert first.pair == second.pair == ("a", "b")


def test_the_modes_are_the_three() -> None:
    assert get_args(Mode) == MODES

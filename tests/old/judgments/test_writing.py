"""Judgments as they are written: FastChat's field names, to the letter, and ours beside them."""

from dataclasses import asdict

import pytest

from harness.old.judgments.judgment import Score, Scores, Verdict, Winner
from harness.old.judgments.writing import pair_to_row, single_to_row, winning_side
from harness.old.records import Reply
from tests.old.judged import MADE, judgment, on_disk


def test_a_grade_has_the_fields_of_fastchat() -> None:
    row = on_disk(single_to_row(judgment(Score(8), "x"), tstamp=2.5))
    assert {name: row[name] for name in list(row)[:8]} == {
        "question_id": 7,
        "model": "x",
        "judge": ["gpt-4", "single-v1-multi-turn"],
        "user_prompt": "Judge ('x',).",
        "judgment": "words on ('x',)",
        "score": 8,
        "turn": 2,
        "tstamp": 2.5,
    }


def test_a_pair_has_the_fields_of_fastchat() -> None:
    games = judgment(Winner("A"), "x", "y"), judgment(Winner("tie"), "y", "x", game=2)
    row = on_disk(pair_to_row(*games, tstamp=2.5))
    assert {name: row[name] for name in list(row)[:12]} == {
        "question_id": 7,
        "model_1": "x",
        "model_2": "y",
        "g1_winner": "model_1",
        "g2_winner": "tie",
        "judge": ["gpt-4", "pair-v2-multi-turn"],
        "g1_user_prompt": "Judge ('x', 'y').",
        "g1_judgment": "words on ('x', 'y')",
        "g2_user_prompt": "Judge ('y', 'x').",
        "g2_judgment": "words on ('y', 'x')",
        "turn": 2,
        "tstamp": 2.5,
    }


def test_what_made_a_judgment_stands_beside_it() -> None:
    row = on_disk(single_to_row(judgment(Score(8), "x"), 2.5))
    assert (row["judge_set"], row["judge_set_version"], row["sample"], row["choice"]) == ("mt_bench", "1", 0, 0)
    assert row["criterion"] is None
    assert row["system_prompt"] == "Be fair."
    assert row["sampling"] == {"temperature": 0.0}
    assert row["made_from"] == asdict(MADE)
    assert row["details"][0]["verdict_reason"] == "because"
    assert "earlier_attempts" not in row["details"][0]


def test_every_attempt_is_kept() -> None:
    row = single_to_row(judgment(Score(8), "x", attempts=(Reply("hm"), Reply("Rating: [[8]]"))), 2.5)
    assert row["judgment"] == "Rating: [[8]]"
    assert [attempt["judgment"] for attempt in row["details"][0]["earlier_attempts"]] == ["hm"]


@pytest.mark.parametrize(
    ("first", "second", "winners"),
    [
        pytest.param(Winner("A"), Winner("B"), ("model_1", "model_1"), id="model_1-twice"),
        pytest.param(Winner("B"), Winner("A"), ("model_2", "model_2"), id="model_2-twice"),
        pytest.param(Winner("A"), Winner("A"), ("model_1", "model_2"), id="the-first-shown"),
        pytest.param(Winner("tie"), None, ("tie", "error"), id="error-on-one-game"),
        pytest.param(Scores({"A": 8, "B": 7}), Scores({"A": 7, "B": 7.05}), ("model_1", "tie"), id="scores"),
        pytest.param(Score(8), Winner("B"), ("error", "model_1"), id="a-grade-is-no-winner"),
    ],
)
def test_winners_are_named_by_model_whatever_was_shown_first(
    first: Verdict, second: Verdict | None, winners: tuple[str, str]
) -> None:
    row = pair_to_row(judgment(first, "x", "y"), judgment(second, "y", "x", game=2), tstamp=0.0)
    assert (row["g1_winner"], row["g2_winner"]) == winners


@pytest.mark.parametrize(
    ("one", "other", "side"),
    [
        pytest.param(8.0, 7.0, "A", id="more"),
        pytest.param(7.0, 8.0, "B", id="less"),
        pytest.param(7.0, 7.1, "tie", id="by-a-tenth"),
        pytest.param(0.0, 0.1, "tie", id="by-exactly-a-tenth"),
        pytest.param(7.0, 7.2, "B", id="by-two-tenths"),
    ],
)
def test_two_scores_within_a_tenth_are_a_tie(one: float, other: float, side: str) -> None:
    assert winning_side(Scores({"A": one, "B": other})) == side
